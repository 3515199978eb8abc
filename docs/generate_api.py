"""Writes docs/api.md: `python docs/generate_api.py`.

It is made from the table of routes and the types in it. The examples in it are answers of a real
server. `python docs/generate_api.py --capture` asks one for them again (`api_examples.py`) and
keeps them in `api_examples.json`. With `--document` it writes web/openapi.json instead, which the
types of the web page are made from.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from holdfast.server import openapi
from holdfast.server.app import ROUTE_MODULES, build_table

Json = dict[str, Any]
ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "api.md"
EXAMPLES = ROOT / "docs" / "api_examples.json"
DOCUMENT = ROOT / "web" / "openapi.json"
_WIDTH = 90
_HEAD = """\
# The HTTP interface

`docs/generate_api.py` makes this page from the types of the routes; do not edit it. The examples
are answers of a real server. `GET /openapi.json` describes the same for programs.

Every route is also served under `/api/v1`. Bodies and answers are JSON (`Content-Type:
application/json`). A request that makes a program run takes `wait`, in seconds or `true`: then its
answer is the next stop, the end, or `running` when time is up, and asking again loses nothing.
Steps wait by default. An answer that says `paused` carries the location and the reason, and what
`include` names out of `source`, `locals`, `stack` and `output` (by default `source,locals`); the
values of the session's watches come with it. One request leads from nothing to a stop: `POST
/sessions` takes `launch`, `breakpoints` and `exception_filters`.

`output` is what the run wrote and no answer of it has shown yet: at most 64 KB of it, the newest,
in at most 1,000 entries. `output_counts` says how much there was, `output_bytes` asks for more.
Clients that share a session pass `output_since`, the `output_cursor` of their own last answer.

Every error has this shape; `hint` says what to do next:

```json
{"error": {"code": "…", "message": "…", "hint": "…", "details": {}}, "error_code": "…"}
```

400 is a bad body, with its field; 404 an unknown id; 409 a wrong state, with what is possible now;
504 a time that ran out. The routes under `/api/call` and `/api/poll` answer with flat errors:
`error` is the short name, and the details are its siblings.
"""
_EVENTS_HEAD = """\
## Events

Every event belongs to a session and has the fields below. `GET /api/events` and `GET
/sessions/{session_id}/events` list events; `types` chooses some by their names. What a program
writes is no event: `GET /sessions/{session_id}/output` has it. A server of another version may send
other types and fields: ignore those that you do not know.
"""
_KIND_HEADS = {
    "ProgramEvent": """\
### Events of programs

An event of a program has the fields of its type beside those that every event has.
""",
    "CallEvent": """\
### Events of calls

An event of an application's calls has the fields of its type beside those that every event has.
""",
    "AgentEvent": """\
### Events of agents

An event of an agent has the fields of its type in `data`. Where a field takes any JSON, a value
above 64 KB is an object instead: `$cid` is its content id, `size` the number of its bytes, and
`preview` how it begins. `GET /sessions/{session_id}/contents/{cid}` has all of it.
""",
}
_TYPES_HEAD = """\
## Types

The types of bodies and answers that the routes name. A field that is not always there says so.
"""


def build_document() -> Json:
    return openapi.build_document(build_table()[1], ROUTE_MODULES)


def load_examples() -> Json:
    examples: Json = json.loads(EXAMPLES.read_text(encoding="utf-8"))
    return examples


# -- the page -------------------------------------------------------------------------------------


def render_page(document: Json, examples: Json) -> str:
    parts = [_HEAD]
    for tag in document["tags"]:
        name = tag["name"].replace("_", " ").capitalize()
        parts.append(f"## {name}\n\n{tag['description']}\n")
        parts += [
            _render_route(f"{method.upper()} {path}", operation, document, examples)
            for path, methods in document["paths"].items()
            for method, operation in methods.items()
            if tag["name"] in operation["tags"]
        ]
    parts += _render_events(document)
    parts.append(_TYPES_HEAD)
    schemas = document["components"]["schemas"]
    events = {"Event", *_list_choices(schemas)}
    events |= {name for names in _list_choices(schemas).values() for name in names}
    linked = [name for name in _list_linked(document) if name not in events]
    parts += [_render_type(name, schemas[name]) for name in linked]
    return "\n".join(parts)


def _list_choices(schemas: Json) -> dict[str, list[str]]:
    """The schemas of events: those of each kind of session by the name of their choice."""
    kinds = [_name_of(choice) for choice in schemas["Event"]["anyOf"]]
    return {kind: [_name_of(choice) for choice in schemas[kind]["oneOf"]] for kind in kinds}


def _name_of(reference: Json) -> str:
    return str(reference["$ref"].rpartition("/")[2])


def _list_linked(document: Json) -> list[str]:
    """The types that something links to: not those of bodies, which their routes list."""
    responses = [
        operation["responses"]
        for methods in document["paths"].values()
        for operation in methods.values()
    ]
    text = json.dumps([responses, document["components"]])
    return sorted(set(re.findall(r'"#/components/schemas/(\w+)"', text)))


def _render_route(route: str, operation: Json, document: Json, examples: Json) -> str:
    lines = [f"### {route}", "", operation["description"], ""]
    if operation["parameters"]:
        lines += ["| parameter | in | type | default | meaning |", "|---|---|---|---|---|"]
        lines += [_render_parameter(parameter) for parameter in operation["parameters"]]
        lines.append("")
    if "requestBody" in operation:
        lines += [*_render_body(operation["requestBody"], document), ""]
    [status] = [status for status in operation["responses"] if status != "default"]
    response = operation["responses"][status]
    [(media, content)] = response["content"].items()
    if media == "application/json":
        kind = _render_schema(content["schema"])
        lines += [f"Answers {status} with {kind}. {response['description']}", ""]
    else:
        lines += [f"Answers {status} with `{media}`. {response['description']}", ""]
    example = examples.get(route)
    if example is not None:
        lines += _render_example(example)
    return "\n".join(lines)


def _render_parameter(parameter: Json) -> str:
    schema = parameter["schema"]
    default = "required" if parameter["required"] else _render_default(schema)
    cells = (
        f"`{parameter['name']}`",
        parameter["in"],
        _render_schema(schema),
        default,
        parameter["description"],
    )
    return _render_row(*cells)


def _render_body(body: Json, document: Json) -> Iterator[str]:
    """The fields of the body; of a choice of types, of the first one that is an object."""
    [(media, content)] = body["content"].items()
    schema = content["schema"]
    if media != "application/json":
        yield f"The body is `{media}`."
        return
    choices = schema.get("anyOf", [schema])
    named = next(choice["$ref"] for choice in choices if "$ref" in choice).rpartition("/")[2]
    component = document["components"]["schemas"][named]
    others = "".join(f" Or: {_render_schema(other)}." for other in choices if "$ref" not in other)
    optional = "" if body["required"] else " The body may be left out."
    yield f"Body: {component['description']}{others}{optional}"
    yield ""
    yield "| field | type | default | meaning |"
    yield "|---|---|---|---|"
    for name, field in component["properties"].items():
        is_required = name in component.get("required", ())
        default = "required" if is_required else _render_default(field)
        meaning = field.get("description", "")
        yield _render_row(f"`{name}`", _render_schema(field), default, meaning)


def _render_type(name: str, schema: Json) -> str:
    fields = _render_fields(schema.get("properties", {}), schema.get("required", ()))
    return "\n".join([f"### {name}", "", schema["description"], "", *fields, ""])


def _render_fields(fields: Json, required: Sequence[str]) -> Iterator[str]:
    yield "| field | type | there | meaning |"
    yield "|---|---|---|---|"
    for field, described in fields.items():
        there = "always" if field in required or "default" in described else "sometimes"
        meaning = described.get("description", "")
        yield _render_row(f"`{field}`", _render_schema(described), there, meaning)


def _render_events(document: Json) -> Iterator[str]:
    """What all events have, then each type: when it is sent, and its own fields."""
    schemas = document["components"]["schemas"]
    choices = _list_choices(schemas)
    everywhere = _list_common_fields(schemas, choices)
    yield "\n".join([_EVENTS_HEAD, *_render_fields(everywhere, list(everywhere)), ""])
    for kind, names in choices.items():
        yield _KIND_HEADS[kind]
        for name in names:
            yield _render_event(schemas[name], everywhere)


def _list_common_fields(schemas: Json, choices: dict[str, list[str]]) -> Json:
    """The fields that every event has; their types are named by words."""
    events = [schemas[name]["properties"] for names in choices.values() for name in names]
    common = {
        field: described
        for field, described in events[0].items()
        if all(field in event for event in events)
    }
    for field in ("event", "type"):
        common[field] = {"type": "string", "description": common[field]["description"]}
    return common


def _render_event(schema: Json, everywhere: Json) -> str:
    [event] = schema["properties"]["event"]["enum"]
    body = schema["properties"].get("data")
    if body is None:
        # One type of event may give a field that all have another meaning.
        fields = {
            field: described
            for field, described in schema["properties"].items()
            if field not in ("event", "type") and everywhere.get(field) != described
        }
    else:
        fields = body["properties"]
    lines = [f"#### {event}", "", schema["description"], ""]
    if fields:
        lines += [*_render_fields(fields, (body or schema)["required"]), ""]
    return "\n".join(lines)


def _render_row(*cells: str) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _render_default(schema: Json) -> str:
    if "default" not in schema:
        return "left out"
    return f"`{json.dumps(schema['default'], ensure_ascii=False)}`"


_SCALARS = {"integer": "whole number", "number": "number", "string": "text", "boolean": "boolean"}
_BOUNDS = {
    "minimum": "at least",
    "maximum": "at most",
    "exclusiveMinimum": "above",
    "exclusiveMaximum": "below",
    "minLength": "length at least",
    "maxLength": "length at most",
}


def _render_schema(schema: Json) -> str:
    """A type in words."""
    if "$ref" in schema:
        name = _name_of(schema)
        return f"[{name}](#{'events' if name == 'Event' else name.lower()})"
    if "anyOf" in schema:
        choices = [_render_schema(choice) for choice in schema["anyOf"]]
        return " or ".join(sorted(dict.fromkeys(choices), key=lambda choice: choice == "null"))
    if "enum" in schema:
        names = [f"`{value}`" for value in schema["enum"] if value is not None]
        return " or ".join([*names, *(["null"] if None in schema["enum"] else [])])
    kind = schema.get("type")
    if kind == "array":
        if "prefixItems" in schema:
            return f"list of {len(schema['prefixItems'])}"
        return f"list of {_render_schema(schema['items'])}" if schema.get("items") else "list"
    if kind == "object":
        values = schema.get("additionalProperties")
        if isinstance(values, dict) and values:
            return f"object of {_render_schema(values)}"
        return "object"
    if kind is None:
        return "any JSON"
    bounds = [f"{word} {schema[name]:g}" for name, word in _BOUNDS.items() if name in schema]
    return str(_SCALARS.get(kind, kind)) + (f" ({', '.join(bounds)})" if bounds else "")


def _render_example(example: Json) -> list[str]:
    lines = []
    if example.get("query"):
        lines += ["```text", f"?{example['query']}", "```", ""]
    if "request" in example:
        lines += ["```jsonc", f"// request\n{_render_json(example['request'])}", "```", ""]
    return [*lines, "```jsonc", f"// answer\n{_render_json(example['answer'])}", "```", ""]


def _render_json(value: Any, indent: str = "") -> str:
    """JSON in as few lines as fit the page."""
    if isinstance(value, str) and not indent:  # an answer that is no JSON, such as a stream
        return value.rstrip()
    flat = json.dumps(value, ensure_ascii=False)
    if len(indent + flat) <= _WIDTH or not isinstance(value, (dict, list)):
        return flat
    deeper = indent + "  "
    if isinstance(value, dict):
        begin, end = "{}"
        entries = [
            (f"{json.dumps(name, ensure_ascii=False)}: ", item) for name, item in value.items()
        ]
    else:
        begin, end = "[]"
        entries = [("", item) for item in value]
    lines = [deeper + name + _render_json(item, deeper) for name, item in entries]
    return begin + "\n" + ",\n".join(lines) + "\n" + indent + end


def main() -> None:
    if "--document" in sys.argv:
        DOCUMENT.write_text(json.dumps(build_document()), encoding="utf-8")
        return
    if "--capture" in sys.argv:
        from api_examples import capture_examples

        examples = dict(sorted(capture_examples().items()))
        text = json.dumps(examples, indent=1, ensure_ascii=False)
        EXAMPLES.write_text(text + "\n", encoding="utf-8")
    document = build_document()
    PAGE.write_text(render_page(document, load_examples()), encoding="utf-8")


if __name__ == "__main__":
    main()
