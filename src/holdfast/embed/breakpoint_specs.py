"""The breakpoints that a controller sets, as their user writes them, and their checks.

A spec is checked when it is set, so that a mistake is raised by the Future of that call.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

Spec = TypeVar("Spec", "LineBreakpointSpec", "FunctionBreakpointSpec", "DataBreakpointSpec")
Fields = dict[str, Any]
"""A breakpoint as the session's registry takes it."""

ACCESS_TYPES = ("write", "change")


@dataclass(frozen=True)
class LineBreakpointSpec:
    """Stop at a line, or with `log_message` write that and go on."""

    line: int
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None


@dataclass(frozen=True)
class FunctionBreakpointSpec:
    """Stop in a function, such as `module.func` or `Class.method`."""

    name: str
    condition: str | None = None
    hit_condition: str | None = None


@dataclass(frozen=True)
class DataBreakpointSpec:
    """Stop when a value is written (`write`), or written with another value (`change`).

    `data_id` is the `dataId` that `data_info` answered."""

    data_id: str
    access_type: str = "write"
    condition: str | None = None
    hit_condition: str | None = None


def check_specs(specs: Iterable[Spec], type_: type[Spec]) -> list[Spec]:
    """The specs as a list, which must all be of that type."""
    if isinstance(specs, (str, bytes, type_)):
        raise TypeError(f"give a list of {type_.__name__}, not {type(specs).__name__}")
    listed = list(specs)
    for spec in listed:
        if not isinstance(spec, type_):
            raise TypeError(f"give {type_.__name__}, not {type(spec).__name__}")
    return listed


def describe_line(spec: LineBreakpointSpec) -> Fields:
    if not isinstance(spec.line, int) or isinstance(spec.line, bool):
        raise TypeError(f"line must be a number, not {type(spec.line).__name__}")
    if spec.line < 1:
        raise ValueError(f"line must be 1 or more, not {spec.line}")
    return {"line": spec.line, **_describe_options(spec, "log_message")}


def describe_function(spec: FunctionBreakpointSpec) -> Fields:
    return {"function": _require_text(spec.name, "name").strip(), **_describe_options(spec)}


def describe_data(spec: DataBreakpointSpec) -> Fields:
    access = _require_text(spec.access_type, "access_type")
    if access not in ACCESS_TYPES:
        raise ValueError(f"access_type must be one of {', '.join(ACCESS_TYPES)}, not {access!r}")
    data_id = _require_text(spec.data_id, "data_id")
    return {"data_id": data_id, "access": access, **_describe_options(spec)}


def resolve_path(path: object) -> str:
    """A path as the session knows it: absolute, from the current directory of the caller."""
    if not isinstance(path, (str, os.PathLike)):
        raise TypeError(f"the path must be a str or a Path, not {type(path).__name__}")
    text = os.fspath(path)
    if not isinstance(text, str):
        raise TypeError("the path must be text, not bytes")
    if not text.strip():
        raise ValueError("the path is empty")
    is_generated = text.startswith("<") and text.endswith(">")
    return text if is_generated else os.path.abspath(text)


def _describe_options(spec: object, *names: str) -> Fields:
    """The condition and the like. Blank ones count as not given, as in editors."""
    fields: Fields = {}
    for name in ("condition", "hit_condition", *names):
        value = getattr(spec, name)
        if name == "hit_condition" and isinstance(value, int) and not isinstance(value, bool):
            value = str(value)
        if value is not None and not isinstance(value, str):
            raise TypeError(f"{name} must be text, not {type(value).__name__}")
        if value and value.strip():
            fields[name] = value
    return fields


def _require_text(value: object, name: str) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be text, not {type(value).__name__}")
    if not value.strip():
        raise ValueError(f"{name} is empty")
    return value
