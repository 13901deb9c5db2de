from __future__ import annotations

import sys
from pathlib import Path

# The host of this folder is imported by its tests under its own name.
sys.path.insert(0, str(Path(__file__).parent))
