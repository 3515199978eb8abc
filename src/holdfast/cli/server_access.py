"""What the commands share: requests to the server, options, and error messages."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Annotated, Any, NoReturn
from urllib.parse import urlencode

import typer

from holdfast.client import discovery
from holdfast.client.exceptions import DebugError, DebugServerError
from holdfast.client.http_client import ApiError, HttpClient
from holdfast.wire.plain_text import clean

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    console: Console
    complaints: Console

_MAX_PIPE_WIDTH = 100_000


def __getattr__(name: str) -> Console:
    """The consoles `console` and `complaints`, made when they are first used.

    Commands that are run often print a few lines, and importing rich takes longer than that."""
    if name not in ("console", "complaints"):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from rich.console import Console

    made = Console(stderr=name == "complaints")
    globals()[name] = made
    return made


def _console(name: str) -> Console:
    found: Console | None = globals().get(name)
    return found or __getattr__(name)


class _OutputFormat:
    """The format of this command's output, error messages included."""

    is_json = False


def _set_format(is_json: bool) -> bool:
    _OutputFormat.is_json = is_json
    return is_json


class _ServerStart:
    """Whether this command may start a server."""

    is_allowed = True


def _set_start(is_forbidden: bool) -> bool:
    _ServerStart.is_allowed = not is_forbidden
    return is_forbidden


AsJson = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print one JSON document instead of text.",
        callback=_set_format,
        is_eager=True,
    ),
]
NoStart = Annotated[
    bool,
    typer.Option(
        "--no-start",
        envvar="HOLDFAST_NO_START",
        show_envvar=False,
        callback=_set_start,
        help="Do not start a server if none runs. HOLDFAST_NO_START=1 says so for all commands.",
    ),
]
Url = Annotated[
    str | None,
    typer.Option("--url", help="The server's address. By default it is found automatically."),
]


_NOTHING: Any = object()


def ask(
    url: str | None,
    method: str,
    path: str,
    body: Any = None,
    *,
    starts: bool = False,
    without_server: Any = _NOTHING,
) -> Any:
    """Send a request and return the answer. Exit with a message if that fails.

    If no server runs and none was chosen, `starts` starts one, if that is allowed; else
    `without_server` is the answer, if it is given."""
    is_chosen = discovery.chosen_url(url) is not None
    if starts:
        prepare_server(url)
    if not is_chosen and _is_directory_unserved():
        if without_server is not _NOTHING:
            return without_server
        start = discovery.start_command(discovery.DEFAULT_PORT, is_chosen=False)
        complain(f"no server of {discovery.data_dir()} runs", f"Start one with `{start}`.")
    try:
        return open_client(url).request(method, path, body)
    except ApiError as problem:
        complain(str(problem), problem.hint, **_list_details(problem))
    except DebugServerError as problem:
        command = problem.start_command
        if command and not is_chosen and without_server is not _NOTHING:
            return without_server
        complain(problem.message, f"Start one with `{command}`." if command else "")
    except DebugError as problem:
        complain(str(problem))


def prepare_server(url: str | None) -> None:
    """Start a server if none runs, none was chosen, and that is allowed."""
    if _ServerStart.is_allowed and discovery.chosen_url(url) is None:
        from holdfast.cli import server_start  # which imports this module

        server_start.ensure_lasting_server()


def _is_directory_unserved() -> bool:
    """Whether a data directory was chosen that no server runs for.

    Then whatever server has the default port is one of others."""
    return "HOLDFAST_HOME" in os.environ and discovery.announced_url() is None


def has_records() -> bool:
    """Whether a server has ever kept something here, so that there may be something to list."""
    return discovery.data_dir().is_dir()


def describe_client(name: str = "cli") -> str:
    """The query that says who calls a tool, and where."""
    try:
        return urlencode({"client": name, "cwd": os.getcwd()})
    except FileNotFoundError:
        complain("the directory that you work in is gone", "Change to one that exists.")


def open_client(url: str | None) -> HttpClient:
    """A client of the server that is meant."""
    return HttpClient(discovery.server_url(url), follows=discovery.chosen_url(url) is None)


def _list_details(problem: ApiError) -> dict[str, object]:
    error = problem.body.get("error")
    if not isinstance(error, dict):
        return {}
    return {name: error[name] for name in ("code", "details") if error.get(name)}


def complain(message: str, hint: str = "", **details: object) -> NoReturn:
    """Print an error on stderr, or with `--json` as JSON on stdout, and exit with 1.

    `details` are fields of the JSON only: what the message says in words, for programs.
    """
    if _OutputFormat.is_json:
        print(json.dumps({"error": {"message": message, "hint": hint, **details}}))
        raise typer.Exit(1)
    from holdfast.cli.tool_hints import write_commands

    _print_line(message, "red")
    if hint:
        _print_line(write_commands(hint))
    raise typer.Exit(1)


def print_table(table: Table) -> None:
    """Print a table. Where there is no terminal, it is as wide as its content: nothing is cut."""
    from rich.console import Console
    from rich.measure import Measurement

    console = _console("console")
    if console.is_terminal:
        console.print(table, markup=False, highlight=False)
        return
    options = console.options.update(max_width=_MAX_PIPE_WIDTH, markup=False)
    width = Measurement.get(console, options, table).maximum
    Console(width=width).print(table, markup=False, highlight=False)


def format_location(answer: Mapping[str, Any]) -> str:
    location = answer.get("location")
    return f"{location['file']}:{location['line']}" if location else ""


def choose_id(given: str, known: Sequence[str]) -> str:
    """The id that is meant by the beginning of one, with or without its `hold_`.

    An id that is not known is left to the server, which may still know what became of it.
    """
    if given in known:
        return given
    meant = [
        one for one in known if given in (one[: len(given)], one.partition("_")[2][: len(given)])
    ]
    if len(meant) > 1:
        complain(f"{given} may be any of {', '.join(meant)}", "Type more of it.")
    return meant[0] if given and meant else given


def print_note(text: str) -> None:
    """Print a line on stderr."""
    _print_line(text)


def _print_line(text: str, style: str | None = None) -> None:
    complaints = _console("complaints")
    complaints.print(clean(text), style=style, markup=False, highlight=False, soft_wrap=True)
