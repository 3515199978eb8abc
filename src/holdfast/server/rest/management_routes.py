"""The server itself: health, what it can do, its settings, its end; and the machine's processes."""

from __future__ import annotations

import asyncio
import dataclasses
import importlib.metadata
import os
import platform
import sys
import time
from typing import Annotated, Any

from fastapi import Body, Request

import holdfast
from holdfast.model.session_state import State
from holdfast.server.rest.shared import Json, ServiceHere, router, shows
from holdfast.service.programs.owned_processes import python_processes

routes = router()
_STARTED = time.time()
CAPABILITIES = (
    *("launch", "attach_pid", "attach_address", "restart", "detach", "pause"),
    *("step_over", "step_into", "step_out", "thread_control"),
    *("line_breakpoints", "conditional_breakpoints", "hit_conditions", "logpoints"),
    *("function_breakpoints", "exception_breakpoints", "breakpoint_profiles"),
    *("evaluate", "set_variable", "watch", "completions", "hover", "paging", "asyncio_tasks"),
    *("stdin", "output_stream", "events", "holds", "subprocesses", "export_import"),
    *("calls", "call_breakpoints", "call_records", "call_decisions"),
    *("agents", "agent_commands", "agent_decisions"),
)


@routes.get("/health", responses=shows({"status": "ok", "sessions": 1, "warnings": []}))
async def health(service: ServiceHere) -> Json:
    """Is the server well? `degraded`: it works, but not all could be written to disk yet."""
    programs, every = service.programs.all(), service.sessions.all()
    live = [s for s in every if s.state not in (State.CREATED, State.TERMINATED, State.FAILED)]
    return {
        "status": "degraded" if service.is_behind else "ok",
        "version": holdfast.__version__,
        "uptime_seconds": round(time.time() - _STARTED, 3),
        "sessions": len(programs),
        "call_sessions": len(service.calls.sessions),
        "agent_sessions": len(service.agents.sessions),
        "active_sessions": len(live),
        "dropped_events": service.store.feed.dropped_events,
        "warnings": service.warnings,
    }


@routes.get("/info", responses=shows({"name": "holdfast", "version": "0.1.0"}))
async def info(service: ServiceHere) -> Json:
    """Version, capabilities, and the ways in which programs are reached."""
    return {
        "name": "holdfast",
        "version": holdfast.__version__,
        "api_version": "v1",
        "python": platform.python_version(),
        "python_executable": sys.executable,
        "platform": sys.platform,
        "debugpy": importlib.metadata.version("debugpy"),
        "pid": os.getpid(),
        "data_dir": str(service.data_dir),
        "capabilities": list(CAPABILITIES),
        "session_states": [state.value for state in State],
        "routes": {
            "default": "direct",
            "fallback": "adapter",
            "fallback_reason": service.programs.fallback_reason,
            "sessions": {
                each.id: each.target.route for each in service.programs.all() if each.target
            },
        },
        "warm_interpreters": service.programs.pool.counts,
        "documentation": "/openapi.json",
    }


_CONFIG = {"idle_timeout_minutes": 60.0, "evaluate_timeout": 10.0}


@routes.get("/config", responses=shows(_CONFIG))
async def get_config(service: ServiceHere) -> Json:
    """The settings in force."""
    return dataclasses.asdict(service.settings)


@routes.patch("/config", responses=shows(_CONFIG))
async def change_config(
    service: ServiceHere, body: Annotated[dict[str, Any], Body(examples=[_CONFIG])]
) -> Json:
    """Change settings; they are kept. One that is not known changes nothing."""
    return dataclasses.asdict(await service.configure(body))


@routes.post("/shutdown", responses=shows({"status": "shutting_down"}))
async def shutdown(service: ServiceHere) -> Json:
    """Stop the server: every program that it started ends with it."""
    service.stop_requested.set()
    return {"status": "shutting_down"}


_PROCESS = {
    "pid": 1234,
    "name": "python3",
    "cmdline": ["python3", "server.py"],
    "cwd": "/code",
    "debuggable": True,
}


@routes.get("/processes", responses=shows({"processes": [_PROCESS], "total": 1}))
async def processes(request: Request) -> Json:
    """The Python processes of this machine, and whether they can be attached to."""
    found = await asyncio.to_thread(python_processes, {os.getpid()})
    return {"processes": found, "total": len(found)}
