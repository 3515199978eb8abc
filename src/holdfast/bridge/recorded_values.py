"""Values on their way into an event, and back out of one.

Into the line goes JSON that people can read. A replay needs the value itself: where JSON does not
give it back exactly, its pickle is kept beside it, with whatever classes of `__main__` it needs.
"""

from __future__ import annotations

import contextlib
import dataclasses
import json
import logging
import math
import unicodedata
from collections.abc import Callable, Iterable
from typing import Any

from holdfast.bridge.bridge_errors import RecordedError
from holdfast.bridge.redaction import Redaction
from holdfast.model.agent_events import EventData
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.failure_log import FailureLog
from holdfast.wire import agent_lines
from holdfast.wire.agent_lines import RawJson

logger = logging.getLogger("holdfast")

_ATOMS = frozenset((str, int, float, bool, type(None)))
_MAX_PICKLE_BYTES = 256 << 20
REDACTED_MARKER = "redacted"


class NotRestorable(Exception):
    """A recorded value cannot be had again; says why."""


def is_plain(value: Any) -> bool:
    """Whether JSON gives back exactly this."""
    try:
        return _is_plain(value)
    except RecursionError:
        return False


def _is_plain(value: Any) -> bool:
    kind = type(value)
    if kind is float:
        return math.isfinite(value)  # what is not has no JSON
    if kind in _ATOMS:
        return True
    if kind is dict:
        if agent_lines.CID in value:
            return False  # it would be taken for a body that is elsewhere
        return all(type(name) is str for name in value) and all(map(_is_plain, value.values()))
    return kind is list and all(map(_is_plain, value))


def _describe(thing: Any) -> Any:
    """Something that JSON does not know, for people to read."""
    for name in ("model_dump", "to_dict", "dict"):
        with contextlib.suppress(Exception):  # whatever a stranger's attribute does
            method = getattr(thing, name, None)
            if callable(method) and not isinstance(thing, type):
                fields = method(mode="json") if name == "model_dump" else method()
                if isinstance(fields, (dict, list)):
                    return fields
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        names = (field.name for field in dataclasses.fields(thing))
        return {name: getattr(thing, name, None) for name in names}
    if isinstance(thing, (set, frozenset, tuple)):
        return list(thing)
    if isinstance(thing, BaseException):
        return {"type": type(thing).__name__, "message": error_message(thing)}
    return safe_repr(thing)


def safe_repr(thing: Any) -> str:
    try:
        return repr(thing)
    except Exception as problem:  # whatever a stranger's repr raises
        return f"<{type(thing).__name__}: its repr raised {type(problem).__name__}>"


def error_message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:  # whatever a stranger's exception does
        return safe_repr(error)


def _build_encoder() -> Callable[[Any, int], Iterable[str]]:
    """Gives the parts of a value's JSON, without making the C encoder anew for every value.

    It keeps no list of what it is in, which threads would share: a cycle is a RecursionError.
    """
    slow = json.JSONEncoder(separators=(",", ":"), default=_describe, allow_nan=False)
    make = getattr(json.encoder, "c_make_encoder", None)
    try:
        quote = json.encoder.encode_basestring_ascii
        encode: Callable[[Any, int], Iterable[str]] = make(  # type: ignore[misc]
            None, _describe, quote, None, ":", ",", False, False, False
        )
        if "".join(encode({"a": [1, "b"]}, 0)) == '{"a":[1,"b"]}':
            return encode
    except (AttributeError, TypeError):
        pass
    return lambda value, _level: slow.iterencode(value)


_encode = _build_encoder()


def encode_value(value: Any) -> str:
    """Its JSON; of what has none, something to read."""
    try:
        return "".join(_encode(value, 0))
    except Exception:  # a cycle, a key that is no text, a number that is none, a lazy proxy…
        pass
    for replace in (_replace_infinities, safe_repr):
        with contextlib.suppress(Exception):  # the same again
            return "".join(_encode(replace(value), 0))
    return '"?"'


def list_texts(value: Any) -> list[str]:
    """A value as people may look for it: its JSON as it is shown, with blanks after `:` and `,`
    and every letter as itself; its JSON without these blanks; and every text in it, unescaped.

    Letters that are composed of several characters are there as one character, too.
    """
    data = json.loads(encode_value(value))
    texts = [
        json.dumps(data, ensure_ascii=False),
        json.dumps(data, ensure_ascii=False, separators=(",", ":")),
    ]
    # What is nested too deeply for JSON has only a summary.
    texts += _collect_texts(value if isinstance(data, str) else data)
    composed = [unicodedata.normalize("NFC", text) for text in texts if not text.isascii()]
    return texts + [text for text in composed if text not in texts]


def _collect_texts(value: Any) -> list[str]:
    texts: list[str] = []
    seen: set[int] = set()
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, str):
            texts.append(item)
        elif isinstance(item, (dict, list, tuple, set, frozenset)) and id(item) not in seen:
            seen.add(id(item))
            left.extend(item.values() if isinstance(item, dict) else item)
    return texts


def _replace_infinities(value: Any) -> Any:
    """With `NaN` and the infinities, for which JSON has no numbers, as texts."""
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, dict):
        return {name: _replace_infinities(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_replace_infinities(item) for item in value]
    return value


class Values:
    def __init__(
        self,
        contents: ContentFiles | None,
        redaction: Redaction,
        failures: FailureLog | None = None,
    ) -> None:
        """Without `contents` nothing is kept: nobody records."""
        self._failures = failures or FailureLog("an agent")
        self.contents = contents
        self.redaction = redaction

    # -- into an event ---------------------------------------------------------------------------

    def encode(self, value: Any) -> str:
        """JSON without secrets, of whatever size."""
        return self.redaction.clean(encode_value(value))

    def encode_body(self, value: Any) -> RawJson:
        """JSON for a field of an event: without secrets, and by content id if it is large."""
        return self.place(self.redaction.clean(encode_value(value)))

    def place(self, text: str) -> RawJson:
        """JSON that is clean already: itself, or its content id if it is large."""
        if len(text) <= agent_lines.MAX_INLINE_CHARS:
            return RawJson(text)
        reference: dict[str, object] = {
            "size": len(text),
            "preview": text[: agent_lines.PREVIEW_CHARS],
        }
        if self.contents is not None:
            try:
                reference[agent_lines.CID] = self.contents.put(text.encode())
            except OSError as problem:
                self._failures.report(f"a body of {len(text)} characters", problem)
                reference["lost"] = str(problem)
        return RawJson(agent_lines.encode_json(reference))

    def record(
        self, value: Any, dump: Callable[[Any], Any] | None = None
    ) -> tuple[RawJson, str | None, str | None]:
        """A value as JSON; where that is not exact, the id of its pickle, or why there is none."""
        if dump is not None:
            with contextlib.suppress(Exception):  # an integration's own, over somebody's object
                value = dump(value)
        text = encode_value(value)
        clean = self.redaction.clean(text)
        body = self.place(clean)
        if is_plain(value):
            return body, None, None
        if clean is not text and clean != text:
            return body, None, REDACTED_MARKER
        return body, *self._pickle(value)

    def record_error(self, error: BaseException) -> tuple[RawJson, str | None, str | None]:
        """The name and the message of an error; and itself, as `record` has it."""
        text = error_message(error)
        body = self.encode_body({"type": type(error).__qualname__, "message": text})
        is_kept = self.redaction.clean(encode_value(text)) == encode_value(text)
        return body, *(self._pickle(error) if is_kept else (None, None))

    def _pickle(self, value: Any) -> tuple[str | None, str | None]:
        """The content id of its pickle, or a word about why there is none."""
        if self.contents is None:
            return None, None
        from holdfast.client import definitions
        from holdfast.client.proxy_base import without_interception
        from holdfast.client.snapshots import Snapshots

        try:
            with without_interception():
                snapshot = Snapshots(_MAX_PICKLE_BYTES, placeholders=True).take(value, lenient=True)
                if snapshot.marker is not None:
                    return None, snapshot.marker
                if self.redaction.has_secret(snapshot.data):
                    return None, REDACTED_MARKER
                for needed in definitions.all_needed([snapshot]).values():
                    self.contents.put(needed.data)
                return self.contents.put(snapshot.data), None
        except Exception as problem:  # whatever the pickling of somebody's object raises
            logger.debug("a value could not be kept for replay", exc_info=True)
            return None, type(problem).__name__

    # -- out of an event -------------------------------------------------------------------------

    def restore(self, data: EventData, name: str, load: Callable[[Any], Any] | None = None) -> Any:
        """The value that `record` gave for the field `name`."""
        marker = data.get(f"{name}Marker")
        if marker is not None:
            raise NotRestorable(f"the recording has no more of it than that it was: {marker}")
        pickled = data.get(f"{name}Pickle")
        if pickled is not None:
            from holdfast.client.snapshots import restore

            try:
                return restore(self._read_content(pickled), self._read_content)
            except Exception as problem:  # whatever the unpickling of somebody's object raises
                raise NotRestorable(f"its pickle cannot be read: {problem}") from problem
        value = self.read_body(data.get(name))
        return value if load is None else load(value)

    def restore_error(self, data: EventData) -> BaseException:
        """The error that `record_error` gave, or one with the same message."""
        fields = self.read_body(data.get("error")) or {}
        if "errorPickle" in data:
            with contextlib.suppress(NotRestorable):
                error = self.restore({"errorPickle": data["errorPickle"]}, "error")
                if isinstance(error, BaseException):
                    return error
        return RecordedError(str(fields.get("type", "Error")), str(fields.get("message", "")))

    def read_body(self, value: Any) -> Any:
        """A body, wherever it is."""
        if isinstance(value, dict) and "preview" in value and "size" in value:
            if agent_lines.CID in value:
                return json.loads(self._read_content(value[agent_lines.CID]))
            if "lost" in value:
                raise NotRestorable(
                    f"it could not be written when it was recorded: {value['lost']}"
                )
        return value

    def _read_content(self, cid: str) -> bytes:
        try:
            if self.contents is None:
                raise KeyError(cid)
            return self.contents.get(cid)
        except KeyError:
            raise NotRestorable(f"content {cid[:12]}… is not there") from None
