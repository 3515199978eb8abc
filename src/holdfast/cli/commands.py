"""The table of commands, and the commands `serve`, `demo` and `sessions`."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar

import typer

from holdfast import __version__
from holdfast.cli.lazy_commands import LazyCommand, LazyGroup, choose_markup
from holdfast.cli.server_access import (
    AsJson,
    Url,
    ask,
    complain,
    format_location,
    print_note,
    print_table,
)
from holdfast.client import discovery
from holdfast.errors import HoldfastError
from holdfast.wire.plain_text import clean_line

_DEBUG = "Debug a program"
_DECIDE = "Look around and decide"
_SERVE = "Serve editors and agents"
_LEARN = "Learn"
_WORDS = {"context_settings": {"allow_interspersed_args": False}}
"""All that follows the first word of a program is the program's."""


class RootCommands(LazyGroup):
    lazy_commands: ClassVar = {
        "run": LazyCommand(
            "program_commands:run", "Run a program to its first stop, crash or end.", _DEBUG, _WORDS
        ),
        "continue": LazyCommand(
            "program_commands:resume", "Let it run to its next stop, or wait for it.", _DEBUG
        ),
        "step": LazyCommand("program_commands:step", "Make one step or several.", _DEBUG),
        "inspect": LazyCommand(
            "program_commands:inspect", "Look at a stop: variables, frames, expressions.", _DEBUG
        ),
        "eval": LazyCommand(
            "program_commands:evaluate", "Evaluate Python where the program stands.", _DEBUG
        ),
        "break": LazyCommand(
            "program_commands:set_breakpoints", "List, set and remove breakpoints.", _DEBUG
        ),
        "trace": LazyCommand(
            "trace_commands:trace",
            "Show one call's whole life: each line with what it changed.",
            _DEBUG,
        ),
        "why": LazyCommand("trace_commands:why", "Ask where a value came from.", _DEBUG),
        "diff": LazyCommand(
            "trace_commands:diff", "Find the first place where two runs differ.", _DEBUG
        ),
        "debug": LazyCommand(
            "debug_command:debug",
            "Debug a program in a full-screen view of this terminal.",
            _DEBUG,
            _WORDS,
        ),
        "stop": LazyCommand("program_commands:stop", "End a session and its program.", _DEBUG),
        "sessions": LazyCommand("commands:sessions", "List the sessions.", _DECIDE),
        "holds": LazyCommand(
            "call_commands:holds", "List and decide what waits for a decision.", _DECIDE
        ),
        "calls": LazyCommand("call_commands:calls", "Show, hold and replay calls.", _DECIDE),
        "agent": LazyCommand("agents.agent_app:agent", "Agent loops: watch, stop, steer.", _DECIDE),
        "captures": LazyCommand(
            "captures_command:captures",
            "List the failing tests that `pytest --holdfast` has captured, or show one.",
            _DECIDE,
        ),
        "serve": LazyCommand("commands:serve", "Run the server in the foreground.", _SERVE),
        "dap": LazyCommand(
            "dap_command:serve_editor", "Be the debug adapter of an editor.", _SERVE
        ),
        "mcp": LazyCommand("mcp_command:serve_agent", "Be the MCP server of an agent.", _SERVE),
        "demo": LazyCommand("commands:demo", "Find a bug in a small program.", _LEARN),
        "skill": LazyCommand(
            "skill_command:print_skill", "Print how an agent uses these commands.", _LEARN
        ),
    }


app = typer.Typer(
    cls=RootCommands,
    help="A debugger for Python that AI agents and people reach for first.",
    epilog="One experiment is one command: holdfast run -b shop.py:12 shop.py",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=choose_markup(),
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"holdfast {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


def serve(
    host: Annotated[
        str, typer.Option(help="Address to listen on. Other than loopback needs a token.")
    ] = ("127.0.0.1"),
    port: Annotated[
        int | None,
        typer.Option(help="Port. 5000, or a free one if that is taken; 0 picks a free one."),
    ] = None,
    data_dir: Annotated[
        str | None, typer.Option(help="Data directory. Default: HOLDFAST_HOME, else ~/.holdfast.")
    ] = None,
    ready_file: Annotated[
        Path | None, typer.Option(help="File to write once the server accepts connections.")
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            help="File with the token that clients must send, readable by you alone (0600). "
            "Default: the variable HOLDFAST_TOKEN."
        ),
    ] = None,
    token: Annotated[str | None, typer.Option(hidden=True)] = None,
    pool_size: Annotated[
        int | None,
        typer.Option(min=0, help="Number of interpreters to keep warm for quick launches."),
    ] = None,
    dap_port: Annotated[
        int, typer.Option(min=0, help="Port for editors, on this machine only; 0 picks a free one.")
    ] = 0,
    until_unused: Annotated[float | None, typer.Option("--until-unused", hidden=True)] = None,
) -> None:
    """Run the server in the foreground.

    SIGTERM and SIGINT end it."""
    import logging

    import uvloop

    from holdfast.cli.log_handler import QueueLogHandler
    from holdfast.server.http_server import ServerOptions
    from holdfast.server.http_server import serve as run
    from holdfast.server.unused_server import wait_until_unused

    if token is not None:
        complain(
            "--token is refused: every user of this machine can read a command line",
            "Choose a new token, and give it with --token-file FILE or in HOLDFAST_TOKEN.",
        )

    logging.basicConfig(
        level=logging.WARNING,
        format="%(levelname)s %(name)s: %(message)s",
        handlers=[QueueLogHandler()],
    )
    try:
        secret = _take_token(token_file)
        place = discovery.data_dir(data_dir)
        options = ServerOptions(host, port, place, ready_file, secret, pool_size, dap_port)
        beside = None
        if until_unused is not None:  # another command has started it
            beside = functools.partial(wait_until_unused, seconds=until_unused)
        uvloop.run(run(options, print_note, beside))
    except HoldfastError as problem:
        complain(problem.message, problem.hint)


def _take_token(file: Path | None) -> str | None:
    """The token that was given. It leaves the environment, which every process that we start gets.

    This is done before the first of them is started."""
    from holdfast.server.http_server import is_token, read_token_file

    given = os.environ.pop("HOLDFAST_TOKEN", None)
    if file is not None:
        return read_token_file(file)
    if given and not is_token(given):
        complain(
            "HOLDFAST_TOKEN is no token",
            "A token is one line of printable ASCII characters.",
        )
    return given or None


def demo(as_json: AsJson = False) -> None:
    """Find a bug in a small program.

    As an agent would; every request is shown."""
    from holdfast.cli import demo

    raise typer.Exit(demo.run(as_json=as_json))


def sessions(
    shows_all: Annotated[
        bool, typer.Option("--all", "-a", help="Those of earlier servers, too.")
    ] = False,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """List the sessions.

    Of a server that runs: none is started for it."""
    answer = ask(url, "GET", "/sessions", without_server={"sessions": [], "total": 0})
    listed = answer["sessions"] if shows_all else leave_out_earlier(answer["sessions"])
    if as_json:
        print(json.dumps({**answer, "sessions": listed}))
        return
    if listed:
        _print_sessions(listed)
    else:
        print("no sessions")
    earlier = len(answer["sessions"]) - len(listed)
    if earlier:
        print_note(f"{earlier} of earlier servers: --all")


def leave_out_earlier(sessions: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """Without those of earlier servers. The `total` of an answer counts them."""
    return [session for session in sessions if not session.get("recoverable")]


def _print_sessions(sessions: Sequence[Mapping[str, Any]]) -> None:
    from rich.table import Column, Table
    from rich.text import Text

    from holdfast.cli.coloured_report import STATUS_STYLES

    width = max(len(session["session_id"]) for session in sessions)
    first = Column("session", no_wrap=True, min_width=width)  # it is there to be copied
    last = Column("where", overflow="fold")
    table = Table(first, "kind", "name", "status", last, box=None)
    for session in sessions:
        status = session["status"] + (f" ({session['reason']})" if session.get("reason") else "")
        names = (session["session_id"], session["kind"], clean_line(session["name"] or ""))
        coloured = Text(status, STATUS_STYLES.get(session["status"], ""))
        table.add_row(*names, coloured, format_location(session))
    print_table(table)
