"""The first place where two runs differ, as the tool `debug_diff` shows it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType, field

from holdfast.wire.answer_room import change_set, shorten
from holdfast.wire.answer_text import render_omitted
from holdfast.wire.plain_text import cut_start
from holdfast.wire.tool_answers import ToolAnswer

_SIZES = (
    *((200, 12, 6), (100, 10, 5), (60, 8, 4), (50, 6, 3), (40, 5, 2), (32, 4, 2)),
    *((24, 3, 1), (20, 2, 1), (16, 2, 0), (12, 1, 0), (8, 1, 0), (6, 0, 0)),
)
"""Characters of a value, values of a state, and further differences."""


class DiffSide(msgspec.Struct, kw_only=True, omit_defaults=True):
    """One run at the place where they differ."""

    at: Annotated[str, Meta(description="Where it is: `file:line`.")]
    source: Annotated[str, Meta(description="The statement.")] = ""
    did: Annotated[str, Meta(description="What it did there.")] = ""
    values: Annotated[dict[str, str], Meta(description="What the statement wrote.")] = field(
        default_factory=dict
    )
    state: Annotated[
        dict[str, str] | UnsetType, Meta(description="Variables of the frame there.")
    ] = UNSET


class Divergence(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A place where two runs differ."""

    kind: Annotated[
        str,
        Meta(description="value, path, arguments, calls, outcome, raised, changed line or end."),
    ]
    stack: Annotated[list[str], Meta(description="The calls that it is in, outermost first.")] = (
        field(default_factory=list)
    )
    a: Annotated[DiffSide | UnsetType, Meta(description="The first run there.")] = UNSET
    b: Annotated[DiffSide | UnsetType, Meta(description="The second run there.")] = UNSET
    after: Annotated[
        str | UnsetType, Meta(description="The statement that led there; both, if it was changed.")
    ] = UNSET


class DiffReport(ToolAnswer, kw_only=True, omit_defaults=True):
    """Where two runs differ first, with both states."""

    status: Annotated[str, Meta(description="`same` or `different`.")]
    run_a: Annotated[str, Meta(description="The recording of the first run.")]
    run_b: Annotated[str, Meta(description="The recording of the second run.")]
    titles: Annotated[list[str], Meta(description="What was run, first and second.")] = field(
        default_factory=list
    )
    first: Annotated[Divergence | UnsetType, Meta(description="The first difference.")] = UNSET
    others: Annotated[
        list[Divergence] | UnsetType, Meta(description="Later ones of other kinds.")
    ] = UNSET
    session_id: Annotated[
        str | UnsetType, Meta(description="The session of the second run, if it was made now.")
    ] = UNSET
    remarks: Annotated[
        list[str] | UnsetType, Meta(description="What was not compared, and why.")
    ] = UNSET
    omitted: Annotated[
        list[str] | UnsetType, Meta(description="What is left out, and how to see it.")
    ] = UNSET
    next: Annotated[str | UnsetType, Meta(description="What can be done next.")] = UNSET

    def to_text(self) -> str:
        return "\n".join(self._list_lines())

    def _list_lines(self) -> Iterator[str]:
        yield f"{self.status} · a = {self.run_a} · b = {self.run_b}"
        for name, title in zip("ab", self.titles, strict=False):
            yield f"{name}: {title}"
        if self.first is not UNSET:
            yield from _render_divergence(self.first, "first different")
        for one in self.others or ():
            yield from _render_divergence(one, "also different")
        yield from (f"note: {remark}" for remark in self.remarks or ())
        yield from render_omitted(self.omitted)
        if self.next is not UNSET:
            yield f"next: {self.next}"

    def list_reductions(self) -> Sequence[DiffReport]:
        return [_reduce(self, *size) for size in _SIZES]


def _render_divergence(one: Divergence, word: str) -> Iterator[str]:
    where = f" in {' > '.join(one.stack)}" if one.stack else ""
    yield f"{word}: {one.kind}{where}"
    if one.after is not UNSET:
        yield f"  after {one.after}"
    for name, side in (("a", one.a), ("b", one.b)):
        if side is not UNSET:
            yield f"  {name}: {_render_side(side)}"
            if side.state:
                values = ", ".join(f"{n} = {value}" for n, value in side.state.items())
                yield f"     with {values}"


def _render_side(side: DiffSide) -> str:
    facts = [f"{name} = {value}" for name, value in side.values.items()]
    facts += [side.did] if side.did else []
    return f"{side.at} {side.source}".rstrip() + (f"  # {'; '.join(facts)}" if facts else "")


def _reduce(report: DiffReport, chars: int, values: int, others: int) -> DiffReport:
    def cut(one: Divergence) -> Divergence:
        return _cut_divergence(one, chars, values)

    return msgspec.structs.replace(
        report,
        titles=[shorten(title, max(20, chars)) for title in report.titles] if values > 1 else [],
        first=change_set(report.first, cut),
        others=[cut(one) for one in (report.others or ())[:others]] or UNSET,
        remarks=[shorten(text, max(40, 2 * chars)) for text in (report.remarks or ())[:values]]
        or UNSET,
        omitted=[*(report.omitted or ())[:values], "details: a larger budget_tokens shows them"],
        next=report.next if chars >= 40 else UNSET,
    )


def _cut_divergence(one: Divergence, chars: int, values: int) -> Divergence:
    return msgspec.structs.replace(
        one,
        stack=[shorten(call, max(20, chars)) for call in one.stack[-values:]] if values else [],
        a=change_set(one.a, lambda side: _cut_side(side, chars, values)),
        b=change_set(one.b, lambda side: _cut_side(side, chars, values)),
        after=change_set(one.after, lambda text: shorten(text, max(30, chars)))
        if values
        else UNSET,
    )


def _cut_side(side: DiffSide, chars: int, values: int) -> DiffSide:
    def cut(shown: dict[str, str]) -> dict[str, str]:
        return {shorten(n, 40): shorten(v, chars) for n, v in list(shown.items())[:values]}

    return msgspec.structs.replace(
        side,
        at=cut_start(side.at, max(30, 2 * chars)),
        source=shorten(side.source, max(20, 2 * chars)),
        did=shorten(side.did, max(20, chars)) if values else "",
        values=cut(side.values),
        state=change_set(side.state, cut) or UNSET,
    )
