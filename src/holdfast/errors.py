"""Every error a user can meet.

    HoldfastError
    ├── InvalidInput      the request cannot be honoured as written
    │   ├── UnusablePath  InvalidLine  InvalidCondition  InvalidHitCondition  InvalidLogMessage
    │   ├── InvalidPlace  InvalidTarget  ModuleMissing
    │   ├── ProgramSyntaxError  InterpreterMissing  AttachFailed  UnknownSetting  NotAllowed
    │   ├── SessionNotBegun
    │   ├── EvaluationFailed  AssignmentFailed
    │   ├── InvalidFilter  InvalidDecision  InvalidCallBreakpoint  InvalidAgentBreakpoint
    │   ├── InvalidAgentRule  InvalidProjectFile
    │   └── CidMismatch  CommandRejected  UnsupportedRequest
    ├── NotFound          the id names nothing, or nothing any more
    │   ├── SessionNotFound  BreakpointNotFound  HoldNotFound  ProfileNotFound
    │   ├── FrameNotFound  ReferenceNotFound  ThreadNotFound  ProcessNotFound
    │   ├── FileMissing  SourceNotFound
    │   └── CallNotFound  CidNotFound  CallBreakpointNotFound  CaptureNotFound
    │       TraceNotFound  NotRecorded
    ├── WrongState        the right request at the wrong time
    │   ├── ThreadNotHeld  AlreadyDecided  HoldOver  CallCompleted  NoException
    │   └── EditorNotReady
    ├── TimedOut          the debugger, or the application, did not answer in time
    │   └── EvaluationTimedOut  DecisionTimedOut  AgentTimedOut
    ├── Failure           something of ours, or the target, broke
    │   └── SessionCrashed  LaunchFailed  NotStored  ContentDamaged
    ├── Overloaded        the server has too much to do, now
    │   └── NoDescriptors
    └── Refused           the client may not send this request
        └── NotAuthorized  HeadTooLarge  BodyTooLarge  RequestTooSlow  NotJson

Each carries a `code` (upper case, with its subject), a `short` name, a message, a hint that says
what to do next, and details with the ids needed to act. Faces map the families once.
"""

from __future__ import annotations

from typing import Any, ClassVar


class HoldfastError(Exception):
    """The root. `message` says what happened and where, `hint` what to do next."""

    code: ClassVar[str] = "INTERNAL_ERROR"
    short: ClassVar[str] = "internal_error"
    """By default the code in lower case."""
    default_hint: ClassVar[str] = "Retry. If it happens again, report it with the reference id."

    def __init_subclass__(cls) -> None:
        if "short" not in cls.__dict__:
            cls.short = cls.code.lower()

    def __init__(self, message: str, /, *, hint: str | None = None, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.hint = self.default_hint if hint is None else hint
        self.details = details


# -- the request cannot be honoured as written ---------------------------------------------------


class InvalidInput(HoldfastError):
    code = "REQUEST_INVALID"
    short = "invalid_request"
    default_hint = "Correct the named field and send the request again."


class NotAllowed(InvalidInput):
    code = "METHOD_NOT_ALLOWED"
    default_hint = "GET /openapi.json lists the routes and their methods."


class UnusablePath(InvalidInput):
    """A directory that is not there, or a file that cannot be used as it is wanted."""

    code = "FILE_NOT_FOUND"
    default_hint = "Check the path. Relative paths are resolved from the session's cwd."


class InvalidLine(InvalidInput):
    code = "BREAKPOINT_INVALID_LINE"
    short = "invalid_line"
    default_hint = "Choose a line that the file has."


class InvalidCondition(InvalidInput):
    code = "BREAKPOINT_INVALID_CONDITION"
    short = "invalid_condition"
    default_hint = "A condition is one Python expression, for instance `i > 100`."


class InvalidHitCondition(InvalidInput):
    code = "BREAKPOINT_INVALID_HIT_CONDITION"
    short = "invalid_hit_condition"
    default_hint = "Use one of: N, == N, > N, >= N, < N, <= N, % N, with N a whole number."


class InvalidLogMessage(InvalidInput):
    code = "BREAKPOINT_INVALID_LOG_MESSAGE"
    short = "invalid_log_message"
    default_hint = "Put expressions in braces, `x = {x}`. Write a literal brace twice."


class InvalidPlace(InvalidInput):
    """A text that says in no known way where to stop."""

    code = "BREAKPOINT_INVALID_PLACE"
    short = "invalid_place"
    default_hint = "Write `file.py:12`, `module.func`, or either with ` if condition`."


class InvalidTarget(InvalidInput):
    """A text that names no program that can be run and debugged."""

    code = "RUN_INVALID_TARGET"
    short = "invalid_target"
    default_hint = (
        "A target is a script, a module, `file.py::test`, or a command line that runs Python, "
        "such as `pytest -k cart` or `python -m pkg`."
    )


class NotWatchable(InvalidInput):
    code = "BREAKPOINT_NOT_WATCHABLE"
    short = "not_watchable"
    default_hint = (
        "Watch a variable (`counter`), an attribute (`c.value`), an item (`d['k']`), or an "
        "expression of them."
    )


class ProgramSyntaxError(InvalidInput):
    code = "LAUNCH_SYNTAX_ERROR"
    short = "syntax_error"
    default_hint = "Fix the file and launch again in this session."


class ModuleMissing(InvalidInput):
    code = "LAUNCH_MODULE_NOT_FOUND"
    short = "module_not_found"
    default_hint = "Check the name, the working directory and the interpreter."


class InterpreterMissing(InvalidInput):
    code = "LAUNCH_INTERPRETER_NOT_FOUND"
    short = "interpreter_not_found"
    default_hint = "Give `python_path` (an executable) or `venv` (a directory with bin/python)."


class SessionNotBegun(InvalidInput):
    """A command that was to start an agent, and ended without a session."""

    code = "LAUNCH_NO_SESSION"
    short = "no_session"
    default_hint = (
        "`stderr` in the details says why. The agent has to call `holdfast.bridge.start`."
    )


class AttachFailed(InvalidInput):
    code = "ATTACH_FAILED"
    default_hint = "Check that the process runs, is yours, and accepts a debugger."


class UnknownSetting(InvalidInput):
    code = "CONFIG_UNKNOWN_SETTING"
    short = "unknown_setting"
    default_hint = "GET /config lists the settings."


class EvaluationFailed(InvalidInput):
    code = "EVALUATE_FAILED"
    short = "evaluation_error"
    default_hint = "The expression raised in the target. Correct it and evaluate again."


class InvalidFilter(InvalidInput):
    code = "FILTER_INVALID"
    short = "invalid_condition"
    default_hint = (
        "A filter is one expression, for instance `item == 'tea'` or `args[0] > 10`. Its names are "
        "the parameters of the function, and args, kwargs, params, function, alias, call_type, "
        "status, result, exception, duration, thread and task."
    )


class InvalidDecision(InvalidInput):
    code = "DECISION_INVALID"
    short = "invalid_decision"
    default_hint = (
        'A value is {"value": json}, {"literal": "python literal"}, {"text": "either of them"}, '
        '{"cid": …} or {"cid": …, "data": base64}.'
    )


class InvalidCallBreakpoint(InvalidInput):
    code = "CALL_BREAKPOINT_INVALID"
    short = "invalid_breakpoint"
    default_hint = 'For instance {"function": "add", "condition": "args[0] > 10"}.'


class InvalidAgentBreakpoint(InvalidInput):
    code = "AGENT_BREAKPOINT_INVALID"
    short = "invalid_breakpoint"
    default_hint = (
        'For instance {"on": "tool", "name": "write_*"}, or {"on": "iteration", "count": 5}.'
    )


class InvalidAgentRule(InvalidInput):
    code = "AGENT_RULE_INVALID"
    short = "invalid_rule"
    default_hint = 'For instance: tool = "write_*" and action = "hold".'


class InvalidProjectFile(InvalidInput):
    """A `holdfast.toml` that cannot be followed; nothing of it is ignored."""

    code = "PROJECT_FILE_INVALID"
    short = "invalid_project_file"
    default_hint = "Correct the file and start again. docs/agents.md describes every key."


class CidMismatch(InvalidInput):
    code = "CID_MISMATCH"
    default_hint = "A content id is the SHA-256 of the bytes, in lower-case hex."


class CommandRejected(InvalidInput):
    code = "AGENT_COMMAND_REJECTED"
    short = "command_rejected"
    default_hint = "The agent says what is wrong with it. Correct that and send it again."


class AssignmentFailed(InvalidInput):
    code = "VARIABLE_NOT_SET"
    short = "set_variable_failed"
    default_hint = "Give `name` of an existing variable and `value` as a Python expression."


class UnsupportedRequest(InvalidInput):
    """An editor asked for something that this debug adapter does not do."""

    code = "EDITOR_REQUEST_UNSUPPORTED"
    default_hint = "The answer to `initialize` says what is supported."


# -- the id names nothing ------------------------------------------------------------------------


class NotFound(HoldfastError):
    code = "NOT_FOUND"
    default_hint = "GET /openapi.json lists the routes."


class SessionNotFound(NotFound):
    code = "SESSION_NOT_FOUND"
    default_hint = "GET /sessions lists the sessions. POST /sessions creates one."


class BreakpointNotFound(NotFound):
    code = "BREAKPOINT_NOT_FOUND"
    default_hint = "GET the session's /breakpoints for the ids."


class HoldNotFound(NotFound):
    code = "HOLD_NOT_FOUND"
    default_hint = "GET /api/holds lists what is held now."


class ProfileNotFound(NotFound):
    code = "PROFILE_NOT_FOUND"
    default_hint = "GET /breakpoint-profiles lists the profiles."


class FrameNotFound(NotFound):
    code = "FRAME_NOT_FOUND"
    default_hint = "Frame ids are valid until their thread runs. GET /stacktrace for new ones."


class ReferenceNotFound(NotFound):
    code = "REFERENCE_NOT_FOUND"
    default_hint = "References are valid until their thread runs. Ask for the variables again."


class ThreadNotFound(NotFound):
    code = "THREAD_NOT_FOUND"
    default_hint = "GET the session's /threads for the ids."


class ProcessNotFound(NotFound):
    code = "PROCESS_NOT_FOUND"
    default_hint = "GET /processes lists the Python processes."


class CallNotFound(NotFound):
    code = "CALL_NOT_FOUND"
    default_hint = "GET /api/calls lists the calls."


class CidNotFound(NotFound):
    code = "CID_NOT_FOUND"
    default_hint = "Resend with full data."


class CallBreakpointNotFound(NotFound):
    code = "CALL_BREAKPOINT_NOT_FOUND"
    short = "breakpoint_not_found"
    default_hint = "GET /api/breakpoints lists the breakpoints."


class CaptureNotFound(NotFound):
    code = "CAPTURE_NOT_FOUND"
    default_hint = "`holdfast captures` and GET /api/captures list them. Run pytest --holdfast."


class TraceNotFound(NotFound):
    code = "TRACE_NOT_FOUND"
    default_hint = "GET /api/traces lists the recordings. debug_trace makes one."


class NotRecorded(NotFound):
    """A recording is there, and does not have what is asked for."""

    code = "TRACE_NOT_RECORDED"
    short = "not_recorded"
    default_hint = "`again: true` runs the program once more, and its side effects with it."


class FileMissing(NotFound):
    """A source file that is not there, or not any more."""

    code = "FILE_NOT_FOUND"
    default_hint = "Check the path. Relative paths are resolved from the session's cwd."


class SourceNotFound(NotFound):
    code = "SOURCE_NOT_FOUND"
    default_hint = "Ask with `path` of a readable file, or `frame_id` of a paused frame."


# -- the right request at the wrong time ---------------------------------------------------------


class WrongState(HoldfastError):
    """Details always say the `state` and what is `possible` now."""

    code = "SESSION_WRONG_STATE"
    short = "wrong_state"
    default_hint = "See `state` and `possible` in the details."


class ThreadNotHeld(WrongState):
    """The session is paused, but not this thread of it: it runs, or is blocked."""

    default_hint = (
        "GET /threads says which threads are held. The frames and values of one that is blocked "
        "can be read; to change them, wait until it is held."
    )

    def __init__(self, message: str, /, *, hint: str | None = None, **details: Any) -> None:
        details = {"state": "running", "possible": ["threads", "stacktrace"], **details}
        super().__init__(message, hint=hint, **details)


class AlreadyDecided(WrongState):
    """A hold takes one decision. This one has it already."""

    code = "HOLD_ALREADY_DECIDED"
    short = "already_decided"
    default_hint = "The first decision won. GET the session's status to see where it is now."


class HoldOver(WrongState):
    """What was asked for belongs to a stop that is over: its values are not those of now."""

    code = "HOLD_OVER"
    default_hint = "Look at `state` and `current_hold_id`, and ask about that hold."


class CallCompleted(WrongState):
    """A call ends once."""

    code = "CALL_ALREADY_COMPLETED"
    default_hint = "GET /api/calls/{call_id} shows how it ended."


class NoException(WrongState):
    """The thread stands still, but not because of an exception."""

    code = "THREAD_NO_EXCEPTION"
    default_hint = "Ask while the program is stopped at an exception."


class EditorNotReady(WrongState):
    """A request of an editor that comes too early, or twice."""

    code = "EDITOR_NOT_READY"
    default_hint = "Send initialize first, then launch or attach."


# -- no answer in time ---------------------------------------------------------------------------


class TimedOut(HoldfastError):
    code = "DEBUGPY_TIMEOUT"
    default_hint = (
        "Retry. If it lasts, the program is busy outside of Python: wait for it, or terminate it. "
        "PATCH /config with request_timeout gives it more time."
    )


class EvaluationTimedOut(TimedOut):
    code = "EVALUATE_TIMEOUT"
    default_hint = "The call is still held: retry with a longer timeout, or decide it."


class DecisionTimedOut(TimedOut):
    code = "DECISION_TIMEOUT"
    default_hint = (
        "The call is still held. See that its process is not stopped, and decide again. "
        "`continue` is taken without asking the application."
    )


class AgentTimedOut(TimedOut):
    code = "AGENT_TIMEOUT"
    default_hint = (
        "The command is written and takes effect when the agent reads it. See that its process "
        "is not stopped, GET the session's /events for the answer, or send it again. What is held "
        "stays held."
    )


# -- something broke -----------------------------------------------------------------------------


class Failure(HoldfastError):
    pass


class SessionCrashed(Failure):
    code = "SESSION_CRASHED"
    default_hint = "Create a new session, or restart this one. Its output may say why."


class LaunchFailed(Failure):
    code = "LAUNCH_FAILED"
    default_hint = "GET the session's /output for what the interpreter printed."


class NotStored(Failure):
    code = "STORE_FAILED"
    default_hint = (
        "Check that the disk has room and the data directory is writable, then try again."
    )


class ContentDamaged(NotStored):
    """The bytes of a value are no more those that were stored."""

    code = "CONTENT_DAMAGED"
    default_hint = (
        "Let the application use the value again: it is asked for the bytes, and they replace the "
        "damaged ones. The records of the calls stay."
    )


# -- too much to do ------------------------------------------------------------------------------


class Overloaded(HoldfastError):
    code = "SERVER_OVERLOADED"
    short = "overloaded"
    default_hint = "Close connections that you do not need, and try again in a moment."


class NoDescriptors(Overloaded):
    code = "DESCRIPTORS_EXHAUSTED"
    default_hint = (
        "Delete sessions and close connections that you do not need, or start the server with a "
        "higher limit (`ulimit -n`)."
    )


# -- the client may not send this request --------------------------------------------------------


class Refused(HoldfastError):
    code = "REQUEST_REFUSED"
    short = "forbidden"
    default_hint = "Only the same user on loopback, or a client with the token, is let in."


class NotAuthorized(Refused):
    code = "TOKEN_REQUIRED"
    short = "unauthorized"
    default_hint = "Send `Authorization: Bearer <token>`. The server printed where the token is."


class HeadTooLarge(Refused):
    code = "HEAD_TOO_LARGE"
    default_hint = "Send a shorter address and fewer headers. Values belong into the body."


class BodyTooLarge(Refused):
    code = "BODY_TOO_LARGE"
    default_hint = "Send a smaller body. `max_bytes` in the details is the limit."


class RequestTooSlow(Refused):
    code = "REQUEST_TOO_SLOW"
    default_hint = "Send the head of a request within 30 s, and all of it within two minutes."


class NotJson(Refused):
    code = "BODY_NOT_JSON"
    short = "unsupported_media_type"
    default_hint = "Send JSON with `Content-Type: application/json`."
