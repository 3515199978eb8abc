"""Events of an agent's recording: their types, and the fields of each.

The bridge writes them; the server, the command line and replays read them. A field that is not
required is left out when there is nothing to say. `docs/decisions/0010` explains them in full.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Generic, TypedDict, TypeVar

if TYPE_CHECKING:
    from typing_extensions import NotRequired  # in `typing` from Python 3.11 on

MAIN = "main"
"""The lane of an agent that is alone in its process."""

Body = object
"""A value of the agent's. A large one stands in a file, and `{"$cid", "size", "preview"}` here."""

EventData = Mapping[str, Any]
"""The fields of an event as they were read from a file: nobody has checked them."""


class RecordedEvent(TypedDict):
    """An event as a line of a recording has it."""

    seq: int
    type: str
    timestamp: str
    sessionId: str
    data: EventData


Fields = TypeVar("Fields", bound=Mapping[str, object])


Event = tuple[str, Mapping[str, object]]
"""The type of an event, and its fields."""


class EventType(str, Generic[Fields]):
    """The name of a type of event. Called with the fields of one, it builds that event."""

    __slots__ = ()

    def __call__(self, fields: Fields) -> Event:
        return (self, fields)


class ErrorText(TypedDict):
    type: str
    message: str


class Place(TypedDict):
    """The call that a change was made before."""

    iteration: int
    lane: NotRequired[str]


def build_place(iteration: int, lane: str) -> Place:
    return {"iteration": iteration} if lane == MAIN else {"iteration": iteration, "lane": lane}


class SessionStart(TypedDict):
    name: str
    pid: int
    cwd: str
    provider: str | None
    model: str | None
    parent: NotRequired[str]
    replayOf: NotRequired[str]
    mode: NotRequired[str]
    forkAt: NotRequired[int]
    reopened: NotRequired[bool]


class SessionEnd(TypedDict):
    reason: str
    """`exit`, `error` or `closed`."""


class RunStart(TypedDict):
    lane: NotRequired[str]


class RunEnd(TypedDict):
    isError: bool
    iterations: int
    lane: NotRequired[str]
    error: NotRequired[ErrorText]


class UserInput(TypedDict):
    """A user's message that the lane did not have before."""

    content: Body
    lane: NotRequired[str]


class ApiRequest(TypedDict):
    iteration: int
    messageCount: int
    messagesKept: int
    """How many messages of the lane's last request stand."""
    messages: Body
    """Those that come after them."""
    hash: str
    model: NotRequired[str]
    provider: NotRequired[str]
    lane: NotRequired[str]
    settings: NotRequired[Body]
    within: NotRequired[str]
    """The id of the tool that made the call."""
    decision: NotRequired[Body]
    replayed: NotRequired[bool]


class ApiResponse(TypedDict):
    iteration: int
    durationMs: float
    isError: bool
    lane: NotRequired[str]
    model: NotRequired[str]
    heldMs: NotRequired[float]
    stopReason: NotRequired[Body]
    usage: NotRequired[Body]
    content: NotRequired[Body]
    toolCalls: NotRequired[Body]
    undescribed: NotRequired[Body]
    """Why nothing is known of the answer."""
    response: NotRequired[Body]
    responsePickle: NotRequired[str]
    responseMarker: NotRequired[str]
    error: NotRequired[Body]
    errorPickle: NotRequired[str]
    errorMarker: NotRequired[str]
    partial: NotRequired[bool]
    """The stream was not read to its end."""
    faked: NotRequired[bool]
    decision: NotRequired[Body]
    """What was decided of the error."""


class ToolCallStart(TypedDict):
    toolId: str
    name: str
    input: Body
    iteration: int
    hash: str
    requested: NotRequired[Body]
    """The input that the agent gave, when a decision changed it."""
    lane: NotRequired[str]
    pure: NotRequired[bool]
    within: NotRequired[str]
    decision: NotRequired[Body]
    replayed: NotRequired[bool]


class ToolResult(TypedDict):
    toolId: str
    name: str
    result: NotRequired[Body]
    resultPickle: NotRequired[str]
    resultMarker: NotRequired[str]
    faked: NotRequired[bool]


class ToolCallEnd(TypedDict):
    toolId: str
    name: str
    isError: bool
    durationMs: float
    error: NotRequired[Body]
    errorPickle: NotRequired[str]
    errorMarker: NotRequired[str]
    heldMs: NotRequired[float]
    cancelled: NotRequired[bool]
    abandoned: NotRequired[bool]
    decision: NotRequired[Body]


class ContextCompaction(TypedDict):
    """The numbers of messages."""

    before: int
    after: int


class Paused(TypedDict, total=False):
    stop: str
    reason: str
    """`pause`, `step` or `breakpoint`."""
    at: str
    """`model`, `tool` or `error`."""
    name: str
    iteration: int
    lane: str
    toolId: str
    input: Body
    messageCount: int
    error: ErrorText
    breakpoint: object
    allows: list[str]


class Resumed(TypedDict):
    """And the fields of the action."""

    stop: str
    action: str
    by: str


class StepComplete(TypedDict):
    iteration: int


class BreakpointHit(TypedDict):
    breakpoint: object
    toolCall: object
    """`id`, `name` and `input`."""
    iteration: int
    stop: str


class StateSnapshot(TypedDict):
    paused: bool
    waiting: str
    iteration: int
    stops: list[str]


class CommandExecuted(TypedDict):
    commandId: str
    type: str
    status: str
    note: NotRequired[str]


class CommandApplied(TypedDict):
    """A command that was accepted took effect."""

    commandId: str
    type: str


class CommandResponse(TypedDict):
    commandId: str
    type: str
    success: bool
    message: NotRequired[str]
    data: NotRequired[object]


class MessageInjected(TypedDict):
    role: str
    content: Body
    before: Place
    commandId: NotRequired[str]


class VariableSet(TypedDict):
    key: str
    value: Body
    before: Place
    commandId: NotRequired[str]


class ValueRecorded(TypedDict):
    """A clock, an id or a random number that the loop asked the bridge for."""

    name: str
    value: NotRequired[Body]
    valuePickle: NotRequired[str]
    valueMarker: NotRequired[str]
    lane: NotRequired[str]
    within: NotRequired[str]


class ReplayDiverged(TypedDict):
    """And what was expected and found, or that the recording has ended."""

    message: str


class EventsLost(TypedDict):
    """Events that could not be written."""

    count: int


class Error(TypedDict):
    """And more, as the `context` has it."""

    message: str
    context: str
    commandId: NotRequired[str]
    status: NotRequired[str]


SESSION_START = EventType[SessionStart]("session_start")
SESSION_END = EventType[SessionEnd]("session_end")
RUN_START = EventType[RunStart]("run_start")
RUN_END = EventType[RunEnd]("run_end")
USER_INPUT = EventType[UserInput]("user_input")
API_REQUEST = EventType[ApiRequest]("api_request")
API_RESPONSE = EventType[ApiResponse]("api_response")
TOOL_CALL_START = EventType[ToolCallStart]("tool_call_start")
TOOL_RESULT = EventType[ToolResult]("tool_result")
TOOL_CALL_END = EventType[ToolCallEnd]("tool_call_end")
CONTEXT_COMPACTION = EventType[ContextCompaction]("context_compaction")
PAUSED = EventType[Paused]("paused")
RESUMED = EventType[Resumed]("resumed")
STEP_COMPLETE = EventType[StepComplete]("step_complete")
BREAKPOINT_HIT = EventType[BreakpointHit]("breakpoint_hit")
STATE_SNAPSHOT = EventType[StateSnapshot]("state_snapshot")
COMMAND_EXECUTED = EventType[CommandExecuted]("command_executed")
COMMAND_APPLIED = EventType[CommandApplied]("command_applied")
COMMAND_RESPONSE = EventType[CommandResponse]("command_response")
MESSAGE_INJECTED = EventType[MessageInjected]("message_injected")
VARIABLE_SET = EventType[VariableSet]("variable_set")
VALUE_RECORDED = EventType[ValueRecorded]("value_recorded")
REPLAY_DIVERGED = EventType[ReplayDiverged]("replay_diverged")
EVENTS_LOST = EventType[EventsLost]("events_lost")
ERROR = EventType[Error]("error")

EVENTS = (
    *(SESSION_START, SESSION_END, RUN_START, RUN_END, USER_INPUT),
    *(API_REQUEST, API_RESPONSE, TOOL_CALL_START, TOOL_RESULT, TOOL_CALL_END),
    *(CONTEXT_COMPACTION, PAUSED, RESUMED, STEP_COMPLETE, BREAKPOINT_HIT),
    *(STATE_SNAPSHOT, COMMAND_EXECUTED, COMMAND_APPLIED, COMMAND_RESPONSE),
    *(MESSAGE_INJECTED, VARIABLE_SET, VALUE_RECORDED, REPLAY_DIVERGED, EVENTS_LOST, ERROR),
)
"""Every type of event."""
