"""The invocations of a recorded run, each as a frame trace."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from holdfast.core.collection_pause import without_collections
from holdfast.core.run_steps import StepBuilder
from holdfast.model.run_recording import RunFrame, RunRecording
from holdfast.model.trace import Caller, FrameTrace, TracedValue

_MAX_CALLERS = 20
_MAX_FOUND = 100


@dataclass(frozen=True)
class RecordedCall:
    """One invocation, in a list of them."""

    number: int
    function: str
    file: str
    line: int
    index: int
    """Which invocation of this function it is, from 1 on."""
    outcome: str


def list_calls(run: RunRecording) -> list[RecordedCall]:
    """Every invocation, in the order of their beginnings."""
    counts: dict[int, int] = {}
    calls = []
    for frame in run.frames.values():
        code = frame.code
        counts[code.number] = index = counts.get(code.number, 0) + 1
        calls.append(
            RecordedCall(
                frame.number, name_function(frame), code.file.path, code.first, index, frame.outcome
            )
        )
    return calls


def name_function(frame: RunFrame) -> str:
    """As `module.Class.method`, or as `<module>`."""
    code = frame.code
    base = code.file.path.replace("\\", "/").rpartition("/")[2]
    module = base[:-3] if base.endswith(".py") else base
    return code.qualname if code.qualname == "<module>" else f"{module}.{code.qualname}"


def build_frame_trace(run: RunRecording, number: int) -> FrameTrace:
    """One invocation from its arguments to its end. KeyError if there is none of this number."""
    frame = run.frames[number]
    code = frame.code
    with without_collections():
        items = StepBuilder(run, frame).build()
    is_raised = frame.outcome == "raised"
    lines = code.file.lines
    last = min(code.last, len(lines))
    return FrameTrace(
        function=name_function(frame),
        file=code.file.path,
        first_line=code.first,
        index=_find_index(run, frame),
        args={argument.name: TracedValue(argument.text) for argument in frame.args},
        items=items,
        source={n: lines[n - 1] for n in range(max(1, code.first), last + 1)},
        outcome=frame.outcome,
        result=None if frame.result is None else TracedValue(frame.result),
        exception_type=(frame.result or "").partition("(")[0] if is_raised else None,
        thread=run.threads.get(frame.thread, ""),
        callers=_list_callers(run, frame),
        remarks=_list_remarks(run, frame),
    )


def _find_index(run: RunRecording, frame: RunFrame) -> int:
    same = (other for other in run.frames.values() if other.code is frame.code)
    return sum(1 for other in same if other.number <= frame.number)


def _list_callers(run: RunRecording, frame: RunFrame) -> list[Caller]:
    callers: list[Caller] = []
    while frame.caller in run.frames and len(callers) < _MAX_CALLERS:
        site = run.statements.get(frame.site)
        frame = run.frames[frame.caller]
        line = site.line if site is not None else frame.code.first
        args = {argument.name: argument.text for argument in frame.args}
        callers.append(Caller(name_function(frame), frame.code.file.path, line, args))
    return callers


def _list_remarks(run: RunRecording, frame: RunFrame) -> Sequence[str]:
    remarks = list(run.remarks)
    if frame.is_cut:
        remarks.append("the beginning of this invocation was not kept")
    return remarks


# -- finding one's way ----------------------------------------------------------------------------


def parent(run: RunRecording, number: int) -> int | None:
    """The invocation that called this one."""
    caller = run.frames[number].caller
    return caller if caller in run.frames else None


def children(run: RunRecording, number: int) -> list[int]:
    """The invocations that this one called, in order."""
    return [frame.number for frame in run.frames.values() if frame.caller == number]


def next_call(run: RunRecording, number: int) -> int | None:
    """The next invocation of the same function."""
    code = run.frames[number].code
    later = (n for n, frame in run.frames.items() if n > number and frame.code is code)
    return min(later, default=None)


def previous_call(run: RunRecording, number: int) -> int | None:
    """The invocation of the same function before this one."""
    code = run.frames[number].code
    earlier = (n for n, frame in run.frames.items() if n < number and frame.code is code)
    return max(earlier, default=None)


def find_value(run: RunRecording, text: str) -> list[str]:
    """Where values with this text were given, written or returned, in order of time."""
    found: list[tuple[int, str]] = []
    indexes = {call.number: call.index for call in list_calls(run)}
    for frame in run.frames.values():
        where = f"{name_function(frame)} call {indexes[frame.number]}"
        for argument in frame.args:
            if text in argument.text:
                found.append(
                    (argument.time, f"{where}: argument {argument.name} = {argument.text}")
                )
        for event in frame.events:
            labels = event.statement.writes
            for write in event.writes:
                if write.text is None or text not in write.text or write.place[0] == "s":
                    continue
                label = write.label if isinstance(write.label, str) else labels[write.label]
                line = event.statement.line
                found.append((event.time, f"{where}: line {line}: {label} = {write.text}"))
        if frame.result is not None and text in frame.result:
            found.append((frame.end, f"{where}: {frame.outcome} {frame.result}"))
        if len(found) > 10 * _MAX_FOUND:
            break
    found.sort()
    return [words for _, words in found[:_MAX_FOUND]]
