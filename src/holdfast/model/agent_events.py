"""Events of an agent's recording: their types, and the fields of each.

The bridge writes them; the server, the command line and replays read them. A field that is not
required is left out when there is nothing to say. The docstring of each type says when it is
written, and the sentence at each field what it means: `docs/api.md` shows them.
`docs/decisions/0010` explains the recording.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Generic, TypedDict, TypeVar

if TYPE_CHECKING:
    from typing_extensions import NotRequired  # in `typing` from Python 3.11 on

VERSION = 2
"""Of what the bridge records: from 2 on, iterations are counted per lane."""
MAIN = "main"
"""The lane of an agent that is alone in its process."""

Body = object
"""A value of the agent's. A large one stands in a file, and `{"$cid", "size", "preview"}` here."""

_LANE = "Which agent of the process; left out for the main one."
_WITHIN = "The id of the tool that asked for it, if the loop itself did not."
_REPLAYED = "The recording has this call, and gives its outcome."
_PARTIAL = "The stream was not read to its end."
_RETURNED = (
    "How the function gave it, if not at once: `awaitable`, `future`, `stream`, `async_stream`, or "
    "the first and the last of these."
)
_USAGE = "The tokens: `inputTokens`, of which `cachedTokens` came from a cache, and `outputTokens`."
_HELD = "How long it, or something inside it, was held, in milliseconds."

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

    fields: type[Fields]

    def __new__(cls, name: str, fields: type[Fields]) -> EventType[Fields]:
        self = super().__new__(cls, name)
        self.fields = fields
        return self

    def __call__(self, fields: Fields) -> Event:
        return (self, fields)


class ErrorText(TypedDict):
    """An exception as text."""

    type: Annotated[str, "The name of its class."]
    message: Annotated[str, "Its message."]


class Place(TypedDict):
    """The call that a change was made before."""

    iteration: Annotated[int, "The model calls of the lane so far, with that one."]
    lane: NotRequired[Annotated[str, _LANE]]


def build_place(iteration: int, lane: str) -> Place:
    return {"iteration": iteration} if lane == MAIN else {"iteration": iteration, "lane": lane}


class SessionStart(TypedDict):
    """The recording began, or goes on in another process."""

    name: Annotated[str, "The name of the session."]
    pid: Annotated[int, "The id of the agent's process."]
    cwd: Annotated[str, "The directory that the agent runs in."]
    provider: Annotated[str | None, "The provider of its models, if it is known yet."]
    model: Annotated[str | None, "Its model, if it is known yet."]
    parent: NotRequired[
        Annotated[str, "The session that it was forked from, else the one in `startedBy`."]
    ]
    replayOf: NotRequired[Annotated[str, "Of a replay: the session that it repeats."]]
    mode: NotRequired[Annotated[str, "Of a replay: what comes from the recording."]]
    forkAt: NotRequired[Annotated[int, "Of a fork: how many iterations come from the recording."]]
    forkLane: NotRequired[Annotated[str, "Of a fork: the lane whose iterations were counted."]]
    edited: NotRequired[Annotated[bool, "Of a fork: something was changed where it begins."]]
    startedBy: NotRequired[Annotated[str, "The session whose process started this one's process."]]
    hold: NotRequired[Annotated[bool, "It begins held: its first call waits for a decision."]]
    breakpoints: NotRequired[Annotated[list[object], "The breakpoints that it begins with."]]
    rules: NotRequired[Annotated[list[object], "The rules of its project, first come first."]]
    reopened: NotRequired[Annotated[bool, "It goes on with a recording that had begun before."]]
    version: NotRequired[
        Annotated[int, "2: iterations are counted per lane. Without it, for the whole process."]
    ]


class SessionEnd(TypedDict):
    """The recording ended."""

    reason: Annotated[str, "`exit`, `error` or `closed`."]


class LaneStart(TypedDict):
    """Another agent of the process begins, or begins again inside another tool."""

    lane: Annotated[str, "Its lane."]
    parent: NotRequired[Annotated[str, "The lane that called it."]]
    within: NotRequired[Annotated[str, "The id of the tool inside which it begins."]]


class LaneSummary(TypedDict):
    """An agent of the process, as `inspect` shows it."""

    lane: Annotated[str, "Its lane."]
    iteration: Annotated[int, "Its model calls so far."]
    messages: Annotated[int, "How many messages its last model call had."]
    status: Annotated[str, "`held`, `running`, or `idle` when it does nothing now."]
    parent: NotRequired[Annotated[str, "The lane that called it."]]
    within: NotRequired[Annotated[str, "The id of the tool inside which it began."]]


class RunStart(TypedDict):
    """A run of the loop began."""

    lane: NotRequired[Annotated[str, _LANE]]


class RunEnd(TypedDict):
    """A run of the loop ended."""

    isError: Annotated[bool, "Whether an exception ended it."]
    iterations: Annotated[int, "The model calls of its lane so far."]
    lane: NotRequired[Annotated[str, _LANE]]
    error: NotRequired[Annotated[ErrorText, "The exception that ended it."]]


class UserInput(TypedDict):
    """A request has a user's message that its lane did not have before."""

    content: Annotated[Body, "The content of the message."]
    lane: NotRequired[Annotated[str, _LANE]]


class ApiRequest(TypedDict):
    """A model is called."""

    iteration: Annotated[int, "The model calls of the lane so far, with this one."]
    messageCount: Annotated[int, "How many messages the request has."]
    messagesKept: Annotated[int, "How many messages of the lane's last request it begins with."]
    messages: Annotated[Body, "The messages that come after those."]
    hash: Annotated[str, "A key of the whole request, by which a replay finds it."]
    model: NotRequired[Annotated[str, "The name of the model."]]
    provider: NotRequired[Annotated[str, "The provider of the model."]]
    lane: NotRequired[Annotated[str, _LANE]]
    settings: NotRequired[Annotated[Body, "The other arguments of the call."]]
    within: NotRequired[Annotated[str, _WITHIN]]
    decision: NotRequired[Annotated[Body, "What was decided about the call, if it was changed."]]
    replayed: NotRequired[Annotated[bool, _REPLAYED]]


class ApiResponse(TypedDict):
    """A model answered, or its call failed."""

    iteration: Annotated[int, "The number of the model call in its lane."]
    durationMs: Annotated[float, "How long the call took, in milliseconds."]
    isError: Annotated[bool, "Whether the call failed."]
    lane: NotRequired[Annotated[str, _LANE]]
    model: NotRequired[Annotated[str, "The name of the model."]]
    heldMs: NotRequired[Annotated[float, _HELD]]
    stopReason: NotRequired[Annotated[Body, "Why the model stopped."]]
    usage: NotRequired[Annotated[Body, _USAGE]]
    cost: NotRequired[Annotated[float, "What the call cost, if its model has a price."]]
    content: NotRequired[Annotated[Body, "The content of the answer."]]
    toolCalls: NotRequired[Annotated[Body, "The tools that the model asks for."]]
    undescribed: NotRequired[Annotated[Body, "Why nothing is known of the answer."]]
    response: NotRequired[Annotated[Body, "The whole answer."]]
    responsePickle: NotRequired[Annotated[str, "The content id of the pickle of the answer."]]
    responseMarker: NotRequired[Annotated[str, "Why the answer cannot be restored."]]
    error: NotRequired[Annotated[Body, "The exception: its `type` and `message`."]]
    errorPickle: NotRequired[Annotated[str, "The content id of the pickle of the exception."]]
    errorMarker: NotRequired[Annotated[str, "Why the exception cannot be restored."]]
    partial: NotRequired[Annotated[bool, _PARTIAL]]
    returned: NotRequired[Annotated[str, _RETURNED]]
    faked: NotRequired[Annotated[bool, "The answer was given by a decision."]]
    decision: NotRequired[Annotated[Body, "What was decided about the failure."]]


class ToolCallStart(TypedDict):
    """A tool is called."""

    toolId: Annotated[str, "The id of the call."]
    name: Annotated[str, "The name of the tool."]
    input: Annotated[Body, "The arguments that it runs with."]
    iteration: Annotated[int, "That of the model call that asked for it."]
    hash: Annotated[str, "A key of the name and the arguments, by which a replay finds it."]
    requested: NotRequired[
        Annotated[Body, "The arguments of the agent, if a decision changed them."]
    ]
    lane: NotRequired[Annotated[str, _LANE]]
    pure: NotRequired[Annotated[bool, "The tool has no side effects."]]
    within: NotRequired[Annotated[str, _WITHIN]]
    decision: NotRequired[Annotated[Body, "What was decided about the call, if it was changed."]]
    replayed: NotRequired[Annotated[bool, _REPLAYED]]


class ToolResult(TypedDict):
    """A tool returned a result, or a decision gave one."""

    toolId: Annotated[str, "The id of the call."]
    name: Annotated[str, "The name of the tool."]
    result: NotRequired[Annotated[Body, "The result."]]
    resultPickle: NotRequired[Annotated[str, "The content id of the pickle of the result."]]
    resultMarker: NotRequired[Annotated[str, "Why the result cannot be restored."]]
    faked: NotRequired[Annotated[bool, "The result was given by a decision or a fork."]]
    partial: NotRequired[Annotated[bool, _PARTIAL]]
    returned: NotRequired[Annotated[str, _RETURNED]]


class ToolCallEnd(TypedDict):
    """The call of a tool ended."""

    toolId: Annotated[str, "The id of the call."]
    name: Annotated[str, "The name of the tool."]
    isError: Annotated[bool, "Whether it failed."]
    durationMs: Annotated[float, "How long it took, in milliseconds."]
    error: NotRequired[Annotated[Body, "The exception: its `type` and `message`."]]
    errorPickle: NotRequired[Annotated[str, "The content id of the pickle of the exception."]]
    errorMarker: NotRequired[Annotated[str, "Why the exception cannot be restored."]]
    heldMs: NotRequired[Annotated[float, _HELD]]
    cancelled: NotRequired[Annotated[bool, "It was cancelled, and has stopped."]]
    abandoned: NotRequired[Annotated[bool, "It was cancelled, and may still run."]]
    returned: NotRequired[Annotated[str, _RETURNED]]
    denied: NotRequired[Annotated[bool, "A rule denied it, and it did not run."]]
    decision: NotRequired[Annotated[Body, "What was decided about the failure."]]


class ContextCompaction(TypedDict):
    """A request has fewer messages than the last one of its lane."""

    before: Annotated[int, "How many messages the last request had."]
    after: Annotated[int, "How many messages this one has."]


class HeldCall(TypedDict, total=False):
    """What is known of a call of a tool or model that is held."""

    name: Annotated[str, "The name of the tool or model."]
    lane: Annotated[str, _LANE]
    toolId: Annotated[str, "Of a tool: the id of its call."]
    input: Annotated[Body, "Of a tool: its arguments. Of a model: `messagesKept` and `messages`."]
    messageCount: Annotated[int, "Of a model: how many messages the request has."]
    system: Annotated[Body, "Of a model: its system prompt, if that is not one of the messages."]
    error: Annotated[ErrorText, "Of a failure: the exception."]
    breakpoint: Annotated[object, "The breakpoint that it stopped at."]
    rule: Annotated[object, "The rule that holds it, with its timeout if it has one."]


class Paused(HeldCall):
    """The loop is held: something waits for a decision."""

    stop: Annotated[str, "The agent's own name of the hold: `stop-3`."]
    reason: Annotated[str, "`start`, `pause`, `step`, `breakpoint`, `rule` or `fork`."]
    at: Annotated[str, "What waits: `model` and `tool` have not run, `error` has failed."]
    iteration: Annotated[int, "That of the model call, or of the one that asked for the tool."]
    allows: Annotated[list[str], "The actions that decide the hold."]


class Resumed(TypedDict):
    """A hold was decided or withdrawn. The fields of the action come with it."""

    stop: Annotated[str, "The agent's own name of the hold."]
    action: Annotated[str, "The action that was decided, `deny` (by a rule) or `withdrawn`."]
    by: Annotated[str, "Who decided it; `rule-1` if nobody did, and the rule had a timeout."]
    input: NotRequired[Annotated[Body, "Of `modify`: the arguments that were changed."]]
    system: NotRequired[Annotated[str, "Of `modify`: the new system prompt."]]
    result: NotRequired[Annotated[Body, "Of `skip`: the result that was given."]]
    exception_type: NotRequired[Annotated[str, "Of `raise`: the class of the exception."]]
    exception_message: NotRequired[Annotated[str, "Of `raise`: the message of the exception."]]
    role: NotRequired[Annotated[str, "Of `inject`: the role of the message."]]
    content: NotRequired[Annotated[Body, "Of `inject`: the content of the message."]]
    rule: NotRequired[Annotated[object, "The rule that decided it after its timeout."]]
    message: NotRequired[Annotated[str, "What the rule says about it."]]


class StepComplete(TypedDict):
    """A step ended: the loop did one iteration."""

    iteration: Annotated[int, "The iteration that it did."]
    lane: NotRequired[Annotated[str, _LANE]]


class BreakpointHit(TypedDict):
    """A breakpoint was hit. `paused` follows."""

    breakpoint: Annotated[object, "The breakpoint."]
    toolCall: Annotated[object, "Of a tool: `id`, `name` and `input`; null otherwise."]
    iteration: Annotated[int, "That of the model call, or of the one that asked for the tool."]
    stop: Annotated[str, "The agent's own name of the hold that begins."]
    lane: NotRequired[Annotated[str, _LANE]]


class StateSnapshot(TypedDict):
    """The loop is still held. It says so twice a second."""

    paused: Annotated[bool, "Always true."]
    waiting: Annotated[str, "What it waits for: always `resume`."]
    iteration: Annotated[int, "That of the lane that is held, or of the first of them."]
    stops: Annotated[list[str], "The agent's own names of the holds."]


class CommandExecuted(TypedDict):
    """The agent took a command."""

    commandId: Annotated[str, "The id of the command."]
    type: Annotated[str, "The type of the command."]
    status: Annotated[str, "`applied`, `accepted` (it takes effect later) or `expired`."]
    note: NotRequired[Annotated[str, "What the agent says about it."]]


class CommandApplied(TypedDict):
    """A command that was accepted took effect."""

    commandId: Annotated[str, "The id of the command."]
    type: Annotated[str, "The type of the command."]


class CommandResponse(TypedDict):
    """The agent answered a command that asks for something."""

    commandId: Annotated[str, "The id of the command."]
    type: Annotated[str, "The type of the command."]
    success: Annotated[bool, "Whether it could be done."]
    message: NotRequired[Annotated[str, "Why it could not be done."]]
    data: NotRequired[Annotated[object, "What the command asked for."]]


class MessageInjected(TypedDict):
    """A message was added to the conversation by a command, a decision or a replay."""

    role: Annotated[str, "The role of the message."]
    content: Annotated[Body, "The content of the message."]
    before: Annotated[Place, "The call that it was added before."]
    commandId: NotRequired[Annotated[str, "The id of the command that added it."]]


class ConversationEdited(TypedDict):
    """A fork changed the conversation before its first live model call."""

    before: Annotated[Place, "The call that it was changed before."]
    messages: NotRequired[Annotated[Body, "All messages, as they were wanted."]]
    system: NotRequired[Annotated[str, "The new system prompt."]]


class VariableSet(TypedDict):
    """A variable of the loop was set."""

    key: Annotated[str, "The name of the variable."]
    value: Annotated[Body, "Its new value."]
    before: Annotated[Place, "The call that it was set before."]
    commandId: NotRequired[Annotated[str, "The id of the command that set it."]]


class ValueRecorded(TypedDict):
    """The loop asked the bridge for a clock, an id or a random number."""

    name: Annotated[str, "What it asked for."]
    value: NotRequired[Annotated[Body, "The value that it got."]]
    valuePickle: NotRequired[Annotated[str, "The content id of the pickle of the value."]]
    valueMarker: NotRequired[Annotated[str, "Why the value cannot be restored."]]
    lane: NotRequired[Annotated[str, _LANE]]
    within: NotRequired[Annotated[str, _WITHIN]]


class ReplayDiverged(TypedDict):
    """A replay cannot go on as it was recorded."""

    message: Annotated[str, "What is different, as a sentence."]
    kind: NotRequired[Annotated[str, "What the agent asked for: `model`, `tool` or `value`."]]
    lane: NotRequired[Annotated[str, "Which agent of the process."]]
    name: NotRequired[Annotated[str, "The name of the tool, model or value."]]
    iteration: NotRequired[
        Annotated[int, "That of the model call, or of the one that asked for the tool."]
    ]
    expected: NotRequired[Annotated[object, "What the recording has; null if it has no more."]]
    found: NotRequired[Annotated[object, "What the agent asked for instead."]]
    difference: NotRequired[Annotated[object, "Where the two differ."]]
    recordingEnded: NotRequired[Annotated[bool, "Nothing differs: the recording has no more."]]


class EventsLost(TypedDict):
    """Events could not be written, for example because the disk was full."""

    count: Annotated[int, "How many were lost."]


class Error(TypedDict):
    """Something went wrong in the loop or the bridge. A loop may add fields of its own."""

    message: Annotated[str, "What went wrong."]
    context: Annotated[
        str,
        "Where: `run`, `fork`, `command_processing`, `set_variable`, `agent`, or the loop's own.",
    ]
    commandId: NotRequired[Annotated[str, "The id of the command that was refused."]]
    status: NotRequired[Annotated[str, "Of a command: `rejected`."]]
    type: NotRequired[Annotated[str, "Of a run: the class of the exception."]]
    warning: NotRequired[Annotated[bool, "It is only a warning."]]
    tools: NotRequired[Annotated[list[str], "Of a fork: the tools with side effects."]]


SESSION_START = EventType("session_start", SessionStart)
SESSION_END = EventType("session_end", SessionEnd)
LANE_START = EventType("lane_start", LaneStart)
RUN_START = EventType("run_start", RunStart)
RUN_END = EventType("run_end", RunEnd)
USER_INPUT = EventType("user_input", UserInput)
API_REQUEST = EventType("api_request", ApiRequest)
API_RESPONSE = EventType("api_response", ApiResponse)
TOOL_CALL_START = EventType("tool_call_start", ToolCallStart)
TOOL_RESULT = EventType("tool_result", ToolResult)
TOOL_CALL_END = EventType("tool_call_end", ToolCallEnd)
CONTEXT_COMPACTION = EventType("context_compaction", ContextCompaction)
PAUSED = EventType("paused", Paused)
RESUMED = EventType("resumed", Resumed)
STEP_COMPLETE = EventType("step_complete", StepComplete)
BREAKPOINT_HIT = EventType("breakpoint_hit", BreakpointHit)
STATE_SNAPSHOT = EventType("state_snapshot", StateSnapshot)
COMMAND_EXECUTED = EventType("command_executed", CommandExecuted)
COMMAND_APPLIED = EventType("command_applied", CommandApplied)
COMMAND_RESPONSE = EventType("command_response", CommandResponse)
MESSAGE_INJECTED = EventType("message_injected", MessageInjected)
CONVERSATION_EDITED = EventType("conversation_edited", ConversationEdited)
VARIABLE_SET = EventType("variable_set", VariableSet)
VALUE_RECORDED = EventType("value_recorded", ValueRecorded)
REPLAY_DIVERGED = EventType("replay_diverged", ReplayDiverged)
EVENTS_LOST = EventType("events_lost", EventsLost)
ERROR = EventType("error", Error)

EVENTS = (
    *(SESSION_START, SESSION_END, LANE_START, RUN_START, RUN_END, USER_INPUT),
    *(API_REQUEST, API_RESPONSE, TOOL_CALL_START, TOOL_RESULT, TOOL_CALL_END),
    *(CONTEXT_COMPACTION, PAUSED, RESUMED, STEP_COMPLETE, BREAKPOINT_HIT),
    *(STATE_SNAPSHOT, COMMAND_EXECUTED, COMMAND_APPLIED, COMMAND_RESPONSE),
    *(
        MESSAGE_INJECTED,
        CONVERSATION_EDITED,
        VARIABLE_SET,
        VALUE_RECORDED,
        REPLAY_DIVERGED,
        EVENTS_LOST,
        ERROR,
    ),
)
"""Every type of event."""
