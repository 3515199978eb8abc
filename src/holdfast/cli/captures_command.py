"""`holdfast captures`: the failing tests that `pytest --holdfast` has captured. Needs no server."""

from __future__ import annotations

from typing import Annotated

import typer
from rich.table import Column, Table
from rich.text import Text

from holdfast.cli.capture_view import render_capture
from holdfast.cli.completion import complete_capture
from holdfast.cli.server_access import AsJson, complain, console, print_note, print_table
from holdfast.client import discovery
from holdfast.errors import HoldfastError
from holdfast.recording.capture_files import CaptureDirectory, captures_dir
from holdfast.service.capture_secrets import hide_capture_secrets
from holdfast.service.captures import read_capture, read_summaries
from holdfast.wire import rest
from holdfast.wire.capture_answers import CaptureList, CaptureSummary, DeletedCaptures
from holdfast.wire.plain_text import clean

_CLEAR = "clear"


def captures(
    which: Annotated[
        str | None,
        typer.Argument(
            metavar="[ID]",
            help="Show this one: an id, its beginning, or `latest`. `clear` deletes all.",
            autocompletion=complete_capture,
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="List at most so many.")] = 20,
    show_secrets: Annotated[
        bool, typer.Option("--show-secrets", help="Show values that look like secrets.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the failing tests that `pytest --holdfast` has captured, or show one."""
    directory = CaptureDirectory(captures_dir(discovery.data_dir()))
    if which is None:
        _list(directory, limit, as_json)
    elif which == _CLEAR:
        _clear(directory, as_json)
    else:
        _show(directory, which, show_secrets, as_json)


def _list(directory: CaptureDirectory, limit: int, as_json: bool) -> None:
    summaries, problems = read_summaries(directory, limit)
    total = len(directory.list_ids()) - len(problems)
    if as_json:
        print(rest.encode(CaptureList(captures=[*summaries], total=total)).decode())
        return
    for problem in problems:
        print_note(f"left out: {problem}")
    if not summaries:
        console.print("no captures; `pytest --holdfast` leaves one of every failing test")
        return
    table = Table(Column("capture", no_wrap=True), "test", "failure", "when", box=None)
    for one in summaries:
        failure = f"{one.exception}: {one.message}"
        table.add_row(one.id, Text(clean(_name_test(one))), Text(clean(failure)), one.time)
    print_table(table)
    if total > len(summaries):
        print_note(f"{total - len(summaries)} more: --limit {total}")


def _name_test(one: CaptureSummary) -> str:
    where = f" ({one.when})" if one.when != "call" else ""
    return one.node + where + (f" attempt {one.attempt}" if one.attempt > 1 else "")


def _show(directory: CaptureDirectory, which: str, show_secrets: bool, as_json: bool) -> None:
    try:
        capture = read_capture(directory, which)
    except HoldfastError as problem:
        complain(problem.message, problem.hint)
    if not show_secrets:
        capture = hide_capture_secrets(capture)
    if as_json:
        print(rest.encode(capture).decode())
        return
    for line in render_capture(capture):
        console.print(line, markup=False, highlight=False, soft_wrap=True)


def _clear(directory: CaptureDirectory, as_json: bool) -> None:
    try:
        count = directory.clear()
    except OSError as problem:
        complain(f"the captures could not be deleted: {problem}")
    if as_json:
        print(rest.encode(DeletedCaptures(deleted=count)).decode())
    else:
        console.print(f"deleted {count} captures", highlight=False)
