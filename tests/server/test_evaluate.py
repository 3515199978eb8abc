"""Expressions in a paused program: evaluated, refused, interrupted; completed and hovered over."""

from __future__ import annotations

import base64
import errno
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import IO, Any

import pytest

from harness import Program, Server, Session

PROGRAM = Program("two_threads.py")
VALUE_KINDS = Program("value_kinds.py")


@pytest.fixture
def held(session: Session) -> Session:
    session.break_at(PROGRAM, "compute")
    session.launch(PROGRAM)
    return session


@pytest.fixture(scope="module")
def readonly_session(server: Server) -> Iterator[Session]:
    """One held program for the tests that change nothing in it."""
    with server.session() as session:
        session.break_at(PROGRAM, "compute")
        session.launch(PROGRAM)
        yield session


def evaluate_refused(session: Session, expression: str, **more: Any) -> Any:
    return session.post("/evaluate", {"expression": expression, **more}, expect=400)


# -- values ---------------------------------------------------------------------------------------


def test_an_expression_gives_result_and_type(readonly_session: Session) -> None:
    answer = readonly_session.post("/evaluate", {"expression": "doubled + len(names)"})
    assert (answer["result"], answer["type"]) == ("44", "int")
    for context in ("watch", "repl", "hover"):
        body = {"expression": "[x for x in names if x != str(n)]", "context": context}
        assert readonly_session.post("/evaluate", body)["result"] == "['a', 'b']"
    assert readonly_session.evaluate("  doubled  ") == "42"
    assert readonly_session.evaluate("describe()") == "'level low'"
    assert readonly_session.evaluate("local", frame_id=1) == "1"
    readonly_session.post("/evaluate", {"expression": "1", "frame_id": 99}, expect=404)


def test_a_long_result_is_read_whole_or_in_parts(readonly_session: Session) -> None:
    def evaluate(expression: str, **more: int) -> Any:
        return readonly_session.post("/evaluate", {"expression": expression, **more})

    cut = evaluate("'ab' * 5000")
    assert (cut["truncated"], cut["length"]) == (True, 10_000)
    whole = evaluate("'ab' * 5000", max_chars=10_000)
    assert whole["result"] == repr("ab" * 5000)
    assert "truncated" not in whole
    part = evaluate("'ab' * 5000", start=9_997, count=2)
    assert (part["result"], part["start"], part["length"]) == ("'ba'", 9_997, 10_000)
    assert part["has_more"] is True
    assert evaluate("'ab' * 5000", start=9_997)["has_more"] is False

    data = evaluate("bytes(range(256)) * 100", start=256, count=3)
    assert base64.b64decode(data["result"]) == b"\0\1\2"
    assert (data["encoding"], data["length"]) == ("base64", 25_600)
    assert len(base64.b64decode(evaluate("bytes(9000)", max_chars=12_000)["result"])) == 9000
    nested = evaluate("{'answer': ['x' * 3000, list(range(100))]}", max_chars=5000)
    assert nested["result"] == repr({"answer": ["x" * 3000, list(range(100))]})
    page = readonly_session.get(f"/variables/{cut['reference']}?start=9999&count=5")
    assert [item["value"] for item in page["items"]] == ["'b'"]
    assert evaluate("[1, 2]", start=1)["result"] == "[1, 2]"  # only texts have such parts
    readonly_session.post("/evaluate", {"expression": "1", "max_chars": 10**7}, expect=400)
    readonly_session.post("/evaluate", {"expression": "1", "start": -1}, expect=400)


def test_a_mistake_is_reported_with_its_type(readonly_session: Session) -> None:
    for expression, kind, message in (
        ("1 +", "SyntaxError", "invalid syntax"),
        ("missing", "NameError", "name 'missing' is not defined"),
        ("1 / 0", "ZeroDivisionError", "division by zero"),
        ("names[9]", "IndexError", "list index out of range"),
        ("exit(3)", "SystemExit", "3"),
        ("local", "NameError", "name 'local' is not defined"),
    ):
        answer = evaluate_refused(readonly_session, expression)
        assert answer["error_code"] == "evaluation_error"
        assert answer["error"]["details"]["type"] == kind, expression
        assert message in answer["error"]["details"]["error"]
        assert answer["error"]["message"].startswith(kind)
    assert readonly_session.evaluate("n") == "21"


def test_looking_refuses_statements(readonly_session: Session) -> None:
    for context in ("watch", "hover"):
        assert evaluate_refused(readonly_session, "n = 3", context=context)["error"]["details"][
            "type"
        ] == ("SyntaxError")
    assert readonly_session.evaluate("n") == "21"
    readonly_session.post("/evaluate", {"expression": ""}, expect=400)
    readonly_session.post("/evaluate", {"expression": "1", "context": "magic"}, expect=400)
    readonly_session.post("/evaluate", {"expression": "1", "timeout": 0}, expect=400)


def test_a_huge_result_is_cut_and_can_be_unfolded(readonly_session: Session) -> None:
    answer = readonly_session.post("/evaluate", {"expression": "list(range(10**6))"})
    assert (answer["length"], answer["truncated"]) == (10**6, True)
    assert len(answer["result"]) < 1000
    page = readonly_session.get(f"/variables/{answer['variable_reference']}?start=999999")
    assert [each["value"] for each in page["items"]] == ["999999"]
    text = readonly_session.post("/evaluate", {"expression": "'y' * 10**6"})
    assert (text["length"], text["truncated"]) == (10**6, True)


# -- changes --------------------------------------------------------------------------------------


def test_a_statement_changes_the_program(session: Session, python: str) -> None:
    session.break_at(PROGRAM, "compute")
    session.launch(PROGRAM, python=python)

    session.post("/evaluate", {"expression": "doubled = 5; names.append('c')", "context": "repl"})
    assert session.locals()["doubled"]["value"] == "5"
    assert session.evaluate("(doubled, names)") == "(5, ['a', 'b', 'c'])"
    session.evaluate("local = 77", frame_id=1)
    assert session.locals(1)["local"]["value"] == "77"
    session.evaluate("n = -1")
    session.evaluate("globals()['LEVEL'] = 'high'")
    assert session.evaluate("describe()") == "'level high'"
    session.evaluate("def helper(x): return x + doubled")
    session.resume()
    assert session.output() == "result 5 77 high\n"


def test_what_it_prints_is_output(held: Session) -> None:
    held.evaluate("print('from the debugger')")
    held.evaluate("[print('line', n) for n in range(2000)] and None")
    text = held.output()
    assert text.startswith("from the debugger\n")
    assert text.endswith("line 1999\n")


def test_a_running_program_is_not_evaluated(session: Session) -> None:
    wrong = session.post("/evaluate", {"expression": "1"}, expect=409)
    assert wrong["error"]["details"]["state"] == "created"
    session.launch(Program("busy_loop.py"), wait=0)
    wrong = session.post("/evaluate", {"expression": "1"}, expect=409)
    assert wrong["error_code"] == "wrong_state"
    assert "pause" in wrong["error"]["details"]["possible"]


# -- that never return ----------------------------------------------------------------------------


def evaluate_too_long(session: Session, expression: str) -> Any:
    body = {"expression": expression, "timeout": 0.2}
    answer = session.post("/evaluate", body, expect=504)
    assert answer["error_code"] == "debugpy_timeout"
    assert answer["error"]["details"]["operation"] == "evaluate"
    return answer["error"]["details"]


def test_one_that_never_returns_is_interrupted(session: Session, python: str) -> None:
    session.break_at(PROGRAM, "worker", "compute")
    session.launch(PROGRAM, args=["thread"], python=python)

    assert evaluate_too_long(session, "exec('while True: pass')")["interrupted"] is True
    assert session.evaluate("half") == "5.0"

    assert session.resume()["location"]["function"] == "compute", "now in the main thread"
    assert evaluate_too_long(session, "exec('while True: pass')")["interrupted"] is True
    assert evaluate_too_long(session, "__import__('time').sleep(600)")["interrupted"] is True
    assert session.evaluate("doubled") == "42"
    assert session.resume()["status"] == "terminated"
    assert session.output() == "result 42 1 low\n"


def test_an_assignment_that_never_returns_is_interrupted_too(readonly_session: Session) -> None:
    reference = readonly_session.get("/frames/0/scopes")["scopes"][0]["reference"]
    body = {"name": "n", "value": "exec('while True: pass')", "timeout": 0.2}
    answer = readonly_session.post(f"/variables/{reference}/set", body, expect=504)
    assert answer["error"]["details"]["interrupted"] is True
    assert readonly_session.evaluate("6 * 7") == "42"


def test_one_that_ends_by_itself_when_its_time_is_up_gives_its_value(
    session: Session, tmp_path: Path
) -> None:
    (tmp_path / "stubborn.py").write_text(
        "def work():\n"
        "    try:\n"
        "        while True:\n"
        "            sum(range(1000))\n"
        "    except BaseException:\n"
        "        return 'done'\n"
        "print()  # @end\n"
    )
    program = Program("stubborn.py", tmp_path)
    session.break_at(program, "end")
    session.launch(program)
    assert session.evaluate("work()", timeout=0.2) == "'done'"


def test_a_wait_in_another_thread_ends_by_itself_and_nothing_is_lost(
    server_with: Callable[..., Server], tmp_path: Path
) -> None:
    with server_with(interrupt=0.05).session() as session:
        _wait_in_thread(session, tmp_path)


def _wait_in_thread(session: Session, tmp_path: Path) -> None:
    """Nothing can wake it; the answer says so, and the session goes on meanwhile."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    session.break_at(PROGRAM, "worker", "compute")
    session.launch(PROGRAM, args=["thread"])

    writer = None
    while writer is None:  # its time may be up before it has begun
        details = evaluate_too_long(session, f"open({str(pipe)!r})")
        assert session.get("/status")["status"] == "paused"
        writer = open_for_reader(pipe)

    assert details["interrupted"] is False
    with writer:
        assert session.locals()["half"]["value"] == "5.0"
        assert session.get("/threads")["threads"]
        assert session.evaluate("half") == "5.0"
        assert session.resume()["location"]["function"] == "compute"


def open_for_reader(pipe: Path) -> IO[bytes] | None:
    """Open it for somebody who waits there for a writer. None if nobody does."""
    try:
        return os.fdopen(os.open(pipe, os.O_WRONLY | os.O_NONBLOCK), "wb")
    except OSError as problem:
        if problem.errno == errno.ENXIO:
            return None
        raise


def test_a_failing_sleep_does_not_hit_the_next_evaluation(held: Session) -> None:
    for _ in range(3):
        evaluate_too_long(held, "exec('while True: pass')")
        assert held.evaluate("sum(range(1000))") == "499500"


# -- completions and hover ------------------------------------------------------------------------


def complete(session: Session, text: str, **more: Any) -> list[str]:
    found = session.post("/completions", {"text": text, **more})
    assert found["completions"] == [each["label"] for each in found["targets"]]
    return list(found["completions"])


def test_names_are_completed(readonly_session: Session) -> None:
    assert complete(readonly_session, "doub") == ["doubled"]
    assert "describe" in complete(readonly_session, "x = des")
    assert {"while", "with"} <= set(complete(readonly_session, "w"))
    assert complete(readonly_session, "names.app") == ["append"]
    assert complete(readonly_session, "loc", frame_id=1) == ["local", "locals"]
    assert complete(readonly_session, "names.append(n)", column=8) == complete(
        readonly_session, "names.a"[:7]
    )
    [target] = readonly_session.post("/completions", {"text": "names.rev"})["targets"]
    assert (target["start"], target["length"], target["type"]) == (6, 3, "method")
    assert complete(readonly_session, "zzz") == []
    readonly_session.post("/completions", {"text": "nobody."}, expect=400)


def test_hover_shows_a_value_and_calls_nothing(readonly_session: Session) -> None:
    shown = readonly_session.post("/hover", {"expression": "names[0]"})
    assert (shown["value"], shown["type"]) == ("'a'", "str")
    consuming = ("[x for x in names]", "[*names]")
    for expression in ("describe()", "(n := 3)", "1 +", "n = 1", "missing", *consuming):
        readonly_session.post("/hover", {"expression": expression}, expect=400)

    text = "    done = doubled > n  # @compute"
    line = PROGRAM.line("compute")
    for word in ("doubled", "n "):
        column = text.index(word, 8) + 1
        shown = readonly_session.post("/hover", {"line": line, "column": column})
        assert shown["expression"] == word.strip()
    assert shown["value"] == "21"
    readonly_session.post("/hover", {"line": line, "column": 1}, expect=400)
    readonly_session.post("/hover", {"line": 9999, "column": 1}, expect=400)
    readonly_session.post("/hover", {"line": line}, expect=400)


def test_an_evaluation_that_ends_the_process_is_reported_as_its_end(held: Session) -> None:
    crashed = held.post("/evaluate", {"expression": "__import__('os')._exit(3)"}, expect=500)
    assert crashed["error_code"] == "session_crashed"
    end = held.get("/status?wait=60")
    assert (end["status"], end["exit_code"]) == ("terminated", 3)
