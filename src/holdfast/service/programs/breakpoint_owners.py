"""Who wants which breakpoint: the clients of the HTTP API, a controller, each editor.

Each of them replaces its own breakpoints as a whole, as debug adapters do, and must not take away
what others have set. One that two of them set is one breakpoint with two owners.
"""

from __future__ import annotations

REST = "rest"
"""The owner of breakpoints that were set over HTTP. They stay until somebody removes them."""
PROGRAM = "program"
"""Owns none, but may change one: what it watches is gone."""
TOOLS = "tools"
"""The owner of those that agents set. They live as long as their session."""
UNTIL = "until"
"""The owner of those that stop once, for somebody who runs to a place."""


class BreakpointOwners:
    """The owners of each breakpoint, by its id. One that is not listed is of `REST` alone."""

    def __init__(self) -> None:
        self._owners: dict[str, set[str]] = {}

    def create(self, breakpoint_id: str, owner: str) -> None:
        """A new breakpoint, of one owner."""
        if owner != REST:
            self._owners[breakpoint_id] = {owner}

    def adopt(self, breakpoint_id: str, owner: str) -> None:
        """One that is there already has another owner as well."""
        if owner != REST or breakpoint_id in self._owners:
            self._owners.setdefault(breakpoint_id, {REST}).add(owner)

    def forget(self, breakpoint_id: str) -> None:
        self._owners.pop(breakpoint_id, None)

    def clear(self) -> None:
        self._owners.clear()

    def of(self, breakpoint_id: str) -> list[str]:
        return sorted(self._owners.get(breakpoint_id, (REST,)))

    def owns(self, owner: str, breakpoint_id: str) -> bool:
        return owner in self._owners.get(breakpoint_id, (REST,))

    def is_kept(self, breakpoint_id: str) -> bool:
        """Whether it is stored: an editor or a controller sets its own again the next time."""
        return self.owns(REST, breakpoint_id)

    def release(self, owner: str) -> list[str]:
        """An owner leaves. The ids of the breakpoints that nobody wants any more."""
        unwanted = []
        for breakpoint_id, owners in self._owners.items():
            owners.discard(owner)
            if not owners:
                unwanted.append(breakpoint_id)
        return unwanted
