"""Exception breakpoints: raised, uncaught, unhandled by the user's code; all, or of some types."""

from __future__ import annotations

from typing import Any

import pytest

from harness import Program, Session

ERROR_KINDS = Program("error_kinds.py")


def collect_exceptions(session: Session, stop: Any) -> list[str]:
    """The exceptions it stops at until the end."""
    found = []
    while stop["status"] == "paused":
        assert stop["reason"] == "exception"
        found.append(stop["exception"]["type"])
        stop = session.resume()
    assert stop["status"] == "terminated"
    return found


def run(session: Session, *args: str, **options: Any) -> list[str]:
    return collect_exceptions(session, session.launch(ERROR_KINDS, args=list(args), **options))


def choose(session: Session, *filters: str, types: tuple[str, ...] = ()) -> None:
    body = {"filters": list(filters), "types": list(types)}
    assert session.post("/exception-breakpoints", body) == body


MINE = ["ValueError", "KeyError", "DeepTroubleError"]


def test_raised_stops_once_at_each_raise(session: Session, python: str) -> None:
    choose(session, "raised")
    found = run(session, "crash", python=python)
    assert found[:3] == MINE
    assert found[-1] == "TroubleError", "and uncaught it does not stop again"
    assert set(found[3:-1]) <= {"JSONDecodeError", "StopIteration"}
    assert found.count("StopIteration") == 0


def test_a_stop_says_which_exception_and_where(session: Session, python: str) -> None:
    choose(session, "uncaught")

    stop = session.launch(ERROR_KINDS, args=["crash"], python=python)

    assert (stop["status"], stop["reason"]) == ("paused", "exception")
    shown = stop["exception"]
    assert (shown["type"], shown["module"]) == ("TroubleError", "__main__")
    assert shown["message"] == "in trouble"
    assert shown["location"]["line"] == ERROR_KINDS.line("raise")
    frames = session.get("/stacktrace")["frames"]
    assert [each["line"] for each in frames] == [
        ERROR_KINDS.line("raise"),
        ERROR_KINDS.line("crash"),
    ]
    assert "TroubleError" in session.locals()["kind"]["value"]
    end = session.resume()
    assert (end["status"], end["exit_code"]) == ("terminated", 1)
    assert "TroubleError: in trouble" in session.output("stderr")


def test_uncaught_leaves_caught_ones_and_exits_alone(session: Session) -> None:
    choose(session, "uncaught")
    assert run(session, "exit") == []


def test_uncaught_in_a_thread_stops_that_thread(session: Session, python: str) -> None:
    choose(session, "uncaught")
    stop = session.launch(ERROR_KINDS, args=["thread"], python=python)
    assert stop["exception"]["type"] == "TroubleError"
    assert stop["location"]["line"] == ERROR_KINDS.line("raise")
    [held] = [t for t in session.get("/threads")["threads"] if t["id"] == stop["thread_id"]]
    assert held["name"] == "worker"
    assert collect_exceptions(session, session.resume()) == []


def test_the_line_is_right_after_the_last_breakpoint_was_removed(
    session: Session, python: str
) -> None:
    tour = Program("editor_tour.py")
    choose(session, "uncaught")
    session.break_at(tour, "inside")
    session.launch(tour, python=python)
    session.delete("/breakpoints")

    stop = session.resume()

    assert stop["reason"] == "exception"
    assert stop["location"]["line"] == tour.line("raise")
    end = session.resume()
    assert f"line {tour.line('raise')}, in <module>" in end["stderr_tail"]


def test_by_type_subclasses_match(session: Session) -> None:
    choose(session, "raised", types=("TroubleError",))
    assert run(session, "crash") == ["DeepTroubleError", "TroubleError"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("LookupError", ["KeyError"]),
        ("__main__.DeepTroubleError", ["DeepTroubleError"]),
        ("json.decoder.JSONDecodeError", ["JSONDecodeError"]),
        ("builtins.KeyError", ["KeyError"]),
        ("NoSuchError", []),
    ],
)
def test_a_type_is_a_builtin_or_any_class_by_its_name(
    session: Session, name: str, found: list[str]
) -> None:
    choose(session, types=(name,))
    assert run(session) == found


def test_types_narrow_uncaught_too(session: Session) -> None:
    choose(session, "uncaught", types=("ValueError",))
    assert run(session, "crash") == []


def test_unhandled_by_the_users_code_stops_where_it_leaves_it(session: Session) -> None:
    choose(session, "userUnhandled")
    assert run(session, "crash")[-1:] == ["TroubleError"]


def test_filters_change_and_go_while_it_is_held(session: Session) -> None:
    choose(session, "raised", "uncaught")
    stop = session.launch(ERROR_KINDS, args=["crash"])
    assert stop["exception"]["type"] == "ValueError"

    choose(session, types=("DeepTroubleError",))
    assert session.resume()["exception"]["type"] == "DeepTroubleError"
    assert session.delete("/exception-breakpoints") == {"deleted": True}
    assert session.get("/exception-breakpoints") == {"filters": [], "types": []}
    assert session.resume()["status"] == "terminated"


def test_a_launch_may_ask_by_itself(session: Session) -> None:
    assert run(session, "crash", stop_on_exception="uncaught") == ["TroubleError"]
    stop = session.post("/restart", {"stop_on_exception": True, "wait": 60})
    found = collect_exceptions(session, stop)
    assert (found[:3], found[-1]) == (MINE, "TroubleError")
    assert "JSONDecodeError" not in found, "a library's own affair"
    assert run_again(session) == []


def run_again(session: Session) -> list[str]:
    return collect_exceptions(
        session, session.post("/restart", {"stop_on_exception": False, "wait": 60})
    )


def test_nonsense_is_refused(session: Session) -> None:
    bodies: list[dict[str, Any]] = [
        {"filters": ["sometimes"]},
        {"types": ["not a name"]},
        {"types": "ValueError"},
        {"filter": []},
    ]
    for body in bodies:
        session.post("/exception-breakpoints", body, expect=400)
