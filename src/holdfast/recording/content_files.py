"""Bodies that are too large for a line, or no JSON: stored once, by their SHA-256."""

from __future__ import annotations

import re
from pathlib import Path

from holdfast.recording.directories import make_private_dir, write_atomically
from holdfast.recording.regular_files import read_regular
from holdfast.wire.agent_lines import content_id

MAX_CONTENT_BYTES = 1 << 30

_CID = re.compile(r"[0-9a-f]{64}")


class ContentFiles:
    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._known: set[str] = set()

    def put(self, body: bytes) -> str:
        """Its id; OSError if it cannot be written."""
        cid = content_id(body)
        if cid not in self._known:
            make_private_dir(self._directory)
            path = self._directory / cid
            if not path.exists():
                write_atomically(path, body)
            if len(self._known) > 10_000:
                self._known.clear()
            self._known.add(cid)
        return cid

    def get(self, cid: str) -> bytes:
        """The bytes; KeyError if they are not there, or are not what they were."""
        if not _CID.fullmatch(cid):
            raise KeyError(cid)
        try:
            body = read_regular(self._directory / cid, MAX_CONTENT_BYTES)
        except OSError:
            raise KeyError(cid) from None
        if content_id(body) != cid:
            raise KeyError(cid)
        return body
