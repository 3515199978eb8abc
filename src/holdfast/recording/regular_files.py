"""Opens and reads files that anybody may have put there: regular ones only, and without waiting.

Opening a FIFO waits for its other end, which may never come. A device may do anything. So a file
is opened without blocking, and refused with an OSError unless it is a regular file.
"""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

MAX_DOCUMENT_BYTES = 16 << 20
"""The largest `session.json` or `index.json` that is read."""
_FLAGS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_NOCTTY", 0) | getattr(os, "O_CLOEXEC", 0)
_NO_LINKS = getattr(os, "O_NOFOLLOW", 0)


def open_regular(path: Path | str, flags: int = os.O_RDONLY, *, follows_links: bool = False) -> int:
    """A descriptor of the regular file at `path`. A file that `flags` creates is private."""
    handle = os.open(path, flags | _FLAGS | (0 if follows_links else _NO_LINKS), 0o600)
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise OSError(errno.EINVAL, "not a regular file", str(path))
    return handle


def read_regular(path: Path | str, most: int = MAX_DOCUMENT_BYTES) -> bytes:
    """The whole of a regular file that has no more than `most` bytes."""
    handle = open_regular(path)
    with open(handle, "rb") as file:
        data = file.read(most + 1)
    if len(data) > most:
        raise OSError(errno.EFBIG, f"larger than {most} bytes", str(path))
    return data
