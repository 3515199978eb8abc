"""The table of routes: which function answers which request, and with what arguments.

A route is a function whose signature says everything. Its parameters are, in this order, what it
works on (`Debugger`, `Session`, `PeekedSession`, `ProgramTarget`…), the parts of its path, `query`
(a struct) and `body` (a struct). Its return annotation is the type of its answer. Signatures are
analysed once, when the server starts. A request then costs a dict lookup, a decode, one operation
and one encode.
"""

from __future__ import annotations

import inspect
import typing
from collections import defaultdict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from enum import Enum
from typing import Annotated, Any, TypeVar

from starlette.requests import ClientDisconnect, Request
from starlette.types import Message, Receive, Scope

from holdfast.server.request_parser import BodyParser, Problem, QueryParser, invalid
from holdfast.service.debugger import Debugger
from holdfast.service.session import Session

Handler = TypeVar("Handler", bound=Callable[..., Awaitable[Any]])
METHODS = ("GET", "POST", "PATCH", "DELETE")


class Access(Enum):
    """How a route gets the session in its path."""

    PEEK = "look, without keeping the session alive"
    PROGRAM = "work on a session that debugs a program"
    PEEK_PROGRAM = "look at a session that debugs a program"


PeekedSession = Annotated[Session, Access.PEEK]
"""The session, for reads that do not count as activity."""
ProgramTarget = Annotated[Session, Access.PROGRAM]
"""The session, which has to be one that debugs a program."""
PeekedProgram = Annotated[Session, Access.PEEK_PROGRAM]


@dataclass(frozen=True)
class Documented:
    """The type that documents a body which the operation itself checks."""

    type: Any


@dataclass(frozen=True)
class Media:
    """An answer that is no JSON. `messages` are the types of JSON inside a stream."""

    type: str
    meaning: str
    messages: tuple[Any, ...] = ()


@dataclass(slots=True)
class Incoming:
    """A request that is being handled."""

    debugger: Debugger
    scope: Scope
    parts: list[str]
    body: bytes


Reader = Callable[[Incoming], Any]


@dataclass(eq=False)
class Route:
    """A function, and how to call it. `parts` are those of its path; None stands for any text."""

    method: str
    path: str
    function: Callable[..., Awaitable[Any]]
    status: int = 200
    flat_errors: bool = False
    """Errors are flat objects, as applications that report calls know them."""
    at_once: bool = False
    """Its answer is written with one system call: an application waits for it in every call."""
    meaning: str = ""
    tag: str = ""
    parameters: dict[str, type] = field(default_factory=dict)
    query: Any = None
    body: Any = None
    """The type of the body in the OpenAPI document; None if there is none."""
    body_media: str = "application/json"
    is_body_optional: bool = False
    answer: Any = None
    reads_body: bool = False
    fixed: tuple[tuple[int, str], ...] = ()
    variable: tuple[int, ...] = ()
    _readers: tuple[Reader, ...] = ()

    async def call(self, incoming: Incoming) -> Any:
        return await self.function(*[read(incoming) for read in self._readers])

    def matches(self, parts: list[str]) -> bool:
        return all(parts[at] == text for at, text in self.fixed) and all(
            parts[at] for at in self.variable
        )


def build_route(route: Route, path: str) -> Route:
    """The route at this path, with its signature analysed."""
    parts = path[1:].split("/")
    names = {part[1:-1]: at for at, part in enumerate(parts) if part.startswith("{")}
    function = route.function
    hints = typing.get_type_hints(function, include_extras=True)
    built = Route(
        method=route.method,
        path=path,
        function=function,
        status=route.status,
        flat_errors=route.flat_errors,
        at_once=route.at_once,
        meaning=route.meaning or inspect.getdoc(function) or "",
        tag=route.tag,
        answer=hints["return"],
        fixed=tuple((at, part) for at, part in enumerate(parts) if not part.startswith("{")),
        variable=tuple(names.values()),
    )
    built.parameters = {name: hints.get(name, str) for name in names}
    built._readers = tuple(
        _build_reader(built, parameter, hints[name], names)
        for name, parameter in inspect.signature(function).parameters.items()
    )
    return built


def _build_reader(
    route: Route, parameter: inspect.Parameter, hint: Any, names: dict[str, int]
) -> Reader:
    name = parameter.name
    if hint is Debugger:
        return lambda incoming: incoming.debugger
    if hint is Request:
        return lambda incoming: Request(incoming.scope)
    if hint is Session or typing.get_args(hint)[:1] == (Session,):
        access = typing.get_args(hint)[1] if hint is not Session else None
        return _read_session(access, names["session_id"])
    if name in names:
        return _read_number(name, names[name]) if hint is int else _read_text(names[name])
    if name == "query":
        route.query = hint
        queries = QueryParser(hint)
        return lambda incoming: queries.parse(incoming.scope["query_string"])
    if name == "body":
        route.reads_body = True
        return _read_body(route, hint, parameter)
    raise TypeError(f"{route.method} {route.path}: nothing fills its parameter {name}")


def _read_session(access: Access | None, at: int) -> Reader:
    match access:
        case None:
            return lambda incoming: incoming.debugger.sessions.get(incoming.parts[at])
        case Access.PEEK:
            return lambda incoming: incoming.debugger.sessions.peek(incoming.parts[at])
        case Access.PROGRAM:
            return lambda incoming: incoming.debugger.sessions.get(incoming.parts[at]).program
        case Access.PEEK_PROGRAM:
            return lambda incoming: incoming.debugger.sessions.peek(incoming.parts[at]).program


def _read_text(at: int) -> Reader:
    return lambda incoming: incoming.parts[at]


def _read_number(name: str, at: int) -> Reader:
    def read(incoming: Incoming) -> int:
        try:
            return int(incoming.parts[at])
        except ValueError:
            raise invalid([Problem((name,), "a whole number is expected")]) from None

    return read


def _read_body(route: Route, hint: Any, parameter: inspect.Parameter) -> Reader:
    """Reads a struct, with its default where there is no body; or what the operation checks."""
    if typing.get_origin(hint) is Annotated:
        plain, documented = typing.get_args(hint)
        if isinstance(documented, Media):
            route.body, route.body_media = bytes, documented.type
        else:
            route.body = documented.type
        if plain is bytes:
            return lambda incoming: incoming.body
        hint = plain
    else:
        route.body = hint
    parser = BodyParser(hint)
    default = parameter.default
    if default is not inspect.Parameter.empty:
        route.is_body_optional = True
        return lambda incoming: parser.parse(incoming.body) or default

    def read(incoming: Incoming) -> Any:
        body = parser.parse(incoming.body)
        if body is None:
            raise invalid([Problem((), "a body is needed")])
        return body

    return read


class RouteList:
    """The routes of one subject, below a prefix."""

    def __init__(self, prefix: str = "") -> None:
        self.prefix = prefix
        self.routes: list[Route] = []

    def get(self, path: str, **options: Any) -> Callable[[Handler], Handler]:
        return self._add("GET", path, options)

    def post(self, path: str, **options: Any) -> Callable[[Handler], Handler]:
        return self._add("POST", path, options)

    def patch(self, path: str, **options: Any) -> Callable[[Handler], Handler]:
        return self._add("PATCH", path, options)

    def delete(self, path: str, **options: Any) -> Callable[[Handler], Handler]:
        return self._add("DELETE", path, options)

    def _add(self, method: str, path: str, options: Any) -> Callable[[Handler], Handler]:
        def add(function: Handler) -> Handler:
            tag = function.__module__.rpartition(".")[2].removesuffix("_routes")
            self.routes.append(Route(method, path, function, tag=tag, **options))
            return function

        return add


class RouteTable:
    """Every route, found by its method and the shape of its path."""

    def __init__(self) -> None:
        self.routes: list[Route] = []
        self._by_shape: defaultdict[tuple[str, int, str | None], list[Route]] = defaultdict(list)

    def add(self, route: Route) -> None:
        self.routes.append(route)
        parts = route.path[1:].split("/")
        last = None if parts[-1].startswith("{") else parts[-1]
        self._by_shape[route.method, len(parts), last].append(route)

    def find(self, method: str, parts: list[str]) -> Route | None:
        shapes, count = self._by_shape, len(parts)
        for last in (parts[-1], None):
            for route in shapes.get((method, count, last), ()):
                if route.matches(parts):
                    return route
        return None

    def methods(self, parts: list[str]) -> list[str]:
        """The methods that a path allows."""
        return sorted(method for method in METHODS if self.find(method, parts))


async def read_body(receive: Receive) -> bytes:
    """The whole body of a request; ClientDisconnect if the rest of it never comes."""
    message: Message = await receive()
    chunks = [message.get("body", b"")]
    while message.get("more_body", False):
        message = await receive()
        chunks.append(message.get("body", b""))
    if message["type"] == "http.disconnect":
        raise ClientDisconnect
    return chunks[0] if len(chunks) == 1 else b"".join(chunks)
