"""Finding the route by the shape of the path.

Starlette tries one route after the other. With ours, twice (plain and under `/api/v1`), that was
two thirds of what a request cost. Here a path is looked up by its method, its depth and its last
part, which leaves one or two to try. What is not found here goes the usual way, so that redirects
and the answers 404 and 405 stay Starlette's.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from fastapi.routing import APIRoute
from starlette.datastructures import URLPath
from starlette.routing import BaseRoute, Match, NoMatchFound, compile_path
from starlette.types import Receive, Scope, Send

Shape = tuple[str, int, str | None]
"""Method, depth, and the last part (None: anything)."""


class Shortcuts(BaseRoute):
    """Stands first in an application's list of routes."""

    def __init__(self) -> None:
        self._by_shape: defaultdict[Shape, list[tuple[re.Pattern[str], APIRoute]]]
        self._by_shape = defaultdict(list)

    def add(self, prefix: str, routes: Iterable[BaseRoute]) -> None:
        for route in routes:
            if isinstance(route, APIRoute) and ":" not in route.path:  # no converters but text
                path = prefix + route.path
                pattern = compile_path(path)[0]
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

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        route: APIRoute = scope["route"]
        await route.handle(scope, receive, send)

    def url_path_for(self, name: str, /, **path_params: Any) -> URLPath:
        raise NoMatchFound(name, path_params)


def _child(route: APIRoute, parameters: dict[str, str]) -> Scope:
    return {"endpoint": route.endpoint, "path_params": parameters, "route": route}
