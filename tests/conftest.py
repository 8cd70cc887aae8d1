"""What all tests share: the oracles in tests/naive are importable as `naive`."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
