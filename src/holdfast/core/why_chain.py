"""Turns a slice into links: one for each statement that matters, nearest cause first."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from holdfast.core.run_index import Binding, RunIndex, Source, find_write
from holdfast.core.value_slice import Reached, Slice
from holdfast.model.run_recording import (
    PlaceWrite,
    RecordedStatement,
    RunEvent,
    RunFrame,
    WhyLink,
)

_COMMENT = re.compile(r"\s+#[^'\"]*$")
_MAX_READ = 4  # values that a link says it read
_MAX_WROTE = 4
_MAX_UNKNOWN = 5
_MAX_ORIGINS = 4
_MAX_SOURCE = 120
_MAX_ROUNDS = 4

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
        return max(times)


class ChainBuilder:
    """Builds the links of one slice."""

    def __init__(self, index: RunIndex, found: Slice) -> None:
        self._index = index
        self._run = index.run
        self._slice = found
        self._groups = self._group(sorted(found.reached.values(), key=_get_order))

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
            if isinstance(one.source, Binding):
                group.bindings.append(one.source)
            else:
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
        groups = [group for group in self._groups if not self._is_start(group, but)]
        chosen = groups
        if len(groups) > most:  # the nearest and the latest, in turns
            latest = sorted(groups, key=lambda group: -group.latest)
            picked: dict[int, _Group] = {}
            for near, late in zip(groups, latest, strict=True):
                picked.setdefault(id(near), near)
                picked.setdefault(id(late), late)
            kept = set(list(picked)[:most])
            chosen = [group for group in groups if id(group) in kept]
        return [self.build_link(group) for group in chosen], len(groups) - len(chosen)

    @staticmethod
    def _is_start(group: _Group, but: RunEvent | None) -> bool:
        return but is not None and group.event is but and len(group.events) < 2

    def describe(self, event: RunEvent) -> WhyLink:
        """The link of one statement."""
        group = next((each for each in self._groups if each.event is event), None)
        return self.build_link(group or _Group(event, 0.0, "value", [event]))

    def build_link(self, group: _Group) -> WhyLink:
        event = group.event
        own = next((each for each in group.events), None)
        shown = own or event
        wrote = dict(self._list_written(shown)) if own is not None else {}
        wrote = dict(self._slice.defaults.get(id(shown), wrote))
        if "entered" in wrote and 1 < len(group.events) <= _MAX_ROUNDS + 1:
            wrote["entered"] += self._describe_rounds(group.events, shown)
        given = [each for each in group.bindings if each.argument.name not in ("self", "cls")]
        for binding in given[:_MAX_WROTE]:
            name = f"{binding.frame.code.name}({binding.argument.name})"
            wrote.setdefault(name, binding.argument.text)
        relation = group.relation
        if shown.raised is not None:
            wrote["raised"] = shown.raised
        return WhyLink(
            file=shown.statement.file.path,
            line=shown.statement.line,
            function=shown.frame.code.qualname,
            source=cut_source(shown.statement),
            relation=relation,
            wrote=wrote,
            read=dict(self._list_read(shown)),
            times=max(1, len({each.time for each in group.events})),
            unknown=self._list_unknown_of(shown),
        )

    def _describe_rounds(self, events: Sequence[RunEvent], shown: RunEvent) -> str:
        """How the same test went in other rounds, with what it read there."""
        said: dict[str, None] = {}
        for event in events:
            if event is shown or event.branch is None or event.statement.kind == "for":
                continue
            read = ", ".join(
                f"{label}={text.rpartition(' (')[0]}" for label, text in self._list_read(event)
            )
            said[f"{'yes' if event.branch else 'no'} with {read}" if read else ""] = None
        return "".join(f"; {text}" for text in said if text)

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
        if statement.kind in ("if", "while", "for", "case") and event.branch is not None:
            yield "entered", "yes" if event.branch else "no"
        frame = event.frame
        is_result = statement.returns or frame.result != "None"
        if frame.result_time == event.time and frame.outcome == "returned" and is_result:
            yield "returned", frame.result or ""
        given = [value for value in frame.given if value.time == event.time]
        if given:
            yield "gave", given[-1].text

    def _list_read(self, event: RunEvent) -> Iterator[tuple[str, str]]:
        """Names and values that a statement read, with the lines that wrote them."""
        latest: dict[str, tuple[int, str]] = {}
        for place, known in zip(event.reads, event.statement.reads, strict=False):
            source = self._find_writer(place, event) if place else None
            if source is None:
                continue
            write = find_write(source, place) or _first_write(source)
            if write is None or _tells_nothing(write.text):
                continue
            label = known.label
            if known.kind == "turn" and "[" in place:
                label += place[place.index("[") :]
            # What a container holds was perhaps written later than the variable that it is in.
            if label not in latest or latest[label][0] < source.time:
                text = f"{_cut(write.text or '', 32)} ({_say_line(source, event)})"
                latest[label] = source.time, text
        yield from [(label, text) for label, (_, text) in latest.items()][:_MAX_READ]

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
        names = {name for frame in frames for name in _list_names(frame)}
        labels = {call: call.rpartition(".")[2] for call in event.statement.calls}
        called = names.intersection(labels.values())
        if any(not called.intersection(_list_names(frame)) for frame in frames):
            return []  # a decorated function, say: which call it was is not known
        return [call for call, name in labels.items() if name and name not in names | _PURE]

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
        event = group.event
        statement = event.statement
        place = f"{_base(statement.file.path)}:{statement.line}"
        for pattern, name in _INPUTS:
            if any(re.search(pattern, label) for label in statement.calls):
                return f"{name} ({place})"
        for pattern, name in _INPUT_PLACES:
            if any(re.search(pattern, read.label) for read in statement.reads):
                return f"{name} ({place})"
        if group.relation in ("called by", "which object", "not done") or statement.is_definition:
            return None
        if id(event) not in self._slice.ends or statement.kind in ("except", "try", "pass"):
            return None
        is_assignment = statement.kind in ("assign", "annassign", "augassign", "return")
        if is_assignment and not any((*event.reads, *event.bases)) and not statement.calls:
            return f"a constant ({place}: {_cut(cut_source(statement), 50)})"
        return None


def _list_names(frame: RunFrame) -> list[str]:
    """What a call of this code may be called: a class by its own name."""
    return frame.code.qualname.split(".")[-2:]


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
