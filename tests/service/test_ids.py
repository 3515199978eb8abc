"""Ids are unique: no other server gives them, and no later run of the same one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness import Program, Server, Session
from http_application import HttpApplication
from local_server import LocalServer

LOOP = Program("loop.py")


def collect_ids(server: Server) -> dict[str, str]:
    """An id of every kind. Everything is made as a second server, or a second run, makes it."""
    point = server.post("/api/breakpoints", {"function": "held"})
    app = HttpApplication(server, name="shop")
    call = app.start("held", 1)
    second = app.start("held", 2)
    assert app.session_id is not None
    session = Session(server, server.post("/sessions")["session_id"])
    [line] = session.break_at(LOOP, "add")
    stop = session.launch(LOOP)
    assert stop["breakpoint_ids"] == [line]
    server.delete(f"/api/breakpoints/{point['id']}")
    return {
        "calls session": app.session_id,
        "call": call["call_id"],
        "hold of a call": call["hold_id"],
        "second hold": second["hold_id"],
        "breakpoint of calls": point["id"],
        "session": session.id,
        "breakpoint": line,
        "hold": stop["hold_id"],
    }


def test_no_id_comes_twice_from_two_servers_or_from_two_runs_of_one(tmp_path: Path) -> None:
    first, other = LocalServer(tmp_path / "first"), LocalServer(tmp_path / "other")
    try:
        ids = [collect_ids(first), collect_ids(other)]
        assert ids[0]["call"][-9:] != ids[1]["call"][-9:]
        refused = other.get(f"/api/calls/{ids[0]['call']}", expect=404)
        assert refused["error"]["details"]["call_id"] == ids[0]["call"]
        first.stop()
        first = LocalServer(tmp_path / "first")
        ids.append(collect_ids(first))
        assert ids[0]["call"][-9:] == ids[2]["call"][-9:]
        found = first.get(f"/api/calls/{ids[0]['call']}")
        assert (found["call_id"], found["session_id"]) == (ids[0]["call"], ids[0]["calls session"])
    finally:
        first.stop()
        other.stop()

    every = [given for of_one in ids for given in of_one.values()]
    assert len(set(every)) == len(every)
    random_parts = [given.rpartition("_")[2] for given in every if "-" not in given]
    assert {len(part) for part in random_parts} == {15}


def test_a_copy_of_a_session_has_breakpoints_of_its_own(server: Server) -> None:
    session = Session(server, server.post("/sessions")["session_id"])
    points = session.break_at(LOOP, "add", "print")
    exported = session.get("/export")
    exported["name"] = "imported"

    copies = [session.post("/clone"), server.post("/sessions/import", exported)]

    ids = list(points)
    for copy in copies:
        listed = server.get(f"/sessions/{copy['session_id']}/breakpoints")["breakpoints"]
        assert [each["line"] for each in listed] == [LOOP.line("add"), LOOP.line("print")]
        ids += [each["id"] for each in listed]
    assert len(set(ids)) == 6


def test_a_function_has_the_same_id_in_every_server(server: Server, tmp_path: Path) -> None:
    def register(where: Server, names: list[dict[str, Any]]) -> list[str]:
        for name in names:
            where.post("/api/call/register", name)
        functions = where.get("/api/functions")["functions"]
        by_alias = {each["alias"]: each["function_id"] for each in functions}
        return [by_alias[name["alias"]] for name in names]

    names = [{"name": "Till.add", "alias": alias} for alias in ("here", "there")]
    other = LocalServer(tmp_path / "other")
    try:
        ids = register(server, names)
        assert register(other, list(reversed(names))) == list(reversed(ids))
    finally:
        other.stop()
    assert ids[0] != ids[1]
