"""Which files are the debugger's: our probe and debugpy, here or as copies beside a process."""

from __future__ import annotations

import os
import re
from pathlib import Path

import debugpy

PROBE = Path(__file__).parents[2] / "probe"
DEBUGPY = str(Path(debugpy.__file__).parents[1])
_COPY = "holdfast-"
_OUR_FOLDERS = (str(PROBE) + os.sep, "<holdfast>/")  # the second where it was sent as text
_COPIED_PROBE = re.compile(rf"/{_COPY}[0-9a-f]{{16}}/probe/")
_PARTS_OF_DEBUGPY = ("/debugpy/_vendored/", "/debugpy/server/")


def name_copy(digest: str) -> str:
    """The name of a directory that copies are in."""
    return _COPY + digest[:16]


def is_debugger_file(file: str) -> bool:
    """Whether a file is the debugger's, by its directory: a program may live in a `holdfast`, too.

    A program that started debugpy itself may have it anywhere.
    """
    return (
        file.startswith(_OUR_FOLDERS)
        or _COPIED_PROBE.search(file) is not None
        or any(part in file for part in _PARTS_OF_DEBUGPY)
    )
