"""What several steps in one call did: a line for each, with what it changed."""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.model.stop import Stop
from holdfast.service.tools.reports.report_changes import describe_changes, note_variables
from holdfast.service.tools.reports.report_memory import SessionMemory
from holdfast.service.tools.reports.report_values import Variable
from holdfast.service.tools.tool_client import ToolClient


class StepLog:
    """Compares each stop with the one before, in the same frame.

    Nothing of it counts as shown: the report at the end tells all that changed since the last one.
    """

    def __init__(self, client: ToolClient) -> None:
        self._client = client
        self._memory = SessionMemory()
        self._frame: int | None = None
        self.lines: list[str] = []

    def begin(self, stop: Stop, variables: Sequence[Variable]) -> None:
        """Where the steps begin."""
        note_variables(self._memory, stop, variables)
        self._frame = stop.frame

    def add(self, stop: Stop) -> None:
        """A step has led here."""
        place = stop.location
        line = self._client.show_place(place.file, place.line) if place else "?"
        if stop.frame != self._frame and place and place.function:
            line += f" in {place.function}"
        self._frame = stop.frame
        changes = describe_changes(note_variables(self._memory, stop, stop.locals))
        self.lines.append(f"{line}  {changes}" if changes else line)
