"""Clients that follow the calls of applications as they arrive."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from application import Application
from background import run_in_thread
from harness import Server
from holdfast import with_debug
from holdfast.client.switch import switch
from http_application import HttpApplication, Json


@pytest.fixture
def app(server: Server) -> HttpApplication:
    return HttpApplication(server, name="tail")


def ask(app: Any, **query: object) -> Json:
    asked = urlencode({"session": app.session_id, **query})
    page: Json = app.server.get(f"/api/calls?{asked}")
    return page


def list_ids(page: Json) -> list[str]:
    return [call["call_id"] for call in page["calls"]]


def test_a_request_waits_for_the_next_call(app: HttpApplication) -> None:
    cursor = ask(app)["cursor"]
    waiting = run_in_thread(lambda: ask(app, after=cursor, filter="args[0] == 2", wait=60))
    app.call("f", 1)
    wanted = app.call("f", 2)
    assert list_ids(waiting.result(60)) == [wanted]


def test_waiting_ends_with_nothing_when_time_is_up(app: HttpApplication) -> None:
    cursor = ask(app)["cursor"]
    page = ask(app, after=cursor, wait=0.05)
    assert (page["calls"], page["has_more"]) == ([], False)


class Shop:
    proxy: Any = None

    def price(self, item: str) -> int:
        return len(item)

    def sell(self, item: str) -> int:
        return int(self.proxy.price(item))


@pytest.fixture
def leasing(server: Server) -> Iterator[Application]:
    application = Application(server).start(mode="leased")
    try:
        yield application
    finally:
        application.stop()


def flush() -> None:
    assert switch.recorder is not None
    assert switch.recorder.leased_calls is not None
    switch.recorder.leased_calls.flush()


def test_a_call_that_is_reported_after_later_ones_is_not_lost(leasing: Application) -> None:
    class SlowShop(Shop):
        def sell(self, item: str) -> int:
            price = super().sell(item)
            flush()  # its caller is reported later than what it called
            self.cursor = ask(leasing)["cursor"]
            return price

    shop = SlowShop()
    Shop.proxy = with_debug(shop)
    Shop.proxy.sell("tea")
    flush()
    [call] = ask(leasing, after=shop.cursor)["calls"]
    assert call["method_name"] == "sell"


# -- what lists say of calls ---------------------------------------------------------------------


def test_a_list_says_where_a_call_belongs(leasing: Application) -> None:
    Shop.proxy = with_debug(Shop())
    Shop.proxy.sell("tea")
    flush()
    outer, inner = leasing.list_calls()
    assert (outer["parent_id"], outer["child_count"]) == (None, 1)
    assert (inner["parent_id"], inner["child_count"]) == (outer["call_id"], 0)
    assert (inner["thread_name"], inner["task"]) == ("MainThread", None)
    assert "hold_id" not in outer
    detail = leasing.server.get(f"/api/calls/{inner['call_id']}")
    assert detail["parent_id"] == detail["parent_call_id"] == outer["call_id"]
