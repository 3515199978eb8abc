"""Finding the route by the shape of the path, and answering plain requests straight away.

Starlette tries one route after the other. With ours, twice (plain and under `/api/v1`), that was
two thirds of what a request cost. Here a path is looked up by its method, its depth and its last
part, which leaves one or two to try. What is not found here goes the usual way, so that redirects
and the answers 404 and 405 stay Starlette's.

Half of the rest was FastAPI finding out what to call a route with. A request without query and
body leaves nothing to find out but the session: every other parameter keeps its default. Most
requests of a debugger are such, a look at the status and a step among them. So is a route that asks
for the request alone, and reads it by itself.
"""

from __future__ import annotations

import inspect
import re
import typing
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from fastapi import params
from fastapi.routing import APIRoute
from pydantic.fields import FieldInfo
from starlette.datastructures import URLPath
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Match, NoMatchFound, compile_path
from starlette.types import Receive, Scope, Send

from holdfast.server.rest.shared import (
    Answer,
    ProgramHere,
    ProgramSeen,
    ServiceHere,
    SessionHere,
    SessionSeen,
)
from holdfast.service.debugger import Debugger
from holdfast.service.session import Session

_FOUND = (ServiceHere, SessionHere, SessionSeen, ProgramHere, ProgramSeen)
Shape = tuple[str, int, str | None]
"""Method, depth, and the last part (None: anything)."""
Endpoint = Callable[..., Any]
Names = dict[str, Any]
"""What a route calls the service and the session, and which of them it is."""


class Shortcuts(BaseRoute):
    """Stands first in an application's list of routes."""

    def __init__(self) -> None:
        self._by_shape: defaultdict[Shape, list[tuple[re.Pattern[str], APIRoute]]]
        self._by_shape = defaultdict(list)
        self._plain: dict[Endpoint, Names] = {}
        self._alone: set[Endpoint] = set()

    def add(self, prefix: str, routes: Iterable[BaseRoute]) -> None:
        for route in routes:
            if isinstance(route, APIRoute) and ":" not in route.path:  # no converters but text
                path = prefix + route.path
                pattern = compile_path(path)[0]
                names = _plain_names(route)
                if _asks_for_the_request(route):
                    self._alone.add(route.endpoint)
                elif names is not None:
                    self._plain[route.endpoint] = names
                last = path.rpartition("/")[2]
                for method in route.methods or ():
                    shape = method, path.count("/"), None if "{" in last else last
                    self._by_shape[shape].append((pattern, route))

    def matches(self, scope: Scope) -> tuple[Match, Scope]:
        if scope["type"] != "http" or scope.get("root_path"):
            return Match.NONE, {}
        path: str = scope["path"]
        method, depth = scope["method"], path.count("/")
        for last in (path.rpartition("/")[2], None):
            for pattern, route in self._by_shape.get((method, depth, last), ()):
                found = pattern.match(path)
                if found:
                    return Match.FULL, _child(route, found.groupdict())
        return Match.NONE, {}

    def methods(self, path: str) -> list[str]:
        """Everything that is possible at a path."""
        depth, last = path.count("/"), path.rpartition("/")[2]
        found = {
            shape[0]
            for shape, routes in self._by_shape.items()
            if shape[1] == depth and shape[2] in (last, None)
            for pattern, _route in routes
            if pattern.match(path)
        }
        return sorted(found)

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        route: APIRoute = scope["route"]
        if route.endpoint in self._alone:
            answer = await route.endpoint(Request(scope, receive))
            await answer(scope, receive, send)
            return
        names = self._plain.get(route.endpoint)
        if names is None or scope["query_string"] or _has_body(scope):
            await route.handle(scope, receive, send)
            return
        service: Debugger = scope["app"].state.service
        given = {name: _find(service, wanted, scope) for name, wanted in names.items()}
        answer = await route.endpoint(**given)
        if not isinstance(answer, Response):
            answer = Answer(answer, route.status_code or 200)
        await answer(scope, receive, send)

    def url_path_for(self, name: str, /, **path_params: Any) -> URLPath:
        raise NoMatchFound(name, path_params)


def _child(route: APIRoute, parameters: dict[str, str]) -> Scope:
    return {"endpoint": route.endpoint, "path_params": parameters, "route": route}


# -- plain requests -------------------------------------------------------------------------------


def _asks_for_the_request(route: APIRoute) -> bool:
    """Its only parameter is the request, and it makes its answer itself."""
    hints = typing.get_type_hints(route.endpoint)
    answer = hints.pop("return", None)
    return (
        inspect.iscoroutinefunction(route.endpoint)
        and not route.dependencies
        and hints == {"request": Request}
        and answer is Response
    )


def _plain_names(route: APIRoute) -> Names | None:
    """The parameters that a plain request must fill; None if there are others that it cannot."""
    if not inspect.iscoroutinefunction(route.endpoint) or route.dependencies:
        return None
    hints = typing.get_type_hints(route.endpoint, include_extras=True)
    names: Names = {}
    for name, parameter in inspect.signature(route.endpoint).parameters.items():
        if hints[name] in _FOUND:
            names[name] = hints[name]
        elif not _may_be_left_out(parameter.default, hints[name]):
            return None
    return names


def _may_be_left_out(default: Any, hint: Any) -> bool:
    """Is it of the query or the body, with a default? Headers come with every request."""
    declared = [default, *typing.get_args(hint)]
    if any(isinstance(each, (params.Header, params.Cookie)) for each in declared):
        return False
    return default is not inspect.Parameter.empty and not isinstance(default, FieldInfo)


def _has_body(scope: Scope) -> bool:
    return any(
        name == b"transfer-encoding" or (name == b"content-length" and value != b"0")
        for name, value in scope["headers"]
    )


def _find(service: Debugger, wanted: Any, scope: Scope) -> Debugger | Session:
    if wanted == ServiceHere:
        return service
    session_id = scope["path_params"]["session_id"]
    is_operation = wanted in (SessionHere, ProgramHere)
    find = service.sessions.get if is_operation else service.sessions.peek
    session = find(session_id)
    return session.program if wanted in (ProgramHere, ProgramSeen) else session
