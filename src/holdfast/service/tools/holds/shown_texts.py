"""Values and messages as the tools show them: on one line, without secrets."""

from __future__ import annotations

import json
from typing import Any

from holdfast.core.secret_values import hide_secrets, hide_value
from holdfast.wire import message_text
from holdfast.wire.answer_room import shorten
from holdfast.wire.plain_text import clean_line

_MAX_CHARS = 100_000
"""No answer has room for more, and looking for secrets takes its time."""


def show_value(name: str, text: str, show_secrets: bool = False) -> str:
    """A value that has this name."""
    text = shorten(text, _MAX_CHARS)
    return clean_line(text if show_secrets else hide_value(name, text))


def show_text(text: str, show_secrets: bool = False) -> str:
    """Text in which there may be values."""
    text = shorten(text, _MAX_CHARS)
    return clean_line(text if show_secrets else hide_secrets(text))


def show_json(name: str, value: Any, show_secrets: bool = False) -> str:
    """A JSON value that has this name."""
    return show_value(name, json.dumps(value, ensure_ascii=False, default=str), show_secrets)


def show_message(message: object, show_secrets: bool = False) -> str:
    """A message of a conversation as `author: text`."""
    author, text = message_text.format_message(message)
    return show_text(f"{author or '?'}: {text}", show_secrets)
