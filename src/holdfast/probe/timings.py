"""The time limits in the program being debugged that can change an answer, in seconds.

The server sends its own with its first request, so that what is set for the server counts here.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:  # typing is not cheap to import, and the target may not have asked for it
    from typing import Dict, Mapping


class ProbeTimings:
    """One field per limit."""

    value_call: float = 0.5
    """How long the code of one class of the program may take to show its values in an answer."""
    watched_expression: float = 0.5
    """How long a watched expression may take to get its first value."""
    messages_sent: float = 2.0
    """How long a program that may end at once waits until the server has its messages."""
    start_told: float = 5.0
    """How long a program waits before its first line until the server knows that it has started."""
    output_read: float = 0.01
    """How long output waits until the server has read what was written to the other stream."""
    output_read_at_message: float = 0.1
    """How long a message that is shown among the output waits until the server has read that."""
    debugger_left: float = 2.0
    """How long a debugger that leaves waits until no thread of the program is inside it."""
    debugger_ended: float = 10.0
    """How long a new debugger waits until the one before has ended."""
    server_reached: float = 5.0
    """How long a process tries to reach the server that follows it."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ProbeTimings) and self.list() == other.list()

    __hash__ = None  # type: ignore[assignment]

    def list(self) -> Dict[str, float]:
        """Each limit by its name."""
        return {name: getattr(self, name) for name in FIELDS}

    def replace(self, values: Mapping[str, float]) -> ProbeTimings:
        """These with some replaced. Those that this version does not know are left out."""
        new = ProbeTimings()
        known = {name: value for name, value in values.items() if name in FIELDS}
        vars(new).update(self.list(), **known)
        return new


FIELDS = tuple(ProbeTimings.__annotations__)
TIMINGS = ProbeTimings()


def use(values: Mapping[str, float]) -> None:
    """Take these limits from now on."""
    global TIMINGS
    TIMINGS = TIMINGS.replace(values)
