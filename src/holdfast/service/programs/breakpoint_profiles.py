"""Named sets of breakpoints, for any session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from holdfast import errors
from holdfast.model.breakpoint import Breakpoint
from holdfast.service.programs.breakpoint_set import check
from holdfast.store import Directory

Specification = dict[str, Any]
"""The fields of a breakpoint that somebody asked for."""


class BreakpointProfiles:
    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    async def all(self) -> dict[str, list[Specification]]:
        profiles = await self._directory.profiles()
        return {name: list(profile["breakpoints"]) for name, profile in profiles.items()}

    async def get(self, name: str) -> list[Specification]:
        profiles = await self.all()
        if name not in profiles:
            raise errors.ProfileNotFound(f"no profile {name!r}", name=name, known=list(profiles))
        return profiles[name]

    async def save(self, name: str, breakpoints: Sequence[Specification]) -> None:
        """Save a set of breakpoints, replacing what was there under that name."""
        for fields in breakpoints:
            check(Breakpoint(id="bp_0", **fields))
        document = {"breakpoints": list(breakpoints)}
        await self._directory.put_profile(name, document)

    async def delete(self, name: str) -> None:
        await self.get(name)
        await self._directory.delete_profile(name)
