"""A session that is held from its first call on: `start(hold=…)`, `HOLDFAST_AGENT_HOLD`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from agent_loops import AgentLoop, build_writes, open_bridge
from background import run_in_thread
from holdfast.bridge import initial_holds
from holdfast.errors import InvalidInput


def test_the_first_call_is_held_and_only_that(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with open_bridge(tmp_path, hold=True) as dbg:
        loop = AgentLoop(dbg, build_writes(1))
        assert f"session {dbg.id} began: its first call will be held" in capsys.readouterr().err
        running = loop.run_in_thread()
        stop = loop.wait_for_stop()
        assert (stop["reason"], stop["at"], stop["iteration"]) == ("start", "model", 1)
        assert loop.asked == 0
        loop.resume()
        assert running.result(60) == "done"
        assert len(loop.data_of("paused")) == 1
        assert loop.data_of("session_start")[0]["hold"] is True


def test_the_first_call_may_be_a_tool(tmp_path: Path) -> None:
    with open_bridge(tmp_path, hold=True) as dbg:
        loop = AgentLoop(dbg, [])
        running = run_in_thread(lambda: loop.write("a"))
        assert loop.wait_for_stop()["at"] == "tool"
        loop.resume(action="skip", result="nothing")
        assert (running.result(60), loop.done) == ("nothing", [])


@pytest.mark.parametrize("by_environment", [False, True])
def test_breakpoints_are_set_before_the_first_call(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, by_environment: bool
) -> None:
    wanted = "tool:wr*;iteration:3"
    if by_environment:
        monkeypatch.setenv("HOLDFAST_AGENT_HOLD", wanted)
    with open_bridge(tmp_path, hold=False if by_environment else wanted) as dbg:
        loop = AgentLoop(dbg, build_writes(2))
        running = loop.run_in_thread()
        for number, at in enumerate(("tool", "tool", "model"), 1):
            assert loop.wait_for_stop(number)["at"] == at
            loop.resume()
        assert running.result(60) == "done"
        started = loop.data_of("session_start")[0]["breakpoints"]
        assert [point["id"] for point in started] == ["bp-1", "bp-2"]
        assert loop.breakpoint(on="model") == "bp-3"


@pytest.mark.parametrize(
    ("hold", "first", "points"),
    [
        (False, False, []),
        ("0", False, []),
        ("yes", True, []),
        ("tool:write_*", False, [{"on": "tool", "name": "write_*"}]),
        (
            r"1; pattern:a\;b:c ;model",
            True,
            [{"on": "pattern", "regex": "a;b:c"}, {"on": "model"}],
        ),
        (["iteration:3"], False, [{"on": "iteration", "count": 3}]),
        ([{"on": "tokens", "count": 9}], False, [{"on": "tokens", "count": 9}]),
    ],
)
def test_what_is_meant_can_be_said_in_several_ways(
    hold: Any, first: bool, points: list[Any]
) -> None:
    arming = initial_holds.read_arming(hold)
    assert (arming.first_call, list(arming.breakpoints)) == (first, points)


def test_what_one_process_encodes_another_one_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    points = ({"on": "pattern", "regex": r"\\;[;]"}, {"on": "tool", "name": "1"})
    arming = initial_holds.Arming(True, points)
    monkeypatch.setenv(initial_holds.VARIABLE, initial_holds.encode_arming(arming))
    assert initial_holds.read_arming(False) == arming


@pytest.mark.parametrize(
    ("hold", "said"),
    [
        ("tols:x", "there is no breakpoint on 'tols'; possible are: tool, model"),
        ("write_*", "there is no breakpoint on 'write_*'"),
        ("iteration:soon", "a whole number"),
        ("pattern:(", "not a regular expression"),
        ("[1", "is none"),
        (7, "True, text or a list"),
        ([7], "text or an object"),
    ],
)
def test_a_mistake_is_an_error_at_the_start(tmp_path: Path, hold: Any, said: str) -> None:
    with pytest.raises(InvalidInput) as raised, open_bridge(tmp_path, hold=hold):
        pass
    assert raised.value.message.startswith("hold: ")
    assert said in raised.value.message
    assert "tool:write_*;iteration:3" in raised.value.hint
