"""Rules that last: what an agent may do, what it may not, and what somebody has to decide.

A project's `holdfast.toml` has them, in the order in which they count:

    [[agent.rule]]
    tool = "write_*"             # a tool's name, or a glob
    pattern = "\\.env"            # a regular expression over the tool's input
    condition = "iteration > 3"  # a filter over `agent_breakpoints.CONDITION_NAMES`
    action = "hold"              # or "deny", or "allow"
    timeout = 60                 # seconds that a hold waits for a decision
    on_timeout = "deny"          # or "allow", or "hold"

A rule fits where all that it names does; the first one that fits counts.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from holdfast.core import filters
from holdfast.core.agent_breakpoints import CONDITION_NAMES, Moment, compile_pattern
from holdfast.errors import InvalidAgentRule, InvalidInput

HOLD, DENY, ALLOW = "hold", "deny", "allow"
ACTIONS = (HOLD, DENY, ALLOW)
KEYS = ("tool", "pattern", "condition", "action", "timeout", "on_timeout")
_MATCHERS = ("tool", "pattern", "condition")
_MAX_TIMEOUT = 366 * 86_400.0


@dataclass
class AgentRule:
    id: str
    """`rule-2`: the second one of its file."""
    action: str
    tool: str | None = None
    pattern: re.Pattern[str] | None = None
    condition: filters.Filter | None = None
    timeout: float | None = None
    on_timeout: str = DENY
    """What is done with a hold that nobody decided in time."""
    source: str | None = None
    """The file and the line that it comes from."""
    hits: int = field(default=0, compare=False)

    def fits(self, moment: Moment) -> bool:
        """Whether it is about this call. A tool or a pattern is about tools only."""
        if self.tool is not None or self.pattern is not None:
            if not moment.is_about_tool:
                return False
            if self.tool is not None and not fnmatchcase(moment.name, self.tool):
                return False
            if self.pattern is not None and not moment.has_text(self.pattern):
                return False
        return self.condition is None or self.condition.matches(moment.values())

    @property
    def title(self) -> str:
        """What it is about: `tool write_*, pattern \\.env`."""
        parts = []
        if self.tool is not None:
            parts.append(f"tool {self.tool}")
        if self.pattern is not None:
            parts.append(f"pattern {self.pattern.pattern}")
        if self.condition is not None:
            parts.append(f"condition {self.condition.text}")
        return ", ".join(parts)

    def to_json(self) -> dict[str, Any]:
        fields: dict[str, Any] = {"id": self.id, "action": self.action}
        if self.tool is not None:
            fields["tool"] = self.tool
        if self.pattern is not None:
            fields["pattern"] = self.pattern.pattern
        if self.condition is not None:
            fields["condition"] = self.condition.text
        if self.timeout is not None:
            fields["timeout"], fields["onTimeout"] = self.timeout, self.on_timeout
        if self.source is not None:
            fields["source"] = self.source
        fields["hits"] = self.hits
        return fields


def find_rule(rules: Iterable[AgentRule], moment: Moment) -> AgentRule | None:
    """The rule that counts."""
    return next((rule for rule in rules if rule.fits(moment)), None)


def parse_rule(data: Mapping[str, Any], rule_id: str, source: str | None = None) -> AgentRule:
    """The rule that `data` describes; InvalidAgentRule names the key that is wrong."""
    for key in data:
        if key not in KEYS:
            raise _invalid(key, f"there is no key {key!r:.100} in a rule", KEYS)
    action = data.get("action")
    if action is None:
        raise _invalid("action", "a rule needs an action", ACTIONS)
    if action not in ACTIONS:
        raise _invalid("action", f"there is no action {action!r:.100}", ACTIONS)
    if not any(key in data for key in _MATCHERS):
        raise _invalid("tool", "a rule says what it is about", _MATCHERS)
    rule = AgentRule(rule_id, action, source=source)
    if "tool" in data:
        rule.tool = _text(data, "tool")
    if "pattern" in data:
        try:
            rule.pattern = compile_pattern(_text(data, "pattern"))
        except InvalidInput as problem:
            raise _invalid("pattern", problem.message) from None
    if "condition" in data:
        try:
            rule.condition = filters.parse(_text(data, "condition"), CONDITION_NAMES)
        except InvalidInput as problem:
            raise _invalid("condition", problem.message, CONDITION_NAMES) from None
    _set_timeout(rule, data)
    return rule


def _set_timeout(rule: AgentRule, data: Mapping[str, Any]) -> None:
    for key in ("timeout", "on_timeout"):
        if key in data and rule.action != HOLD:
            raise _invalid(
                key, f"only a rule that holds has a {key}, and this one is {rule.action!r}"
            )
    if "timeout" in data:
        timeout = data["timeout"]
        is_number = isinstance(timeout, (int, float)) and not isinstance(timeout, bool)
        if not is_number or not math.isfinite(timeout) or not 0 < timeout <= _MAX_TIMEOUT:
            raise _invalid("timeout", f"it is a number of seconds above 0, not {timeout!r:.100}")
        rule.timeout = float(timeout)
    if "on_timeout" in data:
        if rule.timeout is None:
            raise _invalid("on_timeout", "it needs a timeout, in seconds")
        policy = data["on_timeout"]
        if policy not in (DENY, ALLOW, HOLD):
            raise _invalid("on_timeout", f"there is no {policy!r:.100}", (DENY, ALLOW, HOLD))
        rule.on_timeout = policy


def _text(data: Mapping[str, Any], key: str) -> str:
    value = data[key]
    if not isinstance(value, str) or not value:
        raise _invalid(key, f"it is text, not {value!r:.100}")
    return value


def _invalid(key: str, why: str, possible: tuple[str, ...] = ()) -> InvalidAgentRule:
    one_of = f"; possible are: {', '.join(possible)}" if possible else ""
    return InvalidAgentRule(f"{why}{one_of}", field=key, possible=list(possible))
