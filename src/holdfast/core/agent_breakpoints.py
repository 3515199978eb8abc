"""Where an agent's loop is to stop: breakpoints over the moments at which it can.

A moment is just before a model is called, just before a tool runs, or just after one of them
failed. A breakpoint belongs to some of them, may have a condition, and counts its hits.

    {"on": "tool", "name": "write_*"}       {"on": "model"}    {"on": "iteration", "count": 5}
    {"on": "pattern", "regex": "rm -rf"}    {"on": "error"}    {"on": "tokens", "count": 50000}
    {"on": "condition", "condition": "tool == 'shell' and 'sudo' in input['command']"}

Each may name the `lane` that it is for. `iteration` counts the model calls of one lane: without a
name, the first lane to get there is held. A condition is a filter (`core.filters`) over the names
in `CONDITION_NAMES`.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from holdfast.core import filters, hit_conditions
from holdfast.core.call_parameters import CallParameters
from holdfast.errors import InvalidAgentBreakpoint, InvalidInput

KINDS = ("tool", "model", "iteration", "pattern", "error", "tokens", "condition")
MODEL, TOOL, ERROR = "model", "tool", "error"

CONDITION_NAMES = ("at", "tool", "model", "input", "iteration", "tokens", "error", "lane")

_MAX_REGEX = 1000
_FEW = 16  # repetitions that are as good as none
# What the other shape calls `condition`, under the name that this one has for it.
MAIN_FIELD = {
    "tool": "name",
    "model": "name",
    "error": "name",
    "iteration": "count",
    "tokens": "count",
    "pattern": "regex",
    "condition": "condition",
}


@dataclass(frozen=True)
class Moment:
    """Where the loop is. `texts` gives the input as patterns see it, if somebody wants it."""

    at: str
    name: str
    iteration: int
    tokens: int
    input: Any
    texts: Callable[[], Sequence[str]]
    error: dict[str, str] | None = None
    lane: str = "main"
    rule_actions: tuple[str, ...] = ("hold", "deny", "allow")
    """The actions of rules that count here: a replay does not ask again."""
    parameters: CallParameters | None = None
    """What the tool or model takes, if it is known: an input that is decided has to fit."""

    @property
    def is_about_tool(self) -> bool:
        return self.at == TOOL or (self.error is not None and self.error.get("of") == TOOL)

    def has_text(self, pattern: re.Pattern[str]) -> bool:
        return any(pattern.search(text) is not None for text in self.texts())

    def values(self) -> dict[str, Any]:
        return {
            "at": self.at,
            "tool": self.name if self.is_about_tool else None,
            "model": None if self.is_about_tool else self.name,
            "input": self.input,
            "iteration": self.iteration,
            "tokens": self.tokens,
            "error": self.error,
            "lane": self.lane,
        }


@dataclass
class AgentBreakpoint:
    id: str
    on: str
    name: str | None = None
    count: int | None = None
    regex: re.Pattern[str] | None = None
    condition: filters.Filter | None = None
    hit_condition: hit_conditions.HitCondition | None = None
    lane: str | None = None
    """Which agent of the process; any, if None."""
    hits: int = 0
    spent: bool = field(default=False, compare=False)

    def is_hit(self, moment: Moment) -> bool:
        """Whether the loop is to stop here; counts it if it came this far."""
        if self.spent or self.lane not in (None, moment.lane) or not self._is_met(moment):
            return False
        if self.condition is not None and not self.condition.matches(moment.values()):
            return False
        self.hits += 1
        # A loop passes an iteration, and the limit of its tokens, once.
        self.spent = self.on in ("iteration", "tokens")
        return self.hit_condition is None or self.hit_condition.matches(self.hits)

    def _is_met(self, moment: Moment) -> bool:
        match self.on:
            case "tool":
                return moment.at == TOOL and self._is_named(moment)
            case "model":
                return moment.at == MODEL and self._is_named(moment)
            case "error":
                return moment.at == ERROR and self._is_named(moment)
            case "iteration":
                return moment.at == MODEL and moment.iteration == self.count
            case "tokens":
                return moment.at == MODEL and moment.tokens >= (self.count or 0)
            case "pattern":
                assert self.regex is not None
                return moment.at == TOOL and moment.has_text(self.regex)
            case _:
                return moment.at != ERROR

    def _is_named(self, moment: Moment) -> bool:
        return self.name is None or fnmatchcase(moment.name, self.name)

    def to_json(self) -> dict[str, Any]:
        """It, in both shapes."""
        main: Any = self.name
        if self.on in ("iteration", "tokens"):
            main = self.count
        elif self.regex is not None:
            main = self.regex.pattern
        elif self.on == "condition" and self.condition is not None:
            main = self.condition.text
        fields = {"id": self.id, "on": self.on, "type": self.on, MAIN_FIELD[self.on]: main}
        fields["hits"] = self.hits
        if self.condition is not None and self.on != "condition":
            fields["if"] = self.condition.text
        elif main is not None:
            fields["condition"] = main
        if self.hit_condition is not None:
            fields["hitCondition"] = str(self.hit_condition)
        if self.lane is not None:
            fields["lane"] = self.lane
        return fields


def parse_breakpoint(data: Mapping[str, Any], breakpoint_id: str) -> AgentBreakpoint:
    """The breakpoint that `data` describes, in either shape; InvalidInput says what is wrong."""
    on = data.get("on", data.get("type"))
    if on not in KINDS:
        raise _invalid(f"on is one of {', '.join(KINDS)}, not {on!r:.100}", "on")
    main = MAIN_FIELD[on]
    given = data.get(main)
    condition = data.get("if")
    if "on" not in data and main != "condition" and given is None:
        given = data.get("condition")
    elif main != "condition" and condition is None:
        condition = data.get("condition")
    point = AgentBreakpoint(breakpoint_id, on)
    match main:
        case "name":
            point.name = _text(given, main) if given is not None else None
            if on == "tool" and point.name is None:
                raise _invalid("a breakpoint on a tool names it, or a pattern like `write_*`", main)
        case "count":
            if not isinstance(given, int) or isinstance(given, bool) or given < 1:
                raise _invalid(f"count is a whole number from 1 on, not {given!r:.100}", main)
            point.count = given
        case "regex":
            point.regex = compile_pattern(_text(given, main))
        case _:
            condition = given
            if condition is None:
                raise _invalid("a breakpoint on a condition has one", main)
    if condition is not None:
        point.condition = filters.parse(_text(condition, "condition"), CONDITION_NAMES)
    wanted = data.get("hitCondition", data.get("hit_condition"))
    if wanted is not None:
        point.hit_condition = hit_conditions.parse(wanted)
    if data.get("lane") is not None:
        point.lane = _text(data["lane"], "lane")
    return point


def _text(given: Any, name: str) -> str:
    if not isinstance(given, str) or not given:
        raise _invalid(f"{name} is text, not {given!r:.100}", name)
    return given


def compile_pattern(pattern: str) -> re.Pattern[str]:
    """InvalidInput if it is no regular expression, or one that could take for ever."""
    if len(pattern) > _MAX_REGEX:
        raise _invalid(f"a regex has at most {_MAX_REGEX} characters", "regex")
    try:
        regex = re.compile(unicodedata.normalize("NFC", pattern))
    except (re.error, RecursionError, OverflowError) as problem:
        raise _invalid(f"not a regular expression: {pattern[:100]!r}: {problem}", "regex") from None
    if _repeats_repeats(pattern):
        raise _invalid(
            f"{pattern[:100]!r} repeats what is repeated inside it, as `(a+)+` does, and could "
            "take for ever; write it without",
            "regex",
        )
    return regex


def _repeats_repeats(pattern: str) -> bool:
    """Whether a repetition, or a choice, is itself repeated without a bound.

    Matching such a pattern can take time that doubles with every character, and nothing can
    interrupt it: the whole agent would stand still.
    """
    try:
        from re import _parser  # type: ignore[attr-defined]
    except ImportError:
        import sre_parse as _parser
    return _has_repeats(_parser.parse(pattern), inside=False)


def _has_repeats(parsed: Any, inside: bool) -> bool:
    for operation, given in parsed:
        name = str(operation)
        if name in ("MAX_REPEAT", "MIN_REPEAT"):
            _low, high, body = given
            is_unbounded = high > _FEW
            if is_unbounded and inside:
                return True
            if _has_repeats(body, inside or is_unbounded):
                return True
        elif name == "BRANCH":
            if inside or any(_has_repeats(branch, inside) for branch in given[1]):
                return True
        elif name == "SUBPATTERN" or name == "ATOMIC_GROUP":
            if _has_repeats(given[-1] if name == "SUBPATTERN" else given, inside):
                return True
        elif name in ("ASSERT", "ASSERT_NOT") and _has_repeats(given[1], inside):
            return True
    return False


def _invalid(message: str, field_name: str) -> InvalidInput:
    return InvalidAgentBreakpoint(message, field=field_name)
