"""What clients give a program to read: checks, and the write to its stdin."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast import errors
from holdfast.core.lifecycle import Signal
from holdfast.model.session_state import State

if TYPE_CHECKING:
    from holdfast.service.programs.program_session import ProgramSession

_MAX_INPUT = 32 * 1024 * 1024  # bytes that the program has not read yet


def write_input(session: ProgramSession, text: str | None, *, close: bool) -> int:
    """Write to stdin; how many bytes. What the program does not read yet stays in the pipe."""
    session.require("input")
    stdin = session.current_target().input
    if stdin is None:
        raise _no_input(
            session,
            "the program does not read our input: its stdin is its own",
            "Write to its terminal, or launch it here, without the adapter.",
        )
    if not stdin.open:
        raise _no_input(
            session,
            "the program's stdin is closed",
            "It has read all that it will. POST /restart.",
        )
    data = (text or "").encode("utf-8", "surrogateescape")
    if stdin.waiting and stdin.waiting + len(data) > _MAX_INPUT:
        raise _no_input(
            session,
            f"{stdin.waiting} bytes of input wait to be read already",
            "Give it more when the program has read what it has.",
            waiting_bytes=stdin.waiting,
        )
    if session.state is State.WAITING_FOR_INPUT and (close or b"\n" in data):
        session.output.new_line()
    stdin.write(data)
    if close:
        stdin.end()
    session.event("input_given", bytes=len(data), closed=close)
    if close or stdin.is_answer(data):
        session.move(Signal.INPUT_GIVEN)
    return len(data)


def _no_input(
    session: ProgramSession, message: str, hint: str, **details: int
) -> errors.WrongState:
    return errors.WrongState(
        message,
        hint=hint,
        state=session.state.value,
        possible=[name for name in session.list_operations() if name != "input"],
        **details,
    )
