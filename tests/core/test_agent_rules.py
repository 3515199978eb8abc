"""Rules that last: which calls of an agent they are about, as plain values."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.core.agent_breakpoints import ERROR, MODEL, TOOL, Moment
from holdfast.core.agent_rules import AgentRule, find_rule, parse_rule
from holdfast.errors import InvalidAgentRule


def rule(**data: Any) -> AgentRule:
    return parse_rule({"action": "hold", **data}, "rule-1")


def moment(at: str = TOOL, name: str = "write_file", **more: Any) -> Moment:
    given = more.pop("input", {"path": "a.txt"})
    values = {"iteration": 1, "tokens": 0, "texts": lambda: [str(given)], **more}
    return Moment(at=at, name=name, input=given, **values)


def test_a_rule_fits_where_all_that_it_names_does() -> None:
    both = rule(tool="write_*", pattern="a\\.txt", condition="iteration == 1")
    assert both.fits(moment())
    assert not both.fits(moment(name="read_file"))
    assert not both.fits(moment(input={"path": "b.txt"}))
    assert not both.fits(moment(iteration=2))


def test_a_tool_and_a_pattern_are_about_tools_and_a_condition_about_models_too() -> None:
    assert not rule(tool="*").fits(moment(at=MODEL, name="gpt"))
    assert not rule(pattern=".").fits(moment(at=MODEL, name="gpt"))
    assert rule(condition="model == 'gpt'").fits(moment(at=MODEL, name="gpt"))
    failed = moment(at=ERROR, error={"type": "ValueError", "message": "no", "of": TOOL})
    assert rule(tool="write_*").fits(failed)


def test_the_first_rule_that_fits_counts() -> None:
    rules = [
        parse_rule({"tool": "write_log", "action": "allow"}, "rule-1"),
        parse_rule({"tool": "write_*", "action": "deny"}, "rule-2"),
        parse_rule({"tool": "*", "action": "hold"}, "rule-3"),
    ]
    names = ("write_log", "write_file", "read_file")
    found = [find_rule(rules, moment(name=name)) for name in names]
    assert [each.action for each in found if each is not None] == ["allow", "deny", "hold"]
    assert find_rule(rules[:2], moment(name="read_file")) is None


def test_a_hold_that_nobody_decides_is_denied_unless_the_rule_says_otherwise() -> None:
    assert rule(tool="x", timeout=5).on_timeout == "deny"
    assert rule(tool="x", timeout=0.5, on_timeout="allow").to_json() == {
        "id": "rule-1",
        "action": "hold",
        "tool": "x",
        "timeout": 0.5,
        "onTimeout": "allow",
        "hits": 0,
    }


@pytest.mark.parametrize(
    ("data", "field", "possible"),
    [
        ({"tool": "x", "action": "stop"}, "action", "hold, deny, allow"),
        ({"tool": "x"}, "action", "hold, deny, allow"),
        ({"action": "deny"}, "tool", "tool, pattern, condition"),
        ({"tool": "x", "action": "deny", "tols": 1}, "tols", "tool, pattern, condition, action"),
        ({"tool": 3, "action": "deny"}, "tool", "text"),
        ({"pattern": "[", "action": "deny"}, "pattern", "not a regular expression"),
        ({"pattern": "(a+)+", "action": "deny"}, "pattern", "repeats"),
        ({"condition": "args[0] > 1", "action": "deny"}, "condition", "at, tool, model, input"),
        ({"tool": "x", "action": "hold", "timeout": 0}, "timeout", "seconds"),
        ({"tool": "x", "action": "hold", "timeout": True}, "timeout", "seconds"),
        ({"tool": "x", "action": "deny", "timeout": 3}, "timeout", "only a rule that holds"),
        ({"tool": "x", "action": "hold", "on_timeout": "deny"}, "on_timeout", "needs a timeout"),
        (
            {"tool": "x", "action": "hold", "timeout": 3, "on_timeout": "ask"},
            "on_timeout",
            "deny, allow, hold",
        ),
    ],
)
def test_a_mistake_names_its_key_and_what_is_possible(
    data: dict[str, Any], field: str, possible: str
) -> None:
    with pytest.raises(InvalidAgentRule) as raised:
        parse_rule(data, "rule-1")
    assert raised.value.details["field"] == field
    assert possible in raised.value.message
