"""Which time a line runs, counted over a whole recorded run."""

from __future__ import annotations

from holdfast.model.run_recording import RecordedFile, RunEvent, RunFrame, RunRecording


def list_hits(run: RunRecording, file: RecordedFile, line: int) -> list[RunEvent]:
    """The executions of a line, in order."""
    return [
        event
        for event in run.events.values()
        if event.statement.file is file and event.statement.line <= line <= event.statement.last
    ]


def count_hits(run: RunRecording, frame: RunFrame) -> dict[int, int]:
    """By the time of each event of an invocation: which hit of its line it is, from 1 on."""
    lines = {event.statement.line for event in frame.events}
    covered: dict[int, list[int]] = {}
    counts = dict.fromkeys(lines, 0)
    hits: dict[int, int] = {}
    for event in run.events.values():
        statement = event.statement
        if statement.file is not frame.code.file:
            continue
        if statement.number not in covered:
            span = range(statement.line, statement.last + 1)
            covered[statement.number] = [line for line in lines if line in span]
        for line in covered[statement.number]:
            counts[line] += 1
        if event.frame is frame:
            hits[event.time] = counts[statement.line]
    return hits
