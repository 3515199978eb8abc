"""Whether a breakpoint could concern a function: never no where the server might say yes."""

from __future__ import annotations

import fnmatch
from typing import Any


class LeaseRules:
    """The breakpoints in force, as far as a leased application has to know them."""

    def __init__(self, given: Any, session_id: str | None) -> None:
        every = [each for each in given or () if isinstance(each, dict)]
        self._rules = [
            each
            for each in every
            if each.get("enabled", True) and each.get("session_id") in (None, session_id)
        ]

    def concern(self, name: str, alias: str | None, qualname: str | None, kind: str) -> bool:
        """Is there one that could hold a call of this function, before or after it?"""
        return any(_concerns(rule, name, alias, qualname, kind) for rule in self._rules)


def _concerns(
    rule: dict[str, Any], name: str, alias: str | None, qualname: str | None, kind: str
) -> bool:
    if rule.get("call_type") not in (None, kind):
        return False
    wanted = rule.get("alias")
    if wanted is not None and not fnmatch.fnmatchcase(alias or "", wanted) and wanted != alias:
        return False
    function = rule.get("function")
    names = [name] if qualname is None else [name, qualname]
    return function is None or any(may_match_name(function, each) for each in names)


def may_match_name(wanted: str, name: str) -> bool:
    """Whether a name or pattern means this name, or this name in some module."""
    if "[" in wanted:
        return True
    if "*" not in wanted and "?" not in wanted:
        return name == wanted or wanted.endswith(f".{name}")
    # Whatever comes before the last star may be the module's. So only what follows it counts.
    tail = wanted.rpartition("*")[2]
    length = min(len(tail), len(name))
    ends = zip(tail[len(tail) - length :], name[len(name) - length :], strict=True)
    return all(one in ("?", other) for one, other in ends)
