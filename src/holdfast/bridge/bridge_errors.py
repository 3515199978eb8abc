"""What the bridge raises in an agent's loop."""

from __future__ import annotations

from holdfast.model.agent_events import EventData


class ToolCancelled(Exception):
    """Somebody cancelled the tool. An ordinary error, so that the loop can tell its model."""

    def __init__(self, message: str, *, tool_id: str = "", abandoned: bool = False) -> None:
        super().__init__(message)
        self.tool_id = tool_id
        self.abandoned = abandoned


class ToolDenied(ToolCancelled):
    """A rule of the project does not let this tool run."""


class ModelDenied(Exception):
    """A rule of the project does not let this model be called."""


class RecordedError(Exception):
    """An error of the recording that cannot be made again as what it was."""

    def __init__(self, type_name: str, message: str) -> None:
        super().__init__(f"{type_name}: {message}")
        self.type_name = type_name


class Diverged(BaseException):
    """The agent asked for something else than it did when it was recorded.

    Not an `Exception`: a loop that survives its tools' errors must not go on from here.
    """

    def __init__(self, message: str, details: EventData | None = None) -> None:
        super().__init__(message)
        self.details = details or {}
