"""What a session's debugger has lost: its connection, or the tracing of threads.

The program goes on by itself. An event tells what happened, and the status warns while it lasts.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING, Any

from holdfast.targets.program.target import Replacement, TracingChange

if TYPE_CHECKING:
    from holdfast.service.programs.program_session import ProgramSession

_MAX_COMMAND = 200
_CLOSED = (
    "The debugger in the program is gone and the program runs on without it: breakpoints do not "
    "stop it, and it cannot be paused or looked into. It may have closed the descriptors that it "
    "found open. Terminate or restart it."
)
_REPLACED = (
    "The program was replaced by another ({command}), and the debugger went with it: breakpoints "
    "do not stop it, and it cannot be paused or looked into. "
)
_FOLLOWED = "The new program is debugged in a child session."
_NOT_FOLLOWED = (
    "With debug_subprocesses (`subprocesses` of debug_run), a Python program is followed into the "
    "next one."
)
_LOST = (
    "The program took the debugger's tracing away with {how}{place}: {which} no longer stops at "
    "breakpoints or for steps. "
)
_THREAD = (
    "It does again when the program sets the trace function that sys.gettrace() gave it before. "
    "Else restart the program without that call."
)
_TOOL = "Restart the program without that call."


class DebuggerLosses:
    def __init__(self, session: ProgramSession) -> None:
        self._session = session
        self.is_disconnected = False
        self.is_reported = False
        """Whether the loss of the connection has ended a wait."""
        self._messages: dict[int | str | None, str] = {}

    @property
    def warnings(self) -> list[str]:
        return list(self._messages.values())

    def clear(self) -> None:
        """Another run begins."""
        self.is_disconnected = self.is_reported = False
        self._messages.clear()

    def note_debugger(self, replacement: Replacement | None) -> None:
        """The connection to the debugger has ended, and the process has not."""
        fields: dict[str, Any] = {"reason": "connection_lost", "message": _CLOSED}
        if replacement is not None:
            command = shlex.join(replacement["command"])[:_MAX_COMMAND]
            message = _REPLACED.format(command=command)
            message += _FOLLOWED if replacement["followed"] else _NOT_FOLLOWED
            fields = {"reason": "exec", "message": message, "command": replacement["command"]}
        self.is_disconnected = True
        self._messages = {"debugger": str(fields["message"])}
        self._session.event("debugger_disconnected", **fields)

    def note_tracing(self, change: TracingChange) -> None:
        """The program took the tracing of one thread, or of all, away, or gave it back."""
        thread, place = change["thread"], change["place"]
        if change["state"] == "restored":
            self._messages.pop(thread, None)
            self._session.event("tracing_restored", thread_id=thread)
            return
        message = _LOST.format(
            how=change["how"],
            place=f" ({place['file']}:{place['line']})" if place else "",
            which="the program" if thread is None else f"thread {thread}",
        )
        message += _TOOL if thread is None else _THREAD
        self._messages[thread] = message
        self._session.event(
            "tracing_lost", thread_id=thread, how=change["how"], location=place, message=message
        )
