"""Watches: expressions whose values are wanted at every stop."""

from __future__ import annotations

from typing import Any

from harness import Program, Session

COUNTER = Program("counter.py")


def values(session: Session) -> list[tuple[str, str | None]]:
    return [(w["expression"], w.get("result")) for w in session.get("/watch")["watches"]]


def test_a_watch_has_its_value_at_each_stop(session: Session) -> None:
    made = session.post("/watch", {"expression": "len(numbers)"}, expect=201)
    assert "result" not in made
    session.break_at(COUNTER, "loop", "return")
    session.launch(COUNTER)
    assert values(session) == [("len(numbers)", "0")]
    added = session.post("/watch", {"expression": "i * 100"})
    assert (added["result"], added["value"], added["type"]) == ("0", "0", "int")
    session.resume()
    assert values(session) == [("len(numbers)", "1"), ("i * 100", "100")]

    again = session.post("/restart", {"wait": 20})
    assert again["status"] == "paused"
    assert values(session) == [("len(numbers)", "0"), ("i * 100", "0")]
    session.delete("/breakpoints")
    session.resume()
    assert values(session) == [("len(numbers)", None), ("i * 100", None)]


def test_a_failing_watch_says_why_and_spoils_no_other(session: Session) -> None:
    for expression in ("nothing", "1 / 0", "limit"):
        session.post("/watch", {"expression": expression})
    session.break_at(COUNTER, "loop")
    session.launch(COUNTER)
    first, second, third = session.get("/watch")["watches"]
    assert first["error"] == "NameError: name 'nothing' is not defined"
    assert second["error"] == "ZeroDivisionError: division by zero"
    assert (third["result"], "error" in third) == ("10", False)


def test_watches_are_removed_one_by_one_or_all(session: Session) -> None:
    ids = [session.post("/watch", {"expression": f"{n}"})["id"] for n in range(3)]
    assert session.delete(f"/watch/{ids[1]}")["deleted"] is True
    assert [each["id"] for each in session.get("/watch")["watches"]] == [ids[0], ids[2]]
    session.delete(f"/watch/{ids[1]}", expect=404)
    assert session.delete("/watch") == {"deleted": 2}
    assert session.get("/watch")["total"] == 0


def test_only_an_expression_can_be_watched(session: Session) -> None:
    for expression in ("x = 1", "1 +", "", "import os"):
        session.post("/watch", {"expression": expression}, expect=400)


def shown(stop: Any) -> list[tuple[str, str | None]]:
    return [(each["expression"], each.get("result", each.get("error"))) for each in stop["watches"]]


def test_a_watch_is_evaluated_once_for_each_stop(session: Session) -> None:
    code = "seen = []\nx = 1\nx = 2\n"
    session.post("/watch", {"expression": "seen.append(1) or len(seen)"})
    session.post("/launch", {"code": code, "stop_on_entry": True, "wait": 60})
    assert shown(session.post("/step-over", {"wait": 60})) == [("seen.append(1) or len(seen)", "1")]
    assert shown(session.get("/status")) == [("seen.append(1) or len(seen)", "1")]
    assert session.locals()["seen"]["value"] == "[1]"
