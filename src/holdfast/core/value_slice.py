"""Where a value came from: a dynamic backward slice, at the level of statements.

From the write of a place, the walk goes back to what the statement read, to the arguments behind
parameters, to the return behind a call, and to the tests that led there. What was *not* done
explains a value, too: a test that kept another write from happening, and a statement that raised.
Each edge has a length; what is near explains most.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from holdfast.core.run_index import Binding, RunIndex, Source
from holdfast.model.run_recording import RunEvent, RunFrame, RunRecording

_MAX_SOURCES = 4000  # of one slice
_REPEATED = 0.4  # how much further each later round of the same statement is
_MAX_GIVEN = 6
_MAX_AHEAD = 200
_MAX_TESTS = 20
_CHOOSING = frozenset(("min", "max", "next", "pop", "popleft", "heappop", "choice"))
_LENGTHS = {
    "value": 1.0,
    "argument": 1.0,
    "content": 1.5,
    "returned": 1.0,
    "test": 1.5,
    "not done": 2.6,
    "raised": 0.5,
    "called by": 1.0,
    "which object": 3.0,
}


@dataclass(frozen=True, slots=True)
class Reached:
    """A statement or an argument that the value depends on."""

    source: Source
    distance: float
    relation: str


class Slice:
    """Everything that a value depends on, nearest first."""

    def __init__(self, index: RunIndex, start: Iterable[tuple[Source, str]], until: int) -> None:
        """`until`: when the value was looked at."""
        self._index = index
        self._run: RunRecording = index.run
        self.until = until
        self._queue: list[tuple[float, int, int, Source, str]] = []
        self._count = 0
        self._expanded: set[int] = set()
        self._led: set[int] = set()
        self._rounds: Counter[tuple[int, int]] = Counter()
        self.reached: dict[int, Reached] = {}
        self.ends: set[int] = set()
        """By id: sources that read nothing which recorded code wrote."""
        self.defaults: dict[int, dict[str, str]] = {}
        """By id of the event that defined a function: defaults that matter, as they were used."""
        for source, relation in start:
            self._push(0.0, source, relation)
        self._walk()

    def _push(self, distance: float, source: Source, relation: str) -> None:
        self._count += 1
        entry = (distance, -source.time, self._count, source, relation)
        heapq.heappush(self._queue, entry)

    def _walk(self) -> None:
        while self._queue and len(self.reached) < _MAX_SOURCES:
            distance, _, _, source, relation = heapq.heappop(self._queue)
            if self._is_known(source, relation):
                continue
            if id(source) not in self.reached:
                self.reached[id(source)] = Reached(source, distance, relation)
            for length, other, how in self._expand(source, relation):
                if id(other) not in self._expanded:
                    self._push(self._measure(source, distance) + length, other, how)

    def _is_known(self, source: Source, relation: str) -> bool:
        """Whether this was followed already, as a value or as the call that led somewhere."""
        if id(source) in self._expanded:
            return True
        if relation != "called by":
            return False
        is_known = id(source) in self._led
        self._led.add(id(source))
        return is_known

    def _measure(self, source: Source, distance: float) -> float:
        """The tenth round of a loop tells less than the first."""
        if isinstance(source, Binding):
            return distance
        key = (source.frame.code.number, source.statement.number)
        return distance + _REPEATED * (self._rounds[key] - 1)

    def _expand(self, source: Source, relation: str) -> Iterator[tuple[float, Source, str]]:
        if isinstance(source, Binding):
            self._expanded.add(id(source))
            yield from self._expand_binding(source)
            return
        self._rounds[source.frame.code.number, source.statement.number] += 1
        if relation != "called by":  # then only what led to the call matters
            self._expanded.add(id(source))
            yield from self._expand_values(source)
        yield from self._expand_tests(source)

    # -- values ------------------------------------------------------------------------------------

    def _expand_binding(self, binding: Binding) -> Iterator[tuple[float, Source, str]]:
        frame, argument = binding.frame, binding.argument
        caller = self._run.events.get(frame.caller_time)
        if argument.places is None:
            yield from self._expand_default(binding)
        for place in argument.places or ():
            found = self._find_argument_writes(place, binding, caller)
            for other in found:
                yield _LENGTHS["content" if place[0] == "c" else "argument"], other, "value"
        if caller is not None:
            yield _LENGTHS["called by"], caller, "called by"
            if argument.places:
                yield from self._expand_returned(caller, before=argument.time)

    def _find_argument_writes(
        self, place: str, binding: Binding, caller: RunEvent | None
    ) -> list[Source]:
        found = self._index.find_writes(place, binding.time)
        return [source for source in found if source is not caller]

    def _expand_default(self, binding: Binding) -> Iterator[tuple[float, Source, str]]:
        """A default was computed when the function was defined."""
        frame = binding.frame
        definition = frame.code.definition
        rounds = [
            event for event in self._index.list_all_rounds(definition) if event.time < frame.time
        ]
        if rounds:
            defaults = self.defaults.setdefault(id(rounds[-1]), {})
            defaults.setdefault(binding.argument.name, binding.argument.text)
            yield _LENGTHS["argument"], rounds[-1], "argument"

    def _expand_values(self, event: RunEvent) -> Iterator[tuple[float, Source, str]]:
        index, found_any = self._index, False
        for place in event.reads:
            if not place:
                continue
            for other in index.find_read_writes(place, event):
                if other is not event and not _is_definition(other):
                    found_any = True
                    yield _LENGTHS["content" if place[0] == "c" else "value"], other, "value"
                    yield from self._expand_left_alone(other, place, event.time)
            yield from self._expand_namesakes(place, event)
            yield from self._expand_chosen(place, event)
            for failed in index.find_failed(place, event.time):
                yield _LENGTHS["raised"] * 2, failed, "raised"
        returned = list(self._expand_returned(event))
        yield from returned
        # If nobody is known to have written what was read, it came with the object.
        how = "which object" if found_any or returned else "value"
        for place in event.bases:
            for other in index.find_read_writes(place, event) if place else ():
                if other is not event and not _is_definition(other):
                    yield _LENGTHS[how], other, how
        yield from self._expand_unused(event)
        if not found_any and not returned:
            self.ends.add(id(event))
        if event.raised is not None:
            yield from self._expand_raised(event)
        if event.statement.kind == "except":
            yield from self._expand_handler(event)

    def _expand_chosen(self, place: str, event: RunEvent) -> Iterator[tuple[float, Source, str]]:
        """`min(values)` and the like: where the chosen item came from."""
        if place[0] != "c" or not _CHOOSING.intersection(_last_names(event)):
            return
        for text in {write.text for write in event.writes if write.text}:
            for other in self._index.find_items(place[1:], text, event.time):
                yield _LENGTHS["value"] / 2, other, "value"

    def _expand_namesakes(self, place: str, event: RunEvent) -> Iterator[tuple[float, Source, str]]:
        """A variable of a module, and local ones of the same name that hide it elsewhere."""
        if place[0] == "g":
            for other in self._index.find_namesakes(place.partition(".")[2], event.time):
                yield _LENGTHS["which object"], other, "not done"

    def _expand_returned(
        self, event: RunEvent, before: int = 1 << 60
    ) -> Iterator[tuple[float, Source, str]]:
        """What the calls of a statement returned, unless that is thrown away."""
        unused = event.statement.unused
        for number in dict.fromkeys(event.children):
            frame = self._run.frames.get(number)
            if frame is None or frame.code.name == unused or frame.time > before:
                continue
            for other in self._find_returns(frame, event):
                yield _LENGTHS["returned"], other, "returned"

    def _find_returns(self, frame: RunFrame, event: RunEvent) -> list[RunEvent]:
        events = self._run.events
        if frame.code.name == "<module>" or not frame.code.is_function:
            return []
        times = [given.time for given in self._index.find_given(frame, event)]
        if frame.outcome == "returned" and frame.end and not frame.given:
            times.append(frame.result_time)
        elif not times and frame.events:  # it gave nothing: why it ended is the answer
            times.append(frame.result_time or frame.events[-1].time)
        given = [events[time] for time in times if time in events]
        # Of a generator that gave many: each line that gave one, and some of its rounds.
        chosen = {each.statement.number: each for each in given}
        step = max(1, len(given) // _MAX_GIVEN)
        some = [*chosen.values(), *given[::step]]
        return list(dict.fromkeys(some))[:_MAX_GIVEN]

    def _expand_raised(self, event: RunEvent) -> Iterator[tuple[float, Source, str]]:
        for number in event.children:
            frame = self._run.frames.get(number)
            if frame is not None and frame.outcome == "raised" and frame.events:
                yield _LENGTHS["raised"], frame.events[-1], "raised"
        handler = self._find_handler(event)
        if handler is not None:
            yield _LENGTHS["raised"], handler, "raised"

    def _find_handler(self, event: RunEvent) -> RunEvent | None:
        """The `except` that caught what a statement raised."""
        events = event.frame.events
        at = self._index.find_position(event)
        following = events[at + 1] if at + 1 < len(events) else None
        is_handler = following is not None and following.statement.kind == "except"
        return following if is_handler else None

    def _expand_handler(self, event: RunEvent) -> Iterator[tuple[float, Source, str]]:
        """What an `except` has caught."""
        events = event.frame.events
        for other in reversed(events[: self._index.find_position(event)][-_MAX_AHEAD:]):
            if other.raised is not None:
                yield _LENGTHS["raised"], other, "raised"
                return
            if other.statement.kind != "except":
                return

    # -- tests -------------------------------------------------------------------------------------

    def _expand_tests(self, event: RunEvent) -> Iterator[tuple[float, Source, str]]:
        index, statement, frame = self._index, event.statement, event.frame.number
        leading: RunEvent | None = None
        if statement.parent >= 0:
            leading = index.find_round(frame, statement.parent, event.time)
            if leading is not None:
                yield _LENGTHS["test"], leading, "test"
        if statement.exits >= 0:
            other = index.find_round(frame, statement.exits, event.time)
            if other is not None and (leading is None or other.time > leading.time):
                yield _LENGTHS["test"], other, "test"
        yield from self._expand_leaving(event)
        yield from self._expand_omitted(event)
        yield from self._expand_otherwise(event)
        caller = self._run.events.get(event.frame.caller_time)
        if caller is not None and leading is None:
            yield _LENGTHS["called by"] * 5, caller, "called by"

    def _expand_omitted(self, event: RunEvent) -> Iterator[tuple[float, Source, str]]:
        """Tests between the write and the read of a name that kept another write from happening."""
        statement, number = event.statement, event.frame.number
        names = {place.root: 0 for place in statement.reads if place.root}
        for name in names:
            names[name] = self._index.find_time(f"{number}.{name}", event.time)
        is_end = event.frame.result_time == event.time and event.frame.outcome == "returned"
        if is_end and not statement.returns:
            names["return"] = 0  # it fell off the end
        for name, written in names.items():
            for other in self._index.find_untaken(number, name, written, event.time):
                yield _LENGTHS["not done"], other, "not done"

    def _expand_left_alone(
        self, source: Source, place: str, before: int
    ) -> Iterator[tuple[float, Source, str]]:
        """Tests after the write of an object that kept its frame from changing it again."""
        if isinstance(source, Binding) or place[0] not in "aic":
            return
        labels = {_find_object_label(label) for label in source.statement.writes if "." in label}
        if not labels:
            return
        for other in self._index.list_tests(source.frame.number, source.time, before)[-_MAX_TESTS:]:
            if not other.branch and labels.intersection(other.statement.could):
                yield _LENGTHS["not done"], other, "not done"

    def _expand_unused(self, event: RunEvent) -> Iterator[tuple[float, Source, str]]:
        """A function that returns nothing: what it had and did not use."""
        frame = event.frame
        if frame.result_time != event.time or frame.result != "None":
            return
        read: set[str] = set()
        for other in reversed(frame.events):
            if other.time <= event.time and (
                self._has_unused_result(other) or self._has_unread_local(other, read)
            ):
                yield _LENGTHS["not done"], other, "not done"
            read.update(place for place in other.reads if isinstance(place, str))

    def _has_unused_result(self, event: RunEvent) -> bool:
        if not event.statement.unused:
            return False
        called = (self._run.frames.get(number) for number in event.children)
        return any(
            frame is not None and frame.outcome == "returned" and frame.result != "None"
            for frame in called
        )

    def _has_unread_local(self, event: RunEvent, read: set[str]) -> bool:
        """Whether it gave a variable a result that nobody read afterwards."""
        prefix = f"{event.frame.number}."
        places = [write.place for write in event.writes if write.place.startswith(prefix)]
        is_result = event.statement.kind == "assign" and bool(event.children)
        return is_result and bool(places) and event.raised is None and not read.intersection(places)

    def _expand_leaving(self, event: RunEvent) -> Iterator[tuple[float, Source, str]]:
        """The `break` that led out of a loop to here."""
        at = self._index.find_position(event)
        before = event.frame.events[at - 1] if at else None
        if before is not None and before.statement.kind in ("break", "continue"):
            yield _LENGTHS["test"], before, "test"

    def _expand_otherwise(self, event: RunEvent) -> Iterator[tuple[float, Source, str]]:
        """Other rounds in which the test that led here went the other way: the last of them."""
        statement = event.statement
        for test, wanted in ((statement.parent, 1), (statement.exits, 0)):
            known = self._run.statements.get(test)
            if known is None or known.kind not in ("if", "while"):
                continue
            frame = event.frame.number
            other = self._index.find_other_way(frame, test, wanted, self.until)
            if other is not None:
                yield _LENGTHS["not done"], other, "not done"
                yield from self._expand_body(other)

    def _expand_body(self, test: RunEvent) -> Iterator[tuple[float, Source, str]]:
        """What was done instead, if that left the block."""
        events = test.frame.events
        following = self._index.find_position(test) + 1
        if test.branch and following < len(events):
            yield _LENGTHS["not done"] * 1.5, events[following], "not done"


def _is_definition(source: Source) -> bool:
    """Every call reads the name of a function, and its definition explains nothing."""
    return isinstance(source, RunEvent) and source.statement.is_definition


def _last_names(event: RunEvent) -> list[str]:
    return [call.rpartition(".")[2] for call in event.statement.calls]


def _find_object_label(label: str) -> str:
    """`self.rows` of `self.rows[n]`."""
    return label.partition("[")[0]
