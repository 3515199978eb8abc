from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.core.ledger import Ledger, Withdrawal
from holdfast.errors import AlreadyDecided, HoldNotFound, WrongState
from holdfast.model.decision import Decision
from holdfast.model.hold import Hold
from holdfast.model.location import Location
from holdfast.model.session_state import Kind

BY_HUMAN = Decision("continue", by="human")
BY_AGENT = Decision("skip", by="agent", options={"fake_result": {"value": 1}})


def make_hold(hold_id: str = "h1", session_id: str = "s1", *allows: str) -> Hold:
    return Hold(
        id=hold_id,
        session_id=session_id,
        kind=Kind.CALLS,
        reason="breakpoint",
        opened_at=1.0,
        thread_id=None,
        location=Location("app.py", 3, "pay"),
        allows=allows or ("skip", "modify"),
    )


def test_a_hold_takes_exactly_one_decision() -> None:
    ledger = Ledger()
    ledger.open(make_hold())
    assert ledger.decide("h1", BY_HUMAN) == make_hold()
    with pytest.raises(AlreadyDecided, match="by human") as caught:
        ledger.decide("h1", BY_AGENT)
    assert caught.value.details["decided_by"] == "human"
    assert caught.value.details["state"] == "decided"
    assert ledger.outcome("h1") == BY_HUMAN


def test_what_a_target_decided_by_itself_is_named_to_whoever_comes_later() -> None:
    ledger = Ledger()
    ledger.open(make_hold())
    ledger.record("h1", Decision("deny", by="rule-1"))
    with pytest.raises(AlreadyDecided, match="deny, by rule-1"):
        ledger.decide("h1", BY_HUMAN)


def test_a_decision_needs_a_hold() -> None:
    with pytest.raises(HoldNotFound, match="h9") as caught:
        Ledger().decide("h9", BY_HUMAN)
    assert caught.value.details == {"hold_id": "h9"}


def test_an_action_that_is_not_allowed_leaves_the_hold_open() -> None:
    ledger = Ledger()
    ledger.open(make_hold("h1", "s1", "continue", "skip"))
    with pytest.raises(WrongState, match="cannot step-over") as caught:
        ledger.decide("h1", Decision("step-over", by="human"))
    assert not isinstance(caught.value, AlreadyDecided)
    assert caught.value.details["possible"] == ["continue", "skip"]
    assert ledger.decide("h1", BY_AGENT).id == "h1"


@pytest.mark.parametrize("kind", Kind)
def test_every_kind_of_hold_takes_continue(kind: Kind) -> None:
    ledger = Ledger()
    ledger.open(Hold("h1", "s1", kind, "pause", 0.0, None, None, allows=()))
    assert ledger.decide("h1", BY_HUMAN).kind is kind


def test_a_withdrawn_hold_takes_no_decision() -> None:
    ledger = Ledger()
    ledger.open(make_hold())
    assert ledger.withdraw("h1", "the target exited") == make_hold()
    with pytest.raises(AlreadyDecided, match="withdrawn: the target exited") as caught:
        ledger.decide("h1", BY_HUMAN)
    assert caught.value.details["state"] == "withdrawn"
    assert ledger.outcome("h1") == Withdrawal("the target exited")


def test_withdrawing_what_is_settled_or_unknown_changes_nothing() -> None:
    ledger = Ledger()
    ledger.open(make_hold())
    ledger.decide("h1", BY_HUMAN)
    assert ledger.withdraw("h1", "the target exited") is None
    assert ledger.withdraw("h9", "the target exited") is None
    assert ledger.outcome("h1") == BY_HUMAN


def test_open_holds_are_listed_by_session_newest_last() -> None:
    ledger = Ledger()
    for hold_id, session_id in [("h1", "s1"), ("h2", "s2"), ("h3", "s1")]:
        ledger.open(make_hold(hold_id, session_id))
    assert [hold.id for hold in ledger.open_holds()] == ["h1", "h2", "h3"]
    assert [hold.id for hold in ledger.open_holds("s1")] == ["h1", "h3"]
    ledger.decide("h1", BY_HUMAN)
    assert [hold.id for hold in ledger.open_holds("s1")] == ["h3"]


def test_a_settled_hold_can_still_be_read() -> None:
    ledger = Ledger()
    ledger.open(make_hold())
    assert ledger.outcome("h1") is None
    ledger.decide("h1", BY_HUMAN)
    assert ledger.get("h1") == make_hold()
    with pytest.raises(HoldNotFound):
        ledger.get("h9")
    with pytest.raises(HoldNotFound):
        ledger.outcome("h9")


def test_only_the_latest_settled_holds_are_remembered_and_no_open_one_is_forgotten() -> None:
    ledger = Ledger()
    ledger.open(make_hold("old"))
    for number in range(1001):
        ledger.open(make_hold(f"h{number}"))
        ledger.decide(f"h{number}", BY_HUMAN)
    with pytest.raises(HoldNotFound):
        ledger.get("h0")
    assert ledger.get("h1").id == "h1"
    assert [hold.id for hold in ledger.open_holds()] == ["old"]


def test_an_id_is_opened_once() -> None:
    ledger = Ledger()
    ledger.open(make_hold())
    with pytest.raises(ValueError, match="opened before"):
        ledger.open(make_hold())
    ledger.decide("h1", BY_HUMAN)
    with pytest.raises(ValueError, match="opened before"):
        ledger.open(make_hold())


IDS = st.sampled_from(["h1", "h2", "h3"])
STEPS = st.one_of(
    st.tuples(st.just("open"), IDS, st.just("")),
    st.tuples(st.just("withdraw"), IDS, st.just("")),
    st.tuples(st.sampled_from(["continue", "skip", "step-over"]), IDS, st.text("ab", min_size=1)),
)


@settings(deadline=None)
@given(st.lists(STEPS, max_size=40))
def test_any_interleaving_keeps_one_decision_per_hold(steps: list[tuple[str, str, str]]) -> None:
    ledger = Ledger()
    opened: set[str] = set()
    settled: dict[str, object] = {}
    for step, hold_id, by in steps:
        if step == "open":
            if hold_id not in opened:
                ledger.open(make_hold(hold_id))
                opened.add(hold_id)
        elif step == "withdraw":
            if ledger.withdraw(hold_id, "gone") is not None:
                assert settled.setdefault(hold_id, Withdrawal("gone")) == Withdrawal("gone")
        else:
            decision = Decision(step, by)
            try:
                ledger.decide(hold_id, decision)
            except AlreadyDecided:
                assert hold_id in settled
            except HoldNotFound:
                assert hold_id not in opened
            except WrongState:
                assert step == "step-over"
                assert hold_id not in settled
            else:
                assert hold_id not in settled
                settled[hold_id] = decision
        waiting = {hold.id for hold in ledger.open_holds()}
        assert waiting == opened - settled.keys()
        assert {hold_id: ledger.outcome(hold_id) for hold_id in settled} == settled
