"""When a breakpoint stops: conditions, hit counts, log messages, and these together."""

from __future__ import annotations

from typing import Any

import pytest

from harness import Program, Session

COUNTER = Program("counter.py")


def collect_values(session: Session, stop: Any) -> list[int]:
    """The values of `i` at every stop until the end."""
    found = []
    while stop["status"] == "paused":
        found.append(int(session.evaluate("i")))
        stop = session.resume()
    assert (stop["status"], stop["exit_code"]) == ("terminated", 0)
    return found


def stops(session: Session, **options: Any) -> list[int]:
    session.delete("/breakpoints")
    session.break_at(COUNTER, "loop", **options)
    if session.get()["status"] == "created":
        return collect_values(session, session.launch(COUNTER))
    return collect_values(session, session.post("/restart", {"wait": 60}))


def list_log_messages(session: Session) -> list[str]:
    return [e["text"] for e in session.get("/output?type=log")["outputs"]]


# -- on every interpreter, all on one line --------------------------------------------------------


def test_each_stops_at_exactly_its_own_hits(session: Session, python: str) -> None:
    """Hits count from 1, so the n-th hit has i == n - 1."""
    expected: list[tuple[dict[str, str], list[int]]] = [
        ({"condition": "i > 7"}, [8, 9]),
        ({"condition": " any(n == i for n in [limit - 1, len(numbers) + 3]) "}, [9]),
        ({"condition": "[x for x in numbers if x == i - 1] == [3]"}, [4]),
        ({"condition": "10 / (i - 3) > 100 or missing"}, [0]),  # which raises: once
        ({"hit_condition": "3"}, [2]),
        ({"hit_condition": "== 3"}, [2]),
        ({"hit_condition": "==3"}, [2]),
        ({"hit_condition": "> 8"}, [8, 9]),
        ({"hit_condition": ">= 8"}, [7, 8, 9]),
        ({"hit_condition": "< 3"}, [0, 1]),
        ({"hit_condition": "<= 3"}, [0, 1, 2]),
        ({"hit_condition": "% 4"}, [3, 7]),
        ({"condition": "i % 2 == 1", "hit_condition": "== 3"}, [5]),
        ({"log_message": "i = {i}"}, []),
    ]
    ids = [session.break_at(COUNTER, "loop", **options)[0] for options, _hits in expected]
    found: dict[str, list[int]] = {each: [] for each in ids}

    stop = session.launch(COUNTER, python=python)
    while stop["status"] == "paused":
        value = int(next(v["value"] for v in stop["locals"] if v["name"] == "i"))
        for each in stop["breakpoint_ids"]:
            found[each].append(value)
        stop = session.resume()

    assert [found[each] for each in ids] == [hits for _options, hits in expected]
    hits = [each["hits"] for each in session.get("/breakpoints")["breakpoints"]]
    assert hits == [2, 1, 1, 0, *[10] * 8, 5, 10]
    assert list_log_messages(session) == [f"i = {n}\n" for n in range(10)]
    assert session.output() == "10\n", "the program's own output is as it was"


# -- conditions -----------------------------------------------------------------------------------


def test_a_condition_stops_only_when_it_holds(session: Session) -> None:
    assert stops(session, condition="i > 7") == [8, 9]
    assert stops(session, condition="") == list(range(10))


@pytest.mark.parametrize("condition", ["i >", "i = 3", "if i: pass", "i >> ) 3", "return"])
def test_a_condition_that_is_no_expression_is_refused(session: Session, condition: str) -> None:
    body = {"file": COUNTER.path, "line": COUNTER.line("loop"), "condition": condition}
    refused = session.post("/breakpoints", body, expect=400)

    assert refused["error_code"] == "invalid_condition"
    assert refused["error"]["code"] == "BREAKPOINT_INVALID_CONDITION"
    assert refused["error"]["details"]["error"].startswith("SyntaxError: ")
    assert session.get("/breakpoints")["total"] == 0


def test_a_condition_that_raises_stops_once_and_says_so(session: Session, python: str) -> None:
    condition = "10 / (i - 3) > 100 or missing"
    [point] = session.break_at(COUNTER, "loop", condition=condition)

    stop = session.launch(COUNTER, python=python)
    error = "NameError: name 'missing' is not defined"
    assert (stop["status"], stop["reason"]) == ("paused", "breakpoint")
    assert stop["condition_error"] == {
        "breakpoint_id": point,
        "expression": condition,
        "error": error,
    }
    assert stop["message"] == (
        f"The condition `{condition}` raised {error}. "
        "It stopped here once; it does not stop for this again."
    )
    assert session.get()["message"] == stop["message"]
    end = session.resume()

    assert end["status"] == "terminated"
    assert "condition_error" not in end
    [counted] = end["condition_errors"]
    assert (counted["error"], counted["count"]) == (error, 10)
    told = [e for e in session.get("/events")["events"] if e["event"] == "breakpoint_error"]
    assert [each["breakpoint_id"] for each in told] == [point], "once, not for every hit"
    assert told[0]["error"] == error
    [shown] = session.get("/breakpoints")["breakpoints"]
    assert error in shown["message"]
    assert (shown["verified"], shown["hits"]) == (True, 0)
    assert session.output() == "10\n"


def test_it_stops_again_in_the_next_run_or_for_another_condition(session: Session) -> None:
    [point] = session.break_at(COUNTER, "loop", condition="missing")
    assert "`missing` raised" in session.launch(COUNTER)["message"]
    session.patch(f"/breakpoints/{point}", {"condition": "i / 0"})
    stop = session.resume()
    assert stop["condition_error"]["error"] == "ZeroDivisionError: division by zero"
    assert session.resume()["status"] == "terminated"
    assert "condition_error" in session.post("/restart", {"wait": 60})


def test_a_stop_after_one_that_a_condition_caused_has_no_error(session: Session) -> None:
    session.break_at(COUNTER, "loop", condition="i == 4 or 1 / i < 0")
    assert session.launch(COUNTER)["condition_error"]["error"].startswith("ZeroDivisionError")
    stop = session.resume()
    assert "condition_error" not in stop
    assert "message" not in stop
    assert session.evaluate("i") == "4"


def test_a_hit_count_does_not_keep_it_from_telling_an_error(session: Session) -> None:
    session.break_at(COUNTER, "loop", condition="1 / i > 0", hit_condition="3")
    assert "condition_error" in session.launch(COUNTER)
    assert collect_values(session, session.resume()) == [3]


def test_a_logpoint_whose_condition_raises_does_not_stop(session: Session, python: str) -> None:
    session.break_at(COUNTER, "loop", condition="1 / i > 0.2", log_message="{i}")
    end = session.launch(COUNTER, python=python)
    assert end["status"] == "terminated"
    assert end["condition_errors"][0]["count"] == 1
    assert list_log_messages(session) == ["1\n", "2\n", "3\n", "4\n"]
    assert "did not stop" in session.get("/breakpoints")["breakpoints"][0]["message"]


def test_a_condition_that_raises_in_a_function_stops_once(session: Session, python: str) -> None:
    [point] = session.post("/breakpoints", [{"function": "plain", "condition": "m > 1"}])[
        "breakpoints"
    ]
    stop = session.launch(Program("functions.py"), python=python)
    assert stop["condition_error"]["breakpoint_id"] == point["breakpoint_id"]
    assert session.resume()["status"] == "terminated"


def test_a_condition_cannot_end_the_program(session: Session) -> None:
    session.break_at(COUNTER, "loop", condition="exit(3)")
    assert session.launch(COUNTER)["condition_error"]["error"] == "SystemExit: 3"
    end = session.resume()
    assert (end["status"], end["exit_code"]) == ("terminated", 0)
    assert "SystemExit: 3" in session.get("/breakpoints")["breakpoints"][0]["message"]


def test_a_condition_newer_than_the_interpreter_is_reported(session: Session) -> None:
    newer = "f'{'nested'}' == 'nested' and i == 5"  # a string the same quotes allow from 3.12 on
    body = {"file": COUNTER.path, "line": COUNTER.line("loop"), "condition": newer}
    answer = session.server.http.post(session.path("/breakpoints"), json=body)
    if answer.status_code == 201:
        # It stops once if this Python does not know the syntax, at the first hit.
        assert collect_values(session, session.launch(COUNTER)) in ([0], [5])
    else:
        assert answer.json()["error_code"] == "invalid_condition"


# -- hit counts -----------------------------------------------------------------------------------


def test_a_hit_condition_may_be_a_number(session: Session) -> None:
    assert stops(session, hit_condition=10) == [9]


def test_hits_count_only_where_the_condition_holds(session: Session) -> None:
    assert stops(session, condition="i % 2 == 1", hit_condition="== 3") == [5]
    [shown] = session.get("/breakpoints")["breakpoints"]
    assert shown["hits"] == 5


@pytest.mark.parametrize("text", ["often", "% 0", "=> 3", "-1", "3.5", "", "1 2"])
def test_a_bad_hit_condition_is_refused(session: Session, text: str) -> None:
    body = {"file": COUNTER.path, "line": COUNTER.line("loop"), "hit_condition": text}
    refused = session.post("/breakpoints", body, expect=400)
    assert refused["error_code"] == "invalid_hit_condition"
    assert ">= N" in refused["error"]["hint"]


# -- log messages ---------------------------------------------------------------------------------


def test_a_log_message_is_written_without_stopping(session: Session) -> None:
    assert stops(session, log_message="i = {i}") == []

    entries = session.get("/output?type=log")["outputs"]
    assert [each["text"] for each in entries] == [f"i = {n}\n" for n in range(10)]
    assert {each["line"] for each in entries} == {COUNTER.line("loop")}
    assert {each["file"] for each in entries} == {COUNTER.path}
    assert session.output() == "10\n", "the program's own output is as it was"


def test_a_failing_expression_shows_only_its_own_failure(session: Session, python: str) -> None:
    message = "{len(numbers)} {nothing} {1 / 0:.2f} {numbers!s:.7} {limit:>4} {'a':d} {{}}"
    session.break_at(COUNTER, "return", log_message=message)
    session.launch(COUNTER, python=python)
    assert list_log_messages(session) == [
        "10 <NameError: name 'nothing' is not defined> <ZeroDivisionError: division by zero>"
        " [0, 1,    10 <ValueError: Unknown format code 'd' for object of type 'str'> {}\n"
    ]


def test_a_log_message_obeys_conditions(session: Session) -> None:
    assert stops(session, log_message="{i}", condition="i > 3", hit_condition="% 2") == []
    assert list_log_messages(session) == ["5\n", "7\n", "9\n"]


@pytest.mark.parametrize("message", ["{", "i = {i", "{}", "{i +}", "}"])
def test_a_bad_log_message_is_refused(session: Session, message: str) -> None:
    body = {"file": COUNTER.path, "line": COUNTER.line("loop"), "log_message": message}
    refused = session.post("/breakpoints", body, expect=400)
    assert refused["error_code"] == "invalid_log_message"


def test_a_log_message_and_a_stop_share_a_line(session: Session) -> None:
    session.break_at(COUNTER, "loop", log_message="at {i}")
    session.break_at(COUNTER, "loop", condition="i == 2")
    assert collect_values(session, session.launch(COUNTER)) == [2]
    assert list_log_messages(session) == [f"at {n}\n" for n in range(10)]
