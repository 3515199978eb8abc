"""Recorded values as texts: JSON as it was recorded, bounded, large ones by content id."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

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

MAX_PAGE_CHARS = 4 << 20
"""An answer is complete when it has so many; what is in it by then may have as many itself."""
_MAX_READ_CHARS = 8 << 20
"""A list of messages that is longer is not read to show it."""
_MESSAGE_CHARS = 50
"""About how many characters of JSON a message takes besides its text."""
_MAX_ROLE_CHARS = 1000
_T = TypeVar("_T")
_U = TypeVar("_U")
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
        self._end = MAX_PAGE_CHARS
        self.shown = 0
        """How many characters were shown so far."""
        self.left_out = 0
        """How many messages and tools there was no room for."""

    def begin_part(self, most: int = MAX_PAGE_CHARS) -> None:
        """What is shown from now on may have so many characters, all together."""
        self._end = self.shown + most

    @property
    def is_full(self) -> bool:
        """Whether the part that was begun has all that it may have."""
        return self.shown >= self._end

    def cut(self, text: str, *, is_json: bool = True) -> ShownText:
        most = max(0, min(self._max, self._end - self.shown))
        self.shown += min(len(text), most)
        if len(text) <= most:
            return ShownText(text, is_json=is_json)
        return ShownText(text[:most], len(text), is_json=is_json)

    def take_last(self, items: list[_T], show: Callable[[_T], _U], chars: int) -> list[_U]:
        """The last items as far as there is room for them, each with so many characters besides."""
        shown: list[_U] = []
        for item in reversed(items):
            if self.is_full:
                break
            shown.append(show(item))
            self.shown += chars
        self.left_out += len(items) - len(shown)
        return shown[::-1]

    def show_json(self, body: Any) -> ShownText:
        """A body as JSON; one in a file of its own as its preview."""
        reference = _find_reference(body)
        if reference is None:
            return self.cut(encode(body))
        return replace(reference, text=self.cut(reference.text).text)

    def show_value(self, body: Any) -> ShownText:
        """A body as a person reads it: a text as itself, anything else as JSON."""
        if _find_reference(body) is not None:
            return self.show_json(body)
        value = message_text.format_result(body)
        if isinstance(value, str):
            return self.cut(value, is_json=False)
        return self.cut(encode(value))

    def show_messages(self, body: Any) -> list[ConversationMessage]:
        """The messages of a request, the last ones if there is no room for all.

        If they cannot be read, one stands for them all.
        """
        reference = _find_reference(body)
        if reference is not None and reference.size is not UNSET:
            body = self.read_body(body) if reference.size <= _MAX_READ_CHARS else None
        if isinstance(body, list):
            return self.take_last(body, self.show_message, _MESSAGE_CHARS)
        if reference is None:
            return []
        return [
            ConversationMessage(
                role="", text=self.cut(reference.text).text, size=reference.size, cid=reference.cid
            )
        ]

    def read_body(self, body: Any) -> Any:
        """A body, wherever it is; its preview, if it cannot be read."""
        return self._state.read_body(body)

    def show_message(self, message: Any) -> ConversationMessage:
        role, text = message_text.format_message(message)
        shown = self.cut(text)
        whole = None if is_plain(message) else self.cut(encode(message))
        return ConversationMessage(
            role=role[:_MAX_ROLE_CHARS],
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
