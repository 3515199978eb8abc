"""Finds the writes of a recorded run: which statement gave a place what it held at some time."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from operator import attrgetter, itemgetter
from typing import TypeAlias

from holdfast.core.collection_pause import without_collections
from holdfast.model.run_recording import (
    GivenArgument,
    GivenValue,
    PlaceWrite,
    RunEvent,
    RunFrame,
    RunRecording,
)

_MAX_ITEMS = 4  # of a container whose latest writes are looked at
_get_time = attrgetter("time")


@dataclass(frozen=True, slots=True, eq=False)
class Binding:
    """A parameter that gets its value when a function is called."""

    frame: RunFrame
    argument: GivenArgument

    @property
    def time(self) -> int:
        return self.argument.time


Source: TypeAlias = RunEvent | Binding
"""What writes places."""


class RunIndex:
    """The writes of a run by place, and its events by frame and statement."""

    def __init__(self, run: RunRecording) -> None:
        self.run = run
        self._times: dict[str, list[int]] = defaultdict(list)
        self._sources: dict[str, list[Source]] = defaultdict(list)
        self._failed: dict[str, list[RunEvent]] = defaultdict(list)
        self._rounds: dict[tuple[int, int], list[RunEvent]] = defaultdict(list)
        self.tests: dict[int, list[RunEvent]] = defaultdict(list)
        """By frame: the tests and loops that could have written something."""
        self._by_statement: dict[int, list[RunEvent]] = defaultdict(list)
        self._item_texts: dict[str, dict[str, list[Source]]] = {}
        self._untaken: dict[int, dict[str, dict[int, list[RunEvent]]]] = {}
        self._other_ways: dict[tuple[int, int, int], list[RunEvent]] = {}
        with without_collections():
            self._add_all()

    def _add_all(self) -> None:
        ended: list[tuple[int, str, Source]] = []
        for event in self.run.events.values():
            statement = event.statement
            self._rounds[event.frame.number, statement.number].append(event)
            if statement.could:
                self.tests[event.frame.number].append(event)
            for write in event.writes:
                if event.raised is not None:
                    self._failed[write.place].append(event)
                elif event.done:
                    ended.append((event.done, write.place, event))
        for frame in self.run.frames.values():
            for argument in frame.args:
                place = f"{frame.number}.{argument.name}"
                ended.append((argument.time, place, Binding(frame, argument)))
        ended.sort(key=lambda entry: entry[0])
        for done, place, source in ended:
            self._add(place, done, source)
            if place[0] == "i":
                self._add(_any_item(place[1 : place.index("[")]), done, source)
            elif place[0] == "a":
                number, _, name = place[1:].partition(".")
                self._add("?." + name, done, source)
                self._add(_any_item(number), done, source)
            elif place[0] in "123456789" and isinstance(source, RunEvent):
                self._add("." + place.partition(".")[2], done, source)

    def _add(self, place: str, done: int, source: Source) -> None:
        self._times[place].append(done)
        self._sources[place].append(source)

    # -- writes ------------------------------------------------------------------------------------

    def has_writes(self, place: str) -> bool:
        return place in self._times

    def find_text(self, number: int, at: int) -> str | None:
        """What an object held at a time."""
        texts = self.run.texts.get(number, ())
        found = bisect_right(texts, at, key=itemgetter(0))
        return texts[found - 1][1] if found else None

    def find_latest(self, place: str, before: int) -> Source | None:
        """The last write of exactly this place that ended before a time."""
        at = bisect_left(self._times.get(place, ()), before)
        return self._sources[place][at - 1] if at else None

    def find_time(self, place: str, before: int) -> int:
        """When a place was last written before a time; 0 if it was not."""
        at = bisect_left(self._times.get(place, ()), before)
        return self._times[place][at - 1] if at else 0

    def find_writes(self, place: str, before: int) -> list[Source]:
        """What gave a place its content as of that time; several, if it has parts."""
        kind = place[0]
        latest = self.find_latest(place, before)
        if kind == "c":
            parts = self._find_newest(_any_item(place[1:]), before)
            return parts if latest is None else _unique([*parts, latest])
        if kind == "i":
            return self._find_item_writes(place, latest, before)
        if kind == "a" and latest is None:
            return self._find_class_writes(place, before)
        return [] if latest is None else [latest]

    def _find_item_writes(self, place: str, latest: Source | None, before: int) -> list[Source]:
        """Of an item; it may have been another one, and have moved."""
        number = place[1 : place.index("[")]
        moved = f"s{number}"
        source = self.find_latest(moved, before)
        if source is not None and self.find_time(moved, before) > self.find_time(place, before):
            return [source] if latest is None else _unique([source, latest])
        if latest is not None:
            return [latest]
        content = self.find_latest(f"c{number}", before)
        return [] if content is None else [content]

    def _find_class_writes(self, place: str, before: int) -> list[Source]:
        """Of an attribute of a class: its body wrote it."""
        number, _, name = place[1:].partition(".")
        frame = self.run.classes.get(int(number))
        latest = None if frame is None else self.find_latest(f"{frame}.{name}", before)
        return [] if latest is None else [latest]

    def _find_newest(self, place: str, before: int) -> list[Source]:
        """The last few statements that wrote a place."""
        at = bisect_left(self._times.get(place, ()), before)
        return (
            _unique(reversed(self._sources[place][max(0, at - 16) : at]))[:_MAX_ITEMS] if at else []
        )

    def find_read_writes(self, place: str, event: RunEvent) -> list[Source]:
        """What an event read from a place: written before it, or by what it called."""
        found = self.find_writes(place, event.time)
        if event.children and event.done:
            during = self.find_writes(place, event.done)
            found = _unique([*found, *(source for source in during if source is not event)])
        return found

    def find_failed(self, place: str, before: int) -> list[RunEvent]:
        """Statements that raised instead of writing a place, since it was last written."""
        events = self._failed.get(place)
        if not events:
            return []
        since = self.find_time(place, before)
        return [event for event in events if since < event.time < before][-1:]

    @staticmethod
    def end_of(source: Source) -> int:
        """When a source has written."""
        return source.time if isinstance(source, Binding) else source.done

    # -- events ------------------------------------------------------------------------------------

    def list_rounds(self, frame: int, statement: int) -> Sequence[RunEvent]:
        """The executions of one statement in one frame."""
        return self._rounds.get((frame, statement), ())

    def find_untaken(self, frame: int, name: str, after: int, before: int) -> list[RunEvent]:
        """Tests between two times that kept a name from being written: the last of each."""
        if frame not in self._untaken:
            self._untaken[frame] = self._list_untaken(frame)
        found = []
        for events in self._untaken[frame].get(name, {}).values():
            at = bisect_left(events, before, key=_get_time)
            if at and events[at - 1].time > after:
                found.append(events[at - 1])
        return found

    def _list_untaken(self, frame: int) -> dict[str, dict[int, list[RunEvent]]]:
        """By name and statement: tests that were not taken, and loops that had no round."""
        names: dict[str, dict[int, list[RunEvent]]] = defaultdict(lambda: defaultdict(list))
        last: dict[int, RunEvent] = {}
        for event in self.tests.get(frame, ()):
            statement = event.statement
            before = last.get(statement.number)
            last[statement.number] = event
            has_run = statement.kind == "for" and before is not None and before.branch
            if event.branch or has_run:
                continue
            for name in statement.could:
                names[name][statement.number].append(event)
        return names

    def find_other_way(
        self, frame: int, statement: int, branch: int, until: int
    ) -> RunEvent | None:
        """The last round of a test before a time in which it did not go this way."""
        key = (frame, statement, branch)
        if key not in self._other_ways:
            rounds = self.list_rounds(frame, statement)
            self._other_ways[key] = [event for event in rounds if (event.branch or 0) != branch]
        events = self._other_ways[key]
        at = bisect_left(events, until, key=_get_time)
        return events[at - 1] if at else None

    def find_items(self, number: str, text: str, before: int) -> list[Source]:
        """The last statement that put a value with this text into a container."""
        items = self._item_texts.get(number)
        if items is None:
            items = self._item_texts[number] = defaultdict(list)
            for source in self._sources.get(_any_item(number), ()):
                for write in source.writes if isinstance(source, RunEvent) else ():
                    if write.text and write.place.startswith(f"i{number}["):
                        items[write.text].append(source)
        found = [source for source in items.get(text, ()) if self.end_of(source) < before]
        return found[-1:]

    def find_namesakes(self, name: str, before: int) -> list[Source]:
        """Statements that wrote a local variable of this name: the last few."""
        return [
            source
            for source in self._find_newest("." + name, before)
            if isinstance(source, RunEvent)
        ]

    def list_tests(self, frame: int, after: int, before: int) -> Sequence[RunEvent]:
        """The tests of a frame between two times."""
        tests = self.tests.get(frame, ())
        first, last = (bisect_left(tests, time, key=_get_time) for time in (after, before))
        return tests[first:last]

    def list_all_rounds(self, statement: int) -> Sequence[RunEvent]:
        """The executions of a statement in all frames, in order."""
        if not self._by_statement:
            for event in self.run.events.values():
                self._by_statement[event.statement.number].append(event)
        return self._by_statement.get(statement, ())

    def find_position(self, event: RunEvent) -> int:
        """Where an event is among those of its frame."""
        return bisect_left(event.frame.events, event.time, key=_get_time)

    def find_round(self, frame: int, statement: int, before: int) -> RunEvent | None:
        """The last execution of a statement in a frame that began before a time."""
        rounds = self.list_rounds(frame, statement)
        at = bisect_left(rounds, before, key=_get_time)
        return rounds[at - 1] if at else None

    def find_next_round(self, event: RunEvent) -> int:
        """When the same statement begins again in the same frame."""
        rounds = self.list_rounds(event.frame.number, event.statement.number)
        at = bisect_left(rounds, event.time + 1, key=_get_time)
        return rounds[at].time if at < len(rounds) else 1 << 60

    def find_given(self, frame: RunFrame, event: RunEvent) -> list[GivenValue]:
        """What a generator gave while an event ran, or last before."""
        end = event.done or 1 << 60
        during = [given for given in frame.given if event.time < given.done < end]
        if during:
            return during
        before = [given for given in frame.given if given.done <= event.time]
        return before[-1:]


def _unique(sources: Iterable[Source]) -> list[Source]:
    return list({id(source): source for source in sources}.values())


def _any_item(number: str) -> str:
    """A name for all items of an object."""
    return f"i{number}"


def find_write(source: Source, place: str) -> PlaceWrite | None:
    """What an event wrote to a place."""
    if isinstance(source, Binding):
        argument = source.argument
        return PlaceWrite(place, argument.text, argument.name, argument.object)
    for write in source.writes:
        if write.place == place:
            return write
    return None
