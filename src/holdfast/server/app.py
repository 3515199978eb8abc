"""The application: the service behind its routes, with one shape for every error."""

from __future__ import annotations

import logging
import secrets
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from starlette.exceptions import HTTPException

import holdfast
from holdfast import errors
from holdfast.server.answers import error_body, status_of
from holdfast.server.rest import breakpoints, execution, inspection, management, sessions, streams
from holdfast.server.rest.common import Answer
from holdfast.service.service import Service

log = logging.getLogger(__name__)
_ROUTERS = (sessions, execution, breakpoints, inspection, streams, management)
_PREFIX = "/api/v1"


def create_app(service: Service) -> FastAPI:
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
            "Debug Python programs over HTTP. Every route is also served under /api/v1. "
            "Errors are {error: {code, message, hint, details}, error_code}."
        ),
        lifespan=lifespan,
        docs_url=None,
        redoc_url=None,
    )
    app.state.service = service
    for module in _ROUTERS:
        app.include_router(module.routes)
        app.include_router(module.routes, prefix=_PREFIX, include_in_schema=False)
    _answer_errors(app)
    return app


def _answer_errors(app: FastAPI) -> None:
    """Every way to fail, said in the same shape."""

    @app.exception_handler(errors.HoldfastError)
    async def known(_request: Request, error: errors.HoldfastError) -> Answer:
        reference = None
        if status_of(error) == 500:
            reference = secrets.token_hex(4)
            log.error("%s: %s", reference, error.message)
        return Answer(error_body(error, reference), status_of(error))

    @app.exception_handler(RequestValidationError)
    async def invalid(_request: Request, error: RequestValidationError) -> Answer:
        return Answer(error_body(_invalid(error)), 400)

    @app.exception_handler(HTTPException)
    async def plain(request: Request, error: HTTPException) -> Answer:
        return Answer(error_body(_plain(request, error)), error.status_code)

    @app.exception_handler(RecursionError)
    async def too_deep(_request: Request, _error: RecursionError) -> Answer:
        problem = errors.InvalidInput("the body is nested too deeply", field="body")
        return Answer(error_body(problem), 400)

    @app.exception_handler(Exception)
    async def unknown(request: Request, error: Exception) -> Answer:
        reference = secrets.token_hex(4)
        log.exception("%s: %s %s", reference, request.method, request.url.path, exc_info=error)
        problem = errors.HoldfastError(
            f"the server failed to answer {request.method} {request.url.path}",
            reason=type(error).__name__,
        )
        return Answer(error_body(problem, reference), 500)


def _invalid(error: RequestValidationError) -> errors.InvalidInput:
    """What is wrong with a body or query, field by field."""
    problems: list[dict[str, Any]] = []
    for each in error.errors():
        place = [str(part) for part in each["loc"] if part not in ("body", "query", "path")]
        message = str(each["msg"]).removeprefix("Value error, ")
        problems.append({"field": ".".join(place) or "body", "message": message})
    first = problems[0] if problems else {"field": "body", "message": "invalid"}
    return errors.InvalidInput(
        f"{first['field']}: {first['message']}", field=first["field"], problems=problems
    )


def _plain(request: Request, error: HTTPException) -> errors.HoldfastError:
    path = request.url.path
    if error.status_code == 404:
        return errors.NotFound(f"no route {path}", path=path)
    if error.status_code == 405:
        return errors.InvalidInput(
            f"{request.method} is not possible at {path}",
            hint="GET /openapi.json lists the routes and their methods.",
            method=request.method,
        )
    return errors.InvalidInput(str(error.detail), field="body")
