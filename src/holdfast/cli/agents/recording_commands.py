"""`holdfast agent replay` and `fork`: shows a recording, or runs the agent again from it."""

from __future__ import annotations

import functools
import json
import os
import re
import time
from collections.abc import Iterable, Iterator
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer

from holdfast.cli.agents import agent_rerun, fork_editor
from holdfast.cli.agents.recording_file import Recording, open_recording
from holdfast.cli.agents.watch_command import (
    FullOption,
    line_width,
    make_formatter,
    print_totals,
)
from holdfast.cli.server_access import AsJson, complain, complaints, console
from holdfast.model.agent_events import MAIN, RecordedEvent
from holdfast.recording.agent_rerun import (
    CannotRerun,
    ForkEdits,
    Message,
    Rerun,
    RerunReport,
    check_fork_edits,
    check_fork_place,
    list_fork_warnings,
)
from holdfast.recording.directories import SessionDirectory
from holdfast.recording.recorded_calls import RecordedCalls
from holdfast.recording.recording_state import RecordedStop
from holdfast.recording.regular_files import open_regular
from holdfast.wire import agent_lines

_SPEED = re.compile(r"(\d+(?:\.\d+)?|\.\d+)x?")
_MAX_PAUSE = 3600.0


class Mode(str, Enum):
    view = "view"
    model = "model"
    full = "full"


class Live(str, Enum):
    model = "model"
    full = "full"


Command = Annotated[
    list[str] | None,
    typer.Argument(metavar="[-- CMD...]", help="The agent; as it was started, if left out."),
]


def replay(
    named: Annotated[
        str | None, typer.Argument(metavar="ID|PATH", help="A session, or its events.jsonl.")
    ] = None,
    command: Command = None,
    timed: Annotated[bool, typer.Option("--timed", help="At the original pace.")] = False,
    speed: Annotated[
        str | None, typer.Option(help="At so many times the pace: 4x, 0.5.", metavar="4x")
    ] = None,
    mode: Annotated[
        Mode | None,
        typer.Option(help="view: show it. model: models from it, tools live. full: both from it."),
    ] = None,
    session: Annotated[
        str | None, typer.Option("--session", "-s", help="The session, instead of ID.")
    ] = None,
    is_full: FullOption = False,
    as_json: AsJson = False,
) -> None:
    """Show a recording; with a mode or CMD, run the agent again, and compare."""
    words = [word for word in (named, *(command or [])) if word is not None]
    if session is None and words:
        session, words = words[0], words[1:]
    recording = open_recording(session)
    if mode is Mode.view or (mode is None and not words):
        if words:
            complain("Mode view runs nothing.", "Leave CMD out, or take --mode full or model.")
        _print_events(recording, _parse_speed(speed, timed), is_full, as_json)
        return
    if timed or speed is not None:
        complain("--timed and --speed are for showing a recording, not for running it.")
    again = Rerun(_require_home(recording), (mode or Mode.full).value)
    report = agent_rerun.run_again(again, words, as_json)
    _print_report(report, as_json)
    raise typer.Exit(0 if report["outcome"] in ("same", "incomplete") else 1)


def fork(
    named: Annotated[str, typer.Argument(metavar="ID|PATH", help="The session to begin from.")],
    at: Annotated[int, typer.Option(min=0, help="So many iterations come from the recording.")],
    command: Command = None,
    message: Annotated[
        str | None,
        typer.Option(help="A message before the first live call: text, or {role, content}."),
    ] = None,
    results: Annotated[
        list[str] | None,
        typer.Option(
            "--result", metavar="TOOL_ID=JSON", help="Instead of what a tool of iteration N gave."
        ),
    ] = None,
    lane: Annotated[
        str, typer.Option("--lane", help="Whose iterations are counted.", metavar="NAME")
    ] = MAIN,
    edit: Annotated[
        bool,
        typer.Option(
            "--edit",
            help="Hold it before its first live model call: edit its conversation, then go on.",
        ),
    ] = False,
    system: Annotated[
        str | None, typer.Option("--system", help="Another system prompt from there on.")
    ] = None,
    messages: Annotated[
        str | None,
        typer.Option(
            "--messages", metavar="FILE", help="Other messages there: a JSON list; - for stdin."
        ),
    ] = None,
    mode: Annotated[
        Live, typer.Option(help="full: the tools of the recorded part do not run. model: they do.")
    ] = Live.full,
    as_json: AsJson = False,
) -> None:
    """Take N iterations from a recording, then go on live, perhaps changed."""
    home = _require_home(open_recording(named))
    calls = RecordedCalls(home, at, lane)
    edits: ForkEdits = {}
    try:
        check_fork_place(calls)
        if message is not None:
            edits["message"] = _parse_message(message)
        if messages is not None:
            edits["messages"] = fork_editor.read_messages(messages)
        if system is not None:
            edits["system"] = system
        if edit:
            edits["hold"] = True
        if results:
            edits["results"] = dict(map(_parse_result, results))
        check_fork_edits(calls, edits)
    except CannotRerun as problem:
        complain(problem.message, problem.hint)
    for warning in list_fork_warnings(calls, mode.value):
        text = f"Warning: {warning}"
        complaints.print(text, style="yellow", markup=False, highlight=False, soft_wrap=True)
    again = Rerun(home, mode.value, at, lane, edits)
    report = agent_rerun.run_again(
        again, command or [], as_json, functools.partial(_edit, as_json) if edit else None
    )
    _print_report(report, as_json)
    is_done = report["outcome"] == "forked" and report["message"] is None
    raise typer.Exit(report["exitCode"] if is_done else 1)


def _edit(as_json: bool, home: SessionDirectory, stop: RecordedStop) -> None:
    """A person edits it now; a program is told what it can do."""
    if fork_editor.can_edit() and not as_json:
        fork_editor.edit_held(home, stop)
    else:
        text = fork_editor.describe_hold(home, stop)
        complaints.print(text, style="yellow", markup=False, highlight=False, soft_wrap=True)


# -- showing ------------------------------------------------------------------------------------


def _print_events(recording: Recording, factor: float | None, is_full: bool, as_json: bool) -> None:
    last = ""
    formatter = make_formatter(recording.home, is_full)
    is_whole = _ends_with_line(recording.path)
    try:
        for event in pace(recording.events(), factor):
            kind = event["type"]
            if as_json:
                print(json.dumps(event), flush=True)
            elif not kind == last == "state_snapshot":
                line = formatter.format(event, line_width())
                console.print(line, highlight=False, soft_wrap=True)
            last = kind
    except KeyboardInterrupt:
        return
    if last != "session_end":
        torn = "" if is_whole else ", in half a line"
        text = f"The recording ends here{torn}: its agent runs still, or did not end in order."
        complaints.print(text, style="yellow", highlight=False, soft_wrap=True)
    elif console.is_terminal and not as_json:
        print_totals(recording.events())


def _ends_with_line(path: Path) -> bool:
    """Whether the last line of the file has an end."""
    handle = open_regular(path)
    try:
        size = os.fstat(handle).st_size
        return size == 0 or os.pread(handle, 1, size - 1) == b"\n"
    finally:
        os.close(handle)


def pace(events: Iterable[RecordedEvent], factor: float | None) -> Iterator[RecordedEvent]:
    """The events, at the pace of the recording times the factor."""
    before = 0.0
    for event in events:
        now = agent_lines.parse_timestamp(event.get("timestamp"))
        if factor is not None and before and now:
            time.sleep(pause(before, now, factor))
        before = now or before
        yield event


def pause(before: float, now: float, factor: float) -> float:
    """Seconds between two events. A clock that was set does not hold anybody up."""
    return min(max(0.0, now - before), _MAX_PAUSE) / factor


def _parse_speed(speed: str | None, timed: bool) -> float | None:
    if speed is None:
        return 1.0 if timed else None
    match = _SPEED.fullmatch(speed.strip().lower())
    if match is None or float(match[1]) <= 0:
        complain(f"--speed is a number such as 4x or 0.5, not {speed[:40]!r}.")
    return float(match[1])


# -- running ------------------------------------------------------------------------------------


def _require_home(recording: Recording) -> SessionDirectory:
    if recording.home is None:
        complain(
            f"{recording.path} can be shown, but not run.",
            "To run an agent from it, its whole directory is needed: session.json and contents.",
        )
    return recording.home


def _parse_message(text: str) -> Message:
    try:
        message = json.loads(text)
    except ValueError:
        message = text
    if isinstance(message, dict):
        if "content" not in message:
            complain("--message has no content.", '{"role": "user", "content": "…"}, or just text.')
        return {"role": message.get("role", "user"), "content": message["content"]}
    return {"role": "user", "content": message if isinstance(message, list) else text}


def _parse_result(option: str) -> tuple[str, object]:
    tool_id, sign, value = option.partition("=")
    if not sign:
        complain(f"--result is TOOL_ID=JSON, not {option[:60]!r}.")
    try:
        return tool_id, json.loads(value)
    except ValueError as problem:
        complain(f"The result of {tool_id} is not JSON: {problem}", "Text needs quotes.")


def _print_report(report: RerunReport, as_json: bool) -> None:
    if as_json:
        print(json.dumps(report))
        return
    new, old = report["newSession"], report["session"]
    match report["outcome"]:
        case "same":
            text = f"The same as {old}: {_count(report)}, no difference. Recorded as {new}."
        case "forked":
            changed = ", edited" if report["edited"] else ""
            text = (
                f"Forked from {old} at {report['forkAt']}{changed}, {_count(report)}. "
                f"Recorded as {new}."
            )
            if report["message"] is not None:
                complaints.print(
                    f"Nothing was edited: {report['message']}.",
                    style="red",
                    markup=False,
                    highlight=False,
                    soft_wrap=True,
                )
        case "incomplete":
            text = (
                f"The same as {old}, as far as that goes: it has no end. {report['message']}. "
                f"Recorded as {new}."
            )
        case _:
            _print_divergence(report)
            return
    console.print(text, style="green", markup=False, highlight=False, soft_wrap=True)


def _count(report: RerunReport) -> str:
    count = report["iterations"]
    return f"{count} iteration" if count == 1 else f"{count} iterations"


def _print_divergence(report: RerunReport) -> None:
    lines = [f"Diverged from {report['session']}. {report['message']}."]
    details = report.get("divergence", {})
    for name in ("expected", "found"):
        if details.get(name) is not None:
            lines.append(f"  {name:<9} {agent_lines.encode_json(details[name])[:500]}")
    if report["newSession"] is not None:
        lines.append(f"Recorded as {report['newSession']}.")
    complaints.print("\n".join(lines), style="red", markup=False, highlight=False, soft_wrap=True)
