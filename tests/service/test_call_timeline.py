"""The timeline of calls: columns for a chart of very many."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import pytest

from application import Application
from harness import Server
from holdfast.client.switch import switch
from http_application import HttpApplication, Json

COLUMNS = ("call_ids", "start", "duration", "function", "lane", "depth", "status")


@pytest.fixture(params=["strict", "leased"])
def app(request: pytest.FixtureRequest, server: Server) -> Iterator[Application]:
    application = Application(server).start(mode=request.param)
    try:
        yield application
    finally:
        application.stop()


def read_timeline(app: Any, **query: object) -> Json:
    if switch.recorder is not None and switch.recorder.leased_calls is not None:
        switch.recorder.leased_calls.flush()
    asked = urlencode({"session": app.session_id, **query})
    timeline: Json = app.server.get(f"/api/calls/timeline?{asked}")
    assert len({len(timeline[name]) for name in COLUMNS}) == 1
    return timeline


def test_a_call_under_way_has_no_duration(server: Server) -> None:
    app = HttpApplication(server, name="timeline")
    outer = app.start("outer")
    app.call("inner", parent_call_id=outer["call_id"])
    timeline = read_timeline(app)
    assert timeline["duration"][0] is None
    assert timeline["duration"][1] is not None
    assert timeline["depth"] == [0, 1]
    app.complete(outer)


def test_a_timeline_without_calls_is_empty(server: Server) -> None:
    timeline = read_timeline(HttpApplication(server, name="nothing"))
    assert all(timeline[name] == [] for name in COLUMNS)
    assert (timeline["total"], timeline["cut"]) == (0, False)


@pytest.mark.parametrize(
    "query", ["filter=args[0] >", "from=-1", "to=nan", "limit=200001", "limit=0", "since=1"]
)
def test_a_timeline_that_cannot_be_is_refused(server: Server, query: str) -> None:
    server.get(f"/api/calls/timeline?{query}", expect=400)


def test_what_the_filter_could_not_judge_is_counted(server: Server) -> None:
    app = HttpApplication(server, name="unjudged")
    app.call("of_no_known_signature", 1)
    app.call("of_no_known_signature", 2)
    timeline = read_timeline(app, filter="args[0] == 1 or size > 3")
    assert (len(timeline["call_ids"]), timeline["undecided"]) == (1, 1)
    assert "size" in timeline["condition_errors"][0]["error"]


def test_a_wrong_filter_says_where_it_is_wrong(server: Server) -> None:
    for path in ("/api/calls", "/api/calls/timeline"):
        asked = urlencode({"filter": "item == 'thé' and open(1)"})
        error = server.get(f"{path}?{asked}", expect=400)["error"]
        assert error["details"]["offset"] == 19
        assert "duration, thread and task" in error["hint"]
