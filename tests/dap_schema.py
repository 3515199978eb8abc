"""Checks messages against the schema of the Debug Adapter Protocol, which debugpy brings along.

Each message is checked as `<Command>Request`, `<Command>Response` or `<Event>Event`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import debugpy
import fastjsonschema

_FILE = "_vendored/pydevd/_pydevd_bundle/_debug_adapter/debugProtocol.json"
# Newer than the schema.
_UNKNOWN = {"StartDebuggingRequest", "StartDebuggingResponse"}


@functools.cache
def _load() -> dict[str, Any]:
    document: dict[str, Any] = json.loads((Path(debugpy.__file__).parent / _FILE).read_text())
    # Both alternatives allow every object, so that none is ever the only one that fits.
    restarted = document["definitions"]["RestartArguments"]["properties"]["arguments"]
    restarted["anyOf"] = restarted.pop("oneOf")
    return document


@functools.cache
def _compile(name: str) -> Callable[[Any], Any]:
    check: Callable[[Any], Any] = fastjsonschema.compile(
        {**_load(), "$ref": f"#/definitions/{name}"}
    )
    return check


def _capitalize(name: str) -> str:
    return name[:1].upper() + name[1:]


def find_type(message: dict[str, Any]) -> str:
    """The definition that a message must fit."""
    if message["type"] == "event":
        return _capitalize(message["event"]) + "Event"
    if message["type"] == "response" and not message["success"]:
        return "ErrorResponse"
    return _capitalize(message["command"]) + _capitalize(message["type"])


def check_message(message: dict[str, Any]) -> None:
    """Fail if a message is not as the protocol wants it."""
    name = find_type(message)
    if name in _UNKNOWN:
        return
    assert name in _load()["definitions"], f"the protocol has no {name}: {message}"
    try:
        _compile(name)(message)
    except fastjsonschema.JsonSchemaValueException as problem:
        raise AssertionError(f"{name}: {problem.message}: {message}") from None
