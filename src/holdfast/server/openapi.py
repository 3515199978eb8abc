"""The OpenAPI document, made from the signatures of the routes and the types in them."""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Sequence
from types import ModuleType
from typing import Any, get_args

from starlette.responses import Response

from holdfast.model.version import VERSION
from holdfast.server.error_answers import ErrorAnswer, FlatErrorAnswer
from holdfast.server.event_schemas import add_event_schemas
from holdfast.server.json_schema import SchemaBuilder
from holdfast.server.route_table import Documented, Media, Route
from holdfast.wire import rest

Json = dict[str, Any]
PATH_MEANINGS = {
    "breakpoint_id": "The id of the breakpoint.",
    "call_id": "The id of the call.",
    "capture_id": "The id of the capture, the beginning of it, or `latest`.",
    "cid": "The content id of the value.",
    "frame_id": "The id of the frame; 0 is the innermost of the thread that stopped.",
    "hold_id": "The id of the hold.",
    "key": "The key of the call in its recording.",
    "name": "The name of the profile.",
    "reference": "The reference of the scope or value.",
    "session_id": "The id of the session.",
    "thread_id": "The id of the thread.",
    "trace_id": "The id of the recording, the beginning of it, or `latest`.",
    "watch_id": "The id of the watch.",
}


def build_routes(listed: Sequence[Route], modules: Sequence[ModuleType]) -> list[Route]:
    """The routes that serve the document, which is built for the first who asks."""

    @functools.cache
    def encode_document() -> bytes:
        return rest.encode(build_document(listed, modules))

    async def get_document() -> Response:
        body = await asyncio.to_thread(encode_document)
        return Response(body, media_type="application/json")

    return [Route(method, "/openapi.json", get_document) for method in ("GET", "HEAD")]


def build_document(listed: Sequence[Route], modules: Sequence[ModuleType]) -> Json:
    schemas = SchemaBuilder()
    paths: dict[str, Json] = {}
    for route in listed:
        operation = _build_operation(route, schemas)
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    add_event_schemas(schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Holdfast",
            "version": VERSION,
            "description": "Debug Python programs, calls and agents over HTTP. Every route is "
            "also served under /api/v1. Errors are "
            "{error: {code, message, hint, details}, error_code}.",
        },
        "tags": [_build_tag(module) for module in modules],
        "paths": paths,
        "components": {"schemas": schemas.components},
    }


def _build_tag(module: ModuleType) -> Json:
    """The routes of one file belong together, and its first line says what they are for."""
    name = module.__name__.rpartition(".")[2].removesuffix("_routes")
    return {"name": name, "description": (module.__doc__ or "").splitlines()[0]}


# -- operations -----------------------------------------------------------------------------------


def _build_operation(route: Route, schemas: SchemaBuilder) -> Json:
    name = route.function.__name__.rstrip("_")
    error = FlatErrorAnswer if route.flat_errors else ErrorAnswer
    operation: Json = {
        "tags": [route.tag],
        "summary": name.replace("_", " ").capitalize(),
        "description": inspect.cleandoc(route.meaning),
        "operationId": f"{route.method.lower()}{route.path}",
        "parameters": _build_parameters(route, schemas),
        "responses": {
            str(route.status): _build_response(route, schemas),
            "default": {
                "description": "Any error, of every status from 400 up",
                "content": {"application/json": {"schema": schemas.build(error)}},
            },
        },
    }
    if route.body is not None:
        operation["requestBody"] = {
            "required": not route.is_body_optional,
            "content": {route.body_media: {"schema": schemas.build(route.body)}},
        }
    return operation


def _build_parameters(route: Route, schemas: SchemaBuilder) -> list[Json]:
    parameters = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": PATH_MEANINGS[name],
            "schema": schemas.build(type_),
        }
        for name, type_ in route.parameters.items()
    ]
    if route.query is not None:
        query = schemas.describe(route.query)
        parameters += [
            {
                "name": name,
                "in": "query",
                "required": name in query["required"],
                "description": schema.pop("description"),
                "schema": schema,
            }
            for name, schema in query["properties"].items()
        ]
    return parameters


def _build_response(route: Route, schemas: SchemaBuilder) -> Json:
    media = next((note for note in get_args(route.answer) if isinstance(note, Media)), None)
    if media is not None:
        for message in media.messages:
            schemas.build(message)
        content = {media.type: {"schema": {"type": "string", "format": "binary"}}}
        return {"description": media.meaning, "content": content}
    notes = [note.type for note in get_args(route.answer) if isinstance(note, Documented)]
    answer = notes[0] if notes else route.answer
    members = get_args(answer) or (answer,)
    meanings = [(inspect.getdoc(type_) or "").splitlines()[0] for type_ in members]
    content = {"application/json": {"schema": schemas.build(answer)}}
    return {"description": " Or: ".join(meanings), "content": content}
