"""Recordings and their calls as pages show them: whole."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import UNSET

from holdfast.core import trace_builder
from holdfast.model.trace import CallNode, Change, FrameTrace, Iteration, LoopRun, Step
from holdfast.recording.trace_files import TraceDirectory
from holdfast.service.traces.recordings import CallEntry, CallTreeRecording, Recording
from holdfast.service.traces.shown_values import ShownValues
from holdfast.wire.described import none_to_unset
from holdfast.wire.plain_text import clean_line
from holdfast.wire.trace_answers import (
    CountedCalls,
    RecordedCall,
    ShownChange,
    ShownEntry,
    ShownLoop,
    ShownRound,
    Trace,
    TraceCall,
    TraceSummary,
)

_MAX_CALLS = 2000
_MAX_CHILDREN = 200
_MAX_ROUNDS = 5000
"""Of a loop with more rounds, those in detail and the latest ones are shown."""
_MAX_NODES = 5000


def summarize(directory: TraceDirectory, trace_id: str) -> TraceSummary:
    """A recording in a list. Only the first line of its file is read."""
    run = directory.read_run(trace_id)
    header = trace_builder.read_header(directory.read_first_line(trace_id))
    return TraceSummary(
        trace_id=trace_id,
        recorded=str(header.get("kind", run.kind)),
        time=str(header.get("time", "")),
        target=run.target,
        function=none_to_unset(run.function),
        session_id=run.session_id or UNSET,
        python=str(header.get("python", "")),
        bytes=directory.measure(trace_id),
    )


def describe_recording(recording: Recording, summary: TraceSummary) -> Trace:
    fields = {name: getattr(summary, name) for name in summary.__struct_fields__}
    tree = list_nodes(recording.tree) if isinstance(recording, CallTreeRecording) else ()
    calls = recording.calls
    return Trace(
        **fields,
        calls=[_build_recorded(call) for call in calls[:_MAX_CALLS]],
        total_calls=len(calls),
        tree=[_build_counted(node, depth) for node, depth in tree],
        remarks=list(recording.remarks),
    )


def list_nodes(nodes: Iterable[CallNode], depth: int = 0) -> list[tuple[CallNode, int]]:
    """A tree as a list, each caller before its callees."""
    found: list[tuple[CallNode, int]] = []
    waiting = [(node, depth) for node in reversed(list(nodes))]
    while waiting and len(found) < _MAX_NODES:
        node, level = waiting.pop()
        found.append((node, level))
        waiting += [(child, level + 1) for child in reversed(node.children)]
    return found


def _build_counted(node: CallNode, depth: int) -> CountedCalls:
    return CountedCalls(
        function=node.function,
        file=node.file,
        line=node.line,
        calls=node.calls,
        total_ms=round(node.total_ms, 3),
        own_ms=round(node.own_ms, 3),
        raised=node.raised,
        depth=depth,
    )


def _build_recorded(call: CallEntry) -> RecordedCall:
    return RecordedCall(
        key=call.key,
        function=clean_line(call.function),
        file=call.file,
        line=call.line,
        index=call.index,
        outcome=call.outcome,
    )


# -- one call --------------------------------------------------------------------------------------


def build_call(recording: Recording, key: str, show_secrets: bool) -> TraceCall:
    """One call of a recording. KeyError if it has none of that key."""
    frame = recording.build_frame(key)
    values = ShownValues(show_secrets)
    return TraceCall(
        trace_id=recording.id,
        key=key,
        function=clean_line(frame.function),
        file=frame.file,
        first_line=frame.first_line,
        index=frame.index,
        args=values.show_traced(frame.args),
        source={str(line): text for line, text in frame.source.items()},
        entries=_build_entries(frame.items, values),
        outcome=frame.outcome,
        result=UNSET if frame.result is None else values.show("", frame.result.text),
        callers=list_callers(frame, values),
        remarks=[*frame.remarks, *recording.remarks],
        parent=none_to_unset(recording.find_parent(key)),
        children=[_build_recorded(c) for c in recording.list_children(key)[:_MAX_CHILDREN]],
        previous=none_to_unset(recording.find_neighbour(key, -1)),
        next=none_to_unset(recording.find_neighbour(key, 1)),
    )


def list_callers(frame: FrameTrace, values: ShownValues) -> list[str]:
    """Who called it, innermost first, as `function(x=1) file:line`."""
    return [
        f"{caller.function}({', '.join(f'{n}={v}' for n, v in shown.items())}) "
        f"{clean_line(caller.file)}:{caller.line}"
        for caller in frame.callers
        for shown in (values.show_all(caller.args),)
    ]


def _build_entries(items: Sequence[Step | LoopRun], values: ShownValues) -> list[ShownEntry]:
    return [
        _build_loop(item, values) if isinstance(item, LoopRun) else _build_step(item, values)
        for item in items
    ]


def _build_step(step: Step, values: ShownValues) -> ShownEntry:
    return ShownEntry(
        line=step.line,
        changes=[_build_change(change, values) for change in step.changes],
        calls=[values.show_call(call) for call in step.calls],
        taken=none_to_unset(step.taken),
        raised=UNSET if step.raised is None else values.show_words(step.raised),
        yielded=UNSET if step.yielded is None else values.show_words(step.yielded),
        hit=step.hit,
    )


def _build_change(change: Change, values: ShownValues) -> ShownChange:
    value = change.value
    text = UNSET if value is None else values.show(change.name, value.text)
    is_hidden = value is not None and text != clean_line(value.text)
    return ShownChange(
        name=clean_line(change.name),
        how=change.how,
        text=f"{change.name} = {text}" if is_hidden else values.show_words(change.text),
        value=text,
        content_id=UNSET if value is None or is_hidden else none_to_unset(value.content_id),
    )


def _build_loop(loop: LoopRun, values: ShownValues) -> ShownEntry:
    rounds = [_build_round(one, values) for one in _list_rounds(loop)]
    shown = ShownLoop(iterations=loop.iterations, rounds=rounds, forgotten=loop.forgotten)
    return ShownEntry(line=loop.line, loop=shown)


def _list_rounds(loop: LoopRun) -> Iterator[Iteration]:
    """Rounds in detail, and later ones by their values; unusual ones say why they are."""
    unusual = {one.number: one.remark for one in trace_builder.find_unusual(loop)}
    rows = list(trace_builder.list_rows(loop))
    shown = {
        one.number: _remark(one, unusual.get(one.number, ""))
        for number, one in enumerate(rows)
        if number >= len(rows) - _MAX_ROUNDS or one.number in unusual
    }
    shown |= {one.number: one for one in loop.kept}
    for number in sorted(shown):
        yield shown[number]


def _remark(one: Iteration, remark: str) -> Iteration:
    return Iteration(one.number, one.steps, one.values, one.path, remark or one.remark)


def _build_round(one: Iteration, values: ShownValues) -> ShownRound:
    return ShownRound(
        number=one.number,
        entries=_build_entries(one.steps, values),
        values=values.show_all(one.values),
        path=list(one.path),
        remark=one.remark,
    )
