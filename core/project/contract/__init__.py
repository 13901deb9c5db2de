"""The parts of contract v1. Import from ``hindnote.core.project.contract_v1`` instead."""
