"""Writes a module, imports it and uses it."""

import sys
from pathlib import Path

folder = Path(sys.argv[1])
(folder / "fresh.py").write_text("def grow(n):\n    bigger = n + 1\n    return bigger\n")
sys.path.insert(0, str(folder))

import fresh  # noqa: E402

print(fresh.grow(1))
