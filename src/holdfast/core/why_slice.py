"""Answers `why`: which write produced a value, and what fed it, in a few lines."""

from __future__ import annotations

import ast
import os
from collections.abc import Sequence
from dataclasses import replace

from holdfast.core.line_hits import list_hits
from holdfast.core.run_index import Binding, RunIndex, Source, find_write
from holdfast.core.value_slice import Slice
from holdfast.core.why_chain import ChainBuilder
from holdfast.model.run_recording import (
    PlaceWrite,
    RecordedFile,
    RunEvent,
    RunFrame,
    RunRecording,
    WhyChain,
    WhyLink,
)

MAX_LINES = 30
_HEAD_LINES = 2  # what was asked, and the write that produced it
_MAX_NAMED = 12


class NotExplained(Exception):
    """What was asked about is not in the recording; `hint` says what is."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint


class NeverRan(NotExplained):
    """The line that was asked about was not executed."""


def explain_value(
    run: RunRecording,
    file: str,
    line: int,
    name: str,
    hit: int = 1,
    max_lines: int = MAX_LINES,
    *,
    after: bool = False,
) -> WhyChain:
    """Why a variable has the value that it has when a line is about to run for the nth time.

    If it has none before and gets one on that line, the value after the line is meant, as always
    with `after`. A negative `hit` counts from the last.
    """
    index = RunIndex(run)
    hits = _find_hits(run, file, line)
    event = _choose_hit(hits, hit, file, line)
    asked = _Question(index, event, name, after)
    sources, _place, value = asked.find()
    number = hits.index(event) + 1
    found = Slice(index, [(source, "value") for source in sources], asked.until)
    chain = _build_chain(index, found, sources, max_lines, asked.unknown)
    first = sources[0]
    link = chain.assigned
    if link is not None:
        link = replace(link, name=name, value=value)
    if isinstance(first, Binding) and link is not None:
        link = replace(link, relation="argument")
    path = event.statement.file.path
    return replace(
        chain,
        assigned=link,
        name=name,
        value=value,
        file=path,
        line=line,
        hit=number,
        hits=len(hits),
    )


def explain_exception(run: RunRecording, max_lines: int = MAX_LINES) -> WhyChain:
    """Why the run ended by an exception: from the statement that raised it."""
    frame = _find_failed(run)
    if frame is None:
        raise NotExplained(
            "no exception ended the recorded code",
            "Name a variable and the line where it is wrong.",
        )
    event = _find_raise(run, frame)
    if event is None:
        raise NotExplained("the statement that raised the exception is not recorded")
    index = RunIndex(run)
    found = Slice(index, [(event, "raised")], event.done or event.time + 1)
    chain = _build_chain(index, found, [event], max_lines, [])
    link = chain.assigned
    if link is not None:
        link = replace(link, value=event.raised, relation="raised")
    return replace(
        chain,
        assigned=link,
        value=event.raised,
        file=event.statement.file.path,
        line=event.statement.line,
        hit=1,
        hits=1,
    )


def _build_chain(
    index: RunIndex, found: Slice, sources: Sequence[Source], max_lines: int, unknown: list[str]
) -> WhyChain:
    builder = ChainBuilder(index, found)
    first = sources[0]
    site = first if isinstance(first, RunEvent) else index.run.events.get(first.frame.caller_time)
    links, left_out = builder.choose(max(1, max_lines - _HEAD_LINES), site)
    assigned = builder.describe(site) if site is not None else _describe_argument(first)
    return WhyChain(
        links=links,
        assigned=assigned,
        origins=builder.list_origins(),
        unknown=[*unknown, *builder.list_unknown()],
        left_out=left_out,
    )


def _describe_argument(source: Source) -> WhyLink | None:
    """An argument that code outside the recording gave."""
    if not isinstance(source, Binding):
        return None
    code = source.frame.code
    lines = code.file.lines
    text = lines[code.first - 1].strip() if code.first <= len(lines) else ""
    return WhyLink(
        code.file.path,
        code.first,
        code.qualname,
        text,
        relation="argument",
        frame=source.frame.number,
    )


# -- where ----------------------------------------------------------------------------------------


def find_file(run: RunRecording, file: str) -> RecordedFile | None:
    """The recorded file that a path or a part of one means."""
    wanted = os.path.normpath(file)
    files = list(run.files.values())
    for one in files:
        if os.path.normpath(one.path) == wanted:
            return one
    suffix = os.sep + wanted.lstrip("./" + os.sep)
    same = [one for one in files if os.path.normpath(one.path).endswith(suffix)]
    if not same:
        base = os.path.basename(wanted)
        same = [one for one in files if os.path.basename(one.path) == base]
    return same[0] if same else None


def _find_hits(run: RunRecording, file: str, line: int) -> list[RunEvent]:
    known = find_file(run, file)
    if known is None:
        names = ", ".join(sorted(os.path.basename(one.path) for one in run.files.values()))
        raise NeverRan(
            f"no code of {file} was recorded", f"Recorded files: {names}." if names else ""
        )
    hits = list_hits(run, known, line)
    if hits:
        return hits
    raise NeverRan(
        f"line {line} of {os.path.basename(known.path)} was not executed",
        _say_nearest(run, known, line),
    )


def _say_nearest(run: RunRecording, file: RecordedFile, line: int) -> str:
    lines = {event.statement.line for event in run.events.values() if event.statement.file is file}
    nearest = sorted(sorted(lines, key=lambda other: abs(other - line))[:6])
    said = ", ".join(str(other) for other in nearest)
    return f"Executed lines nearby: {said}." if said else "None of its lines was recorded."


def _choose_hit(hits: Sequence[RunEvent], hit: int, file: str, line: int) -> RunEvent:
    place = hit - 1 if hit > 0 else hit
    if hit == 0 or not -len(hits) <= place < len(hits):
        raise NotExplained(
            f"{os.path.basename(file)}:{line} was executed {len(hits)} times, hit {hit} is not one",
            f"Hits are 1 to {len(hits)}; -1 is the last.",
        )
    return hits[place]


# -- what -----------------------------------------------------------------------------------------


class _Question:
    """A variable, or a part of one, as an event sees it."""

    def __init__(self, index: RunIndex, event: RunEvent, name: str, after: bool) -> None:
        self._index = index
        self._event = event
        self._name = name
        self.until = (event.done or event.time) + 1 if after else event.time
        self.unknown: list[str] = []

    def find(self) -> tuple[list[Source], str, str]:
        """The writes that produced the value, their place, and its text."""
        try:
            node: ast.expr = ast.parse(self._name.strip(), mode="eval").body
        except (SyntaxError, ValueError):
            raise NotExplained(f"{self._name} is no variable, attribute or item") from None
        parts = _split(node)
        if parts is None:
            raise NotExplained(
                f"{self._name} is no variable, attribute or item",
                "Ask for one of the variables in it.",
            )
        root, steps = parts
        sources, place = self._find_root(root)
        for step in steps:
            sources, place = self._find_part(sources, place, step)
        return self._add_changes(sources, place)

    def _add_changes(self, sources: list[Source], place: str) -> tuple[list[Source], str, str]:
        """What the object holds may have been written after the variable that it is in."""
        write = find_write(sources[0], place)
        text = _text_of(write)
        if write is None or not write.object:
            return sources, place, text
        text = self._index.find_text(write.object, self.until) or text
        content = f"c{write.object}"
        changes = [
            source
            for source in self._index.find_writes(content, self.until)
            if self._index.end_of(source) > self._index.end_of(sources[0])
        ]
        if not changes:
            return sources, place, text
        latest = max(changes, key=self._index.end_of)
        ordered = [latest, *(source for source in changes if source is not latest)]
        return [*ordered, *sources], content, text

    def _find_root(self, name: str) -> tuple[list[Source], str]:
        event = self._event
        for place in _list_places(event.frame, name):
            found = self._index.find_writes(place, self.until)
            if found:
                return found, place
        for write in event.writes:
            if event.raised is None and write.place in _list_places(event.frame, name):
                self.until = event.done or event.time + 1
                return [event], write.place
        raise NotExplained(self._say_missing(name), self._say_names())

    def _find_part(
        self, sources: list[Source], place: str, step: tuple[str, str]
    ) -> tuple[list[Source], str]:
        kind, key = step
        write = find_write(sources[0], place)
        number = write.object if write is not None else 0
        if number:
            part = f"a{number}.{key}" if kind == "attr" else f"i{number}[{key}]"
            found = self._index.find_writes(part, self.until)
            if found:
                return found, part
        label = f".{key}" if kind == "attr" else f"[{key}]"
        self.unknown.append(
            f"no recorded statement wrote {label} of it; what produced the object is shown"
        )
        return sources, place

    def _say_missing(self, name: str) -> str:
        event = self._event
        where = f"{os.path.basename(event.statement.file.path)}:{event.statement.line}"
        raised = next((w for w in event.writes if w.place in _list_places(event.frame, name)), None)
        if raised is not None and event.raised is not None:
            return f"{name} has no value at {where}: the line raised {event.raised}"
        return f"{name} has no recorded value at {where}"

    def _say_names(self) -> str:
        frame, before = self._event.frame, self._event.time
        names = {argument.name for argument in frame.args}
        prefix = f"{frame.number}."
        for event in frame.events:
            if event.time < before and event.raised is None:
                names.update(
                    write.place.partition(".")[2]
                    for write in event.writes
                    if write.place.startswith(prefix)
                    or write.place.startswith(f"g{frame.namespace}.")
                )
        said = ", ".join(sorted(names)[:_MAX_NAMED])
        return f"Known there: {said}." if said else "No variable is known there."


def _list_places(frame: RunFrame, name: str) -> list[str]:
    """Where a variable of this name may be, as a frame sees it."""
    places = [f"{frame.number}.{name}"]
    if name in frame.homes:
        places.append(f"{frame.homes[name]}.{name}")
    return [*places, f"g{frame.namespace}.{name}"]


def _split(node: ast.expr) -> tuple[str, list[tuple[str, str]]] | None:
    """The variable, and the attributes and items that follow it."""
    steps: list[tuple[str, str]] = []
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute):
            steps.insert(0, ("attr", node.attr))
        elif isinstance(node, ast.Subscript):
            try:
                steps.insert(0, ("item", repr(ast.literal_eval(node.slice))))
            except ValueError:
                return None
        else:
            return None
        node = node.value
    return node.id, steps


def _text_of(write: PlaceWrite | None) -> str:
    if write is None:
        return "?"
    return "deleted" if write.text is None else write.text


# -- the exception that ended the run --------------------------------------------------------------


def _find_failed(run: RunRecording) -> RunFrame | None:
    """The outermost invocation that an exception has left, the last one."""
    failed = [frame for frame in run.frames.values() if frame.outcome == "raised"]
    outer = [frame for frame in failed if _is_outermost(run, frame)]
    return max(outer, key=lambda frame: frame.end, default=None)


def _is_outermost(run: RunRecording, frame: RunFrame) -> bool:
    caller = run.frames.get(frame.caller)
    return caller is None or caller.outcome != "raised"


def _find_raise(run: RunRecording, frame: RunFrame) -> RunEvent | None:
    """The statement that raised it first, in the innermost invocation."""
    for _ in range(len(run.frames) + 1):
        event = next((e for e in reversed(frame.events) if e.raised is not None), None)
        if event is None:
            return None
        inner = [run.frames[number] for number in event.children if number in run.frames]
        raised = [
            each for each in inner if each.outcome == "raised" and each.result == event.raised
        ]
        if not raised or not raised[-1].events:
            return event
        frame = raised[-1]
    return None
