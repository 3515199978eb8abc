"""`debug_sessions` and `debug_stop` over real HTTP, and which session a tool means."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from child_processes import is_gone
from harness import Program, Server
from local_server import LocalServer
from tool_user import ToolUser, place

SHOP = Program("shop.py")


@pytest.fixture(scope="module")
def lonely_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server without sessions of other tests."""
    running = LocalServer(tmp_path_factory.mktemp("sessions") / "data")
    try:
        yield running
    finally:
        running.stop()


@pytest.fixture
def user(lonely_server: Server) -> Iterator[ToolUser]:
    client = ToolUser(lonely_server)
    try:
        yield client
    finally:
        client.stop_all()


def test_without_sessions_it_is_said_how_to_begin(user: ToolUser) -> None:
    table = user.call("debug_sessions")
    assert (table["sessions"], table["total"]) == ([], 0)
    assert "debug_run" in table["next"]
    for tool in ("debug_continue", "debug_step", "debug_inspect", "debug_stop"):
        problem = user.call(tool, expect=404)["error"]
        assert (problem["message"], "debug_run" in problem["hint"]) == ("there is no session", True)


def test_those_that_wait_come_first(user: ToolUser) -> None:
    paused = user.run(SHOP, "add")["session_id"]
    ended = user.run(SHOP)["session_id"]
    asking = user.run(SHOP, args=["ask"])["session_id"]
    table = user.call("debug_sessions")
    assert [row["session_id"] for row in table["sessions"]] == [asking, paused, ended]
    row = table["sessions"][1]
    assert (row["kind"], row["status"], row["reason"]) == ("program", "paused", "breakpoint")
    assert (row["at"], row["is_yours"]) == (place(SHOP, "add"), True)
    assert row["age"].endswith(" s")
    assert "shop.py" in row["name"]

    table = user.call("debug_sessions", limit=1)
    assert (len(table["sessions"]), table["total"]) == (1, 3)
    assert "2 sessions" in table["omitted"]


def test_the_latest_session_is_meant_and_any_other_can_be_named(user: ToolUser) -> None:
    first = user.run(SHOP, "add")["session_id"]
    second = user.run(SHOP, "print")["session_id"]
    assert user.inspect()["session_id"] == second
    assert user.inspect(session_id=first)["at"] == place(SHOP, "add")
    assert user.inspect()["session_id"] == first  # used last
    assert user.inspect(session_id=second[:-2])["session_id"] == second
    assert user.inspect(session_id="latest")["session_id"] == second


def test_ones_own_session_is_meant_even_if_it_has_ended(
    user: ToolUser, lonely_server: Server
) -> None:
    other = ToolUser(lonely_server)
    theirs = other.run(SHOP, "add")["session_id"]
    try:
        assert user.inspect()["session_id"] == theirs  # there is no other
        mine = user.run(SHOP)["session_id"]
        report = user.resume()
        assert (report["session_id"], report["status"]) == (mine, "terminated")
        assert other.inspect()["at"] == place(SHOP, "add")
    finally:
        other.stop_all()


def test_an_unknown_session_says_which_there_are(user: ToolUser) -> None:
    known = user.run(SHOP, "add")["session_id"]
    for wrong in ("nothing", ""):
        problem = user.call("debug_inspect", session_id=wrong or "sess_0000", expect=404)["error"]
        assert known in problem["hint"]
    second = user.run(SHOP, "add")["session_id"]
    problem = user.call("debug_inspect", session_id="sess_", expect=404)["error"]
    assert "several" in problem["message"]
    assert second in problem["hint"]


def test_a_session_is_found_by_its_name(user: ToolUser, lonely_server: Server) -> None:
    with lonely_server.session(name="by name") as session:
        session.break_at(SHOP, "add")
        session.launch(SHOP)
        assert user.inspect(session_id="by name")["at"] == place(SHOP, "add")


def test_a_stopped_session_is_ended_and_forgotten(user: ToolUser) -> None:
    session = user.run(SHOP, "add")["session_id"]
    pid = user.server.get(f"/sessions/{session}")["pid"]
    answer = user.call("debug_stop")
    assert answer["stopped"][0]["session_id"] == session
    assert answer["stopped"][0]["was"] == "paused"
    assert is_gone(pid)
    user.call("debug_stop", session_id=session, expect=404)


def test_one_that_had_ended_says_so(user: ToolUser) -> None:
    user.run(SHOP)
    assert "had ended already" in user.call("debug_stop")["message"]


def test_all_means_those_that_the_client_started(user: ToolUser, lonely_server: Server) -> None:
    other = ToolUser(lonely_server)
    theirs = other.run(SHOP, "add")["session_id"]
    mine = {user.run(SHOP, "add")["session_id"] for _ in range(2)}
    answer = user.call("debug_stop", session_id="all")
    assert {row["session_id"] for row in answer["stopped"]} == mine
    left = user.call("debug_sessions")["sessions"]
    assert [row["session_id"] for row in left] == [theirs]
    other.stop_all()
    assert user.call("debug_stop", session_id="all")["stopped"] == []


def test_many_sessions_fit_a_small_budget(user: ToolUser) -> None:
    for _ in range(6):
        user.run(SHOP)
    table = user.call("debug_sessions", budget_tokens=100)
    assert table["total"] == 6
    assert len(table["sessions"]) < 6
    assert "sessions" in table["omitted"]
