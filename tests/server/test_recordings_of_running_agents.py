"""Recordings of agents in processes of their own: followed, held, forked and replayed."""

from __future__ import annotations

import json
import os
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil

from agent_loops import PROGRAM, AgentLoopProcess
from agent_process import AgentView, agent_view
from harness import Server
from holdfast.recording.directories import AgentsDirectory
from polling import wait_until
from replayable_agent import read_data


def agents_of(server: Server) -> Path:
    return server.data_dir / "agents"


def wait_for_end(server: Server, session_id: str) -> Any:
    """The session, once the server knows that it is over."""

    def look() -> Any:
        answer = server.http.get(f"/sessions/{session_id}")
        found = answer.json() if answer.status_code == 200 else {}
        return found if found.get("status") == "terminated" else None

    return wait_until(look, f"{session_id} to end")


def record_program(server: Server, turns: int = 2) -> str:
    """A recording that knows how its agent was started."""
    with AgentLoopProcess(agents_of(server), str(turns), "writer") as agent:
        agent.result()
    wait_for_end(server, agent.home.id)
    return agent.home.id


def get_conversation(server: Server, session_id: str, query: str = "") -> Any:
    return server.get(f"/sessions/{session_id}/conversation?{query}")


# -- conversations ------------------------------------------------------------------------------


def test_a_running_agent_is_followed(server: Server) -> None:
    with agent_view(server) as looper:
        for count in (1, 2, 3):
            looper.agent.ask("turn 1")
            last = looper.agent.home.events.read_bytes().count(b"\n")
            looper.server.get(f"{looper.path}/events?since={last - 1}&wait=60")
            shown = looper.get("/conversation")
            assert len(shown["turns"]) == count
            assert (shown["is_over"], shown["held"]) == (False, [])
        assert shown["lanes"][0]["status"] == "running"


def test_what_is_held_is_in_the_conversation(server: Server) -> None:
    with agent_view(server) as looper:
        looper.break_on("double")
        looper.agent.send("turn 1")
        hold = looper.wait_for_hold()
        shown = looper.get("/conversation")
        [tool] = shown["turns"][0]["tools"]
        assert (tool["status"], tool["input_text"]) == ("held", '{"number": 1}')
        [held] = shown["held"]
        assert (held["hold_id"], held["tool_id"]) == (hold["hold_id"], tool["tool_id"])
        looper.decide(hold, "skip", result=21, by="me")
        looper.agent.read_reply()
        looper.wait_for_event("tool_call_end")
        [tool] = looper.get("/conversation")["turns"][0]["tools"]
        assert (tool["status"], tool["result_text"]) == ("faked", "21")
        assert tool["decision"] == {"action": "skip", "by": "me", "json": '{"result": 21}'}


def test_a_held_model_call_is_a_turn_already(server: Server) -> None:
    with agent_view(server) as looper:
        looper.post("/pause", {"wait": 0})
        looper.agent.send("turn 1")
        hold = looper.wait_for_hold()
        shown = looper.get("/conversation")
        [turn] = shown["turns"]
        assert (turn["status"], turn["answer"]) == ("held", None)
        assert turn["messages"] == [{"role": "user", "text": "double it"}]
        found = looper.get("/messages?iteration=1")
        assert (found["is_held"], found["messages"][0]["text"]) == (True, "double it")
        looper.decide(hold, "continue")
        looper.agent.read_reply()
        looper.wait_for_event("tool_call_end")
        shown = looper.get("/conversation")
        assert [(turn["number"], turn["status"]) for turn in shown["turns"]] == [(1, "done")]


def test_what_a_killed_agent_left_is_unfinished(server: Server) -> None:
    with agent_view(server) as looper:
        looper.break_on("double")
        looper.agent.send("turn 1")
        looper.wait_for_hold()
        looper.agent.process.kill()
        wait_for_end(server, looper.agent.id)
        shown = looper.get("/conversation")
        assert (shown["is_over"], shown["end_reason"], shown["held"]) == (True, "crashed", [])
        assert shown["turns"][0]["tools"][0]["status"] == "unfinished"


# -- messages and state ---------------------------------------------------------------------------


def test_reading_leaves_the_recording_as_it_is(server: Server) -> None:
    with agent_view(server) as looper:
        looper.agent.ask("turn 2")
        home = looper.agent.home
        before = home.events.read_bytes(), home.commands.read_bytes()
        for rest in ("", "/state", "/state?what=messages", "/conversation", "/status"):
            looper.get(rest)
        looper.get("/messages?iteration=2")
        server.get(f"/api/agents/compare?left={looper.agent.id}&right={looper.agent.id}")
        assert (home.events.read_bytes(), home.commands.read_bytes()) == before
        looper.get("/state?live=true")
        assert looper.wait_for_event("command_response")["data"]["type"] == "inspect"


# -- forks ----------------------------------------------------------------------------------------


def fork(server: Server, session_id: str, expect: int | None = None, **body: Any) -> Any:
    return server.post(f"/sessions/{session_id}/fork", body, expect=expect)


def test_a_fork_goes_on_live_with_the_messages_that_were_edited(server: Server) -> None:
    parent = record_program(server)
    home = AgentsDirectory(agents_of(server)).home(parent)
    before = home.events.read_bytes()
    given = server.get(f"/sessions/{parent}/messages?iteration=2")
    messages = [json.loads(message["json"]) for message in given["messages"]]
    messages[0]["content"] = "begin otherwise"
    answer = fork(server, parent, at=given["fork_at"], messages=messages)
    assert (answer["status"], answer["parent"]) == ("started", parent)
    new = wait_for_end(server, answer["session_id"])
    assert (new["parent"], new["forkAt"], new["edited"]) == (parent, 1, True)
    assert (new["name"], new["run"]) == ("writer", answer["run"])
    shown = get_conversation(server, new["session_id"])
    assert [turn["replayed"] for turn in shown["turns"]] == [True, False, False]
    asked = server.get(f"/sessions/{new['session_id']}/messages?iteration=2")
    assert asked["messages"][0]["text"] == "begin otherwise"
    assert home.events.read_bytes() == before
    assert any("side effects" in warning for warning in answer["warnings"])


def test_messages_may_be_texts(server: Server) -> None:
    parent = record_program(server)
    message = '{"role": "user", "content": "begin", "weight": 4.0}'
    for messages in ([message], f"[{message}]"):
        answer = fork(server, parent, at=0, messages=messages, wait=60)
        wait_for_end(server, answer["session_id"])
        found = server.get(f"/sessions/{answer['session_id']}/messages?iteration=1")
        assert [each["json"] for each in found["messages"]] == [message]


def test_a_fork_is_held_where_it_begins(server: Server) -> None:
    parent = record_program(server)
    answer = fork(server, parent, at=1, hold=True)
    path = f"/sessions/{answer['session_id']}"
    shown = server.get(f"{path}/status?wait=60")
    assert (shown["status"], shown["reason"]) == ("paused", "fork")
    detail = server.get(path)
    assert detail["process"]["running"] is True
    assert detail["process"]["pid"] == answer["pid"]
    server.post(f"/api/holds/{shown['hold_id']}/decision", {"action": "continue"})
    wait_for_end(server, answer["session_id"])
    process = wait_until(lambda: _ended_process(server, path), "its process to end")
    assert process["exit_code"] == 0
    assert answer["session_id"] in process["stdout"]


def _ended_process(server: Server, path: str) -> Any:
    process = server.get(path)["process"]
    return None if process["running"] else process


def test_a_deleted_fork_ends_with_its_processes(server: Server) -> None:
    parent = record_program(server)
    answer = fork(server, parent, at=1, hold=True)
    path = f"/sessions/{answer['session_id']}"
    server.get(f"{path}/status?wait=60")
    server.delete(path)
    assert not psutil.pid_exists(answer["pid"])
    server.get(path, expect=404)
    assert server.get(f"/sessions/{parent}")["status"] == "terminated"


@contextmanager
def own_server(folder: Path) -> Iterator[Server]:
    running = Server(folder / "data")
    try:
        yield running
    finally:
        running.stop()


def test_a_fork_ends_with_the_server(tmp_path: Path) -> None:
    with own_server(tmp_path) as server:
        parent = record_program(server)
        answer = fork(server, parent, at=1, hold=True)
        server.get(f"/sessions/{answer['session_id']}/status?wait=60")
        assert psutil.pid_exists(answer["pid"])
    assert not psutil.pid_exists(answer["pid"])


def test_a_fork_ends_with_a_server_that_is_killed(tmp_path: Path) -> None:
    with own_server(tmp_path) as server:
        parent = record_program(server)
        answer = fork(server, parent, at=1, hold=True)
        process = psutil.Process(answer["pid"])
        server.process.kill()
        wait_until(lambda: _is_gone(process), "the fork to end")


def _is_gone(process: psutil.Process) -> bool:
    """Whoever adopts it may not reap it."""
    try:
        return process.status() == psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return True


def test_a_command_that_starts_no_session_is_shown_with_what_it_printed(server: Server) -> None:
    parent = record_program(server)
    words = [sys.executable, "-c", "import sys; print('at work'); sys.exit('no such model')"]
    error = fork(server, parent, expect=400, at=1, command=words)["error"]
    assert error["code"] == "LAUNCH_NO_SESSION"
    assert "started no session" in error["message"]
    assert error["details"]["stderr"] == "no such model\n"
    assert error["details"]["stdout"] == "at work\n"
    assert error["details"]["exit_code"] == 1
    error = fork(server, parent, expect=400, at=1, command=["/no/such/agent"])["error"]
    assert "cannot be started" in error["message"]
    assert (error["code"], error["details"]["field"]) == ("FILE_NOT_FOUND", "command")


def test_an_agent_that_takes_its_time_is_starting(server: Server, tmp_path: Path) -> None:
    parent = record_program(server)
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    code = f"open({str(gate)!r}).read(); import runpy; runpy.run_path({str(PROGRAM)!r})"
    answer = fork(server, parent, at=1, command=[sys.executable, "-c", code], wait=0)
    assert (answer["status"], answer["session_id"]) == ("starting", None)
    assert psutil.pid_exists(answer["pid"])
    gate.write_text("")

    def find_run() -> Any:
        every = server.get("/sessions?kind=agent")["sessions"]
        return next((each for each in every if each.get("run") == answer["run"]), None)

    found = wait_until(find_run, "its session to begin")
    assert found["parent"] == parent
    wait_for_end(server, found["session_id"])


def test_a_recording_that_does_not_say_how_it_was_started_needs_a_command(server: Server) -> None:
    parent = record_program(server)
    home = AgentsDirectory(agents_of(server)).home(parent)
    about = home.read_metadata()
    about.pop("argv")
    home.write_metadata(about)
    error = fork(server, parent, expect=400, at=1)["error"]
    assert "does not say how it was started" in error["message"]
    assert "command" in error["hint"]
    answer = fork(server, parent, at=1, command=[sys.executable, str(PROGRAM)])
    assert wait_for_end(server, answer["session_id"])["parent"] == parent


def test_a_replay_calls_no_tool_and_no_model(server: Server, tmp_path: Path) -> None:
    done = tmp_path / "done"
    with AgentLoopProcess(agents_of(server), "2", DONE=str(done)) as agent:
        agent.result()
    wait_for_end(server, agent.home.id)
    written = done.read_text()
    answer = server.post(f"/sessions/{agent.home.id}/replay", {"env": {"DONE": str(done)}})
    new = wait_for_end(server, answer["session_id"])
    assert (new["replayOf"], new["mode"]) == (agent.home.id, "full")
    assert done.read_text() == written
    home = AgentsDirectory(agents_of(server)).home(new["session_id"])
    assert read_data(home, "replay_diverged") == []
    query = f"left={agent.home.id}&right={new['session_id']}"
    compared = server.get(f"/api/agents/compare?{query}")
    assert (compared["equal"], compared["lineage"]["relation"]) == (True, "replay")


def test_many_ask_for_a_conversation_while_it_grows(server: Server) -> None:
    problems: list[BaseException] = []

    def ask(looper: AgentView) -> None:
        try:
            for _ in range(20):
                shown = looper.get("/conversation")
                numbers = [turn["number"] for turn in shown["turns"]]
                assert numbers == list(range(1, len(numbers) + 1))
        except BaseException as problem:
            problems.append(problem)

    with agent_view(server) as looper:
        looper.agent.send("turn 100")
        threads = [threading.Thread(target=ask, args=(looper,)) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        looper.agent.read_reply()
    assert problems == []
