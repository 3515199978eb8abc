"""Watches in real programs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from harness import Program, Server, Session
from polling import wait_until

COUNTER, IDLE = Program("counter.py"), Program("idle.py")


def values(session: Session) -> list[tuple[str, str | None]]:
    return [(w["expression"], w.get("result")) for w in session.get("/watch")["watches"]]


def shown(stop: Any) -> list[tuple[str, str | None]]:
    return [(each["expression"], each.get("result", each.get("error"))) for each in stop["watches"]]


def test_watches_come_with_every_stop(session: Session, python: str) -> None:
    for expression in ("len(numbers)", "i", "nothing"):
        session.post("/watch", {"expression": expression})
    session.break_at(COUNTER, "loop")
    unknown = "NameError: name 'nothing' is not defined"
    stop = session.launch(COUNTER, python=python)
    assert shown(stop) == [("len(numbers)", "0"), ("i", "0"), ("nothing", unknown)]
    assert [each["name"] for each in stop["locals"]] == ["limit", "numbers", "i"]
    step = session.post("/step-over", {"wait": 60, "include": []})
    assert shown(step) == [("len(numbers)", "1"), ("i", "0"), ("nothing", unknown)]
    again = session.resume()
    assert shown(again) == [("len(numbers)", "1"), ("i", "1"), ("nothing", unknown)]
    for path in ("", "/status", "/status?wait=5"):
        assert session.get(path)["watches"] == again["watches"]
    session.evaluate("numbers.extend('abc')", context="repl")
    assert shown(session.get("/status"))[0] == ("len(numbers)", "4")
    session.delete("/breakpoints")
    end = session.resume()
    assert (end["status"], "watches" in end) == ("terminated", False)


def test_a_slow_watch_delays_no_stop_for_long(server_with: Callable[..., Server]) -> None:
    """It is interrupted; the next time, the others come first.

    On a slow machine another may take too long, too. Then that one comes last at the next stop.
    """
    with server_with(watches=1).session() as session:
        _watch_slowly(session)


def _watch_slowly(session: Session) -> None:
    slow = "__import__('time').sleep(3600)"
    for expression in (slow, "len(sys.argv)"):
        session.post("/watch", {"expression": expression})
    session.break_at(IDLE, "nap")
    stop = session.launch(IDLE)
    first, second = shown(stop)
    assert first[1] is not None
    assert first[1].startswith("it has no value after")
    assert second[1] is not None
    assert second[1].startswith("not evaluated: other watches")
    assert stop["location"]["line"] == IDLE.line("nap")
    both = [first, ("len(sys.argv)", "1")]
    wait_until(lambda: shown(session.resume()) == both, "a stop with the value of the other")
