"""A trace as an answer: readable, and never longer than its budget."""

from __future__ import annotations

import json

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import UNSET

from holdfast.wire import rest
from holdfast.wire.diff_reports import DiffReport, DiffSide, Divergence
from holdfast.wire.tool_answers import BYTES_PER_TOKEN, ToolAnswer, fit
from holdfast.wire.trace_reports import (
    TraceEntry,
    TraceException,
    TraceLoop,
    TraceReport,
    TraceRound,
)
from holdfast.wire.why_reports import WhyAssigned, WhyLinkShown, WhyReport

LONG = "x" * 5000
TRACE = "trc_20260101_000000_abcdef"
PATH = "/" + "/".join(["directory"] * 40) + "/shop.py"


def build_loop(rounds: int, width: int = 3) -> TraceEntry:
    def build_round(number: int) -> TraceRound:
        steps = [TraceEntry(line=20 + n, changed={f"v{n}": str(number * n)}) for n in range(width)]
        return TraceRound(number=number, steps=steps, changed={"total": str(number)})

    loop = TraceLoop(
        line=20,
        iterations=rounds,
        first=build_round(1),
        unusual=[build_round(n) for n in (3, 77, 5000)],
        last=build_round(rounds),
        values={"total": "0 -> 10000"},
    )
    return TraceEntry(loop=loop)


def build_report(steps: list[TraceEntry]) -> TraceReport:
    return TraceReport(
        status="terminated",
        trace_id=TRACE,
        session_id="s_1",
        function="shop.total",
        at="shop.py:10",
        call=3,
        args={"rows": "[1, 2, 3]"},
        source={str(n): f"statement {n}" for n in range(10, 60)},
        steps=steps,
        result="6",
    )


def measure(answer: ToolAnswer, text: str) -> int:
    return max(len(text.encode()), len(rest.encode(answer)))


# -- what it says ----------------------------------------------------------------------------------


def test_a_statement_stands_with_what_it_changed_beside_it() -> None:
    report = build_report([TraceEntry(line=12, changed={"total": "3"})])
    head, statement, end = report.to_text().split("\n")
    assert head.startswith("shop.total(rows=[1, 2, 3]) · call 3 · shop.py:10")
    assert statement == "12 statement 12  # total = 3"
    assert end == "returned 6"


def test_a_statement_that_says_all_by_itself_is_not_repeated() -> None:
    report = build_report([TraceEntry(line=12, changed={"total": "0"})])
    report.source = {"12": "total = 0"}
    assert "12 total = 0" in report.to_text().split("\n")


def test_the_structure_has_the_settled_names() -> None:
    steps = [TraceEntry(line=12, changed={}), build_loop(10_000)]
    document = json.loads(rest.encode(build_report(steps)))
    assert document["args"] == {"rows": "[1, 2, 3]"}
    assert document["return"] == "6"
    assert document["steps"][0] == {"line": 12, "changed": {}}
    loop = document["steps"][1]["loop"]
    assert {"line", "iterations", "first", "last"} <= loop.keys()
    assert loop["iterations"] == 10_000


def test_ten_thousand_rounds_are_at_most_twelve_lines() -> None:
    for width in (1, 3, 6, 40):
        before = len(build_report([]).to_text().split("\n"))
        lines = build_report([build_loop(10_000, width)]).to_text().split("\n")
        assert len(lines) - before <= 12


def test_an_exception_says_where_it_was_raised() -> None:
    report = build_report([TraceEntry(line=12, changed={}, raised="KeyError('a')")])
    report.result = UNSET
    report.exception = TraceException(type="KeyError", message="'a'", line=12)
    lines = report.to_text().split("\n")
    assert "12 statement 12  # raised KeyError('a')" in lines
    assert "raised KeyError: 'a' at line 12" in lines


# -- budgets ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("budget", [100, 150, 300, 800, 3000])
def test_a_trace_keeps_its_budget(budget: int) -> None:
    steps = [TraceEntry(line=10 + n % 50, changed={f"name{n}": LONG}) for n in range(300)]
    result = fit(build_report([*steps, build_loop(10_000), *steps]), budget)
    assert measure(result.answer, result.text) <= budget * BYTES_PER_TOKEN


def test_what_is_left_out_is_counted() -> None:
    steps = [TraceEntry(line=10, changed={"n": str(n)}) for n in range(500)]
    answer = fit(build_report(steps), 300).answer
    assert isinstance(answer, TraceReport)
    kept = [one for one in answer.steps or () if one.skipped is UNSET]
    gaps = [one.skipped for one in answer.steps or () if one.skipped is not UNSET]
    assert len(kept) + sum(map(int, gaps)) == 500
    assert answer.omitted


def test_the_statement_that_raised_is_left_out_last() -> None:
    steps = [TraceEntry(line=10, changed={"n": str(n)}) for n in range(500)]
    steps[250] = TraceEntry(line=33, changed={}, raised="ValueError()")
    assert "33 statement 33" in fit(build_report(steps), 300).text


def test_without_a_budget_nothing_is_left_out() -> None:
    steps = [TraceEntry(line=10, changed={"n": LONG}) for _ in range(100)]
    assert fit(build_report(steps), None).text.count(LONG) == 100


texts = st.text(min_size=0, max_size=400)
values = st.dictionaries(texts, texts, max_size=6)
entries = st.builds(
    TraceEntry,
    line=st.integers(10, 59),
    changed=values,
    calls=st.lists(texts, max_size=4),
    raised=texts,
)
rounds = st.builds(
    TraceRound,
    number=st.integers(1, 10**9),
    changed=values,
    steps=st.lists(entries, max_size=6),
    remark=texts,
)
loops = st.builds(
    TraceLoop,
    line=st.integers(10, 59),
    iterations=st.integers(1, 10**9),
    first=rounds,
    last=rounds,
    unusual=st.lists(rounds, max_size=5),
    values=values,
)
anything = st.one_of(entries, st.builds(TraceEntry, loop=loops))


@given(st.lists(anything, max_size=12), values, st.integers(100, 900))
@settings(max_examples=60, deadline=None)
def test_whatever_a_trace_holds_it_keeps_its_budget(
    steps: list[TraceEntry], args: dict[str, str], budget: int
) -> None:
    report = msgspec.structs.replace(build_report(steps), args=args)
    report.called_from = list(args.values())
    report.remarks = list(args)
    report.at = f"{PATH}:10"
    result = fit(report, budget)
    assert measure(result.answer, result.text) <= budget * BYTES_PER_TOKEN


@pytest.mark.parametrize("budget", [100, 200, 800])
def test_a_chain_of_causes_keeps_its_budget(budget: int) -> None:
    link = WhyLinkShown(file=PATH, line=3, source=LONG, wrote={"total": LONG}, read={LONG: LONG})
    report = WhyReport(
        status="terminated",
        trace_id=TRACE,
        variable=LONG,
        value=LONG,
        assigned=WhyAssigned(file=PATH, line=3, value=LONG, source=LONG),
        links=[link] * 30,
        unknown=[LONG] * 20,
    )
    result = fit(report, budget)
    assert measure(result.answer, result.text) <= budget * BYTES_PER_TOKEN


@pytest.mark.parametrize("budget", [100, 200, 800])
def test_a_difference_keeps_its_budget(budget: int) -> None:
    side = DiffSide(at=f"{PATH}:3", source=LONG, did=LONG, values={LONG: LONG}, state={"a": LONG})
    one = Divergence(kind="value", stack=[LONG] * 30, a=side, b=side, after=LONG)
    report = DiffReport(
        status="different", run_a=TRACE, run_b=TRACE, titles=[LONG, LONG], first=one
    )
    report.others = [one] * 10
    result = fit(report, budget)
    assert measure(result.answer, result.text) <= budget * BYTES_PER_TOKEN
