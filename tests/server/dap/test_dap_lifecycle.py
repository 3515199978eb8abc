"""How an editor starts programs, joins them, and what it is told from the start to the end."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from editor import Editor, Refusal
from harness import PROGRAMS, Program, Server, Session

LOOP = Program("loop.py")


def report(editor: Editor) -> Any:
    editor.wait_event("terminated")
    return json.loads(editor.output())


# -- launch ----------------------------------------------------------------------------------------


def test_a_program_runs_from_launch_to_its_end_in_the_order_that_editors_expect(
    editor: Editor,
) -> None:
    editor.launch(LOOP, [LOOP.line("add")])
    stop = editor.wait_stop("breakpoint")
    editor.set_lines(LOOP.path, [])
    editor.ask("continue", threadId=stop["threadId"])
    editor.wait_event("terminated")
    said = [m["event"] for m in editor.messages if m["type"] == "event"]
    assert said[0] == "initialized"
    for first, then in [
        ("initialized", "process"),
        ("process", "thread"),
        ("thread", "stopped"),
        ("stopped", "output"),
        ("output", "exited"),
        ("exited", "terminated"),
    ]:
        assert said.index(first) < said.index(then), said
    assert editor.output() == "total 45\ndone\n"
    assert editor.events("exited") == [{"exitCode": 0}]
    editor.disconnect()


def test_the_answer_to_launch_does_not_wait_for_the_configuration(editor: Editor) -> None:
    editor.initialize()
    number = editor.post("launch", program=LOOP.path)
    editor.wait_event("initialized")
    editor.ask("configurationDone")
    editor.answer(number)
    editor.wait_event("terminated")


def test_an_editor_may_send_everything_at_once(editor: Editor) -> None:
    point = {"line": LOOP.line("add")}
    numbers = [
        editor.post("initialize", adapterID="holdfast"),
        editor.post("launch", program=LOOP.path),
        editor.post("setBreakpoints", source={"path": LOOP.path}, breakpoints=[point]),
        editor.post("setExceptionBreakpoints", filters=["uncaught"]),
        editor.post("configurationDone"),
    ]
    thread = editor.wait_stop("breakpoint")["threadId"]
    numbers += [editor.post("next", threadId=thread), editor.post("threads")]
    editor.wait_stop("step")
    editor.answer(numbers[-1])
    answers = [m["request_seq"] for m in editor.messages if m["type"] == "response"]
    assert answers == numbers


def test_a_step_is_answered_before_the_stop_that_it_leads_to(editor: Editor) -> None:
    editor.launch(LOOP, [LOOP.line("add")])
    thread = editor.wait_stop("breakpoint")["threadId"]
    for _ in range(5):
        number = editor.post("next", threadId=thread)
        editor.wait_stop()
        last = editor.messages[-2:]
        assert last[0].get("request_seq") == number
        assert last[1].get("event") == "stopped"


def test_seq_numbers_are_the_connections_own(editor: Editor) -> None:
    editor.launch(LOOP)
    editor.wait_event("terminated")
    assert [m["seq"] for m in editor.messages] == list(range(1, len(editor.messages) + 1))


def test_what_vs_code_says_about_a_program_is_understood(editor: Editor, tmp_path: Path) -> None:
    editor.initialize()
    editor.ask(
        "launch",
        name="Python: current file",
        type="debugpy",
        request="launch",
        program=str(PROGRAMS / "launch_report.py"),
        args=["one", "two words"],
        env={"COLOUR": "green", "PYTHONIOENCODING": "UTF-8"},
        cwd=str(tmp_path),
        python=[sys.executable, "-X", "dev"],
        console="integratedTerminal",
        justMyCode=True,
        redirectOutput=True,
        showReturnValue=True,
        debugOptions=["ShowReturnValue"],
        workspaceFolder=str(tmp_path),
        __sessionId="7b6c",
    )
    editor.configure()
    seen = report(editor)
    assert seen["argv"] == ["one", "two words"]
    assert seen["environment"]["COLOUR"] == "green"
    assert seen["cwd"] == str(tmp_path)
    assert seen["executable"] == sys.executable


def test_a_module_and_a_piece_of_code_can_be_launched(open_editor: Any) -> None:
    module = open_editor()
    module.initialize()
    module.ask("launch", module="launch_report", cwd=str(PROGRAMS), args="a 'b c'")
    module.configure()
    assert report(module)["argv"] == ["a", "b c"]
    code = open_editor()
    code.initialize()
    code.ask("launch", code=["x = 6", "print(x * 7)"])
    code.configure()
    code.wait_event("terminated")
    assert code.output() == "42\n"


def test_a_program_stops_on_entry(editor: Editor) -> None:
    editor.launch(LOOP, stopOnEntry=True)
    stop = editor.wait_stop("entry")
    assert editor.stack(stop["threadId"])[0]["line"] < LOOP.line("start")


def test_a_run_without_debugging_passes_its_breakpoints(editor: Editor) -> None:
    (said,) = editor.launch(LOOP, [LOOP.line("add")], ["uncaught"], noDebug=True)
    assert not said["verified"]
    editor.wait_event("terminated")
    assert editor.output() == "total 45\ndone\n"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        ({"program": "/nowhere/at_all.py"}, "no such script"),
        ({}, "exactly one of program, module and code"),
        ({"program": LOOP.path, "module": "json"}, "exactly one"),
        ({"program": LOOP.path, "python": "/nowhere/python"}, "python"),
        ({"program": LOOP.path, "args": {"a": 1}}, "args"),
    ],
)
def test_a_launch_that_cannot_work_is_refused_with_a_reason(
    server: Server, editor: Editor, arguments: dict[str, Any], what: str
) -> None:
    before = server.list_ids()
    editor.initialize()
    with pytest.raises(Refusal, match=what) as refused:
        editor.ask("launch", **arguments)
    assert refused.value.error["showUser"] is True
    assert "Traceback" not in json.dumps(refused.value.answer)
    assert server.list_ids(but=before) == []
    editor.ask("launch", program=LOOP.path)  # a better one is taken then


def test_a_program_with_a_syntax_error_is_reported_and_ended(
    editor: Editor, tmp_path: Path
) -> None:
    script = tmp_path / "broken.py"
    script.write_text("def f(:\n")
    editor.launch(str(script))
    editor.wait_event("terminated")
    assert "broken.py" in editor.output("important")
    assert editor.messages[-1]["event"] == "terminated"


def test_the_exit_code_is_told(editor: Editor) -> None:
    editor.launch(str(PROGRAMS / "exit_ways.py"), args=["exit"])
    editor.wait_event("terminated")
    assert editor.events("exited") == [{"exitCode": 3}]


# -- joining ---------------------------------------------------------------------------------------


def test_an_editor_joins_a_session_that_stands_still_and_learns_what_it_missed(
    editor: Editor, session: Session
) -> None:
    (point,) = session.break_at(LOOP, "add")
    session.launch(LOOP)
    editor.attach(session=session.id)
    stop = editor.wait_stop("breakpoint")
    assert editor.events("process")[0]["startMethod"] == "launch"
    assert {body["threadId"] for body in editor.events("thread")} == {stop["threadId"]}
    told = editor.wait_event("breakpoint", reason="new")["breakpoint"]
    assert (told["line"], told["source"]["path"]) == (LOOP.line("add"), LOOP.path)
    assert stop["hitBreakpointIds"] == [told["id"]]
    assert editor.locals(stop["threadId"])["number"]["value"] == "0"
    editor.disconnect()
    assert session.get("/status")["status"] == "paused"
    assert session.get(f"/breakpoints/{point}")["verified"]


def test_an_editor_joins_by_name_by_default_and_by_the_address_of_the_door(
    open_editor: Any, server: Server, lobby: int
) -> None:
    with server.session(name="the one") as session:
        session.launch(LOOP, stop_on_entry=True)
        door = session.get("/dap")
        assert session.get("/dap") == door
        assert door["session_id"] == session.id
        ways: list[tuple[int, dict[str, Any]]] = [
            (lobby, {"session": "the one"}),
            (lobby, {"session": "latest"}),
            (lobby, {}),
            (lobby, {"connect": {"host": "127.0.0.1", "port": lobby}}),
            (lobby, {"connect": {"port": door["port"]}}),
            (door["port"], {"connect": {"host": "localhost", "port": door["port"]}}),
            (door["port"], {}),
        ]
        for port, options in ways:
            editor = open_editor(port)
            editor.attach(**options)
            editor.wait_stop("entry")
            editor.disconnect()
        assert session.get("/status")["status"] == "paused"


def test_joining_nothing_says_what_there_is_to_do(open_editor: Any, server: Server) -> None:
    for session in server.get("/sessions")["sessions"]:
        if session["kind"] == "program":
            server.http.delete(f"/sessions/{session['session_id']}")  # children go with parents
    for options in ({}, {"session": "nobody"}):
        editor = open_editor()
        editor.initialize()
        with pytest.raises(Refusal) as refused:
            editor.ask("attach", **options)
        assert "holdfast sessions" in refused.value.error["variables"]["text"]


def test_the_door_of_a_session_starts_its_program_if_nothing_runs(
    open_editor: Any, session: Session
) -> None:
    port = session.get("/dap")["port"]
    watching, launching = open_editor(port), open_editor(port)
    watching.attach()
    launching.launch(LOOP, [LOOP.line("add")])
    assert launching.wait_stop("breakpoint") == watching.wait_stop("breakpoint")
    assert session.get("/status")["status"] == "paused"


def test_of_two_editors_that_launch_at_one_door_the_later_one_joins(
    open_editor: Any, session: Session
) -> None:
    port = session.get("/dap")["port"]
    editors = [open_editor(port), open_editor(port)]
    for editor in editors:
        editor.initialize()
        editor.ask("launch", program=LOOP.path)
        editor.wait_event("initialized")
        editor.set_lines(LOOP.path, [LOOP.line("add")])
    for editor in editors:
        editor.post("configurationDone")
    for editor in editors:
        editor.wait_stop("breakpoint")
        assert editor.events("terminated") == []
    editors[1].disconnect()
    assert session.get("/status")["status"] == "paused"


def test_an_editor_attaches_to_a_process_at_the_door_of_a_session(
    open_editor: Any, session: Session
) -> None:
    with subprocess.Popen(
        [sys.executable, PROGRAMS / "idle.py"], stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        editor = open_editor(session.get("/dap")["port"])
        editor.initialize()
        editor.ask("attach", processId=process.pid)
        editor.configure()
        assert editor.wait_event("process")["systemProcessId"] == process.pid
        assert session.get("/status")["status"] == "running"
        session.post("/pause")  # an agent uses it as well
        editor.wait_stop()
        editor.disconnect()
        assert session.get("/status")["status"] == "paused"
        session.delete()
        process.kill()


def test_a_door_is_closed_with_its_session(open_editor: Any, server: Server) -> None:
    with server.session() as session:
        port = session.get("/dap")["port"]
        editor = open_editor(port)
        editor.initialize()
        editor.ask("attach")
        session.delete()
        with pytest.raises(ConnectionRefusedError):
            open_editor(port)
        with pytest.raises(Refusal):
            editor.ask("launch", program=LOOP.path)


def test_an_editor_attaches_to_a_process(editor: Editor) -> None:
    program = Program("idle.py")
    process = subprocess.Popen([sys.executable, program.path], stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        process.stdout.readline()
        editor.attach(processId=str(process.pid), justMyCode=False)
        assert editor.wait_event("process")["systemProcessId"] == process.pid
        assert editor.events("process")[0]["startMethod"] == "attach"
        [thread] = editor.ask("threads")["threads"]
        editor.ask("pause", threadId=thread["id"])
        stop = editor.wait_stop("pause")
        assert stop["threadId"] == thread["id"]
        assert editor.stack(stop["threadId"])[-1]["source"]["path"] == program.path
        with pytest.raises(Refusal, match="not launched"):
            editor.ask("restart")
        editor.disconnect()
        process.terminate()
        assert process.wait(60) == -signal.SIGTERM, "it ran on until now"
    finally:
        process.kill()
        process.wait()
        process.stdout.close()  # type: ignore[union-attr]


# -- again, and the end ----------------------------------------------------------------------------


def test_a_restart_runs_the_program_over_with_the_same_breakpoints(editor: Editor) -> None:
    editor.launch(LOOP, [LOOP.line("add")])
    first = editor.wait_stop("breakpoint")
    pid = editor.wait_event("process")["systemProcessId"]
    editor.ask("next", threadId=first["threadId"])
    editor.wait_stop("step")
    editor.ask("restart")
    again = editor.wait_stop("breakpoint")
    assert again["hitBreakpointIds"] == first["hitBreakpointIds"]
    assert editor.locals(again["threadId"])["number"]["value"] == "0"
    assert editor.wait_event("process")["systemProcessId"] != pid
    assert editor.events("terminated") == []


def test_a_restart_takes_the_configuration_that_the_editor_sends(editor: Editor) -> None:
    path = str(PROGRAMS / "launch_report.py")
    editor.launch(path, [Program("launch_report.py").line("print")], args=["first"])
    editor.wait_stop("breakpoint")
    editor.ask("restart", arguments={"program": path, "args": ["second"], "type": "debugpy"})
    stop = editor.wait_stop("breakpoint")
    editor.ask("continue", threadId=stop["threadId"])
    assert report(editor)["argv"] == ["second"]


@pytest.mark.parametrize("wrong", [{"program": 5}, {"program": LOOP.path, "args": "'open"}])
def test_a_wrong_configuration_is_refused_with_the_field(
    open_editor: Any, wrong: dict[str, Any]
) -> None:
    editor, other = open_editor(), open_editor()
    editor.launch(LOOP, [LOOP.line("add")])
    thread = editor.wait_stop()["threadId"]
    other.initialize()
    what = r"\$.program|args: No closing quotation"
    with pytest.raises(Refusal, match=what):
        editor.ask("restart", arguments=wrong)
    with pytest.raises(Refusal, match=what):
        other.ask("launch", **wrong)
    assert editor.stack(thread)[0]["line"] == LOOP.line("add")


def test_terminate_before_anything_was_started_ends_it_for_the_editor(editor: Editor) -> None:
    editor.initialize()
    editor.ask("launch", program=LOOP.path)
    editor.ask("terminate")
    editor.wait_event("terminated")


def test_terminate_ends_the_program_and_the_editor_is_told(editor: Editor) -> None:
    editor.launch(str(PROGRAMS / "idle.py"))
    editor.wait_event("process")
    editor.ask("terminate")
    editor.wait_event("terminated")
    editor.ask("terminate")  # once more does no harm
    editor.disconnect()


def test_a_program_ends_with_the_editor_that_launched_it(editor: Editor, server: Server) -> None:
    editor.launch(LOOP, [LOOP.line("add")])
    editor.wait_stop("breakpoint")
    session = server.get("/sessions")["sessions"][-1]["session_id"]
    editor.disconnect()
    assert server.get(f"/sessions/{session}/status")["status"] == "terminated"


def test_a_program_is_left_running_if_that_is_wanted(editor: Editor, server: Server) -> None:
    editor.launch(LOOP, [LOOP.line("add")])
    editor.wait_stop("breakpoint")
    session = server.get("/sessions")["sessions"][-1]["session_id"]
    editor.disconnect(terminateDebuggee=False)
    assert server.get(f"/sessions/{session}/status")["status"] == "paused"
    assert server.get(f"/sessions/{session}/breakpoints")["total"] == 0
    server.delete(f"/sessions/{session}")


def test_a_program_launched_at_a_door_ends_with_its_editor_unless_somebody_else_uses_it(
    open_editor: Any, session: Session
) -> None:
    port = session.get("/dap")["port"]
    editor = open_editor(port)
    editor.launch(LOOP, [LOOP.line("add")])
    editor.wait_stop("breakpoint")
    editor.disconnect()
    assert session.get("/status")["status"] == "terminated"
    editor = open_editor(port)
    editor.launch(LOOP, [LOOP.line("add")])
    editor.wait_stop("breakpoint")
    session.post("/step-over")
    editor.disconnect()
    assert session.get("/status")["status"] == "paused"
