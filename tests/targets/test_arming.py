"""An armed interpreter: everything of pydevd that we lean on is there, on every Python.

When a new debugpy changes something under us, this is the test that says what.
"""

from __future__ import annotations

import asyncio
import os
from typing import Any

import pytest

from holdfast.targets.program import launcher


def _facts(python: str) -> dict[str, Any]:
    async def arm() -> dict[str, Any]:
        target = await launcher.arm(
            python, cwd="/", env=dict(os.environ), tag=None, request_timeout=60
        )
        try:
            return dict(await target.read_hello(60))
        finally:
            await target.kill()

    return asyncio.run(arm())


def test_every_patch_of_pydevd_applies(python: str) -> None:
    applied = _facts(python)["patches"]

    assert applied == dict.fromkeys(applied, True)
    assert set(applied) >= {
        "skip_start_delay",
        "skip_exit_delay",
        "limit_frames",
        "skip_traced_parents",
        "trace_little",
    }


def test_an_interpreter_that_nobody_speaks_to_any_more_ends_by_itself(python: str) -> None:
    """The warden would see to it; but the warden may have been killed, too."""

    async def leave() -> int:
        target = await launcher.arm(
            python, cwd="/", env=dict(os.environ), tag=None, request_timeout=60
        )
        try:
            await target.read_hello(60)
            target.connection.close()
            return await asyncio.wait_for(target.own_process().wait(), 60)
        finally:
            await target.kill()

    assert asyncio.run(leave()) == 0


@pytest.mark.parametrize("times", [3])
def test_an_interpreter_that_waited_in_vain_leaves_nothing(python: str, times: int) -> None:
    before = len(os.listdir("/proc/self/fd"))
    for _ in range(times):
        _facts(python)
    assert len(os.listdir("/proc/self/fd")) <= before + 1
