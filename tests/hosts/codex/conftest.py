from __future__ import annotations

import sys
from pathlib import Path

# The makers of this folder are imported by its tests under their own name.
sys.path.insert(0, str(Path(__file__).parent))
