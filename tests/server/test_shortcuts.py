"""The quick way to a route is only quick: it leads where the usual way leads, and says the same."""

from __future__ import annotations

import re

import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import Match
from starlette.types import Scope

from harness import Program, Server
from holdfast.server.rest import (
    breakpoint_routes,
    execution_routes,
    inspection_routes,
    session_routes,
    stream_routes,
)
from holdfast.server.shortcuts import Shortcuts

MODULES = (
    session_routes,
    execution_routes,
    breakpoint_routes,
    inspection_routes,
    stream_routes,
)
ROUTES = [route for each in MODULES for route in each.routes.routes if isinstance(route, APIRoute)]


def asked(method: str, path: str) -> Scope:
    return {"type": "http", "method": method, "path": path, "root_path": "", "headers": []}


@pytest.fixture(scope="module")
def shortcuts() -> Shortcuts:
    made = Shortcuts()
    made.add("/api/v1", ROUTES)
    return made


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: f"{min(route.methods)} {route.path}")
def test_every_route_is_found_as_starlette_finds_it(shortcuts: Shortcuts, route: APIRoute) -> None:
    usual = FastAPI(openapi_url=None)
    usual.router.routes.extend(ROUTES)
    path = re.sub(r"\{\w+\}", "7", route.path)
    for method in route.methods or ():
        scopes = [found.matches(asked(method, path)) for found in usual.router.routes]
        first = next(scope for match, scope in scopes if match is Match.FULL)

        match, scope = shortcuts.matches(asked(method, "/api/v1" + path))

        assert match is Match.FULL
        assert scope["endpoint"] is first["endpoint"]
        assert scope["path_params"] == first["path_params"]


@pytest.mark.parametrize(
    ("method", "path"),
    [("GET", "/api/v1/nowhere"), ("PUT", "/api/v1/sessions"), ("GET", "/api/v1/sessions/")],
)
def test_what_is_not_there_is_left_to_the_usual_way(
    shortcuts: Shortcuts, method: str, path: str
) -> None:
    assert shortcuts.matches(asked(method, path))[0] is Match.NONE


PLAIN = ["", "/status", "/breakpoints", "/threads", "/stacktrace", "/watch", "/output", "/modules"]


def test_a_plain_request_is_answered_as_one_with_a_query(server: Server) -> None:
    loop = Program("loop.py")
    with server.session() as session:
        session.break_at(loop, "add")
        session.launch(loop)

        for rest in PLAIN:
            plain, usual = (server.http.get(session.path(rest) + query) for query in ("", "?_=1"))

            assert plain.status_code == usual.status_code
            assert plain.headers["content-type"] == usual.headers["content-type"]
            assert _lasting(plain.json()) == _lasting(usual.json())


def test_a_plain_request_fails_as_one_with_a_query(server: Server) -> None:
    for path in ("/sessions/nobody/status", "/sessions/nobody"):
        plain, usual = (server.http.get(path + query) for query in ("", "?_=1"))

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


def _lasting(shown: dict[str, object]) -> dict[str, object]:
    return {name: value for name, value in shown.items() if "seconds" not in name}
