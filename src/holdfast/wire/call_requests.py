"""Calls on the wire: what an application says of a call, and what it is told to do with it.

Written out by hand, without a schema library: these are read thousands of times a second. Bytes are
checked against their content id as they come in, and never loaded.
"""

from __future__ import annotations

import ast
import base64
import binascii
import hashlib
import pickle
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import orjson

from holdfast.errors import BodyTooLarge, CidMismatch, InvalidDecision, InvalidInput
from holdfast.model.call import CALL_TYPES, CallBreakpoint, Item, Preview, call_number
from holdfast.wire import pickle_viewer

Json = dict[str, Any]
IMPLICIT = "calls_00000000"
"""The session of whoever names none."""
MOST_ITEMS = 10_000
MOST_FRAMES = 2000
MOST_NAME = 1000
MOST_PREVIEW = 16 * 1024
_CID = re.compile(r"[0-9a-f]{64}")
_LITERAL = 100_000
_PROTOCOL = 4


@dataclass(slots=True)
class Start:
    method_name: str
    session_id: str = IMPLICIT
    target_cid: str | None = None
    args: tuple[Item, ...] = ()
    kwargs: dict[str, Item] = field(default_factory=dict)
    more: tuple[Item, ...] = ()
    """Values that the others need, and the target's."""
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
    began: int | None = None
    """The number of a call that is under way already: it is too late to hold it before."""

    @property
    def items(self) -> list[Item]:
        return [*self.args, *self.kwargs.values(), *self.more]


@dataclass(slots=True)
class Complete:
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
    """As it is kept: content ids in place of items."""
    changed_items: tuple[Item, ...] = ()
    action: str | None = None
    marker: str | None = None

    @property
    def items(self) -> list[Item]:
        given = [item for item in (self.result, self.exception) if item is not None]
        return [*given, *self.needs, *self.changed_items]


# -- reading -------------------------------------------------------------------------------------


def body_of(data: bytes) -> Json:
    try:
        body = orjson.loads(data)
    except orjson.JSONDecodeError as problem:
        raise InvalidInput(f"body: not JSON: {problem}", field="body") from None
    if not isinstance(body, dict):
        raise InvalidInput("body: an object is expected", field="body")
    return body


def start_of(body: Json, limit: int) -> Start:
    """`limit`: the most bytes that one value may have."""
    site = _object(body, "call_site")
    frames = site.get("stack_trace") or []
    if not isinstance(frames, list):
        raise _wrong("call_site.stack_trace", "a list")
    target = body.get("target")
    needs = _items(body.get("needs"), "needs", limit)
    more = needs if target is None else (*needs, item_of(target, "target", limit))
    return Start(
        method_name=_text(body, "method_name", required=True) or "",
        session_id=_text(body, "session_id") or IMPLICIT,
        target_cid=_cid_or_none(body.get("target_cid") or site.get("target_cid")),
        args=_items(body.get("args"), "args", limit),
        kwargs=_named_items(body.get("kwargs"), "kwargs", limit),
        more=more,
        frames=frames[:MOST_FRAMES],
        timestamp=_number(site, "timestamp"),
        call_type=_call_type(body.get("call_type")),
        alias=_text(body, "alias"),
        signature=_text(body, "signature"),
        qualname=_text(body, "qualname"),
        module=_text(body, "module"),
        thread=_object(body, "thread") or None,
        task=_text(body, "task"),
        parent=_call(body.get("parent_call_id"), "parent_call_id"),
        evaluates=body.get("evaluates") is True,
        began=_call(body.get("began"), "began"),
    )


def complete_of(body: Json, limit: int) -> Complete:
    call_id = _text(body, "call_id", required=True) or ""
    status = body.get("status")
    if status not in ("success", "exception"):
        raise _wrong("status", '"success" or "exception"')
    changed, changed_items = _changed(_object(body, "changed"), limit)
    duration = _number(body, "duration_ns")
    return Complete(
        number=call_number(call_id) or -1,
        call_id=call_id,
        status=status,
        timestamp=_number(body, "timestamp"),
        result=_flat_item(body, "result", limit),
        exception=_flat_item(body, "exception", limit),
        exception_type=_text(body, "exception_type"),
        exception_message=_text(body, "exception_message", most=MOST_PREVIEW),
        needs=_items(body.get("needs"), "needs", limit),
        duration_ns=None if duration is None else min(max(int(duration), 0), 2**63 - 1),
        changed=changed or None,
        changed_items=changed_items,
        action=_text(body, "action"),
        marker=_text(body, "marker"),
    )


def item_of(given: Any, where: str, limit: int) -> Item:
    """A value by its content id; its bytes, if they came too, are what the id says."""
    if not isinstance(given, dict):
        raise _wrong(where, 'an object {"cid", "data"?, "preview"?}')
    data = given.get("data")
    cid = _cid(given.get("cid"), f"{where}.cid")
    if data is None:
        return Item(cid)
    return checked_item(cid, data, given.get("preview"), where, limit)


def checked_item(cid: str, data: Any, preview: Any, where: str, limit: int) -> Item:
    if not isinstance(data, str):
        raise _wrong(f"{where}.data", "base64 text")
    if len(data) * 3 // 4 > limit + 2:
        raise BodyTooLarge(
            f"{where}: the value is larger than {limit} bytes", field=where, max_bytes=limit
        )
    try:
        raw = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError) as problem:
        raise InvalidInput(f"{where}.data: not base64: {problem}", field=f"{where}.data") from None
    if hashlib.sha256(raw).hexdigest() != cid:
        raise CidMismatch(f"{where}: the data does not hash to the cid", cid=cid)
    return Item(cid, raw, preview_of(preview, raw))


def item_with_data(data: Any, where: str, limit: int) -> Item:
    """A value given by its bytes alone."""
    try:
        cid = hashlib.sha256(base64.b64decode(data, validate=True)).hexdigest()
    except (TypeError, ValueError):
        raise _wrong(f"{where}_data", "base64 text") from None
    return checked_item(cid, data, None, where, limit)


def preview_of(given: Any, data: bytes) -> Preview:
    """The preview that came with a value, kept within bounds; else one made from its bytes."""
    if not isinstance(given, dict) or not isinstance(given.get("text"), str):
        return pickle_viewer.preview(data)
    shown: Preview = {
        "text": _bounded(given["text"]),
        "type": _bounded(str(given.get("type", "?")))[:MOST_NAME],
    }
    length = given.get("length")
    if isinstance(length, int) and not isinstance(length, bool):
        shown["length"] = length
    if "json" in given and len(orjson.dumps(given["json"])) <= MOST_PREVIEW:
        shown["json"] = given["json"]
    return shown


def _bounded(text: str) -> str:
    return text if len(text) <= MOST_PREVIEW else text[: MOST_PREVIEW - 1] + "…"


def _items(given: Any, where: str, limit: int) -> tuple[Item, ...]:
    if given is None:
        return ()
    if not isinstance(given, list) or len(given) > MOST_ITEMS:
        raise _wrong(where, f"a list of at most {MOST_ITEMS} items")
    return tuple(item_of(each, f"{where}.{at}", limit) for at, each in enumerate(given))


def _named_items(given: Any, where: str, limit: int) -> dict[str, Item]:
    if given is None:
        return {}
    if not isinstance(given, dict) or len(given) > MOST_ITEMS:
        raise _wrong(where, f"an object of at most {MOST_ITEMS} items")
    return {name: item_of(each, f"{where}.{name}", limit) for name, each in given.items()}


def _flat_item(body: Json, name: str, limit: int) -> Item | None:
    cid = body.get(f"{name}_cid")
    if cid is None:
        return None
    checked, data = _cid(cid, f"{name}_cid"), body.get(f"{name}_data")
    if data is None:
        return Item(checked)
    return checked_item(checked, data, body.get(f"{name}_preview"), name, limit)


def _changed(given: Json, limit: int) -> tuple[Json, tuple[Item, ...]]:
    shown: Json = {}
    items: list[Item] = []
    for part in ("args", "kwargs"):
        found = _named_items(given.get(part), f"changed.{part}", limit)
        if found:
            shown[part] = {name: item.cid for name, item in found.items()}
            items += found.values()
    if given.get("target") is not None:
        item = item_of(given["target"], "changed.target", limit)
        shown["target"] = item.cid
        items.append(item)
    return shown, tuple(items)


def _wrong(where: str, wanted: str) -> InvalidInput:
    return InvalidInput(f"{where}: {wanted} is expected", field=where)


def _cid(given: Any, where: str) -> str:
    if isinstance(given, str) and _CID.fullmatch(given):
        return given
    raise _wrong(where, "a content id (64 lower-case hex digits)")


def _cid_or_none(given: Any) -> str | None:
    """The target's id is for people to follow; nothing depends on it."""
    return given if isinstance(given, str) and _CID.fullmatch(given) else None


def cid_of(given: str) -> str:
    return _cid(given, "cid")


def _text(body: Json, name: str, *, required: bool = False, most: int = MOST_NAME) -> str | None:
    given = body.get(name)
    if given is None and not required:
        return None
    if not isinstance(given, str) or (required and not given):
        raise _wrong(name, "text")
    return given if len(given) <= most else given[: most - 1] + "…"


def _call_type(given: Any) -> str:
    if given is None:
        return CALL_TYPES[0]
    if given not in CALL_TYPES:
        raise _wrong("call_type", " or ".join(CALL_TYPES))
    return str(given)


def _number(body: Json, name: str) -> float | None:
    given = body.get(name)
    if given is None:
        return None
    if isinstance(given, bool) or not isinstance(given, (int, float)) or given != given:
        raise _wrong(name, "a number")
    return given


def _object(body: Json, name: str) -> Json:
    given = body.get(name)
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise _wrong(name, "an object")
    return given


def _call(given: Any, where: str) -> int | None:
    if given is None:
        return None
    number = call_number(given) if isinstance(given, str) else None
    if number is None:
        raise _wrong(where, "a call_id")
    return number


# -- values that somebody decided on -------------------------------------------------------------


def value_of(given: Any, where: str, limit: int) -> Item:
    """`{"value"}`, `{"literal"}`, `{"cid"}` or `{"cid", "data"}` as a value; nothing is run."""
    if not isinstance(given, dict):
        raise InvalidDecision(f"{where}: a value is expected", field=where)
    if "value" in given:
        return made(given["value"])
    if "literal" in given:
        return made(_literal(given["literal"], where))
    if "cid" in given:
        return item_of(given, where, limit)
    raise InvalidDecision(f"{where}: no value, literal or cid in it", field=where)


def made(value: Any) -> Item:
    """A plain value as the application will load it."""
    data = pickle.dumps(value, protocol=_PROTOCOL)
    return Item(hashlib.sha256(data).hexdigest(), data, pickle_viewer.preview(data))


def _literal(text: Any, where: str) -> Any:
    if not isinstance(text, str) or len(text) > _LITERAL:
        raise InvalidDecision(f"{where}.literal: a Python literal is expected", field=where)
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError) as problem:
        raise InvalidDecision(
            f"{where}: not a Python literal: {text[:100]!r}: {problem}", field=where
        ) from None


def item_json(cid: str, data: bytes | None) -> Json:
    shown = {"cid": cid}
    if data is not None:
        shown["data"] = base64.b64encode(data).decode()
    return shown


# -- errors as seed clients know them ------------------------------------------------------------


def flat_error(name: str, message: str, details: Mapping[str, Any]) -> Json:
    """`error` is a name, and the rest stands beside it."""
    return {**details, "error": name, "message": message}


# -- the smaller requests ------------------------------------------------------------------------


def text_of(body: Json, name: str) -> str:
    return _text(body, name, required=True) or ""


def about_of(body: Json) -> Json:
    """Who reports: kept as it is shown."""
    names = ("cwd", "python", "name", "script", "module", "mode")
    given = {name: _text(body, name) for name in names}
    about: Json = {name: value for name, value in given.items() if value is not None}
    pid = body.get("pid")
    if pid is not None:
        if isinstance(pid, bool) or not isinstance(pid, int) or not 0 < pid < 2**31:
            raise _wrong("pid", "a process id")
        about["pid"] = pid
    for name in ("argv", "path"):
        texts = body.get(name)
        if texts is not None:
            if not isinstance(texts, list) or not all(isinstance(each, str) for each in texts):
                raise _wrong(name, "a list of texts")
            about[name] = [_bounded(each) for each in texts[:100]]
    return about


def registration_of(body: Json) -> tuple[str, str, Json]:
    """The session, the name, and what else is known of a function."""
    line = _number(body, "line")
    facts: Json = {
        name: _text(body, name) for name in ("alias", "qualname", "module", "file", "signature")
    }
    facts["line"] = None if line is None else int(line)
    facts["target_cid"] = _cid_or_none(body.get("target_cid"))
    return _text(body, "session_id") or IMPLICIT, text_of(body, "name"), facts


def answer_of(body: Json) -> tuple[str, Json]:
    """Which question, and its answer: `result` (a preview) or `error` (type and message)."""
    error, result = _object(body, "error"), _object(body, "result")
    if not error and not result:
        raise _wrong("result", "a preview, or an error,")
    kept: Json = {"error": error} if error else {"result": preview_of(result, b"")}
    return text_of(body, "request_id"), kept


def breakpoint_json(
    point: CallBreakpoint, hits: int, undecided: int = 0, message: str | None = None
) -> Json:
    shown: Json = {"id": point.id, "breakpoint_id": point.id}
    for name in (
        *("function", "alias", "call_type", "condition", "hit_condition", "session_id", "action"),
    ):
        value = getattr(point, name)
        if value is not None:
            shown[name] = value
    shown |= {"when": point.when.value, "enabled": point.enabled, "hits": hits}
    shown["undecided"] = undecided
    return shown if message is None else {**shown, "message": message}


def rule_json(point: CallBreakpoint) -> Json:
    """As much of a breakpoint as tells whether it could concern a function."""
    return {
        "function": point.function,
        "alias": point.alias,
        "call_type": point.call_type,
        "session_id": point.session_id,
        "when": point.when.value,
        "enabled": point.enabled,
    }
