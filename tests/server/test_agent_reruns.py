"""The processes of forks and replays over HTTP: whose they are, how many, and what ends them."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import psutil
import pytest

from agent_loops import AgentLoop, build_writes, open_bridge
from harness import Server
from holdfast import errors
from holdfast.recording.directories import AgentsDirectory
from holdfast.service.debugger import Debugger
from holdfast.wire.session_requests import AgentReplay
from polling import wait_until, wait_until_async

# A child that leaves the session of its parent at once, and writes who it is.
STRAY = 'setsid sh -c \'echo $$ > "$0"; exec sleep 1000\' "$0" &'
WAIT_FOR_STRAY = 'while [ ! -s "$0" ]; do sleep 0.01; done'


@contextmanager
def own_server(folder: Path) -> Iterator[Server]:
    running = Server(folder / "data")
    try:
        yield running
    finally:
        running.stop()


def record(server: Server, cwd: Path | None = None) -> str:
    """A recording that the server knows, made in this directory."""
    agents = server.data_dir / "agents"
    with open_bridge(agents) as dbg:
        AgentLoop(dbg, build_writes(1))()
    home = AgentsDirectory(agents).home(dbg.id)
    if cwd is not None:
        about = home.read_metadata()
        about["cwd"] = str(cwd)
        home.write_metadata(about)
    path = f"/sessions/{dbg.id}"
    wait_until(lambda: server.http.get(path).status_code == 200, "the server to know it")
    return dbg.id


def replay(server: Server, session_id: str, expect: int | None = None, **body: Any) -> Any:
    return server.post(f"/sessions/{session_id}/replay", body, expect=expect)


def fail_to_replay(server: Server, session_id: str, **body: Any) -> Any:
    return replay(server, session_id, 400, **body)["error"]


def is_gone(pid: int) -> bool:
    """Whoever adopts it may not reap it."""
    try:
        return psutil.Process(pid).status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


# -- whose they are -------------------------------------------------------------------------------


def test_what_a_quick_command_leaves_behind_ends_with_it(server: Server, tmp_path: Path) -> None:
    parent, pids = record(server), []
    for number in range(5):
        file = tmp_path / str(number)
        words = ["sh", "-c", f"{STRAY} {WAIT_FOR_STRAY}", str(file)]
        error = fail_to_replay(server, parent, command=words)
        assert error["details"]["exit_code"] == 0
        pids.append(int(file.read_text()))
    assert [pid for pid in pids if not is_gone(pid)] == []


def test_what_a_quick_command_started_ends_with_a_server_that_is_killed(tmp_path: Path) -> None:
    with own_server(tmp_path) as server:
        file = tmp_path / "stray"
        words = ["sh", "-c", f"{STRAY} exec sleep 1000", str(file)]
        answer = replay(server, record(server), command=words, wait=0)
        wait_until(lambda: file.exists() and file.read_text().endswith("\n"), "the stray process")
        server.process.kill()
        for pid in (answer["pid"], int(file.read_text())):
            wait_until(partial(is_gone, pid), f"{pid} to end")


# -- how many -------------------------------------------------------------------------------------


def test_no_more_than_the_limit_are_started_at_once(tmp_path: Path) -> None:
    with own_server(tmp_path) as server:
        path = f"/sessions/{record(server)}/replay"
        body = {"command": ["sleep", "1000"], "wait": 0}
        with ThreadPoolExecutor(50) as threads:
            asked = [threads.submit(server.http.post, path, json=body) for _ in range(50)]
        answers = [each.result() for each in asked]
        started = [answer.json() for answer in answers if answer.status_code == 201]
        refused = [answer.json()["error"] for answer in answers if answer.status_code == 409]
        assert (len(started), len(refused)) == (32, 18)
        for error in refused:
            assert error["details"]["running"] == error["details"]["without_session"] == 32
            assert "is ended 60 s after" in error["hint"]
        for answer in started:
            [warning] = answer["warnings"]
            assert "within 60 s" in warning
    assert all(is_gone(answer["pid"]) for answer in started)


def test_a_run_that_begins_no_session_is_ended(tmp_path: Path, limits: Callable[..., None]) -> None:
    async def run() -> None:
        debugger = await Debugger.open(tmp_path, trusted=lambda *_: True, pool_size=0)
        await debugger.start()
        reruns = debugger.agents.reruns
        try:
            with open_bridge(tmp_path / "agents") as dbg:
                AgentLoop(dbg, build_writes(1))()
            home = AgentsDirectory(tmp_path / "agents").home(dbg.id)
            parent = await debugger.agents.follow(str(home.path))
            limits(rerun_begins=0.05)
            with contextlib.suppress(errors.SessionNotBegun):  # it may be over already
                await reruns.replay(parent, AgentReplay(command=["sleep", "1000"], wait=0))
            await wait_until_async(
                lambda: not reruns.has_running, lambda: "its process", asyncio.sleep
            )
        finally:
            debugger.wake_all()
            await debugger.close()

    asyncio.run(asyncio.wait_for(run(), 60))


# -- mistakes in what is to be started ------------------------------------------------------------


def test_a_command_that_cannot_be_run_is_a_mistake_of_the_request(
    server: Server, tmp_path: Path
) -> None:
    parent = record(server)
    plain = tmp_path / "plain"
    plain.write_text("")
    for word in ("/no/such/agent", "no-such-agent", str(plain), str(tmp_path), ""):
        error = fail_to_replay(server, parent, command=[word])
        assert (error["code"], error["details"]["field"]) == ("FILE_NOT_FOUND", "command")
        assert "`command`" in error["hint"]
    error = fail_to_replay(server, parent, command=["echo", "x" * 200_000])
    assert error["details"]["field"] == "command"


def test_a_relative_directory_begins_where_the_agent_ran(server: Server, tmp_path: Path) -> None:
    inner = tmp_path / "inner"
    inner.mkdir()
    parent = record(server, tmp_path)
    error = fail_to_replay(server, parent, command=["pwd"], cwd="inner")
    assert error["details"]["stdout"] == f"{inner}\n"
    error = fail_to_replay(server, parent, command=["pwd"], cwd="outer")
    assert (error["code"], error["details"]["field"]) == ("FILE_NOT_FOUND", "cwd")
    assert str(tmp_path / "outer") in error["message"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root may enter any directory")
def test_a_directory_that_cannot_be_entered_is_named(server: Server, tmp_path: Path) -> None:
    closed = tmp_path / "closed"
    closed.mkdir(mode=0)
    error = fail_to_replay(server, record(server), command=["pwd"], cwd=str(closed))
    assert (error["code"], error["details"]["field"]) == ("FILE_NOT_FOUND", "cwd")


# -- what a fork is told --------------------------------------------------------------------------


def test_what_a_fork_changes_is_in_a_private_file_of_the_server(server: Server) -> None:
    script = 'echo "$HOLDFAST_FORK_EDITS_FILE"; cat "$HOLDFAST_FORK_EDITS_FILE"; '
    script += 'stat -c %a "$HOLDFAST_FORK_EDITS_FILE" >&2'
    body = {"at": 1, "message": "secret", "command": ["sh", "-c", script]}
    error = server.post(f"/sessions/{record(server)}/fork", body, expect=400)["error"]
    path, text = error["details"]["stdout"].split("\n")
    assert json.loads(text) == {"message": {"role": "user", "content": "secret"}}
    assert error["details"]["stderr"] == "600\n"
    file = Path(path)
    assert file.parent == server.data_dir / "reruns"
    assert file.parent.stat().st_mode & 0o777 == 0o700
    assert not file.exists()


def test_what_a_killed_server_left_of_forks_is_deleted(tmp_path: Path) -> None:
    folder = tmp_path / "data" / "reruns"
    with own_server(tmp_path) as server:
        body = {"at": 1, "message": "secret", "command": ["sleep", "1000"], "wait": 0}
        server.post(f"/sessions/{record(server)}/fork", body)
        assert len(list(folder.iterdir())) == 1
        server.process.kill()
        server.process.wait()
        assert len(list(folder.iterdir())) == 1
    with own_server(tmp_path):
        assert list(folder.iterdir()) == []
