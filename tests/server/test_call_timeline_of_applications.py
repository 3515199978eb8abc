"""The timeline of calls that an application made."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from application import Application
from harness import Server
from holdfast import debug_call, with_debug
from holdfast.client.switch import switch
from http_application import Json

COLUMNS = ("call_ids", "start", "duration", "function", "lane", "depth", "status")
ARRIVED: dict[str, asyncio.Event] = {}


class Shop:
    """It calls itself through its proxy."""

    proxy: Any = None

    def price(self, item: str) -> int:
        return len(item)

    def sell(self, item: str, count: int = 1) -> int:
        return int(self.proxy.price(item)) * count

    def fail(self) -> None:
        raise LookupError("sold out")

    async def deliver(self, place: str, other: str) -> None:
        ARRIVED[place].set()
        await ARRIVED[other].wait()


@pytest.fixture(params=["strict", "leased"])
def app(request: pytest.FixtureRequest, server: Server) -> Iterator[Application]:
    application = Application(server).start(mode=request.param)
    try:
        yield application
    finally:
        application.stop()


@pytest.fixture
def shop(app: Application) -> Any:
    Shop.proxy = with_debug(Shop())
    return Shop.proxy


def read_timeline(app: Any, **query: object) -> Json:
    if switch.recorder is not None and switch.recorder.leased_calls is not None:
        switch.recorder.leased_calls.flush()
    asked = urlencode({"session": app.session_id, **query})
    timeline: Json = app.server.get(f"/api/calls/timeline?{asked}")
    assert len({len(timeline[name]) for name in COLUMNS}) == 1
    return timeline


def list_names(timeline: Json) -> list[str]:
    return [timeline["functions"][place] for place in timeline["function"]]


def test_a_timeline_nests_calls_in_the_order_of_time(app: Application, shop: Any) -> None:
    shop.sell("tea", 2)
    with pytest.raises(LookupError):
        shop.fail()
    debug_call(len, "abc")
    timeline = read_timeline(app)
    assert list_names(timeline) == ["Shop.sell", "Shop.price", "Shop.fail", "len"]
    assert timeline["depth"] == [0, 1, 0, 0]
    statuses = [timeline["statuses"][place] for place in timeline["status"]]
    assert statuses == ["success", "success", "exception", "success"]
    assert timeline["lane"] == [0, 0, 0, 0]
    [lane] = timeline["lanes"]
    assert (lane["session_id"], lane["thread"], lane["task"]) == (
        *(app.session_id, threading.current_thread().name),
        None,
    )
    assert timeline["call_ids"] == [call["call_id"] for call in app.list_calls()]
    assert timeline["start"] == sorted(timeline["start"])
    assert (timeline["start"][0], timeline["total"], timeline["cut"]) == (0, 4, False)
    assert timeline["latest"] >= timeline["start"][-1] + timeline["duration"][-1] - 0.002


def test_each_thread_and_each_task_has_its_lane(app: Application, shop: Any) -> None:
    async def deliver_twice() -> None:
        ARRIVED.update({place: asyncio.Event() for place in ("here", "there")})
        await asyncio.gather(shop.deliver("here", "there"), shop.deliver("there", "here"))

    asyncio.run(deliver_twice())
    worker = threading.Thread(target=shop.price, args=("tea",), name="worker")
    worker.start()
    worker.join()
    timeline = read_timeline(app)
    assert timeline["depth"] == [0, 0, 0]
    assert sorted(timeline["lane"]) == [0, 1, 2]
    assert timeline["lanes"][2]["thread"] == "worker"
    tasks = {lane["task"] for lane in timeline["lanes"][:2]}
    assert len(tasks) == 2
    assert None not in tasks


def test_a_timeline_is_narrowed_by_function_time_and_filter(app: Application, shop: Any) -> None:
    for count in range(1, 6):
        shop.sell("tea", count)
    with pytest.raises(LookupError):
        shop.fail()
    assert list_names(read_timeline(app, function="*.price")) == ["Shop.price"] * 5
    assert list_names(read_timeline(app, filter="status == 'exception'")) == ["Shop.fail"]
    many = read_timeline(app, filter="count >= 4")
    assert list_names(many) == ["Shop.sell"] * 2
    assert (many["total"], many["looked_at"], many["cut"]) == (11, 11, False)
    whole = read_timeline(app)
    seconds = whole["call_ids"][2].partition("-")[0]
    assert read_timeline(app, **{"from": seconds})["call_ids"] == whole["call_ids"][2:]
    before = read_timeline(app, to=seconds)
    assert before["call_ids"] == whole["call_ids"][:2]
    assert (before["earliest"], before["latest"]) == (0, pytest.approx(whole["start"][-1]))


def test_too_many_calls_are_cut_at_the_old_end(app: Application, shop: Any) -> None:
    for _ in range(5):
        shop.price("tea")
    whole, cut = read_timeline(app), read_timeline(app, limit=2)
    assert cut["call_ids"] == whole["call_ids"][-2:]
    assert (cut["total"], cut["cut"]) == (5, True)
    assert cut["earliest"] == pytest.approx(-whole["start"][3])
    filtered = read_timeline(app, limit=2, filter="duration >= 0")
    assert (filtered["looked_at"], filtered["total"], filtered["cut"]) == (2, 5, True)
