"""Where a step's time goes: the same program, driven from inside, without HTTP in between."""

from __future__ import annotations

import asyncio
import os

import uvloop

from bench.measuring import Program, Readings
from holdfast.model.breakpoint import Breakpoint, ExceptionFilters
from holdfast.model.launch import Launch
from holdfast.model.stop import Stop
from holdfast.targets.program import launcher
from holdfast.targets.program.launcher import Request, Setup
from holdfast.targets.program.target import Target, TargetListener

HOP = "a question to the debugger and back"
STEP_INSIDE = "a step, without HTTP"


class _Stops(TargetListener):
    """Listens to a target for its stops and its end."""

    def __init__(self) -> None:
        self.next: asyncio.Queue[Stop | None] = asyncio.Queue()

    def on_stop(self, stop: Stop) -> None:
        self.next.put_nowait(stop)

    def on_exit(self, code: int | None) -> None:
        self.next.put_nowait(None)


def measure(program: Program, steps: int, readings: Readings) -> None:
    uvloop.run(_life(program, steps, readings))


async def _life(program: Program, steps: int, readings: Readings) -> None:
    stops = _Stops()
    target = await _launched(program, stops)
    try:
        stop = await stops.next.get()
        for _ in range(steps):
            assert stop is not None
            with readings.timed(HOP):
                await target.operate("hits")
            with readings.timed(STEP_INSIDE):
                target.run("step-over", stop.thread_id)
                stop = await stops.next.get()
    finally:
        await target.kill()


async def _launched(program: Program, stops: _Stops) -> Target:
    launch = Launch(script=program.path, python_path=program.python)
    place = await launcher.locate(launch, os.path.dirname(program.path))
    point = Breakpoint("bp_1", program.path, program.points[0].line)
    setup = Setup({program.path: [point]}, [], ExceptionFilters())
    return await launcher.start(
        Request(launch=launch, place=place, setup=setup, listener=stops, adopt=lambda _: None)
    )
