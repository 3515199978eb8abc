"""A clone in an unusual directory, of a user who has used Holdfast for long.

`make demo` and a few tests pass there, whatever the home, the ports and the variables of the user
are, and change nothing of them. `HOLDFAST_EVERYWHERE=1` has all of `make quick` run.
"""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import uuid
import venv
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil
import pytest

from own_environment import leave_own_environment
from process_trees import find_by_variable
from repository_files import ROOT, list_own_files

RECORDING = ROOT / "tests" / "recordings" / "process_wide_iterations"
LONG_NAME = "a directory, so long that with those around it the path has 150 characters"
CHOSEN = [
    "client/test_reports.py",
    "core/test_breakpoint_places.py",
    "server/test_stop_reports_of_programs.py",
    "service/test_run_plan.py",
    "trust/test_private_files.py",
]
PATIENCE = 60


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """A clone behind a link. Its packages are those of the tests, so that none is installed."""
    folder = tmp_path / "my clöne & 100%" / "ä" / "ö" / LONG_NAME / "holdfast"
    assert len(str(folder)) > 150
    for file in list_own_files():
        copy = folder / file.relative_to(ROOT)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(file, copy)
    made = folder / ".venv"
    venv.create(made, symlinks=True, with_pip=False)
    (libraries,) = made.glob("lib/python*/site-packages")
    packages = [entry for entry in sys.path if entry.endswith("-packages")]
    (libraries / "all.pth").write_text("\n".join([str(folder / "src"), *packages]), "utf-8")
    command = made / "bin" / "holdfast"
    command.write_text('#!/bin/sh\nexec "$(dirname "$0")/python" -m holdfast "$@"\n')
    command.chmod(0o755)
    for name in (".runtime", ".dev"):
        (made / name).touch()
    link = tmp_path / "link"
    link.symlink_to(folder.parent)
    return link / "holdfast"


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Of a user with old sessions, some of which cannot be read."""
    data = tmp_path / "home" / ".holdfast"
    for number in range(20):
        shutil.copytree(RECORDING, data / "agents" / f"old-{number}")
    (data / "agents" / "old-1" / "events.jsonl").write_bytes(b"\x00\xff{")
    (data / "agents" / "old-2" / "session.json").write_text("{")
    (data / "agents" / "old-3" / "session.json").unlink()
    (data / "captures").mkdir()
    (data / "captures" / "old.json").write_text("[]")
    (data / "holdfast.sqlite").write_bytes(b"no database")
    (data / "server.json").write_text('{"url": "http://127.0.0.1:5000", "pid": 1}')
    for each in [data, *data.rglob("*")]:
        each.chmod(0o700 if each.is_dir() else 0o600)
    return data.parent


@pytest.fixture
def mark() -> str:
    """What the variables of all processes have that the test starts."""
    return uuid.uuid4().hex


@pytest.fixture
def asked(mark: str) -> Iterator[list[str]]:
    """The requests of the marked processes to another server of the user, on our usual port."""
    paths: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def handle_one_request(self) -> None:
            if _is_connected(mark, self.client_address[1]):
                paths.append(self.rfile.readline().decode())

    try:
        other = ThreadingHTTPServer(("127.0.0.1", 5000), Handler)
    except OSError:  # somebody has one there
        yield paths
        return
    serving = threading.Thread(target=other.serve_forever)
    serving.start()
    yield paths
    other.shutdown()
    serving.join()
    other.server_close()


def _is_connected(mark: str, port: int) -> bool:
    """Whether it is a marked process that has this port. Other tests ask on our usual port, too."""
    for process in find_by_variable("TESTS_ANYWHERE", mark):
        with contextlib.suppress(psutil.Error):
            if any(each.laddr.port == port for each in process.net_connections("tcp")):
                return True
    return False


def read_all(folder: Path) -> dict[str, tuple[int, bytes]]:
    """When each file was changed, and what is in it."""
    return {
        str(path.relative_to(folder)): (
            path.stat().st_mtime_ns,
            path.read_bytes() if path.is_file() else b"",
        )
        for path in [folder, *folder.rglob("*")]
    }


@pytest.mark.slow
@pytest.mark.timeout(1800)  # the tests inside have their own limits
def test_the_demo_and_the_quick_tests_pass_in_any_directory_and_leave_the_user_alone(
    clone: Path, home: Path, mark: str, asked: list[str]
) -> None:
    before = read_all(home)
    targets = ["demo", "quick"]
    if not os.environ.get("HOLDFAST_EVERYWHERE"):
        targets.append(f"QUICK={' '.join(f'tests/{name}' for name in CHOSEN)}")
    with tempfile.TemporaryDirectory() as temporary:  # short: multiprocessing has sockets there
        environment = leave_own_environment() | {
            "HOME": str(home),
            "TMPDIR": temporary,
            "CI": "1",
            "PYTHONHASHSEED": "7",
            "PYTHONDONTWRITEBYTECODE": "1",
            "CIDELDILL_SERVER_URL": "http://127.0.0.1:9",
            "FORCE_COLOR": "1",
            "COLUMNS": "200",
            "TESTS_ANYWHERE": mark,
        }
        ran = subprocess.run(
            ["make", "--no-print-directory", *targets],
            cwd=clone,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        left = os.listdir(temporary)
    assert ran.returncode == 0, ran.stdout
    assert "Found: checkout.py:15" in re.sub(r"\x1b\[[\d;]*m", "", ran.stdout)
    assert " passed" in ran.stdout
    assert "installing" not in ran.stdout
    assert [name for name in left if not name.startswith("pytest-of-")] == []
    assert read_all(home) == before
    assert asked == []
    _, running = psutil.wait_procs(list(find_by_variable("TESTS_ANYWHERE", mark)), PATIENCE)
    assert running == []
