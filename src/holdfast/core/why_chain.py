"""Turns a slice into links: one for each statement that matters, nearest cause first."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from holdfast.core.run_index import Binding, RunIndex, Source, find_write
from holdfast.core.value_slice import Reached, Slice
from holdfast.model.run_recording import (
    PlaceWrite,
    RecordedCode,
    RecordedStatement,
    RunEvent,
    WhyLink,
)

_COMMENT = re.compile(r"\s+#[^'\"]*$")
_CLASS = re.compile(r"\b([A-Z]\w*)\(")
_MAX_TEXT = 32  # characters of a value that was read
_MAX_READ = 4  # values that a link says it read
_MAX_WROTE = 4
_MAX_UNKNOWN = 5
_MAX_ORIGINS = 4
_MAX_SOURCE = 120
_MAX_ROUNDS = 4
_MAX_OTHERS = 3  # values of other rounds
_MAX_OTHER = 48  # characters of all of them

# Functions whose result depends on nothing but their arguments, and that change none of them.
_PURE_NAMES = """
    abs all any bin bool bytes callable chr complex dict divmod enumerate filter float format
    frozenset getattr hasattr hash hex int isinstance issubclass iter len list map max min next oct
    ord pow print range repr reversed round set sorted str sum super tuple type zip
    append appendleft add clear copy count decode discard encode endswith extend find get index
    insert isalpha isdigit items join keys lower lstrip partition pop popitem popleft remove replace
    rfind rpartition rsplit rstrip setdefault sort split splitlines startswith strip title union
    update upper values zfill
"""
_PURE = frozenset(_PURE_NAMES.split())
_INPUTS: Sequence[tuple[str, str]] = (
    (r"\binput$|\bstdin\b", "standard input"),
    (r"\bparse_args$", "the program's arguments"),
    (r"\benviron\b|\bgetenv$", "the environment"),
    (r"(^|\.)(open|read|readline|readlines|read_text|read_bytes|load)$", "a file"),
    (r"\b(time|now|today|utcnow|perf_counter|monotonic)$", "the clock"),
    (r"\b(random|randint|choice|uniform|shuffle|sample|urandom|uuid4|token_hex)$", "chance"),
    (r"\b(recv|urlopen|fetchone|fetchall|execute)$", "outside the program"),
)
_INPUT_PLACES: Sequence[tuple[str, str]] = (
    (r"\bsys\.stdin\b", "standard input"),
    (r"\bargv\b", "the program's arguments"),
    (r"\bos\.environ\b", "the environment"),
)


@dataclass
class _Group:
    """What the slice has of one statement."""

    event: RunEvent
    """The execution that is nearest to the value."""
    distance: float
    relation: str
    events: list[RunEvent] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)

    @property
    def latest(self) -> int:
        times = [event.time for event in self.events] + [each.time for each in self.bindings]
        return max(times, default=self.event.time)


class ChainBuilder:
    """Builds the links of one slice."""

    def __init__(self, index: RunIndex, found: Slice) -> None:
        self._index = index
        self._run = index.run
        self._slice = found
        self._groups = self._group(sorted(found.reached.values(), key=_get_order))
        self._recorded = {name for code in self._run.codes.values() for name in _list_names(code)}
        self._told: set[tuple[str, str]] = set()
        """Names and values that links say: others need not."""
        self._linked: set[int] = set()
        """By id: the executions that links stand for."""

    def _group(self, reached: Sequence[Reached]) -> list[_Group]:
        groups: dict[tuple[int, int], _Group] = {}
        for one in reached:
            site = self._find_site(one.source)
            if site is None or (site.statement.is_definition and one.relation != "argument"):
                continue
            key = (site.frame.code.number, site.statement.number)
            group = groups.get(key)
            if group is None:
                relation = "argument" if isinstance(one.source, Binding) else one.relation
                group = groups[key] = _Group(site, one.distance, relation)
            elif group.relation == "called by":
                group.relation = one.relation
            if isinstance(one.source, Binding):
                group.bindings.append(one.source)
            elif one.source.done <= self._slice.until:  # else it has written nothing yet
                group.events.append(one.source)
        return sorted(groups.values(), key=lambda group: group.distance)

    def _find_site(self, source: Source) -> RunEvent | None:
        """The statement that stands for a source: of an argument, the one that called."""
        if isinstance(source, RunEvent):
            return source
        return self._run.events.get(source.frame.caller_time)

    # -- links -------------------------------------------------------------------------------------

    def choose(self, most: int, but: RunEvent | None) -> tuple[list[WhyLink], int]:
        """The links that say most, nearest first, and how many are left out."""
        groups = [group for group in self._groups if not self._is_told_by_others(group, but)]
        chosen = groups
        if len(groups) > most:  # the nearest and the latest, in turns
            latest = sorted(groups, key=lambda group: -group.latest)
            picked: dict[int, _Group] = {}
            for near, late in zip(groups, latest, strict=True):
                picked.setdefault(id(near), near)
                picked.setdefault(id(late), late)
            kept = set(list(picked)[:most])
            chosen = [group for group in groups if id(group) in kept]
        self._linked = {id(event) for group in chosen for event in group.events} | {id(but)}
        for group in chosen:
            self._told.update(self._list_told(group))
        return [self._build_link(group) for group in chosen], len(groups) - len(chosen)

    def _is_told_by_others(self, group: _Group, start: RunEvent | None) -> bool:
        """The write that was asked about, a part of a statement, a last `return` of a name."""
        statement = group.event.statement
        if start is not None and group.event is start:
            return all(event is start for event in group.events)
        if group.event.frame.code.name == "<genexpr>":
            return True
        is_last = statement.parent < 0 and statement.exits < 0
        return is_last and _is_name_returned(group.event)

    def describe(self, event: RunEvent) -> WhyLink:
        """The link of one statement."""
        group = next((each for each in self._groups if each.event is event), None)
        if group is not None and not any(each is event for each in group.events):
            group = replace(group, events=[])  # it is under way
        return self._build_link(group or _Group(event, 0.0, "value", [event]))

    def _build_link(self, group: _Group) -> WhyLink:
        shown = next(iter(group.events), group.event)
        read = dict(self._list_untold(shown))
        wrote = self._describe_written(group, shown) if group.events else {}
        is_end = shown.frame.result_time == shown.time
        if is_end and ((not read and _is_name_returned(shown)) or self._is_result_told(shown)):
            wrote.pop("returned", None)
        given = [each for each in group.bindings if each.argument.name not in ("self", "cls")]
        for binding in given[:_MAX_WROTE]:
            name = f"{binding.frame.code.name}({binding.argument.name})"
            wrote.setdefault(name, binding.argument.text)
        return WhyLink(
            file=shown.statement.file.path,
            line=shown.statement.line,
            function=shown.frame.code.qualname,
            source=cut_source(shown.statement),
            relation=group.relation,
            wrote=wrote,
            read=read,
            times=max(1, len({each.time for each in group.events})),
            unknown=self._list_unknown_of(shown),
            frame=shown.frame.number,
            time=shown.time,
        )

    def _is_result_told(self, event: RunEvent) -> bool:
        """Whether the statement that called says what it got."""
        caller = self._run.events.get(event.frame.caller_time)
        if caller is None or id(caller) not in self._linked:
            return False
        return event.frame.result in [write.text for write in caller.writes]

    def _list_told(self, group: _Group) -> Iterator[tuple[str, str]]:
        if group.events:
            shown = group.events[0]
            yield from self._slice.defaults.get(id(shown), {}).items()
            wrote = dict(self._list_written(shown))
            yield from wrote.items()
            for name, texts in self._list_others(group.events, wrote).items():
                yield from ((name, text) for text in texts)

    def _describe_written(self, group: _Group, shown: RunEvent) -> dict[str, str]:
        """What a statement left, and what it left in other rounds."""
        if id(shown) in self._slice.defaults:
            return dict(self._slice.defaults[id(shown)])
        wrote = dict(self._list_written(shown))
        if "entered" in wrote and 1 < len(group.events) <= _MAX_ROUNDS + 1:
            wrote["entered"] += self._describe_rounds(group.events, shown)
        for name, others in self._list_others(group.events, wrote).items():
            wrote[name] += f" (also {', '.join(others)})"
        if shown.raised is not None:
            wrote["raised"] = shown.raised
        return wrote

    def _list_others(
        self, events: Sequence[RunEvent], wrote: Mapping[str, str]
    ) -> dict[str, list[str]]:
        """Other values that the statement left, where they are few and short."""
        others: dict[str, dict[str, None]] = {name: {} for name in wrote if name != "entered"}
        for event in events[1:]:
            if not others:
                break
            for name, text in self._list_written(event):
                if name in others and text != wrote[name]:
                    others[name][text] = None
                    if len(others[name]) > _MAX_OTHERS or sum(map(len, others[name])) > _MAX_OTHER:
                        del others[name]
        return {name: list(texts) for name, texts in others.items() if texts}

    def _describe_rounds(self, events: Sequence[RunEvent], shown: RunEvent) -> str:
        """How the same test went in other rounds, with what it read there and differs."""
        read = {
            id(event): {label: text for label, text, _ in self._list_read(event)}
            for event in events
            if event.branch is not None and event.statement.kind != "for"
        }
        first = read.pop(id(shown), {})
        differing = {
            label for each in read.values() for label in each if each[label] != first.get(label)
        }
        said: dict[str, None] = {}
        for event in events:
            values = read.get(id(event), {})
            names = [label for label in values if label in differing]
            if names:
                texts = [f"{name}={_cut(values[name], _MAX_TEXT)}" for name in names]
                said[f"; {'yes' if event.branch else 'no'} with {', '.join(texts)}"] = None
            elif id(event) in read and event.branch != shown.branch:
                said[f"; {'yes' if event.branch else 'no'} in other rounds"] = None
        return "".join(said)

    def _list_written(self, event: RunEvent) -> Iterator[tuple[str, str]]:
        """Names and values that a statement left, and what came of its test or call."""
        statement = event.statement
        count = 0
        for write in event.writes:
            if write.place[0] == "s" or _is_told_otherwise(event, write):
                continue
            label = _find_label(statement, write)
            if count < _MAX_WROTE and event.raised is None:
                yield label, "deleted" if write.text is None else write.text
            count += 1
        is_test = statement.kind in ("if", "while", "for", "case") and event.branch is not None
        if is_test and not (count and event.branch):
            yield "entered", "yes" if event.branch else "no"
        frame = event.frame
        is_result = statement.returns or (frame.result != "None" and not frame.given)
        if frame.result_time == event.time and frame.outcome == "returned" and is_result:
            yield "returned", frame.result or ""
        given = [value for value in frame.given if value.time == event.time]
        if given:
            yield "gave", given[-1].text

    def _list_untold(self, event: RunEvent) -> Iterator[tuple[str, str]]:
        """What a statement read, without what links say already."""
        for label, text, place in self._list_read(event):
            shown = _cut(text, _MAX_TEXT)
            if not self._told.intersection(((label, text), (label, shown))):
                self._told.add((label, shown))
                yield label, f"{shown} ({place})"

    def _list_read(self, event: RunEvent) -> list[tuple[str, str, str]]:
        """Names and values that a statement read, and where they were written."""
        latest: dict[str, tuple[int, str, str]] = {}
        for place, known in zip(event.reads, event.statement.reads, strict=False):
            source = self._find_writer(place, event) if place else None
            if source is None:
                continue
            write = find_write(source, place) or _first_write(source)
            text = self._find_text(write, place, event)
            if _tells_nothing(text):
                continue
            label = known.label
            if known.kind == "turn" and "[" in place:
                label += place[place.index("[") :]
            # What a container holds was perhaps written later than the variable that it is in.
            if label not in latest or latest[label][0] < source.time:
                latest[label] = source.time, text or "", _say_line(source, event)
        return [(label, text, place) for label, (_, text, place) in latest.items()][:_MAX_READ]

    def _find_text(self, write: PlaceWrite | None, place: str, reader: RunEvent) -> str | None:
        """What was read from a place; an object may hold more than when it was put there."""
        number = int(place[1:]) if place[0] == "c" else 0 if write is None else write.object
        held = self._index.find_text(number, reader.time) if number else None
        return held or (None if write is None else write.text)

    def _find_writer(self, place: str, event: RunEvent) -> Source | None:
        found = self._index.find_read_writes(place, event)
        return next((source for source in found if source is not event), None)

    # -- what is not known, and where it begins ----------------------------------------------------

    def _list_unknown_of(self, event: RunEvent) -> list[str]:
        statement = event.statement
        place = f"{_base(statement.file.path)}:{statement.line}"
        said = []
        for write in event.writes:
            if isinstance(write.label, str) and write.place[0] == "c":
                said.append(f"{write.label} was changed at {place} by code that is not recorded")
        if any(isinstance(read, str) and read.startswith("?.") for read in event.reads):
            name = next(r[2:] for r in event.reads if isinstance(r, str) and r.startswith("?."))
            said.append(
                f"which object's .{name} is read at {place}; the latest write of one is shown"
            )
        for call in self._list_unrecorded(event):
            said.append(f"what {call} does at {place}: its code is not recorded")
        return said

    def _list_unrecorded(self, event: RunEvent) -> list[str]:
        """The calls of a statement that no recorded frame stands for."""
        frames = [self._run.frames[n] for n in event.children if n in self._run.frames]
        names = {name for frame in frames for name in _list_names(frame.code)}
        labels = {call: call.rpartition(".")[2] for call in event.statement.calls}
        called = names.intersection(labels.values())
        if any(not called.intersection(_list_names(frame.code)) for frame in frames):
            return []  # a decorated function, say: which call it was is not known
        known = _PURE | self._recorded | _list_made(event)
        return [call for call, name in labels.items() if name and name not in known]

    def list_unknown(self) -> list[str]:
        """What could not be known, of the nearest first."""
        said: dict[str, None] = {}
        for group in self._groups:
            if group.relation in ("called by", "which object"):
                continue
            for text in self._list_unknown_of(group.event):
                said.setdefault(text)
        texts = list(said)[:_MAX_UNKNOWN]
        if self._run.dropped and self._is_cut():
            texts.append("what was before the recorded part of the run")
        return texts

    def _is_cut(self) -> bool:
        return any(id(one.source) in self._slice.ends for one in self._slice.reached.values())

    def list_origins(self) -> list[str]:
        """The inputs and constants that it begins with, nearest first."""
        said: dict[str, None] = {}
        for group in self._groups:
            origin = self._find_origin(group)
            if origin is not None:
                said.setdefault(origin)
        return list(said)[:_MAX_ORIGINS]

    def _find_origin(self, group: _Group) -> str | None:
        if group.relation == "called by":
            return None
        event = group.event
        statement = event.statement
        place = f"{_base(statement.file.path)}:{statement.line}"
        for pattern, name in _INPUTS:
            if any(re.search(pattern, label) for label in statement.calls):
                return f"{name} ({place})"
        for pattern, name in _INPUT_PLACES:
            if any(re.search(pattern, read.label) for read in statement.reads):
                return f"{name} ({place})"
        if group.relation in ("which object", "not done") or statement.is_definition:
            return None
        if id(event) not in self._slice.ends or statement.kind in ("except", "try", "pass"):
            return None
        is_assignment = statement.kind in ("assign", "annassign", "augassign", "return")
        if is_assignment and not any((*event.reads, *event.bases)) and not statement.calls:
            return f"a constant ({place}: {_cut(cut_source(statement), 50)})"
        return None


def _is_name_returned(event: RunEvent) -> bool:
    """`return price`: the write of `price` says it all."""
    name = event.statement.source.removeprefix("return ")
    is_name = name.isidentifier() and not keyword.iskeyword(name)  # `return None`
    return event.statement.returns and event.raised is None and is_name


def _list_names(code: RecordedCode) -> list[str]:
    """What a call of this code may be called: a class by its own name."""
    return code.qualname.split(".")[-2:]


def _list_made(event: RunEvent) -> set[str]:
    """Classes of objects that a statement made: their texts say what came of it."""
    texts = [event.raised, *(write.text for write in event.writes)]
    return {name for text in texts if text for name in _CLASS.findall(text)}


def cut_source(statement: RecordedStatement) -> str:
    return _cut(_COMMENT.sub("", statement.source), _MAX_SOURCE)


def _get_order(one: Reached) -> tuple[float, int]:
    return one.distance, -one.source.time


def _find_label(statement: RecordedStatement, write: PlaceWrite) -> str:
    if isinstance(write.label, str):
        return write.label
    label = statement.writes[write.label] if write.label < len(statement.writes) else "?"
    is_new = write.place[0] == "i" and not label.endswith("]")
    return label + write.place[write.place.index("[") :] if is_new else label


def _is_told_otherwise(event: RunEvent, write: PlaceWrite) -> bool:
    """A list that has grown is told as a whole, or if it is long, by what is new."""
    kind, place = write.place[0], write.place
    if kind not in "ic":
        return False
    number = place[1:].partition("[")[0]
    whole = next((each for each in event.writes if each.place == f"c{number}"), None)
    parts = [each for each in event.writes if each.place.startswith(f"i{number}[")]
    is_long = whole is not None and " more" in (whole.text or "")[-12:] and 0 < len(parts) <= 2
    return is_long if kind == "c" else whole is not None and not is_long


def _first_write(source: Source) -> PlaceWrite | None:
    if isinstance(source, Binding):
        return None
    return next((write for write in source.writes if write.place[0] != "s"), None)


def _tells_nothing(text: str | None) -> bool:
    return text in (None, "", "?") or str(text).startswith(("<function", "<class", "<module"))


def _say_line(source: Source, reader: RunEvent) -> str:
    if isinstance(source, Binding):
        return "argument"
    file = source.statement.file
    where = "" if file is reader.statement.file else f"{_base(file.path)} "
    return f"{where}line {source.statement.line}"


def _base(path: str) -> str:
    return path.replace("\\", "/").rpartition("/")[2]


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 3] + "..."
