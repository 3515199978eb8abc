"""A session's configuration as a document: exported, stored, and read back."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from holdfast.model.breakpoint import ExceptionFilters
from holdfast.model.config import SessionConfig
from holdfast.model.launch import Attach, Launch

if TYPE_CHECKING:
    from holdfast.service.programs.program_session import ProgramSession

Document = dict[str, Any]


def export_document(session: ProgramSession) -> Document:
    """Enough to make the same session elsewhere."""
    config = dataclasses.asdict(session.config)
    return {
        "name": session.config.name,
        "config": {name: value for name, value in config.items() if value is not None},
        "launch": plain_fields(session.launch),
        "attach": plain_fields(session.attached),
        "breakpoints": session.breakpoints.points.documents(),
        "exception_breakpoints": plain_fields(session.breakpoints.exceptions),
        "watches": session.watches.expressions,
    }


def plain_fields(value: Launch | Attach | ExceptionFilters | None) -> Document | None:
    """A dataclass as JSON knows it: lists, no tuples."""
    if value is None:
        return None
    return {
        name: list(field) if isinstance(field, tuple) else field
        for name, field in dataclasses.asdict(value).items()
    }


def parse_config(document: Mapping[str, Any]) -> SessionConfig:
    fields = document.get("config") or {}
    config = SessionConfig(**fields)
    numbers = (config.timeout_minutes, config.output_limit_bytes, config.evaluate_timeout)
    if not all(value is None or isinstance(value, int | float) for value in numbers):
        raise TypeError(f"not a session's configuration: {fields}")
    return config


def apply_document(
    session: ProgramSession, document: Mapping[str, Any], *, strict: bool = False
) -> None:
    """Give a new session what an exported one had. `strict` refuses a wrong breakpoint."""
    launch, attach = document.get("launch"), document.get("attach")
    session.launch = Launch(**_freeze(launch)) if launch else None
    session.attached = Attach(**_freeze(attach)) if attach else None
    filters = _freeze(document.get("exception_breakpoints") or {})
    session.breakpoints.exceptions = ExceptionFilters(**filters)
    session.breakpoints.points.restore(document.get("breakpoints") or [], strict=strict)
    for expression in document.get("watches") or []:
        session.watches.append(str(expression))


def _freeze(values: Mapping[str, Any]) -> Document:
    """JSON knows lists only; our values are frozen."""
    return {
        key: tuple(tuple(part) if isinstance(part, list) else part for part in value)
        if isinstance(value, list)
        else value
        for key, value in values.items()
    }
