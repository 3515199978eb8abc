"""Frameworks keep their own history: what the debugger put into a request is gone in the next.

So it is remembered here. Whenever a later request begins with the same messages as the one that was
changed, the change is made again. It works the same in a replay, where the first change comes from
the recording.
"""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

_MOST = 100


@dataclass(frozen=True)
class _Change:
    before: list[str]
    after: list[Any]


class Histories:
    def __init__(self, shown: Callable[[Any], Any]) -> None:
        self._shown = shown
        self._changes: deque[_Change] = deque(maxlen=_MOST)

    def restored(self, messages: Sequence[Any]) -> list[Any]:
        """The messages of a framework, with what was changed in them before."""
        if not self._changes:
            return list(messages)
        texts = self._texts(messages)
        fitting = [each for each in self._changes if texts[: len(each.before)] == each.before]
        if not fitting:
            return list(messages)
        # The latest of the longest: it was made on top of the others.
        change = max(reversed(fitting), key=lambda each: len(each.before))
        return [*change.after, *messages[len(change.before) :]]

    def note(self, messages: Sequence[Any], given: Sequence[Any], sent: Sequence[Any]) -> None:
        """A framework had `messages`, the bridge was `given` some, and those were `sent`."""
        if len(given) == len(sent) and all(map(_same, given, sent)):
            return
        self._changes.append(_Change(self._texts(messages), list(sent)))

    def _texts(self, messages: Sequence[Any]) -> list[str]:
        return [json.dumps(self._shown(each), sort_keys=True, default=repr) for each in messages]


def remade(
    messages: Sequence[Any], shown: Callable[[Any], Any], made: Callable[[dict[str, Any]], Any]
) -> Callable[[dict[str, Any]], Any]:
    """Makes a message from what is shown of it; one that was not changed is the one it was."""

    def make(wanted: dict[str, Any]) -> Any:
        for message in messages:
            if shown(message) == wanted:
                return message
        return made(wanted)

    return make


def _same(one: Any, other: Any) -> bool:
    return one is other
