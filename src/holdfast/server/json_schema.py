"""JSON schemas of structs and typed dicts.

Made from their annotations alone. `msgspec.json.schema_components` builds decoders for all of them
first, and those of our answers make the interpreter crash now and then when it exits (0.22).
"""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Mapping
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, UnsetType

Json = dict[str, Any]
_REFERENCE = "#/components/schemas/"
_KINDS = "Which kind of target it is of."
_SCALARS: Mapping[Any, Json] = {
    Any: {},
    object: {},
    None: {"type": "null"},
    types.NoneType: {"type": "null"},
    bool: {"type": "boolean"},
    int: {"type": "integer"},
    float: {"type": "number"},
    str: {"type": "string"},
    bytes: {"type": "string", "format": "binary"},
}
_CONSTRAINTS = {
    "gt": "exclusiveMinimum",
    "ge": "minimum",
    "lt": "exclusiveMaximum",
    "le": "maximum",
    "min_length": "minLength",
    "max_length": "maxLength",
    "pattern": "pattern",
    "description": "description",
}


class _NotRequired:
    """Marks a field of a typed dict, as `NotRequired` does, which Python 3.10 does not have."""

    def __class_getitem__(cls, type_: Any) -> Any:
        return Annotated[type_, cls]


class SchemaBuilder:
    """Builds schemas; those of types with a name are `components`, which others refer to."""

    def __init__(self) -> None:
        self.components: dict[str, Json] = {}
        self._types: dict[str, Any] = {}

    def build(self, type_: Any) -> Json:
        if type_ in _SCALARS:
            return dict(_SCALARS[type_])
        if typing.get_origin(type_) is Annotated:
            return self._build_annotated(*typing.get_args(type_))
        if is_object(type_):
            return self._refer(type_)
        return self._build_generic(typing.get_origin(type_) or type_, typing.get_args(type_))

    def _build_annotated(self, type_: Any, *notes: Any) -> Json:
        schema = self.build(type_)
        for note in notes:
            if isinstance(note, str):
                schema["description"] = note
            elif isinstance(note, Meta):
                for name, word in _CONSTRAINTS.items():
                    if getattr(note, name) is not None:
                        schema[word] = getattr(note, name)
        return schema

    def _build_generic(self, origin: Any, arguments: tuple[Any, ...]) -> Json:
        if origin in (typing.Union, types.UnionType):
            return self._build_union([choice for choice in arguments if choice is not UnsetType])
        if origin is typing.Literal:
            return {"enum": list(arguments)}
        if origin is list:
            return {"type": "array", "items": self.build(arguments[0])}
        if origin is tuple:
            items = [self.build(item) for item in arguments]
            return {"type": "array", "prefixItems": items, "items": False}
        if origin in (dict, Mapping):
            return {"type": "object", "additionalProperties": self.build(arguments[1])}
        raise TypeError(f"no schema for {origin}")

    def _build_union(self, choices: list[Any]) -> Json:
        """The choices in their order, null last."""
        schemas = [self.build(choice) for choice in choices if choice is not types.NoneType]
        if types.NoneType in choices:
            schemas.append(self.build(None))
        return schemas[0] if len(schemas) == 1 else {"anyOf": schemas}

    def _refer(self, type_: Any) -> Json:
        name = type_.__name__
        if name not in self._types:
            self._types[name] = type_
            self.components[name] = {}  # it may refer to itself
            self.components[name] = self.describe(type_)
        elif self._types[name] is not type_:
            raise TypeError(f"two types have the name {name}")
        return refer_to(name)

    def describe(self, type_: Any) -> Json:
        """The schema of an object, with all of its fields."""
        is_struct = issubclass(type_, msgspec.Struct)
        properties, required = self._list_fields(type_) if is_struct else self._list_items(type_)
        return {
            "title": type_.__name__,
            "description": inspect.getdoc(type_),
            "type": "object",
            "properties": properties,
            "required": required,
        }

    def _list_fields(self, struct: type[msgspec.Struct]) -> tuple[Json, list[str]]:
        properties: Json = {}
        required: list[str] = []
        config = struct.__struct_config__
        if config.tag_field is not None:
            properties[config.tag_field] = {"enum": [config.tag], "description": _KINDS}
            required.append(config.tag_field)
        for field in msgspec.structs.fields(struct):
            schema = properties[field.encode_name] = self.build(field.type)
            if field.required:
                required.append(field.encode_name)
            elif field.default_factory is not msgspec.NODEFAULT:
                schema["default"] = field.default_factory()
            elif field.default is not UNSET:
                schema["default"] = field.default
        return properties, required

    def _list_items(self, typed_dict: Any) -> tuple[Json, list[str]]:
        names = {"NotRequired": _NotRequired}
        hints = typing.get_type_hints(typed_dict, localns=names, include_extras=True)
        properties = {name: self.build(hint) for name, hint in hints.items()}
        required = {
            name
            for name in typed_dict.__required_keys__
            if _NotRequired not in getattr(hints[name], "__metadata__", ())
        }
        return properties, sorted(required)


def refer_to(name: str) -> Json:
    """The schema that stands for a component."""
    return {"$ref": _REFERENCE + name}


def is_object(type_: Any) -> bool:
    """Whether it is a struct or a typed dict."""
    return isinstance(type_, type) and (
        issubclass(type_, msgspec.Struct) or typing.is_typeddict(type_)
    )
