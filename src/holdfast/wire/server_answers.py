"""Answers about the server itself, and about the machine that it runs on."""

from __future__ import annotations

from typing import Annotated, TypedDict

from msgspec import Struct

from holdfast.wire.described import about


class ServerWarning(TypedDict):
    """Something that went wrong and was worked around."""

    code: Annotated[str, about("What it is, in upper case.")]
    message: Annotated[str, about("What happened.")]
    details: Annotated[dict[str, object], about("What it happened to.")]


class Health(Struct, kw_only=True):
    """Whether the server is well."""

    status: Annotated[str, about("`ok`, or `degraded` while something is not on disk yet.")]
    version: Annotated[str, about("The server's version.")]
    uptime_seconds: Annotated[float, about("How long the server has been running.")]
    sessions: Annotated[int, about("How many program sessions there are.")]
    call_sessions: Annotated[int, about("How many sessions of calls there are.")]
    agent_sessions: Annotated[int, about("How many agent sessions there are.")]
    active_sessions: Annotated[int, about("How many sessions have a target that runs or waits.")]
    dropped_events: Annotated[int, about("How many events could not be stored.")]
    warnings: Annotated[list[ServerWarning], about("What went wrong and was worked around.")]


class ProgramRoutes(Struct, kw_only=True):
    """How programs are reached."""

    default: Annotated[str, about("How they are reached as a rule.")]
    fallback: Annotated[str, about("How they are reached where that fails.")]
    fallback_reason: Annotated[str | None, about("Why it failed last.")]
    sessions: Annotated[dict[str, str], about("How each session's program is reached, by id.")]


class ServerInfo(Struct, kw_only=True):
    """What the server is, and what it can do."""

    name: Annotated[str, about("Always `holdfast`.")]
    version: Annotated[str, about("The server's version.")]
    api_version: Annotated[str, about("The version of this interface.")]
    python: Annotated[str, about("The version of the server's Python.")]
    python_executable: Annotated[str, about("The server's interpreter.")]
    platform: Annotated[str, about("The operating system.")]
    debugpy: Annotated[str, about("The version of debugpy.")]
    pid: Annotated[int, about("The server's process.")]
    data_dir: Annotated[str, about("The server's data directory.")]
    capabilities: Annotated[list[str], about("What the server can do.")]
    session_states: Annotated[list[str], about("Every status that a session may have.")]
    routes: Annotated[ProgramRoutes, about("How programs are reached.")]
    warm_interpreters: Annotated[
        dict[str, int], about("How many interpreters wait for a program, by path.")
    ]
    documentation: Annotated[str, about("Where this interface is described.")]
    dap_port: Annotated[
        int | None, about("The port on loopback at which editors get in, as debug adapter clients.")
    ]
    mcp_port: Annotated[
        int | None, about("The port on loopback to which `holdfast mcp` carries agents' messages.")
    ]


class EditorDoor(Struct):
    """Where an editor joins a session: the address of a debug adapter."""

    session_id: Annotated[str, about("The session.")]
    host: Annotated[str, about("The host: always of this machine.")]
    port: Annotated[int, about("The port.")]


class ShuttingDown(Struct):
    """That the server is about to end."""

    status: Annotated[str, about("Always `shutting_down`.")] = "shutting_down"


class ServerProof(Struct):
    """That the server knows the secret in `server.json`."""

    proof: Annotated[
        str, about("The HMAC-SHA256 of `holdfast server IP PORT NONCE` with the secret, in hex.")
    ]


class PythonProcess(TypedDict):
    """A Python process of this machine."""

    pid: Annotated[int, about("The process id.")]
    name: Annotated[str, about("The name of its executable.")]
    cmdline: Annotated[list[str], about("Its command line.")]
    cwd: Annotated[str | None, about("Its working directory, if that may be read.")]
    user: Annotated[str | None, about("Whose process it is.")]
    python: Annotated[str | None, about("The version of its Python, if its name says so.")]
    create_time: Annotated[float, about("When it started, in seconds since the epoch.")]
    debuggable: Annotated[bool, about("Whether it can be attached to.")]
    reason: Annotated[str | None, about("Why it cannot.")]
    listening: Annotated[int | None, about("The port of a debugpy that was told to listen.")]


class ProcessList(Struct):
    """The Python processes of this machine."""

    processes: Annotated[list[PythonProcess], about("The processes, by pid.")]
    total: Annotated[int, about("How many there are.")]
