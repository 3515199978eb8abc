"""The table of decisions, and how a decision is checked against it."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

import holdfast
from holdfast.core.decision_check import check_allowed, check_fields
from holdfast.errors import InvalidDecision, WrongState
from holdfast.model import decision
from holdfast.model.decision import ACTIONS_AT, Action, Field, Moment, Shape, action_at, names_at
from holdfast.model.hold import Hold
from holdfast.model.session_state import Kind


def hold_at(moment: Moment) -> Hold:
    allows = names_at(moment)
    return Hold("h1", "s1", Kind.CALLS, "breakpoint", 1.0, moment=moment, allows=allows)


@pytest.mark.parametrize("moment", Moment)
def test_every_moment_has_actions_and_each_is_explained(moment: Moment) -> None:
    actions = ACTIONS_AT[moment]
    assert actions[0].name == "continue"
    assert len({action.name for action in actions}) == len(actions)
    for action in actions:
        assert action.meaning.endswith(".")
        assert set(action.needs) <= {field.name for field in action.fields}
        assert all(field.meaning.endswith(".") for field in action.fields)


def test_the_actions_of_each_moment_are_these() -> None:
    assert {moment.value: names_at(moment) for moment in Moment} == {
        "stop": ("continue", "step-over", "step-into", "step-out"),
        "before": ("continue", "skip", "raise", "modify", "replace"),
        "after": ("continue", "skip", "raise"),
        "exception": ("continue", "skip", "raise"),
        "model": ("continue", "modify", "skip", "raise", "inject", "step"),
        "tool": ("continue", "modify", "skip", "raise", "cancel", "step"),
        "error": ("continue", "skip", "raise", "step"),
    }


def test_an_action_that_exists_nowhere_is_invalid() -> None:
    with pytest.raises(InvalidDecision, match="no action 'fly'") as caught:
        check_allowed(hold_at(Moment.STOP), "fly")
    assert caught.value.details["field"] == "action"
    assert caught.value.details["possible"] == list(names_at(Moment.STOP))


def test_an_action_of_another_moment_is_a_wrong_state() -> None:
    with pytest.raises(WrongState, match="cannot replace") as caught:
        check_allowed(hold_at(Moment.AFTER), "replace")
    assert caught.value.details["possible"] == ["continue", "skip", "raise"]
    with pytest.raises(InvalidDecision, match="not possible at this moment"):
        check_fields(Moment.AFTER, "replace", {"function_name": "f"})


@pytest.mark.parametrize("moment", Moment)
def test_every_allowed_action_passes(moment: Moment) -> None:
    for name in names_at(moment):
        check_allowed(hold_at(moment), name)


@pytest.mark.parametrize(
    ("moment", "action", "options", "fields"),
    [
        (Moment.STOP, "continue", {"wait": 5}, {}),
        (Moment.BEFORE, "skip", {"fake_result": {"value": 1}}, {"fake_result": {"value": 1}}),
        (
            Moment.BEFORE,
            "raise",
            {"exception_type": "ValueError"},
            {"exception_type": "ValueError", "exception_message": ""},
        ),
        (Moment.BEFORE, "modify", {"modified_args": []}, {"modified_args": []}),
        (Moment.TOOL, "skip", {"result": None}, {"result": None}),
        (Moment.TOOL, "skip", {"fake_result": {"value": [1]}}, {"result": [1]}),
        (Moment.TOOL, "skip", {"fake_result": {"literal": "(1, 2)"}}, {"result": (1, 2)}),
        (Moment.TOOL, "modify", {"modified_input": {"a": 1}}, {"input": {"a": 1}}),
        (Moment.TOOL, "modify", {"modified_input": {"text": "hi"}}, {"input": {"text": "hi"}}),
        (Moment.TOOL, "modify", {"input_text": '{"a": null}'}, {"input": {"a": None}}),
        (Moment.MODEL, "modify", {"messages_text": '[{"a": 1}]'}, {"messages": [{"a": 1}]}),
        (Moment.TOOL, "skip", {"fake_result": {"text": "true"}}, {"result": True}),
        (
            Moment.ERROR,
            "raise",
            {},
            {"exception_type": "RuntimeError", "exception_message": ""},
        ),
        (Moment.MODEL, "inject", {"content": "stop"}, {"role": "user", "content": "stop"}),
        (Moment.MODEL, "modify", {"messages": []}, {"messages": []}),
    ],
)
def test_fields_come_under_their_own_names_with_defaults(
    moment: Moment, action: str, options: dict[str, Any], fields: dict[str, Any]
) -> None:
    assert check_fields(moment, action, options) == fields


@pytest.mark.parametrize(
    ("moment", "action", "options", "field"),
    [
        (Moment.BEFORE, "skip", {}, "fake_result"),
        (Moment.BEFORE, "raise", {"exception_message": "late"}, "exception_type"),
        (Moment.BEFORE, "raise", {"exception_type": ""}, "exception_type"),
        (
            Moment.BEFORE,
            "raise",
            {"exception_type": "E", "exception_message": 5},
            "exception_message",
        ),
        (Moment.BEFORE, "modify", {}, "modified_args"),
        (Moment.BEFORE, "modify", {"modified_args": {}}, "modified_args"),
        (Moment.BEFORE, "modify", {"modified_kwargs": []}, "modified_kwargs"),
        (Moment.BEFORE, "replace", {"function_name": ""}, "function_name"),
        (Moment.TOOL, "modify", {"input": "text"}, "input"),
        (Moment.TOOL, "modify", {"input_text": "[]"}, "input_text"),
        (Moment.TOOL, "skip", {"fake_result": 5}, "fake_result"),
        (Moment.TOOL, "skip", {"fake_result": {"text": "tea"}}, "fake_result"),
        (Moment.TOOL, "skip", {"fake_result": {"literal": "open('x')"}}, "fake_result"),
        (Moment.MODEL, "inject", {"role": "king", "content": "x"}, "role"),
        (Moment.MODEL, "inject", {"content": []}, "content"),
    ],
)
def test_a_field_that_is_missing_or_wrong_is_named(
    moment: Moment, action: str, options: dict[str, Any], field: str
) -> None:
    with pytest.raises(InvalidDecision) as caught:
        check_fields(moment, action, options)
    assert caught.value.details["field"] == field
    known = action_at(moment, action)
    assert known is not None
    assert known.fields[0].name in caught.value.hint


def test_values_of_calls_are_explained_in_the_hint() -> None:
    with pytest.raises(InvalidDecision) as caught:
        check_fields(Moment.BEFORE, "skip", {})
    assert "literal" in caught.value.hint
    assert any(field.shape is Shape.VALUE for field in ACTIONS_AT[Moment.BEFORE][1].fields)


def test_a_new_action_in_the_table_is_offered_and_checked(monkeypatch: pytest.MonkeyPatch) -> None:
    fields = (Field("seconds", Shape.TEXT, "How long to wait."),)
    delay = Action("delay", "Run the call later.", fields, needs=("seconds",))
    table = {**ACTIONS_AT, Moment.BEFORE: (*ACTIONS_AT[Moment.BEFORE], delay)}
    monkeypatch.setattr(decision, "ACTIONS_AT", table)

    check_allowed(hold_at(Moment.BEFORE), "delay")
    assert check_fields(Moment.BEFORE, "delay", {"seconds": "5"}) == {"seconds": "5"}
    with pytest.raises(InvalidDecision, match="delay needs it"):
        check_fields(Moment.BEFORE, "delay", {})
    with pytest.raises(WrongState, match="cannot delay"):
        check_allowed(hold_at(Moment.AFTER), "delay")


def test_no_other_file_lists_the_actions() -> None:
    """A new action is one entry in `model/decision.py`, plus the code that carries it out."""
    source = Path(holdfast.__file__).parent
    names = set(names_at()) - {"step", "continue", "cancel"}  # other things have these names, too
    files = set()
    for path in source.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        if sum(f'"{name}"' in text for name in names) < 2:
            continue
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, (ast.List, ast.Tuple, ast.Set)):
                texts = {part.value for part in node.elts if isinstance(part, ast.Constant)}
                if len(texts & names) > 1:
                    files.add(str(path.relative_to(source)))
    carries_out = {"recording/recorded_calls.py"}  # which of them kept a call from running
    shows_examples = {name for name in files if name.startswith("server/rest/")}
    assert files - carries_out - shows_examples == set()
