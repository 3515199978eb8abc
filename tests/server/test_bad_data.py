"""What a server finds in its data directory: bad files are kept aside, or it refuses clearly."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from harness import Program, Server

LOOP = Program("loop.py")


def garbage(path: Path) -> None:
    path.write_bytes(os.urandom(50_000))


def truncate(path: Path) -> None:
    os.truncate(path, path.stat().st_size // 2)


def overwritten(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[4096:12288] = b"\xff" * 8192
    path.write_bytes(bytes(data))


def write_foreign_database(path: Path) -> None:
    path.unlink()
    with closing(sqlite3.connect(path)) as database, database:
        database.execute("CREATE TABLE recipes (name TEXT)")
        database.execute("INSERT INTO recipes VALUES ('soup')")


@pytest.fixture(scope="module")
def used(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The directory of a server that had a session, and stopped."""
    server = Server(tmp_path_factory.mktemp("used") / "data")
    server.post("/sessions", {"name": "earlier"})
    assert server.stop() == 0
    return server.data_dir


@pytest.mark.parametrize("damage", [garbage, truncate, overwritten, write_foreign_database])
def test_a_database_that_cannot_be_used_is_kept_and_a_new_one_started(
    used: Path, tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    data = tmp_path / "data"
    shutil.copytree(used, data)
    (data / "notes.txt").write_text("mine")
    (data / "server.json").write_text("{ this is not JSON")
    damage(data / "holdfast.db")
    before = (data / "holdfast.db").read_bytes()

    server = Server(data)
    try:
        [warning] = server.get("/health")["warnings"]
        assert warning["code"] == "STORE_SET_ASIDE"
        assert Path(warning["details"]["kept_as"]).read_bytes() == before
        assert server.get("/sessions")["total"] == 0
        server.post("/sessions", {"name": "later"})
    finally:
        assert server.stop() == 0
    assert (data / "notes.txt").read_text() == "mine"


def from_the_future(data: Path) -> None:
    with closing(sqlite3.connect(data / "holdfast.db")) as database:
        database.execute("PRAGMA user_version = 1000")


def directory_for_database(data: Path) -> None:
    for each in data.glob("holdfast.db*"):
        each.unlink()
    (data / "holdfast.db").mkdir()


def directory_for_lock(data: Path) -> None:
    (data / "holdfast.lock").unlink(missing_ok=True)
    (data / "holdfast.lock").mkdir()


def directory_for_announcement(data: Path) -> None:
    (data / "server.json").mkdir()


@pytest.mark.parametrize(
    ("prepare", "word"),
    [
        (from_the_future, "schema version 1000"),
        (directory_for_database, "cannot be used"),
        (directory_for_lock, "cannot be used"),
        (directory_for_announcement, "server.json"),
    ],
)
@pytest.mark.slow
def test_what_cannot_be_replaced_is_left_and_named_in_one_line(
    used: Path, tmp_path: Path, prepare: Callable[[Path], None], word: str
) -> None:
    data = tmp_path / "data"
    shutil.copytree(used, data)
    prepare(data)
    before = sorted(
        each.name for each in data.iterdir() if not each.name.endswith(("-wal", "-shm"))
    )

    done = start_refused([sys.executable, "-m", "holdfast", "serve", "--port", "0"], data)

    assert word in done
    after = sorted(each.name for each in data.iterdir() if not each.name.endswith(("-wal", "-shm")))
    assert after == before


def start_refused(argv: list[str], data: Path) -> str:
    """The one line that says why it does not start; the second says what to do."""
    done = subprocess.run(
        [*argv, "--data-dir", str(data)], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 1, done
    what, _hint = done.stderr.splitlines()
    return what


def test_a_directory_on_a_disk_that_is_read_only_is_named_in_one_line(tmp_path: Path) -> None:
    """Root writes wherever permissions forbid it, so the disk itself must: a mount of its own."""
    data = tmp_path / "disk"
    data.mkdir()
    mount = ["unshare", "--mount", *(["--map-root-user"] if os.geteuid() else []), "sh", "-c"]
    readable = 'mount -t tmpfs -o ro none "$0" || exit 99; echo mounted; exec "$@"'
    serve = [sys.executable, "-m", "holdfast", "serve", "--port", "0", "--data-dir", str(data)]
    done = subprocess.run(
        [*mount, readable, str(data), *serve],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if "mounted" not in done.stdout:
        pytest.skip("nothing can be mounted here")
    assert done.returncode == 1
    what, hint = done.stderr.splitlines()
    assert str(data) in what
    assert "Read-only" in what
    assert "write" in hint


@pytest.mark.parametrize("lost", ["directory", "database"])
def test_a_data_directory_that_is_deleted_is_reported_and_sessions_go_on(
    tmp_path: Path, lost: str
) -> None:
    server = Server(tmp_path / "data")
    try:
        with server.session() as session:
            session.break_at(LOOP, "add")
            moved = (server.data_dir, tmp_path / "away")
            if lost == "database":
                moved = (server.data_dir / "holdfast.db", tmp_path / "away.db")
            os.rename(*moved)
            told = session.wait_for_events("not_saved")[0]["message"]
            assert str(server.data_dir) in told
            assert "restart the server" in told
            health = server.get("/health")
            assert health["status"] == "degraded"
            [warning] = health["warnings"]
            assert (warning["code"], warning["message"]) == ("DATA_DIRECTORY_GONE", told)
            assert told in server.wait_for_log("was deleted or replaced")

            assert session.launch(LOOP)["status"] == "paused"
            assert session.evaluate("1 + 1") == "2"

            os.rename(*moved[::-1])
            session.wait_for_events("saved")
            assert server.get("/health")["status"] == "ok"
            assert "is back" in server.wait_for_log("is back")
    finally:
        assert server.stop() == 0


def test_a_damaged_log_is_told_in_health_and_in_the_log(tmp_path: Path) -> None:
    server = Server(tmp_path / "data")
    for number in range(5):
        server.post("/sessions", {"name": f"session {number}"})
    server.process.kill()
    server.process.wait()
    server.close()
    log = server.data_dir / "holdfast.db-wal"
    data = bytearray(log.read_bytes())
    data[5000] ^= 0xFF
    log.write_bytes(data)

    again = Server(server.data_dir)
    try:
        [warning] = again.get("/health")["warnings"]
        assert warning["code"] == "STORE_LOG_DAMAGED"
        assert Path(warning["details"]["kept_as"]).read_bytes() == bytes(data)
        assert any(warning["message"] in line for line in again.log)
    finally:
        again.stop()
