"""`holdfast agent diff A B`: where two runs part."""

from __future__ import annotations

import json
import textwrap
from typing import Annotated

import typer
from rich.table import Table

from holdfast.cli.agents.event_lines import format_totals, shorten
from holdfast.cli.agents.recording_file import Recording, open_recording
from holdfast.cli.server_access import AsJson, console, print_table
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.run_comparison import (
    ComparedRun,
    ComparisonAnswer,
    DifferenceAnswer,
    StepAnswer,
    compare_runs,
    read_run,
)

EQUAL, DIFFERENT, CANNOT = 0, 1, 2


def diff(
    a: Annotated[str, typer.Argument(metavar="A", help="A session, or its events.jsonl.")],
    b: Annotated[str, typer.Argument(metavar="B", help="Another one.")],
    as_json: AsJson = False,
) -> None:
    """Where two runs part: how far they are the same, and the first difference.

    The exit code is 0 if they are the same, 1 if not, and 2 if one of them cannot be read.
    """
    try:
        runs = [_read(open_recording(named)) for named in (a, b)]
    except typer.Exit:  # the message is printed; 1 would mean a difference
        raise typer.Exit(CANNOT) from None
    answer = compare_runs(*runs)
    if as_json:
        print(json.dumps(answer, default=repr))
    else:
        _print_comparison(answer)
    raise typer.Exit(EQUAL if answer["equal"] else DIFFERENT)


def _read(recording: Recording) -> ComparedRun:
    contents = None if recording.home is None else ContentFiles(recording.home.contents)
    return read_run(recording.id, recording.events(), contents)


def _print(text: str, style: str = "") -> None:
    """In a terminal, what does not fit goes on further in; in a pipe, a line is a line."""
    if console.is_terminal:
        inside = " " * (len(text) - len(text.lstrip()) + 5)
        text = textwrap.fill(text, console.width, subsequent_indent=inside, break_on_hyphens=False)
    console.print(text, style=style, markup=False, highlight=False, soft_wrap=True)


def _print_comparison(answer: ComparisonAnswer) -> None:
    for side, run in (("A", answer["a"]), ("B", answer["b"])):
        _print(f"{side}  {run['id']}  {run['name']}")
    if answer["lineage"] is not None:
        _print(answer["lineage"]["detail"], "dim")
    if answer["first"] is None:
        _print("The same: every request, every answer.", "green")
    for lane in answer["lanes"]:
        if (difference := lane["difference"]) is not None:
            mark = " This difference came first." if difference is answer["first"] else ""
            same = f"{lane['same']} of {lane['stepsA']} and {lane['stepsB']} steps are the same."
            console.print()
            _print(f"lane {lane['lane']}: {same}{mark}", "bold")
            _print_difference(difference)
    console.print()
    table = Table("", "A", "B", box=None, padding=(0, 2, 0, 0))
    totals = [format_totals(run["totals"]) for run in (answer["a"], answer["b"])]
    for name in dict.fromkeys([*totals[0], *totals[1]]):
        table.add_row(name, *(total.get(name, "") for total in totals))
    print_table(table)


def _print_difference(difference: DifferenceAnswer) -> None:
    _print(f"  step {difference['step']}: {difference['detail']}", "yellow")
    for side, step in (("A", difference["a"]), ("B", difference["b"])):
        _print(f"  {side}  {'-' if step is None else _format_step(step)}")
        if step is None:
            continue
        if "ranWith" in step:
            _print(f"     ran with {shorten(step['ranWith'])}")
        if "error" in step:
            _print(f"     raised {shorten(step['error'])}", "red")
        elif "answered" in step:
            _print(f"     → {shorten(step['answered'])}")


def _format_step(step: StepAnswer) -> str:
    asked = step.get("asked")
    if step["kind"] == "model" and isinstance(asked, dict):
        messages = asked.get("messages") or []
        last = f", the last: {shorten(messages[-1])}" if messages else ""
        text = f"{len(messages)} message{'s' if len(messages) != 1 else ''}{last}"
    else:
        text = shorten(asked)
    where = f"iteration {step['iteration']}"
    where += f", {step['toolId']}" if "toolId" in step else ""
    replayed = ", from the recording" if step.get("replayed") else ""
    return f"{step['kind']} {step['name']} ({where}{replayed}) {text}".replace("  ", " ")
