"""What the commands share: asking the server, and saying what it answered."""

from __future__ import annotations

import json
import os
from typing import Annotated, Any, NoReturn

import typer
from rich.console import Console

from holdfast.client import discovery
from holdfast.client.exceptions import DebugError
from holdfast.client.http_client import ApiError, HttpClient

console = Console()
complaints = Console(stderr=True)


class _Form:
    """How this command is to answer, its complaints included."""

    is_json = False


def _remember(is_json: bool) -> bool:
    _Form.is_json = is_json
    return is_json


AsJson = Annotated[
    bool,
    typer.Option(
        "--json",
        help="One JSON document instead of text.",
        callback=_remember,
        is_eager=True,
    ),
]
Url = Annotated[str | None, typer.Option("--url", help="The server; found by itself if left out.")]


def ask(url: str | None, method: str, path: str, body: Any = None) -> Any:
    try:
        token = os.environ.get("HOLDFAST_TOKEN")
        client = HttpClient(discovery.server_url(url), token=token)
        return client.request(method, path, body)
    except ApiError as problem:
        complain(str(problem), problem.hint)
    except DebugError as problem:
        complain(str(problem), "Start one with `holdfast serve`.")


def complain(message: str, hint: str = "") -> NoReturn:
    """Say what is wrong and what to do, on stderr; with `--json`, as JSON on stdout. And end."""
    if _Form.is_json:
        print(json.dumps({"error": {"message": message, "hint": hint}}))
        raise typer.Exit(1)
    complaints.print(message, style="red", markup=False, highlight=False, soft_wrap=True)
    if hint:
        complaints.print(hint, markup=False, highlight=False, soft_wrap=True)
    raise typer.Exit(1)


def where(shown: dict[str, Any]) -> str:
    place = shown.get("location")
    return f"{place['file']}:{place['line']}" if place else ""
