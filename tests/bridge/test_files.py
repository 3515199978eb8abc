"""A session's life on disk, and its bad days: an agent never stops because its files fail it."""

from __future__ import annotations

import errno
import itertools
import json
import os
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from agent_loops import (
    PROGRAM,
    AgentLoop,
    AgentLoopProcess,
    SessionFiles,
    build_writes,
    open_bridge,
)
from holdfast.bridge import start
from holdfast.recording import liveness, session_index, tail
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.directories import AgentsDirectory
from polling import wait_until


def test_two_agents_of_one_name_keep_out_of_each_others_way(tmp_path: Path) -> None:
    with (
        AgentLoopProcess(tmp_path, "1", "twin", WAIT="1") as first,
        AgentLoopProcess(tmp_path, "1", "twin", WAIT="1") as second,
    ):
        assert first.home.id != second.home.id
        assert (tmp_path / "current").resolve() == second.home.path
        listed = json.loads((tmp_path / "index.json").read_text())["sessions"]
        assert [each["id"] for each in listed] == [first.home.id, second.home.id]
        assert {"id", "pid", "startTime", "cwd", "name"} <= set(listed[0])

        first.kill()
        assert [each["id"] for each in session_index.list_active(first.root)] == [second.home.id]
        assert first.home.events.exists()
        second.go()
        second.result()
    assert json.loads((tmp_path / "index.json").read_text())["sessions"] == []
    assert second.home.read_metadata()["status"] == "ended"
    assert not second.home.bell.exists()


def test_a_line_of_echo_is_a_command(tmp_path: Path) -> None:
    with AgentLoopProcess(tmp_path, "2", WAIT="1") as agent:
        pause = '{"type":"pause","id":"test1","data":{}}'
        commands = tmp_path / "current" / "commands.jsonl"
        subprocess.run(f"echo '{pause}' >> {commands}", shell=True, check=True)
        assert agent.wait_for_execution("test1")["type"] == "pause"
        agent.go()
        agent.wait_for_stop()
        subprocess.run(f"""echo '{{"type":"resume"}}' >> {commands}""", shell=True, check=True)
        assert agent.result() == {"messages": 6, "depth": 1}


@pytest.mark.parametrize(
    "garbage",
    [
        *(b"{broken", b"[]", b"\xff\xfe", b'{"id": 5}', b'{"type": "dance"}', b'"text"'),
        *(b'{"type": "pause", "data": []}', b'{"type": "inject_message", "data": {"role": "x"}}'),
        b"[" * 5000,
    ],
)
def test_garbage_among_the_commands_is_an_error_and_nothing_else_breaks(
    tmp_path: Path, garbage: bytes
) -> None:
    with open_bridge(tmp_path) as dbg:
        loop = AgentLoop(dbg, build_writes(1))
        with open(loop.home.commands, "ab") as file:
            file.write(garbage + b"\n")
        found = loop.wait_for("error")
        assert (found["context"], found["status"]) == ("command_processing", "rejected")
        assert loop.wait_for_execution(loop.send("pause"))
        assert loop.resume()
        assert loop() == "done"
        assert len(loop.data_of("error")) == 1


def test_a_command_line_without_an_end_is_an_error_and_the_next_one_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tail.Tail.__init__, "__defaults__", (0, 1000, 5000))
    with open_bridge(tmp_path) as dbg:
        loop = AgentLoop(dbg, build_writes(1))
        with open(loop.home.commands, "ab") as file:
            file.write(b"x" * 20_000)
        found = loop.wait_for("error")
        assert "5000 bytes" in found["message"]
        with open(loop.home.commands, "ab") as file:
            file.write(b"x" * 20_000 + b"\n")
        assert loop.wait_for_execution(loop.send("pause"))
        assert loop.resume()
        assert loop() == "done"
        assert len(loop.data_of("error")) == 1


def test_commands_that_are_no_file_are_an_error_and_the_agent_goes_on(tmp_path: Path) -> None:
    with open_bridge(tmp_path) as dbg:
        loop = AgentLoop(dbg, build_writes(1))
        os.mkfifo(tmp_path / "fifo")
        os.replace(tmp_path / "fifo", loop.home.commands)
        assert loop() == "done"
        dbg.close()  # which reads the commands once more
        [found] = loop.data_of("error")
        assert "not a regular file" in found["message"]


def test_a_command_is_executed_once_however_often_its_line_appears(tmp_path: Path) -> None:
    with open_bridge(tmp_path) as dbg:
        loop = AgentLoop(dbg, [])
        for _ in range(3):
            loop.send("inject_message", "same", role="user", content="once")
        loop.wait_for_execution(loop.send("pause"))
        loop.resume()
        loop()
        assert len(loop.data_of("message_injected")) == 1
        assert (
            len([each for each in loop.data_of("command_executed") if each["commandId"] == "same"])
            == 1
        )


def test_a_session_that_is_reopened_goes_on_where_it_was(tmp_path: Path) -> None:
    with AgentLoopProcess(tmp_path, "1", IDLE="60") as agent:
        agent.wait_for("tool_call_start", name="idle")
        agent.wait_for_execution(agent.send("inject_message", "before", role="user", content="one"))
        agent.kill()
    with open(agent.home.events, "ab") as file:
        file.write(b'{"seq":99,"type":"tool_')
    before = agent.events
    agent.send("inject_message", "between", role="user", content="two")

    with AgentLoopProcess(tmp_path, "1", SESSION=agent.home.id) as again:
        again.wait_for_execution("between")
        assert again.home == agent.home
        again.result()
    events = again.events
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    assert events[: len(before)] == before
    assert again.data_of("session_start")[1]["reopened"] is True
    executed = [each["commandId"] for each in again.data_of("command_executed")]
    assert (executed.count("before"), executed.count("between")) == (1, 1)


@pytest.mark.slow
def test_a_session_whose_agent_runs_cannot_be_taken_over(
    tmp_path: Path, limits: Callable[..., None]
) -> None:
    limits(session_free=0.1)
    with (
        AgentLoopProcess(tmp_path, "1", WAIT="1") as agent,
        pytest.raises(ValueError, match="still runs"),
    ):
        start("other", directory=tmp_path, session=agent.home.id)


def test_a_stop_is_named_once_in_all_lives_of_a_session(tmp_path: Path) -> None:
    with open_bridge(tmp_path) as dbg:
        loop = AgentLoop(dbg, [])
        loop.wait_for_execution(loop.send("pause"))
        running = loop.run_in_thread()
        first = loop.wait_for_stop()["stop"]
        loop.resume()
        running.result(60)
    with open_bridge(tmp_path, session=dbg.id) as again:
        loop = AgentLoop(again, [])
        loop.wait_for_execution(loop.send("pause"))
        running = loop.run_in_thread()
        assert loop.wait_for_stop(2)["stop"] != first
        assert loop.resume(stop=first)["status"] == "expired"
        loop.resume()
        running.result(60)


def test_a_killed_agent_is_no_longer_alive_and_its_recording_stays(tmp_path: Path) -> None:
    with AgentLoopProcess(tmp_path, "1", IDLE="60") as agent:
        agent.wait_for("tool_call_start", name="idle")
        assert liveness.is_alive(agent.home)
        agent.kill()
    assert not liveness.is_alive(agent.home)
    assert "session_end" not in agent.types
    assert agent.data_of("tool_result")


def test_an_agent_without_a_directory_runs_all_the_same(tmp_path: Path) -> None:
    taken = tmp_path / "file"
    taken.write_text("in the way")
    with AgentLoopProcess(taken, "2") as agent:
        assert agent.result() == {"messages": 6, "depth": 1}


def test_an_agent_whose_disk_is_full_runs_all_the_same(tmp_path: Path) -> None:
    program = """
import resource, runpy, signal, sys
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (700, 700))
sys.argv = sys.argv[1:]
runpy.run_path(sys.argv[0], run_name="__main__")
"""
    done = subprocess.run(
        [sys.executable, "-c", program, str(PROGRAM), "3"],
        env={**os.environ, "HOLDFAST_AGENT_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert json.loads(done.stdout.splitlines()[-1])["messages"] == 8
    assert done.stderr.count("cannot be written") == len(done.stderr.splitlines()) == 1


def test_what_a_full_disk_costs_is_said_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A disk with room for small things now and then, and never for a body."""
    real, numbers = os.write, itertools.count()

    def write(handle: int, data: bytes) -> int:
        if b'"sessionId"' in data and len(data) > 400 and next(numbers) % 5:
            raise OSError(errno.ENOSPC, "No space left on device")
        return real(handle, data)

    def put(contents: ContentFiles, body: bytes) -> str:
        raise OSError(errno.ENOSPC, "No space left on device")

    with open_bridge(tmp_path) as dbg:
        loop = AgentLoop(dbg, build_writes(20))
        large = dbg.tool(lambda number: "x" * 100_000 + str(number), name="large")
        with monkeypatch.context() as full:
            full.setattr(os, "write", write)
            full.setattr(ContentFiles, "put", put)
            assert loop() == "done"
            for number in range(5):
                large(number)
        dbg.error("there is room again")
        assert caplog.text.count("No space left on device") == 1
        events = loop.events
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        assert events[-1]["type"] == "error"
        # Each of these stands before an event that could be written, and never before another one.
        types = [event["type"] for event in events]
        assert "events_lost" in types
        assert ("events_lost", "events_lost") not in itertools.pairwise(types)


def test_a_process_that_an_agent_starts_names_it_and_its_own_sessions_do_not(
    tmp_path: Path,
) -> None:
    with open_bridge(tmp_path) as dbg, open_bridge(tmp_path) as second:
        assert second.home is not None
        assert "startedBy" not in second.home.read_metadata()
        with AgentLoopProcess(tmp_path, "1") as child:
            child.result()
            [started] = child.data_of("session_start")
            assert (started["startedBy"], started["parent"]) == (second.id, second.id)
            assert child.home.read_metadata()["startedBy"] == second.id
        second.close()
        forking = {"HOLDFAST_REPLAY": child.home.id, "HOLDFAST_FORK_AT": "1"}
        with AgentLoopProcess(tmp_path, "1", **forking) as fork:
            fork.result()
            [started] = fork.data_of("session_start")
            assert (started["startedBy"], started["parent"]) == (dbg.id, child.home.id)
    with AgentLoopProcess(tmp_path, "1") as alone:
        alone.result()
        assert "parent" not in alone.data_of("session_start")[0]


def test_a_forked_child_that_starts_a_session_names_the_one_of_its_parent(tmp_path: Path) -> None:
    with open_bridge(tmp_path) as dbg:
        pid = os.fork()
        if pid == 0:
            try:
                start("child", directory=tmp_path / "child").close()
            finally:
                os._exit(0)
        os.waitpid(pid, 0)
        [home] = AgentsDirectory(tmp_path / "child").list_sessions()
        assert home.read_metadata()["startedBy"] == dbg.id


def test_a_hold_is_not_released_because_its_control_failed(tmp_path: Path) -> None:
    with open_bridge(tmp_path) as dbg:
        loop = AgentLoop(dbg, build_writes(1))
        loop.breakpoint(on="tool", name="write")
        running = loop.run_in_thread()
        loop.wait_for_stop()
        loop.home.commands.unlink()
        with open(loop.home.commands, "wb") as file:
            file.write(b"garbage\n")
        loop.wait_for("error")
        loop.home.commands.unlink()
        loop.home.bell.unlink()

        loop.wait_for("state_snapshot", len(loop.data_of("state_snapshot")) + 1)
        assert loop.done == []
        loop.resume()
        assert running.result(60) == "done"


def test_a_clock_that_jumps_changes_no_order_and_no_duration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_bridge(tmp_path) as dbg:
        loop = AgentLoop(dbg, build_writes(2))
        clock = iter(range(10**9, 0, -(10**6)))
        monkeypatch.setattr(time, "time", lambda: float(next(clock)))
        loop()
        monkeypatch.undo()
        events = loop.events
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        assert all(0 <= each["durationMs"] < 60_000 for each in loop.data_of("tool_call_end"))


def test_a_forked_child_records_nothing_and_is_not_held(tmp_path: Path) -> None:
    program = """
import os, sys
from holdfast.bridge import start
dbg = start("parent", directory=sys.argv[1])
tool = dbg.tool(lambda: "made", name="tool")
tool()
child = os.fork()
if child == 0:
    assert tool() == "made"
    os._exit(0)
assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
tool()
print(dbg.id)
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program, str(tmp_path)],
        capture_output=True,
        text=True,
        check=True,
    )
    found = SessionFiles(AgentsDirectory(tmp_path).home(done.stdout.strip()))
    assert len(found.data_of("tool_call_end")) == 2
    assert [event["seq"] for event in found.events] == list(range(1, len(found.events) + 1))


def test_files_are_for_their_owner_alone(tmp_path: Path) -> None:
    with open_bridge(tmp_path / "agents") as dbg:
        AgentLoop(dbg, build_writes(1))()
        dbg.tool(lambda: "x" * 100_000, name="large")()
        assert dbg.home is not None
        for path in (tmp_path / "agents").rglob("*"):
            if not path.is_symlink():
                assert path.stat().st_mode & 0o077 == 0, path


def test_old_recordings_go_when_a_new_session_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_AGENT_KEEP", "2")
    ids = []
    for _ in range(4):
        with open_bridge(tmp_path) as dbg:
            ids.append(dbg.id)
    with open_bridge(tmp_path) as dbg:
        wait_until(lambda: len(os.listdir(tmp_path / "sessions")) <= 3)
        assert set(os.listdir(tmp_path / "sessions")) == {*ids[2:], dbg.id}


# -- the data directory ---------------------------------------------------------------------------


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the data directory is to be."""
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home" / "data"))
    monkeypatch.delenv("HOLDFAST_AGENT_DIR", raising=False)
    return tmp_path / "home" / "data"


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_a_data_directory_that_the_bridge_makes_is_private(data: Path) -> None:
    before = os.umask(0)
    try:
        with start("first"):
            pass
    finally:
        os.umask(before)
    for path in (data.parent, data, data / "agents", data / "agents" / "sessions"):
        assert mode(path) == 0o700


def test_a_data_directory_that_is_open_is_tightened_by_the_bridge(
    data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    data.mkdir(parents=True)
    data.chmod(0o755)
    with start("tightens"):
        assert mode(data) == 0o700
    assert "mode 0755" in caplog.text


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can make another user's directory")
def test_nothing_is_recorded_in_the_data_directory_of_another_user(
    data: Path, caplog: pytest.LogCaptureFixture
) -> None:
    data.mkdir(parents=True)
    os.chown(data, 65534, 65534)
    with start("unrecorded"):
        assert list(data.iterdir()) == []
    assert "not recorded" in caplog.text
    assert "belongs to user nobody" in caplog.text


def test_a_directory_that_was_given_keeps_its_mode_and_its_sessions_are_private(
    tmp_path: Path,
) -> None:
    tmp_path.chmod(0o755)
    with open_bridge(tmp_path):
        assert mode(tmp_path) == 0o755
        assert mode(tmp_path / "sessions") == 0o700
