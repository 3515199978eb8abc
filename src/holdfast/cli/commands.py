"""The commands `serve`, `demo` and `sessions`, and the groups of the others."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from holdfast import __version__
from holdfast.cli import replay_commands
from holdfast.cli.agents.agent_app import agent
from holdfast.cli.call_commands import calls, holds
from holdfast.cli.dap_command import serve_editor
from holdfast.cli.log_handler import QueueLogHandler
from holdfast.cli.server_access import (
    AsJson,
    Url,
    ask,
    complain,
    console,
    format_location,
    print_note,
    print_table,
)
from holdfast.client import discovery
from holdfast.errors import HoldfastError

app = typer.Typer(
    help="A debugger for Python that AI agents and people reach for first.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
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


@app.command()
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
    until_unused: Annotated[bool, typer.Option("--until-unused", hidden=True)] = False,
) -> None:
    """Run the server in the foreground until SIGTERM or SIGINT."""
    import uvloop

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
        beside = wait_until_unused if until_unused else None  # `holdfast dap` has started it
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


@app.command()
def demo(as_json: AsJson = False) -> None:
    """Find a bug in a small program, as an agent would, and show every request."""
    from holdfast.cli import demo

    raise typer.Exit(demo.run(as_json=as_json))


@app.command()
def sessions(as_json: AsJson = False, url: Url = None) -> None:
    """List the sessions of the running server."""
    answer = ask(url, "GET", "/sessions")
    if as_json:
        print(json.dumps(answer))
        return
    table = Table("session", "kind", "name", "status", "where", box=None)
    for session in answer["sessions"]:
        status = session["status"] + (f" ({session['reason']})" if session.get("reason") else "")
        names = (session["session_id"], session["kind"], session["name"] or "")
        table.add_row(*names, status, format_location(session))
    if answer["sessions"]:
        print_table(table)
    else:
        console.print("no sessions")


app.command("dap")(serve_editor)
calls.command("replay")(replay_commands.replay)
calls.command("test")(replay_commands.write_test)
app.add_typer(calls, name="calls")
app.add_typer(holds, name="holds")
app.add_typer(agent, name="agent")
