"""Parses what an application reports of its calls.

Written out by hand, without a schema library: these are read thousands of times a second.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated, Any, Literal, TypedDict

import orjson
from msgspec import UNSET, Struct, UnsetType

from holdfast.errors import InvalidInput
from holdfast.model.call import (
    CALL_TYPES,
    IMPLICIT_SESSION,
    Application,
    Item,
    Parameters,
    Preview,
    call_number,
)
from holdfast.wire.call_items import (
    MAX_NAME,
    MAX_PREVIEW,
    check_item,
    invalid,
    is_cid,
    parse_cid,
    parse_item,
    parse_items,
    parse_named_items,
    parse_parameters,
    parse_preview,
    shorten,
)
from holdfast.wire.described import about

Json = dict[str, Any]
MAX_FRAMES = 2000
_MAX_TEXTS = 100


@dataclass(slots=True)
class StartRequest:
    """A call is about to be made."""

    method_name: str
    session_id: str = IMPLICIT_SESSION
    target_cid: str | None = None
    args: tuple[Item, ...] = ()
    kwargs: dict[str, Item] = field(default_factory=dict)
    more: tuple[Item, ...] = ()
    """The target's value, and the values that the others need."""
    frames: list[Any] = field(default_factory=list)
    timestamp: float | None = None
    call_type: str = "proxy"
    alias: str | None = None
    signature: str | None = None
    qualname: str | None = None
    module: str | None = None
    thread: Json | None = None
    task: str | None = None
    parent: int | None = None
    evaluates: bool = False
    parameters: Parameters | None = None
    """Those of the function, when it is called for the first time."""
    began: int | None = None
    """The number of a call that is under way already: it is too late to hold it before."""
    target_age_ns: int | None = None

    @property
    def items(self) -> list[Item]:
        return [*self.args, *self.kwargs.values(), *self.more]


@dataclass(slots=True)
class CompleteRequest:
    """A call has ended."""

    number: int
    call_id: str
    status: str
    timestamp: float | None = None
    result: Item | None = None
    exception: Item | None = None
    exception_type: str | None = None
    exception_message: str | None = None
    needs: tuple[Item, ...] = ()
    duration_ns: int | None = None
    changed: Json | None = None
    """As it is stored: content ids instead of items."""
    changed_items: tuple[Item, ...] = ()
    action: str | None = None
    marker: str | None = None

    @property
    def items(self) -> list[Item]:
        outcome = [item for item in (self.result, self.exception) if item is not None]
        return [*outcome, *self.needs, *self.changed_items]


@dataclass(frozen=True, slots=True)
class Registration:
    """A function that an application has at hand."""

    session_id: str
    name: str
    alias: str | None
    qualname: str | None
    module: str | None
    signature: str | None
    file: str | None
    line: int | None
    target_cid: str | None
    parameters: Parameters | None


@dataclass(frozen=True, slots=True)
class EvaluationAnswer:
    """What an expression came to: a preview, or the type and message of an error."""

    request_id: str
    result: Preview | None
    error: Json | None


@dataclass(frozen=True, slots=True)
class CheckAnswer:
    """Whether an application can carry out a decision. `refusal` says why it cannot."""

    request_id: str
    refusal: Json | None = None
    note: str | None = None


QuestionAnswer = EvaluationAnswer | CheckAnswer


# -- the JSON of these requests, for the documents -----------------------------------------------


class SentPreview(TypedDict, total=False):
    """What people see of a value."""

    text: Annotated[str, about("The value as text.")]
    type: Annotated[str, about("The name of its type.")]
    length: Annotated[int, about("Its length, if it has one.")]
    json: Annotated[Any, about("The value itself, if it is small plain data.")]
    marker: Annotated[str, about("Why the value itself is not in the bytes, in one word.")]


class SentItem(TypedDict, total=False):
    """A value of a call. `data` and `preview` come with its first use only."""

    cid: Annotated[str, about("The content id: the SHA-256 of the bytes, in hex.")]
    data: Annotated[str, about("The pickled value, in base64.")]
    preview: Annotated[SentPreview, about("What people see of it.")]


class SentFrame(TypedDict, total=False):
    """A frame of the application's stack."""

    filename: Annotated[str, about("The path of the file.")]
    lineno: Annotated[int, about("The line.")]
    function: Annotated[str, about("The function.")]
    code_context: Annotated[str, about("The text of the line.")]


class SentCallSite(TypedDict, total=False):
    """Where and when a call is made."""

    timestamp: Annotated[float, about("Seconds since the epoch.")]
    target_cid: Annotated[str, about("The object that the call is made on.")]
    stack_trace: Annotated[list[SentFrame], about("The frames, innermost first.")]


class SentThread(TypedDict, total=False):
    """The thread that makes a call."""

    id: Annotated[int, about("The thread's id.")]
    name: Annotated[str, about("The thread's name.")]


class SentDefault(SentPreview, total=False):
    """What people see of a default value."""

    literal: Annotated[str, about("The value as a Python literal, if it has no `json`.")]


class SentParameter(TypedDict, total=False):
    """A parameter of a function. `name` and `kind` are needed."""

    name: Annotated[str, about("The name.")]
    kind: Annotated[
        str,
        about(
            "`positional_only`, `positional_or_keyword`, `var_positional`, `keyword_only` or "
            "`var_keyword`."
        ),
    ]
    default: Annotated[SentDefault, about("The default value, if there is one.")]


class SentChanges(TypedDict, total=False):
    """The values that a call left different from how it found them."""

    args: Annotated[dict[str, SentItem], about("Positional arguments, by index.")]
    kwargs: Annotated[dict[str, SentItem], about("Keyword arguments, by name.")]
    target: Annotated[SentItem, about("The object that the call was made on.")]


class StartFields(TypedDict, total=False):
    """A call is about to be made. Only `method_name` is needed."""

    method_name: Annotated[str, about("The name of the function.")]
    session_id: Annotated[str, about("The session; left out, the server's implicit one.")]
    target_cid: Annotated[str, about("The object that the call is made on.")]
    target: Annotated[SentItem, about("The value of that object.")]
    args: Annotated[list[SentItem], about("The positional arguments.")]
    kwargs: Annotated[dict[str, SentItem], about("The keyword arguments.")]
    needs: Annotated[list[SentItem], about("Values that the others refer to.")]
    call_site: Annotated[SentCallSite, about("Where and when it is made.")]
    call_type: Annotated[str, about("`proxy` (as a rule) or `inline`.")]
    alias: Annotated[str, about("The name that the application gave the object.")]
    signature: Annotated[str, about("The function's signature.")]
    qualname: Annotated[str, about("The function's qualified name.")]
    module: Annotated[str, about("The function's module.")]
    thread: Annotated[SentThread, about("The thread that makes it.")]
    task: Annotated[str, about("The name of the asyncio task.")]
    parent_call_id: Annotated[str, about("The call within which it is made.")]
    parameters: Annotated[
        list[SentParameter],
        about("The function's parameters, without `self`. Once for each function is enough."),
    ]
    evaluates: Annotated[bool, about("Whether expressions can be evaluated in its caller.")]
    began: Annotated[str, about("The id of a call that is under way already.")]
    target_age_ns: Annotated[
        int,
        about("How long ago the object was compared with what is sent of it; left out, just now."),
    ]


class CompleteFields(TypedDict, total=False):
    """A call has ended. `call_id` and `status` are needed."""

    call_id: Annotated[str, about("The id that the call was given when it started.")]
    status: Annotated[str, about("`success` or `exception`.")]
    timestamp: Annotated[float, about("When it ended, in seconds since the epoch.")]
    result_cid: Annotated[str, about("The content id of the result.")]
    result_data: Annotated[str, about("The pickled result, in base64.")]
    result_preview: Annotated[SentPreview, about("What people see of the result.")]
    exception_cid: Annotated[str, about("The content id of the exception.")]
    exception_data: Annotated[str, about("The pickled exception, in base64.")]
    exception_preview: Annotated[SentPreview, about("What people see of the exception.")]
    exception_type: Annotated[str, about("The name of the exception's class.")]
    exception_message: Annotated[str, about("The exception's message.")]
    needs: Annotated[list[SentItem], about("Values that the others refer to.")]
    duration_ns: Annotated[int, about("How long it took, in nanoseconds.")]
    changed: Annotated[SentChanges, about("What it changed.")]
    action: Annotated[str, about("What was done about it, if something was decided.")]
    marker: Annotated[str, about("Why its values could not be stored whole.")]


class EvaluationError(TypedDict, total=False):
    """What an expression raised."""

    type: Annotated[str, about("The name of the exception's class.")]
    message: Annotated[str, about("The exception's message.")]


class RefusalFields(TypedDict, total=False):
    """Why an application cannot carry out a decision."""

    message: Annotated[str, about("What is wrong with it.")]
    hint: Annotated[str, about("What to do instead.")]
    field: Annotated[str, about("The field of the decision that is wrong.")]
    choices: Annotated[list[str], about("What would work, such as the functions that fit.")]


class AnswerFields(TypedDict, total=False):
    """What an expression came to: `result` or `error`. Of a check: `accepted` or `refusal`."""

    request_id: Annotated[str, about("The `request_id` that the poll gave.")]
    result: Annotated[SentPreview, about("The value.")]
    error: Annotated[EvaluationError, about("What it raised.")]
    accepted: Annotated[bool, about("The decision can be carried out.")]
    note: Annotated[str, about("With `accepted`: what the decider should know about it.")]
    refusal: Annotated[RefusalFields, about("The decision cannot be carried out.")]


class ApplicationFields(TypedDict, total=False):
    """An application that reports its calls. Nothing of it is needed."""

    name: Annotated[str, about("The application's name.")]
    pid: Annotated[int, about("Its process id.")]
    argv: Annotated[list[str], about("Its command line.")]
    cwd: Annotated[str, about("Its working directory.")]
    python: Annotated[str, about("Its Python version.")]
    script: Annotated[str, about("The script that it runs.")]
    module: Annotated[str, about("The module that it runs.")]
    path: Annotated[list[str], about("Its import path.")]
    mode: Annotated[str, about("`strict`, or `leased` for one that reports in batches.")]
    checks: Annotated[
        bool, about("Whether it tries decisions before they are taken: it understands `check`.")
    ]


class EndFields(TypedDict):
    """Which application ends."""

    session_id: Annotated[str, about("The session that `POST /api/call/session` gave.")]


class RegistrationFields(TypedDict, total=False):
    """A function that an application has at hand. Only `name` is needed."""

    name: Annotated[str, about("The function's name.")]
    session_id: Annotated[str, about("The session; left out, the server's implicit one.")]
    alias: Annotated[str, about("The name that the application gave the object.")]
    qualname: Annotated[str, about("The function's qualified name.")]
    module: Annotated[str, about("The function's module.")]
    signature: Annotated[str, about("The function's signature.")]
    file: Annotated[str, about("The file that defines it.")]
    line: Annotated[int, about("The line of its definition.")]
    target_cid: Annotated[str, about("Its content id.")]
    parameters: Annotated[list[SentParameter], about("Its parameters, without `self`.")]


# -- what clients ask about calls ----------------------------------------------------------------

PageLimit = Annotated[int, about("How many calls the answer may carry.", ge=1, le=1000)]
Before = Annotated[str | None, about("`next` of the page before.")]


class CallSearch(Struct, kw_only=True, frozen=True, forbid_unknown_fields=True):
    """Which calls to list."""

    function: Annotated[str | None, about("A name, or a pattern such as `Cart.*`.")] = None
    alias: Annotated[str | None, about("An alias, or a pattern.")] = None
    session: Annotated[str | None, about("Only calls of this session.")] = None
    status: Annotated[str | None, about("`running`, `success`, `exception` or `lost`.")] = None
    call_type: Annotated[Literal["proxy", "inline"] | None, about("`proxy` or `inline`.")] = None
    since: Annotated[float | None, about("Started at or after, in seconds since the epoch.")] = None
    until: Annotated[float | None, about("Started before, in seconds since the epoch.")] = None
    cid: Annotated[str | None, about("A value that the call used.")] = None
    filter: Annotated[str | None, about("An expression such as `args[0] > 10`.")] = None
    before: Before = None
    after: Annotated[
        str | None,
        about(
            "`cursor` or `next` of an answer before: what was recorded or changed after it, in the "
            "order of arrival."
        ),
    ] = None
    wait: Annotated[
        str | None, about("With `after`: wait if there is nothing yet; seconds, or `true`.")
    ] = None
    limit: PageLimit = 100


class TimelineQuery(
    Struct,
    kw_only=True,
    frozen=True,
    forbid_unknown_fields=True,
    rename={"since": "from", "until": "to"},
):
    """Which calls a timeline has."""

    session: Annotated[str | None, about("Only calls of this session.")] = None
    since: Annotated[float | None, about("Started at or after, in seconds since the epoch.")] = None
    until: Annotated[float | None, about("Started before, in seconds since the epoch.")] = None
    filter: Annotated[str | None, about("An expression such as `duration > 0.5`.")] = None
    function: Annotated[str | None, about("A name, or a pattern such as `Cart.*`.")] = None
    limit: Annotated[
        int, about("How many calls the answer may carry: the newest.", ge=1, le=200_000)
    ] = 100_000


class TreeQuery(Struct, kw_only=True):
    """How much of a tree of calls."""

    limit: PageLimit = 500


class ValueCallsQuery(Struct, kw_only=True):
    """Which calls that used a value."""

    limit: PageLimit = 100
    before: Before = None


class FunctionQuery(Struct, kw_only=True):
    """Which functions to list."""

    session: Annotated[str | None, about("Only functions that this session uses.")] = None


class DiffQuery(Struct, kw_only=True):
    """Which values to compare."""

    left: Annotated[str, about("The content id of the first value.")]
    right: Annotated[str, about("The content id of the second value.")]


class RemovalQuery(Struct, kw_only=True):
    """What becomes of the calls that a breakpoint holds when it is removed."""

    release: Annotated[bool, about("Whether to continue the calls that it still holds.")] = False
    by: Annotated[str | None, about("Who decides that.")] = None


class PollQuery(Struct, kw_only=True):
    """How long to wait for a decision."""

    wait: Annotated[str | None, about("Wait for the decision: seconds, or `true`.")] = None


class LeaseQuery(Struct, kw_only=True):
    """Whose rules."""

    session_id: Annotated[str | None, about("The session whose lease is renewed.")] = None


class CallBreakpointFields(Struct, kw_only=True, forbid_unknown_fields=True):
    """Which calls to hold; at a change, what is left out stays, and null takes it away."""

    function: Annotated[
        str | UnsetType | None, about("A function's name, or a pattern such as `Cart.*`.")
    ] = UNSET
    alias: Annotated[str | UnsetType | None, about("An alias, or a pattern.")] = UNSET
    call_type: Annotated[str | UnsetType | None, about("`proxy` or `inline`.")] = UNSET
    condition: Annotated[
        str | UnsetType | None, about("An expression over the call, such as `args[0] > 10`.")
    ] = UNSET
    hit_condition: Annotated[
        str | int | UnsetType | None, about("On which hits, such as `% 3`.")
    ] = UNSET
    when: Annotated[
        Literal["before", "after", "exception"] | UnsetType,
        about("When to hold; left out, `before` the call."),
    ] = UNSET
    enabled: Annotated[bool | UnsetType, about("Whether it is in force; left out, it is.")] = UNSET
    session_id: Annotated[str | UnsetType | None, about("The one session that it counts in.")] = (
        UNSET
    )
    action: Annotated[
        dict[str, Any] | UnsetType | None,
        about("A decision that is made at once, without a hold: `action` and its fields."),
    ] = UNSET

    def get_fields(self) -> Json:
        """The fields that are not left out."""
        values = {name: getattr(self, name) for name in self.__struct_fields__}
        return {name: value for name, value in values.items() if value is not UNSET}


# -- parsing -------------------------------------------------------------------------------------


def parse_body(data: bytes) -> Json:
    try:
        body = orjson.loads(data)
    except orjson.JSONDecodeError as problem:
        raise InvalidInput(f"body: not JSON: {problem}", field="body") from None
    if not isinstance(body, dict):
        raise InvalidInput("body: an object is expected", field="body")
    return body


def parse_start(body: Json, limit: int) -> StartRequest:
    """`limit`: the most bytes that one value may have."""
    site = _parse_object(body, "call_site")
    frames = site.get("stack_trace") or []
    if not isinstance(frames, list):
        raise invalid("call_site.stack_trace", "a list")
    target = body.get("target")
    needs = parse_items(body.get("needs"), "needs", limit)
    target_cid = body.get("target_cid") or site.get("target_cid")
    return StartRequest(
        method_name=parse_text(body, "method_name"),
        session_id=_parse_text(body, "session_id") or IMPLICIT_SESSION,
        target_cid=target_cid if is_cid(target_cid) else None,
        args=parse_items(body.get("args"), "args", limit),
        kwargs=parse_named_items(body.get("kwargs"), "kwargs", limit),
        more=needs if target is None else (*needs, parse_item(target, "target", limit)),
        frames=frames[:MAX_FRAMES],
        timestamp=_parse_number(site, "timestamp"),
        call_type=_parse_call_type(body.get("call_type")),
        alias=_parse_text(body, "alias"),
        signature=_parse_text(body, "signature"),
        qualname=_parse_text(body, "qualname"),
        module=_parse_text(body, "module"),
        thread=_parse_object(body, "thread") or None,
        task=_parse_text(body, "task"),
        parent=_parse_call_id(body.get("parent_call_id"), "parent_call_id"),
        evaluates=body.get("evaluates") is True,
        parameters=parse_parameters(body.get("parameters")),
        began=_parse_call_id(body.get("began"), "began"),
        target_age_ns=_parse_nanoseconds(body, "target_age_ns"),
    )


def parse_complete(body: Json, limit: int) -> CompleteRequest:
    call_id = parse_text(body, "call_id")
    status = body.get("status")
    if status not in ("success", "exception"):
        raise invalid("status", '"success" or "exception"')
    changed, changed_items = _parse_changed(_parse_object(body, "changed"), limit)
    return CompleteRequest(
        number=call_number(call_id) or -1,
        call_id=call_id,
        status=status,
        timestamp=_parse_number(body, "timestamp"),
        result=_parse_outcome(body, "result", limit),
        exception=_parse_outcome(body, "exception", limit),
        exception_type=_parse_text(body, "exception_type"),
        exception_message=_parse_text(body, "exception_message", limit=MAX_PREVIEW),
        needs=parse_items(body.get("needs"), "needs", limit),
        duration_ns=_parse_nanoseconds(body, "duration_ns"),
        changed=changed or None,
        changed_items=changed_items,
        action=_parse_text(body, "action"),
        marker=_parse_text(body, "marker"),
    )


def parse_application(body: Json) -> Application:
    pid = body.get("pid")
    if pid is not None and (type(pid) is not int or not 0 < pid < 2**31):
        raise invalid("pid", "a process id")
    return Application(
        name=_parse_text(body, "name"),
        pid=pid,
        argv=_parse_texts(body, "argv"),
        cwd=_parse_text(body, "cwd"),
        python=_parse_text(body, "python"),
        script=_parse_text(body, "script"),
        module=_parse_text(body, "module"),
        path=_parse_texts(body, "path"),
        mode=_parse_text(body, "mode"),
        checks=body.get("checks") is True,
    )


def parse_registration(body: Json) -> Registration:
    line = _parse_number(body, "line")
    target_cid = body.get("target_cid")
    return Registration(
        session_id=_parse_text(body, "session_id") or IMPLICIT_SESSION,
        name=parse_text(body, "name"),
        alias=_parse_text(body, "alias"),
        qualname=_parse_text(body, "qualname"),
        module=_parse_text(body, "module"),
        signature=_parse_text(body, "signature"),
        file=_parse_text(body, "file"),
        line=None if line is None else int(line),
        target_cid=target_cid if is_cid(target_cid) else None,
        parameters=parse_parameters(body.get("parameters")),
    )


def parse_question_answer(body: Json) -> QuestionAnswer:
    request_id = parse_text(body, "request_id")
    refusal = _parse_object(body, "refusal")
    if refusal or body.get("accepted") is True:
        return CheckAnswer(request_id, _parse_refusal(refusal), _parse_text(body, "note"))
    error, result = _parse_object(body, "error"), _parse_object(body, "result")
    if not error and not result:
        raise invalid("result", "a preview, or an error,")
    if error:
        return EvaluationAnswer(request_id, None, error)
    return EvaluationAnswer(request_id, parse_preview(result, b""), None)


def _parse_refusal(given: Json) -> Json | None:
    if not given:
        return None
    refusal: Json = {
        name: _parse_text(given, name, limit=MAX_PREVIEW) for name in ("hint", "field")
    }
    message = _parse_text(given, "message", limit=MAX_PREVIEW)
    choices = list(_parse_texts(given, "choices") or ())
    return {**refusal, "message": message or "it cannot be carried out", "choices": choices}


def parse_text(body: Json, name: str) -> str:
    """A text that has to be there."""
    given = body.get(name)
    if not isinstance(given, str) or not given:
        raise invalid(name, "text")
    return shorten(given, MAX_NAME)


# -- parts of requests ---------------------------------------------------------------------------


def _parse_text(body: Json, name: str, *, limit: int = MAX_NAME) -> str | None:
    given = body.get(name)
    if given is None:
        return None
    if not isinstance(given, str):
        raise invalid(name, "text")
    return given if len(given) <= limit else shorten(given, limit)


def _parse_texts(body: Json, name: str) -> tuple[str, ...] | None:
    texts = body.get(name)
    if texts is None:
        return None
    if not isinstance(texts, list) or not all(isinstance(text, str) for text in texts):
        raise invalid(name, "a list of texts")
    return tuple(shorten(text) for text in texts[:_MAX_TEXTS])


def _parse_nanoseconds(body: Json, name: str) -> int | None:
    given = _parse_number(body, name)
    return None if given is None else min(max(int(given), 0), 2**63 - 1)


def _parse_number(body: Json, name: str) -> float | None:
    given = body.get(name)
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, (int, float)) or given != given:
        raise invalid(name, "a number")
    return given


def _parse_object(body: Json, name: str) -> Json:
    given = body.get(name)
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise invalid(name, "an object")
    return given


def _parse_call_type(given: Any) -> str:
    if given is None:
        return CALL_TYPES[0]
    if given not in CALL_TYPES:
        raise invalid("call_type", " or ".join(CALL_TYPES))
    return str(given)


def _parse_call_id(given: Any, where: str) -> int | None:
    if given is None:
        return None
    number = call_number(given) if isinstance(given, str) else None
    if number is None:
        raise invalid(where, "a call_id")
    return number


def _parse_outcome(body: Json, name: str, limit: int) -> Item | None:
    """The value whose parts are in `result_cid`, `result_data` and `result_preview`."""
    given = body.get(f"{name}_cid")
    if given is None:
        return None
    cid, data = parse_cid(given, f"{name}_cid"), body.get(f"{name}_data")
    if data is None:
        return Item(cid)
    return check_item(cid, data, body.get(f"{name}_preview"), name, limit)


def _parse_changed(given: Json, limit: int) -> tuple[Json, tuple[Item, ...]]:
    cids: Json = {}
    items: list[Item] = []
    for part in ("args", "kwargs"):
        named = parse_named_items(given.get(part), f"changed.{part}", limit)
        if named:
            cids[part] = {name: item.cid for name, item in named.items()}
            items += named.values()
    if given.get("target") is not None:
        item = parse_item(given["target"], "changed.target", limit)
        cids["target"] = item.cid
        items.append(item)
    return cids, tuple(items)
