"""Opening: a fresh directory, a foreign or damaged file, a second server."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from holdfast.model.records import SessionRecord
from holdfast.store import StoreInUse, StoreProblem
from holdfast.store.sqlite.database_check import APPLICATION_ID
from holdfast.store.sqlite.migrations import (
    latest_version,
    migrate,
    migrations,
    version_of,
)
from holdfast.store.sqlite.sqlite_store import open_sqlite_store

HOLD_THE_STORE = """
import sys
from pathlib import Path
from holdfast.store.sqlite.sqlite_store import open_sqlite_store
store = open_sqlite_store(Path(sys.argv[1]))
print("open", flush=True)
sys.stdin.read()
"""


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def create_database(directory: Path) -> Path:
    store = open_sqlite_store(directory)
    for number in range(200):
        document = {"text": "x" * 500}
        store.directory.put_session(
            SessionRecord(f"s{number}", "program", number, number, document)
        )
    store.close()
    return directory / "holdfast.db"


def bad_files(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.glob("holdfast.db.bad-*"))


def test_migrations_are_numbered_from_one_without_gaps() -> None:
    assert [step.version for step in migrations()] == list(range(1, latest_version() + 1))


def test_migrating_an_empty_database_step_by_step_reaches_the_latest() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        for step in migrations():
            migrate(connection, upto=step.version)
            assert version_of(connection) == step.version
        migrate(connection)
        assert version_of(connection) == latest_version()
        assert connection.execute("PRAGMA application_id").fetchone() == (APPLICATION_ID,)


def test_a_failing_migration_leaves_nothing_behind() -> None:
    with closing(sqlite3.connect(":memory:", isolation_level=None)) as connection:
        connection.execute("CREATE TABLE quarantine (x)")
        with pytest.raises(sqlite3.OperationalError, match="quarantine"):
            migrate(connection)
        assert version_of(connection) == 0
        tables = connection.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall()
        assert tables == [("quarantine",)]


def test_directories_and_files_are_for_the_owner_alone(tmp_path: Path) -> None:
    directory = tmp_path / "state" / "holdfast"
    before = os.umask(0)
    try:
        store = open_sqlite_store(directory)
        store.directory.put_settings({"a": 1}).result()
        assert mode(directory) == 0o700
        assert mode(directory.parent) == 0o700
        names = sorted(path.name for path in directory.iterdir())
        assert names == ["holdfast.db", "holdfast.db-shm", "holdfast.db-wal", "holdfast.lock"]
        assert {mode(path) for path in directory.iterdir()} == {0o600}
        store.close()
    finally:
        os.umask(before)


def test_a_database_readable_by_others_is_made_private(tmp_path: Path) -> None:
    path = create_database(tmp_path)
    path.chmod(0o644)
    open_sqlite_store(tmp_path).close()
    assert mode(path) == 0o600


def test_an_open_directory_is_tightened_with_a_warning(tmp_path: Path) -> None:
    directory = tmp_path / "data"
    directory.mkdir()
    directory.chmod(0o755)
    store = open_sqlite_store(directory)
    store.close()
    assert mode(directory) == 0o700
    [warning] = store.warnings
    assert warning.code == "DATA_DIRECTORY_OPEN"
    assert "mode 0755" in warning.message
    again = open_sqlite_store(directory)
    again.close()
    assert again.warnings == []


def test_a_directory_that_others_could_replace_is_warned_of(tmp_path: Path) -> None:
    tmp_path.chmod(0o777)
    store = open_sqlite_store(tmp_path / "data")
    store.close()
    assert [warning.code for warning in store.warnings] == ["DATA_DIRECTORY_UNSAFE"]


@pytest.mark.parametrize("name", ["holdfast.lock", "holdfast.db", "holdfast.db-wal"])
def test_a_symbolic_link_in_the_directory_is_never_followed(tmp_path: Path, name: str) -> None:
    victim, directory = tmp_path / "victim", tmp_path / "data"
    victim.write_text("precious")
    victim.chmod(0o644)
    directory.mkdir(mode=0o700)
    (directory / name).symlink_to(victim)
    with pytest.raises(StoreProblem, match=f"{name} is a symbolic link"):
        open_sqlite_store(directory)
    assert victim.read_text() == "precious"
    assert mode(victim) == 0o644


@pytest.mark.parametrize("name", ["holdfast.lock", "holdfast.db", "holdfast.db-wal"])
def test_a_fifo_in_the_directory_is_refused_at_once(tmp_path: Path, name: str) -> None:
    directory = tmp_path / "data"
    directory.mkdir(mode=0o700)
    os.mkfifo(directory / name)
    with pytest.raises(StoreProblem, match=f"{name} is not a regular file"):
        open_sqlite_store(directory)


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's directory")
def test_the_directory_of_another_user_is_refused(tmp_path: Path) -> None:
    directory = tmp_path / "data"
    directory.mkdir()
    os.chown(directory, 65534, 65534)
    with pytest.raises(StoreProblem, match=r"belongs to user .*, not to you") as refused:
        open_sqlite_store(directory)
    assert "--data-dir" in refused.value.hint
    assert list(directory.iterdir()) == []


def garbage(path: Path) -> None:
    path.write_bytes(b"this is no database\n" * 500)


def short_garbage(path: Path) -> None:
    path.write_bytes(b"{}")


def truncated(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2 + 100)


def cut_in_the_header(path: Path) -> None:
    os.truncate(path, 50)


def flip(path: Path, offsets: range) -> None:
    content = bytearray(path.read_bytes())
    for offset in offsets:
        content[offset] ^= 0xFF
    path.write_bytes(content)


def flipped_magic(path: Path) -> None:
    flip(path, range(4, 6))


def flipped_versions(path: Path) -> None:
    flip(path, range(18, 20))


def flipped_pages(path: Path) -> None:
    flip(path, range(4096, path.stat().st_size, 64))


def foreign(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("CREATE TABLE settings (mine)")
        connection.commit()


def foreign_with_a_version(path: Path) -> None:
    foreign(path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("PRAGMA user_version = 1")


def without_a_table(path: Path) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP TABLE events")
        connection.commit()


@pytest.mark.parametrize(
    "damage",
    [
        garbage,
        short_garbage,
        truncated,
        cut_in_the_header,
        flipped_magic,
        flipped_versions,
        flipped_pages,
        foreign,
        foreign_with_a_version,
        without_a_table,
    ],
)
def test_an_unusable_database_is_kept_aside_and_a_new_one_started(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    path = create_database(tmp_path)
    damage(path)
    damaged = path.read_bytes()
    store = open_sqlite_store(tmp_path)
    assert asyncio.run(store.directory.sessions()) == []
    store.directory.put_settings({"works": True}).result()
    (warning,) = store.warnings
    assert warning.code == "STORE_SET_ASIDE"
    kept = Path(warning.details["kept_as"])
    assert kept.read_bytes() == damaged
    assert kept.name in bad_files(tmp_path)
    store.close()

    store = open_sqlite_store(tmp_path)
    assert asyncio.run(store.directory.settings()) == {"works": True}
    assert store.warnings == []
    store.close()


def test_the_log_goes_aside_with_its_database(tmp_path: Path) -> None:
    garbage(tmp_path / "holdfast.db")
    (tmp_path / "holdfast.db-wal").write_bytes(b"log")
    (tmp_path / "holdfast.db-shm").write_bytes(b"index")
    store = open_sqlite_store(tmp_path)
    kept = store.warnings[0].details["kept_as"]
    store.close()
    assert Path(f"{kept}-wal").read_bytes() == b"log"
    assert Path(f"{kept}-shm").read_bytes() == b"index"


def test_a_log_without_its_database_is_kept(tmp_path: Path) -> None:
    (tmp_path / "holdfast.db-wal").write_bytes(b"all that is left")
    store = open_sqlite_store(tmp_path)
    kept = store.warnings[0].details["kept_as"]
    store.close()
    assert Path(f"{kept}-wal").read_bytes() == b"all that is left"


def test_files_set_aside_never_replace_each_other(tmp_path: Path) -> None:
    for number in range(5):
        (tmp_path / "holdfast.db").write_bytes(b"bad %d" % number)
        open_sqlite_store(tmp_path).close()
    kept = sorted((tmp_path / name).read_bytes() for name in bad_files(tmp_path))
    assert kept == [b"bad %d" % number for number in range(5)]


def test_an_empty_file_is_a_new_database(tmp_path: Path) -> None:
    (tmp_path / "holdfast.db").touch()
    store = open_sqlite_store(tmp_path)
    store.directory.put_settings({"a": 1}).result()
    assert store.warnings == []
    store.close()


@pytest.mark.parametrize("version", [latest_version() + 1, 2_000_000])
def test_a_database_with_a_newer_schema_is_refused_and_unchanged(
    tmp_path: Path, version: int
) -> None:
    path = create_database(tmp_path)
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {version}")
    before = path.read_bytes()
    with pytest.raises(StoreProblem, match=f"version {version}") as caught:
        open_sqlite_store(tmp_path)
    assert "Upgrade" in caught.value.hint
    assert path.read_bytes() == before
    assert bad_files(tmp_path) == []


def test_a_future_that_is_only_in_the_log_is_refused_too(tmp_path: Path) -> None:
    source, copy = tmp_path / "source", tmp_path / "copy"
    path = create_database(source)
    copy.mkdir()
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version = {latest_version() + 1}")
        for file in source.iterdir():
            shutil.copy(file, copy / file.name)
    before = {name: (copy / name).read_bytes() for name in ("holdfast.db", "holdfast.db-wal")}
    with pytest.raises(StoreProblem, match="schema version"):
        open_sqlite_store(copy)
    assert {name: (copy / name).read_bytes() for name in before} == before


def test_a_second_open_in_this_process_is_refused(tmp_path: Path) -> None:
    store = open_sqlite_store(tmp_path)
    for _ in range(2):
        with pytest.raises(StoreInUse, match=f"pid {os.getpid()}") as caught:
            open_sqlite_store(tmp_path / "." / "")
        assert caught.value.code == "STORE_IN_USE"
        assert isinstance(caught.value, StoreProblem)
    store.directory.put_settings({"a": 1}).result()
    store.close()
    open_sqlite_store(tmp_path).close()


def test_a_store_held_by_another_process_is_refused_until_it_is_killed(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLD_THE_STORE, str(tmp_path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    ) as holder:
        assert holder.stdout is not None
        assert holder.stdout.readline() == b"open\n"
        with pytest.raises(StoreInUse) as caught:
            open_sqlite_store(tmp_path)
        assert caught.value.details["pid"] == holder.pid
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        open_sqlite_store(tmp_path).close()


def test_a_failed_opening_lets_go_of_the_directory(tmp_path: Path) -> None:
    (tmp_path / "holdfast.db").mkdir()
    for _ in range(2):
        with pytest.raises(StoreProblem, match="directory"):
            open_sqlite_store(tmp_path)
    (tmp_path / "holdfast.db").rmdir()
    open_sqlite_store(tmp_path).close()


@pytest.mark.parametrize("below", ["", "data", "data/deeper"])
def test_a_path_that_is_or_is_under_a_file_is_refused(tmp_path: Path, below: str) -> None:
    file = tmp_path / "file"
    file.write_text("mine")
    with pytest.raises(StoreProblem, match="cannot be used") as caught:
        open_sqlite_store(file / below)
    assert "Choose a directory" in caught.value.hint
    assert file.read_text() == "mine"


@pytest.mark.parametrize("directory", ["/proc/self", "/proc/holdfast"])
def test_a_directory_that_cannot_be_written_is_refused(directory: str) -> None:
    with pytest.raises(StoreProblem, match="cannot be used"):
        open_sqlite_store(Path(directory))


def test_a_directory_with_unusual_characters_is_fine(tmp_path: Path) -> None:
    directory = tmp_path / "a b?c#d%20é"
    store = open_sqlite_store(directory)
    store.directory.put_settings({"a": 1})
    assert asyncio.run(store.directory.settings()) == {"a": 1}
    store.close()
    assert (directory / "holdfast.db").exists()
