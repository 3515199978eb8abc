"""The journal of calls: what is accepted and not committed yet, in files beside the database.

The writer commits calls four times a second, and nobody waits for that. So each call is
first copied into a file that is mapped into memory. What is there belongs to the operating system
and survives the end of this process, however it ends. When the writer takes what has gathered, the
next file begins. In the transaction that commits it the database notes the number of the last file
that it has whole; such a file is used again. What a killed server left behind is written into the
database at the next start (`journal_replay`). Nobody waits for the disk: see docs/reliability.md.

A file begins with its number and that of its store. An entry has its length, its CRC-32 and its
fields as `marshal` writes them; a length of 0 ends the file. The CRC begins with the number of the
file, so that what is left of an earlier use is no entry. The room of a file is taken before it is
mapped: a page without room would kill whoever touches it.
"""

from __future__ import annotations

import contextlib
import marshal
import mmap
import os
import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from holdfast.store.store_errors import StoreProblem
from holdfast.trust.private_files import take_room

FILE_BYTES = 1 << 20
_MAX_FREE = 4
_HEAD = struct.Struct("<4sQQ")
_ENTRY = struct.Struct("<II")
_MAGIC = b"HFJ1"
_END = bytes(_ENTRY.size)
_NAME = re.compile(r"calls-\d{1,9}\.journal")
_FORMAT = 4  # of marshal
_FLAGS = os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC

Entry = tuple[Any, ...]
"""What was added: its kind, and what `QueuedRows` needs to add it again."""


@dataclass
class _File:
    path: Path
    room: mmap.mmap
    number: int = 0
    end: int = 0

    def begin(self, store: int, number: int) -> None:
        self.number, self.end = number, _HEAD.size
        self.room[: _HEAD.size + _ENTRY.size] = _HEAD.pack(_MAGIC, store, number) + _END

    def has_room(self, size: int) -> bool:
        return self.end + _ENTRY.size + size + len(_END) <= len(self.room)

    def append(self, data: bytes) -> None:
        head = _ENTRY.pack(len(data), _checksum(data, self.number))
        end = self.end + len(head) + len(data)
        self.room[self.end : end + len(_END)] = b"".join((head, data, _END))
        self.end = end

    def delete(self) -> None:
        self.room.close()
        with contextlib.suppress(OSError):  # the next start passes over it
            self.path.unlink()


class CallJournal:
    """Its methods are called with the buffer's lock held. A file begins with its first entry."""

    def __init__(self, directory: Path, store: int, last: int) -> None:
        self._directory = directory
        self._store = store
        self._last = last  # the number of the last file
        self._made = 0
        self._current: _File | None = None
        self._full: list[_File] = []
        self._free: list[_File] = []
        self._is_closed = False

    def append(self, entry: Entry) -> None:
        """Keep an entry. StoreProblem: there is no room for it, and nothing was kept."""
        if self._is_closed:
            raise StoreProblem("The store is closed.")
        data = marshal.dumps(entry, _FORMAT)
        if self._current is None or not self._current.has_room(len(data)):
            try:
                self._begin(len(data))
            except OSError as problem:
                raise StoreProblem(
                    f"The call was not stored: {problem.strerror or problem}.",
                    directory=str(self._directory),
                ) from problem
        assert self._current is not None
        self._current.append(data)

    def _begin(self, size: int) -> None:
        file = self._free.pop() if self._free else None
        if file is None or size > FILE_BYTES // 2:
            file = self._make_file(max(FILE_BYTES, size + 2 * mmap.PAGESIZE))
        self.end_file()
        self._last += 1
        file.begin(self._store, self._last)
        self._current = file

    def _make_file(self, size: int) -> _File:
        path = self._directory / f"calls-{self._made + 1}.journal"
        handle = os.open(path, _FLAGS, 0o600)
        try:
            take_room(handle, size)
            room = mmap.mmap(handle, size)
        except BaseException:
            os.unlink(path)
            raise
        finally:
            os.close(handle)
        self._made += 1
        return _File(path, room)

    def end_file(self) -> int:
        """The next entry begins another file. Return the number of the last one."""
        if self._current is not None:
            self._full.append(self._current)
            self._current = None
        return self._last

    def free_files(self, upto: int) -> None:
        """Use the files up to this number again: the database has what is in them."""
        for file in [file for file in self._full if file.number <= upto]:
            self._full.remove(file)
            if len(file.room) == FILE_BYTES and len(self._free) < _MAX_FREE:
                self._free.append(file)
            else:
                file.delete()

    def close(self) -> None:
        """Delete the files that the database does not need. The others are for the next start."""
        self.end_file()
        for file in self._free:
            file.delete()
        for file in self._full:
            file.room.close()
        self._free, self._full = [], []
        self._is_closed = True


# -- reading -------------------------------------------------------------------------------------


def list_files(directory: Path) -> list[Path]:
    return sorted(entry for entry in directory.iterdir() if _NAME.fullmatch(entry.name))


def read_number(data: bytes, store: int) -> int:
    """The number of a file; 0 if it has none yet. ValueError: it is not of this store."""
    if len(data) < _HEAD.size or not any(data[: _HEAD.size]):
        return 0
    magic, owner, number = _HEAD.unpack_from(data)
    if (magic, owner) != (_MAGIC, store):
        raise ValueError("it is not of this database")
    return int(number)


def read_entries(data: bytes, number: int) -> Iterator[Entry]:
    """The entries of a file, up to one that was not written to its end: nobody counts on it.

    ValueError: another one comes behind it, so the file was damaged later.
    """
    at = _HEAD.size
    while True:
        entry, after = _read_entry(data, at, number)
        if entry is None:
            if after and _read_entry(data, after, number)[0] is not None:
                raise ValueError(f"the entry at byte {at} is not what was written")
            return
        yield _load(entry)
        at = after


def _read_entry(data: bytes, at: int, number: int) -> tuple[bytes | None, int]:
    """The bytes of an entry, if it is one, and where it ends; 0 if it has no end."""
    if at + _ENTRY.size > len(data):
        return None, 0
    size, checksum = _ENTRY.unpack_from(data, at)
    begin, end = at + _ENTRY.size, at + _ENTRY.size + size
    if size == 0 or end > len(data):
        return None, 0
    entry = data[begin:end]
    return entry if _checksum(entry, number) == checksum else None, end


def _checksum(data: bytes, number: int) -> int:
    return zlib.crc32(data, number & 0xFFFFFFFF)


def _load(entry: bytes) -> Entry:
    loaded = marshal.loads(entry)
    if not isinstance(loaded, tuple):
        raise ValueError("an entry is not one of this version")
    return loaded
