"""Finds damage in SQLite's write-ahead log, which SQLite itself passes over in silence.

SQLite uses the log up to the last commit before the first frame with a wrong checksum, and drops
the rest. That is right for a write that was interrupted: it is the last one. If more frames of the
same round come after it, the log was damaged later, and committed transactions are lost. See "The
WAL File Format" in the documentation of SQLite.
"""

from __future__ import annotations

import contextlib
import shutil
import sqlite3
import struct
from pathlib import Path
from typing import BinaryIO

from holdfast.store.sqlite.database_check import companion, name_aside
from holdfast.store.store_warnings import StoreWarnings

_HEADER_BYTES = 32
_FRAME_HEADER_BYTES = 24
_LITTLE, _BIG = 0x377F0682, 0x377F0683  # the byte order of checksums

Checksum = tuple[int, int]


def check_log(connection: sqlite3.Connection, path: Path, warnings: StoreWarnings) -> None:
    """Warn of a damaged log, and keep a copy of it, before anything is written."""
    # How many frames SQLite has accepted; -1 if there is no log.
    _, used, _ = connection.execute("PRAGMA wal_checkpoint(PASSIVE)").fetchone()
    log = companion(path, "-wal")
    reason = find_log_damage(log, max(used, 0))
    if reason is None:
        return
    kept = name_aside(log)
    try:
        shutil.copyfile(log, kept)
        kept.chmod(0o600)
        fate = f"It is kept as {kept.name}."
    except OSError as problem:
        fate = f"It could not be kept: {problem.strerror}."
        with contextlib.suppress(OSError):
            kept.unlink()
    warnings.add(
        "STORE_LOG_DAMAGED",
        f"The log of the database is damaged ({reason}), so what was stored last before the server "
        f"stopped is lost. {fate} Check the last sessions, and the disk.",
        about=kept,
        path=str(log),
        kept_as=str(kept),
        reason=reason,
    )


def find_log_damage(path: Path, used: int) -> str | None:
    """What is wrong with a log of which SQLite uses so many frames; None if nothing is."""
    try:
        with open(path, "rb") as file:
            return _check_frames(file, used)
    except FileNotFoundError:
        return None


def _check_frames(file: BinaryIO, used: int) -> str | None:
    header = file.read(_HEADER_BYTES)
    if len(header) < _HEADER_BYTES:
        return None  # interrupted when it was begun: there is no frame
    magic, _format, page_size = struct.unpack_from(">III", header)
    if magic not in (_LITTLE, _BIG) or not 512 <= page_size <= 65536:
        return "its header is malformed"
    order = "<" if magic == _LITTLE else ">"
    checksum = _read_checksum(header, 24)
    if _add(order, header[:24], (0, 0)) != checksum:
        return "the checksum of its header is wrong"
    size = _FRAME_HEADER_BYTES + page_size
    if used:
        file.seek(_HEADER_BYTES + (used - 1) * size)
        checksum = _read_checksum(file.read(size), 16)
    number, damaged = used, None
    while len(frame := file.read(size)) == size and frame[8:16] == header[16:24]:
        number += 1
        if damaged is not None:
            return f"frame {damaged} of at least {number} is malformed"
        checksum = _add(order, frame[:8] + frame[_FRAME_HEADER_BYTES:], checksum)
        if checksum != _read_checksum(frame, 16):
            damaged = number
    return None


def _read_checksum(data: bytes, at: int) -> Checksum:
    first, second = struct.unpack_from(">II", data, at)
    return first, second


def _add(order: str, data: bytes, checksum: Checksum) -> Checksum:
    """SQLite's checksum of pairs of words, which goes on from that of what came before."""
    first, second = checksum
    for one, other in struct.iter_unpack(f"{order}II", data):
        first = (first + one + second) & 0xFFFFFFFF
        second = (second + other + first) & 0xFFFFFFFF
    return first, second
