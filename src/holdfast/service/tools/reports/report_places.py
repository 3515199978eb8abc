"""Where a program stopped: the source around it, and the callers; only what is news."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from holdfast.model.location import Location
from holdfast.model.stop import Described, Stop
from holdfast.service.programs.source_files import SourceFiles
from holdfast.service.tools.reports.report_context import ReportContext
from holdfast.service.tools.reports.report_memory import SessionMemory
from holdfast.wire.plain_text import clean, clean_line, cut

_FULL_CONTEXT_LINES = 3
_CONTEXT_LINES = 2
_MAX_LINE = 160
_MAX_CALLERS = 8
MAX_SNAPSHOT_FRAMES = 20
"""How many frames come with a stop."""

Callers = tuple[tuple[str, str, int], ...]


# -- source ---------------------------------------------------------------------------------------


def count_lines_around(memory: SessionMemory, place: Location, *, is_full: bool = False) -> int:
    """How many lines before and after the current one are news."""
    if is_full:
        return _FULL_CONTEXT_LINES
    return 0 if memory.has_shown_near(place) else _CONTEXT_LINES


def show_source(sources: SourceFiles, file: str, line: int, around: int) -> list[str]:
    """The lines around one, with their numbers; `>` marks it. Indentation in common is left out."""
    if around == 0:
        text = sources.line(file, line)
        return [] if text is None else _number_lines([(line, text)], line)
    source = sources.get(file)
    if source is None or not 1 <= line <= len(source.text):
        return []
    first, last = max(1, line - around), min(len(source.text), line + around)
    while first < line and not source.text[first - 1].strip():
        first += 1
    while last > line and not source.text[last - 1].strip():
        last -= 1
    return _number_lines([(n, source.text[n - 1]) for n in range(first, last + 1)], line)


def show_lines(sources: SourceFiles, file: str, first: int, last: int, current: int) -> list[str]:
    """A range of lines, with their numbers; `>` marks the current one if it is among them."""
    source = sources.get(file)
    if source is None or first > len(source.text):
        return []
    numbers = range(max(1, first), min(len(source.text), last) + 1)
    return _number_lines([(number, source.text[number - 1]) for number in numbers], current)


def _number_lines(lines: Sequence[tuple[int, str]], current: int) -> list[str]:
    texts = [clean(text.expandtabs(4).rstrip()).replace("\n", " ") for _number, text in lines]
    indent = min((len(text) - len(text.lstrip()) for text in texts if text), default=0)
    width = len(str(lines[-1][0]))
    numbered = []
    for (number, _text), text in zip(lines, texts, strict=True):
        mark = ">" if number == current else " "
        numbered.append(f"{mark} {number:{width}}  {cut(text[indent:], _MAX_LINE)}".rstrip())
    return numbered


# -- callers --------------------------------------------------------------------------------------


def list_callers(stop: Stop) -> Callers:
    return tuple((str(f["file"]), name_function(f), int(f["line"])) for f in stop.frames[1:])


def name_function(frame: Mapping[str, Any]) -> str:
    return clean_line(str(frame.get("qualname") or frame["name"]))


def show_callers(stop: Stop, context: ReportContext) -> list[str]:
    """The callers of a stop, innermost first, if they are news.

    Frames of libraries are counted, a function that calls itself stands once.
    """
    callers = list_callers(stop)
    known = None if context.is_full else context.memory.callers
    if not callers or (known is not None and _are_known(callers, known)):
        return []
    frames = list(stop.frames[1:])
    if all(frame.get("library") for frame in frames):
        return []  # what called a test says nothing
    if known and _are_same(callers[1:], known):
        return [*_show_frames(frames[:1], context), "… as before"]
    shown = list(_show_frames(frames, context))
    is_cut = len(stop.frames) == MAX_SNAPSHOT_FRAMES
    if len(shown) > _MAX_CALLERS and not context.is_full:
        more = "and more" if is_cut else f"{len(shown) - _MAX_CALLERS} more"
        return [*shown[:_MAX_CALLERS], f"… {more}"]
    is_told = bool(frames[-1].get("library"))  # that there are others, which do not matter
    return [*shown, "… and more"] if is_cut and not is_told else shown


def _are_known(callers: Callers, known: Callers) -> bool:
    """Whether these are the callers that were shown, or some of them: it has returned."""
    return any(_are_same(callers, known[start:]) for start in range(len(known)))


def _are_same(callers: Callers, known: Callers) -> bool:
    """Whether these are the same callers. Of a deep stack only the nearest are known."""
    if len(callers) == len(known):
        return callers == known
    shared = min(len(callers), len(known))
    is_cut = max(len(callers), len(known)) == MAX_SNAPSHOT_FRAMES - 1
    return is_cut and shared > _MAX_CALLERS and callers[:shared] == known[:shared]


def _show_frames(frames: Sequence[Described], context: ReportContext) -> Iterator[str]:
    at = 0
    while at < len(frames):
        count = _count_alike(frames, at)
        frame = frames[at]
        if frame.get("library") and count > 1:
            yield f"… {count} library frames"
        else:
            times = f" ×{count}" if count > 1 else ""
            place = context.show_place(str(frame["file"]), int(frame["line"]))
            yield f"{cut(name_function(frame), 80)}{times} {place}"
        at += count


def _count_alike(frames: Sequence[Described], at: int) -> int:
    """How many frames from here on are told in one: of libraries, or of one function."""
    first = frames[at]
    key = _key_of(first)
    count = 1
    while at + count < len(frames) and _key_of(frames[at + count]) == key:
        count += 1
    return count


def _key_of(frame: Described) -> object:
    return "library" if frame.get("library") else (frame["file"], frame["name"])
