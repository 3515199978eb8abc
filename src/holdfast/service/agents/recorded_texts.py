"""Recorded values as texts: JSON as it was recorded, bounded, large ones by content id."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from msgspec import UNSET, UnsetType

from holdfast.model.agent_events import EventData
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.recording_state import RecordingState
from holdfast.wire import agent_lines, message_text
from holdfast.wire.conversation_answers import (
    ConversationMessage,
    RecordedDecision,
    RecordedFailure,
)

_MAX_READ_CHARS = 8 << 20
"""A list of messages that is longer is not read to show it."""
_PLAIN = frozenset(("role", "content", "name"))


@dataclass(frozen=True)
class ShownText:
    """A text, as much of it as is shown."""

    text: str
    size: int | UnsetType = UNSET
    """The length of all of it, if that is more."""
    cid: str | UnsetType = UNSET
    """Where all of it is, if it is in a file of its own."""
    is_json: bool = True


def encode(value: Any) -> str:
    """As JSON. Python keeps `4.0` and long numbers apart from others, which JavaScript does not."""
    return json.dumps(value, ensure_ascii=False, default=repr)


class RecordedTexts:
    """Shows the bodies of one recording, each with so many characters at most."""

    def __init__(self, contents: ContentFiles, max_chars: int) -> None:
        self._state = RecordingState(contents, keeps_messages=False)
        self._max = max_chars
        self.shown = 0
        """How many characters were shown so far."""

    def cut(self, text: str, *, is_json: bool = True) -> ShownText:
        self.shown += min(len(text), self._max)
        if len(text) <= self._max:
            return ShownText(text, is_json=is_json)
        return ShownText(text[: self._max], len(text), is_json=is_json)

    def show_json(self, body: Any) -> ShownText:
        """A body as JSON; one in a file of its own as its preview."""
        reference = _find_reference(body)
        return self.cut(encode(body)) if reference is None else reference

    def show_value(self, body: Any) -> ShownText:
        """A body as a person reads it: a text as itself, anything else as JSON."""
        if _find_reference(body) is not None:
            return self.show_json(body)
        value = message_text.format_result(body)
        if isinstance(value, str):
            return self.cut(value, is_json=False)
        return self.cut(encode(value))

    def show_messages(self, body: Any) -> list[ConversationMessage]:
        """The messages of a request; one that stands for them all, if they cannot be read."""
        reference = _find_reference(body)
        if reference is not None and reference.size is not UNSET:
            body = self._read(body) if reference.size <= _MAX_READ_CHARS else None
        if isinstance(body, list):
            return [self.show_message(message) for message in body]
        if reference is None:
            return []
        return [
            ConversationMessage(
                role="", text=reference.text, size=reference.size, cid=reference.cid
            )
        ]

    def _read(self, body: Any) -> Any:
        return self._state.read_body(body)

    def read_body(self, body: Any) -> Any:
        """A body, wherever it is; its preview, if it cannot be read."""
        return self._state.read_body(body)

    def show_message(self, message: Any) -> ConversationMessage:
        role, text = message_text.format_message(message)
        shown = self.cut(text)
        whole = None if is_plain(message) else self.cut(encode(message))
        return ConversationMessage(
            role=role,
            text=shown.text,
            json=UNSET if whole is None or whole.size is not UNSET else whole.text,
            size=shown.size,
        )

    def show_failure(self, outcome: EventData) -> RecordedFailure | UnsetType:
        if not outcome.get("isError"):
            return UNSET
        error = self._state.read_body(outcome.get("error"))
        fields = error if isinstance(error, dict) else {"message": error}
        message = self.cut(str(fields.get("message") or ""), is_json=False)
        return RecordedFailure(type=str(fields.get("type") or "Error"), message=message.text)

    def show_decision(self, fields: Any) -> RecordedDecision | UnsetType:
        fields = self._state.read_body(fields)
        if not isinstance(fields, dict) or not fields.get("action"):
            return UNSET
        rest = {name: fields[name] for name in fields if name not in ("action", "by", "stop")}
        by = fields.get("by")
        return RecordedDecision(
            action=str(fields["action"]),
            by=UNSET if by is None else str(by),
            json=self.cut(encode(rest)).text if rest else UNSET,
        )


def is_plain(message: Any) -> bool:
    """Whether its role and its text are all there is."""
    return (
        isinstance(message, dict)
        and message.keys() <= _PLAIN
        and isinstance(message.get("content"), str)
    )


def _find_reference(body: Any) -> ShownText | None:
    """What stands in place of a large body, if it does."""
    if not isinstance(body, dict) or "preview" not in body or "size" not in body:
        return None
    cid, size = body.get(agent_lines.CID), body["size"]
    if cid is None and "lost" not in body:
        return None
    return ShownText(
        str(body["preview"]),
        size if isinstance(size, int) else 0,
        UNSET if cid is None else str(cid),
    )
