"""The journal of calls: what is accepted and not committed yet, in files beside the database.

The writer commits calls a few dozen times a second, and nobody waits for that. So each call is
first appended to a file, in one write. What the operating system has taken survives the end of this
process, however it ends. When the writer takes what has gathered, the next file begins. In the
transaction that commits it the database notes the number of the last file that it has whole, and
then those files go. What a killed server left behind is read at the next start
(`journal_replay`). Files are not synchronised with the disk: see docs/reliability.md.

A file begins with its number and that of its store. Each entry has its length, its CRC-32, and its
fields as `marshal` writes them.
"""

from __future__ import annotations

import contextlib
import errno
import marshal
import os
import re
import struct
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from holdfast.store.store_errors import StoreProblem

HEAD = struct.Struct("<4sQQ")
ENTRY = struct.Struct("<II")
MAGIC = b"HFJ1"
_NAME = re.compile(r"calls-(\d{1,18})\.journal")
_FORMAT = 4  # of marshal
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC

Entry = tuple[Any, ...]
"""What was added: its kind, and what `QueuedRows` needs to add it again."""


def list_files(directory: Path) -> list[tuple[int, Path]]:
    """The files of a journal by their numbers, the oldest first."""
    found = [(_NAME.fullmatch(entry.name), entry) for entry in directory.iterdir()]
    return sorted((int(match[1]), entry) for match, entry in found if match is not None)


class CallJournal:
    """Its methods are called with the buffer's lock held. Files begin with the first entry."""

    def __init__(self, directory: Path, store: int, last: int) -> None:
        self._directory = directory
        self._store = store
        self._first = last + 1  # the oldest file that may still be there
        self._last = last
        self._handle: int | None = None
        self._size = 0

    def append(self, entry: Entry) -> None:
        """Write an entry. StoreProblem: it is not in the journal, and neither is a part of it."""
        data = marshal.dumps(entry, _FORMAT)
        head = ENTRY.pack(len(data), zlib.crc32(data))
        try:
            if self._handle is None:
                self._begin()
            self._write(head, data)
        except OSError as problem:
            raise StoreProblem(
                f"The call was not stored: {problem.strerror or problem}.",
                directory=str(self._directory),
            ) from problem

    def _begin(self) -> None:
        number = self._last + 1
        self._handle = os.open(self._path(number), _FLAGS, 0o600)
        self._last, self._size = number, 0
        self._write(HEAD.pack(MAGIC, self._store, number))

    def _write(self, *parts: bytes) -> None:
        assert self._handle is not None
        size = sum(map(len, parts))
        try:
            written = os.writev(self._handle, parts)
            if written < size:  # no room for the rest; it raises what is wrong
                rest = b"".join(parts)[written:]
                if os.write(self._handle, rest) < len(rest):
                    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError:
            self._take_back()
            raise
        self._size += size

    def _take_back(self) -> None:
        """Remove what was written of an entry. If that fails too, nothing may come behind it."""
        assert self._handle is not None
        try:
            os.ftruncate(self._handle, self._size)
        except OSError:
            self.end_file()
        if self._size < HEAD.size:
            self.end_file()

    def end_file(self) -> int:
        """The next entry begins another file. Return the number of this one."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
        return self._last

    def drop_files(self, upto: int) -> None:
        """Delete the files up to this number: the database has what is in them."""
        for number in range(self._first, upto + 1):
            with contextlib.suppress(OSError):  # it is passed over at the next start
                os.unlink(self._path(number))
        self._first = max(self._first, upto + 1)

    def _path(self, number: int) -> Path:
        return self._directory / f"calls-{number:012d}.journal"


def read_entries(data: bytes, store: int, number: int) -> Iterator[Entry]:
    """The entries of a file, up to one that was not written to its end.

    ValueError says what is wrong with a file that is no more what was written.
    """
    if len(data) < HEAD.size:
        return
    if HEAD.unpack_from(data) != (MAGIC, store, number):
        raise ValueError("it is the journal of another database")
    at = HEAD.size
    while len(data) - at >= ENTRY.size:
        size, checksum = ENTRY.unpack_from(data, at)
        entry = memoryview(data)[at + ENTRY.size : at + ENTRY.size + size]
        at += ENTRY.size + size
        if at > len(data):
            return
        if size == 0 or zlib.crc32(entry) != checksum:
            raise ValueError(f"an entry that ends at byte {at} is not what was written")
        yield _load(entry)


def _load(entry: Sequence[int]) -> Entry:
    loaded = marshal.loads(bytes(entry))
    if not isinstance(loaded, tuple):
        raise ValueError("an entry is not one of this version")
    return loaded
