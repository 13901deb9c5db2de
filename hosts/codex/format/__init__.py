"""What Codex writes into a rollout: the one place that knows its fields by name."""
