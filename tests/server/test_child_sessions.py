"""With `debug_subprocesses` every Python child is a session of its own."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from child_processes import (
    CHILD_STARTER,
    PATIENCE,
    WAYS,
    is_gone,
    list_spawn_events,
    mask_pids,
    run_undebugged,
    wait_for_children,
)
from harness import Server, Session
from polling import wait_until


def wait_for_stop(child: Session) -> dict[str, Any]:
    shown: dict[str, Any] = child.get(f"/status?wait={PATIENCE}&include=locals,stack")
    return shown


def wait_for_end(session: Session) -> dict[str, Any]:
    """Wait for the end of a program; a child that is held ends one wait."""
    shown: dict[str, Any] = session.get(f"/status?wait={PATIENCE}")
    if shown["status"] == "running" and shown["held_children"]:
        shown = session.get(f"/status?wait={PATIENCE}")
    return shown


def paused_child(session: Session, way: str, **options: Any) -> Session:
    """Launch, and wait for the one child to stop in `work`."""
    session.break_at(CHILD_STARTER, "work")
    session.launch(CHILD_STARTER, args=[way], debug_subprocesses=True, wait=0, **options)
    [child] = wait_for_children(session)
    stop = wait_for_stop(child)
    assert (stop["status"], stop["reason"]) == ("paused", "breakpoint")
    assert stop["location"]["line"] == CHILD_STARTER.line("work")
    return child


@pytest.mark.parametrize("way", ["popen", "module", "posix_spawn", "fork_exits"])
def test_a_child_stops_and_is_looked_into_by_itself(session: Session, way: str) -> None:
    child = paused_child(session, way)

    assert int(child.evaluate("number * 100")) >= 0
    step = child.post("/step-over", {"wait": PATIENCE})
    assert (step["reason"], step["location"]["function"]) == ("step", "work")
    shown = child.get("")
    assert (shown["parent_id"], shown["route"]) == (session.id, "child")
    assert session.get("")["children"] == [child.id]
    assert session.get("/status")["status"] == "running"
    assert child.resume(wait=PATIENCE)["status"] == "terminated"
    end = session.get(f"/status?wait={PATIENCE}")
    assert (end["status"], end["exit_code"]) == ("terminated", 0)


def test_a_program_whose_children_are_followed_stops_at_its_entry(
    session: Session, python: str
) -> None:
    options: Any = {"debug_subprocesses": True, "stop_on_entry": True, "python": python}
    stop = session.launch(CHILD_STARTER, args=["popen"], **options)
    assert (stop["status"], stop["reason"]) == ("paused", "entry")
    assert stop["location"]["file"] == CHILD_STARTER.path


@pytest.mark.slow
def test_followed_children_run_as_without_a_debugger(session: Session, python: str) -> None:
    end = session.launch(CHILD_STARTER, python=python, args=WAYS, debug_subprocesses=True, wait=60)

    stdout, stderr, code = run_undebugged(python, *WAYS)
    assert (end["status"], end.get("exit_code")) == ("terminated", code), session.output()
    assert session.output() == stdout
    assert mask_pids(session.output("stderr")) == mask_pids(stderr)
    followed = {each["how"] for each in list_spawn_events(session) if each["debuggable"]}
    assert followed == {"exec", "spawn", "fork"}


@pytest.mark.parametrize("way", ["fork_process", "spawn_process"])
@pytest.mark.slow
def test_children_of_every_python_stop(session: Session, python: str, way: str) -> None:
    child = paused_child(session, way, python=python)

    assert child.evaluate("number + 40") == "42"
    child.resume()
    end = session.get(f"/status?wait={PATIENCE}")
    assert (end["status"], end["exit_code"]) == ("terminated", 0)
    assert session.output() == f"{way} 0\nend\n"


@pytest.mark.parametrize(
    ("way", "depth"), [("popen", 1), ("grandchild", 2), ("forkserver_process", 2)]
)
@pytest.mark.slow
def test_a_held_child_ends_the_wait_for_its_parent_and_is_named_there(
    session: Session, way: str, depth: int
) -> None:
    session.break_at(CHILD_STARTER, "work")

    shown = session.launch(CHILD_STARTER, args=[way], debug_subprocesses=True, wait=PATIENCE)

    assert shown["status"] == "running"
    [held] = shown["held_children"]
    assert "held_children" in shown["message"]
    child = Session(session.server, held["session_id"])
    stop = child.get("/status")
    assert held == {
        "session_id": child.id,
        "pid": child.get("")["pid"],
        "parent_id": child.get("")["parent_id"],
        "reason": "breakpoint",
        "location": {"file": CHILD_STARTER.path, "line": CHILD_STARTER.line("work")}
        | {"function": "work"},
        "hold_id": stop["hold_id"],
    }
    assert (held["parent_id"] == session.id) == (depth == 1)
    assert session.get("/status")["held_children"] == [held]
    assert session.get("")["held_children"] == [held]
    if way == "grandchild":
        assert session.get("")["children"] == [held["parent_id"]], "its parent is a child"
    child.resume(wait=0)
    end = session.get(f"/status?wait={PATIENCE}")
    assert (end["status"], end["exit_code"]) == ("terminated", 0)
    assert "held_children" not in end
    assert session.output() == run_undebugged(sys.executable, way)[0]


def test_a_child_that_is_held_again_ends_another_wait(session: Session) -> None:
    child = paused_child(session, "waits_for_child")
    first = session.get(f"/status?wait={PATIENCE}")
    unchanged = session.get("/status?wait=0.1")  # the same hold ends no second wait
    child.post("/step-over", {"wait": PATIENCE})

    second = session.get(f"/status?wait={PATIENCE}")

    assert first["held_children"] == unchanged["held_children"]
    assert [each["reason"] for each in second["held_children"]] == ["step"]
    assert first["held_children"][0]["hold_id"] != second["held_children"][0]["hold_id"]


def test_a_child_that_nobody_continues_does_not_hold_its_parent(session: Session) -> None:
    child = paused_child(session, "leave")

    end = wait_for_end(session)

    assert (end["status"], end["exit_code"]) == ("terminated", 0)
    assert child.get("/status")["status"] == "paused"
    assert child.evaluate("number") == "0"


def test_deleting_the_parent_ends_its_children_and_their_sessions(server: Server) -> None:
    with server.session() as parent:
        child = paused_child(parent, "popen")
        pids = [parent.get("")["pid"], child.get("")["pid"]]

    assert all(map(is_gone, pids))
    server.get(f"/sessions/{child.id}", expect=404)


@pytest.mark.slow
def test_a_restart_begins_with_no_children(session: Session) -> None:
    child = paused_child(session, "popen")
    pid = child.get("")["pid"]

    session.post("/restart")

    [again] = wait_for_children(session, 2)[1:]
    assert wait_for_stop(again)["status"] == "paused"
    assert is_gone(pid)
    assert session.get("")["children"] == [again.id]
    child.get(expect=404)


def test_deleting_a_child_ends_it_and_its_parent_goes_on(session: Session) -> None:
    child = paused_child(session, "fork_exits")

    child.delete()

    end = session.get(f"/status?wait={PATIENCE}")
    assert (end["status"], session.output()) == ("terminated", "fork_exits -9\nend\n")


@pytest.mark.parametrize("paused", [True, False])
def test_a_child_that_is_killed_is_terminated_and_its_parent_goes_on(
    session: Session, paused: bool
) -> None:
    child = paused_child(session, "waits_for_child")
    pid = child.get("")["pid"]
    if not paused:
        child.delete("/breakpoints")
        child.resume(wait=0)

    os.kill(pid, signal.SIGKILL)

    assert child.wait_for_events("terminated")[0]["reason"] == "target_exited"
    shown = child.get("/status")
    assert (shown["status"], shown["reason"]) == ("terminated", "target_exited")
    child.post("/evaluate", {"expression": "1"}, expect=409)
    end = session.get(f"/status?wait={PATIENCE}")
    assert (end["status"], end["exit_code"]) == ("terminated", 0)
    assert session.output() == "waits_for_child -9\nend\n"


def test_a_program_that_becomes_a_daemon_is_followed_and_ends_with_its_session(
    server: Server,
) -> None:
    """Forked twice, in a session of its own: the first process is over, the third is held."""
    with server.session() as session:
        session.break_at(CHILD_STARTER, "work")
        session.launch(CHILD_STARTER, args=["daemon"], debug_subprocesses=True, wait=0)
        [middle, daemon] = find_both_children(session)
        assert wait_for_end(session)["status"] == "terminated"
        assert wait_for_stop(daemon)["status"] == "paused"
        assert daemon.evaluate("number") == "5"
        pid = daemon.get("")["pid"]
        assert wait_for_end(middle)["status"] == "terminated"
    assert is_gone(pid)


def find_both_children(session: Session) -> list[Session]:
    """The first child, and the second: its child, or nobody's if it was over by then."""
    middle, *_ = wait_for_children(session)  # both may have come by now

    def look() -> list[str]:
        children = middle.get("")["children"] + session.get("")["children"]
        return [child for child in children if child != middle.id]

    second, *_ = wait_until(look, "the second child")
    return [middle, Session(session.server, second)]


def test_a_child_has_the_options_of_its_parents_launch(session: Session) -> None:
    session.launch(
        CHILD_STARTER,
        args=["popen"],
        debug_subprocesses=True,
        stop_on_exception=True,
        just_my_code=True,
        stop_all_threads=False,
        wait=0,
    )
    [child] = wait_for_children(session)

    stop = wait_for_stop(child)

    assert (stop["status"], stop["reason"]) == ("paused", "exception")
    assert stop["exception"]["type"] == "Stumble"
    assert child.get("")["attach"]["just_my_code"] is True
    assert child.get("")["attach"]["stop_all_threads"] is False


def test_a_child_is_detached_and_goes_on_to_its_end(session: Session) -> None:
    child = paused_child(session, "popen")

    assert child.post("/detach")["status"] == "terminated"

    session.get(f"/status?wait={PATIENCE}")
    assert session.output() == run_undebugged(sys.executable, "popen")[0]


def test_children_may_be_gone_at_once_or_be_no_python(session: Session) -> None:
    end = session.launch(CHILD_STARTER, args=["at_once", "shell"], debug_subprocesses=True)

    assert (end["status"], end["exit_code"]) == ("terminated", 0)
    empty, true, shell = list_spawn_events(session)
    assert (empty["debuggable"], true["debuggable"], shell["debuggable"]) == (True, False, False)
    assert "not a Python" in true["message"]
    [child] = wait_for_children(session)
    shown = child.get(f"/status?wait={PATIENCE}")
    assert (shown["status"], shown["reason"]) == ("terminated", "target_exited")


@pytest.mark.slow
def test_several_children_are_held_at_once(session: Session) -> None:
    session.break_at(CHILD_STARTER, "work")
    session.launch(CHILD_STARTER, args=["several"], debug_subprocesses=True, wait=0)
    children = wait_for_children(session, 4)

    assert {wait_for_stop(child)["status"] for child in children} == {"paused"}
    for child in children:
        child.resume(wait=0)
    assert session.get(f"/status?wait={PATIENCE}")["exit_code"] == 0
    assert session.output() == run_undebugged(sys.executable, "several")[0]


def test_a_child_for_which_there_is_no_room_runs_on_by_itself(server: Server) -> None:
    most = server.get("/config")["max_sessions"]
    with server.session() as parent:
        parent.break_at(CHILD_STARTER, "work")
        count = server.get("/health")["sessions"]  # those of programs
        server.patch("/config", {"max_sessions": count})
        try:
            end = parent.launch(
                CHILD_STARTER, args=["popen", "fork_exits"], debug_subprocesses=True
            )
        finally:
            server.patch("/config", {"max_sessions": most})

        assert (end["status"], end["exit_code"]) == ("terminated", 0)
        assert parent.get("")["children"] == []
        assert parent.output() == run_undebugged(sys.executable, "popen", "fork_exits")[0]


# -- the listener that children connect to -------------------------------------------------------


def list_listening_ports(server: Server) -> list[int]:
    """Where the server listens, besides its own address and those for editors and agents."""
    process = psutil.Process(server.process.pid)
    listening = {c.laddr.port for c in process.net_connections("tcp") if c.status == "LISTEN"}
    info = server.get("/info")
    known = {int(server.url.rpartition(":")[2]), info["dap_port"], info["mcp_port"]}
    return sorted(listening - known)


def test_a_stranger_who_says_nothing_keeps_no_child_waiting(session: Session) -> None:
    session.break_at(CHILD_STARTER, "start", "work")
    session.launch(CHILD_STARTER, args=["popen"], debug_subprocesses=True)
    [port] = list_listening_ports(session.server)
    with contextlib.ExitStack() as open_ones:
        for _ in range(5):
            silent = socket.create_connection(("127.0.0.1", port))
            open_ones.enter_context(silent)
        nonsense = open_ones.enter_context(socket.create_connection(("127.0.0.1", port)))
        nonsense.sendall(b"GET / HTTP/1.1\r\n\r\n" + b"x" * 100_000)

        session.resume(wait=0)

        [child] = wait_for_children(session)
        assert wait_for_stop(child)["status"] == "paused"
        assert session.get("")["children"] == [child.id]


def read_secrets(server: Server) -> list[str]:
    """Those of the listeners that are open."""
    tickets = (server.data_dir / "tickets").glob("*")
    return [json.loads(ticket.read_text())["secret"] for ticket in tickets]


def test_a_process_of_the_user_needs_the_secret_to_report(session: Session) -> None:
    session.break_at(CHILD_STARTER, "start")
    session.launch(CHILD_STARTER, args=["popen"], debug_subprocesses=True)
    [port] = list_listening_ports(session.server)
    with socket.create_connection(("127.0.0.1", port)) as stranger:
        stranger.sendall(b"HOLDFAST " + b"0" * 32 + b"\n")
        assert len(stranger.recv(1000)) == 98  # the server's proof, for whoever can check it
        stranger.sendall(b"0" * 64 + b"\n")
        assert stranger.recv(1000) == b""
    assert session.get("")["children"] == []


def test_no_command_line_and_no_environment_has_the_secret(session: Session) -> None:
    child = paused_child(session, "popen")
    [secret] = read_secrets(session.server)
    processes = psutil.Process(session.server.process.pid).children(recursive=True)
    assert child.get("")["pid"] in [process.pid for process in processes]
    for process in processes:
        assert secret not in " ".join(process.cmdline())
        assert secret.encode() not in Path(f"/proc/{process.pid}/environ").read_bytes()


def test_the_children_of_a_detached_program_join_nobody(session: Session) -> None:
    session.break_at(CHILD_STARTER, "start")
    session.launch(CHILD_STARTER, args=["popen"], debug_subprocesses=True)
    assert read_secrets(session.server)
    pid = session.get("")["pid"]
    assert session.post("/detach")["status"] == "terminated"
    assert read_secrets(session.server) == []
    wait_until(lambda: not psutil.pid_exists(pid), "the program to end, and its child with it")
    assert session.get("")["children"] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can act as another user")
def test_another_user_is_not_let_in(session: Session) -> None:
    session.break_at(CHILD_STARTER, "start")
    session.launch(CHILD_STARTER, args=["popen"], debug_subprocesses=True)
    [port] = list_listening_ports(session.server)
    code = (
        "import encodings.idna, os, socket, sys; os.setuid(65534);"
        "s = socket.create_connection(('127.0.0.1', int(sys.argv[1])));"
        "s.settimeout(60); print(s.recv(100))"
    )

    said = subprocess.run(
        [sys.executable, "-c", code, str(port)], capture_output=True, text=True, check=False
    )

    assert (said.stderr, said.stdout) == ("", "b''\n")  # hung up at once, without a word
