"""What a session is armed with before its first call: `start(hold=…)`, `HOLDFAST_AGENT_HOLD`.

1                            the first call is held, of a model or a tool
tool:write_*                 a breakpoint: `KIND:ARG`, or `KIND` alone for `model` and `error`
tool:write_*;iteration:3     several, with `;` between them (`\\;` is a `;` in one of them)
[{"on": "tool", …}]          the same as JSON, as `holdfast agent run` gives it
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from holdfast.core.agent_breakpoints import KINDS, MAIN_FIELD, parse_breakpoint
from holdfast.errors import InvalidAgentBreakpoint, InvalidInput

VARIABLE = "HOLDFAST_AGENT_HOLD"
ANNOUNCE_VARIABLE = "HOLDFAST_AGENT_ANNOUNCE"
"""With this, a session says on stderr that it began, and how to attach to it."""

Hold = bool | str | Sequence[str | Mapping[str, Any]]
_YES, _NO = ("1", "true", "yes", "on"), ("", "0", "false", "no", "off")


@dataclass(frozen=True)
class Arming:
    """What is held before anybody has asked for it."""

    first_call: bool = False
    breakpoints: tuple[Mapping[str, Any], ...] = ()

    def __bool__(self) -> bool:
        return self.first_call or bool(self.breakpoints)


NOT_ARMED = Arming()


def read_arming(hold: Hold) -> Arming:
    """What `start(hold=…)` and the environment ask for, together."""
    asked = _parse(hold, "hold")
    wanted = _parse(os.environ.get(VARIABLE, ""), VARIABLE)
    return Arming(asked.first_call or wanted.first_call, asked.breakpoints + wanted.breakpoints)


def encode_arming(arming: Arming) -> str:
    """For the environment of an agent that is to begin so."""
    return json.dumps([*(["1"] if arming.first_call else []), *map(dict, arming.breakpoints)])


def check_point(point: Mapping[str, Any]) -> None:
    """InvalidInput if it describes no breakpoint."""
    parse_breakpoint(point, "bp-1")


def announce(session_id: str, arming: Arming) -> None:
    """Say on stderr that a session began, and how to get at what it holds."""
    what = ""
    if arming.first_call:
        what = ": its first call will be held"
    elif arming.breakpoints:
        count = len(arming.breakpoints)
        what = f": {count} breakpoint{'s are' if count > 1 else ' is'} set"
    _say(
        f"holdfast: session {session_id} began{what}; "
        f"attach to it with: holdfast agent attach -s {session_id}"
    )


def announce_hold(session_id: str, stop_id: str, what: str) -> None:
    """Say on stderr that a rule holds something, and how to let it go on."""
    _say(
        f"holdfast: a rule of this project holds {what} ({stop_id}); let it go on with: "
        f"holdfast agent resume {stop_id} -s {session_id}, or holdfast agent attach -s {session_id}"
    )


def _say(line: str) -> None:
    with contextlib.suppress(OSError, ValueError, AttributeError):  # stderr is closed, or none
        sys.stderr.write(f"{line}\n")
        sys.stderr.flush()


def _parse(hold: Hold, name: str) -> Arming:
    if isinstance(hold, bool):
        return Arming(first_call=hold)
    if isinstance(hold, str):
        word = hold.strip().lower()
        if word in _NO or word in _YES:
            return Arming(first_call=word in _YES)
        items: Sequence[Any] = _split(hold, name)
    else:
        items = hold
    if not isinstance(items, (list, tuple)):
        raise _invalid(name, f"it is True, text or a list, not {hold!r:.100}")
    points: list[Mapping[str, Any]] = []
    is_first = False
    for item in items:
        if isinstance(item, str) and item.strip().lower() in _YES:
            is_first = True
            continue
        try:
            point = parse_point(item) if isinstance(item, str) else dict(item)
            check_point(point)
        except InvalidInput as problem:
            raise _invalid(name, problem.message) from None
        except (TypeError, ValueError):
            raise _invalid(name, f"a breakpoint is text or an object, not {item!r:.100}") from None
        points.append(point)
    return Arming(is_first, tuple(points))


def _split(text: str, name: str) -> Sequence[Any]:
    if text.lstrip().startswith("["):
        try:
            items = json.loads(text)
        except ValueError as problem:
            raise _invalid(name, f"it begins like JSON, and is none: {problem}") from None
        return items if isinstance(items, list) else [items]
    parts = re.split(r"(?<!\\);", text)
    return [part.strip().replace("\\;", ";") for part in parts if part.strip()]


def parse_point(text: str) -> Mapping[str, Any]:
    """A breakpoint as `tool:write_*`."""
    kind, _, argument = text.partition(":")
    return build_point(kind.strip(), argument.strip())


def build_point(kind: str, argument: str) -> Mapping[str, Any]:
    """A breakpoint by its kind and its one argument; InvalidInput if there is no such kind."""
    if kind not in KINDS:
        raise InvalidAgentBreakpoint(
            f"there is no breakpoint on {kind!r:.100}; possible are: {', '.join(KINDS)}, each with "
            "its argument, such as tool:write_*",
            field="on",
        )
    if not argument:
        return {"on": kind}
    is_count = MAIN_FIELD[kind] == "count" and argument.isdecimal()
    return {"on": kind, MAIN_FIELD[kind]: int(argument) if is_count else argument}


def _invalid(name: str, why: str) -> InvalidInput:
    return InvalidAgentBreakpoint(
        f"{name}: {why}",
        hint="It is 1 to hold the first call, or breakpoints such as tool:write_*;iteration:3.",
        field=name,
    )
