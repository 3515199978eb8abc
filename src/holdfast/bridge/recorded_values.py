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
from collections.abc import Callable
from typing import Any

from holdfast.bridge.bridge_errors import RecordedError
from holdfast.bridge.redaction import Redaction
from holdfast.model.agent_events import EventData
from holdfast.recording.content_files import ContentFiles
from holdfast.wire import agent_lines

logger = logging.getLogger("holdfast")

_ATOMS = frozenset((str, int, float, bool, type(None)))
_MOST_PICKLED = 256 << 20


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


def _shown(thing: Any) -> Any:
    """Something that JSON does not know, for people to read."""
    for name in ("model_dump", "to_dict", "dict"):
        with contextlib.suppress(Exception):  # whatever a stranger's attribute does
            method = getattr(thing, name, None)
            if callable(method) and not isinstance(thing, type):
                found = method(mode="json") if name == "model_dump" else method()
                if isinstance(found, (dict, list)):
                    return found
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        return {each.name: getattr(thing, each.name, None) for each in dataclasses.fields(thing)}
    if isinstance(thing, (set, frozenset, tuple)):
        return list(thing)
    if isinstance(thing, BaseException):
        return {"type": type(thing).__name__, "message": message(thing)}
    return safe_repr(thing)


def safe_repr(thing: Any) -> str:
    try:
        return repr(thing)
    except Exception as problem:  # whatever a stranger's repr raises
        return f"<{type(thing).__name__}: its repr raised {type(problem).__name__}>"


def message(error: BaseException) -> str:
    try:
        return str(error)
    except Exception:
        return safe_repr(error)


def _encoder() -> Callable[[Any], str]:
    """`JSONEncoder.encode`, without making the C encoder anew for every value.

    It keeps no list of what it is in, which threads would share: a cycle is a RecursionError.
    """
    slow = json.JSONEncoder(separators=(",", ":"), default=_shown, allow_nan=False).encode
    make = getattr(json.encoder, "c_make_encoder", None)
    try:
        quoted = json.encoder.encode_basestring_ascii
        made = make(None, _shown, quoted, None, ":", ",", False, False, False)  # type: ignore[misc]
        if "".join(made({"a": [1, "b"]}, 0)) != '{"a":[1,"b"]}':
            return slow
    except (AttributeError, TypeError):
        return slow
    join = "".join
    return lambda value: join(made(value, 0))


_encode = _encoder()
encode_quickly = json.encoder.encode_basestring_ascii
"""The JSON of a text."""


def as_json(value: Any) -> str:
    """Its JSON; of what has none, something to read."""
    for shown in (lambda: value, lambda: _finite(value), lambda: safe_repr(value)):
        try:
            return _encode(shown())
        except Exception:  # a cycle, a key that is no text, a number that is none, a lazy proxy…
            continue
    return '"?"'


def _finite(value: Any) -> Any:
    """With `NaN` and the infinities, for which JSON has no numbers, as texts."""
    if isinstance(value, float) and not math.isfinite(value):
        return repr(value)
    if isinstance(value, dict):
        return {name: _finite(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(each) for each in value]
    return value


class Values:
    def __init__(self, contents: ContentFiles | None, redaction: Redaction) -> None:
        """Without `contents` nothing is kept: nobody records."""
        self.contents = contents
        self.redaction = redaction

    def text(self, value: Any) -> str:
        """JSON to put into a line: without secrets, and by content id if it is large."""
        return self.placed(self.redaction.cleaned(as_json(value)))

    def cleaned(self, value: Any) -> str:
        """JSON without secrets, of whatever size."""
        return self.redaction.cleaned(as_json(value))

    def placed(self, text: str) -> str:
        if len(text) <= agent_lines.MAX_INLINE_CHARS:
            return text
        about: dict[str, Any] = {"size": len(text), "preview": text[: agent_lines.PREVIEW_CHARS]}
        if self.contents is None:
            return agent_lines.encode_json(about)
        try:
            about[agent_lines.CID] = self.contents.put(text.encode())
        except OSError as problem:
            logger.warning("a body of %d characters could not be written: %s", len(text), problem)
            about["lost"] = str(problem)
        return agent_lines.encode_json(about)

    def recorded(self, name: str, value: Any, dump: Callable[[Any], Any] | None = None) -> str:
        """The fields of an event that hold a value: itself, and its pickle if it needs one."""
        if dump is not None:
            with contextlib.suppress(Exception):
                value = dump(value)
        plain = is_plain(value)
        whole = as_json(value)
        shown = self.redaction.cleaned(whole)
        fields = f'"{name}":{self.placed(shown)}'
        if plain:
            return fields
        if shown is not whole and shown != whole:
            return f'{fields},"{name}Marker":"redacted"'
        return fields + self._pickled(name, value)

    def _pickled(self, name: str, value: Any) -> str:
        if self.contents is None:
            return ""
        from holdfast.client import definitions
        from holdfast.client.proxy_base import without_interception
        from holdfast.client.snapshots import Snapshots

        try:
            with without_interception():
                snapshot = Snapshots(_MOST_PICKLED, placeholders=True).take(value, lenient=True)
                if snapshot.marker is not None:
                    return f',"{name}Marker":{agent_lines.encode_json(snapshot.marker)}'
                if self.redaction.is_secret(snapshot.data):
                    return f',"{name}Marker":"redacted"'
                for needed in definitions.all_needed([snapshot]).values():
                    self.contents.put(needed.data)
                return f',"{name}Pickle":"{self.contents.put(snapshot.data)}"'
        except Exception as problem:
            logger.debug("a value could not be kept for replay", exc_info=True)
            return f',"{name}Marker":{agent_lines.encode_json(type(problem).__name__)}'

    def restored(self, data: EventData, name: str, load: Callable[[Any], Any] | None = None) -> Any:
        """The value that `recorded` put there."""
        marker = data.get(f"{name}Marker")
        if marker is not None:
            raise NotRestorable(f"the recording has no more of it than that it was: {marker}")
        pickled = data.get(f"{name}Pickle")
        if pickled is not None:
            from holdfast.client.snapshots import restore

            try:
                return restore(self._content(pickled), self._content)
            except Exception as problem:
                raise NotRestorable(f"its pickle cannot be read: {problem}") from problem
        value = self.body(data.get(name))
        return value if load is None else load(value)

    def failed(self, error: BaseException) -> str:
        """The fields of an event that hold an error: its name, what it says, and itself."""
        name, said = type(error).__qualname__, message(error)
        shown = self.text({"type": name, "message": said})
        is_kept = self.redaction.cleaned(as_json(said)) == as_json(said)
        return f'"error":{shown}' + (self._pickled("error", error) if is_kept else "")

    def error(self, data: EventData) -> BaseException:
        """The error that `failed` put there, or one that says the same."""
        shown = self.body(data.get("error")) or {}
        if "errorPickle" in data:
            with contextlib.suppress(NotRestorable):
                found = self.restored({"errorPickle": data["errorPickle"]}, "error")
                if isinstance(found, BaseException):
                    return found
        return RecordedError(str(shown.get("type", "Error")), str(shown.get("message", "")))

    def body(self, value: Any) -> Any:
        """A body, wherever it is."""
        if isinstance(value, dict) and "preview" in value and "size" in value:
            if agent_lines.CID in value:
                return json.loads(self._content(value[agent_lines.CID]))
            if "lost" in value:
                raise NotRestorable(
                    f"it could not be written when it was recorded: {value['lost']}"
                )
        return value

    def _content(self, cid: str) -> bytes:
        try:
            if self.contents is None:
                raise KeyError(cid)
            return self.contents.get(cid)
        except KeyError:
            raise NotRestorable(f"content {cid[:12]}… is not there") from None
