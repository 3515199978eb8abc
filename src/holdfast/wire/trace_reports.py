"""A frame trace as the tool `debug_trace` shows it: one invocation's whole life in one answer.

The text and the structure say the same. When they do not fit, long values are cut first, then
rounds of loops and then statements from the middle, and the answer says how many are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, overload

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from holdfast.wire import trace_text
from holdfast.wire.answer_room import change_set, shorten
from holdfast.wire.plain_text import cut_start
from holdfast.wire.tool_answers import ToolAnswer


class TraceEntry(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A statement that ran, or a whole loop, or a gap."""

    line: Annotated[int | UnsetType, Meta(description="Of a statement: where it begins.")] = UNSET
    changed: Annotated[
        dict[str, str] | UnsetType,
        Meta(description="Variables that it changed, also in place, and what they hold then."),
    ] = UNSET
    how: Annotated[
        list[str] | UnsetType,
        Meta(description="The changes in few words, such as `items + [4]`."),
    ] = UNSET
    calls: Annotated[
        list[str] | UnsetType, Meta(description="Calls that it made, with their results.")
    ] = UNSET
    taken: Annotated[
        bool | UnsetType, Meta(description="Of a test: whether its body was entered.")
    ] = UNSET
    raised: Annotated[str | UnsetType, Meta(description="The exception that ended it.")] = UNSET
    yielded: Annotated[str | UnsetType, Meta(description="What a generator gave here.")] = UNSET
    loop: Annotated[TraceLoop | UnsetType, Meta(description="A loop, all its rounds.")] = UNSET
    skipped: Annotated[
        int | UnsetType, Meta(description="A gap: so many statements and loops are left out.")
    ] = UNSET


class TraceRound(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One round of a loop."""

    number: Annotated[int, Meta(description="From 1 on.")]
    changed: Annotated[dict[str, str], Meta(description="The loop's variables at its end.")] = (
        field(default_factory=dict)
    )
    steps: Annotated[
        list[TraceEntry] | UnsetType,
        Meta(description="Its statements, if they were recorded and there is room."),
    ] = UNSET
    remark: Annotated[str | UnsetType, Meta(description="What is unusual about it.")] = UNSET


class TraceLoop(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A loop, folded: its first round, unusual ones, and the last one."""

    line: Annotated[int, Meta(description="The line of `for` or `while`.")]
    iterations: Annotated[int, Meta(description="How many rounds there were.")]
    first: Annotated[TraceRound | UnsetType, Meta(description="The first round.")] = UNSET
    last: Annotated[TraceRound | UnsetType, Meta(description="The last round.")] = UNSET
    unusual: Annotated[
        list[TraceRound] | UnsetType,
        Meta(description="Other rounds: few ones, or those where something new happened."),
    ] = UNSET
    values: Annotated[
        dict[str, str] | UnsetType,
        Meta(description="Its variables from before the loop to after it."),
    ] = UNSET
    paths: Annotated[
        list[str] | UnsetType,
        Meta(description="Which branches the rounds took, and how many took which."),
    ] = UNSET
    forgotten: Annotated[
        int | UnsetType, Meta(description="Rounds of which only the number was kept.")
    ] = UNSET


class TraceException(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The exception that ended the invocation."""

    type: Annotated[str, Meta(description="Its class.")]
    message: Annotated[str, Meta(description="As text.")]
    line: Annotated[int | UnsetType, Meta(description="Where in this function.")] = UNSET


class TraceReport(ToolAnswer, kw_only=True, omit_defaults=True):
    """One invocation of a function from its arguments to its end; or the calls of a whole run."""

    status: Annotated[str, Meta(description="What the program does now.")]
    trace_id: Annotated[str, Meta(description="The recording, for `trace`.")]
    session_id: Annotated[
        str | UnsetType, Meta(description="The session of the program, if it is known.")
    ] = UNSET
    exit_code: Annotated[int | UnsetType | None, Meta(description="How it ended.")] = UNSET
    function: Annotated[str | UnsetType, Meta(description="The function.")] = UNSET
    at: Annotated[str | UnsetType, Meta(description="Where it is defined: `file:line`.")] = UNSET
    call: Annotated[
        int | UnsetType, Meta(description="Which of its invocations this is, from 1 on.")
    ] = UNSET
    args: Annotated[dict[str, str] | UnsetType, Meta(description="Its arguments.")] = UNSET
    called_from: Annotated[
        list[str] | UnsetType, Meta(description="Who called it, innermost first.")
    ] = UNSET
    source: Annotated[
        dict[str, str] | UnsetType, Meta(description="The statements below, by their lines.")
    ] = UNSET
    steps: Annotated[list[TraceEntry] | UnsetType, Meta(description="What ran, in order.")] = UNSET
    result: Annotated[str | UnsetType, Meta(description="What it returned.")] = field(
        default=UNSET, name="return"
    )
    exception: Annotated[TraceException | UnsetType, Meta(description="What it raised.")] = UNSET
    now: Annotated[
        int | UnsetType, Meta(description="The line that it is at, if it has not ended.")
    ] = UNSET
    recorded: Annotated[
        list[str] | UnsetType,
        Meta(description="Calls in this recording that `call` or `go` can show."),
    ] = UNSET
    tree: Annotated[
        list[str] | UnsetType,
        Meta(description="Without a function: who called whom, how often, how long."),
    ] = UNSET
    found: Annotated[list[str] | UnsetType, Meta(description="Where the value of `find` is.")] = (
        UNSET
    )
    output: Annotated[str | UnsetType, Meta(description="The end of what the program wrote.")] = (
        UNSET
    )
    remarks: Annotated[
        list[str] | UnsetType, Meta(description="What was not recorded, and why.")
    ] = UNSET
    omitted: Annotated[
        list[str] | UnsetType, Meta(description="What is left out, and how to see it.")
    ] = UNSET
    next: Annotated[str | UnsetType, Meta(description="What can be done next.")] = UNSET

    def to_text(self) -> str:
        return "\n".join(trace_text.render(self))

    def list_reductions(self) -> Sequence[TraceReport]:
        return _Reductions(self)


# -- smaller ---------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Size:
    """How much of a trace is shown."""

    chars: int
    """Of a value."""
    rounds: int
    """Unusual rounds of each loop."""
    entries: int
    """Statements and loops at each level."""
    lines: int
    """Lines of each list beside them."""


_SIZES = (
    _Size(200, 8, 400, 40),
    _Size(100, 6, 200, 30),
    _Size(60, 6, 120, 20),
    _Size(60, 4, 80, 14),
    _Size(50, 4, 60, 12),
    _Size(40, 3, 48, 10),
    _Size(40, 3, 38, 8),
    _Size(40, 2, 30, 6),
    _Size(32, 2, 24, 5),
    _Size(32, 1, 19, 4),
    _Size(28, 1, 15, 3),
    _Size(24, 0, 12, 2),
    _Size(20, 0, 9, 2),
    _Size(20, 0, 7, 1),
    _Size(16, 0, 5, 1),
    _Size(12, 0, 4, 1),
    _Size(12, 0, 3, 0),
    _Size(8, 0, 2, 0),
    _Size(6, 0, 1, 0),
    _Size(4, 0, 0, 0),
)
_SHOW_MORE = "details: a larger budget_tokens shows them"


class _Reductions(Sequence[TraceReport]):
    """Makes each one when it is looked at."""

    def __init__(self, report: TraceReport) -> None:
        self._report = report

    def __len__(self) -> int:
        return len(_SIZES)

    @overload
    def __getitem__(self, index: int) -> TraceReport: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[TraceReport]: ...
    def __getitem__(self, index: int | slice) -> TraceReport | Sequence[TraceReport]:
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        return _reduce(self._report, _SIZES[index])


def _reduce(report: TraceReport, size: _Size) -> TraceReport:
    steps = change_set(report.steps, lambda entries: _reduce_entries(entries, size))
    source = change_set(report.source, lambda lines: _keep_source(lines, steps, size))
    omitted = [] if report.omitted is UNSET else list(report.omitted)
    return msgspec.structs.replace(
        report,
        function=change_set(report.function, lambda text: shorten(text, max(30, 2 * size.chars))),
        at=change_set(report.at, lambda text: cut_start(text, max(30, 2 * size.chars))),
        args=change_set(report.args, lambda values: _cut_values(values, size)),
        called_from=change_set(report.called_from, lambda lines: _cut_lines(lines, size)),
        source=source,
        steps=steps,
        result=change_set(report.result, lambda text: shorten(text, size.chars)),
        exception=change_set(report.exception, lambda error: _cut_exception(error, size)),
        recorded=change_set(report.recorded, lambda lines: _cut_lines(lines, size)),
        tree=change_set(report.tree, lambda lines: _cut_tree(lines, size)),
        found=change_set(report.found, lambda lines: _cut_lines(lines, size, 2)),
        output=change_set(report.output, lambda text: shorten(text, size.chars))
        if size.lines
        else UNSET,
        remarks=change_set(report.remarks, lambda lines: _cut_lines(lines, size)),
        omitted=list(dict.fromkeys([*omitted[: size.lines], _SHOW_MORE])),
        next=report.next if size.chars >= 40 else UNSET,
    )


def _cut_values(values: dict[str, str], size: _Size) -> dict[str, str]:
    most = max(2, size.entries // 3)
    name_chars = min(60, 4 * size.chars)
    return {
        shorten(name, name_chars): shorten(value, size.chars)
        for name, value in list(values.items())[:most]
    }


def _cut_lines(lines: list[str], size: _Size, factor: int = 1) -> list[str]:
    return [shorten(line, max(24, 2 * size.chars)) for line in lines[: factor * size.lines]]


def _cut_tree(lines: list[str], size: _Size) -> list[str]:
    """The first ones: a tree begins with those that took longest."""
    kept = [shorten(line, max(24, 2 * size.chars)) for line in lines[: size.entries]]
    left = len(lines) - len(kept)
    return kept + ([f"… {left} more"] if left else [])


def _cut_exception(error: TraceException, size: _Size) -> TraceException:
    return msgspec.structs.replace(
        error, type=shorten(error.type, 60), message=shorten(error.message, size.chars)
    )


def _reduce_entries(entries: Sequence[TraceEntry], size: _Size, level: int = 0) -> list[TraceEntry]:
    """The first and the last ones, and a gap in the middle; dull ones in the middle go first."""
    most = max(1, size.entries >> level) if size.entries else 0
    kept = _choose(entries, most)
    reduced: list[TraceEntry] = []
    gap = 0
    for index, entry in enumerate(entries):
        if index not in kept:
            gap += entry.skipped or 1
            continue
        if gap:
            reduced.append(TraceEntry(skipped=gap))
            gap = 0
        reduced.append(_reduce_entry(entry, size, level))
    return reduced + ([TraceEntry(skipped=gap)] if gap else [])


def _choose(entries: Sequence[TraceEntry], most: int) -> set[int]:
    """Which entries stay: those at the ends, and those where something happened."""
    if len(entries) <= most:
        return set(range(len(entries)))
    last = len(entries) - 1
    ranked = sorted(
        range(len(entries)),
        key=lambda index: (_rank(entries[index]), min(index, last - index)),
    )
    return set(ranked[:most])


def _rank(entry: TraceEntry) -> int:
    if entry.raised:
        return 0
    return 1 if entry.loop or entry.changed or entry.calls or entry.yielded else 2


def _reduce_entry(entry: TraceEntry, size: _Size, level: int) -> TraceEntry:
    return msgspec.structs.replace(
        entry,
        changed=change_set(entry.changed, lambda values: _cut_values(values, size)),
        how=change_set(entry.how, lambda words: [shorten(word, size.chars + 20) for word in words])
        if size.rounds
        else UNSET,
        calls=change_set(entry.calls, lambda lines: _cut_lines(lines, size)),
        raised=change_set(entry.raised, lambda text: shorten(text, size.chars)),
        yielded=change_set(entry.yielded, lambda text: shorten(text, size.chars)),
        loop=change_set(entry.loop, lambda loop: _reduce_loop(loop, size, level + 1)),
    )


def _reduce_loop(loop: TraceLoop, size: _Size, level: int) -> TraceLoop:
    unusual = change_set(loop.unusual, lambda rounds: _choose_rounds(rounds, size, level))
    return msgspec.structs.replace(
        loop,
        first=change_set(loop.first, lambda one: _reduce_round(one, size, level)),
        last=change_set(loop.last, lambda one: _reduce_round(one, size, level)),
        unusual=unusual or UNSET,
        values=change_set(loop.values, lambda values: _cut_values(values, size)),
        paths=change_set(loop.paths, lambda paths: _cut_lines(paths, size)),
    )


def _choose_rounds(rounds: Sequence[TraceRound], size: _Size, level: int) -> list[TraceRound]:
    ranked = sorted(range(len(rounds)), key=lambda index: (not rounds[index].remark, index))
    kept = sorted(ranked[: size.rounds])
    return [_reduce_round(rounds[index], size, level) for index in kept]


def _reduce_round(one: TraceRound, size: _Size, level: int) -> TraceRound:
    return msgspec.structs.replace(
        one,
        changed=_cut_values(one.changed, size),
        steps=change_set(one.steps, lambda entries: _reduce_entries(entries, size, level))
        if size.entries >> level
        else UNSET,
        remark=change_set(one.remark, lambda text: shorten(text, max(16, size.chars))),
    )


def _keep_source(
    lines: dict[str, str], steps: list[TraceEntry] | UnsetType, size: _Size
) -> dict[str, str]:
    """The statements that are still shown."""
    shown = list_lines([] if steps is UNSET else steps)
    most = max(12, 2 * size.chars)
    return {line: shorten(text, most) for line, text in lines.items() if int(line) in shown}


def list_lines(entries: Sequence[TraceEntry]) -> set[int]:
    """The lines that are shown of statements and loops."""
    lines: set[int] = set()
    for entry in entries:
        if entry.line is not UNSET:
            lines.add(entry.line)
        if entry.loop is not UNSET:
            loop = entry.loop
            lines.add(loop.line)
            for one in (loop.first, loop.last, *(loop.unusual or ())):
                if one is not UNSET and one.steps is not UNSET:
                    lines |= list_lines(one.steps)
    return lines
