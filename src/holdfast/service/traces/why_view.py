"""Where a value came from, as pages show it: each statement leads to its call and rounds."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from msgspec import UNSET

from holdfast import errors
from holdfast.core.breakpoint_places import is_line, parse_place
from holdfast.core.run_loops import find_rounds
from holdfast.model.run_recording import RunRecording, WhyChain, WhyLink
from holdfast.service.traces import why_facts
from holdfast.service.traces.recordings import Recording
from holdfast.service.traces.shown_values import ShownValues
from holdfast.wire.described import none_to_unset
from holdfast.wire.plain_text import clean_line
from holdfast.wire.trace_why import TraceWhy, WhyQuery, WhyStatement

Rounds = Mapping[int, Mapping[int, int]]


def build_why(recording: Recording, query: WhyQuery) -> TraceWhy:
    """The answer to a question about a value of a recording."""
    whole = why_facts.check_whole(recording)
    place = _find_place(query)
    chain = why_facts.explain(whole, query.variable, place, query.hit, after=query.after)
    values = ShownValues(query.show_secrets)
    links = why_facts.list_links(chain)
    assigned = _find_assigned(chain, links)
    rounds = _find_rounds(whole.events, [*links, *([assigned] if assigned else [])])
    return TraceWhy(
        trace_id=recording.id,
        variable=UNSET if chain.name is None else clean_line(chain.name),
        value=UNSET if chain.value is None else values.show(chain.name or "", chain.value),
        hit=chain.hit,
        hits=chain.hits,
        assigned=UNSET if assigned is None else _build_statement(values, assigned, rounds),
        links=[_build_statement(values, link, rounds) for link in links if link is not assigned],
        left_out=chain.left_out,
        origins=[values.show_words(origin) for origin in why_facts.list_origins(chain)],
        unknown=[values.show_words(reason) for reason in chain.unknown],
        remarks=list(recording.remarks),
    )


def _find_place(query: WhyQuery) -> tuple[str, int] | None:
    if query.variable is None:
        return None
    if query.at is None or not is_line(query.at):
        raise errors.InvalidInput("say where: `at` is a `file:line`", field="at")
    place = parse_place(query.at)
    return place.file or "", place.line or 0


def _find_assigned(chain: WhyChain, links: Iterable[WhyLink]) -> WhyLink | None:
    """The write itself. If a link stands for it, that one: it has more facts."""
    write = chain.assigned
    if write is None or not write.time:
        return write
    return next((link for link in links if link.time == write.time), write)


def _find_rounds(run: RunRecording, links: Iterable[WhyLink]) -> Rounds:
    """By the times of links: the rounds that they ran in."""
    times: dict[int, set[int]] = defaultdict(set)
    for link in links:
        times[link.frame].add(link.time)
    found: dict[int, Mapping[int, int]] = {}
    for number, wanted in times.items():
        if number in run.frames:
            found.update(find_rounds(run, run.frames[number], wanted))
    return found


def _build_statement(values: ShownValues, link: WhyLink, rounds: Rounds) -> WhyStatement:
    return WhyStatement(
        file=clean_line(link.file),
        line=link.line,
        source=values.show_words(link.source),
        call=str(link.frame) if link.frame else UNSET,
        rounds={str(line): number for line, number in rounds.get(link.time, {}).items()},
        wrote=values.show_all(why_facts.list_written(link)),
        read=values.show_all(link.read),
        relation=none_to_unset(why_facts.find_relation(link)),
        times=link.times,
    )
