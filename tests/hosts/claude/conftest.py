"""Lets the tests of this folder share what makes transcripts."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from helper_process import folder, recorder, serving, start

__all__ = ["folder", "recorder", "serving", "start"]
