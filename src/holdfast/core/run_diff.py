"""The first place where two recorded runs differ.

The trees of calls are walked side by side, in order of time. What a statement called is compared
before what it wrote, so a difference is found where it comes from. Subtrees that are equal are
passed over by one comparison. Where the source was changed, statements are matched by their
function's lines (`line_mapping`); that a changed statement ran is no difference, what it did is.
"""

from __future__ import annotations

import difflib
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from holdfast.core.collection_pause import without_collections
from holdfast.core.line_mapping import LineMapping
from holdfast.core.recorded_texts import mask_text
from holdfast.model.run_recording import (
    Parting,
    PlaceWrite,
    RunDifference,
    RunEvent,
    RunFrame,
    RunRecording,
    Side,
    StackCall,
)

Noise: TypeAlias = frozenset[tuple[str, int, str]]
"""Function, line and name of values that differ between two runs of the same program."""

_MAX_PARTINGS = 40
_MAX_KINDS = 5
_MAX_NOISE = 10_000
_MAX_STATE = 12
_MAX_ARGS = 80
_RESULT = "return"


def compare_runs(a: RunRecording, b: RunRecording, noise: Noise = frozenset()) -> RunDifference:
    """Where the runs differ first, and the first difference of each other kind after it."""
    chosen: dict[str, Parting] = {}
    with without_collections():
        comparison = _Comparison(a, b, noise)
        for parting in comparison.find(_MAX_PARTINGS):
            chosen.setdefault(parting.kind, parting)
    return RunDifference(list(chosen.values())[:_MAX_KINDS], comparison.list_remarks())


def find_noise(run: RunRecording, again: RunRecording) -> Noise:
    """What differs between two runs of the same program on the same input."""
    with without_collections():
        comparison = _Comparison(run, again, frozenset(), with_state=False)
        for _ in comparison.find(_MAX_NOISE):
            pass
    return frozenset(comparison.differing)


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two invocations that stand for each other."""

    a: RunFrame
    b: RunFrame
    outer: _Pair | None
    site: tuple[RunEvent, RunEvent] | None
    """The statements that called them."""


_Found: TypeAlias = Parting | _Pair


class _Comparison:
    """Walks the calls of two runs."""

    def __init__(
        self, a: RunRecording, b: RunRecording, noise: Noise, with_state: bool = True
    ) -> None:
        self._a, self._b, self._noise = a, b, noise
        self._with_state = with_state
        self._told: set[str] = set()
        """The kinds of differences of which one was found; of later ones, no state is told."""
        self._mapping = LineMapping(a, b)
        self._children = _list_children(a), _list_children(b)
        self._digests = _digest(a, self._children[0]), _digest(b, self._children[1])
        self.differing: set[tuple[str, int, str]] = set()
        """Every value that differs, as noise is named."""
        self._masked = 0
        self._unchanged: dict[str, None] = {}
        """Statements whose text was changed, and that did the same at least once."""
        self._effective: set[str] = set()
        """Statements whose text was changed, and that led to a difference."""
        self._threads = 1
        self._tests = tuple(run.header.get("node") for run in (a, b))
        """The test that a run is of, if it is the recording of one test."""

    def find(self, most: int) -> Iterator[Parting]:
        """Differences in order of time."""
        count = 0
        for found in self._match_roots():
            for parting in [found] if isinstance(found, Parting) else self._walk(found):
                self._told.add(parting.kind)
                yield parting
                count += 1
                if count >= most:
                    return

    def _walk(self, pair: _Pair) -> Iterator[Parting]:
        """Compare two calls and all below them; the stack is our own, because it may be deep."""
        stack = [self._compare(pair)]
        while stack:
            found = next(stack[-1], None)
            if found is None:
                stack.pop()
            elif isinstance(found, Parting):
                yield found
            elif self._digests[0][found.a.number] != self._digests[1][found.b.number]:
                stack.append(self._compare(found))

    # -- which calls stand for each other ----------------------------------------------------------

    def _match_roots(self) -> Iterator[_Found]:
        """The outermost invocations, thread by thread."""
        a, b = _group_roots(self._a), _group_roots(self._b)
        self._threads = max(len(a), len(b))
        names = [*a, *(name for name in b if name not in a)]
        for name in names:
            yield from self._match_sequence(a.get(name, []), b.get(name, []))

    def _match_sequence(self, a: Sequence[RunFrame], b: Sequence[RunFrame]) -> Iterator[_Found]:
        keys = [self._key(0, frame) for frame in a], [self._key(1, frame) for frame in b]
        matcher = difflib.SequenceMatcher(None, *keys, autojunk=False)
        for word, first, last, begin, end in matcher.get_opcodes():
            if word == "equal":
                for one, other in zip(a[first:last], b[begin:end], strict=True):
                    if self._digests[0][one.number] != self._digests[1][other.number]:
                        yield _Pair(one, other, None, None)
                continue
            only = self._leave_out_rest(a[first:last], b[begin:end])
            if any(only):
                yield self._part_roots(*only)

    def _leave_out_rest(
        self, a: Sequence[RunFrame], b: Sequence[RunFrame]
    ) -> tuple[Sequence[RunFrame], Sequence[RunFrame]]:
        """Where one run is of a single test, what only the other one did is no difference."""
        is_test_a, is_test_b = map(bool, self._tests)
        return (a if is_test_a or not is_test_b else (), b if is_test_b or not is_test_a else ())

    def _part_roots(self, a: Sequence[RunFrame], b: Sequence[RunFrame]) -> Parting:
        sides = [_describe_begin(frames[0]) if frames else None for frames in (a, b)]
        return Parting("calls", (), sides[0], sides[1])

    def _key(self, side: int, frame: RunFrame) -> tuple[str, str]:
        return frame.code.qualname, self._mapping.name_file(side, frame.code)

    # -- one call ----------------------------------------------------------------------------------

    def _compare(self, pair: _Pair) -> Iterator[_Found]:
        a, b = pair.a, pair.b
        if self._differ_arguments(a, b):
            site = self._describe_site(pair)
            sides = (_describe_begin(a, with_args=True), _describe_begin(b, with_args=True))
            yield Parting("arguments", _list_stack(pair), *sides, after=site)
        lines = self._mapping.find(a.code, b.code)
        targets = set(lines.values())
        i = j = 0
        last: tuple[RunEvent, RunEvent] | None = None
        while i < len(a.events) and j < len(b.events):
            x, y = a.events[i], b.events[j]
            wanted = lines.get(x.statement.line)
            if wanted is None and y.statement.line in targets:
                i += 1  # it was taken out; what came of that shows later
                last = (x, y)
                continue
            if wanted is not None and y.statement.line not in targets:
                j += 1  # it was put in
                last = (x, y)
                continue
            if wanted is not None and wanted != y.statement.line:
                yield self._part_ways(pair, x, y, last)
                return
            yield from self._compare_events(pair, x, y)
            last = (x, y)
            i, j = i + 1, j + 1
        yield from self._compare_ends(pair, i, j, last)

    def _compare_events(self, pair: _Pair, x: RunEvent, y: RunEvent) -> Iterator[_Found]:
        is_changed = x.statement.source != y.statement.source
        below = self._children[0][x.time], self._children[1][y.time]
        for one, other in zip(*below, strict=False):
            if not self._mapping.is_same_code(one.code, other.code):
                yield self._part(pair, "changed line" if is_changed else "calls", x, y)
                return
            yield _Pair(one, other, pair, (x, y))
        if x.done and y.done and len(below[0]) != len(below[1]):
            yield self._part(pair, "changed line" if is_changed else "calls", x, y)
        elif _mask(x.raised) != _mask(y.raised):
            yield self._part(pair, "raised", x, y)
        elif self._differ_writes(x, y):
            yield self._part(pair, "changed line" if is_changed else "value", x, y)
        elif is_changed:
            self._unchanged.setdefault(x.statement.source)

    def _differ_writes(self, x: RunEvent, y: RunEvent) -> bool:
        """Whether two executions of a statement left different values."""
        if x.raised is not None or not x.done or not y.done:
            return False
        one, other = _list_values(x), _list_values(y)
        function, line = x.frame.code.qualname, x.statement.line
        differing = [
            (function, line, name)
            for name in {**one, **other}
            if _mask(one.get(name)) != _mask(other.get(name))
        ]
        return self._note(differing)

    def _note(self, differing: Sequence[tuple[str, int, str]]) -> bool:
        """Whether any of these is more than noise."""
        self.differing.update(differing)
        known = [each for each in differing if each in self._noise]
        self._masked += len(known)
        return len(known) < len(differing)

    def _differ_arguments(self, a: RunFrame, b: RunFrame) -> bool:
        one, other = ({each.name: each.text for each in frame.args} for frame in (a, b))
        names = [name for name in one if name in other and _mask(one[name]) != _mask(other[name])]
        return self._note([(a.code.qualname, 0, name) for name in names])

    def _compare_ends(
        self, pair: _Pair, i: int, j: int, last: tuple[RunEvent, RunEvent] | None
    ) -> Iterator[_Found]:
        a, b = pair.a, pair.b
        lines = self._mapping.find(a.code, b.code)
        left = [event for event in a.events[i:] if event.statement.line in lines]
        right = [e for e in b.events[j:] if e.statement.line in set(lines.values())]
        if left or right:
            is_cut = "running" in (a.outcome, b.outcome)
            x = left[0] if left else None
            y = right[0] if right else None
            yield self._part_ways(pair, x, y, last, "end" if is_cut else "path")
        elif a.outcome != b.outcome or _mask(a.result) != _mask(b.result):
            yield from self._compare_results(pair)

    def _compare_results(self, pair: _Pair) -> Iterator[_Found]:
        a, b = pair.a, pair.b
        if a.outcome == "running" or b.outcome == "running":
            kind = "end"
        elif a.outcome == b.outcome == "returned":
            if not self._note([(a.code.qualname, 0, _RESULT)]):
                return
            kind = "outcome"
        else:
            kind = "raised"
        x, y = _find_last(self._a, a), _find_last(self._b, b)
        if kind == "outcome" and x and y and x.statement.source != y.statement.source:
            kind = "changed line"
            self._effective.add(x.statement.source)
        yield Parting(
            kind,
            _list_stack(pair),
            self._describe_end(0, a, x, kind),
            self._describe_end(1, b, y, kind),
        )

    # -- what is said ------------------------------------------------------------------------------

    def _part(self, pair: _Pair, kind: str, x: RunEvent, y: RunEvent) -> Parting:
        self._effective.add(x.statement.source)
        sides = [self._describe(0, x, kind), self._describe(1, y, kind)]
        return Parting(kind, _list_stack(pair), sides[0], sides[1])

    def _part_ways(
        self,
        pair: _Pair,
        x: RunEvent | None,
        y: RunEvent | None,
        last: tuple[RunEvent, RunEvent] | None,
        kind: str = "path",
    ) -> Parting:
        a = (
            self._describe(0, x, kind)
            if x is not None
            else self._describe_end(0, pair.a, None, kind)
        )
        b = (
            self._describe(1, y, kind)
            if y is not None
            else self._describe_end(1, pair.b, None, kind)
        )
        return Parting(kind, _list_stack(pair), a, b, self._describe_last(last))

    def _describe_last(self, last: tuple[RunEvent, RunEvent] | None) -> str | None:
        """The statement after which two runs went different ways."""
        if last is None:
            return None
        x, y = (event.statement for event in last)
        self._effective.add(x.source)
        text = f"{x.line} {x.source}"
        return text if x.source == y.source else f"{text} | {y.line} {y.source}"

    def _describe_site(self, pair: _Pair) -> str | None:
        """The statement that made a call; both, if it was changed."""
        if pair.site is None:
            return None
        x, y = (event.statement.source for event in pair.site)
        self._effective.add(x)
        return x if x == y else f"{x} | {y}"

    def _describe(self, side: int, event: RunEvent, kind: str) -> Side:
        statement = event.statement
        did = ""
        if event.raised is not None:
            did = f"raised {event.raised}"
        elif kind == "calls" or (kind == "changed line" and not event.writes):
            names = [frame.code.qualname for frame in self._children[side][event.time]]
            did = f"calls {', '.join(names)}" if names else "calls nothing that is recorded"
        values = {} if event.raised is not None else _list_values(event)
        state = self._find_state(side, event, kind)
        return Side(statement.file.path, statement.line, statement.source, did, values, state)

    def _describe_end(self, side: int, frame: RunFrame, event: RunEvent | None, kind: str) -> Side:
        event = event or (frame.events[-1] if frame.events else None)
        did = f"{frame.outcome} {frame.result}" if frame.result is not None else "has not ended"
        if event is None:
            return Side(frame.code.file.path, frame.code.first, "", did)
        statement = event.statement
        state = self._find_state(side, event, kind)
        return Side(statement.file.path, statement.line, statement.source, did, {}, state)

    def _find_state(self, side: int, event: RunEvent, kind: str) -> dict[str, str]:
        is_wanted = self._with_state and kind not in self._told
        return _list_state((self._a, self._b)[side], event) if is_wanted else {}

    def list_remarks(self) -> list[str]:
        remarks = [
            f"run {name}: {remark}"
            for name, run in (("a", self._a), ("b", self._b))
            for remark in run.remarks
        ]
        if any(self._tests) and not all(self._tests):
            remarks.append(f"only {next(filter(None, self._tests))} was compared")
        if self._threads > 1:
            remarks.append("threads were compared one by one, by their names")
        if self._masked:
            remarks.append(f"{self._masked} values differ from run to run, and were passed over")
        if unchanged := [text for text in self._unchanged if text not in self._effective]:
            shown = unchanged[:3]
            more = f" and {len(unchanged) - 3} more" if len(unchanged) > 3 else ""
            remarks.append("changed lines that did the same: " + "; ".join(shown) + more)
        versions = [run.header.get("python") for run in (self._a, self._b)]
        if versions[0] != versions[1]:
            remarks.append(f"the runs were made by Python {versions[0]} and {versions[1]}")
        return remarks


# -- recordings -----------------------------------------------------------------------------------


def _list_children(run: RunRecording) -> Mapping[int, list[RunFrame]]:
    """By the time of an event: the invocations that it began."""
    found: dict[int, list[RunFrame]] = defaultdict(list)
    for frame in run.frames.values():
        if frame.caller_time:
            found[frame.caller_time].append(frame)
    return found


def _group_roots(run: RunRecording) -> dict[str, list[RunFrame]]:
    """The outermost invocations of each thread, in order."""
    groups: dict[str, list[RunFrame]] = {}
    for frame in run.frames.values():
        if frame.caller_time not in run.events:
            groups.setdefault(run.threads.get(frame.thread, ""), []).append(frame)
    return groups


def _digest(run: RunRecording, children: Mapping[int, list[RunFrame]]) -> dict[int, int]:
    """By the number of an invocation: equal for those that did the same."""
    digests: dict[int, int] = {}
    for number in sorted(run.frames, reverse=True):  # callers have lower numbers
        frame = run.frames[number]
        parts: list[object] = [frame.code.qualname, frame.outcome, _mask(frame.result)]
        parts += [(argument.name, _mask(argument.text)) for argument in frame.args]
        for event in frame.events:
            below = tuple(digests.get(child.number, 0) for child in children.get(event.time, ()))
            writes = tuple((write.label, _mask(write.text)) for write in event.writes)
            parts.append((event.statement.source, writes, _mask(event.raised), below))
        digests[number] = hash(tuple(parts))
    return digests


def _mask(text: str | None) -> str | None:
    return None if text is None else mask_text(text)


def _list_values(event: RunEvent) -> dict[str, str]:
    """What a statement wrote, by the names that it has for it."""
    values: dict[str, str] = {}
    for write in event.writes:
        if write.place[0] == "s" or not isinstance(write.label, int):
            label = "" if write.place[0] == "s" else str(write.label)
        else:
            labels = event.statement.writes
            label = labels[write.label] if write.label < len(labels) else ""
            if write.place[0] == "i":
                label = label.partition("[")[0] + write.place[write.place.index("[") :]
        if label:
            values[label] = "deleted" if write.text is None else write.text
    return values


def _list_state(run: RunRecording, event: RunEvent) -> dict[str, str]:
    """The variables of an invocation when a statement of it began, as far as they are known."""
    frame = event.frame
    state = {argument.name: argument.text for argument in frame.args}
    objects = {argument.name: argument.object for argument in frame.args if argument.object}
    prefixes = (f"{frame.number}.", f"g{frame.namespace}.")
    own = prefixes[0] if frame.code.is_function else prefixes
    for time, other in run.events.items():
        if time >= event.time:
            break
        if time < frame.time or other.raised is not None:
            continue
        for write in other.writes:
            if write.place.startswith(own):
                _note_value(state, objects, write)
            elif write.place[0] == "c" and write.text is not None:  # changed in place
                for name in [n for n, number in objects.items() if write.place == f"c{number}"]:
                    state[name] = write.text
    return dict(list(state.items())[-_MAX_STATE:])


def _note_value(state: dict[str, str], objects: dict[str, int], write: PlaceWrite) -> None:
    """A variable is bound to another value, or deleted."""
    name = write.place.partition(".")[2]
    state.pop(name, None)
    objects.pop(name, None)
    if write.text is not None and not write.text.startswith(("<function", "<module")):
        state[name] = write.text
        if write.object:
            objects[name] = write.object


def _find_last(run: RunRecording, frame: RunFrame) -> RunEvent | None:
    return run.events.get(frame.result_time) or (frame.events[-1] if frame.events else None)


def _describe_begin(frame: RunFrame, with_args: bool = False) -> Side:
    code = frame.code
    lines = code.file.lines
    source = lines[code.first - 1].strip() if 0 < code.first <= len(lines) else ""
    values = {argument.name: argument.text for argument in frame.args} if with_args else {}
    did = "" if with_args else f"calls {code.qualname}"
    return Side(code.file.path, code.first, source, did, values)


def _list_stack(pair: _Pair) -> list[StackCall]:
    calls: list[StackCall] = []
    each: _Pair | None = pair
    while each is not None:
        frame = each.a
        args = ", ".join(f"{one.name}={one.text}" for one in frame.args)
        line = each.site[0].statement.line if each.site else frame.code.first
        path = each.site[0].statement.file.path if each.site else frame.code.file.path
        shown = args if len(args) <= _MAX_ARGS else args[: _MAX_ARGS - 3] + "..."
        calls.append(StackCall(frame.code.qualname, path, line, shown))
        each = each.outer
    return calls[::-1]
