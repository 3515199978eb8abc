"""The breakpoints of an editor: of every kind, beside those that others have set."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from editor import Editor, Refusal
from harness import PROGRAMS, Program, Session

LOOP = Program("loop.py")
COUNTER = Program("counter.py")
ERRORS = Program("error_kinds.py")
FUNCTIONS = Program("functions.py")


def go_on(editor: Editor, stop: Any, reason: str | None = None) -> Any:
    editor.ask("continue", threadId=stop["threadId"])
    return editor.wait_stop(reason)


# -- lines -----------------------------------------------------------------------------------------


def test_a_condition_a_hit_condition_and_a_logpoint(editor: Editor) -> None:
    add, back = LOOP.line("add"), LOOP.line("return")
    editor.launch(
        LOOP,
        [
            {"line": add, "condition": "number == 3"},
            {"line": back, "logMessage": "result is {result}"},
            {"line": LOOP.line("call"), "hitCondition": "9"},
        ],
    )
    stop = editor.wait_stop("breakpoint")
    assert editor.locals(stop["threadId"])["number"]["value"] == "3"
    stop = go_on(editor, stop, "breakpoint")
    assert editor.stack(stop["threadId"])[0]["line"] == LOOP.line("call")
    editor.ask("continue", threadId=stop["threadId"])
    editor.wait_event("terminated")
    logged = [body for body in editor.events("output") if body["category"] == "console"]
    assert "".join(body["output"] for body in logged).startswith("result is 0\nresult is 1\n")
    assert (logged[0]["source"]["path"], logged[0]["line"]) == (LOOP.path, back)


def test_a_breakpoint_on_a_line_without_code_moves_to_the_next_that_has_some(
    editor: Editor,
) -> None:
    (said,) = editor.launch(COUNTER, [COUNTER.line("comment")])
    assert said["verified"]
    assert said["line"] != COUNTER.line("comment")
    stop = editor.wait_stop("breakpoint")
    assert stop["hitBreakpointIds"] == [said["id"]]
    assert editor.stack(stop["threadId"])[0]["line"] == said["line"]


def test_each_breakpoint_has_its_answer_also_a_wrong_one(editor: Editor) -> None:
    wrong = {"line": LOOP.line("add"), "condition": "number =="}
    said = editor.launch(LOOP, [wrong, LOOP.line("return"), {"line": 9999}])
    assert [point["verified"] for point in said] == [False, True, False]
    assert "condition" in said[0]["message"]
    assert said[2]["message"]
    editor.wait_stop("breakpoint")


def test_a_missing_file_is_told_to_be_verified_when_it_appears(
    editor: Editor, session: Session, tmp_path: Path
) -> None:
    editor.attach(session=session.id)
    script = tmp_path / "later.py"
    (said,) = editor.set_lines(str(script), [1])
    assert not said["verified"]
    script.write_text("print(1)\n")
    session.get("/breakpoints")
    told = editor.wait_event("breakpoint", reason="changed")["breakpoint"]
    assert (told["id"], told["verified"]) == (said["id"], True)


def test_where_breakpoints_can_be(editor: Editor, session: Session) -> None:
    editor.attach(session=session.id)
    found = editor.ask(
        "breakpointLocations", source={"path": COUNTER.path}, line=1, endLine=COUNTER.line("loop")
    )
    lines = [place["line"] for place in found["breakpoints"]]
    assert COUNTER.line("loop") in lines
    assert COUNTER.line("comment") not in lines
    (comment,) = [COUNTER.line("comment")]
    assert editor.ask("breakpointLocations", source={"path": COUNTER.path}, line=comment) == {
        "breakpoints": []
    }


def test_an_editor_that_counts_from_zero_is_understood(editor: Editor) -> None:
    editor.initialize(linesStartAt1=False, columnsStartAt1=False)
    editor.ask("launch", program=LOOP.path)
    (said,) = editor.configure({f"file://{LOOP.path}": [LOOP.line("add") - 1]})
    assert (said["verified"], said["line"]) == (True, LOOP.line("add") - 1)
    stop = editor.wait_stop("breakpoint")
    top = editor.stack(stop["threadId"])[0]
    assert (top["line"], top["column"]) == (LOOP.line("add") - 1, 0)


# -- functions -------------------------------------------------------------------------------------


def test_function_breakpoints_say_what_they_are(editor: Editor) -> None:
    editor.initialize()
    editor.ask("launch", program=FUNCTIONS.path, cwd=str(PROGRAMS))
    editor.wait_event("initialized")
    said = editor.ask(
        "setFunctionBreakpoints",
        breakpoints=[{"name": "plain"}, {"name": "Dog.speak", "condition": "word"}, {"name": "no"}],
    )["breakpoints"]
    assert [point["verified"] for point in said] == [True, True, False]
    editor.ask("configurationDone")
    stop = editor.wait_stop("function breakpoint")
    assert stop["hitBreakpointIds"] == [said[0]["id"]]
    editor.ask("setFunctionBreakpoints", breakpoints=[{"name": "Dog.speak", "condition": "word"}])
    stop = go_on(editor, stop, "function breakpoint")
    assert stop["hitBreakpointIds"] == [said[1]["id"]]
    assert editor.stack(stop["threadId"])[0]["name"].endswith("speak")


# -- values ----------------------------------------------------------------------------------------


def test_a_value_is_watched_and_the_stop_says_what_was_written(editor: Editor) -> None:
    editor.launch(LOOP, [LOOP.line("call")])
    stop = editor.wait_stop("breakpoint")
    frame = editor.stack(stop["threadId"])[0]["id"]
    scope = editor.ask("scopes", frameId=frame)["scopes"][0]["variablesReference"]
    by_frame = editor.ask("dataBreakpointInfo", name="total", frameId=frame)
    info = editor.ask("dataBreakpointInfo", name="total", variablesReference=scope)
    assert info["accessTypes"] == ["write"]
    assert by_frame["dataId"]
    editor.set_lines(LOOP.path, [])
    (said,) = editor.ask(
        "setDataBreakpoints",
        breakpoints=[{"dataId": info["dataId"], "accessType": "write", "condition": "total >= 6"}],
    )["breakpoints"]
    assert said["verified"], said
    stop = go_on(editor, stop, "data breakpoint")
    assert stop["hitBreakpointIds"] == [said["id"]]
    assert stop["text"].startswith("total: 3 → 6")
    editor.ask("setDataBreakpoints", breakpoints=[])
    editor.ask("continue", threadId=stop["threadId"])
    editor.wait_event("terminated")


def test_what_cannot_be_watched_says_why(editor: Editor) -> None:
    editor.launch(LOOP, [LOOP.line("call")])
    stop = editor.wait_stop("breakpoint")
    frame = editor.stack(stop["threadId"])[0]["id"]
    info = editor.ask("dataBreakpointInfo", name="no_such_thing", frameId=frame)
    assert info["dataId"] is None
    assert info["description"]
    (said,) = editor.ask("setDataBreakpoints", breakpoints=[{"dataId": "garbage"}])["breakpoints"]
    assert not said["verified"]
    assert said["message"]


# -- exceptions ------------------------------------------------------------------------------------


def test_an_uncaught_exception_stops_with_everything_about_it(editor: Editor) -> None:
    editor.launch(ERRORS, filters=["uncaught"], args=["crash"])
    stop = editor.wait_stop("exception")
    assert "TroubleError: in trouble" in stop["description"]
    info = editor.ask("exceptionInfo", threadId=stop["threadId"])
    assert info["exceptionId"].endswith("TroubleError")
    assert (info["description"], info["breakMode"]) == ("in trouble", "unhandled")
    details = info["details"]
    assert details["typeName"] == "TroubleError"
    assert f"line {ERRORS.line('raise')}, in trouble" in details["stackTrace"]
    assert "raise kind" in details["stackTrace"]
    editor.ask("continue", threadId=stop["threadId"])
    editor.wait_event("terminated")
    assert editor.events("exited") == [{"exitCode": 1}]


def test_what_led_to_an_exception_is_inside_of_it(editor: Editor, tmp_path: Path) -> None:
    script = tmp_path / "chain.py"
    script.write_text(
        "try:\n    1 / 0\nexcept ZeroDivisionError as error:\n    raise KeyError('k') from error\n"
    )
    editor.launch(str(script), filters=["uncaught"])
    stop = editor.wait_stop("exception")
    details = editor.ask("exceptionInfo", threadId=stop["threadId"])["details"]
    (inner,) = details["innerException"]
    assert (details["typeName"], inner["typeName"]) == ("KeyError", "ZeroDivisionError")
    assert inner["stackTrace"].endswith("ZeroDivisionError: division by zero\n")


def test_exceptions_stop_by_filter_and_by_the_names_of_their_classes(editor: Editor) -> None:
    editor.initialize()
    editor.ask("launch", program=ERRORS.path, justMyCode=False)
    editor.wait_event("initialized")
    said = editor.ask(
        "setExceptionBreakpoints",
        filters=[],
        filterOptions=[{"filterId": "raised", "condition": "KeyError, TroubleError"}],
    )
    assert said["breakpoints"] == [{"verified": True}]
    editor.ask("configurationDone")
    stop = editor.wait_stop("exception")
    assert stop["text"] == "KeyError"
    assert editor.ask("exceptionInfo", threadId=stop["threadId"])["breakMode"] == "always"
    stop = go_on(editor, stop, "exception")
    assert "DeepTroubleError" in stop["text"]


def test_exception_options_of_older_editors_and_unknown_filters(editor: Editor) -> None:
    editor.initialize()
    editor.ask("launch", program=ERRORS.path, justMyCode=False)
    editor.wait_event("initialized")
    said = editor.ask(
        "setExceptionBreakpoints",
        filters=["never"],
        exceptionOptions=[{"breakMode": "always", "path": [{"names": ["KeyError"]}]}],
    )
    assert [point["verified"] for point in said["breakpoints"]] == [False, True]
    editor.ask("configurationDone")
    assert editor.wait_stop("exception")["text"] == "KeyError"


def test_an_ordinary_stop_has_no_exception(editor: Editor) -> None:
    editor.launch(LOOP, [LOOP.line("add")])
    stop = editor.wait_stop("breakpoint")
    with pytest.raises(Refusal, match="not stopped at an exception"):
        editor.ask("exceptionInfo", threadId=stop["threadId"])


# -- several owners --------------------------------------------------------------------------------


def test_what_one_sets_the_others_see_and_each_replaces_only_its_own(
    open_editor: Callable[..., Editor], session: Session
) -> None:
    one, two = open_editor(), open_editor()
    one.attach(session=session.id)
    two.attach(session=session.id)
    (mine,) = one.set_lines(LOOP.path, [LOOP.line("add")])
    told = two.wait_event("breakpoint", reason="new")["breakpoint"]
    assert (told["id"], told["line"]) == (mine["id"], LOOP.line("add"))
    two.set_lines(LOOP.path, [LOOP.line("return")])
    two.set_lines(LOOP.path, [])
    lines = [point["line"] for point in session.get("/breakpoints")["breakpoints"]]
    assert lines == [LOOP.line("add")]
    session.break_at(LOOP, "call")
    assert one.wait_event("breakpoint", reason="new")
    changed = session.get("/breakpoints")["breakpoints"][0]
    session.patch(f"/breakpoints/{changed['id']}", {"condition": "number > 3"})
    assert two.wait_event("breakpoint", reason="changed")["breakpoint"]["id"] == mine["id"]
    one.disconnect()
    gone = two.wait_event("breakpoint", reason="removed")["breakpoint"]
    two_own = one.events("breakpoint")
    assert two_own
    assert gone["id"]
    lines = [point["line"] for point in session.get("/breakpoints")["breakpoints"]]
    assert lines == [LOOP.line("call")]
    session.delete("/breakpoints")
    two.wait_event("breakpoint", reason="removed")


def test_one_that_is_more_than_its_line_is_put_into_words_and_not_taken_over_without_them(
    editor: Editor, session: Session
) -> None:
    """VS Code sends back each line that it is told of, as a breakpoint of its own."""
    line = LOOP.line("add")
    more: list[tuple[dict[str, Any], str]] = [
        ({"condition": "number == 3"}, f"loop.py:{line}, if number == 3"),
        ({"hit_condition": "> 5"}, f"loop.py:{line}, hits > 5"),
        ({"log_message": "at {number}"}, f"loop.py:{line}, logs 'at {{number}}'"),
        ({"enabled": False}, f"loop.py:{line}, disabled"),
    ]
    early, *late = [({"file": LOOP.path, "line": line, **fields}, text) for fields, text in more]
    late.append(({"function": "add"}, "function add"))
    session.post("/breakpoints", early[0])
    editor.attach(session=session.id)
    for body, _text in late:
        session.post("/breakpoints", body)
    for _body, text in (early, *late):
        told = editor.wait_event("breakpoint", reason="new")["breakpoint"]
        assert not {"line", "source"} & set(told)
        editor.wait_output(f"rest has a breakpoint: {text}\n", "console")


def test_breakpoints_change_while_the_program_runs(editor: Editor) -> None:
    program = Program("busy_loop.py")
    editor.launch(program)
    editor.wait_event("process")
    marked = next(iter(program._lines.values()))
    (said,) = editor.set_lines(program.path, [marked])
    assert said["verified"]
    editor.wait_stop("breakpoint")
