"""What the commands share: requests to the server, options, and error messages."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console
from rich.measure import Measurement
from rich.table import Table

from holdfast.client import discovery
from holdfast.client.exceptions import DebugError, DebugServerError
from holdfast.client.http_client import ApiError, HttpClient

_MAX_PIPE_WIDTH = 100_000

console = Console()
complaints = Console(stderr=True)


class _OutputFormat:
    """The format of this command's output, error messages included."""

    is_json = False


def _set_format(is_json: bool) -> bool:
    _OutputFormat.is_json = is_json
    return is_json


AsJson = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print one JSON document instead of text.",
        callback=_set_format,
        is_eager=True,
    ),
]
Url = Annotated[
    str | None,
    typer.Option("--url", help="The server's address. By default it is found automatically."),
]


def ask(url: str | None, method: str, path: str, body: Any = None) -> Any:
    """Send a request and return the answer. Exit with a message if that fails."""
    try:
        follows = discovery.chosen_url(url) is None
        client = HttpClient(discovery.server_url(url), follows=follows)
        return client.request(method, path, body)
    except ApiError as problem:
        complain(str(problem), problem.hint)
    except DebugServerError as problem:
        command = problem.start_command
        complain(problem.message, f"Start one with `{command}`." if command else "")
    except DebugError as problem:
        complain(str(problem))


def complain(message: str, hint: str = "", **details: object) -> NoReturn:
    """Print an error on stderr, or with `--json` as JSON on stdout, and exit with 1.

    `details` are fields of the JSON only: what the message says in words, for programs.
    """
    if _OutputFormat.is_json:
        print(json.dumps({"error": {"message": message, "hint": hint, **details}}))
        raise typer.Exit(1)
    complaints.print(message, style="red", markup=False, highlight=False, soft_wrap=True)
    if hint:
        complaints.print(hint, markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(1)


def print_table(table: Table) -> None:
    """Print a table. Where there is no terminal, it is as wide as its content: nothing is cut."""
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
    complaints.print(text, markup=False, highlight=False, soft_wrap=True)
