"""Following calls: what is recorded or changed after a cursor, in the order of arrival."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import pytest

from harness import Server
from http_application import HttpApplication, Json, temporary_breakpoint
from local_server import LocalServer


@pytest.fixture
def app(server: Server) -> HttpApplication:
    return HttpApplication(server, name="tail")


def ask(app: Any, **query: object) -> Json:
    asked = urlencode({"session": app.session_id, **query})
    page: Json = app.server.get(f"/api/calls?{asked}")
    return page


def list_ids(page: Json) -> list[str]:
    return [call["call_id"] for call in page["calls"]]


def test_what_comes_after_a_list_is_followed_in_the_order_of_arrival(app: HttpApplication) -> None:
    app.call("f", 0)
    cursor = ask(app)["cursor"]
    assert ask(app, after=cursor)["calls"] == []
    ids = [app.call("f", number) for number in range(3)]
    page = ask(app, after=cursor)
    assert list_ids(page) == ids
    assert (page["has_more"], page["missed"]) == (False, False)
    last = app.call("f", 4)
    assert list_ids(ask(app, after=page["next"])) == [last]


def test_a_call_that_ends_comes_again(app: HttpApplication) -> None:
    cursor = ask(app)["cursor"]
    begun = app.start("f")
    page = ask(app, after=cursor)
    assert [call["status"] for call in page["calls"]] == ["running"]
    app.complete(begun)
    page = ask(app, after=page["next"])
    assert [call["status"] for call in page["calls"]] == ["success"]


def test_pages_of_a_tail_lose_nothing(app: HttpApplication) -> None:
    cursor = ask(app)["cursor"]
    ids = [app.call("f" if number % 2 else "g", number) for number in range(11)]
    for query, wanted in (
        ({}, ids),
        ({"function": "f"}, ids[1::2]),
        ({"filter": "args[0] % 3 == 0"}, ids[::3]),
        ({"status": "exception"}, []),
        ({"call_type": "inline"}, []),
    ):
        found: dict[str, None] = {}
        page: Json = {"next": cursor, "has_more": True}
        while page["has_more"]:
            page = ask(app, after=page["next"], limit=3, **query)
            found.update(dict.fromkeys(list_ids(page)))
        assert list(found) == wanted


def test_a_tail_finds_the_calls_of_a_value(app: HttpApplication, server: Server) -> None:
    cursor = ask(app)["cursor"]
    used = app.call("f", "a very special value")
    app.call("f", "another")
    cid = server.get(f"/api/calls/{used}")["args"][0]["cid"]
    assert list_ids(ask(app, after=cursor, cid=cid)) == [used]


def test_a_cursor_of_another_server_says_that_calls_were_missed(tmp_path: Path) -> None:
    first = LocalServer(tmp_path / "data")
    app = HttpApplication(first, name="tail")
    app.call("f")
    cursor = ask(app)["cursor"]
    first.stop()
    second = LocalServer(tmp_path / "data")
    try:
        page = second.get(f"/api/calls?after={cursor}")
        assert (page["calls"], page["missed"]) == ([], True)
        # That is news: nobody has to wait for it.
        assert second.get(f"/api/calls?after={cursor}&wait=100")["missed"] is True
        assert second.get(f"/api/calls?after={page['next']}")["missed"] is False
    finally:
        second.stop()


@pytest.mark.parametrize(
    "query", ["after=zz", "after=1769173800.000001-001", "wait=1", "after=00000000-1&before=x"]
)
def test_a_tail_that_cannot_be_is_refused(server: Server, query: str) -> None:
    server.get(f"/api/calls?{query}", expect=400)


# -- what lists say of calls ---------------------------------------------------------------------


def test_a_list_says_which_call_is_held(server: Server, app: HttpApplication) -> None:
    with temporary_breakpoint(server, function="held", session_id=app.session_id):
        begun = app.start("held")
        [call] = ask(app)["calls"]
        assert call["hold_id"] == begun["hold_id"]
        assert server.get(f"/api/calls/{begun['call_id']}")["hold_id"] == begun["hold_id"]
        server.post(f"/api/holds/{begun['hold_id']}/decision", {"action": "continue", "by": "me"})
        [call] = ask(app)["calls"]
        assert "hold_id" not in call
