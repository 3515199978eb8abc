"""The statements of one recorded invocation as steps, with its loops folded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from holdfast.core.line_hits import count_hits
from holdfast.core.loop_rounds import find_unusual
from holdfast.core.run_loops import split_loops, split_rounds
from holdfast.model.run_recording import (
    PlaceWrite,
    RecordedStatement,
    RunEvent,
    RunFrame,
    RunRecording,
)
from holdfast.model.trace import (
    CalleeCall,
    Change,
    Iteration,
    LoopRows,
    LoopRun,
    Step,
    TracedValue,
)

_MAX_CALLS = 6  # of one statement
_FULL_STEPS = 100  # of a loop that are told in full
_FULL_ROUNDS = 3
_MAX_DEPTH = 3  # of objects within objects


class StepBuilder:
    """Builds the steps of one invocation."""

    def __init__(self, run: RunRecording, frame: RunFrame) -> None:
        self._run = run
        self._frame = frame
        self._values: dict[str, str] = {each.name: each.text for each in frame.args}
        self._objects: dict[int, str] = {
            each.object: each.name for each in frame.args if each.object
        }
        self._holders: dict[int, tuple[int, str]] = {}
        """By object: another that holds it, as an attribute or an item."""
        for event in run.events.values():
            for write in event.writes:
                if write.object and write.place[0] in "ai":
                    self._holders[write.object] = _split_place(write.place)
        self._hits = count_hits(run, frame)
        self._given = {given.time: given.text for given in frame.given}
        self._frames_by_time: dict[int, list[RunFrame]] = {}
        for other in run.frames.values():
            if other.caller == frame.number:
                self._frames_by_time.setdefault(other.caller_time, []).append(other)

    def build(self) -> list[Step | LoopRun]:
        return self._build_items(self._frame.events, ())

    def _build_items(
        self, events: Sequence[RunEvent], inside: tuple[int, ...]
    ) -> list[Step | LoopRun]:
        """`inside`: the loops around these events."""
        return [
            self._build_step(part[0]) if loop is None else self._build_loop(loop, part, inside)
            for loop, part in split_loops(self._run, events, inside)
        ]

    # -- loops -------------------------------------------------------------------------------------

    def _build_loop(
        self, loop: RecordedStatement, events: Sequence[RunEvent], inside: tuple[int, ...]
    ) -> LoopRun:
        rounds = split_rounds(loop, events)
        names = list(dict.fromkeys(name for event in events for name in self._list_names(event)))
        before = {name: self._values[name] for name in names if name in self._values}
        iterations: list[Iteration] = []
        ways: dict[tuple[int, ...], list[int]] = {}
        for number, part in enumerate(rounds, 1):
            steps = self._build_items(part, (*inside, loop.number))
            path = self._find_path(loop, part)
            remark = "new path" if ways and path not in ways else ""
            ways.setdefault(path, [0, number])[0] += 1
            values = {name: self._values[name] for name in names if name in self._values}
            iterations.append(Iteration(number, steps, values, path, remark))
        kept, rows = _split_detail(iterations)
        run = LoopRun(
            line=loop.line,
            iterations=len(iterations),
            kept=kept,
            rows=rows,
            before=before,
            after={name: self._values[name] for name in names if name in self._values},
            paths=[(path, times, first) for path, (times, first) in ways.items()],
        )
        return _keep_unusual(run, iterations)

    def _list_names(self, event: RunEvent) -> Iterator[str]:
        if event.raised is None:
            for write in event.writes:
                name = self._name_variable(event, write)
                if name:
                    yield name

    def _find_path(self, loop: RecordedStatement, events: Sequence[RunEvent]) -> tuple[int, ...]:
        """The first lines of the blocks that a round entered."""
        lines = [
            self._run.statements[event.statement.body].line
            for event in events
            if event.branch and event.statement is not loop and event.statement.body >= 0
        ]
        lines += [event.statement.line for event in events if event.statement.kind == "except"]
        return tuple(dict.fromkeys(lines))

    # -- statements --------------------------------------------------------------------------------

    def _build_step(self, event: RunEvent) -> Step:
        calls = self._list_calls(event)
        is_test = event.statement.kind in ("if", "while", "for", "case")
        return Step(
            line=event.statement.line,
            changes=self._list_changes(event),
            calls=calls[:_MAX_CALLS],
            calls_left_out=max(0, len(calls) - _MAX_CALLS),
            taken=bool(event.branch) if is_test and event.branch is not None else None,
            raised=event.raised,
            yielded=self._given.get(event.time),
            hit=self._hits.get(event.time, 0),
        )

    def _list_calls(self, event: RunEvent) -> list[CalleeCall]:
        calls = []
        for frame in self._frames_by_time.get(event.time, ()):
            if not frame.code.is_function:
                continue
            args = ", ".join(f"{each.name}={each.text}" for each in frame.args)
            is_raised = frame.outcome == "raised"
            result = frame.result if frame.outcome == "returned" else None
            raised = frame.result if is_raised else None
            calls.append(CalleeCall(frame.code.qualname, args, result, raised))
        return calls

    def _list_changes(self, event: RunEvent) -> list[Change]:
        if event.raised is not None:
            return []
        changes: dict[str, Change] = {}
        for write in event.writes:
            change = self._describe_change(event, write)
            if change is not None:
                changes.setdefault(change.text, change)
        for change in self._list_changes_below(event):
            changes.setdefault(change.text, change)
        return list(changes.values())

    def _describe_change(self, event: RunEvent, write: PlaceWrite) -> Change | None:
        kind, text = write.place[0], write.text
        if kind == "s" or (kind == "i" and _has_content(event, write.place)):
            return None
        name = self._name_variable(event, write)
        if not name:
            return None
        label = write.label if isinstance(write.label, str) else event.statement.writes[write.label]
        if text is None:
            self._values.pop(name, None)
            return Change(name, None, "deleted", f"del {label}")
        if kind in "aic":
            return Change(name, TracedValue(text), "mutated", f"{label} = {text}")
        is_same = self._values.get(name) == text
        self._values[name] = text
        if write.object:
            self._objects[write.object] = name
        return Change(name, TracedValue(text), "same" if is_same else "set", f"{name} = {text}")

    def _name_variable(self, event: RunEvent, write: PlaceWrite) -> str:
        """The variable of this frame that a write concerns."""
        place = write.place
        if place[0] in "aics":
            known = self._objects.get(_split_place(place)[0])
            if known is not None:
                return known
            label = (
                write.label if isinstance(write.label, str) else event.statement.writes[write.label]
            )
            return label.partition(".")[0].partition("[")[0]
        return place.partition(".")[2]

    def _list_changes_below(self, event: RunEvent) -> Iterator[Change]:
        """What the calls of a statement did to objects that variables of this frame hold."""
        if not event.children or not event.done:
            return
        new = {write.object for write in event.writes}
        for other in self._list_events_below(event):
            for write in other.writes:
                if other.raised is not None or write.place[0] not in "aic" or write.text is None:
                    continue
                number, part = _split_place(write.place)
                name, inner = self._find_holder(number)
                if not name or number in new:
                    continue
                if write.place[0] == "i" and _has_content(other, write.place):
                    continue
                text = f"{name}{inner}{part} = {write.text}"
                yield Change(name, TracedValue(write.text), "mutated", text)

    def _find_holder(self, number: int) -> tuple[str, str]:
        """The variable that holds an object, perhaps by way of others, and the way to it."""
        part = ""
        for _ in range(_MAX_DEPTH):
            if number in self._objects:
                return self._objects[number], part
            if number not in self._holders:
                break
            number, step = self._holders[number]
            part = step + part
        return "", ""

    def _list_events_below(self, event: RunEvent) -> Iterator[RunEvent]:
        waiting = list(event.children)
        count = 0
        while waiting and count < 2000:
            frame = self._run.frames.get(waiting.pop())
            for other in frame.events if frame is not None else ():
                if event.time < other.time < event.done:
                    count += 1
                    waiting.extend(n for n in other.children if n != other.frame.number)
                    yield other


def _split_detail(rounds: Sequence[Iteration]) -> tuple[list[Iteration], LoopRows | None]:
    """The first rounds in full, and the values of the others."""
    steps = 0
    for index, one in enumerate(rounds):
        if steps >= _FULL_STEPS and index >= _FULL_ROUNDS:
            break
        steps += _count_steps(one.steps)
    else:
        return list(rounds), None
    rest = rounds[index:]
    names = list(dict.fromkeys(name for one in rest for name in one.values))
    columns = {name: [one.values.get(name, "") for one in rest] for name in names}
    return list(rounds[:index]), LoopRows(rest[0].number, columns, [one.path for one in rest])


def _count_steps(items: Sequence[Step | LoopRun]) -> int:
    count = 0
    for item in items:
        count += 1 if isinstance(item, Step) else sum(_count_steps(one.steps) for one in item.kept)
    return count


def _keep_unusual(loop: LoopRun, rounds: Sequence[Iteration]) -> LoopRun:
    """Rounds that stand out are told in full, too."""
    if loop.rows is None:
        return loop
    kept = {one.number: one for one in loop.kept}
    for one in find_unusual(loop):
        full = rounds[one.number - 1]
        kept.setdefault(one.number, replace(full, remark=one.remark or full.remark))
    return replace(loop, kept=[kept[number] for number in sorted(kept)])


def _split_place(place: str) -> tuple[int, str]:
    """The number of an object, and which part of it."""
    digits = place[1:].partition(".")[0].partition("[")[0]
    return int(digits), place[1 + len(digits) :]


def _has_content(event: RunEvent, place: str) -> bool:
    content = "c" + place[1 : place.index("[")]
    return any(write.place == content for write in event.writes)
