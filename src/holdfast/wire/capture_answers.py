"""Answers about the captures of failing tests, which `pytest --holdfast` writes."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Struct, UnsetType

from holdfast.wire.described import about


class CaptureValue(Struct, kw_only=True):
    """A variable, an operand, or a part of one."""

    name: Annotated[str, about("Its name; of an operand, the expression.")]
    value: Annotated[str, about("Its value as text.")]
    type: Annotated[str, about("The name of its class.")] = ""
    children: Annotated[
        list[CaptureValue] | UnsetType, about("Its items or attributes, as far as captured.")
    ] = UNSET
    children_total: Annotated[int | UnsetType, about("How many of them there were.")] = UNSET


class CaptureFrame(Struct, kw_only=True):
    """A frame of the traceback."""

    file: Annotated[str, about("Its file.")]
    line: Annotated[int, about("Its line.")]
    function: Annotated[str, about("Its function.")]
    source: Annotated[list[tuple[int, str]], about("The lines around, with their numbers.")] = []
    locals: Annotated[list[CaptureValue], about("Its variables.")] = []
    locals_total: Annotated[int, about("How many variables it had.")] = 0


class CaptureException(Struct, kw_only=True):
    """The exception of a failing test, or one that led to it."""

    type: Annotated[str, about("The name of its class.")]
    message: Annotated[str, about("Its message; of an assertion, what pytest explains.")]
    module: Annotated[str, about("The module of its class.")] = "builtins"
    notes: Annotated[list[str], about("Notes that were added to it.")] = []
    relation: Annotated[
        str | UnsetType, about("Of one that led to another: `cause`, `context` or `member`.")
    ] = UNSET
    frames: Annotated[
        list[CaptureFrame], about("From the nearest frame of the user's own code outwards.")
    ] = []
    inner: Annotated[
        list[CaptureFrame], about("Frames of libraries that it called, innermost first.")
    ] = []
    frames_total: Annotated[int, about("How many frames there were.")] = 0


class CaptureAssertion(Struct, kw_only=True):
    """A failed assertion."""

    source: Annotated[str, about("The assertion.")]
    operands: Annotated[list[CaptureValue], about("Expressions in it, with their values.")] = []
    is_comparison: Annotated[
        bool, about("Whether the first two operands are the sides of a comparison.")
    ] = False


class Capture(Struct, kw_only=True):
    """A failing test, as it was when it failed."""

    id: Annotated[str, about("The capture's id.")]
    run: Annotated[str, about("The run of pytest; ids of runs sort by time.")]
    time: Annotated[str, about("When, as an ISO 8601 time in UTC.")]
    node: Annotated[str, about("The test's node id.")]
    when: Annotated[str, about("setup, call, teardown or collect.")]
    exception: Annotated[CaptureException, about("Why it failed.")]
    causes: Annotated[list[CaptureException], about("What led to it, nearest first.")] = []
    assertion: Annotated[
        CaptureAssertion | UnsetType, about("The assertion, if it is one that can be read.")
    ] = UNSET
    subtest: Annotated[str | UnsetType, about("Which of its subtests failed.")] = UNSET
    duration: Annotated[float, about("How long it took, in seconds.")] = 0.0
    worker: Annotated[str | None, about("The worker of pytest-xdist.")] = None
    attempt: Annotated[int, about("Which attempt, where failing tests are run again.")] = 1
    root: Annotated[str, about("The directory that the node id is relative to.")] = ""
    python: Annotated[str, about("The interpreter.")] = ""
    version: Annotated[str, about("The version of Python.")] = ""
    output: Annotated[list[tuple[str, str]], about("What the test wrote: title and text.")] = []
    trace: Annotated[
        str, about("The recording of what the test's own code did, for debug_trace and debug_why.")
    ] = ""


class CaptureSummary(Struct, kw_only=True):
    """A failing test in a list."""

    id: Annotated[str, about("The capture's id.")]
    run: Annotated[str, about("The run of pytest.")]
    time: Annotated[str, about("When, as an ISO 8601 time in UTC.")]
    node: Annotated[str, about("The test's node id.")]
    when: Annotated[str, about("setup, call, teardown or collect.")]
    exception: Annotated[str, about("The class of the exception.")]
    message: Annotated[str, about("The first line of its message.")]
    at: Annotated[str, about("Where, as file:line.")]
    attempt: Annotated[int, about("Which attempt.")] = 1
    worker: Annotated[str | None, about("The worker of pytest-xdist.")] = None


class CaptureList(Struct, kw_only=True):
    """The captures of failing tests, newest first."""

    captures: Annotated[list[CaptureSummary], about("The captures.")]
    total: Annotated[int, about("How many there are in all.")]


class DeletedCaptures(Struct, kw_only=True):
    """Captures that were deleted."""

    deleted: Annotated[int, about("How many.")]


def summarize(capture: Capture) -> CaptureSummary:
    error = capture.exception
    first = next(iter([*error.frames, *error.inner]), None)
    return CaptureSummary(
        id=capture.id,
        run=capture.run,
        time=capture.time,
        node=capture.node,
        when=capture.when,
        exception=error.type,
        message=error.message.strip().partition("\n")[0][:200],
        at=f"{first.file}:{first.line}" if first else "",
        attempt=capture.attempt,
        worker=capture.worker,
    )
