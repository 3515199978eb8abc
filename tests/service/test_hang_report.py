"""What the answer to a pause says about what it waits for."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from holdfast.service.programs import hang_report

pytestmark = pytest.mark.anyio


class UnreadableProgram:
    """A program that does not answer, and that cannot be read from outside."""

    async def deadlocks(self) -> None:
        await asyncio.Event().wait()


async def test_a_pause_does_not_wait_for_what_nobody_can_tell(
    limits: Callable[..., None],
) -> None:
    limits(pause_reason=0.01)
    session: Any = SimpleNamespace(inspection=UnreadableProgram())
    answer: Any = SimpleNamespace(message="It is busy.")
    await hang_report.add_to_pause(answer, session, None, is_pending=True)
    assert answer.message == "It is busy."
