"""Objects that are a name and fields: dataclasses, named tuples, pydantic models, namespaces.

Their `__repr__` was generated, so it is rebuilt here field by field: it shows the same text,
without running the repr of fields that are large, slow or broken.
"""

from __future__ import annotations

import types

from . import introspection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional, Tuple

    Field = Tuple[str, bool, Any]  # name, whether it is set yet, value
    Fields = List[Field]


def is_generated_repr(writer: Optional[type], function: Any) -> bool:
    """Whether this `__repr__`, defined in the class `writer`, was generated."""
    return (
        _is_dataclass_repr(writer, function)
        or _is_namedtuple_repr(function)
        or introspection.defining_module(function).partition(".")[0] == "pydantic"
    )


def read_fields(value: Any) -> Optional[Fields]:
    """The fields that the generated repr shows; None for any other repr."""
    cls = type(value)
    writer, function = introspection.find_in_mro(cls, "__repr__")
    if writer is not None and _is_dataclass_repr(writer, function):
        return _dataclass_fields(value, writer)
    if _is_namedtuple_repr(function) and issubclass(cls, tuple):
        names = introspection.field_names(value)
        return [(name, True, item) for name, item in zip(names, tuple.__iter__(value))] or None
    if writer is types.SimpleNamespace:
        return [(str(name), True, item) for name, item in introspection.attributes(value)]
    return _model_fields(value)


def _is_dataclass_repr(writer: Optional[type], function: Any) -> bool:
    if writer is None or type(function) is not types.FunctionType:
        return False
    inner = function.__dict__.get("__wrapped__")  # both dataclasses and reprlib guard recursion
    return (
        type(introspection.own_attribute(writer, "__dataclass_fields__")) is dict
        and type(inner) is types.FunctionType
        and inner.__code__.co_filename == "<string>"
        and inner.__code__.co_name == "__repr__"
    )


def _is_namedtuple_repr(function: Any) -> bool:
    return introspection.defining_module(
        function
    ) == "collections" and function.__code__.co_freevars == ("repr_fmt",)


def _dataclass_fields(value: Any, writer: type) -> Fields:
    declared: Dict[str, Any] = introspection.own_attribute(writer, "__dataclass_fields__")
    return [
        _read_field(value, name)
        for name, field in list(declared.items())
        if introspection.is_instance_of(field, "dataclasses", "Field")
        and field.repr
        and _is_stored(field)
    ]


def _is_stored(field: Any) -> bool:
    """Neither a ClassVar nor an InitVar."""
    return getattr(field._field_type, "name", "") == "_FIELD"


def _model_fields(value: Any) -> Optional[Fields]:
    for attribute in ("__pydantic_fields__", "model_fields", "__fields__"):
        declared = introspection.find_in_mro(type(value), attribute)[1]
        if type(declared) is dict:
            fields = [
                _read_field(value, name) for name, field in declared.items() if _is_shown(field)
            ]
            extra = introspection.read_slot(value, "__pydantic_extra__")[1]
            more = list(extra.items()) if type(extra) is dict else []
            return fields + [(name, True, item) for name, item in more]
    return None


def _is_shown(field: Any) -> bool:
    return introspection.read_slot(field, "repr") != (True, False)


def _read_field(value: Any, name: str) -> Field:
    is_set, item = introspection.read_attribute(value, name)
    if not is_set:  # a default that was never assigned lives on the class
        owner, item = introspection.find_in_mro(type(value), name)
        is_descriptor = introspection.find_in_mro(type(item), "__get__")[0] is not None
        is_set = owner is not None and not is_descriptor
    return name, is_set, item if is_set else None
