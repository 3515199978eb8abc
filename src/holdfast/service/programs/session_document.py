"""A session's configuration as a document: exported, stored, and read back."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

import msgspec

from holdfast.model.breakpoint import ExceptionFilters
from holdfast.model.config import SessionConfig
from holdfast.model.launch import Attach, Launch
from holdfast.wire.program_answers import (
    BreakpointFields,
    ExportedExceptionBreakpoints,
    ExportedSession,
    ExportedSettings,
)
from holdfast.wire.program_requests import AttachOptions, LaunchOptions

if TYPE_CHECKING:
    from holdfast.service.programs.program_session import ProgramSession

Document = dict[str, Any]


def export_document(session: ProgramSession) -> Document:
    """Enough to make the same session elsewhere."""
    return cast(Document, msgspec.to_builtins(export_session(session)))


def build_launch(launch: Launch | None) -> LaunchOptions | None:
    return None if launch is None else LaunchOptions(**_thaw(launch))


def build_attach(attach: Attach | None) -> AttachOptions | None:
    return None if attach is None else AttachOptions(**_thaw(attach))


def export_session(session: ProgramSession) -> ExportedSession:
    """Enough to make the same session elsewhere, as an answer."""
    config = dataclasses.asdict(session.config)
    exceptions = session.breakpoints.exceptions
    return ExportedSession(
        name=session.config.name,
        config=cast(ExportedSettings, _leave_out_none(config)),
        launch=build_launch(session.launch),
        attach=build_attach(session.attached),
        breakpoints=cast(list[BreakpointFields], session.breakpoints.points.documents()),
        exception_breakpoints=ExportedExceptionBreakpoints(
            [*exceptions.filters], [*exceptions.types], exceptions.user_code_only
        ),
        watches=session.watches.expressions,
    )


def _thaw(frozen: Launch | Attach) -> Document:
    """The fields of a frozen value as JSON knows them: lists, no tuples."""
    return {
        name: list(value) if isinstance(value, tuple) else value
        for name, value in dataclasses.asdict(frozen).items()
    }


def _leave_out_none(fields: Document) -> Document:
    return {name: value for name, value in fields.items() if value is not None}


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
    """Make tuples of lists: JSON has lists only, and our values are frozen."""
    return {
        key: tuple(tuple(part) if isinstance(part, list) else part for part in value)
        if isinstance(value, list)
        else value
        for key, value in values.items()
    }
