"""A failing test's capture on a terminal: why it failed, its frames, values and output."""

from __future__ import annotations

import itertools
import os
import shlex
from collections.abc import Iterator, Sequence

import msgspec
from msgspec import UNSET
from rich.text import Text

from holdfast.wire.capture_answers import (
    Capture,
    CaptureAssertion,
    CaptureException,
    CaptureFrame,
    CaptureValue,
)
from holdfast.wire.plain_text import clean_all

_MAX_PARTS = 8
_MAX_LOCALS = 30


def render_capture(captured: Capture) -> Iterator[Text]:
    # A test may have written what commands a terminal.
    capture = msgspec.convert(clean_all(msgspec.to_builtins(captured)), Capture)
    yield _render_head(capture)
    yield from _render_error(capture.exception)
    if capture.assertion is not UNSET:
        yield from _render_assertion(capture.assertion)
    for frame in capture.exception.inner:
        yield Text(f"  in  {frame.function}  {show_place(frame)}", style="dim")
    yield from _render_frames(capture.exception.frames)
    for cause in capture.causes:
        yield from _render_cause(cause)
    for title, text in capture.output:
        yield Text(f"\n{title}", style="bold")
        yield Text(text.rstrip("\n"))
    yield Text(f"\nrun it again: {build_command(capture)}", style="dim")


def show_place(frame: CaptureFrame) -> str:
    """`file:line`, relative to this directory if it is below."""
    inside = os.path.relpath(frame.file)
    return f"{frame.file if inside.startswith('..') else inside}:{frame.line}"


def build_command(capture: Capture) -> str:
    """The line for a shell that runs the test again."""
    words = [capture.python or "python", "-m", "pytest", capture.node]
    line = shlex.join(words)
    is_here = os.path.realpath(capture.root or ".") == os.path.realpath(".")
    return line if is_here else f"cd {shlex.quote(capture.root)} && {line}"


def _render_head(capture: Capture) -> Text:
    head = Text(capture.node, style="bold")
    if capture.subtest is not UNSET:
        head.append(f" [{capture.subtest}]")
    facts = [f"failed in {capture.when}", capture.id, capture.time, f"Python {capture.version}"]
    facts += [f"attempt {capture.attempt}"] if capture.attempt > 1 else []
    facts += [f"worker {capture.worker}"] if capture.worker else []
    head.append("  " + " · ".join(facts), style="not bold dim")
    return head


def _render_error(error: CaptureException) -> Iterator[Text]:
    line = Text(error.type, style="bold red")
    if error.message:
        line.append(f": {error.message}", style="not bold red")
    yield line
    for note in error.notes:
        yield Text(f"  {note}", style="red")


def _render_assertion(assertion: CaptureAssertion) -> Iterator[Text]:
    operands = [one for one in assertion.operands if one.name != one.value]  # no constants
    if not operands:
        return
    yield Text(f"\n{assertion.source}", style="bold")
    yield from _render_values(operands, "  ")


def _render_frames(frames: Sequence[CaptureFrame]) -> Iterator[Text]:
    """Each of them; a line that calls itself again and again stands once."""
    numbered = enumerate(frames)
    for _, same in itertools.groupby(numbered, lambda one: (one[1].file, one[1].line)):
        (number, frame), *others = same
        yield from _render_frame(number, frame)
        if others:
            noun = "frame" if len(others) == 1 else "frames"
            yield Text(f"    … {len(others)} more {noun} of {frame.function}", style="dim")


def _render_frame(number: int, frame: CaptureFrame) -> Iterator[Text]:
    head = Text(f"\n#{number}  ", style="dim")
    head.append(frame.function, style="not dim bold")
    head.append(f"  {show_place(frame)}", style="not dim cyan")
    yield head
    for line, text in frame.source:
        is_current = line == frame.line
        yield Text(f"{'>' if is_current else ' '}{line:5}  {text}", "bold" if is_current else "dim")
    yield from _render_values(frame.locals[:_MAX_LOCALS], "    ")
    missing = frame.locals_total - len(frame.locals[:_MAX_LOCALS])
    if missing > 0:
        yield Text(f"    … {missing} more", style="dim")


def _render_values(values: Sequence[CaptureValue], margin: str) -> Iterator[Text]:
    for value in values:
        line = Text(f"{margin}{value.name}", style="green")
        line.append(f" = {value.value}", style="not green")
        yield line
        if not _is_complete(value):
            yield from _render_parts(value, margin + "  ")


def _is_complete(value: CaptureValue) -> bool:
    """Whether its text shows it all, so that its parts would only repeat it."""
    return "..." not in value.value and not value.value.startswith("<")


def _render_parts(value: CaptureValue, margin: str) -> Iterator[Text]:
    parts = [] if value.children is UNSET else value.children[:_MAX_PARTS]
    for part in parts:
        yield Text(f"{margin}{part.name}: {part.value}", style="dim")


def _render_cause(cause: CaptureException) -> Iterator[Text]:
    words = {"cause": "caused by", "context": "while handling", "member": "a member of the group"}
    relation = cause.relation if cause.relation is not UNSET else "cause"
    yield Text(f"\n{words.get(relation, relation)}", style="dim")
    yield from _render_error(cause)
    for frame in (cause.frames or cause.inner)[:1]:
        yield from _render_frame(0, frame)
