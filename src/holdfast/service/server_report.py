"""Builds the answers about the server itself."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
import time
from typing import TYPE_CHECKING

from holdfast.model.session_state import State
from holdfast.model.version import VERSION
from holdfast.wire.server_answers import Health, ProgramRoutes, ServerInfo

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger

_STARTED = time.time()
CAPABILITIES = (
    *("launch", "attach_pid", "attach_address", "restart", "detach", "pause"),
    *("step_over", "step_into", "step_out", "thread_control"),
    *("line_breakpoints", "conditional_breakpoints", "hit_conditions", "logpoints"),
    *("function_breakpoints", "exception_breakpoints", "breakpoint_profiles"),
    *("evaluate", "set_variable", "watch", "completions", "hover", "paging", "asyncio_tasks"),
    *("debug_adapter", "mcp"),
    *("stdin", "output_stream", "events", "holds", "subprocesses", "export_import"),
    *("calls", "call_breakpoints", "call_records", "call_decisions"),
    *("agents", "agent_commands", "agent_decisions"),
)
_INACTIVE = (State.CREATED, State.TERMINATED, State.FAILED)


def build_health(debugger: Debugger) -> Health:
    sessions = debugger.sessions.all()
    return Health(
        status="degraded" if debugger.is_behind else "ok",
        version=VERSION,
        uptime_seconds=round(time.time() - _STARTED, 3),
        sessions=len(debugger.programs.all()),
        call_sessions=len(debugger.calls.sessions),
        agent_sessions=len(debugger.agents.sessions),
        active_sessions=sum(session.state not in _INACTIVE for session in sessions),
        dropped_events=debugger.store.feed.dropped_events,
        warnings=debugger.warnings,
    )


def build_info(debugger: Debugger) -> ServerInfo:
    programs = debugger.programs
    return ServerInfo(
        name="holdfast",
        version=VERSION,
        api_version="v1",
        python=platform.python_version(),
        python_executable=sys.executable,
        platform=sys.platform,
        debugpy=importlib.metadata.version("debugpy"),
        pid=os.getpid(),
        data_dir=str(debugger.data_dir),
        capabilities=list(CAPABILITIES),
        session_states=[state.value for state in State],
        routes=ProgramRoutes(
            default="direct",
            fallback="adapter",
            fallback_reason=programs.fallback_reason,
            sessions={
                session.id: session.target.route for session in programs.all() if session.target
            },
        ),
        warm_interpreters=programs.pool.counts,
        documentation="/openapi.json",
        dap_port=debugger.editor_doors.lobby_port if debugger.editor_doors else None,
        mcp_port=debugger.agent_door.port if debugger.agent_door else None,
    )
