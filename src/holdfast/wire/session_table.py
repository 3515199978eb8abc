"""The answers of `debug_sessions` and `debug_stop`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.wire.list_reduction import list_shorter
from holdfast.wire.plain_text import cut
from holdfast.wire.tool_answers import ToolAnswer

_SHORT = 60
_FEW = 3


class ListedSession(msgspec.Struct, kw_only=True):
    """One session."""

    session_id: Annotated[str, Meta(description="Its id.")]
    kind: Annotated[str, Meta(description="program, calls or agent.")]
    status: Annotated[str, Meta(description="paused, running, waiting_for_input, terminated…")]
    age: Annotated[str, Meta(description="How long ago it was created.")]
    name: Annotated[str | UnsetType, Meta(description="Its name, or what it runs.")] = UNSET
    at: Annotated[str | UnsetType, Meta(description="Where it stands, as file:line.")] = UNSET
    reason: Annotated[str | UnsetType, Meta(description="Why it stands, or ended.")] = UNSET
    parent_id: Annotated[
        str | UnsetType, Meta(description="Of a child process: the session of its parent.")
    ] = UNSET
    is_yours: Annotated[bool | UnsetType, Meta(description="Whether you started it.")] = UNSET

    def to_text(self) -> str:
        text = f"{self.session_id}  {self.kind} {self.status}"
        text += f" at {self.at}" if self.at is not UNSET else ""
        text += f" ({self.reason})" if self.reason is not UNSET else ""
        text += f"  {self.name}" if self.name is not UNSET else ""
        text += f"  {self.age} old"
        text += f"  child of {self.parent_id}" if self.parent_id is not UNSET else ""
        return text + ("  yours" if self.is_yours is True else "")


class SessionTable(ToolAnswer, kw_only=True):
    """The sessions, those that wait for somebody first."""

    sessions: Annotated[list[ListedSession], Meta(description="The sessions.")]
    total: Annotated[int, Meta(description="How many there are.")]
    captures: Annotated[
        list[str] | UnsetType, Meta(description="Captures of failing tests, the latest first.")
    ] = UNSET
    omitted: Annotated[
        str | UnsetType, Meta(description="What is left out, and how to see it.")
    ] = UNSET
    next: Annotated[str | UnsetType, Meta(description="What can be done next.")] = UNSET

    def to_text(self) -> str:
        return "\n".join(self._list_lines())

    def _list_lines(self) -> Iterator[str]:
        yield f"{self.total} session{'' if self.total == 1 else 's'}"
        for session in self.sessions:
            yield session.to_text()
        for capture in self.captures or ():
            yield f"capture {capture}"
        if self.omitted is not UNSET:
            yield f"omitted: {self.omitted}"
        if self.next is not UNSET:
            yield f"next: {self.next}"

    def list_reductions(self) -> Iterator[SessionTable]:
        short = [_shorten(session) for session in self.sessions]
        captures = self.captures or []
        yield msgspec.structs.replace(self, sessions=short)
        few = captures[:_FEW]
        for left, missing in list_shorter(captures):
            if len(left) >= len(few):
                yield self._leave_out(short, left, missing)
        for sessions, _missing in list_shorter(short):
            if len(sessions) >= _FEW:
                yield self._leave_out(sessions, few, len(captures) - len(few))
        for sessions, _missing in list_shorter(short[:_FEW]):
            yield self._leave_out(sessions, [], len(captures))

    def _leave_out(
        self, sessions: list[ListedSession], captures: list[str], missing_captures: int
    ) -> SessionTable:
        missing = [f"{self.total - len(sessions)} sessions"] if len(sessions) < self.total else []
        missing += [f"{missing_captures} captures"] if missing_captures else []
        omitted = f"{' and '.join(missing)}: debug_sessions with a larger budget_tokens or limit"
        return msgspec.structs.replace(
            self, sessions=sessions, captures=captures or UNSET, omitted=omitted
        )


def _shorten(session: ListedSession) -> ListedSession:
    name = session.name
    return msgspec.structs.replace(
        session, name=cut(name, _SHORT) if isinstance(name, str) else name
    )


class StoppedSession(msgspec.Struct, kw_only=True):
    """A session that is gone."""

    session_id: Annotated[str, Meta(description="The id that it had.")]
    was: Annotated[str, Meta(description="Where its program was: paused, running, terminated…")]
    name: Annotated[str | UnsetType, Meta(description="The name that it had.")] = UNSET


class StoppedSessions(ToolAnswer, kw_only=True):
    """The sessions that were ended, and are forgotten."""

    stopped: Annotated[list[StoppedSession], Meta(description="Those that were ended.")]
    message: Annotated[str, Meta(description="What happened.")]
    omitted: Annotated[str | UnsetType, Meta(description="How many more there were.")] = UNSET

    def to_text(self) -> str:
        lines = [self.message]
        for session in self.stopped:
            name = "" if session.name is UNSET else f"  {session.name}"
            lines.append(f"{session.session_id}  was {session.was}{name}")
        if self.omitted is not UNSET:
            lines.append(f"omitted: {self.omitted}")
        return "\n".join(lines)

    def list_reductions(self) -> Iterator[StoppedSessions]:
        for stopped, missing in list_shorter(self.stopped):
            omitted = f"{missing} more"
            yield msgspec.structs.replace(self, stopped=stopped, omitted=omitted)
