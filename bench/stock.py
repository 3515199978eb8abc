"""Stock debugpy as its peers drive it: an adapter, a launcher and the program, over DAP."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any

import psutil

from bench.dap import Dap
from bench.measuring import (
    COLD,
    END,
    EVALUATE,
    LAUNCH,
    MEMORY,
    STATUS,
    STEP,
    Effort,
    Program,
    Readings,
    megabytes,
)

_QUICK_ADAPTER = str(Path(__file__).with_name("quick_adapter.py"))
_INITIALIZE = {
    "clientID": "bench",
    "adapterID": "python",
    "pathFormat": "path",
    "linesStartAt1": True,
    "columnsStartAt1": True,
    "supportsVariableType": True,
}


class Stock:
    """`acknowledge_at_once` takes away the 40 ms for which every message of pydevd waits."""

    def __init__(self, name: str, *, acknowledge_at_once: bool = False) -> None:
        self.name = name
        how = [_QUICK_ADAPTER] if acknowledge_at_once else ["-m", "debugpy.adapter"]
        self._argv = [sys.executable, *how]

    def live(self, program: Program, effort: Effort, readings: Readings) -> None:
        with contextlib.ExitStack() as stack:
            with readings.timed(LAUNCH):
                dap = stack.enter_context(contextlib.closing(Dap(self._argv)))
                thread = _launch(dap, program)
                frame = _top_frame(dap, thread)
            readings.add(COLD, readings.all[LAUNCH][-1])  # it prepares nothing
            readings.trail = [frame["line"]]
            for _ in range(effort.steps):
                with readings.timed(STEP):
                    frame = _step(dap, thread)
                readings.trail.append(frame["line"])
            for _ in range(effort.evaluations):
                with readings.timed(EVALUATE):
                    asked = {"expression": program.expression, "frameId": frame["id"]}
                    dap.request("evaluate", {**asked, "context": "watch"})
                with readings.timed(STATUS):  # DAP has no status; this is its cheapest question
                    dap.request("threads")
            adapter = psutil.Process(dap.process.pid)
            readings.add(MEMORY, megabytes([adapter, *adapter.children(recursive=True)]))
            with readings.timed(END):
                dap.send("continue", {"threadId": thread})
                dap.event("terminated")

    def close(self) -> None:
        pass


def _launch(dap: Dap, program: Program) -> int:
    """To the first stop; the thread that stopped."""
    dap.request("initialize", _INITIALIZE)
    # The adapter answers `launch` only after `configurationDone`.
    launched = dap.send(
        "launch",
        {
            "program": program.path,
            "python": [program.python],
            "console": "internalConsole",
            "justMyCode": False,
        },
    )
    dap.event("initialized")
    lines: dict[str, Any] = {"breakpoints": [{"line": program.line}]}
    dap.request("setBreakpoints", {"source": {"path": program.path}, **lines})
    dap.request("configurationDone")
    dap.answer(launched)
    thread: int = dap.event("stopped")["threadId"]
    return thread


def _top_frame(dap: Dap, thread: int) -> dict[str, Any]:
    found = dap.request("stackTrace", {"threadId": thread, "levels": 1})
    frame: dict[str, Any] = found["stackFrames"][0]
    return frame


def _step(dap: Dap, thread: int) -> dict[str, Any]:
    """One step, and what a client then shows: the place and the locals."""
    dap.request("next", {"threadId": thread})
    dap.event("stopped")
    frame = _top_frame(dap, thread)
    scopes = dap.request("scopes", {"frameId": frame["id"]})["scopes"]
    found = dap.request("variables", {"variablesReference": scopes[0]["variablesReference"]})
    if not found["variables"]:
        raise AssertionError("no locals")
    return frame
