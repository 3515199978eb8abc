"""Stock debugpy as its peers drive it: an adapter, a launcher and the program, over DAP."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import psutil

from bench.dap import Dap
from bench.measuring import Program

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

    prepares = False

    def __init__(self, name: str, *, acknowledge_at_once: bool = False) -> None:
        self.name = name
        how = [_QUICK_ADAPTER] if acknowledge_at_once else ["-m", "debugpy.adapter"]
        self._argv = [sys.executable, *how]

    def launch(self, program: Program, *, prepared: bool = True) -> Adapted:
        return Adapted(Dap(self._argv), program)

    def settle(self) -> None:
        """Nothing goes on in the background."""


class Adapted:
    """A program behind an adapter, from nothing to its first stop, and on."""

    def __init__(self, dap: Dap, program: Program) -> None:
        self._dap = dap
        dap.request("initialize", _INITIALIZE)
        # The adapter answers `launch` only after `configurationDone`.
        launched = dap.send(
            "launch",
            {
                "program": program.path,
                "args": list(program.arguments),
                "python": [program.python],
                "console": "internalConsole",
                "justMyCode": False,
            },
        )
        dap.event("initialized")
        points = [_as_dap(point.as_json()) for point in program.points]
        dap.request("setBreakpoints", {"source": {"path": program.path}, "breakpoints": points})
        dap.request("configurationDone")
        dap.answer(launched)
        self._stopped()

    @property
    def line(self) -> int:
        line: int = self._frame["line"]
        return line

    def step(self) -> None:
        """One step, and what a client then shows: the place and the locals."""
        dap = self._dap
        dap.request("next", {"threadId": self._thread})
        self._stopped()
        scopes = dap.request("scopes", {"frameId": self._frame["id"]})["scopes"]
        found = dap.request("variables", {"variablesReference": scopes[0]["variablesReference"]})
        if not found["variables"]:
            raise AssertionError("no locals")

    def resume(self) -> None:
        self._dap.send("continue", {"threadId": self._thread})
        self._stopped()

    def _stopped(self) -> None:
        self._thread: int = self._dap.event("stopped")["threadId"]
        found = self._dap.request("stackTrace", {"threadId": self._thread, "levels": 1})
        self._frame: dict[str, Any] = found["stackFrames"][0]

    def evaluate(self, expression: str) -> str:
        asked = {"expression": expression, "frameId": self._frame["id"], "context": "watch"}
        return str(self._dap.request("evaluate", asked)["result"])

    def status(self) -> None:
        """DAP has none; this is its cheapest question."""
        self._dap.request("threads")

    def end(self) -> None:
        self._dap.send("continue", {"threadId": self._thread})
        self._dap.event("terminated")

    def processes(self) -> list[psutil.Process]:
        adapter = psutil.Process(self._dap.process.pid)
        return [adapter, *adapter.children(recursive=True)]

    def close(self) -> None:
        self._dap.close()


def _as_dap(point: dict[str, Any]) -> dict[str, Any]:
    return {("hitCondition" if name == "hit_condition" else name): v for name, v in point.items()}
