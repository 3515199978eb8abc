"""Checks that a file is a sound database of ours. Any other is renamed and kept."""

from __future__ import annotations

import os
import sqlite3
import struct
from contextlib import closing
from datetime import datetime, timezone
from pathlib import Path

from holdfast.store.sqlite.migrations import latest_version, migrate, version_of
from holdfast.store.store_errors import StoreProblem
from holdfast.store.store_warnings import StoreWarnings

APPLICATION_ID = 0x484F4C44
# SQLite's companions of a database file; without them the last transactions may be missing.
COMPANIONS = ("-wal", "-shm", "-journal")

_MAGIC = b"SQLite format 3\0"
_HEADER_BYTES = 100


def companion(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def ensure_usable(path: Path, warnings: StoreWarnings) -> None:
    """Leave a sound database of ours at `path`, or nothing. Refuse one of a newer version."""
    reason = find_damage(path)
    if reason is not None:
        kept = set_aside(path)
        warnings.add(
            "STORE_SET_ASIDE",
            f"The database could not be used ({reason}); a new one was started. "
            f"The old one is kept as {kept.name}.",
            about=kept,
            path=str(path),
            kept_as=str(kept),
            reason=reason,
        )


def find_damage(path: Path) -> str | None:
    header = _header(path)
    if not header:
        # SQLite would delete a log that has no database, and it may hold the only data.
        stray = companion(path, "-wal")
        return "its log has no database" if _size(stray) else None
    if reason := _check_header(header):
        return reason
    try:
        with closing(_inspect(path)) as connection:
            return _check_contents(connection)
    except UnicodeDecodeError:
        # SQLite quotes damaged names in its message, and Python cannot decode that message.
        return "its schema is malformed"
    except sqlite3.DatabaseError as error:
        # Exactly DatabaseError is "malformed" or "not a database". Its subclasses, such as a lock
        # or a failing disk, may pass, and are no reason to set the file aside.
        if type(error) is sqlite3.DatabaseError:
            return str(error)
        raise


def warn_of_damage(error: BaseException | None, warnings: StoreWarnings) -> None:
    """Warn if an error of SQLite says that the database was damaged while it is in use."""
    if type(error) is sqlite3.DatabaseError:  # its subclasses are problems that may pass
        warnings.add(
            "STORE_DAMAGED",
            f"The database was damaged while the server runs ({error}). Export the sessions that "
            "you need, then restart the server: it keeps the damaged file and starts a new one.",
            reason=str(error),
        )


def set_aside(path: Path) -> Path:
    """Rename the database and its companions to a name nobody has yet."""
    kept = name_aside(path)
    # The database first: companions without a database are noticed at the next start.
    for suffix in ("", *COMPANIONS):
        if companion(path, suffix).exists():
            os.rename(companion(path, suffix), companion(kept, suffix))
    return kept


def name_aside(path: Path) -> Path:
    """A name for a bad file that nobody has yet."""
    stamp = datetime.now(timezone.utc).strftime("%Y%m%dT%H%M%SZ")
    base = f"{path.name}.bad-{stamp}"
    kept, count = path.with_name(base), 1
    while any(companion(kept, suffix).exists() for suffix in ("", *COMPANIONS)):
        kept, count = path.with_name(f"{base}-{count}"), count + 1
    return kept


def _header(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(_HEADER_BYTES)
    except FileNotFoundError:
        return b""


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0


def _check_header(header: bytes) -> str | None:
    """Check the header here, because SQLite reports some damage as a passing problem."""
    if len(header) < _HEADER_BYTES or not header.startswith(_MAGIC):
        return "it is not an SQLite database"
    (page_size,) = struct.unpack_from(">H", header, 16)
    schema_format, encoding = struct.unpack_from(">I8xI", header, 44)
    page_size_ok = page_size == 1 or (page_size >= 512 and page_size & (page_size - 1) == 0)
    versions_ok = header[18] in (1, 2) and header[19] in (1, 2)
    if page_size_ok and versions_ok and schema_format <= 4 and encoding <= 3:
        _refuse_newer_schema(struct.unpack_from(">i", header, 60)[0])
        return None
    return "its header is malformed"


def _inspect(path: Path) -> sqlite3.Connection:
    # Read-only, so that closing does not fold the log into the file; but an interrupted creation
    # leaves a journal, and only a writer may roll that back.
    mode = "rw" if companion(path, "-journal").exists() else "ro"
    uri = f"{path.absolute().as_uri()}?mode={mode}"
    connection = sqlite3.connect(uri, uri=True, isolation_level=None)
    connection.text_factory = lambda raw: raw.decode("utf-8", "replace")
    return connection


def _check_contents(connection: sqlite3.Connection) -> str | None:
    version = version_of(connection)
    _refuse_newer_schema(version)
    # Not quick_check, which ignores broken indexes.
    (verdict,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    if verdict != "ok":
        return str(verdict)
    present = _schema(connection)
    if not present:
        return None
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    if version < 1 or application != APPLICATION_ID:
        return "it belongs to another application"
    return None if _expected_schema(version) <= present else "its tables are not as expected"


def _refuse_newer_schema(version: int) -> None:
    known = latest_version()
    if version > known:
        raise StoreProblem(
            f"The database has schema version {version}; this Holdfast knows up to {known}. "
            "It was left as it is.",
            hint="Upgrade Holdfast, or choose another data directory.",
            version=version,
            known=known,
        )


def _schema(connection: sqlite3.Connection) -> set[tuple[str, str]]:
    return set(connection.execute("SELECT name, sql FROM sqlite_master WHERE sql IS NOT NULL"))


def _expected_schema(version: int) -> set[tuple[str, str]]:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        migrate(connection, upto=version)
        return _schema(connection)
