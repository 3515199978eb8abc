"""Writes docs/api.md from the OpenAPI document: `python docs/generate_api.py`."""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path
from typing import Any

from holdfast.server.app import create_app
from holdfast.service.debugger import Debugger

PAGE = Path(__file__).with_name("api.md")
_WIDTH = 90
_HEAD = """\
# The HTTP interface

This page is made from `/openapi.json` by `docs/generate_api.py`; do not edit it.

Every route also stands under `/api/v1`. Bodies and answers are JSON (`Content-Type:
application/json`). A request that makes a program run takes `wait`, in seconds or `true`: then its
answer is the next stop, the end, or `running` when time is up, and asking again loses nothing.
Steps wait by themselves. An answer that says `paused` carries the location and the reason, and what
`include` names out of `source`, `locals`, `stack` and `output` (`source,locals` unless told).

Every error has this shape; `hint` says what to do next:

```json
{"error": {"code": "…", "message": "…", "hint": "…", "details": {}}, "error_code": "…"}
```

400 is a bad body, with its field; 404 an unknown id; 409 a wrong state, with what is possible now;
504 a time that ran out.
"""


def document() -> dict[str, Any]:
    return asyncio.run(_read_document())


async def _read_document() -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        service = await Debugger.open(Path(folder), trusted=lambda _peer, _local: False)
        try:
            return create_app(service).openapi()
        finally:
            await service.store.aclose()


def page(api: dict[str, Any]) -> str:
    """The whole page."""
    parts = [_HEAD]
    for tag in api["tags"]:
        routes = [
            (method.upper(), path, operation)
            for path, methods in api["paths"].items()
            for method, operation in methods.items()
            if tag["name"] in operation["tags"]
        ]
        if routes:
            parts.append(f"## {tag['name'].capitalize()}\n\n{tag['description']}\n")
            parts += [_route(api, *route) for route in routes]
    return "\n".join(parts)


def _route(api: dict[str, Any], method: str, path: str, operation: dict[str, Any]) -> str:
    lines = [f"### {method} {path}", "", operation["description"], ""]
    names = _query(operation)
    if names:
        lines += [f"Query: {', '.join(names)}.", ""]
    body = _body(api, operation)
    if body is not None:
        lines += ["```jsonc", f"// request\n{_shown(body)}", "```", ""]
    lines += ["```jsonc", f"// answer\n{_shown(_answer(operation))}", "```", ""]
    return "\n".join(lines)


def _query(operation: dict[str, Any]) -> list[str]:
    found = [each for each in operation.get("parameters", []) if each["in"] == "query"]
    return [
        f"`{each['name']}`"
        + (f" ({each['description'].rstrip('.')})" if each.get("description") else "")
        for each in found
    ]


def _body(api: dict[str, Any], operation: dict[str, Any]) -> Any:
    """The example of what to send; None where there is nothing to send."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json")
    return None if content is None else _example(api, content, content["schema"])


def _example(api: dict[str, Any], *places: dict[str, Any]) -> Any:
    for place in places:
        if "example" in place:
            return place["example"]
        if place.get("examples"):
            found = place["examples"]
            return found[0] if isinstance(found, list) else next(iter(found.values()))["value"]
        if "$ref" in place:
            return _example(api, api["components"]["schemas"][place["$ref"].rpartition("/")[2]])
        for choice in place.get("anyOf", []):
            found = _example(api, choice)
            if found is not None:
                return found
    return None


def _answer(operation: dict[str, Any]) -> Any:
    """The example of the first good answer."""
    for code in ("200", "201"):
        for content in operation["responses"].get(code, {}).get("content", {}).values():
            if "example" in content:
                return content["example"]
    return None


def _shown(value: Any, indent: str = "") -> str:
    """JSON in as few lines as fit the page."""
    if isinstance(value, str) and not indent:  # an answer that is no JSON, such as a stream
        return value.rstrip()
    flat = json.dumps(value, ensure_ascii=False)
    if len(indent + flat) <= _WIDTH or not isinstance(value, (dict, list)):
        return flat
    deeper = indent + "  "
    if isinstance(value, dict):
        named = [
            (f"{json.dumps(name, ensure_ascii=False)}: ", each) for name, each in value.items()
        ]
        begin, end = "{}"
    else:
        named = [("", each) for each in value]
        begin, end = "[]"
    lines = [deeper + name + _shown(each, deeper) for name, each in named]
    return begin + "\n" + ",\n".join(lines) + "\n" + indent + end


if __name__ == "__main__":
    PAGE.write_text(page(document()), encoding="utf-8")
