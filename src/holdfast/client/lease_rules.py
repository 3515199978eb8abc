"""Which breakpoints could concern a function. May over-match, never under-match."""

from __future__ import annotations

import fnmatch
from typing import Any


class LeaseRules:
    """The breakpoints in force, as far as a leased application has to know them."""

    def __init__(self, rules: Any, session_id: str | None) -> None:
        self._rules = [
            rule
            for rule in rules or ()
            if isinstance(rule, dict)
            and rule.get("enabled", True)
            and rule.get("session_id") in (None, session_id)
        ]

    def may_concern(self, name: str, alias: str | None, qualname: str | None, kind: str) -> bool:
        """Whether one could hold a call of this function, before or after it."""
        return any(_may_concern(rule, name, alias, qualname, kind) for rule in self._rules)


def _may_concern(
    rule: dict[str, Any], name: str, alias: str | None, qualname: str | None, kind: str
) -> bool:
    if rule.get("call_type") not in (None, kind):
        return False
    pattern = rule.get("alias")
    if pattern is not None and not fnmatch.fnmatchcase(alias or "", pattern) and pattern != alias:
        return False
    function = rule.get("function")
    names = [name] if qualname is None else [name, qualname]
    return function is None or any(may_match_name(function, known) for known in names)


def may_match_name(pattern: str, name: str) -> bool:
    """Whether a name or pattern means this name, or this name in some module."""
    if "[" in pattern:
        return True
    if "*" not in pattern and "?" not in pattern:
        return name == pattern or pattern.endswith(f".{name}")
    # Whatever comes before the last star may belong to the module, so only what follows it counts.
    tail = pattern.rpartition("*")[2]
    length = min(len(tail), len(name))
    ends = zip(tail[len(tail) - length :], name[len(name) - length :], strict=True)
    return all(one in ("?", other) for one, other in ends)
