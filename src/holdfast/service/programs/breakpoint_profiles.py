"""Named sets of breakpoints, for any session."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

from holdfast import errors
from holdfast.model.breakpoint import Breakpoint
from holdfast.service.programs.breakpoint_set import check
from holdfast.store import Directory
from holdfast.wire.program_answers import ProfileAnswer, ProfileList

Specification = dict[str, Any]
"""The fields of a breakpoint that somebody asked for."""


class BreakpointProfiles:
    def __init__(self, directory: Directory) -> None:
        self._directory = directory

    async def list(self) -> ProfileList:
        profiles = [
            ProfileAnswer(name, profile["breakpoints"])
            for name, profile in (await self._directory.profiles()).items()
        ]
        return ProfileList(profiles, len(profiles))

    async def describe(self, name: str) -> ProfileAnswer:
        profiles = await self._directory.profiles()
        if name not in profiles:
            raise errors.ProfileNotFound(f"no profile {name!r}", name=name, known=[*profiles])
        return ProfileAnswer(name, profiles[name]["breakpoints"])

    async def get(self, name: str) -> Sequence[Specification]:
        """The breakpoints of a profile."""
        return cast(Sequence[Specification], (await self.describe(name)).breakpoints)

    async def save(self, name: str, breakpoints: Sequence[Specification]) -> ProfileAnswer:
        """Save a set of breakpoints, replacing what was there under that name."""
        for fields in breakpoints:
            check(Breakpoint(id="bp_0", **fields))
        document = {"breakpoints": [*breakpoints]}
        await self._directory.put_profile(name, document)
        return await self.describe(name)

    async def delete(self, name: str) -> None:
        await self.get(name)
        await self._directory.delete_profile(name)
