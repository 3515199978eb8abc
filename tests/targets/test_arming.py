"""An armed interpreter: everything of pydevd that we lean on is there, on every Python.

When a new debugpy changes something under us, this is the test that says what.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest

from holdfast.targets.program import launching
from holdfast.targets.program.connection import body_of


def _facts(python: str) -> dict[str, Any]:
    async def arm() -> dict[str, Any]:
        target = await launching.arm(python, cwd="/", env=dict(os.environ), tag=None)
        try:
            assert target.hello is not None
            return body_of(await asyncio.wait_for(target.hello, 30), "hello")
        finally:
            await target.kill()

    return asyncio.run(arm())


def test_every_mend_took(python: str) -> None:
    took = _facts(python)["mends"]

    assert took == dict.fromkeys(took, True)
    assert set(took) >= {"quick_start", "quick_exit", "few_frames", "quick_parents", "quick_lines"}


@pytest.mark.parametrize("times", [3])
def test_an_interpreter_that_waited_in_vain_leaves_nothing(python: str, times: int) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(times):
        _facts(python)
    assert len(os.listdir("/proc/self/fd")) <= before + 1
