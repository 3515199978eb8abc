"""The table of routes: every request finds its route, and its arguments."""

from __future__ import annotations

import re

import pytest
from msgspec import Struct

from harness import Program, Server
from holdfast import errors
from holdfast.server.app import build_table
from holdfast.server.request_parser import BodyParser, QueryParser
from holdfast.server.route_table import Route, RouteTable, build_route
from holdfast.wire.program_requests import LaunchRequest, PageQuery, SetVariable

TABLE, LISTED = build_table()


def split(path: str) -> list[str]:
    return path[1:].split("/")


def name(route: Route) -> str:
    return f"{route.method} {route.path}"


@pytest.mark.parametrize("route", LISTED, ids=name)
def test_every_route_is_found_under_both_prefixes(route: Route) -> None:
    path = re.sub(r"\{\w+\}", "7", route.path)
    for each in (path, "/api/v1" + path.removeprefix("/api")):
        found = TABLE.find(route.method, split(each))
        assert found is not None
        assert found.function is route.function


@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", "/api/v1/nowhere"),
        ("PUT", "/api/v1/sessions"),
        ("GET", "/api/v1/sessions/"),
        ("GET", "/sessions//status"),
        ("HEAD", "/sessions"),
        ("GET", "/"),
    ],
)
def test_what_is_not_there_is_not_found(method: str, path: str) -> None:
    assert TABLE.find(method, split(path)) is None


def test_a_fixed_part_comes_before_a_variable_one() -> None:
    found = TABLE.find("POST", split("/sessions/import"))
    assert found is not None
    assert found.path == "/sessions/import"
    found = TABLE.find("GET", split("/sessions/import"))
    assert found is not None
    assert found.path == "/sessions/{session_id}"


def test_a_parameter_that_nobody_can_fill_is_refused_at_the_start() -> None:
    async def look(colour: str) -> PageQuery:
        raise AssertionError(colour)

    with pytest.raises(TypeError, match="colour"):
        build_route(Route("GET", "/x", look), "/x")


def test_a_table_knows_what_is_possible_at_a_path() -> None:
    assert TABLE.methods(split("/sessions")) == ["GET", "POST"]
    assert RouteTable().methods(split("/sessions")) == []


# -- requests ------------------------------------------------------------------------------------


def test_every_wrong_field_of_a_body_is_named_once() -> None:
    with pytest.raises(errors.InvalidInput) as caught:
        BodyParser(LaunchRequest).parse(b'{"script": 5, "args": ["a", 1], "nmae": 1, "code": []}')
    problems = [problem["field"] for problem in caught.value.details["problems"]]
    assert sorted(problems) == ["args.1", "code", "nmae", "script"]
    assert caught.value.details["field"] == problems[0]


def test_problems_come_in_the_order_of_the_fields_and_unknown_ones_last() -> None:
    with pytest.raises(errors.InvalidInput) as caught:
        BodyParser(SetVariable).parse(b'{"nosuch": 1, "timeout": "soon"}')
    problems = [problem["field"] for problem in caught.value.details["problems"]]
    assert problems == ["name", "value", "timeout", "nosuch"]
    assert caught.value.details["field"] == "name"


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (b'{"\\ud800": 1}', "body"),
        (b'{"env": {"\\ud800": 1}}', "env"),
        (b'{"args": ["a", "\\ud800"], "nosuch": 1}', "args.1"),
    ],
)
def test_half_a_character_is_refused_in_keys_and_in_values(body: bytes, field: str) -> None:
    with pytest.raises(errors.InvalidInput, match="not valid Unicode") as caught:
        BodyParser(LaunchRequest).parse(body)
    assert caught.value.details["field"] == field


def test_an_error_about_an_unknown_field_lists_the_known_ones() -> None:
    class Point(Struct, forbid_unknown_fields=True):
        x: int = 0
        y: int = 0

    with pytest.raises(errors.InvalidInput, match="z: there is no such field; there are x, y"):
        BodyParser(Point).parse(b'{"z": 1}')


def test_numbers_may_be_text_and_text_is_no_number() -> None:
    query = QueryParser(PageQuery).parse(b"start=5&count=7")
    assert (query.first, query.size) == (5, 7)
    with pytest.raises(errors.InvalidInput, match="start"):
        QueryParser(PageQuery).parse(b"start=five")


# -- over HTTP -----------------------------------------------------------------------------------

PLAIN = ["", "/status", "/breakpoints", "/threads", "/stacktrace", "/watch", "/output", "/modules"]


def test_a_plain_request_is_answered_as_one_with_a_query(server: Server) -> None:
    loop = Program("loop.py")
    with server.session() as session:
        session.break_at(loop, "add")
        session.launch(loop)

        for rest in PLAIN:
            plain, usual = (server.http.get(session.path(rest) + query) for query in ("", "?&"))

            assert plain.status_code == usual.status_code
            assert plain.headers["content-type"] == usual.headers["content-type"]
            assert _drop_changing(plain.json()) == _drop_changing(usual.json())


def test_a_plain_request_fails_as_one_with_a_query(server: Server) -> None:
    for path in ("/sessions/nobody/status", "/sessions/nobody"):
        plain, usual = (server.http.get(path + query) for query in ("", "?&"))

        assert plain.status_code == usual.status_code == 404
        assert plain.json() == usual.json()


def test_a_plain_request_and_one_with_an_empty_body_do_the_same(server: Server) -> None:
    loop = Program("loop.py")
    with server.session() as session:
        session.break_at(loop, "add")
        first = session.launch(loop)["location"]["line"]

        plain = session.post("/step-over")
        with_body = session.post("/step-over", {})

        assert first < plain["location"]["line"]
        assert plain.keys() == with_body.keys() - {"returned"}


def test_a_slash_too_many_is_redirected(server: Server) -> None:
    answer = server.http.get("/sessions/?status=created", follow_redirects=False)
    assert answer.status_code == 307
    assert answer.headers["location"].endswith("/sessions?status=created")


def _drop_changing(shown: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in shown.items() if "seconds" not in name}
