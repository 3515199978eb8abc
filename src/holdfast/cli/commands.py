"""The commands, each a few lines over the client or the server."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from holdfast import __version__
from holdfast.cli import replay_commands
from holdfast.cli.agents.agent_app import agent
from holdfast.cli.call_commands import calls, holds
from holdfast.cli.log_handler import PatientHandler
from holdfast.cli.server_access import AsJson, Url, ask, complain, complaints, console, where
from holdfast.client import discovery
from holdfast.errors import HoldfastError

app = typer.Typer(
    help="A debugger for Python that AI agents and people reach for first.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _version(wanted: bool) -> None:
    if wanted:
        print(f"holdfast {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command()
def serve(
    host: Annotated[str, typer.Option(help="Where to listen; beyond loopback needs a token.")] = (
        "127.0.0.1"
    ),
    port: Annotated[int | None, typer.Option(help="5000, or free if taken; 0 is any.")] = None,
    data_dir: Annotated[
        str | None, typer.Option(help="Default: HOLDFAST_HOME, else ~/.holdfast.")
    ] = None,
    ready_file: Annotated[
        Path | None, typer.Option(help="Written once the server accepts connections.")
    ] = None,
    token: Annotated[str | None, typer.Option(envvar="HOLDFAST_TOKEN", help="Its token.")] = None,
    pool_size: Annotated[
        int | None, typer.Option(min=0, help="Interpreters kept warm for quick launches.")
    ] = None,
) -> None:
    """Serve in the foreground until SIGTERM or SIGINT."""
    import uvloop

    from holdfast.server.http_server import ServerOptions
    from holdfast.server.http_server import serve as run

    logging.basicConfig(
        level=logging.WARNING,
        format="%(levelname)s %(name)s: %(message)s",
        handlers=[PatientHandler()],
    )
    where = discovery.data_dir(data_dir)
    options = ServerOptions(host, port, where, ready_file, token, pool_size)
    say = lambda text: complaints.print(text, markup=False, highlight=False, soft_wrap=True)  # noqa: E731
    try:
        uvloop.run(run(options, say))
    except HoldfastError as problem:
        complain(problem.message, problem.hint)


@app.command()
def demo(
    as_json: AsJson = False,
) -> None:
    """Find a bug in a small program, as an agent would, and show every request."""
    from holdfast.cli import demo

    raise typer.Exit(demo.run(as_json=as_json))


@app.command()
def sessions(as_json: AsJson = False, url: Url = None) -> None:
    """The sessions of the server that runs."""
    found = ask(url, "GET", "/sessions")
    if as_json:
        print(json.dumps(found))
        return
    table = Table("session", "kind", "name", "status", "where", box=None)
    for each in found["sessions"]:
        status = each["status"] + (f" ({each['reason']})" if each.get("reason") else "")
        table.add_row(each["session_id"], each["kind"], each["name"] or "", status, where(each))
    console.print(table if found["sessions"] else "no sessions")


calls.command("replay")(replay_commands.replay)
calls.command("test")(replay_commands.write_test)
app.add_typer(calls, name="calls")
app.add_typer(holds, name="holds")
app.add_typer(agent, name="agent")
