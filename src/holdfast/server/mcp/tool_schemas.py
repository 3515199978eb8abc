"""What agents are told of the tools: their descriptions and the schemas of what they take.

A model reads all of it before it has done anything, so it is short. A schema stands by itself,
because not every client follows references. There is none for the answers: each is described by
itself, and five copies of the report's schema would be longer than all the rest.
"""

from __future__ import annotations

import inspect
import types
from collections.abc import Mapping
from typing import Any

import mcp_types

from holdfast.server.json_schema import Json, SchemaBuilder
from holdfast.service.tools.tool_table import TOOLS, Tool

_LEFT_OUT = ("pattern", "minLength", "maxLength", "minimum", "maximum")
"""Constraints that a model keeps without being told. A request that breaks one is refused."""


_LISTED_ONCE = ("args", "env", "cwd", "python", "stdin", "show_secrets")
"""Fields that are listed with the first tool that takes them. The instructions say so."""
_BUDGETED = ("run", "continue", "step", "inspect", "trace", "why", "diff")
"""The tools `debug_…` whose answers may be long. The others take `budget_tokens`, too."""


class _ToolSchemaBuilder(SchemaBuilder):
    """Builds schemas without references, titles, and defaults that say nothing."""

    def describe(self, type_: Any) -> Json:
        fields = super().describe(type_)
        schema: Json = {"type": "object", "properties": fields["properties"]}
        if fields["required"]:
            schema["required"] = fields["required"]
        for one in schema["properties"].values():
            if not one.get("default"):  # nothing, or no
                one.pop("default", None)
        return schema

    def _refer(self, type_: Any) -> Json:
        """An object inside of another. The names of its fields have to do, and are said in words.

        Those that are objects themselves are another form of what a plain field says."""
        fields = self.describe(type_)["properties"]
        names = ", ".join(name for name, one in fields.items() if one.get("type") != "object")
        return {"type": "object", "description": f"Any of {names}."}

    def _build_annotated(self, type_: Any, *notes: Any) -> Json:
        schema = super()._build_annotated(type_, *notes)
        return {word: value for word, value in schema.items() if word not in _LEFT_OUT}

    def _build_union(self, choices: list[Any]) -> Json:
        """Null means that a field is left out, which needs no words."""
        return super()._build_union([one for one in choices if one is not types.NoneType])

    def _build_generic(self, origin: Any, arguments: tuple[Any, ...]) -> Json:
        if origin in (dict, Mapping):
            return {"type": "object"}
        schema = super()._build_generic(origin, arguments)
        if origin is list:
            _drop_text_description(schema["items"])
        if "enum" in schema:
            schema = {"type": "string", **schema}
        return schema


def _drop_text_description(items: Json) -> None:
    """What the texts of a list mean is said of the list."""
    for one in (items, *items.get("anyOf", ())):
        if one.get("type") == "string":
            one.pop("description", None)


def build_tools() -> dict[str, mcp_types.Tool]:
    """The tools as `tools/list` shows them, in its order."""
    explained: dict[str, Json] = {}
    return {tool.name: _build_tool(tool, explained) for tool in TOOLS.values()}


def _build_input_schema(tool: Tool, explained: dict[str, Json]) -> Json:
    """What a tool takes. A field that an earlier tool has, too, is explained there only."""
    schema = _ToolSchemaBuilder().describe(tool.request)
    fields = schema["properties"]
    for name, field in list(fields.items()):
        _drop_repeated(field, explained)
        first = explained.setdefault(f"{name}: {field.get('description')}", field)
        if first is not field and name in _LISTED_ONCE:
            del fields[name]
        elif first is not field:
            fields[name] = {
                word: value
                for word, value in field.items()
                if word in ("type", "items", "anyOf", "enum") or value != first.get(word)
            }
    budget = fields.pop("budget_tokens")
    if tool.name.removeprefix("debug_") in _BUDGETED:
        fields["budget_tokens"] = budget  # not what a model should read first
    return schema


def _drop_repeated(field: Json, explained: dict[str, Json]) -> None:
    """What the objects of a list have is said once."""
    for one in field.get("items", {}).get("anyOf", ()):
        meaning = one.get("description")
        if meaning is not None and explained.setdefault(meaning, one) is not one:
            del one["description"]


def _build_tool(tool: Tool, explained: dict[str, Json]) -> mcp_types.Tool:
    return mcp_types.Tool(
        name=tool.name,
        description=inspect.getdoc(tool.request),
        input_schema=_build_input_schema(tool, explained),
        annotations=_build_annotations(tool),
    )


def _build_annotations(tool: Tool) -> mcp_types.ToolAnnotations:
    """What the protocol does not take for granted: it assumes that a tool changes things and
    reaches the outside world."""
    return mcp_types.ToolAnnotations(
        read_only_hint=True if tool.is_readonly else None,
        destructive_hint=None if tool.is_readonly else tool.is_destructive,
        open_world_hint=None if tool.is_open_world else False,
    )
