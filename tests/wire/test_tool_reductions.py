"""Answers about holds, calls and agents fit any budget, and lose the least important first."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.wire import answer_room, rest
from holdfast.wire.agent_reports import AgentReport
from holdfast.wire.call_reports import CallReport, ReportedCall
from holdfast.wire.hold_reports import HeldTarget, HoldOutcome, HoldReport, describe_fields
from holdfast.wire.plain_text import clean_line
from holdfast.wire.tool_answers import BYTES_PER_TOKEN, ToolAnswer, fit

# As the service gives them: on one line, without lone surrogates, but as long as they like.
TEXT = st.one_of(
    st.text(max_size=40).map(clean_line),
    st.integers(1, 5000).map(lambda length: "x" * length),
    st.sampled_from(["Grüße 👋" * 300, "'" * 2000, "\\" * 1000, '"' * 1000]),
)
IDS = st.text("abcdef0123456789_", min_size=1, max_size=200)
LINES = st.lists(TEXT, max_size=40)
VALUES = st.dictionaries(TEXT, TEXT, max_size=30)
BUDGETS = st.one_of(st.integers(100, 300), st.integers(100, 3000))


def build(type_: type[Any], **fields: Any) -> Any:
    """Instances of a struct, with any of its optional fields left out."""
    return st.builds(type_, **fields)


def maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    return st.one_of(st.just(msgspec.UNSET), strategy)


HOLDS = st.lists(
    build(
        HeldTarget,
        hold_id=IDS,
        session_id=IDS,
        kind=st.sampled_from(["program", "calls", "agent"]),
        moment=st.sampled_from(["stop", "before", "tool", "model"]),
        owner=maybe(TEXT),
        what=maybe(TEXT),
        reason=maybe(TEXT),
        at=maybe(TEXT),
        arguments=maybe(VALUES),
        values=maybe(VALUES),
        messages=maybe(LINES),
        result=maybe(TEXT),
        exception=maybe(TEXT),
        timeout=maybe(TEXT),
        signature=maybe(TEXT),
        stack=maybe(LINES),
        replacements=maybe(LINES),
        allows=st.just(["continue", "skip", "raise", "modify", "replace"]),
    ),
    max_size=20,
)
CALLS = st.lists(
    build(
        ReportedCall,
        call_id=IDS,
        function=TEXT,
        arguments=maybe(VALUES),
        result=maybe(TEXT),
        exception=maybe(TEXT),
        decided=maybe(TEXT),
        depth=maybe(st.integers(0, 19)),
    ),
    max_size=60,
)
ANSWERS = st.one_of(
    HOLDS.map(
        lambda holds: HoldReport(total=len(holds), holds=holds, takes=describe_fields(holds))
    ),
    build(
        HoldOutcome,
        hold_id=IDS,
        session_id=IDS,
        action=st.just("modify"),
        status=st.just("running"),
        what=maybe(TEXT),
        changed=maybe(VALUES),
        result=maybe(TEXT),
        exception=maybe(TEXT),
        message=maybe(TEXT),
        held=maybe(HOLDS),
    ),
    build(
        CallReport,
        calls=CALLS,
        total=st.integers(0, 60),
        session_id=maybe(IDS),
        at=maybe(TEXT),
        signature=maybe(TEXT),
        changed=maybe(VALUES),
        stack=maybe(LINES),
        problems=maybe(LINES),
        next=maybe(TEXT),
    ),
    build(
        AgentReport,
        command=st.just("inspect"),
        status=maybe(st.just("running")),
        session_id=maybe(IDS),
        name=maybe(TEXT),
        model=maybe(TEXT),
        message=maybe(TEXT),
        recent=maybe(LINES),
        messages=maybe(LINES),
        context=maybe(TEXT),
        tools=maybe(LINES),
        variables=maybe(VALUES),
        breakpoints=maybe(LINES),
        held=maybe(HOLDS),
        next=maybe(TEXT),
    ),
)


@settings(max_examples=60, deadline=None)
@given(ANSWERS, BUDGETS)
def test_any_answer_fits_any_budget(answer: ToolAnswer, budget: int) -> None:
    result = fit(answer, budget)
    most = budget * BYTES_PER_TOKEN
    assert len(rest.encode(result.answer)) <= most
    assert len(result.text.encode()) <= most
    if result.answer is not answer:
        assert "left out: " in result.text


@settings(max_examples=40, deadline=None)
@given(ANSWERS)
def test_the_text_has_every_fact_of_the_structured_answer(answer: ToolAnswer) -> None:
    text = answer.to_text()
    for fact in _list_facts(msgspec.to_builtins(answer)):
        assert fact in text


def _list_facts(value: Any) -> list[str]:
    """All texts in it that are not words of its own."""
    if isinstance(value, str):
        return [] if value in ("stop", "before", "tool", "model") else [value]
    if isinstance(value, dict):
        return [fact for each in value.values() for fact in _list_facts(each)]
    return [fact for each in value for fact in _list_facts(each)] if isinstance(value, list) else []


def test_values_go_first_and_counts_stay() -> None:
    calls = [
        ReportedCall(call_id=f"call_{number}", function="price", arguments={"item": "x" * 100})
        for number in range(30)
    ]
    report = CallReport(calls=calls, total=30)
    whole, shorter, fewer, counts = (fit(report, budget).answer for budget in (3000, 800, 300, 100))
    assert whole is report
    assert isinstance(shorter, CallReport)
    assert len(shorter.calls) == 30
    assert isinstance(fewer, CallReport)
    assert 5 <= len(fewer.calls) < 30
    assert isinstance(counts, CallReport)
    assert "price ×" in str(counts.omitted)


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("'" + "x" * 98 + "'", "text of 100 characters"),
        ("[" + "1, " * 30 + "]", "list, 92 characters"),
        ("(" + "1, " * 30 + ")", "tuple, 92 characters"),
        ("{'a': " + "1" * 30 + "}", "dict or set, 37 characters"),
        ("<Cart with many things in it>", "Cart object"),
        ("Cart(items=['tea', 'cake', 'jam'])", "Cart object"),
        ("12", "12"),
        ("1" * 40, "1" * 23 + "…"),
    ],
)
def test_a_shape_is_told_from_the_text(text: str, shape: str) -> None:
    assert answer_room.describe_shape(text) == shape


def test_a_place_in_a_deep_directory_keeps_its_file_and_line() -> None:
    report = CallReport(calls=[], total=0, at="/deep" * 100 + "/cart.py:12")
    whole, *_, least, _counts = report.list_reductions()
    for each in (whole, least):
        assert str(each.at).startswith("…")
        assert str(each.at).endswith("/cart.py:12")
