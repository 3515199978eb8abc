"""Frameworks keep their own history: what the debugger put into a request is gone in the next.

So it is remembered here. Whenever a later request begins with the same messages as the one that was
changed, the change is made again. It works the same in a replay, where the first change comes from
the recording.
"""

from __future__ import annotations

import json
import operator
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

_MAX_CHANGES = 100


@dataclass(frozen=True)
class _Change:
    before: list[str]
    after: list[Any]


class Histories:
    def __init__(self, show: Callable[[Any], Any]) -> None:
        self._show = show
        self._changes: deque[_Change] = deque(maxlen=_MAX_CHANGES)

    def restore(self, messages: Sequence[Any]) -> list[Any]:
        """The messages of a framework, with what was changed in them before."""
        if not self._changes:
            return list(messages)
        texts = self._texts(messages)
        fitting = [
            change for change in self._changes if texts[: len(change.before)] == change.before
        ]
        if not fitting:
            return list(messages)
        # The latest of the longest: it was made on top of the others.
        change = max(reversed(fitting), key=lambda change: len(change.before))
        return [*change.after, *messages[len(change.before) :]]

    def note(self, messages: Sequence[Any], given: Sequence[Any], sent: Sequence[Any]) -> None:
        """A framework had `messages`, the bridge was `given` some, and those were `sent`."""
        if is_unchanged(given, sent):
            return
        self._changes.append(_Change(self._texts(messages), list(sent)))

    def _texts(self, messages: Sequence[Any]) -> list[str]:
        return [json.dumps(self._show(each), sort_keys=True, default=repr) for each in messages]


def reuse_messages(
    messages: Sequence[Any], show: Callable[[Any], Any], make: Callable[[dict[str, Any]], Any]
) -> Callable[[dict[str, Any]], Any]:
    """A `make` that gives the message itself where it was not changed."""

    def reuse(wanted: dict[str, Any]) -> Any:
        for message in messages:
            if show(message) == wanted:
                return message
        return make(wanted)

    return reuse


def is_unchanged(before: Sequence[Any], after: Sequence[Any]) -> bool:
    """Whether these are the very same messages."""
    return len(before) == len(after) and all(map(operator.is_, before, after))
