"""How deep inside other agents and tools an event happened."""

from __future__ import annotations

from typing import Any

from holdfast.model.agent_events import MAIN
from holdfast.recording.lane_tree import LanePlace, LaneTree


def place(tree: LaneTree, kind: str, **data: Any) -> LanePlace:
    return tree.take({"type": kind, "data": data})  # type: ignore[typeddict-item]


def test_what_a_tool_does_is_below_it() -> None:
    tree = LaneTree()
    assert place(tree, "api_request", iteration=1) == (MAIN, 0)
    assert place(tree, "tool_call_start", toolId="t1") == (MAIN, 0)
    assert place(tree, "api_request", iteration=2, within="t1") == (MAIN, 1)
    assert place(tree, "api_response", iteration=2) == (MAIN, 1)
    assert place(tree, "tool_call_start", toolId="t2", within="t1") == (MAIN, 1)
    assert place(tree, "tool_call_start", toolId="t3", within="t2", lane="deep") == ("deep", 2)
    assert place(tree, "tool_call_end", toolId="t3") == ("deep", 2)
    assert place(tree, "tool_result", toolId="t2") == (MAIN, 1)
    assert place(tree, "tool_call_end", toolId="t1") == (MAIN, 0)
    assert place(tree, "api_request", iteration=3) == (MAIN, 0)


def test_an_agent_is_below_the_tool_that_runs_it_or_below_its_parent() -> None:
    tree = LaneTree()
    assert place(tree, "tool_call_start", toolId="t1") == (MAIN, 0)
    assert place(tree, "run_start", lane="first") == ("first", 1)
    assert place(tree, "tool_call_start", toolId="t2", lane="first", within="t1") == ("first", 1)
    assert place(tree, "api_request", iteration=1, lane="second", within="t2") == ("second", 2)
    assert place(tree, "user_input", lane="second") == ("second", 2)
    assert place(tree, "message_injected", before={"iteration": 1, "lane": "second"}).depth == 2
    assert place(tree, "lane_start", lane="third", parent="second") == ("third", 3)
    assert place(tree, "run_start", lane="third") == ("third", 3)
    assert place(tree, "lane_start", lane="third", parent=MAIN, within="t1") == ("third", 1)
    assert place(tree, "run_start", lane="third") == ("third", 1)


def test_events_that_name_nothing_known_are_placed_all_the_same() -> None:
    tree = LaneTree()
    assert place(tree, "tool_call_end", toolId="gone") == (MAIN, 0)
    assert place(tree, "api_response", iteration=9, lane="late") == ("late", 1)
    assert place(tree, "api_request", within="gone", lane=7) == (MAIN, 0)
