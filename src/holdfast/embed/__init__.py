"""The debugger inside any process: a thread of its own, driven with Futures from any other thread.

    from holdfast.embed import AdapterThread, LineBreakpointSpec

    with AdapterThread() as adapter:
        adapter.breakpoints.set_source("app.py", [LineBreakpointSpec(line=42)]).result()
        adapter.launch("app.py").result()
        stop = adapter.wait_for_stop().result()
        print(stop["reason"], stop["location"])

`AdapterThread` runs the same service as `holdfast serve`, with one session and a port for editors.
Its `breakpoints` are a `BreakpointController`. `results` has the types of the answers. The packages
of the `server` extra are needed.
"""

from __future__ import annotations

import sys

try:
    from holdfast.embed.adapter_thread import AdapterThread
    from holdfast.embed.breakpoint_controller import BreakpointController
    from holdfast.embed.breakpoint_specs import (
        DataBreakpointSpec,
        FunctionBreakpointSpec,
        LineBreakpointSpec,
    )
    from holdfast.embed.results import (
        BreakpointEvent,
        BreakpointResult,
        DataChange,
        DataInfo,
        EvaluationResult,
        Output,
        ProgramState,
        Stack,
        ThreadsResult,
        Variables,
    )
except ModuleNotFoundError as problem:
    _package = (problem.name or "").partition(".")[0]
    if _package == "holdfast" or _package in sys.stdlib_module_names:
        raise
    raise ModuleNotFoundError(
        f"holdfast.embed needs {_package}, which is not installed. Install it with: "
        "pip install 'holdfast[server]'",
        name=problem.name,
    ) from None

__all__ = [
    "AdapterThread",
    "BreakpointController",
    "BreakpointEvent",
    "BreakpointResult",
    "DataBreakpointSpec",
    "DataChange",
    "DataInfo",
    "EvaluationResult",
    "FunctionBreakpointSpec",
    "LineBreakpointSpec",
    "Output",
    "ProgramState",
    "Stack",
    "ThreadsResult",
    "Variables",
]
