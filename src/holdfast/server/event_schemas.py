"""JSON schemas of events: one of each type, and a choice of those of each kind of session.

In a choice, `event` says which schema is meant. `Event` is any of the choices. It has no such
field, because sessions of two kinds may use the same name for events with different fields.
"""

from __future__ import annotations

from holdfast.server.json_schema import Json, SchemaBuilder, refer_to
from holdfast.wire.event_types import EVENT_GROUPS, OPEN_EVENTS, EventGroup
from holdfast.wire.session_answers import EventHead


def add_event_schemas(schemas: SchemaBuilder) -> None:
    """Add the schemas of all events, and let `Event` be any of them."""
    head = schemas.describe(EventHead)
    choices = [_add_choice(schemas, head, group) for group in EVENT_GROUPS]
    schemas.components["Event"] = {
        "title": "Event",
        "description": "Something that happened in a session.",
        "anyOf": choices,
    }


def _add_choice(schemas: SchemaBuilder, head: Json, group: EventGroup) -> Json:
    """Add the events of one kind of session, such as `ProgramStoppedEvent`, and their choice."""
    choice = f"{group.prefix}Event"
    mapping: dict[str, str] = {}
    for event, fields in group.types.items():
        body = _order_fields(schemas.describe(fields))
        more = _nest(body, is_open=event in OPEN_EVENTS) if group.is_nested else body
        name = group.prefix + event.title().replace("_", "") + "Event"
        schemas.components[name] = {
            "title": name,
            "description": body["description"],
            "type": "object",
            "properties": _name_event(head["properties"], event) | more["properties"],
            "required": sorted({*head["required"], *more["required"]}),
        }
        mapping[event] = refer_to(name)["$ref"]
    schemas.components[choice] = {
        "title": choice,
        "description": group.meaning,
        "oneOf": [{"$ref": reference} for reference in mapping.values()],
        "discriminator": {"propertyName": "event", "mapping": mapping},
    }
    return refer_to(choice)


def _name_event(properties: Json, event: str) -> Json:
    """The fields that every event has, of one type."""
    named = {
        field: {"enum": [event], "description": properties[field]["description"]}
        for field in ("event", "type")
    }
    return properties | named


def _order_fields(body: Json) -> Json:
    """First the fields that are always there."""
    fields, required = body["properties"], body["required"]
    order = sorted(fields, key=lambda field: field not in required)
    return body | {"properties": {field: fields[field] for field in order}}


def _nest(body: Json, *, is_open: bool) -> Json:
    """An object whose `data` has the fields."""
    data = {name: body[name] for name in ("type", "properties", "required")}
    if is_open:
        data["additionalProperties"] = True
    data["description"] = "Its fields, as recorded."
    return {"properties": {"data": data}, "required": ["data"]}
