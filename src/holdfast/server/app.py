"""The application: the service behind its routes, with one shape for every error."""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import ModuleType
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

import holdfast
from holdfast import errors
from holdfast.server.access_control import client_disconnected
from holdfast.server.error_answers import error_body, status_of
from holdfast.server.rest import (
    agent_directory_routes,
    agent_routes,
    breakpoint_routes,
    call_breakpoint_routes,
    call_record_routes,
    call_routes,
    event_routes,
    execution_routes,
    hold_routes,
    inspection_routes,
    management_routes,
    session_routes,
    stream_routes,
)
from holdfast.server.rest.shared import Answer
from holdfast.server.shortcuts import Shortcuts
from holdfast.service.debugger import Debugger

log = logging.getLogger(__name__)
_ROUTERS = (
    *(
        session_routes,
        execution_routes,
        breakpoint_routes,
        inspection_routes,
        stream_routes,
        hold_routes,
    ),
    *(
        call_routes,
        call_breakpoint_routes,
        call_record_routes,
        agent_routes,
        agent_directory_routes,
        event_routes,
        management_routes,
    ),
)
_PREFIX = "/api/v1"
# Holds and events are of every kind of session; calls keep the addresses that applications know.
_UNDER_API = (
    hold_routes,
    call_routes,
    call_breakpoint_routes,
    call_record_routes,
    agent_directory_routes,
    event_routes,
)


def create_app(service: Debugger) -> FastAPI:
    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        await service.start()
        try:
            yield
        finally:
            await service.close()

    app = FastAPI(
        title="Holdfast",
        version=holdfast.__version__,
        description=(
            "Debug Python programs, calls and agents over HTTP. Every route is also served under "
            "/api/v1. Errors are {error: {code, message, hint, details}, error_code}."
        ),
        lifespan=lifespan,
        openapi_tags=[_tag(module) for module in _ROUTERS],
        docs_url=None,
        redoc_url=None,
    )
    app.state.service = service
    shortcuts = Shortcuts()
    app.router.routes.insert(0, shortcuts)
    for module in _ROUTERS:
        prefix = "/api" if module in _UNDER_API else ""
        app.include_router(module.routes, prefix=prefix, tags=[_tag(module)["name"]])
        app.include_router(module.routes, prefix=_PREFIX, include_in_schema=False)
        shortcuts.add(prefix, module.routes.routes)
        shortcuts.add(_PREFIX, module.routes.routes)
    _answer_errors(app, shortcuts)
    _document_errors(app)
    return app


def _tag(module: ModuleType) -> dict[str, str]:
    """The routes of one file belong together, and its first line says what they are for."""
    described = (module.__doc__ or "").splitlines()[0]
    return {
        "name": module.__name__.rpartition(".")[2].removesuffix("_routes"),
        "description": described,
    }


_ERROR = {
    "description": "Any error, of every status from 400 up",
    "content": {
        "application/json": {
            "example": error_body(errors.SessionNotFound("no session sess_1", id="sess_1"))
        }
    },
}


def _document_errors(app: FastAPI) -> None:
    """The framework's own 422 is never given: errors have one shape, and it is said with each."""
    described = app.openapi

    def openapi() -> dict[str, Any]:
        document = described()
        for operations in document["paths"].values():
            for operation in operations.values():
                operation["responses"].pop("422", None)
                operation["responses"].setdefault("default", _ERROR)
        for name in ("HTTPValidationError", "ValidationError"):
            document["components"]["schemas"].pop(name, None)
        return document

    app.openapi = openapi  # type: ignore[method-assign]


def _answer_errors(app: FastAPI, shortcuts: Shortcuts) -> None:
    """Every way to fail, said in the same shape."""

    @app.exception_handler(errors.HoldfastError)
    async def known(_request: Request, error: errors.HoldfastError) -> Answer:
        reference = None
        if isinstance(error, errors.Failure) or status_of(error) == 500:
            reference = secrets.token_hex(4)
            log.error("%s: %s", reference, error.message)
        return Answer(error_body(error, reference), status_of(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(_request: Request, error: RequestValidationError) -> Answer:
        return Answer(error_body(_invalid(error)), 400)

    @app.exception_handler(HTTPException)
    async def plain(request: Request, error: HTTPException) -> Answer:
        problem = _plain(request, error, shortcuts)
        answer = Answer(error_body(problem), error.status_code)
        if error.status_code == 405:
            answer.headers["allow"] = ", ".join(problem.details["allowed"])
        return answer

    @app.exception_handler(RecursionError)
    async def too_deep(_request: Request, _error: RecursionError) -> Answer:
        problem = errors.InvalidInput("the body is nested too deeply", field="body")
        return Answer(error_body(problem), 400)

    app.add_middleware(Unfailing)


class Unfailing:
    """What nobody foresaw is answered here: let out, it would cost the client its connection."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        started = False

        async def watched(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, receive, watched)
        except Exception as error:
            if scope["type"] == "http" and client_disconnected(scope):
                return  # who asked has hung up: there is nobody to tell
            if started or scope["type"] != "http":
                raise
            await _unforeseen(scope, error)(scope, receive, send)


def _unforeseen(scope: Scope, error: Exception) -> Answer:
    reference = secrets.token_hex(4)
    asked = f"{scope['method']} {scope['path']}"
    log.error("%s: %s", reference, asked, exc_info=error)
    problem = errors.HoldfastError(
        f"the server failed to answer {asked}", reason=type(error).__name__
    )
    return Answer(error_body(problem, reference), 500)


def _invalid(error: RequestValidationError) -> errors.InvalidInput:
    """What is wrong with a body or query, field by field."""
    problems: list[dict[str, Any]] = []
    for each in error.errors():
        place = _place(each["loc"], error.body, each["type"])
        message = str(each["msg"]).removeprefix("Value error, ")
        if each["type"] == "json_invalid":  # its place is a position in the text, not a field
            place, message = [], f"not JSON: {each['ctx']['error']} at position {each['loc'][-1]}"
        problems.append({"field": ".".join(place) or "body", "message": message})
    first = problems[0] if problems else {"field": "body", "message": "invalid"}
    return errors.InvalidInput(
        f"{first['field']}: {first['message']}", field=first["field"], problems=problems
    )


def _place(loc: tuple[str | int, ...], body: Any, kind: str) -> list[str]:
    """The way to what is wrong, without the names that a choice of types puts into it."""
    where, *parts = loc
    if where != "body":
        return [str(part) for part in parts]
    found: list[str] = []
    here = body
    for part in parts:
        if isinstance(here, dict) and part in here:
            here = here[str(part)]
        elif isinstance(here, list) and isinstance(part, int) and part < len(here):
            here = here[part]
        elif not (kind == "missing" and part == parts[-1]):
            continue
        found.append(str(part))
    return found


def _plain(request: Request, error: HTTPException, shortcuts: Shortcuts) -> errors.HoldfastError:
    path = request.url.path
    if error.status_code == 404:
        return errors.NotFound(f"no route {path}", path=path)
    if error.status_code == 405:
        return errors.NotAllowed(
            f"{request.method} is not possible at {path}",
            method=request.method,
            allowed=shortcuts.methods(path),
        )
    if isinstance(error.__cause__, RecursionError):
        return errors.InvalidInput("the body is nested too deeply", field="body")
    return errors.InvalidInput(str(error.detail), field="body")
