"""The commands, each a few lines over the client or the server."""

from __future__ import annotations

import json
import logging
import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from holdfast import __version__
from holdfast.cli.patience import PatientHandler
from holdfast.client import discovery
from holdfast.client.http import Client, ServerProblem, Unreachable
from holdfast.errors import HoldfastError

app = typer.Typer(
    help="A debugger for Python that AI agents and people reach for first.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
console = Console()
complaints = Console(stderr=True)
AsJson = Annotated[bool, typer.Option("--json", help="One JSON document instead of text.")]
Url = Annotated[str | None, typer.Option("--url", help="The server; found by itself if left out.")]


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

    from holdfast.server.serving import Options
    from holdfast.server.serving import serve as run

    logging.basicConfig(
        level=logging.WARNING,
        format="%(levelname)s %(name)s: %(message)s",
        handlers=[PatientHandler()],
    )
    where = discovery.data_dir(data_dir)
    options = Options(host, port, where, ready_file, token, pool_size)
    say = lambda text: complaints.print(text, markup=False, highlight=False, soft_wrap=True)  # noqa: E731
    try:
        uvloop.run(run(options, say))
    except HoldfastError as problem:
        _complain(problem.message, problem.hint)


def _complain(message: str, hint: str = "") -> None:
    complaints.print(message, style="red", markup=False, highlight=False, soft_wrap=True)
    if hint:
        complaints.print(hint, markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(1)


@app.command()
def demo(
    as_json: AsJson = False,
) -> None:
    """Find a bug in a small program, as an agent would, and show every request."""
    from holdfast.cli import demonstration

    raise typer.Exit(demonstration.run(as_json=as_json))


@app.command()
def sessions(as_json: AsJson = False, url: Url = None) -> None:
    """The sessions of the server that runs."""
    found = _ask(url, "/sessions")
    if as_json:
        print(json.dumps(found))
        return
    table = Table("session", "name", "status", "where", box=None)
    for each in found["sessions"]:
        status = each["status"] + (f" ({each['reason']})" if each.get("reason") else "")
        table.add_row(each["session_id"], each["name"] or "", status, _where(each))
    console.print(table if found["sessions"] else "no sessions")


@app.command()
def holds(as_json: AsJson = False, url: Url = None) -> None:
    """What waits for a decision now."""
    found = _ask(url, "/api/holds")
    if as_json:
        print(json.dumps(found))
        return
    table = Table("hold", "session", "reason", "where", "allows", box=None)
    for each in found["holds"]:
        allows = ", ".join(each["allows"])
        table.add_row(each["hold_id"], each["session_id"], each["reason"], _where(each), allows)
    console.print(table if found["holds"] else "nothing is held")


def _where(shown: dict[str, Any]) -> str:
    place = shown.get("location")
    return f"{place['file']}:{place['line']}" if place else ""


def _ask(url: str | None, path: str) -> Any:
    try:
        token = os.environ.get("HOLDFAST_TOKEN")
        return Client(discovery.server_url(url), token=token).get(path)
    except ServerProblem as problem:
        return _complain(str(problem), problem.hint)
    except Unreachable as problem:
        return _complain(str(problem), "Start one with `holdfast serve`.")
