"""What changed in the variables of a frame since a client was last shown them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from holdfast.model.stop import Stop
from holdfast.service.tools.reports import report_values
from holdfast.service.tools.reports.report_memory import SessionMemory, ShownFrame, ShownValue
from holdfast.service.tools.reports.report_values import Variable
from holdfast.wire.plain_text import cut

_MAX_DESCRIBED = 200
_MAX_VALUE = 60
_MODULE = "<module>"


@dataclass(frozen=True)
class Changes:
    """The variables of a frame, compared with what was shown of it."""

    new: dict[str, str] = field(default_factory=dict)
    """New and changed variables, as text."""
    was: dict[str, str] = field(default_factory=dict)
    """What the changed ones were before."""
    gone: list[str] = field(default_factory=list)
    unchanged: int = 0
    noise: Counter[str] = field(default_factory=Counter)
    """What a module defines and imports, if it is shown for the first time: how many of each."""


def note_variables(
    memory: SessionMemory, stop: Stop, variables: Sequence[Variable], *, is_full: bool = False
) -> Changes:
    """Note the variables of the frame that a program stopped in, and say what changed."""
    function = stop.location.function or "" if stop.location else ""
    noise: Counter[str] = Counter()
    if function == _MODULE:
        variables, noise = _drop_noise(variables)
    texts = report_values.show_all(variables)
    values = {
        name: ShownValue.of(text, variable.get("length"))
        for (name, text), variable in zip(texts.items(), variables, strict=True)
    }
    frame = _describe_frame(stop, function, values)
    key = stop.thread_id, stop.frame
    known = memory.find_frame(key)
    memory.note_frame(key, frame)
    if known is None or is_full or not _is_same_frame(known, frame, stop):
        return Changes(texts, noise=noise)
    return _compare(known.values, values, texts)


def _drop_noise(variables: Sequence[Variable]) -> tuple[list[Variable], Counter[str]]:
    kept, noise = [], Counter[str]()
    for variable in variables:
        noun = report_values.name_noise(variable)
        if noun is None:
            kept.append(variable)
        else:
            noise[noun] += 1
    return kept, noise


def _describe_frame(stop: Stop, function: str, values: dict[str, ShownValue]) -> ShownFrame:
    file = stop.location.file if stop.location else ""
    caller = (
        (str(stop.frames[1]["file"]), int(stop.frames[1]["line"]))
        if len(stop.frames) > 1
        else ("", 0)
    )
    return ShownFrame(file, function, len(stop.frames), caller, values)


def _is_same_frame(known: ShownFrame, frame: ShownFrame, stop: Stop) -> bool:
    """Whether this is the frame that was shown, and not a later one in its place.

    Python uses the memory of a frame that has returned for the next one. A call from elsewhere, a
    breakpoint on the function itself, and variables that are not assigned yet tell another call.
    """
    if (known.file, known.function) != (frame.file, frame.function):
        return False
    if known.caller != frame.caller or stop.reason == "function breakpoint":
        return False
    return stop.reason == "step" or not known.values.keys() - frame.values.keys()


def _compare(
    known: Mapping[str, ShownValue], values: Mapping[str, ShownValue], texts: Mapping[str, str]
) -> Changes:
    new = {name: text for name, text in texts.items() if values[name] != known.get(name)}
    return Changes(
        new,
        {name: known[name].text for name in new if name in known},
        [name for name in known if name not in values],
        len(texts) - len(new),
    )


def describe_changes(changes: Changes) -> str:
    """One line, such as `total 3 → 5, x = 2`. The report that it gets into hides secrets."""
    parts = []
    for name, value in changes.new.items():
        was = changes.was.get(name)
        if was is None:
            parts.append(f"{name} = {_shorten(value)}")
        else:
            before, after = _skip_common(was, value), _skip_common(value, was)
            parts.append(f"{name} {_shorten(before)} → {_shorten(after)}")
    if changes.gone:
        parts.append(f"{', '.join(changes.gone)} gone")
    return cut(", ".join(parts), _MAX_DESCRIBED)


def _skip_common(value: str, other: str) -> str:
    """A long value from shortly before the place where it differs from another one."""
    pairs = zip(value, other, strict=False)
    same = next((at for at, (one, two) in enumerate(pairs) if one != two), len(value))
    if len(value) <= _MAX_VALUE or same < _MAX_VALUE // 2:
        return value
    return f"…{value[max(0, same - _MAX_VALUE // 4) :]}"


def _shorten(value: str) -> str:
    return cut(value.replace("\n", " "), _MAX_VALUE)
