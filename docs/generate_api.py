"""Writes docs/api.md and web/src/api-types.ts: `python docs/generate_api.py`.

Both are made from the table of routes and the types in it. The examples on the page are answers of
a real server. `python docs/generate_api.py --capture` asks one for them again (`api_examples.py`)
and keeps them in `api_examples.json`.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from holdfast.server import openapi
from holdfast.server.app import ROUTE_MODULES, build_table

Json = dict[str, Any]
ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "api.md"
EXAMPLES = ROOT / "docs" / "api_examples.json"
TYPES = ROOT / "web" / "src" / "api-types.ts"
_WIDTH = 90
_HEAD = """\
# The HTTP interface

`docs/generate_api.py` makes this page from the types of the routes; do not edit it. The examples
are answers of a real server. `GET /openapi.json` describes the same for programs.

Every route is also served under `/api/v1`. Bodies and answers are JSON (`Content-Type:
application/json`). A request that makes a program run takes `wait`, in seconds or `true`: then its
answer is the next stop, the end, or `running` when time is up, and asking again loses nothing.
Steps wait by default. An answer that says `paused` carries the location and the reason, and what
`include` names out of `source`, `locals`, `stack` and `output` (by default `source,locals`).

Every error has this shape; `hint` says what to do next:

```json
{"error": {"code": "…", "message": "…", "hint": "…", "details": {}}, "error_code": "…"}
```

400 is a bad body, with its field; 404 an unknown id; 409 a wrong state, with what is possible now;
504 a time that ran out. The routes under `/api/call` and `/api/poll` answer with flat errors:
`error` is the short name, and the details are its siblings.
"""
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
    parts.append(_TYPES_HEAD)
    schemas = document["components"]["schemas"]
    parts += [_render_type(name, schemas[name]) for name in _list_linked(document)]
    return "\n".join(parts)


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
    lines = [f"### {name}", "", schema["description"], ""]
    lines += ["| field | type | there | meaning |", "|---|---|---|---|"]
    for field, described in schema.get("properties", {}).items():
        is_there = field in schema.get("required", ()) or "default" in described
        there = "always" if is_there else "sometimes"
        meaning = described.get("description", "")
        lines.append(_render_row(f"`{field}`", _render_schema(described), there, meaning))
    return "\n".join([*lines, ""])


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
        name = schema["$ref"].rpartition("/")[2]
        return f"[{name}](#{name.lower()})"
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


# -- TypeScript -----------------------------------------------------------------------------------

_TYPESCRIPT_HEAD = """\
// Types of requests and answers. Made by docs/generate_api.py from the routes; do not edit.
"""
_TYPESCRIPT = {"integer": "number", "number": "number", "string": "string", "boolean": "boolean"}


def render_typescript(document: Json) -> str:
    parts = [_TYPESCRIPT_HEAD]
    for name, schema in sorted(document["components"]["schemas"].items()):
        parts.append(_render_interface(name, schema))
    return "\n".join(parts)


def _render_interface(name: str, schema: Json) -> str:
    lines = [f"/** {schema['description']} */", f"export interface {name} {{"]
    for field, described in schema.get("properties", {}).items():
        is_there = field in schema.get("required", ())
        mark = "" if is_there else "?"
        lines.append(f"  /** {described.get('description', '')} */")
        lines.append(f"  {field}{mark}: {_to_typescript(described)};")
    if name == "Event":
        lines.append("  [field: string]: unknown;")
    return "\n".join([*lines, "}", ""])


def _to_typescript(schema: Json) -> str:
    if "$ref" in schema:
        return str(schema["$ref"].rpartition("/")[2])
    if "anyOf" in schema:
        choices = dict.fromkeys(_to_typescript(choice) for choice in schema["anyOf"])
        return " | ".join(choices)
    if "enum" in schema:
        return " | ".join(json.dumps(value) for value in schema["enum"])
    kind = schema.get("type")
    if kind == "array":
        if "prefixItems" in schema:
            return f"[{', '.join(map(_to_typescript, schema['prefixItems']))}]"
        item = _to_typescript(schema.get("items") or {})
        return f"({item})[]" if re.search(r"[ |]", item) else f"{item}[]"
    if kind == "object":
        values = schema.get("additionalProperties")
        return f"Record<string, {_to_typescript(values if isinstance(values, dict) else {})}>"
    if kind == "null":
        return "null"
    return _TYPESCRIPT.get(kind or "", "unknown")


def main() -> None:
    if "--capture" in sys.argv:
        from api_examples import capture_examples

        examples = dict(sorted(capture_examples().items()))
        text = json.dumps(examples, indent=1, ensure_ascii=False)
        EXAMPLES.write_text(text + "\n", encoding="utf-8")
    document = build_document()
    PAGE.write_text(render_page(document, load_examples()), encoding="utf-8")
    TYPES.parent.mkdir(parents=True, exist_ok=True)
    TYPES.write_text(render_typescript(document), encoding="utf-8")


if __name__ == "__main__":
    main()
