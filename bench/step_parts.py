"""Where the time of a step goes: the same program, driven without HTTP."""

from __future__ import annotations

import asyncio
import os

import uvloop

from bench.measurements import Program, Readings
from holdfast.model.breakpoint import Breakpoint, ExceptionFilters
from holdfast.model.launch import Launch
from holdfast.model.stop import Stop
from holdfast.targets.program import launcher
from holdfast.targets.program.launcher import Request, Setup
from holdfast.targets.program.target import Target, TargetListener

REQUEST = "a request to the debugger"
STEP_WITHOUT_HTTP = "a step, without HTTP"


class _StopQueue(TargetListener):
    """Queues the stops of a target, and None at its end."""

    def __init__(self) -> None:
        self.next: asyncio.Queue[Stop | None] = asyncio.Queue()

    def on_stop(self, stop: Stop) -> None:
        self.next.put_nowait(stop)

    def on_exit(self, code: int | None) -> None:
        self.next.put_nowait(None)


def measure(program: Program, steps: int, readings: Readings) -> None:
    uvloop.run(_run(program, steps, readings))


async def _run(program: Program, steps: int, readings: Readings) -> None:
    stops = _StopQueue()
    target = await _launch(program, stops)
    try:
        stop = await stops.next.get()
        for _ in range(steps):
            assert stop is not None
            with readings.time(REQUEST):
                await target.operate("hits")
            with readings.time(STEP_WITHOUT_HTTP):
                target.run("step-over", stop.thread_id)
                stop = await stops.next.get()
    finally:
        await target.kill()


async def _launch(program: Program, stops: _StopQueue) -> Target:
    launch = Launch(script=program.path, python_path=program.python)
    place = await launcher.locate(launch, os.path.dirname(program.path))
    breakpoint_ = Breakpoint("bp_1", program.path, program.breakpoints[0].line)
    setup = Setup({program.path: [breakpoint_]}, [], ExceptionFilters())
    return await launcher.start(
        Request(
            launch=launch,
            place=place,
            setup=setup,
            listener=stops,
            adopt=lambda _: None,
            timeout=60,
            request_timeout=60,
        )
    )
