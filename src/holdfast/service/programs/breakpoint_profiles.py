"""Named sets of breakpoints, for any session."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Any

from holdfast import errors
from holdfast.model.breakpoint import Breakpoint
from holdfast.service.programs.breakpoint_set import check
from holdfast.store import Store

Specification = dict[str, Any]
"""The fields of a breakpoint that somebody asked for."""


class BreakpointProfiles:
    def __init__(self, store: Store) -> None:
        self._store = store

    def all(self) -> dict[str, list[Specification]]:
        profiles = self._store.profiles()
        return {name: list(profile["breakpoints"]) for name, profile in profiles.items()}

    def get(self, name: str) -> list[Specification]:
        profiles = self.all()
        if name not in profiles:
            raise errors.ProfileNotFound(f"no profile {name!r}", name=name, known=list(profiles))
        return profiles[name]

    async def save(self, name: str, breakpoints: Sequence[Specification]) -> None:
        """Save a set of breakpoints, replacing what was there under that name."""
        for fields in breakpoints:
            check(Breakpoint(id="bp_0", **fields))
        document = {"breakpoints": list(breakpoints)}
        await asyncio.wrap_future(self._store.put_profile(name, document))

    async def delete(self, name: str) -> None:
        self.get(name)
        await asyncio.wrap_future(self._store.delete_profile(name))
