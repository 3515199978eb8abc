"""Where a value came from, as the tool `debug_why` shows it."""

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
    *((120, 30), (80, 30), (60, 24), (50, 20), (40, 16), (40, 12), (32, 9)),
    *((28, 7), (24, 5), (20, 4), (16, 3), (12, 2), (8, 1), (6, 0)),
)
"""Characters of a value, and links."""


class WhyAssigned(msgspec.Struct, kw_only=True, omit_defaults=True):
    """The write that produced the value."""

    file: Annotated[str, Meta(description="Its file.")]
    line: Annotated[int, Meta(description="Its line.")]
    value: Annotated[str, Meta(description="What it wrote.")]
    source: Annotated[str, Meta(description="The statement.")] = ""


class WhyLinkShown(msgspec.Struct, kw_only=True, omit_defaults=True):
    """A statement that the value depends on."""

    line: Annotated[int, Meta(description="Its line.")]
    source: Annotated[str, Meta(description="The statement.")]
    file: Annotated[
        str | UnsetType, Meta(description="Its file, if it is not the one of `assigned`.")
    ] = UNSET
    wrote: Annotated[dict[str, str] | UnsetType, Meta(description="What it wrote.")] = UNSET
    read: Annotated[
        dict[str, str] | UnsetType, Meta(description="What it read, and the line that wrote that.")
    ] = UNSET
    relation: Annotated[
        str | UnsetType,
        Meta(description="`not done`: a test kept it, or something like it, from happening."),
    ] = UNSET
    times: Annotated[int | UnsetType, Meta(description="In how many rounds it matters.")] = UNSET


class WhyReport(ToolAnswer, kw_only=True, omit_defaults=True):
    """The write that produced a value, and what fed it, nearest first."""

    status: Annotated[str, Meta(description="What the program does now.")]
    trace_id: Annotated[str, Meta(description="The recording, for further questions.")]
    session_id: Annotated[str | UnsetType, Meta(description="The session of the run.")] = UNSET
    variable: Annotated[str | UnsetType, Meta(description="What was asked for.")] = UNSET
    hit: Annotated[int | UnsetType, Meta(description="Which time that line ran.")] = UNSET
    hits: Annotated[int | UnsetType, Meta(description="How often it ran.")] = UNSET
    value: Annotated[
        str | UnsetType, Meta(description="The value there, if `assigned` does not say it.")
    ] = UNSET
    assigned: Annotated[
        WhyAssigned | UnsetType, Meta(description="The write that produced it.")
    ] = UNSET
    links: Annotated[
        list[WhyLinkShown], Meta(description="What it came from, nearest cause first.")
    ] = field(default_factory=list, name="from")
    origins: Annotated[
        list[str] | UnsetType, Meta(description="Where it ends: inputs and constants.")
    ] = UNSET
    unknown: Annotated[
        list[str] | UnsetType, Meta(description="What could not be known, and why.")
    ] = UNSET
    remarks: Annotated[
        list[str] | UnsetType, Meta(description="What was not recorded, and why.")
    ] = UNSET
    omitted: Annotated[
        list[str] | UnsetType, Meta(description="What is left out, and how to see it.")
    ] = UNSET
    next: Annotated[str | UnsetType, Meta(description="What can be done next.")] = UNSET

    def to_text(self) -> str:
        return "\n".join(self._list_lines())

    def _list_lines(self) -> Iterator[str]:
        yield self._render_head()
        if self.assigned is not UNSET:
            one = self.assigned
            verb = "assigned" if self.variable is not UNSET else "raised"
            yield f"{verb} at {one.file}:{one.line}  {one.source}".rstrip()
        yield from map(_render_link, self.links)
        yield from (f"begins with {origin}" for origin in self.origins or ())
        yield from (f"not known: {reason}" for reason in self.unknown or ())
        yield from (f"note: {remark}" for remark in self.remarks or ())
        yield from render_omitted(self.omitted)
        if self.next is not UNSET:
            yield f"next: {self.next}"

    def _render_head(self) -> str:
        found = self.value if self.assigned is UNSET else self.assigned.value
        value = f" = {found}" if found else ""
        hit = f" hit {self.hit} of {self.hits}" if self.hits and self.hit is not UNSET else ""
        subject = self.variable if self.variable is not UNSET else "the exception"
        return f"why {subject}{value}{hit} · {self.status} · {self.trace_id}"

    def list_reductions(self) -> Sequence[WhyReport]:
        return [_reduce(self, chars, links) for chars, links in _SIZES]


def _render_link(link: WhyLinkShown) -> str:
    place = str(link.line) if link.file is UNSET else f"{link.file}:{link.line}"
    facts = [f"{name} = {value}" for name, value in (link.wrote or {}).items()]
    if link.read:
        facts.append("<- " + ", ".join(f"{name}={value}" for name, value in link.read.items()))
    if link.relation is not UNSET:
        facts.append(f"[{link.relation}]")
    if link.times is not UNSET:
        facts.append(f"x{link.times}")
    return f"{place} {link.source}" + (f"  # {' '.join(facts)}" if facts else "")


def _reduce(report: WhyReport, chars: int, most: int) -> WhyReport:
    left = len(report.links) - most
    omitted = list(report.omitted or ())
    if left > 0:
        omitted.append(f"{left} more lines: budget_tokens shows them")
    return msgspec.structs.replace(
        report,
        variable=change_set(report.variable, lambda text: shorten(text, max(20, chars))),
        value=change_set(report.value, lambda text: shorten(text, chars)),
        assigned=change_set(report.assigned, lambda one: _cut_assigned(one, chars)),
        links=[_cut_link(link, chars) for link in report.links[:most]],
        origins=_cut_lines(report.origins, chars, most),
        unknown=_cut_lines(report.unknown, chars, most),
        remarks=_cut_lines(report.remarks, chars, most),
        omitted=omitted[: max(1, most)] or UNSET,
        next=change_set(report.next, lambda text: shorten(text, max(40, chars))),
    )


def _cut_assigned(one: WhyAssigned, chars: int) -> WhyAssigned:
    source, value = shorten(one.source, 2 * chars), shorten(one.value, chars)
    file = cut_start(one.file, max(24, 2 * chars))
    return msgspec.structs.replace(one, file=file, source=source, value=value)


def _cut_link(link: WhyLinkShown, chars: int) -> WhyLinkShown:
    return msgspec.structs.replace(
        link,
        file=change_set(link.file, lambda path: cut_start(path, max(24, 2 * chars))),
        source=shorten(link.source, 2 * chars),
        wrote=change_set(link.wrote, lambda values: _cut_values(values, chars)),
        read=change_set(link.read, lambda values: _cut_values(values, chars)),
    )


def _cut_values(values: dict[str, str], chars: int) -> dict[str, str]:
    return {shorten(n, 40): shorten(value, chars) for n, value in list(values.items())[:4]}


def _cut_lines(lines: list[str] | UnsetType, chars: int, most: int) -> list[str] | UnsetType:
    if lines is UNSET:
        return UNSET
    return [shorten(line, max(40, 2 * chars)) for line in lines[: most // 3 + 1]] or UNSET
