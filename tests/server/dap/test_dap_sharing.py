"""Several clients share one session: editors, and an agent over HTTP."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from editor import Editor, Refusal
from harness import Program, Server, Session
from polling import wait_until

LOOP = Program("loop.py")
Open = Callable[..., Editor]


def latest(server: Server) -> Session:
    return Session(server, server.get("/sessions")["sessions"][-1]["session_id"])


def test_an_agent_steps_and_the_person_in_the_editor_sees_it_move(
    editor: Editor, session: Session
) -> None:
    session.break_at(LOOP, "add")
    session.launch(LOOP)
    editor.attach(session=session.id)
    thread = editor.wait_stop("breakpoint")["threadId"]
    session.post("/step-over")
    assert editor.wait_event("continued") == {"threadId": thread, "allThreadsContinued": True}
    editor.wait_stop("step")
    assert editor.stack(thread)[0]["line"] == LOOP.line("return")
    editor.ask("next", threadId=thread)  # and the person takes over
    editor.wait_stop("step")
    said = session.get("/status")
    assert (said["status"], said["location"]["line"]) == ("paused", LOOP.line("call"))
    by = [each["by"] for each in session.wait_for_events("continued", 2)]
    assert by[0] == "rest"
    assert by[1].startswith("editor:")


def test_two_editors_both_continue_and_neither_is_told_of_an_error(open_editor: Open) -> None:
    one, two = open_editor(), open_editor()
    one.launch(LOOP, [LOOP.line("add")])
    thread = one.wait_stop("breakpoint")["threadId"]
    two.attach()
    two.wait_stop("breakpoint")
    one.set_lines(LOOP.path, [])
    first = one.post("continue", threadId=thread)
    second = two.post("continue", threadId=thread)
    assert one.answer(first) == two.answer(second) == {"allThreadsContinued": True}
    one.wait_event("terminated")
    two.wait_event("terminated")


def test_a_late_step_of_the_other_editor_is_no_error(open_editor: Open) -> None:
    program = Program("busy_loop.py")
    one, two = open_editor(), open_editor()
    one.launch(program, stopOnEntry=True)
    thread = one.wait_stop("entry")["threadId"]
    two.attach()
    two.wait_stop("entry")
    one.ask("continue", threadId=thread)
    for command in ("next", "stepIn", "stepOut", "continue"):
        two.ask(command, threadId=thread)


def test_what_one_changes_the_other_reads_again(open_editor: Open, session: Session) -> None:
    session.break_at(LOOP, "add")
    session.launch(LOOP)
    one, two, old = open_editor(), open_editor(), open_editor()
    for editor in (one, two):
        editor.attach(session=session.id)
    old.initialize(supportsInvalidatedEvent=False)
    old.ask("attach", session=session.id)
    old.configure()
    thread = one.wait_stop()["threadId"]
    two.wait_stop()
    old.wait_stop()
    frame = one.stack(thread)[0]["id"]
    scope = one.ask("scopes", frameId=frame)["scopes"][0]["variablesReference"]
    one.ask("setVariable", variablesReference=scope, name="number", value="5")
    assert two.wait_event("invalidated") == {"areas": ["variables"]}
    one.ask("evaluate", expression="total = 7", frameId=frame, context="repl")
    two.wait_event("invalidated")
    assert two.locals(thread)["total"]["value"] == "7"
    session.post(f"/variables/{scope}/set", {"name": "number", "value": "6"})
    one.wait_event("invalidated")
    assert len(one.events("invalidated")) == 1
    assert old.events("invalidated") == []


# -- who may end the program -----------------------------------------------------------------------


def test_one_leaves_and_the_others_stay(open_editor: Open, server: Server) -> None:
    one, two = open_editor(), open_editor()
    one.launch(LOOP, [LOOP.line("add")])
    thread = one.wait_stop()["threadId"]
    two.attach()
    two.wait_stop()
    one.disconnect()  # it has launched it, but is not alone with it
    session = latest(server)
    assert session.get("/status")["status"] == "paused"
    assert session.get("/breakpoints")["total"] == 0
    two.ask("next", threadId=thread)
    two.wait_stop("step")
    two.disconnect()  # nobody is left who could
    assert session.get("/status")["status"] == "terminated"


def test_a_guest_that_came_and_went_does_not_count(open_editor: Open, server: Server) -> None:
    host, guest = open_editor(), open_editor()
    host.launch(LOOP, [LOOP.line("add")])
    host.wait_stop()
    guest.attach()
    guest.wait_stop()
    guest.set_lines(LOOP.path, [LOOP.line("return")])
    guest.close()
    host.wait_event("breakpoint", reason="removed")
    session = latest(server)
    host.disconnect()
    assert session.get("/status")["status"] == "terminated"


def test_a_program_that_an_agent_uses_as_well_outlives_the_editor_that_launched_it(
    editor: Editor, server: Server
) -> None:
    editor.launch(LOOP, [LOOP.line("add")])
    editor.wait_stop()
    session = latest(server)
    session.post("/step-over")
    editor.wait_stop("step")
    editor.disconnect()
    assert session.get("/status")["status"] == "paused"
    session.delete()


@pytest.mark.parametrize("command", ["terminate", "disconnect"])
def test_everybody_is_told_who_ended_the_program(
    open_editor: Open, session: Session, command: str
) -> None:
    session.break_at(LOOP, "add")
    session.launch(LOOP)
    one, two = open_editor(), open_editor()
    for editor in (one, two):
        editor.attach(session=session.id)
        editor.wait_stop()
    two.ask(command, **({"terminateDebuggee": True} if command == "disconnect" else {}))
    one.wait_event("terminated")
    who = one.output("important")
    assert who.startswith("Ended by editor ")
    assert "(tests)" in who
    (told,) = session.wait_for_events("terminating")
    assert told["by"] in who
    assert two.output("important") == ""
    assert session.get("/status")["status"] == "terminated"


def test_an_editor_is_told_that_a_client_over_http_has_ended_the_program(
    editor: Editor, session: Session
) -> None:
    session.launch(LOOP, stop_on_entry=True)
    editor.attach(session=session.id)
    editor.wait_stop()
    session.post("/terminate")
    editor.wait_event("terminated")
    assert editor.output("important") == "Ended by a client of the HTTP API.\n"


def test_an_editor_that_vanishes_leaves_what_it_joined(editor: Editor, session: Session) -> None:
    session.launch(LOOP, stop_on_entry=True)
    editor.attach(session=session.id)
    editor.wait_stop("entry")
    editor.set_lines(LOOP.path, [LOOP.line("add")])
    editor.close()
    wait_until(lambda: session.get("/breakpoints")["total"] == 0, "its breakpoints are gone")
    assert session.get("/status")["status"] == "paused"


def test_a_program_ends_with_the_editor_that_launched_it_and_vanished(
    editor: Editor, server: Server
) -> None:
    editor.launch(LOOP, [LOOP.line("add")])
    editor.wait_stop()
    editor.close()
    session = latest(server)
    assert session.get("/status?wait=60")
    wait_until(lambda: session.get("/status")["status"] == "terminated", "it ended")


def test_a_session_deleted_under_an_editor_ends_for_it(editor: Editor, server: Server) -> None:
    with server.session() as session:
        session.launch(LOOP, stop_on_entry=True)
        editor.attach(session=session.id)
        thread = editor.wait_stop("entry")["threadId"]
        session.delete()
    editor.wait_event("terminated")
    with pytest.raises(Refusal):
        editor.ask("stackTrace", threadId=thread)
    editor.disconnect()


def test_a_restart_by_an_agent_keeps_the_editor(editor: Editor, session: Session) -> None:
    session.break_at(LOOP, "add")
    session.launch(LOOP)
    editor.attach(session=session.id)
    editor.wait_stop("breakpoint")
    session.post("/restart", {"wait": 60})
    editor.wait_event("continued")
    editor.wait_stop("breakpoint")
    assert editor.events("terminated") == []


def test_an_editor_connected_keeps_its_session_alive(editor: Editor, server: Server) -> None:
    with server.session() as session:
        session.launch(LOOP, stop_on_entry=True)
        editor.attach(session=session.id)
        editor.wait_stop("entry")
        session.patch("", {"timeout_minutes": 0.01})
        with server.session(timeout_minutes=0.01) as other:
            wait_until(
                lambda: (
                    server.http.get(f"/sessions/{other.id}/status").json().get("reason")
                    == "timeout"
                ),
                "the one without an editor expires",
            )
        assert session.get("/status")["status"] == "paused"


def test_a_child_process_is_offered_as_a_session_of_its_own(
    open_editor: Open, tmp_path: Any
) -> None:
    script = tmp_path / "parent.py"
    script.write_text(
        f"import subprocess, sys\nsubprocess.run([sys.executable, {Program('idle.py').path!r}])\n"
    )
    one, two = open_editor(), open_editor()
    one.initialize(supportsStartDebuggingRequest=True)
    one.ask("launch", program=str(script), subProcess=True)
    one.configure()
    offer = one.wait_for(lambda m: m.get("command") == "startDebugging", "the offer")
    configuration = offer["arguments"]["configuration"]
    assert offer["arguments"]["request"] == "attach"
    two.attach(**configuration)
    two.wait_event("process")
    two.ask("terminate")
    two.wait_event("terminated")
    one.wait_event("terminated")
