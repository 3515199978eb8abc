"""The OpenAPI document, made from the signatures of the routes and the types in them."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Annotated, Any

import msgspec
from starlette.responses import Response

from holdfast.model.version import VERSION
from holdfast.server.error_answers import ErrorAnswer, FlatErrorAnswer
from holdfast.server.route_table import Media, Route
from holdfast.wire import rest

Json = dict[str, Any]
_REFERENCE = "#/components/schemas/{name}"
_KINDS = "Which kind of target it is of: `program`, `calls` or `agent`."
PATH_MEANINGS = {
    "breakpoint_id": "The id of the breakpoint.",
    "call_id": "The id of the call.",
    "cid": "The content id of the value.",
    "frame_id": "The id of the frame; 0 is the innermost of the thread that stopped.",
    "hold_id": "The id of the hold.",
    "name": "The name of the profile.",
    "reference": "The reference of the scope or value.",
    "session_id": "The id of the session.",
    "thread_id": "The id of the thread.",
    "watch_id": "The id of the watch.",
}


def build_routes(listed: Sequence[Route], modules: Sequence[ModuleType]) -> list[Route]:
    """The routes that serve the document."""
    body = rest.encode(build_document(listed, modules))

    async def get_document() -> Response:
        return Response(body, media_type="application/json")

    return [Route(method, "/openapi.json", get_document) for method in ("GET", "HEAD")]


def build_document(listed: Sequence[Route], modules: Sequence[ModuleType]) -> Json:
    used = _collect_types(listed)
    schemas, components = msgspec.json.schema_components(
        used, schema_hook=_describe_any, ref_template=_REFERENCE
    )
    schema_of = {id(type_): schema for type_, schema in zip(used, schemas, strict=True)}
    for component in components.values():
        _describe_kind(component)
    paths: dict[str, Json] = {}
    for route in listed:
        operation = _build_operation(route, schema_of)
        paths.setdefault(route.path, {})[route.method.lower()] = operation
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
        "components": {"schemas": components},
    }


def _build_tag(module: ModuleType) -> Json:
    """The routes of one file belong together, and its first line says what they are for."""
    name = module.__name__.rpartition(".")[2].removesuffix("_routes")
    return {"name": name, "description": (module.__doc__ or "").splitlines()[0]}


# -- types ----------------------------------------------------------------------------------------


def _collect_types(listed: Iterable[Route]) -> list[Any]:
    found: dict[int, Any] = {id(type_): type_ for type_ in (ErrorAnswer, FlatErrorAnswer)}
    for route in listed:
        candidates = [*split_union(route.answer), *route.parameters.values()]
        if route.body is not None:
            candidates += split_union(route.body)
        found |= {id(type_): type_ for type_ in candidates if find_media(type_) is None}
    return list(found.values())


def split_union(type_: Any) -> list[Any]:
    """The members of a union; structs without a tag can only be described one by one."""
    is_union = typing.get_origin(type_) in (typing.Union, types.UnionType)
    return list(typing.get_args(type_)) if is_union else [type_]


def find_media(type_: Any) -> Media | None:
    """What an answer is that is no JSON."""
    if typing.get_origin(type_) is Annotated:
        return next((note for note in type_.__metadata__ if isinstance(note, Media)), None)
    return None


def _describe_any(type_: type) -> Json:
    """The schema of `object`: any JSON value."""
    if type_ is object:
        return {"description": "Any JSON value."}
    raise NotImplementedError


def _describe_kind(component: Json) -> None:
    """The tag that tells structs apart is no field, and has no description of its own."""
    kind = component.get("properties", {}).get("kind")
    if kind is not None and "description" not in kind:
        kind["description"] = _KINDS


# -- operations -----------------------------------------------------------------------------------


def _build_operation(route: Route, schema_of: dict[int, Json]) -> Json:
    name = route.function.__name__.rstrip("_")
    operation: Json = {
        "tags": [route.tag],
        "summary": name.replace("_", " ").capitalize(),
        "description": inspect.cleandoc(route.meaning),
        "operationId": f"{route.method.lower()}{route.path}",
        "parameters": _build_parameters(route, schema_of),
        "responses": {
            str(route.status): _build_response(route, schema_of),
            "default": {
                "description": "Any error, of every status from 400 up",
                "content": _json(
                    schema_of[id(FlatErrorAnswer if route.flat_errors else ErrorAnswer)]
                ),
            },
        },
    }
    if route.body is not None:
        schema = {"type": "string", "format": "binary"}
        if route.body is not bytes:
            schema = _join([schema_of[id(type_)] for type_ in split_union(route.body)])
        operation["requestBody"] = {
            "required": not route.is_body_optional,
            "content": {route.body_media: {"schema": schema}},
        }
    return operation


def _build_parameters(route: Route, schema_of: dict[int, Json]) -> list[Json]:
    parameters = [
        {
            "name": name,
            "in": "path",
            "required": True,
            "description": PATH_MEANINGS[name],
            "schema": schema_of[id(type_)],
        }
        for name, type_ in route.parameters.items()
    ]
    if route.query is not None:
        [_], components = msgspec.json.schema_components([route.query])
        schema = components[route.query.__name__]
        for name, field in schema["properties"].items():
            described = dict(field)
            parameters.append(
                {
                    "name": name,
                    "in": "query",
                    "required": name in schema.get("required", ()),
                    "description": described.pop("description"),
                    "schema": described,
                }
            )
    return parameters


def _build_response(route: Route, schema_of: dict[int, Json]) -> Json:
    media = find_media(route.answer)
    if media is not None:
        content = {media.type: {"schema": {"type": "string", "description": media.meaning}}}
        return {"description": media.meaning, "content": content}
    members = split_union(route.answer)
    meanings = [(inspect.getdoc(type_) or "").splitlines()[0] for type_ in members]
    schema = _join([schema_of[id(type_)] for type_ in members])
    return {"description": " Or: ".join(meanings), "content": _json(schema)}


def _join(schemas: list[Json]) -> Json:
    return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}


def _json(schema: Json) -> Json:
    return {"application/json": {"schema": schema}}
