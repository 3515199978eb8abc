"""What an editor sees of a program that stands still, and what it can change there."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from editor import Editor, Refusal, connect
from harness import Program, Server, Session

KINDS = Program("value_kinds.py")
LOOP = Program("loop.py")
STEPS = Program("steps.py")


def stop_at_values(editor: Editor) -> int:
    """Bring a program to where it has values of every kind; its thread."""
    editor.launch(KINDS, [KINDS.line("inspect")])
    thread: int = editor.wait_stop("breakpoint")["threadId"]
    return thread


@pytest.fixture(scope="module")
def reader(server: Server) -> Iterator[Editor]:
    """One editor for the tests that only look at a program which stands still."""
    connected = connect(server.get("/info")["dap_port"])
    yield connected
    connected.close()


@pytest.fixture(scope="module")
def thread(reader: Editor) -> int:
    return stop_at_values(reader)


# -- stack and stepping ----------------------------------------------------------------------------


def test_the_stack_comes_in_pages(reader: Editor, thread: int) -> None:
    whole = reader.ask("stackTrace", threadId=thread)
    assert [frame["name"] for frame in whole["stackFrames"]] == ["inspect", "outer", "<module>"]
    assert whole["totalFrames"] == 3
    assert all(frame["id"] > 0 for frame in whole["stackFrames"])
    part = reader.ask("stackTrace", threadId=thread, startFrame=1, levels=1)
    assert (part["stackFrames"], part["totalFrames"]) == (whole["stackFrames"][1:2], 3)


def test_steps_lead_over_into_and_out_of_calls(editor: Editor) -> None:
    editor.launch(STEPS, [STEPS.line("call")])
    thread = editor.wait_stop("breakpoint")["threadId"]
    for command, marker in [
        ("stepIn", "double"),
        ("next", "double_return"),
        ("stepOut", "call"),
        ("next", "call_other_file"),
    ]:
        editor.ask(command, threadId=thread)
        editor.wait_stop("step")
        assert editor.stack(thread)[0]["line"] == STEPS.line(marker), command


def test_a_jump_to_another_line(editor: Editor) -> None:
    editor.launch(STEPS, [STEPS.line("call_native")])
    thread = editor.wait_stop("breakpoint")["threadId"]
    source = {"path": STEPS.path}
    (target,) = editor.ask("gotoTargets", source=source, line=STEPS.line("call"))["targets"]
    editor.ask("goto", threadId=thread, targetId=target["id"])
    editor.wait_event("stopped")
    assert editor.stack(thread)[0]["line"] == STEPS.line("call")
    with pytest.raises(Refusal):
        editor.ask("goto", threadId=thread, targetId=99)


# -- variables -------------------------------------------------------------------------------------


def test_scopes_and_variables_have_names_that_lead_to_them(reader: Editor, thread: int) -> None:
    frame = reader.stack(thread)[0]["id"]
    scopes = reader.ask("scopes", frameId=frame)["scopes"]
    assert [(s["name"], s["expensive"]) for s in scopes] == [("Locals", False), ("Globals", True)]
    shown = {v["name"]: v for v in reader.variables(scopes[0]["variablesReference"])}
    assert (shown["number"]["value"], shown["number"]["type"]) == ("42", "int")
    assert shown["data"]["value"].startswith("b'\\x00\\x01")
    for name in ("order", "mapping", "nested", "fixed", "node"):
        for child in reader.variables(shown[name]["variablesReference"]):
            if "evaluateName" in child:
                same = reader.ask("evaluate", expression=child["evaluateName"], frameId=frame)
                assert same["result"] == child["value"], child
    names = {v["name"]: v.get("evaluateName") for v in _children(reader, shown["order"])}
    assert names == {"name": "order.name", "total": "order.total", "lines": "order.lines"}
    keys = {v["name"]: v.get("evaluateName") for v in _children(reader, shown["mapping"])}
    assert keys == {name: f"mapping[{name}]" for name in ("'one'", "2", "(3, 4)")}


def _children(editor: Editor, variable: Any) -> list[Any]:
    return editor.variables(variable["variablesReference"])


def test_a_long_list_is_read_in_pages(reader: Editor, thread: int) -> None:
    numbers = reader.locals(thread)["numbers"]
    assert numbers["indexedVariables"] == 1_000_000
    page = reader.variables(
        numbers["variablesReference"], filter="indexed", start=999_998, count=10
    )
    assert [(v["name"], v["value"]) for v in page] == [("999998", "999998"), ("999999", "999999")]
    assert page[0]["evaluateName"] == "numbers[999998]"
    assert reader.variables(numbers["variablesReference"], filter="named") == []
    small = reader.locals(thread)["mapping"]
    assert "indexedVariables" not in small


def test_a_collection_with_attributes_shows_both(editor: Editor, tmp_path: Path) -> None:
    script = tmp_path / "both.py"
    script.write_text(
        "class Basket(list):\n    pass\n\n\n"
        "b = Basket(range(500))\nb.owner = 'me'\nd = {n: n for n in range(300)}\nprint(b)\n"
    )
    editor.launch(str(script), [8])
    shown = editor.locals(editor.wait_stop()["threadId"])
    basket = shown["b"]
    assert (basket["indexedVariables"], basket["namedVariables"]) == (500, 1)
    (owner,) = editor.variables(basket["variablesReference"], filter="named")
    assert (owner["name"], owner["value"], owner["evaluateName"]) == ("owner", "'me'", "b.owner")
    assert shown["d"]["indexedVariables"] == 300
    page = editor.variables(shown["d"]["variablesReference"], filter="indexed", start=299, count=5)
    assert [(v["name"], v["evaluateName"]) for v in page] == [("299", "d[299]")]


def test_an_editor_without_pages_gets_the_beginning_and_is_told_of_the_rest(
    editor: Editor,
) -> None:
    editor.initialize(supportsVariablePaging=False)
    editor.ask("launch", program=KINDS.path)
    editor.configure({KINDS.path: [KINDS.line("inspect")]})
    numbers = editor.locals(editor.wait_stop()["threadId"])["numbers"]
    assert "indexedVariables" not in numbers
    shown = editor.variables(numbers["variablesReference"])
    assert len(shown) == 1001
    assert shown[-1]["value"].startswith("999000 more")


def test_variables_are_set(editor: Editor) -> None:
    thread = stop_at_values(editor)
    frame = editor.stack(thread)[0]["id"]
    scope = editor.ask("scopes", frameId=frame)["scopes"][0]["variablesReference"]
    said = editor.ask("setVariable", variablesReference=scope, name="number", value="[1, 2]")
    assert (said["value"], said["type"]) == ("[1, 2]", "list")
    assert said["variablesReference"] > 0
    assert editor.locals(thread)["number"]["value"] == "[1, 2]"
    mapping = editor.locals(thread)["mapping"]["variablesReference"]
    editor.ask("setVariable", variablesReference=mapping, name="'one'", value="11")
    said = editor.ask("setExpression", expression="mapping[2]", value="'zwei'", frameId=frame)
    assert said["value"] == "'zwei'"
    shown = editor.ask("evaluate", expression="mapping", frameId=frame)["result"]
    assert shown == "{'one': 11, 2: 'zwei', (3, 4): [5]}"
    for bad in ("1 +", "no_such_name"):
        with pytest.raises(Refusal):
            editor.ask("setVariable", variablesReference=scope, name="number", value=bad)
        with pytest.raises(Refusal):
            editor.ask("setExpression", expression="number", value=bad, frameId=frame)
    assert editor.locals(thread)["number"]["value"] == "[1, 2]"


# -- expressions -----------------------------------------------------------------------------------


def test_expressions_in_every_context(reader: Editor, thread: int) -> None:
    frame = reader.stack(thread)[0]["id"]

    def evaluate(expression: str, context: str) -> Any:
        return reader.ask("evaluate", expression=expression, frameId=frame, context=context)

    assert evaluate("number + 1", "watch")["result"] == "43"
    assert evaluate("order.name", "hover")["result"] == "'book'"
    assert evaluate("point", "variables")["variablesReference"] > 0
    assert len(evaluate("long_text", "clipboard")["result"]) == 100_002
    assert len(evaluate("long_text", "watch")["result"]) < 10_000
    evaluate("fresh = number * 2", "repl")
    assert evaluate("fresh", "repl")["result"] == "84"
    evaluate("print('said')", "repl")
    reader.wait_output("said\n")
    for expression, context in [("nope", "watch"), ("x = 1", "watch"), ("print(1)", "hover")]:
        with pytest.raises(Refusal):
            evaluate(expression, context)
    outer = reader.stack(thread)[1]["id"]
    assert reader.ask("evaluate", expression="mine", frameId=outer)["result"] == '"outer\'s"'
    assert reader.ask("evaluate", expression="number")["result"] == "42"


def test_completions(reader: Editor, thread: int) -> None:
    frame = reader.stack(thread)[0]["id"]
    found = reader.ask("completions", frameId=frame, text="x = order.na", column=13)["targets"]
    assert [target["label"] for target in found] == ["name"]
    assert (found[0]["start"], found[0]["length"]) == (10, 2)
    found = reader.ask("completions", frameId=frame, text="a\nnumb", column=5, line=2)["targets"]
    assert {"number", "numbers"} <= {target["label"] for target in found}


# -- sources ---------------------------------------------------------------------------------------


def test_sources_and_modules(reader: Editor, thread: int) -> None:
    text = reader.ask("source", sourceReference=0, source={"path": KINDS.path})["content"]
    assert text == Path(KINDS.path).read_text("utf-8")
    modules = reader.ask("modules")
    by_name = {module["name"]: module for module in modules["modules"]}
    assert by_name["__main__"]["isUserCode"]
    assert not by_name["dataclasses"]["isUserCode"]
    page = reader.ask("modules", startModule=1, moduleCount=2)
    assert page["modules"] == modules["modules"][1:3]
    assert page["totalModules"] == modules["totalModules"]
    sources = [source["path"] for source in reader.ask("loadedSources")["sources"]]
    assert KINDS.path in sources


def test_code_without_a_file_has_its_source_by_number(editor: Editor, tmp_path: Path) -> None:
    script = tmp_path / "made.py"
    script.write_text(
        "import linecache\n"
        "text = 'def f():\\n    return 1\\n'\n"
        "linecache.cache['<made>'] = (len(text), None, text.splitlines(True), '<made>')\n"
        "exec(compile(text, '<made>', 'exec'))\n"
        "f()\n"
    )
    editor.launch(str(script), [5])
    thread = editor.wait_stop()["threadId"]
    editor.ask("stepIn", threadId=thread)
    editor.wait_stop("step")
    source = editor.stack(thread)[0]["source"]
    text = editor.ask("source", sourceReference=source["sourceReference"], source=source)
    assert text["content"] == "def f():\n    return 1\n"


def test_everything_of_ours_works_on_every_python(editor: Editor, python: str) -> None:
    tour = Program("editor_tour.py")
    editor.launch(tour, [tour.line("next")], ["uncaught"], python=python, subProcess=True)
    thread = editor.wait_stop("breakpoint")["threadId"]
    many = editor.locals(thread)["many"]
    page = editor.variables(many["variablesReference"], filter="indexed", start=999, count=5)
    assert [v["value"] for v in page] == ["999"]
    assert editor.variables(many["variablesReference"], filter="named") == []
    modules = editor.ask("modules")["modules"]
    assert [m["path"] for m in modules if m["name"] == "__main__"] == [tour.path]
    (target,) = editor.ask("gotoTargets", source={"path": tour.path}, line=tour.line("log"))[
        "targets"
    ]
    editor.ask("goto", threadId=thread, targetId=target["id"])
    editor.wait_stop()
    assert editor.stack(thread)[0]["line"] == tour.line("log")
    editor.set_lines(tour.path, [])
    editor.ask("continue", threadId=thread)
    editor.wait_stop("exception")
    info = editor.ask("exceptionInfo", threadId=thread)
    assert info["exceptionId"] == "ValueError"
    line = editor.stack(thread)[0]["line"]
    assert f"line {line}, in <module>" in info["details"]["stackTrace"]
    assert "not followed" in editor.output("console")


# -- threads and input -----------------------------------------------------------------------------


def test_threads_come_go_and_run_one_by_one(editor: Editor) -> None:
    program = Program("worker_threads.py")
    editor.launch(program, [program.line("work")])
    stop = editor.wait_stop("breakpoint")
    names = {t["id"]: t["name"] for t in editor.ask("threads")["threads"]}
    assert names[stop["threadId"]].startswith("worker-")
    editor.set_lines(program.path, [])
    answer = editor.ask("continue", threadId=stop["threadId"], singleThread=True)
    assert answer["allThreadsContinued"] is False
    editor.wait_event("thread", threadId=stop["threadId"], reason="exited")
    editor.ask("continue", threadId=stop["threadId"])
    editor.wait_event("terminated")
    assert editor.output() == "['aa', 'bb', 'cc']\n"


def test_a_pause_stops_a_program_that_runs(editor: Editor) -> None:
    editor.launch(Program("busy_loop.py"))
    editor.wait_event("process")
    editor.ask("pause", threadId=1)
    stop = editor.wait_stop("pause")
    editor.ask("pause", threadId=stop["threadId"])  # it stands already
    editor.ask("continue", threadId=stop["threadId"])
    editor.ask("pause", threadId=12345)  # of a thread that is none: any will do
    editor.wait_stop("pause")


def test_a_program_that_waits_for_input_gets_what_is_typed_into_the_console(
    editor: Editor,
) -> None:
    editor.launch(Program("input_prompt.py"))
    editor.wait_output("waits for input", "console")
    editor.ask("evaluate", expression="Ada", context="repl")
    editor.wait_event("terminated")
    assert editor.output() == "name? hello Ada\n"


def test_nothing_can_be_looked_into_while_the_program_runs(
    editor: Editor, session: Session
) -> None:
    editor.attach(session=session.id)
    assert editor.ask("threads") == {"threads": []}
    session.launch(Program("idle.py"), wait=0)
    editor.wait_event("process")
    requests: list[tuple[str, dict[str, Any]]] = [
        ("evaluate", {"expression": "1"}),
        ("scopes", {"frameId": 1}),
        ("variables", {"variablesReference": 1}),
        ("setVariable", {"variablesReference": 1, "name": "x", "value": "1"}),
    ]
    for command, arguments in requests:
        with pytest.raises(Refusal):
            editor.ask(command, **arguments)
