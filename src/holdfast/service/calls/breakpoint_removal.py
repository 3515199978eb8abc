"""Removes call breakpoints, and on request continues the calls that they still hold."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from holdfast import errors
from holdfast.model.decision import CONTINUE
from holdfast.service.calls.call_breakpoints import CallBreakpoints
from holdfast.service.calls.call_holds import CallHolds
from holdfast.wire.call_answers import ClearedCallBreakpoints, RemovedCallBreakpoint


@dataclass(eq=False)
class BreakpointRemoval:
    _breakpoints: CallBreakpoints
    _holds: CallHolds

    async def remove(self, point_id: str, release: bool, by: str) -> RemovedCallBreakpoint:
        await self._breakpoints.remove(point_id)
        return RemovedCallBreakpoint(
            breakpoint_id=point_id, **await self._release([point_id], release, by)
        )

    async def clear(self, release: bool, by: str) -> ClearedCallBreakpoints:
        removed = await self._breakpoints.clear()
        return ClearedCallBreakpoints(
            deleted=len(removed), **await self._release(removed, release, by)
        )

    async def _release(self, point_ids: Sequence[str], release: bool, by: str) -> dict[str, Any]:
        """What an answer says about the calls that these breakpoints hold."""
        hold_ids = self._holds.list_held_by(point_ids)
        if not hold_ids:
            return {}
        if not release:
            return {
                "holds": hold_ids,
                "hint": "They wait for a decision: POST /api/holds/{id}/decision with "
                '{"action": "continue"}. DELETE with ?release=true continues them at once.',
            }
        released = []
        for hold_id in hold_ids:
            with contextlib.suppress(errors.AlreadyDecided):  # by somebody else, meanwhile
                await self._holds.decide(hold_id, CONTINUE.name, by, {})
                released.append(hold_id)
        return {"released": released}
