from __future__ import annotations

import sys
from pathlib import Path

# The writers of this folder are imported by its tests under their own name.
sys.path.insert(0, str(Path(__file__).parent))
# The example of a third-party host, which an environment of its own installs for real.
sys.path.insert(0, str(Path(__file__).parent.parent / "data" / "third_party_host" / "src"))
