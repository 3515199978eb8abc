"""The evaluation as rows, as ratios with limits, and as tables."""

from __future__ import annotations

import statistics

from bench.agent.buggy_programs import ALL_PROGRAMS, FRESH_PROGRAMS, PROGRAMS
from bench.agent.evaluation import CHOSEN, Evaluation
from bench.measurements import Figure, Ratio, Row, summarize
from bench.tables import format_number, format_ratios, format_table

CHEAPEST_PEER = "the cheapest of the others"
_LIMITS = (("calls", 1 / 4), ("tokens", 1 / 3))
"""As in `Cost`."""
_PARTS = (
    ("Programs on which the answers were improved", PROGRAMS),
    ("Programs that were written afterwards", FRESH_PROGRAMS),
)


def build_rows(evaluation: Evaluation) -> list[Row]:
    """How many bugs each contender found, and what it took."""
    count = len(evaluation.programs)
    found = {}
    for name, findings in evaluation.findings.items():
        number = sum(finding.found for finding in findings.values())
        found[name] = Figure(number, number, count)
    costs = [
        Row(unit, "", {name: summarize(_list_costs(evaluation, name, index)) for name in found})
        for index, (unit, _) in enumerate(_LIMITS)
    ]
    return [Row(f"causes found, of {count}", "", found), *costs]


def build_ratios(evaluation: Evaluation) -> list[Ratio]:
    """Our calls and tokens beside those of the others. Nothing without others.

    First the medians, beside the lowest median of any peer. Then the median of the ratios, where
    each program is compared with the peer, and with the rule, that was cheapest for it.
    """
    if not evaluation.peers:
        return []
    ratios = []
    for index, (unit, limit) in enumerate(_LIMITS):
        ours = _list_costs(evaluation, CHOSEN, index)
        others = {peer: _list_costs(evaluation, peer, index) for peer in evaluation.peers}
        best = min(others, key=lambda peer: statistics.median(others[peer]))
        middle, base = statistics.median(ours), statistics.median(others[best])
        ratios.append(Ratio("evidence for the cause", unit, middle, best, base, limit))
        cheapest = map(min, zip(*others.values(), strict=True))
        share = statistics.median(mine / other for mine, other in zip(ours, cheapest, strict=True))
        name = "evidence for the cause, program by program"
        ratios.append(Ratio(name, f"of the {unit}", share, CHEAPEST_PEER, 1.0, limit))
    return ratios


def _list_costs(evaluation: Evaluation, contender: str, index: int) -> list[float]:
    return [evaluation.cost(contender, program)[index] for program in evaluation.programs]


def format_evaluation(evaluation: Evaluation) -> str:
    """Contenders and ratios for each group of programs, and all programs."""
    parts = []
    for title, programs in _PARTS:
        part = evaluation.select(programs)
        if part is not None:
            ratios = build_ratios(part)
            parts += [f"### {title}\n", format_contenders(part)]
            parts += [format_ratios(ratios)] if ratios else []
    return "\n".join([*parts, format_programs(evaluation)])


def format_contenders(evaluation: Evaluation) -> str:
    """One contender a line."""
    found, *costs = build_rows(evaluation)
    header = [
        "until the cause is in evidence",
        found.name,
        *(f"{row.name}, {part}" for row in costs for part in ("median", "p90")),
    ]
    lines = [
        [
            name,
            format_number(found.figures[name].median),
            *(
                format_number(round(value))
                for row in costs
                for value in (row.figures[name].median, row.figures[name].p90)
            ),
        ]
        for name in evaluation.findings
    ]
    return format_table(header, lines)


def format_programs(evaluation: Evaluation) -> str:
    """One program a line: calls and tokens of each contender, or a dash where it found nothing."""
    contenders = list(evaluation.findings)
    kinds = {program.name: program.kind for program in ALL_PROGRAMS}
    lines = [
        [f"{name}: {kinds[name]}", *(_format_cell(evaluation, each, name) for each in contenders)]
        for name in evaluation.programs
    ]
    return format_table(["calls / tokens", *contenders], lines)


def _format_cell(evaluation: Evaluation, contender: str, program: str) -> str:
    finding = evaluation.findings[contender][program]
    return f"{finding.calls} / {format_number(round(finding.tokens))}" if finding.found else "–"
