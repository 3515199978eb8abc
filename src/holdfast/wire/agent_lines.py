"""The lines of an agent session's files: events and commands, one JSON object each.

What one writer appends is a whole line; what a reader finds may end in half of one. A line may hold
several objects, when somebody forgot the newline between two commands.
"""

from __future__ import annotations

import datetime
import hashlib
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from holdfast.model.agent_commands import Command
from holdfast.model.agent_events import RecordedEvent

MAX_INLINE_CHARS = 64 * 1024
"""Characters of a body that stand in the line itself."""
MAX_LINE_BYTES = 32 << 20
"""A longer line is not written. Readers skip it."""
PREVIEW_CHARS = 200
CID = "$cid"

_ESCAPED = json.JSONEncoder(separators=(",", ":"), default=repr)
_CANONICAL = json.JSONEncoder(
    separators=(",", ":"), sort_keys=True, ensure_ascii=False, default=repr
)
_DECODER = json.JSONDecoder()
_EPOCH = datetime.datetime(1970, 1, 1)

_ADDRESS = " at 0x"
_ADDRESSES = re.compile(r" at 0x[0-9a-fA-F]+")

# Made anew for every run by frameworks and providers, and without a meaning of their own.
_RANDOM = frozenset(
    (
        *("id", "ids", "tool_call_id", "tool_use_id", "call_id", "run_id", "parent_run_id"),
        *("trace_id", "span_id", "message_id", "response_id", "created", "created_at"),
        *("timestamp", "toolId", "toolCallId", "system_fingerprint", "conversation_id"),
    )
)


def encode_json(value: Any) -> str:
    """Its JSON; what JSON does not know is shown by its `repr`."""
    try:
        return _ESCAPED.encode(value)
    except (TypeError, ValueError, RecursionError):
        # A key that is no text, a cycle, a nesting too deep.
        return _ESCAPED.encode(repr(value))


_quote = json.encoder.encode_basestring_ascii


class RawJson(str):
    """JSON that is encoded already: a field of an event that goes into its line as it is."""

    __slots__ = ()


def encode_fields(fields: Mapping[str, object]) -> str:
    """The fields of an event as a JSON object. Their names are words: they need no escapes.

    A loop, because the C encoder takes no part that is encoded, and is no quicker for so few.
    """
    if not fields:
        return "{}"
    parts: list[str] = []
    for name, value in fields.items():
        kind = type(value)
        if kind is str:
            parts += (',"', name, '":', _quote(value))  # type: ignore[arg-type]
        elif kind is RawJson:
            parts += (',"', name, '":', value)  # type: ignore[arg-type]
        elif kind is int or kind is float:
            parts += (',"', name, '":', repr(value))
        elif value is True:
            parts += (',"', name, '":true')
        elif value is False:
            parts += (',"', name, '":false')
        else:
            parts += (',"', name, '":', encode_json(value))
    parts[0] = '{"'
    parts.append("}")
    return "".join(parts)


def encode_event(seq: int, kind: str, moment: float, session_id: str, data: str) -> bytes:
    """One line. `data` is JSON already."""
    return (
        f'{{"seq":{seq},"type":{_quote(kind)},"timestamp":"{format_timestamp(moment)}",'
        f'"sessionId":"{session_id}","data":{data}}}\n'
    ).encode()


# The events of a call come together: most have the second of the one before, many its millisecond.
_last_second = (-1, "")
_last_timestamp = (-1, "")


def format_timestamp(moment: float) -> str:
    """`moment` (seconds since 1970) in UTC, to the millisecond."""
    global _last_second, _last_timestamp
    milliseconds = int(moment * 1000)
    known, text = _last_timestamp
    if known == milliseconds:
        return text
    second, thousandths = divmod(milliseconds, 1000)
    known, text = _last_second
    if known != second:
        text = (_EPOCH + datetime.timedelta(seconds=second)).isoformat()
        _last_second = (second, text)
    text = f"{text}.{thousandths:03d}Z"
    _last_timestamp = (milliseconds, text)
    return text


def parse_timestamp(text: object) -> float:
    """Seconds since 1970; 0 for what is no time."""
    if not isinstance(text, str):
        return 0.0
    try:
        return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
    except (ValueError, OverflowError):
        return 0.0


def parse_event(line: bytes) -> RecordedEvent | None:
    """The event in a line; None for one that was torn or is no event."""
    try:
        event = json.loads(line)
    except (ValueError, RecursionError):
        return None
    is_event = isinstance(event, dict) and isinstance(event.get("data"), dict)
    return event if is_event and isinstance(event.get("type"), str) else None


class BadCommand(ValueError):
    """What is no command; says why, and under which id it is known."""

    def __init__(self, why: str, command_id: str) -> None:
        super().__init__(why)
        self.command_id = command_id


def parse_commands(line: bytes, place: int) -> Iterator[Command | BadCommand]:
    """The commands in a line that begins at byte `place`."""
    try:
        rest = line.decode().strip().lstrip("\ufeff")
    except UnicodeDecodeError as problem:
        yield BadCommand(f"not UTF-8: {problem}", f"line-{place}")
        return
    # Its place alone would not do: somebody may put another file there.
    known_by = f"line-{place}-{hashlib.sha256(line).hexdigest()[:8]}"
    count = 0
    while rest:
        count += 1
        known_as = f"{known_by}-{count}" if count > 1 else known_by
        try:
            value, end = _DECODER.raw_decode(rest)
        except (ValueError, RecursionError) as problem:
            yield BadCommand(f"not JSON: {problem}: {rest[:100]}", known_as)
            return
        rest = rest[end:].lstrip()
        yield _build_command(value, known_as)


def _build_command(value: Any, fallback: str) -> Command | BadCommand:
    if not isinstance(value, dict):
        return BadCommand(
            f"a command is an object with a type, not {encode_json(value)[:100]}", fallback
        )
    given = value.get("id")
    if given is not None and (isinstance(given, bool) or not isinstance(given, (str, int))):
        return BadCommand(f"an id is text, not {encode_json(given)[:100]}", fallback)
    command_id = fallback if given is None else str(given)
    kind, data = value.get("type"), value.get("data")
    if not isinstance(kind, str):
        return BadCommand("a command has a type", command_id)
    if data is None:
        data = {}
    if not isinstance(data, dict):
        return BadCommand(f"data is an object, not {encode_json(data)[:100]}", command_id)
    if "stop" in value and "stop" not in data:
        data = {**data, "stop": value["stop"]}
    return Command(kind, command_id, data)


def encode_command(kind: str, command_id: str, data: Mapping[str, Any], moment: float) -> bytes:
    """One line."""
    command = {
        "type": kind,
        "id": command_id,
        "data": data,
        "timestamp": format_timestamp(moment),
    }
    return f"{encode_json(command)}\n".encode()


def content_id(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def loose_key(*parts: Any) -> str:
    """The same for two messages that mean the same: random ids are left out."""
    try:
        return exact_key(_drop_random(parts))
    except RecursionError:
        return exact_key(repr(parts))


def exact_key(*parts: Any) -> str:
    """The same for two inputs that are the same."""
    plain = _CANONICAL.encode(parts)
    return hashlib.sha256(plain.encode(errors="surrogatepass")).hexdigest()[:16]


def request_key(model: str | None, settings: str, digests: Sequence[str]) -> str:
    """The `exact_key` of a model, its settings (given as JSON) and the keys of its messages.

    It is made of texts, because a conversation has many keys, and they need no escapes.
    """
    if settings != "{}":
        settings = _CANONICAL.encode(json.loads(settings))
    keys = '"' + '","'.join(digests) + '"' if digests else ""
    name = "null" if model is None else _CANONICAL.encode(model)
    plain = f"[{name},{settings},[{keys}]]"
    return hashlib.sha256(plain.encode(errors="surrogatepass")).hexdigest()[:16]


def text_key(name: str, text: str) -> str:
    """The same for a name and a JSON text that are the same."""
    if _ADDRESS in text:  # of an object that has no better repr: another one in every process
        text = _ADDRESSES.sub("", text)
    return hashlib.sha256(f"{name}\0{text}".encode(errors="surrogatepass")).hexdigest()[:16]


def is_random(name: Any, value: Any) -> bool:
    """Whether a field is one of those ids that are made anew for every run."""
    return name in _RANDOM and isinstance(value, (str, int, float, type(None)))


def _drop_random(value: Any) -> Any:
    if isinstance(value, dict):
        return {
            str(name): _drop_random(item)
            for name, item in value.items()
            if not is_random(name, item)
        }
    if isinstance(value, (list, tuple)):
        return [_drop_random(item) for item in value]
    return value
