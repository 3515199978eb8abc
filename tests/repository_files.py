"""Which files belong to the repository."""

from __future__ import annotations

import subprocess
from pathlib import Path

ROOT = Path(__file__).parents[1]
_GENERATED = {"node_modules", "__pycache__", "built", "dist", "build"}


def list_own_files() -> list[Path]:
    """What is in the repository, or is about to be; everything visible, where git cannot say."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    try:
        named = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True)
        found = [ROOT / name for name in named.stdout.split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        found = [path for top in ROOT.glob("[!.]*") for path in (top, *top.rglob("*"))]
        found = [path for path in found if not _GENERATED & {*path.relative_to(ROOT).parts}]
    return [path for path in found if path.is_file()]
