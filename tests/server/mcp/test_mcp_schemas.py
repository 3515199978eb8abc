"""What a model reads before it has done anything: short, complete, fit for every client."""

from __future__ import annotations

import json
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import mcp_types
import msgspec
import pytest

from holdfast.server.mcp.prompts import INSTRUCTIONS
from holdfast.server.mcp.tool_schemas import build_tools
from holdfast.service.tools.tool_table import TOOLS

LISTED = build_tools()
MAX_BYTES = 12_000
MAX_DESCRIPTION = 2_000  # what Claude Code shows of one
names = pytest.mark.parametrize("name", LISTED)


def walk(schema: Any) -> list[dict[str, Any]]:
    """Every object inside of a schema."""
    if isinstance(schema, list):
        return [inner for one in schema for inner in walk(one)]
    if not isinstance(schema, dict):
        return []
    return [schema, *walk(list(schema.values()))]


def test_the_tools_and_instructions_are_small() -> None:
    listed = mcp_types.ListToolsResult(tools=list(LISTED.values()))
    size = len(listed.model_dump_json(by_alias=True, exclude_none=True).encode())
    assert size + len(INSTRUCTIONS.encode()) < MAX_BYTES
    assert len(INSTRUCTIONS) < MAX_DESCRIPTION


def test_the_first_tool_is_the_one_that_the_instructions_name_first() -> None:
    assert next(iter(LISTED)) == "debug_run"
    assert INSTRUCTIONS.index("debug_run") < 100


@names
def test_a_tool_is_described_within_the_limits_of_clients(name: str) -> None:
    tool = LISTED[name]
    assert 0 < len(tool.description or "") < MAX_DESCRIPTION
    assert len(f"holdfast:{name}") <= 60  # Cursor
    assert name.isidentifier()


@names
def test_a_schema_stands_by_itself(name: str) -> None:
    schema = LISTED[name].input_schema
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    for inner in walk(schema):
        assert not {"$ref", "$defs", "title", "pattern"} & set(inner)
        assert not isinstance(inner.get("type"), list)


# Listed with the first tool that takes them; the instructions say which others do.
COMMON = {"args", "env", "cwd", "python", "stdin", "show_secrets", "budget_tokens"}


@names
def test_a_schema_has_every_field_of_the_request(name: str) -> None:
    fields = msgspec.structs.fields(TOOLS[name].request)
    schema = LISTED[name].input_schema
    listed, taken = set(schema["properties"]), {field.encode_name for field in fields}
    assert listed <= taken
    assert taken - listed <= COMMON
    assert schema.get("required", []) == [one.encode_name for one in fields if one.required]


def test_what_is_listed_once_is_listed_first_and_named_in_the_instructions() -> None:
    first = LISTED["debug_run"].input_schema["properties"]
    assert set(first) >= COMMON
    assert all(first[name]["description"] and name in INSTRUCTIONS for name in COMMON)


def test_kinds_are_an_enum_in_place() -> None:
    kind = LISTED["debug_step"].input_schema["properties"]["kind"]
    assert kind["type"] == "string"
    assert {"over", "into", "out", "to_line", "return", "pause"} <= set(kind["enum"])


def test_annotations_say_what_a_tool_may_do() -> None:
    def read(name: str) -> dict[str, bool]:
        annotations = LISTED[name].annotations
        assert annotations is not None
        return json.loads(annotations.model_dump_json(by_alias=True, exclude_none=True))  # type: ignore[no-any-return]

    assert read("debug_sessions") == {"readOnlyHint": True, "openWorldHint": False}
    assert "readOnlyHint" not in read("debug_inspect")  # expressions run code
    assert "readOnlyHint" not in read("hold_list")
    assert read("debug_run") == {"destructiveHint": False}
    assert read("debug_stop") == {"destructiveHint": True, "openWorldHint": False}
