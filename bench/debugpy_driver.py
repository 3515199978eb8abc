"""Stock debugpy as editors drive it: an adapter, a launcher and the program, over DAP."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import psutil

from bench.dap_client import DapClient
from bench.measurements import Program

_QUICK_ACK_ADAPTER = str(Path(__file__).with_name("quick_ack_adapter.py"))
_INITIALIZE = {
    "clientID": "bench",
    "adapterID": "python",
    "pathFormat": "path",
    "linesStartAt1": True,
    "columnsStartAt1": True,
    "supportsVariableType": True,
}


class DebugpyDriver:
    """`quick_ack` removes the 40 ms that every message of pydevd waits for an acknowledgement."""

    has_warm_launch = False

    def __init__(self, name: str, *, quick_ack: bool = False) -> None:
        self.name = name
        adapter = [_QUICK_ACK_ADAPTER] if quick_ack else ["-m", "debugpy.adapter"]
        self._argv = [sys.executable, *adapter]

    def launch(self, program: Program, *, warm: bool = True) -> DebugpySession:
        return DebugpySession(DapClient(self._argv), program)

    def wait_until_idle(self) -> None:
        """Return at once: debugpy does nothing in the background."""


class DebugpySession:
    """A program behind an adapter. The constructor runs it to its first stop."""

    def __init__(self, dap: DapClient, program: Program) -> None:
        self._dap = dap
        dap.request("initialize", _INITIALIZE)
        # The adapter answers `launch` only after `configurationDone`.
        launch = dap.send(
            "launch",
            {
                "program": program.path,
                "args": list(program.arguments),
                "python": [program.python],
                "console": "internalConsole",
                "justMyCode": False,
            },
        )
        dap.read_event("initialized")
        breakpoints = [_as_dap(one.as_json()) for one in program.breakpoints]
        source = {"path": program.path}
        dap.request("setBreakpoints", {"source": source, "breakpoints": breakpoints})
        dap.request("configurationDone")
        dap.read_answer(launch)
        self._wait_for_stop()

    @property
    def line(self) -> int:
        line: int = self._frame["line"]
        return line

    def step(self) -> None:
        """Step, and read what a client then shows: the location and the locals."""
        dap = self._dap
        dap.request("next", {"threadId": self._thread})
        self._wait_for_stop()
        scopes = dap.request("scopes", {"frameId": self._frame["id"]})["scopes"]
        answer = dap.request("variables", {"variablesReference": scopes[0]["variablesReference"]})
        if not answer["variables"]:
            raise AssertionError("no locals")

    def resume(self) -> None:
        self._dap.send("continue", {"threadId": self._thread})
        self._wait_for_stop()

    def _wait_for_stop(self) -> None:
        self._thread: int = self._dap.read_event("stopped")["threadId"]
        answer = self._dap.request("stackTrace", {"threadId": self._thread, "levels": 1})
        self._frame: dict[str, Any] = answer["stackFrames"][0]

    def evaluate(self, expression: str) -> str:
        arguments = {"expression": expression, "frameId": self._frame["id"], "context": "watch"}
        return str(self._dap.request("evaluate", arguments)["result"])

    def status(self) -> None:
        """DAP has no such request; `threads` is its cheapest."""
        self._dap.request("threads")

    def end(self) -> None:
        self._dap.send("continue", {"threadId": self._thread})
        self._dap.read_event("terminated")

    def processes(self) -> list[psutil.Process]:
        adapter = psutil.Process(self._dap.process.pid)
        return [adapter, *adapter.children(recursive=True)]

    def close(self) -> None:
        self._dap.close()


def _as_dap(fields: dict[str, Any]) -> dict[str, Any]:
    return {("hitCondition" if name == "hit_condition" else name): v for name, v in fields.items()}
