"""Whether a value is as its JSON schema says: the few words that our schemas use."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Json = dict[str, Any]
_TYPES: dict[str, tuple[type, ...]] = {
    "object": (dict,),
    "array": (list,),
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "null": (type(None),),
}


def mistakes(value: Any, schema: Json, components: Json, place: str = "answer") -> list[str]:
    """What is not as the schema says; fields that it does not know are mistakes too."""
    if "$ref" in schema:
        return mistakes(value, components[schema["$ref"].rpartition("/")[2]], components, place)
    if "discriminator" in schema:
        return _choice_mistakes(value, schema["discriminator"], components, place)
    if "anyOf" in schema:
        tried = [mistakes(value, choice, components, place) for choice in schema["anyOf"]]
        return min(tried, key=len)
    if "enum" in schema and value not in schema["enum"]:
        return [f"{place}: {value!r} is none of {schema['enum']}"]
    kind = schema.get("type")
    if kind is None:
        return []
    is_of_kind = isinstance(value, _TYPES[kind])
    if isinstance(value, bool) != (kind == "boolean") or not is_of_kind:
        return [f"{place}: {value!r:.60} is no {kind}"]
    if kind == "array" and "prefixItems" in schema:
        pairs = zip(value, schema["prefixItems"], strict=True)
        return [
            problem for one, part in pairs for problem in mistakes(one, part, components, place)
        ]
    if kind == "array" and "items" in schema:
        return [
            problem
            for at, item in enumerate(value)
            for problem in mistakes(item, schema["items"], components, f"{place}.{at}")
        ]
    if kind == "object":
        return list(_field_mistakes(value, schema, components, place))
    return []


def _choice_mistakes(value: Any, discriminator: Json, components: Json, place: str) -> list[str]:
    name = discriminator["propertyName"]
    reference = discriminator["mapping"].get(value[name])
    if reference is None:
        return [f"{place}.{name}: {value[name]!r} is not known"]
    return mistakes(value, {"$ref": reference}, components, place)


def _field_mistakes(value: Json, schema: Json, components: Json, place: str) -> Iterator[str]:
    fields = schema.get("properties", {})
    others = schema.get("additionalProperties", not fields)
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{place}.{name}: it is missing"
    for name, field in value.items():
        if name in fields:
            yield from mistakes(field, fields[name], components, f"{place}.{name}")
        elif isinstance(others, dict):
            yield from mistakes(field, others, components, f"{place}.{name}")
        elif not others:
            yield f"{place}.{name}: no such field"
