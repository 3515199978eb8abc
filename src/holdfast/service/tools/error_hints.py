"""What to do after an error, in the words of the tools. By itself an error names routes of HTTP."""

from __future__ import annotations

from holdfast import errors

_HINTS: dict[type[errors.HoldfastError], str] = {
    errors.SessionNotFound: "debug_sessions lists the sessions. debug_run starts one.",
    errors.BreakpointNotFound: "debug_set_breakpoints lists the breakpoints.",
    errors.HoldNotFound: "hold_list lists what is held now.",
    errors.FrameNotFound: 'debug_inspect(show=["stack"]) lists the frames.',
    errors.ThreadNotFound: 'debug_inspect(show=["threads"]) lists the threads.',
    errors.CallNotFound: "calls_search lists the calls.",
    errors.CallBreakpointNotFound: 'agent_control(command="breakpoints") lists them.',
    errors.CaptureNotFound: "debug_sessions lists the captures. `pytest --holdfast` makes them.",
    errors.TraceNotFound: "debug_trace with a target makes a recording.",
    errors.ThreadNotHeld: 'debug_inspect(show=["threads"]) says which threads are held.',
    errors.AlreadyDecided: "The first decision won. hold_list lists what is held now.",
    errors.CallCompleted: "calls_search(call_id=…) shows how it ended.",
    errors.AgentTimedOut: (
        "The command is written and takes effect when the agent reads it: agent_control shows "
        "where it is. What is held stays held."
    ),
    errors.SessionCrashed: "debug_inspect says how it ended. debug_run runs it again.",
    errors.LaunchFailed: 'debug_inspect(show=["output"]) shows what the interpreter printed.',
}


def name_tools(error: errors.HoldfastError) -> None:
    """Let the hint of an error name tools, unless it was written for the occasion."""
    if error.hint == type(error).default_hint:
        error.hint = _HINTS.get(type(error), error.hint)
