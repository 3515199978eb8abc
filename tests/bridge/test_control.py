"""What somebody outside can do: pause, step, break, decide, inspect, inject, set, cancel."""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import signal
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_loops import AgentLoop, SessionFiles, build_writes, open_bridge
from background import run_in_thread
from holdfast.bridge import Bridge, ToolCancelled, flows, loop_control
from holdfast.bridge.agent_stop import Stop
from holdfast.bridge.tool_cancellation import Interruptible, _Interrupted


@pytest.fixture
def dbg(tmp_path: Path) -> Iterator[Bridge]:
    with open_bridge(tmp_path) as found:
        yield found
        for stop in list(found.control.stops.values()):
            found.control.leave(stop)


def files(dbg: Bridge) -> SessionFiles:
    assert dbg.home is not None
    return SessionFiles(dbg.home)


# -- pausing and stepping ------------------------------------------------------------------------


def test_a_pause_takes_effect_before_the_next_model_call(dbg: Bridge) -> None:
    loop = AgentLoop(dbg, build_writes(1))
    command = loop.send("pause")
    assert loop.wait_for_execution(command)["status"] == "accepted"

    running = loop.run_in_thread()
    stop = loop.wait_for_stop()
    assert (stop["reason"], stop["at"], stop["iteration"]) == ("pause", "model", 1)
    assert loop.asked == 0
    assert loop.wait_for("command_applied", commandId=command)

    loop.resume()
    assert running.result(60) == "done"
    assert loop.wait_for("resumed", stop=stop["stop"])["action"] == "continue"


def test_what_is_held_is_said_again_while_it_is_held(dbg: Bridge) -> None:
    loop = AgentLoop(dbg, [])
    loop.wait_for_execution(loop.send("pause"))
    running = loop.run_in_thread()
    loop.wait_for_stop()

    snapshot = loop.wait_for("state_snapshot", 2)
    assert snapshot == {"paused": True, "waiting": "resume", "iteration": 1, "stops": ["stop-1"]}
    loop.resume()
    running.result(60)


def test_a_step_runs_one_iteration_and_holds_before_the_next(dbg: Bridge) -> None:
    loop = AgentLoop(dbg, build_writes(3))
    loop.wait_for_execution(loop.send("pause"))
    running = loop.run_in_thread()
    loop.wait_for_stop()

    loop.wait_for_execution(loop.send("step"))
    second = loop.wait_for_stop(2)
    assert (second["reason"], second["iteration"]) == ("step", 2)
    assert loop.data_of("step_complete") == [{"iteration": 1}]
    assert (loop.asked, len(loop.done)) == (1, 1)

    loop.resume()
    assert running.result(60) == "done"
    assert len(loop.data_of("paused")) == 2


def test_a_step_of_a_running_loop_lets_one_model_call_pass(dbg: Bridge) -> None:
    loop = AgentLoop(dbg, build_writes(3))
    assert loop.wait_for_execution(loop.send("step"))["status"] == "accepted"
    running = loop.run_in_thread()

    assert loop.wait_for_stop()["iteration"] == 2
    assert loop.data_of("step_complete") == [{"iteration": 1}]
    loop.resume()
    running.result(60)


def test_a_step_that_ends_the_loop_is_complete_all_the_same(dbg: Bridge) -> None:
    loop = AgentLoop(dbg, [])
    loop.wait_for_execution(loop.send("pause"))
    running = loop.run_in_thread()
    loop.wait_for_stop()
    loop.wait_for_execution(loop.send("step"))

    assert running.result(60) == "done"
    assert loop.wait_for("step_complete") == {"iteration": 1}


def test_a_resume_that_names_its_stop_never_releases_a_later_one(dbg: Bridge) -> None:
    loop = AgentLoop(dbg, build_writes(2))
    loop.breakpoint(on="tool", name="write")
    running = loop.run_in_thread()
    first = loop.wait_for_stop()["stop"]
    assert loop.resume(stop=first)["status"] == "applied"
    second = loop.wait_for_stop(2)["stop"]

    assert loop.resume(stop=first)["status"] == "expired"
    assert len(loop.done) == 1
    assert second in dbg.control.stops
    loop.resume(stop=second)
    running.result(60)


def test_pause_and_resume_with_nothing_to_do_are_answered(dbg: Bridge) -> None:
    loop = AgentLoop(dbg, [])
    assert loop.resume()["status"] == "applied"
    loop.wait_for_execution(loop.send("pause"))
    assert loop.resume()["note"] == "it had not stopped yet"
    assert loop() == "done"
    assert loop.data_of("paused") == []


# -- breakpoints ---------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", [("on", "name"), ("type", "condition")])
def test_a_breakpoint_on_a_tool_holds_before_it_runs(dbg: Bridge, shape: tuple[str, str]) -> None:
    on, name = shape
    loop = AgentLoop(dbg, build_writes(1))
    point = loop.breakpoint(**{on: "tool", name: "wri*"})
    running = loop.run_in_thread()

    stop = loop.wait_for_stop()
    assert (stop["reason"], stop["at"], stop["name"]) == ("breakpoint", "tool", "write")
    assert stop["input"] == {"path": "0.txt"}
    hit = loop.data_of("breakpoint_hit")[0]
    assert hit["breakpoint"]["id"] == point
    assert hit["toolCall"] == {"id": "tool-1", "name": "write", "input": {"path": "0.txt"}}
    assert loop.done == []
    assert "tool_call_start" not in loop.types

    loop.resume()
    running.result(60)
    assert loop.done == [("0.txt", "")]


def test_an_iteration_breakpoint_fires_once(dbg: Bridge) -> None:
    loop = AgentLoop(dbg, build_writes(3))
    loop.breakpoint(on="iteration", count=2)
    running = loop.run_in_thread()

    assert loop.wait_for_stop()["iteration"] == 2
    assert loop.asked == 1
    loop.resume()
    running.result(60)
    assert len(loop.data_of("paused")) == 1


def test_a_pattern_is_looked_for_in_the_input(dbg: Bridge) -> None:
    loop = AgentLoop(dbg, [{"tool": "write", "path": "a"}, {"tool": "write", "path": "rm -rf /"}])
    loop.breakpoint(on="pattern", regex=r"rm\s+-rf")
    running = loop.run_in_thread()

    assert loop.wait_for_stop()["input"] == {"path": "rm -rf /"}
    loop.resume(action="skip", result="refused")
    running.result(60)
    assert loop.done == [("a", "")]
    assert loop.results == ["wrote a", "refused"]


@pytest.mark.parametrize(
    "regex",
    [
        '"path": "a.txt", "text": "Grüße',  # as it is shown, with blanks and every letter as itself
        '"path":"a.txt","text":"Grüße',  # as other programs write JSON
        r"Grüße\s+aus Köln",  # a text in it, in which a line break is one
        r"^Grüße",
        r"\\n",  # and what is shown for it
    ],
)
def test_a_pattern_matches_what_people_see(dbg: Bridge, regex: str) -> None:
    loop = AgentLoop(dbg, [{"tool": "write", "path": "a.txt", "text": "Grüße\naus Köln"}])
    loop.breakpoint(on="pattern", regex=regex)
    running = loop.run_in_thread()
    assert loop.wait_for_stop()["name"] == "write"
    loop.resume()
    running.result(60)


def test_a_model_tokens_a_condition_and_hits_are_broken_on(dbg: Bridge) -> None:
    loop = AgentLoop(dbg, build_writes(4))
    for point, iteration in (
        ({"on": "model", "name": "scr*", "hitCondition": "2"}, 2),
        ({"on": "tokens", "count": 30}, 3),
        ({"on": "condition", "condition": "at == 'model' and iteration == 4"}, 4),
    ):
        loop.breakpoint(**point)
        del iteration
    running = loop.run_in_thread()

    for count, iteration in enumerate((2, 3, 4), 1):
        assert loop.wait_for_stop(count)["iteration"] == iteration
        loop.resume()
    running.result(60)
    assert len(loop.data_of("paused")) == 3


def test_a_breakpoint_on_a_tool_takes_a_condition_over_its_input(dbg: Bridge) -> None:
    loop = AgentLoop(dbg, build_writes(3))
    loop.breakpoint(on="tool", name="write", condition="input.get('path') == '2.txt'")
    running = loop.run_in_thread()
    assert loop.wait_for_stop()["input"] == {"path": "2.txt"}
    loop.resume()
    running.result(60)


def test_breakpoints_are_listed_and_cleared(dbg: Bridge) -> None:
    loop = AgentLoop(dbg, build_writes(1))
    first, second = loop.breakpoint(on="tool", name="write"), loop.breakpoint(on="model")
    listed = loop.ask("breakpoint", action="list")["data"]["breakpoints"]
    assert [each["id"] for each in listed] == [first, second]
    assert (listed[0]["on"], listed[0]["type"], listed[0]["name"], listed[0]["condition"]) == (
        *("tool", "tool", "write", "write"),
    )

    loop.ask("breakpoint", action="clear", id=first)
    listed = loop.ask("breakpoint", action="list")["data"]["breakpoints"]
    assert [each["id"] for each in listed] == [second]
    loop.ask("breakpoint", action="clear-all")
    assert loop.ask("breakpoint", action="list")["data"]["breakpoints"] == []
    assert loop() == "done"


@pytest.mark.parametrize(
    "data",
    [
        {"on": "pattern", "regex": "("},
        {"on": "nowhere"},
        {"on": "tool"},
        {"on": "iteration", "count": "five"},
        {"on": "tool", "name": "x", "hitCondition": "often"},
        {"on": "condition", "condition": "import os"},
        {"on": "condition", "condition": "nobody == 1"},
    ],
)
def test_a_bad_breakpoint_is_an_error_and_nothing_else(dbg: Bridge, data: dict[str, Any]) -> None:
    loop = AgentLoop(dbg, [])
    found = loop.wait_for_rejection(loop.send("breakpoint", action="add", **data))
    assert (found["context"], found["status"]) == ("command_processing", "rejected")
    assert loop() == "done"


# -- decisions -----------------------------------------------------------------------------------


def held_at_tool(dbg: Bridge) -> tuple[AgentLoop, Any]:
    loop = AgentLoop(dbg, build_writes(1))
    loop.breakpoint(on="tool", name="*")
    running = loop.run_in_thread()
    loop.wait_for_stop()
    return loop, running


def test_an_input_can_be_changed(dbg: Bridge) -> None:
    loop, running = held_at_tool(dbg)
    loop.resume(action="modify", input={"path": "safe.txt", "text": "hello"}, by="me")
    running.result(60)

    assert loop.done == [("safe.txt", "hello")]
    [begun] = loop.data_of("tool_call_start")
    assert begun["input"] == {"path": "safe.txt", "text": "hello"}
    assert begun["requested"] == {"path": "0.txt"}
    assert begun["decision"]["by"] == "me"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"pth": "x"}, "write has no parameter 'pth' (did you mean 'path'?)"),
        ({"mode": "w"}, "write takes path, text (optional)"),
        ("safe.txt", "an object is expected"),
    ],
)
def test_an_input_that_does_not_fit_is_refused_and_it_stays_held(
    dbg: Bridge, changes: Any, said: str
) -> None:
    loop, running = held_at_tool(dbg)
    refused = loop.wait_for_rejection(loop.send("resume", action="modify", input=changes))
    assert said in refused["message"]
    assert (len(dbg.control.stops), loop.done) == (1, [])
    loop.resume(action="modify", input={"text": "hello"})
    running.result(60)
    assert loop.done == [("0.txt", "hello")]


def test_a_setting_that_a_model_does_not_take_is_refused(dbg: Bridge) -> None:
    loop = AgentLoop(dbg, [])
    loop.breakpoint(on="model")
    running = loop.run_in_thread()
    loop.wait_for_stop()
    refused = loop.wait_for_rejection(loop.send("resume", action="modify", input={"modle": "x"}))
    assert "scripted has no parameter 'modle' (did you mean 'model'?)" in refused["message"]
    loop.resume(action="modify", input={"messages": [{"role": "user", "content": "x"}]})
    running.result(60)
    assert loop.seen == [[{"role": "user", "content": "x"}]]


def test_a_tool_that_takes_anything_takes_any_input(dbg: Bridge) -> None:
    tool = dbg.tool(lambda **rest: rest, name="any")
    files(dbg).breakpoint(on="tool", name="any")
    running = run_in_thread(lambda: tool(a=1))
    files(dbg).wait_for_stop()
    files(dbg).resume(action="modify", input={"b": 2})
    assert running.result(60) == {"a": 1, "b": 2}


def test_a_result_can_be_supplied(dbg: Bridge) -> None:
    loop, running = held_at_tool(dbg)
    loop.resume(result={"ok": True})
    running.result(60)

    assert loop.done == []
    assert loop.results == [{"ok": True}]
    assert loop.data_of("tool_result")[0]["faked"] is True


def test_an_error_can_be_raised(dbg: Bridge) -> None:
    loop, running = held_at_tool(dbg)
    loop.resume(action="raise", exception_type="PermissionError", exception_message="not today")
    running.result(60)
    assert loop.done == []
    assert loop.results == ["PermissionError: not today"]


def test_a_held_tool_can_be_cancelled(dbg: Bridge) -> None:
    loop, running = held_at_tool(dbg)
    loop.wait_for_execution(loop.send("cancel_tool", toolId="tool-1"))
    running.result(60)

    assert loop.done == []
    assert loop.results[0].startswith("ToolCancelled: ")
    assert loop.data_of("tool_call_end")[0]["cancelled"] is True


def test_a_message_can_be_injected_while_a_model_call_is_held(dbg: Bridge) -> None:
    loop = AgentLoop(dbg, [])
    loop.wait_for_execution(loop.send("pause"))
    running = loop.run_in_thread()
    stop = loop.wait_for_stop()
    command = loop.send("inject_message", role="user", content="be brief")
    assert loop.wait_for_execution(command)["status"] == "applied"
    assert loop.wait_for("command_response", commandId=command)["success"] is True
    loop.resume(stop=stop["stop"])
    running.result(60)

    assert loop.seen[0][-1] == {"role": "user", "content": "be brief"}
    assert loop.data_of("user_input") == [{"content": "begin"}]
    assert loop.data_of("message_injected")[0]["content"] == "be brief"


def test_a_message_injected_in_between_comes_before_the_next_model_call(dbg: Bridge) -> None:
    loop, running = held_at_tool(dbg)
    command = loop.send("inject_message", role="user", content="stop after this")
    assert loop.wait_for_execution(command)["status"] == "accepted"
    loop.resume()
    running.result(60)

    assert [each["role"] for each in loop.seen[1]] == ["user", "assistant", "tool", "user"]
    assert loop.wait_for("command_applied", commandId=command)


def test_to_inject_is_a_decision_too(dbg: Bridge) -> None:
    loop = AgentLoop(dbg, [])
    loop.wait_for_execution(loop.send("pause"))
    running = loop.run_in_thread()
    loop.wait_for_stop()
    loop.resume(action="inject", role="user", content="now")
    running.result(60)
    assert loop.seen[0][-1]["content"] == "now"


def test_the_messages_of_a_model_call_can_be_edited_and_its_answer_supplied(dbg: Bridge) -> None:
    loop = AgentLoop(dbg, build_writes(1))
    loop.breakpoint(on="model")
    running = loop.run_in_thread()
    loop.wait_for_stop()
    loop.resume(action="modify", messages=[{"role": "user", "content": "something else"}])
    loop.wait_for_stop(2)
    loop.resume(result={"role": "assistant", "content": "faked", "ask": None})

    assert running.result(60) == "faked"
    assert loop.seen == [[{"role": "user", "content": "something else"}]]
    assert loop.asked == 1


def test_a_variable_is_set_while_held_and_before_the_next_step_otherwise(dbg: Bridge) -> None:
    loop, running = held_at_tool(dbg)
    loop.wait_for_execution(loop.send("set_variable", key="depth", value=5))
    assert loop.wait_for("variable_set")["value"] == 5
    assert loop.vars == {"depth": 5}
    loop.resume()
    running.result(60)
    assert files(dbg).wait_for_rejection(loop.send("set_variable", key="depth", value=6))


def test_an_error_breakpoint_holds_after_the_failure_and_takes_a_result(dbg: Bridge) -> None:
    loop = AgentLoop(dbg, [{"tool": "fail", "why": "flaky"}])
    loop.breakpoint(on="error")
    running = loop.run_in_thread()
    stop = loop.wait_for_stop()
    assert (stop["at"], stop["name"]) == ("error", "fail")
    assert stop["error"] == {"type": "ValueError", "message": "flaky"}
    loop.resume(result="recovered")
    running.result(60)
    assert loop.results == ["recovered"]


@pytest.mark.parametrize(
    "decision",
    [
        {"action": "explode"},
        {"action": "modify"},
        {"action": "skip"},
        {"action": "inject", "content": "x"},
        {"action": "modify", "input": [1]},
    ],
)
def test_a_decision_that_makes_no_sense_leaves_it_held(
    dbg: Bridge, decision: dict[str, Any]
) -> None:
    loop, running = held_at_tool(dbg)
    loop.wait_for_rejection(loop.send("resume", **decision))
    assert loop.done == []
    loop.resume()
    running.result(60)


def test_several_tools_are_held_at_once_and_each_has_its_decision(dbg: Bridge) -> None:
    tool = dbg.tool(lambda number: number, name="tool")
    found = files(dbg)
    found.breakpoint(on="tool", name="tool")
    running = [run_in_thread(lambda number=number: tool(number=number)) for number in range(3)]  # type: ignore[misc]
    found.wait_for_stop(3)
    stops = {each["input"]["number"]: each["stop"] for each in found.data_of("paused")}

    assert "name the stop" in found.wait_for_rejection(found.send("resume", result=0))["message"]
    found.resume(stop=stops[1], result="one")
    assert running[1].result(60) == "one"
    found.resume()
    assert [each.result(60) for each in running] == [0, "one", 2]


# -- async ---------------------------------------------------------------------------------------


def test_a_held_async_tool_blocks_nothing_else_in_its_loop(dbg: Bridge) -> None:
    found = files(dbg)
    found.breakpoint(on="tool", name="slow")
    ran = []

    @dbg.tool
    async def slow() -> str:
        ran.append("slow")
        return "slow"

    async def main() -> tuple[str, int]:
        held = asyncio.create_task(slow())
        ticks = 0
        while not found.data_of("paused") or ticks < 5:
            await asyncio.sleep(0.001)
            ticks += 1
        assert ran == []
        found.send("resume")
        return await asyncio.wait_for(held, 60), ticks

    result, ticks = asyncio.run(main())
    assert result == "slow"
    assert ticks >= 5


class Clock:
    """Stands still until a test turns it."""

    def __init__(self) -> None:
        self.now = 1000.0

    def turn(self, seconds: float) -> None:
        self.now += seconds


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """What the calls of tools and their stops are measured with."""
    clock = Clock()

    def make_stop(*given: Any, **more: Any) -> Stop:
        stop = Stop(*given, **more)
        stop.began = clock.now
        return stop

    monkeypatch.setattr(flows, "_now", lambda: clock.now)
    monkeypatch.setattr(loop_control, "Stop", make_stop)
    return clock


def test_a_hold_is_not_part_of_how_long_a_tool_took(dbg: Bridge, clock: Clock) -> None:
    found, tool = files(dbg), dbg.tool(lambda: clock.turn(0.25), name="work")
    found.breakpoint(on="tool", name="work")
    running = run_in_thread(tool)
    found.wait_for_stop()
    clock.turn(8)
    found.resume()
    running.result(60)
    [end] = found.data_of("tool_call_end")
    assert (end["heldMs"], end["durationMs"]) == (8000, 250)


def test_what_is_held_inside_a_tool_is_not_the_time_of_the_tool(dbg: Bridge) -> None:
    loop = AgentLoop(dbg, [])

    @dbg.tool
    def outer() -> str:
        inside = contextvars.copy_context()
        other = run_in_thread(lambda: inside.run(loop.write, "a"))
        return str(middle() + other.result(60))

    @dbg.tool
    def middle() -> str:
        return str(loop.write("b"))

    loop.breakpoint(on="tool", name="write")
    running = run_in_thread(outer)
    stops = [loop.wait_for_stop(1)["stop"], loop.wait_for_stop(2)["stop"]]
    for stop in stops:
        loop.resume(stop=stop)
    assert running.result(60) == "wrote bwrote a"

    ended = {data["toolId"]: data for data in loop.data_of("tool_call_end")}
    names = {data["toolId"]: data for data in loop.data_of("tool_call_start")}
    held = {
        (data["name"], names[tool_id]["input"].get("path")): data["heldMs"]
        for tool_id, data in ended.items()
    }
    both = (held["write", "a"], held["write", "b"])
    assert held["middle", None] == both[1]
    # Both were held at the same time, which counts once.
    assert max(both) <= held["outer", None] < sum(both)


def test_the_duration_of_a_tool_leaves_out_what_is_held_inside(dbg: Bridge, clock: Clock) -> None:
    loop = AgentLoop(dbg, [])

    @dbg.tool
    def outer() -> None:
        clock.turn(0.25)
        loop.write("a")
        clock.turn(0.5)

    loop.breakpoint(on="tool", name="write")
    running = run_in_thread(outer)
    loop.wait_for_stop()
    clock.turn(8)
    loop.resume()
    running.result(60)
    end = loop.wait_for("tool_call_end", name="outer")
    inner = loop.wait_for("tool_call_end", name="write")
    assert (inner["heldMs"], inner["durationMs"]) == (8000, 0)
    assert (end["heldMs"], end["durationMs"]) == (8000, 750)


def test_a_task_that_is_cancelled_while_held_withdraws_its_stop(dbg: Bridge) -> None:
    found = files(dbg)
    found.breakpoint(on="tool", name="slow")

    @dbg.tool
    async def slow() -> None: ...

    async def main() -> None:
        held = asyncio.create_task(slow())
        await asyncio.to_thread(found.wait_for, "paused")
        held.cancel()
        with pytest.raises(asyncio.CancelledError):
            await held

    asyncio.run(main())
    assert dbg.control.stops == {}
    assert found.wait_for("resumed")["action"] == "withdrawn"


# -- cancelling what runs ------------------------------------------------------------------------


def test_a_coroutine_is_cancelled_and_the_loop_gets_an_ordinary_error(dbg: Bridge) -> None:
    found = files(dbg)

    @dbg.tool
    async def endless() -> None:
        await asyncio.Event().wait()

    async def main() -> str:
        task = asyncio.create_task(endless())
        await asyncio.to_thread(found.wait_for, "tool_call_start")
        found.send("cancel_tool", toolId="tool-1")
        try:
            await task
        except ToolCancelled as cancelled:
            await asyncio.sleep(0)  # the task itself was not cancelled
            return str(cancelled)
        raise AssertionError

    assert asyncio.run(main()) == "it was cancelled"
    [end] = found.data_of("tool_call_end")
    assert (end["cancelled"], end["abandoned"]) == (True, False)


def test_a_thread_that_goes_on_is_abandoned_and_not_called_cancelled(dbg: Bridge) -> None:
    found, entered, release = files(dbg), threading.Event(), threading.Event()
    finished: list[str] = []

    def work() -> None:
        entered.set()
        release.wait(60)
        finished.append("anyway")

    @dbg.tool
    async def threaded() -> None:
        await asyncio.to_thread(work)

    async def main() -> None:
        task = asyncio.create_task(threaded())
        await asyncio.to_thread(entered.wait, 60)
        found.send("cancel_tool", toolId="tool-1")
        with pytest.raises(ToolCancelled, match="abandoned"):
            await task
        release.set()

    asyncio.run(main())
    [end] = found.data_of("tool_call_end")
    assert (end["cancelled"], end["abandoned"]) == (False, True)
    assert finished == ["anyway"]


def _cancelled_in(run: Callable[[Callable[[], Any]], Any], dbg: Bridge, work: Any) -> None:
    found = files(dbg)
    tool = dbg.tool(work, name="endless")

    def cancel() -> None:
        found.wait_for("tool_call_start")
        found.send("cancel_tool", toolId="tool-1")

    threading.Thread(target=cancel, daemon=True).start()
    with pytest.raises(ToolCancelled):
        run(tool)
    assert found.data_of("tool_call_end")[0]["cancelled"] is True
    assert (
        found.wait_for_execution(found.send("cancel_tool", toolId="tool-1"))["status"] == "expired"
    )
    assert found.wait_for_rejection(found.send("cancel_tool", toolId="tool-99"))


def test_a_function_of_the_main_thread_is_cancelled_even_while_it_sleeps(dbg: Bridge) -> None:
    _cancelled_in(lambda tool: tool(), dbg, lambda: time.sleep(3600))


def test_a_cancellation_whose_signal_is_missed_is_signalled_again(
    dbg: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    send, missed = signal.pthread_kill, list[int]()

    def miss_the_first(thread: int, number: int) -> None:
        if not missed:
            missed.append(number)
        else:
            send(thread, number)

    monkeypatch.setattr(signal, "pthread_kill", miss_the_first)
    _cancelled_in(lambda tool: tool(), dbg, lambda: time.sleep(3600))
    assert missed


def test_a_function_of_another_thread_is_cancelled_at_its_next_instruction(dbg: Bridge) -> None:
    def spin() -> None:
        while True:
            time.sleep(0.001)

    _cancelled_in(lambda tool: run_in_thread(tool).result(60), dbg, spin)


def _cancel_before_it_begins(dbg: Bridge, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Its start is on record. The commands are carried out before it runs."""
    begin, found, commands = dbg.control.begin_tool, files(dbg), list[str]()

    def begin_late(tool_id: str, running: Any) -> None:
        if not commands:
            commands.append(found.send("cancel_tool", toolId=tool_id))
            assert found.wait_for_execution(commands[0])["status"] == "accepted"
        begin(tool_id, running)

    monkeypatch.setattr(dbg.control, "begin_tool", begin_late)
    return commands


@pytest.mark.parametrize("is_async", [False, True], ids=["function", "coroutine"])
def test_a_tool_that_is_cancelled_before_it_begins_does_not_run(
    dbg: Bridge, monkeypatch: pytest.MonkeyPatch, is_async: bool
) -> None:
    commands, ran = _cancel_before_it_begins(dbg, monkeypatch), list[str]()

    @dbg.tool
    def work() -> None:
        ran.append("it ran")

    @dbg.tool
    async def work_async() -> None:
        ran.append("it ran")

    with pytest.raises(ToolCancelled, match="it was cancelled before it ran"):
        asyncio.run(work_async()) if is_async else work()
    assert ran == []
    found = files(dbg)
    assert found.data_of("tool_call_end")[0]["cancelled"] is True
    assert found.wait_for("command_applied", commandId=commands[0])


def test_an_awaitable_that_is_cancelled_before_it_is_awaited_is_not_waited_for(
    dbg: Bridge,
) -> None:
    found, ended = files(dbg), list[str]()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append("work")

    @dbg.tool
    def begin_work() -> Any:
        return asyncio.ensure_future(work())

    async def main() -> None:
        pending = begin_work()
        found.wait_for_execution(found.send("cancel_tool", toolId="tool-1"))
        with pytest.raises(ToolCancelled, match=r"^it was cancelled$"):
            await pending
        assert ended == ["work"]

    asyncio.run(main())
    assert found.data_of("tool_call_end")[0]["cancelled"] is True


def test_a_cancellation_that_comes_too_late_is_answered(dbg: Bridge) -> None:
    found, commands = files(dbg), list[str]()

    @dbg.tool
    async def work() -> str:
        commands.append(found.send("cancel_tool", toolId="tool-1"))
        found.wait_for_execution(commands[0])  # the loop stands still
        return "done"

    assert asyncio.run(work()) == "done"
    response = found.wait_for("command_response", commandId=commands[0])
    assert response["success"] is False
    assert response["message"].startswith("it was not cancelled")


def test_a_cancellation_that_a_decided_result_overtakes_is_answered(
    dbg: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    loop, record, commands = AgentLoop(dbg, build_writes(1)), dbg.record, list[str]()

    def cancel_after(kind: Any, fields: Any) -> None:
        record(kind, fields)
        if fields.get("decision"):
            commands.append(loop.send("cancel_tool", toolId=fields["toolId"]))
            loop.wait_for_execution(commands[0])

    monkeypatch.setattr(dbg, "record", cancel_after)
    loop.breakpoint(on="tool", name="write")
    running = loop.run_in_thread()
    loop.wait_for_stop()
    loop.resume(action="skip", result="given")
    assert running.result(60) == "done"
    response = loop.wait_for("command_response", commandId=commands[0])
    assert response["success"] is False
    assert response["message"].startswith("it was not cancelled")


def test_a_second_cancellation_is_answered_too_and_cancels_once(dbg: Bridge) -> None:
    found, ended = files(dbg), list[str]()

    @dbg.tool
    async def endless() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)  # where a second one would arrive
            ended.append("whole")

    async def main() -> list[str]:
        task = asyncio.create_task(endless())
        await asyncio.to_thread(found.wait_for, "tool_call_start")
        commands = [found.send("cancel_tool", toolId="tool-1") for _ in range(2)]
        for command in commands:
            found.wait_for_execution(command)  # the loop stands still
        with pytest.raises(ToolCancelled):
            await task
        return commands

    for command in asyncio.run(main()):
        assert found.wait_for("command_applied", commandId=command)
    assert ended == ["whole"]


def test_a_function_is_cancelled_once_however_often_it_is_asked_for(
    dbg: Bridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    found, ended, send = files(dbg), list[str](), signal.pthread_kill
    both_wanted = threading.Event()

    def send_when_both_wanted(thread: int, number: int) -> None:
        both_wanted.wait(60)
        send(thread, number)

    monkeypatch.setattr(signal, "pthread_kill", send_when_both_wanted)

    def cancel_twice() -> list[str]:
        found.wait_for("tool_call_start")
        commands = [found.send("cancel_tool", toolId="tool-1") for _ in range(2)]
        for command in commands:
            found.wait_for_execution(command)
        found.wait_for_execution(found.send("inspect"))  # both are carried out
        both_wanted.set()
        return commands

    @dbg.tool
    def endless() -> None:
        try:
            time.sleep(3600)
        finally:
            signal.raise_signal(signal.SIGURG)  # what another sender would do
            ended.append("whole")

    cancelling = run_in_thread(cancel_twice)
    with pytest.raises(ToolCancelled):
        endless()
    for command in cancelling.result(60):
        assert found.wait_for("command_applied", commandId=command)
    assert ended == ["whole"]


def test_a_coroutine_that_is_dropped_waits_for_no_lock(dbg: Bridge) -> None:
    """The garbage collector may drop it in any thread, whatever that thread holds."""
    held, dropped = threading.Event(), threading.Event()

    class Never:
        def __await__(self) -> Generator[None, None, None]:
            yield

    @dbg.tool
    async def endless() -> None:
        await Never()

    def hold_lock() -> None:
        with dbg.control.lock:
            held.set()
            assert dropped.wait(60)

    coroutine = endless()
    coroutine.send(None)
    holding = run_in_thread(hold_lock)
    held.wait(60)
    coroutine.close()
    dropped.set()
    holding.result(60)
    found = files(dbg)
    again = found.wait_for_execution(found.send("cancel_tool", toolId="tool-1"))
    assert again["status"] == "expired"


def test_a_cancellation_that_follows_the_end_of_a_hold_finds_the_tool(dbg: Bridge) -> None:
    found, ran = files(dbg), list[str]()
    found.breakpoint(on="tool", name="work")

    @dbg.tool
    async def work() -> None:
        ran.append("it ran")

    async def main() -> None:
        held = asyncio.create_task(work())
        await asyncio.to_thread(found.wait_for, "paused")
        found.wait_for_execution(found.send("resume"))  # the loop stands still
        command = found.send("cancel_tool", toolId="tool-1")
        assert found.wait_for_execution(command)["status"] == "accepted"
        with pytest.raises(ToolCancelled, match="it was cancelled before it ran"):
            await held

    asyncio.run(main())
    assert ran == []


@pytest.mark.skipif(sys.version_info < (3, 11), reason="tasks do not count cancellations")
def test_another_cancellation_at_the_same_time_is_not_swallowed(dbg: Bridge) -> None:
    """It may be a timeout of the agent, or Ctrl-C."""
    found = files(dbg)

    @dbg.tool
    async def endless() -> None:
        await asyncio.Event().wait()

    async def main() -> None:
        task = asyncio.create_task(endless())
        await asyncio.to_thread(found.wait_for, "tool_call_start")
        found.wait_for_execution(found.send("cancel_tool", toolId="tool-1"))
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())


def test_a_cancellation_that_a_tool_survives_leaves_nothing_on_its_task(dbg: Bridge) -> None:
    found = files(dbg)

    @dbg.tool
    async def stubborn() -> str:
        with contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return "went on"

    async def call() -> tuple[str, int]:
        task = asyncio.current_task()
        assert task is not None
        return await stubborn(), getattr(task, "cancelling", lambda: 0)()

    async def main() -> tuple[str, int]:
        task = asyncio.create_task(call())
        await asyncio.to_thread(found.wait_for, "tool_call_start")
        found.send("cancel_tool", toolId="tool-1")
        return await task

    assert asyncio.run(main()) == ("went on", 0)


def test_the_end_of_an_inner_tool_does_not_swallow_the_cancellation_of_the_outer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    outer, inner = Interruptible(), Interruptible()
    end, arrived = inner._end, type("_Interrupted", (_Interrupted,), {"of": outer})
    errors = [arrived()]

    def end_late() -> None:
        if errors:
            raise errors.pop()
        end()

    monkeypatch.setattr(inner, "_end", end_late)
    with pytest.raises(_Interrupted):
        inner.close()
    assert inner.is_over


def test_a_signal_that_the_program_takes_for_itself_gets_none_of_ours() -> None:
    running, received = Interruptible(), list[int]()
    before = signal.signal(signal.SIGURG, lambda number, _frame: received.append(number))

    def cancel() -> None:
        running.cancel()
        while True:
            pass

    try:
        with pytest.raises(_Interrupted):  # as in any other thread
            cancel()
        assert received == []
        assert running.note is not None
    finally:
        running.close()
        signal.signal(signal.SIGURG, before)


# -- inspecting ----------------------------------------------------------------------------------


def test_the_state_can_be_inspected_at_any_time(dbg: Bridge) -> None:
    loop = AgentLoop(dbg, build_writes(1))
    loop.breakpoint(on="tool", name="write")
    running = loop.run_in_thread()
    loop.wait_for_stop()

    shown = loop.ask("inspect", what="all")["data"]
    assert (shown["sessionId"], shown["iteration"], shown["paused"]) == (dbg.id, 1, True)
    assert shown["messages"] == {
        "count": 2,
        "roles": {"user": 1, "assistant": 1},
        "recent": [
            {"role": "user", "preview": "begin"},
            {"role": "assistant", "preview": "go on"},
        ],
    }
    assert shown["context"]["tokenEstimate"] > 10
    assert shown["context"]["hasSummary"] is False
    assert shown["tools"] == {"enabled": ["write", "fail", "wait"], "count": 3}
    assert shown["provider"] == {"name": None, "model": "scripted"}
    assert shown["workingSet"] == []
    assert shown["variables"] == {"depth": 1}
    assert "messages" not in loop.ask("inspect", what="tools")["data"]
    whole = loop.ask("inspect", what="messages")["data"]["messages"]
    assert (whole["first"], whole["items"]) == (0, loop.messages)
    last = loop.ask("inspect", what="all", first=-1)["data"]["messages"]
    assert (last["first"], last["items"]) == (1, loop.messages[1:])
    one = loop.ask("inspect", what="messages", first=0, count=1)["data"]["messages"]
    assert one["items"] == loop.messages[:1]
    assert loop.wait_for_rejection(loop.send("inspect", what="messages", first="x"))
    assert loop.wait_for_rejection(loop.send("inspect", what="messages", count=-1))
    assert loop.wait_for_rejection(loop.send("inspect", what="everything"))
    loop.resume()
    running.result(60)


@pytest.mark.parametrize("kind", ["tool", "model"])
def test_a_call_whose_task_is_cancelled_while_it_is_held_is_on_record_and_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    ran: list[str] = []

    async def write(text: str) -> str:
        ran.append(text)
        return "written"

    async def run(dbg: Bridge) -> str:
        wrapped = dbg.tool(write) if kind == "tool" else dbg.model(write, model="writer")
        task = asyncio.ensure_future(wrapped("a"))
        await asyncio.sleep(0)  # now it is held, or has its recorded end
        task.cancel()
        try:
            return str(await task)
        except asyncio.CancelledError:
            return "cancelled"

    with open_bridge(tmp_path, hold=[f"{kind}:write*"]) as dbg:
        assert asyncio.run(run(dbg)) == "cancelled"
        assert len(files(dbg).data_of("paused")) == 1
    [ended] = files(dbg).data_of("tool_call_end", "api_response")
    assert (ended["isError"], ended["error"]["type"]) == (True, "CancelledError")
    monkeypatch.setenv("HOLDFAST_REPLAY", dbg.id)
    with open_bridge(tmp_path) as again:
        assert asyncio.run(run(again)) == "cancelled"
    assert not files(again).data_of("replay_diverged")
    assert ran == []
