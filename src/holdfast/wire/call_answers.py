"""The answers about intercepted calls: to the applications that make them, and to those who look.

Each field has its meaning beside it; the API's documents are made from these types. A field that
may be `UNSET` is left out of the JSON then.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from holdfast.model.call import CallBreakpoint, Preview
from holdfast.wire.session_answers import HoldAnswer, Location, SessionStatus

Json = dict[str, Any]


def _about(text: str) -> Meta:
    return Meta(description=text)


# -- to the application --------------------------------------------------------------------------


class SentValue(Struct):
    """A value that an application is to load."""

    cid: Annotated[str, _about("The content id: the SHA-256 of the bytes, in hex.")]
    data: Annotated[str | UnsetType, _about("The pickled value, in base64.")] = UNSET


class CallInstruction(Struct, kw_only=True):
    """What an application does with a call, and with what."""

    action: Annotated[
        str | UnsetType,
        _about("The action that was decided, or `poll` while the call is held."),
    ] = UNSET
    fake_result_cid: Annotated[
        str | UnsetType, _about("`skip`: the content id of the result that the caller gets.")
    ] = UNSET
    fake_result_data: Annotated[
        str | UnsetType, _about("`skip`: the pickled result, in base64.")
    ] = UNSET
    exception_type: Annotated[
        str | UnsetType, _about("`raise`: a builtin exception's name, or a dotted path.")
    ] = UNSET
    exception_message: Annotated[
        str | UnsetType, _about("`raise`: the message of the exception.")
    ] = UNSET
    exception_cid: Annotated[
        str | UnsetType, _about("`raise`: the content id of the exception itself.")
    ] = UNSET
    exception_data: Annotated[
        str | UnsetType, _about("`raise`: the pickled exception, in base64.")
    ] = UNSET
    exception_args: Annotated[
        list[SentValue] | UnsetType,
        _about("`raise`: the positional arguments of the exception's constructor."),
    ] = UNSET
    exception_kwargs: Annotated[
        dict[str, SentValue] | UnsetType,
        _about("`raise`: the keyword arguments of the exception's constructor."),
    ] = UNSET
    modified_args: Annotated[
        list[SentValue | None] | UnsetType,
        _about("`modify`: the positional arguments; null keeps one."),
    ] = UNSET
    modified_kwargs: Annotated[
        dict[str, SentValue] | UnsetType, _about("`modify`: arguments by parameter name.")
    ] = UNSET
    function_name: Annotated[
        str | UnsetType, _about("`replace`: the registered function to call instead.")
    ] = UNSET
    hold_id: Annotated[str | UnsetType, _about("`poll`: the hold that was opened.")] = UNSET
    breakpoint_id: Annotated[
        str | UnsetType, _about("`poll`: the breakpoint that holds the call.")
    ] = UNSET
    breakpoint: Annotated[
        str | UnsetType, _about("`poll`: what that breakpoint matches, in words.")
    ] = UNSET
    poll_url: Annotated[str | UnsetType, _about("`poll`: where to ask for the decision.")] = UNSET
    poll_interval_ms: Annotated[
        int | UnsetType, _about("`poll`: how often to ask, without `wait`.")
    ] = UNSET
    timeout_ms: Annotated[
        int | UnsetType, _about("`poll`: after how long the call goes on undecided.")
    ] = UNSET


class StartAnswer(CallInstruction, kw_only=True):
    """What to do with a call that is about to be made."""

    call_id: Annotated[str, _about("The id of the call.")]


class CompleteAnswer(CallInstruction, kw_only=True):
    """What to do with a call that has ended; without `action`, nothing."""

    status: Annotated[str, _about("Always `ok`.")] = "ok"


class PollAnswer(Struct, kw_only=True):
    """What a held call waits for."""

    status: Annotated[
        str,
        _about(
            "`waiting`: nobody has decided yet. `ready`: `action` says what to do. `evaluate`: "
            "evaluate `expression` and POST the answer. `check`: try `action` without doing it, "
            "and POST whether it can be done; only applications that say `checks` get this."
        ),
    ]
    action: Annotated[CallInstruction | UnsetType, _about("`ready`, `check`: the decision.")] = (
        UNSET
    )
    request_id: Annotated[
        str | UnsetType,
        _about("`evaluate`, `check`: names the question in its answer. `ready`: of the check."),
    ] = UNSET
    expression: Annotated[str | UnsetType, _about("`evaluate`: the expression.")] = UNSET
    timeout: Annotated[
        float | UnsetType, _about("`evaluate`, `check`: for how many seconds somebody waits.")
    ] = UNSET
    max_chars: Annotated[
        int | UnsetType, _about("`evaluate`: how many characters of the value are wanted.")
    ] = UNSET


class Receipt(Struct):
    """A report was taken."""

    status: Annotated[
        str, _about("`ok`; `late` for the answer to a question that nobody waits for any more.")
    ] = "ok"


class BatchReceipt(Struct):
    """A batch of calls was taken."""

    status: Annotated[str, _about("Always `ok`.")]
    taken: Annotated[int, _about("How many calls were stored; 0 for a batch that came before.")]


class Rule(Struct):
    """As much of a breakpoint as tells whether it could concern a function."""

    function: Annotated[str | None, _about("A function's name, or a pattern.")]
    alias: Annotated[str | None, _about("An alias, or a pattern.")]
    call_type: Annotated[str | None, _about("`proxy` or `inline`.")]
    session_id: Annotated[str | None, _about("The one session that it counts in.")]
    when: Annotated[str, _about("`before`, `after` or `exception`.")]
    enabled: Annotated[bool, _about("Whether it is in force.")]

    @classmethod
    def of(cls, point: CallBreakpoint) -> Rule:
        return cls(
            *(point.function, point.alias, point.call_type, point.session_id),
            *(point.when.value, point.enabled),
        )


class Lease(Struct, kw_only=True):
    """What a leased application must ask about, and where it sees that change."""

    epoch: Annotated[int, _about("The version of the rules.")]
    board: Annotated[
        str | None, _about("The file in which the epoch and the server's heartbeat are.")
    ]
    lane: Annotated[int, _about("The last digits of the numbers that the application gives.")]
    rules: Annotated[list[Rule], _about("Calls that match one have to be started at the server.")]


class OpenedSession(Struct, kw_only=True):
    """An application may report its calls; a leased one has a lease."""

    session_id: Annotated[str, _about("Names the session in every report.")]
    server_pid: Annotated[int, _about("The server's process id.")]
    version: Annotated[str, _about("The server's version.")]
    epoch: Annotated[int | UnsetType, _about("Leased: the version of the rules.")] = UNSET
    board: Annotated[
        str | UnsetType | None, _about("Leased: the file with the epoch and the heartbeat.")
    ] = UNSET
    lane: Annotated[
        int | UnsetType, _about("Leased: the last digits of the application's call numbers.")
    ] = UNSET
    rules: Annotated[
        list[Rule] | UnsetType, _about("Leased: calls that match one start at the server.")
    ] = UNSET


# -- values --------------------------------------------------------------------------------------


class Value(Struct, kw_only=True):
    """A stored value, by its preview."""

    cid: Annotated[str, _about("The content id: GET /api/cid/{cid} has the bytes.")]
    text: Annotated[str, _about("The value as text, shortened if need be.")]
    type: Annotated[str, _about("The name of its type.")]
    length: Annotated[int | UnsetType, _about("Its length, if it has one.")] = UNSET
    json: Annotated[Any, _about("The value itself, if it is small plain data.")] = UNSET
    marker: Annotated[
        str | UnsetType,
        _about(
            "Why the bytes describe the value and do not restore it: `lazy`, `iterator`, "
            "`generator`, `unpicklable`, `changing`, `too_large`, `not_captured` and others."
        ),
    ] = UNSET
    name: Annotated[str | UnsetType, _about("The parameter that it was passed for, in a hold.")] = (
        UNSET
    )
    literal: Annotated[
        str | UnsetType,
        _about(
            "In a hold, or asked for by itself: the whole value as a Python literal, if it is "
            "exactly one and not long. "
            "Changed or not, a decision takes it back as `text`."
        ),
    ] = UNSET

    @classmethod
    def of(cls, cid: str, preview: Preview | None, name: str | UnsetType = UNSET) -> Value:
        if preview is None:
            return cls(cid=cid, text="<not stored>", type="?", name=name)
        return cls(
            cid=cid,
            text=preview["text"],
            type=preview["type"],
            length=preview.get("length", UNSET),
            json=preview.get("json", UNSET),
            marker=preview.get("marker", UNSET),
            name=name,
        )


class Difference(Struct, kw_only=True):
    """A place at which two values differ."""

    path: Annotated[str, _about("Where, such as `[1].name`; `value` for the whole.")]
    change: Annotated[str, _about("`changed`, `added` or `removed`.")]
    left: Annotated[str | UnsetType, _about("What the first value has there.")] = UNSET
    right: Annotated[str | UnsetType, _about("What the second value has there.")] = UNSET


class ValueComparison(Struct, kw_only=True):
    """Where two values differ, as far as their bytes tell."""

    left: Annotated[Value, _about("The first value.")]
    right: Annotated[Value, _about("The second value.")]
    equal: Annotated[bool, _about("Whether no difference was found, and all was compared.")]
    identical: Annotated[bool, _about("Whether both have the same bytes.")]
    differences: Annotated[list[Difference], _about("The first of them, by path.")]
    complete: Annotated[bool, _about("Whether these are all differences.")]


# -- recorded calls ------------------------------------------------------------------------------


class Delivered(Struct, kw_only=True):
    """What the caller got instead of the function's own outcome, as decided after the call."""

    result: Annotated[Value | UnsetType, _about("The result that was returned.")] = UNSET
    exception_type: Annotated[str | UnsetType, _about("The type of what was raised.")] = UNSET
    exception_message: Annotated[str | UnsetType, _about("Its message.")] = UNSET
    exception_cid: Annotated[str | UnsetType, _about("Its content id.")] = UNSET
    exception: Annotated[Value | UnsetType, _about("The exception that was raised.")] = UNSET


class ChangedArgument(Struct, kw_only=True):
    """An argument that a decision changed."""

    name: Annotated[str, _about("The parameter, or `args[0]` if its name is not known.")]
    after: Annotated[Value, _about("The value that the function got.")]
    before: Annotated[
        Value | UnsetType, _about("The value that the caller passed; left out if there was none.")
    ] = UNSET


class DecidedCall(Struct, kw_only=True):
    """What a decision did to a call."""

    action: Annotated[str, _about("What was decided.")]
    text: Annotated[str, _about("What was decided and by whom, in one line.")]
    by: Annotated[str | UnsetType, _about("Who decided.")] = UNSET
    when: Annotated[str | UnsetType, _about("`before`, `after` or `exception`.")] = UNSET
    arguments: Annotated[
        list[ChangedArgument] | UnsetType, _about("`modify`: the arguments that were changed.")
    ] = UNSET
    result: Annotated[Value | UnsetType, _about("`skip`: what the caller got.")] = UNSET
    exception: Annotated[str | UnsetType, _about("`raise`: what the caller got, as text.")] = UNSET
    function: Annotated[str | UnsetType, _about("`replace`: what ran instead.")] = UNSET
    note: Annotated[
        str | UnsetType, _about("What the application said about how it carried it out.")
    ] = UNSET


class CallSummary(Struct, kw_only=True):
    """A recorded call."""

    call_id: Annotated[str, _about("The id of the call; ids sort by time.")]
    session_id: Annotated[str, _about("The session of the application that made it.")]
    method_name: Annotated[str, _about("The name of the function.")]
    alias: Annotated[str | None, _about("The name that the application gave the object.")]
    qualname: Annotated[str | None, _about("The function's qualified name.")]
    call_type: Annotated[str, _about("`proxy` or `inline`.")]
    status: Annotated[str, _about("`running`, `success`, `exception` or `lost`.")]
    timestamp: Annotated[str, _about("When it started, in UTC.")]
    args: Annotated[list[Value], _about("The positional arguments.")]
    kwargs: Annotated[dict[str, Value], _about("The keyword arguments.")]
    target_cid: Annotated[str | None, _about("The object that it was made on.")]
    result_cid: Annotated[str | None, _about("The content id of the result.")]
    result: Annotated[Value | None, _about("What the function returned.")]
    duration_ms: Annotated[float | None, _about("How long it took.")]
    parent_id: Annotated[str | None, _about("The call within which it was made.")]
    thread_name: Annotated[str | None, _about("The name of the thread that made it.")]
    task: Annotated[str | None, _about("The name of the asyncio task.")]
    child_count: Annotated[
        int | UnsetType,
        _about("How many calls were made within it; 1000 means so many or more. Not in trees."),
    ] = UNSET
    hold_id: Annotated[str | UnsetType, _about("The hold that it waits in, if it is held.")] = UNSET
    exception_type: Annotated[
        str | UnsetType | None, _about("The type of the exception that it raised.")
    ] = UNSET
    exception_message: Annotated[str | UnsetType | None, _about("The exception's message.")] = UNSET
    exception_cid: Annotated[str | UnsetType | None, _about("The exception's content id.")] = UNSET
    marker: Annotated[str | UnsetType, _about("Why its values could not be stored whole.")] = UNSET
    target_age_ms: Annotated[
        float | UnsetType,
        _about(
            "The object was last compared with what is recorded of it so long before the call, "
            "because comparing it takes long. It may have been another then, and what the call "
            "changed in it is not known. Left out, it was compared before and after the call."
        ),
    ] = UNSET
    delivered: Annotated[
        Delivered | UnsetType | None, _about("What the caller got instead, if it was decided so.")
    ] = UNSET
    decided: Annotated[
        DecidedCall | UnsetType, _about("What a decision changed about it, if there was one.")
    ] = UNSET


class CallSite(Struct, kw_only=True):
    """Where and when a call was made."""

    timestamp: Annotated[float | None, _about("Seconds since the epoch, by the application.")]
    target_cid: Annotated[str | None, _about("The object that it was made on.")]
    stack_trace: Annotated[list[Json], _about("The frames, innermost first.")]


class ChangedValues(Struct, kw_only=True):
    """The values that a call left different from how it found them."""

    args: Annotated[
        dict[str, Value] | UnsetType, _about("Positional arguments afterwards, by index.")
    ] = UNSET
    kwargs: Annotated[
        dict[str, Value] | UnsetType, _about("Keyword arguments afterwards, by name.")
    ] = UNSET
    target: Annotated[Value | UnsetType, _about("The object afterwards.")] = UNSET


class CallDetail(CallSummary, kw_only=True):
    """Everything that was recorded of a call."""

    signature: Annotated[str | None, _about("The function's signature.")]
    call_site: Annotated[CallSite, _about("Where and when it was made.")]
    location: Annotated[Location | None, _about("The line that made it.")]
    thread: Annotated[Json | None, _about("Id and name of the thread.")]
    parent_call_id: Annotated[str | None, _about("The same as `parent_id`.")]
    completed_at: Annotated[float | None, _about("When it ended, by the application.")]
    duration_ns: Annotated[int | None, _about("How long it took, in nanoseconds.")]
    changed: Annotated[ChangedValues | None, _about("What the call changed.")]
    decision: Annotated[Json | None, _about("What was decided about it, when and by whom.")]
    exception: Annotated[Value | UnsetType, _about("The exception that it raised.")] = UNSET


class UndecidedCondition(Struct, kw_only=True):
    """A reason why a condition or a filter had no answer for some calls; these did not match."""

    error: Annotated[str, _about("What it could not tell, and why.")]
    count: Annotated[int, _about("For how many calls.")]


class CallPage(Struct, kw_only=True):
    """Calls, newest first; after a cursor, in the order in which they arrived."""

    calls: Annotated[list[CallSummary], _about("The calls of this page.")]
    count: Annotated[int, _about("How many there are on this page.")]
    next: Annotated[
        str | None,
        _about("`before` for the next page; null at the end. After a cursor, the next `after`."),
    ]
    has_more: Annotated[bool, _about("Whether there is a next page already.")]
    cursor: Annotated[
        str, _about("`after` for what is recorded or changed later than this was read.")
    ]
    looked_at: Annotated[int, _about("How many calls were read to find these.")]
    undecided: Annotated[int, _about("For how many of them the filter had no answer.")]
    missed: Annotated[
        bool | UnsetType,
        _about(
            "After a cursor: whether it was too old, or another server's, so that calls may be "
            "left out. Read the list again then."
        ),
    ] = UNSET
    condition_errors: Annotated[
        list[UndecidedCondition] | UnsetType,
        _about("Why the filter had no answer, the most frequent reason first."),
    ] = UNSET


class TimelineLane(Struct, kw_only=True):
    """A thread, or an asyncio task in it, that makes one call at a time."""

    session_id: Annotated[str, _about("The session of the application.")]
    thread: Annotated[str | None, _about("The name of the thread.")]
    thread_id: Annotated[int | str | None, _about("The id of the thread.")]
    task: Annotated[str | None, _about("The name of the asyncio task.")]


class CallTimeline(Struct, kw_only=True):
    """Calls in the order of time, column by column: entries at the same place are of one call."""

    base: Annotated[float, _about("The time 0, in seconds since the epoch: the first call began.")]
    call_ids: Annotated[list[str], _about("The ids of the calls.")]
    start: Annotated[list[float], _about("When each began, in milliseconds after `base`.")]
    duration: Annotated[
        list[float | None], _about("How long each took, in milliseconds; null if it has no end.")
    ]
    function: Annotated[list[int], _about("Its place in `functions`.")]
    lane: Annotated[list[int], _about("Its place in `lanes`.")]
    depth: Annotated[
        list[int],
        _about("How deep it is in its lane. No two calls of a lane overlap at the same depth."),
    ]
    status: Annotated[list[int], _about("Its place in `statuses`.")]
    functions: Annotated[list[str], _about("The qualified names of the functions.")]
    lanes: Annotated[list[TimelineLane], _about("Who made the calls.")]
    statuses: Annotated[list[str], _about("`running`, `success`, `exception` or `lost`.")]
    total: Annotated[int, _about("How many calls are in the range, whatever the filter says.")]
    cut: Annotated[
        bool, _about("Whether older calls of the range were left out: narrow the range.")
    ]
    earliest: Annotated[
        float,
        _about(
            "When the first call of the session began, or of all sessions, in milliseconds after "
            "`base`; in the range or not."
        ),
    ]
    latest: Annotated[float, _about("When the last one of them began, or the last one here ended.")]
    looked_at: Annotated[int, _about("How many calls were read to find these.")]
    undecided: Annotated[int, _about("For how many of them the filter had no answer.")]
    condition_errors: Annotated[
        list[UndecidedCondition] | UnsetType,
        _about("Why the filter had no answer, the most frequent reason first."),
    ] = UNSET


class CallNode(CallSummary, kw_only=True):
    """A call with the calls made within it."""

    children: Annotated[list[CallNode], _about("The calls made within it, oldest first.")]


class CallTree(Struct, kw_only=True):
    """A call, and all calls made within it."""

    call: Annotated[CallNode, _about("The call.")]
    complete: Annotated[bool, _about("Whether that is all of them.")]
    total: Annotated[int, _about("How many calls these are.")]


class FunctionSummary(Struct, kw_only=True):
    """A function that was registered or called."""

    function_id: Annotated[
        str, _about("Its id, made from its names: a function has the same one in every server.")
    ]
    name: Annotated[str, _about("Its name.")]
    alias: Annotated[str | None, _about("The name that the application gave the object.")]
    qualname: Annotated[str | None, _about("Its qualified name.")]
    module: Annotated[str | None, _about("Its module.")]
    signature: Annotated[str | None, _about("Its signature.")]
    file: Annotated[str | None, _about("The file that defines it.")]
    line: Annotated[int | None, _about("The line of its definition.")]
    target_cid: Annotated[str | None, _about("Its content id.")]
    sessions: Annotated[list[str], _about("The sessions that use it.")]
    calls: Annotated[int, _about("How often it was called.")]


class FunctionList(Struct, kw_only=True):
    """Functions that were registered or called."""

    functions: Annotated[list[FunctionSummary], _about("The functions.")]
    total: Annotated[int, _about("How many there are.")]


# -- held calls ----------------------------------------------------------------------------------


class CallHold(HoldAnswer, kw_only=True, tag_field="kind", tag="calls"):
    """A held call, as a list of holds shows it."""

    call_id: Annotated[str, _about("The call.")]
    method_name: Annotated[str, _about("The name of the function.")]
    when: Annotated[str, _about("`before`, `after` or `exception`.")]
    breakpoint_id: Annotated[str, _about("The breakpoint that held it.")]


class HeldArgument(Struct, kw_only=True):
    """What a held call has for a parameter."""

    name: Annotated[str, _about("The parameter, or `args[0]` if its name is not known.")]
    text: Annotated[str, _about("The value as text; `<missing>` if there is none.")]
    is_passed: Annotated[bool, _about("Whether it was passed; otherwise it is the default.")]
    editable: Annotated[
        bool, _about("Whether `literal` is the whole value, which can be changed and sent back.")
    ] = False
    literal: Annotated[
        str | UnsetType,
        _about("If it is editable: the value as a Python literal; a decision's `text` takes it."),
    ] = UNSET


class CallHoldDetail(CallDetail, kw_only=True, tag_field="kind", tag="calls"):
    """What a decider has to know: the call, its values by parameter, and what may replace it."""

    hold_id: Annotated[str, _about("The id of the hold.")]
    id: Annotated[str, _about("The same id.")]
    reason: Annotated[str, _about("Always `breakpoint`.")]
    opened_at: Annotated[str, _about("Since when it waits, as an ISO 8601 time in UTC.")]
    thread_id: Annotated[int | None, _about("The thread that waits.")]
    allows: Annotated[list[str], _about("The actions that decide it.")]
    when: Annotated[str, _about("`before`, `after` or `exception`.")]
    breakpoint_id: Annotated[str, _about("The breakpoint that held it.")]
    evaluates: Annotated[bool, _about("Whether expressions can be evaluated in its caller.")]
    timeout_ms: Annotated[int, _about("After how long it goes on undecided.")]
    replacements: Annotated[list[str], _about("The functions that `replace` takes.")]
    arguments: Annotated[
        list[HeldArgument], _about("The arguments by parameter, in the order of the signature.")
    ]
    breakpoint: Annotated[str | UnsetType, _about("What that breakpoint matches, in words.")] = (
        UNSET
    )
    session_name: Annotated[
        str | UnsetType | None, _about("A name of its session to show; null if it has none.")
    ] = UNSET
    title: Annotated[str | UnsetType, _about("An open hold: what waits, in one line.")] = UNSET
    open: Annotated[bool, _about("Whether it still waits for a decision.")] = True


class CallEvaluation(Struct, kw_only=True):
    """The value of an expression, made in the frame of whoever makes the call."""

    result: Annotated[str, _about("The value as text.")]
    type: Annotated[str, _about("The name of its type.")]
    hold_id: Annotated[str, _about("The hold at which it was evaluated.")]
    variable_reference: Annotated[int, _about("Always 0: it cannot be unfolded.")] = 0
    reference: Annotated[int, _about("Always 0, like `variable_reference`.")] = 0
    length: Annotated[int | UnsetType, _about("Its length, if it has one.")] = UNSET
    json: Annotated[Any, _about("The value itself, if it is small plain data.")] = UNSET


class CallDecisionAnswer(Struct, kw_only=True):
    """A held call was decided."""

    hold_id: Annotated[str, _about("The hold that this settled.")]
    action: Annotated[str, _about("What was decided.")]
    call_id: Annotated[str, _about("The call.")]
    session_id: Annotated[str, _about("The session of the call.")]
    status: Annotated[str, _about("The state of that session now.")]
    checked: Annotated[
        bool, _about("Whether the application has tried the decision before it was taken.")
    ] = False
    note: Annotated[
        str | UnsetType, _about("What the application says about how it carries it out.")
    ] = UNSET


# -- breakpoints and sessions --------------------------------------------------------------------


class CallBreakpointAnswer(Struct, kw_only=True):
    """A call breakpoint, with what it has counted."""

    id: Annotated[str, _about("The id of the breakpoint.")]
    breakpoint_id: Annotated[str, _about("The same id.")]
    when: Annotated[str, _about("`before`, `after` or `exception`.")]
    enabled: Annotated[bool, _about("Whether it is in force.")]
    hits: Annotated[int, _about("How many calls it has matched.")]
    undecided: Annotated[int, _about("How often its condition or action had no answer.")]
    function: Annotated[str | UnsetType, _about("A function's name, or a pattern.")] = UNSET
    alias: Annotated[str | UnsetType, _about("An alias, or a pattern.")] = UNSET
    call_type: Annotated[str | UnsetType, _about("`proxy` or `inline`.")] = UNSET
    condition: Annotated[str | UnsetType, _about("A filter, such as `args[0] > 10`.")] = UNSET
    hit_condition: Annotated[str | UnsetType, _about("On which hits, such as `% 3`.")] = UNSET
    session_id: Annotated[str | UnsetType, _about("The one session that it counts in.")] = UNSET
    action: Annotated[Json | UnsetType, _about("What is done at once, without a hold.")] = UNSET
    message: Annotated[str | UnsetType, _about("Why it had no answer last.")] = UNSET
    matches: Annotated[
        int, _about("How many functions that were registered or called it names, so far.")
    ] = 0
    suggestions: Annotated[
        list[str] | UnsetType, _about("If it names none: the functions that are probably meant.")
    ] = UNSET
    warnings: Annotated[
        list[str] | UnsetType,
        _about("What is probably a mistake in it, in sentences. It is in force all the same."),
    ] = UNSET
    condition_errors: Annotated[
        list[UndecidedCondition] | UnsetType,
        _about("Why its condition had no answer, the most frequent reason first."),
    ] = UNSET


class RemovedCallBreakpoint(Struct, kw_only=True):
    """A call breakpoint that is gone, and the calls that it still holds."""

    breakpoint_id: Annotated[str, _about("The id that it had.")]
    deleted: Annotated[bool, _about("Always true.")] = True
    holds: Annotated[
        list[str] | UnsetType,
        _about("The holds of its that are still open; `release` continues them."),
    ] = UNSET
    released: Annotated[list[str] | UnsetType, _about("The holds that were continued.")] = UNSET
    hint: Annotated[str | UnsetType, _about("How to continue what is still held.")] = UNSET


class ClearedCallBreakpoints(Struct, kw_only=True):
    """The call breakpoints are gone; what they still hold."""

    deleted: Annotated[int, _about("How many there were.")]
    holds: Annotated[
        list[str] | UnsetType,
        _about("The holds of theirs that are still open; `release` continues them."),
    ] = UNSET
    released: Annotated[list[str] | UnsetType, _about("The holds that were continued.")] = UNSET
    hint: Annotated[str | UnsetType, _about("How to continue what is still held.")] = UNSET


class CallBreakpointList(Struct, kw_only=True):
    """Every call breakpoint."""

    breakpoints: Annotated[list[CallBreakpointAnswer], _about("The breakpoints.")]
    total: Annotated[int, _about("How many there are.")]


class CallSessionAnswer(SessionStatus, kw_only=True, tag_field="kind", tag="calls"):
    """A session of calls."""

    name: Annotated[str | None, _about("The application's name.")]
    created_at: Annotated[str, _about("When it was opened, in UTC.")]
    pid: Annotated[int | None, _about("The application's process id.")]
    calls: Annotated[int, _about("How many calls it has reported.")]
    holds: Annotated[list[str], _about("Its open holds.")]
    last_event: Annotated[int, _about("The number of its newest event.")]
    argv: Annotated[list[str] | UnsetType, _about("The application's command line.")] = UNSET
    cwd: Annotated[str | UnsetType, _about("Its working directory.")] = UNSET
    python: Annotated[str | UnsetType, _about("Its Python version.")] = UNSET
    script: Annotated[str | UnsetType, _about("The script that it runs.")] = UNSET
    module: Annotated[str | UnsetType, _about("The module that it runs.")] = UNSET
    path: Annotated[list[str] | UnsetType, _about("Its import path.")] = UNSET
    reason: Annotated[str | UnsetType | None, _about("Why it ended.")] = UNSET
