"""The loops of a recorded invocation: which of its statements ran in which round."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from holdfast.model.run_recording import RecordedStatement, RunEvent, RunFrame, RunRecording

_LOOPS = ("for", "while")


def split_loops(
    run: RunRecording, events: Sequence[RunEvent], inside: tuple[int, ...]
) -> Iterator[tuple[RecordedStatement | None, Sequence[RunEvent]]]:
    """Each loop with all its events, and without one each other event. `inside`: the loops around
    all of them."""
    loops: dict[int, RecordedStatement | None] = {}

    def find_loop(statement: RecordedStatement) -> RecordedStatement | None:
        if statement.number not in loops:
            loops[statement.number] = _find_loop(run, statement, inside)
        return loops[statement.number]

    at = 0
    while at < len(events):
        loop = find_loop(events[at].statement)
        end = at + 1
        while loop is not None and end < len(events) and find_loop(events[end].statement) is loop:
            if events[end].statement is loop and _has_ended(events[end - 1], loop):
                break
            end += 1
        yield loop, events[at:end]
        at = end


def _find_loop(
    run: RunRecording, statement: RecordedStatement, inside: tuple[int, ...]
) -> RecordedStatement | None:
    """The outermost loop that a statement is in, but for those around already."""
    found: RecordedStatement | None = None
    each: RecordedStatement | None = statement
    while each is not None:
        if each.kind in _LOOPS and each.body >= 0 and each.number not in inside:
            found = each
        each = run.statements.get(each.parent)
    return found


def _has_ended(event: RunEvent, loop: RecordedStatement) -> bool:
    """Whether a loop had ended, and begins anew with nothing between."""
    return event.statement is loop and event.branch == 0


def split_rounds(loop: RecordedStatement, events: Sequence[RunEvent]) -> list[list[RunEvent]]:
    """The events of each round: from the header that entered it to the next."""
    rounds: list[list[RunEvent]] = []
    has_header = any(event.statement is loop for event in events)  # `while True` has none
    for event in events:
        begins = event.statement is loop if has_header else event.statement.number == loop.body
        if begins and has_header and event.branch == 0:
            continue
        if begins or not rounds:
            rounds.append([event])
        else:
            rounds[-1].append(event)
    return rounds


def find_rounds(
    run: RunRecording, frame: RunFrame, times: Collection[int]
) -> dict[int, Mapping[int, int]]:
    """By the time of an event: the rounds that it ran in, by the lines of their loops."""
    found: dict[int, Mapping[int, int]] = {}

    def look(
        events: Sequence[RunEvent], inside: tuple[int, ...], rounds: Mapping[int, int]
    ) -> None:
        wanted = [time for time in times if events[0].time <= time <= events[-1].time]
        found.update(dict.fromkeys(wanted, rounds))
        if not wanted:
            return
        for loop, part in split_loops(run, events, inside):
            if loop is not None and any(part[0].time <= time <= part[-1].time for time in wanted):
                for number, one in enumerate(split_rounds(loop, part), 1):
                    look(one, (*inside, loop.number), {**rounds, loop.line: number})

    if frame.events:
        look(frame.events, (), {})
    return found
