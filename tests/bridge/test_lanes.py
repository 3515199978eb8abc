"""Several agents in one process: whose iteration it is, which turn asked for a tool, and forks."""

from __future__ import annotations

import contextvars
import shutil
import threading
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from agent_loops import SessionFiles
from background import run_in_thread
from holdfast.bridge import Bridge
from holdfast.bridge.agent_calls import ModelCall, ToolCall
from holdfast.bridge.replay_tape import ReplayTape
from holdfast.recording.directories import AgentsDirectory
from holdfast.recording.recording_state import RecordingState, read_events
from holdfast.recording.tail import Tail
from replayable_agent import open_bridge, read_data
from two_lane_agent import TwoLaneAgent

OLD_RECORDING = Path(__file__).parent.parent / "recordings" / "process_wide_iterations"
PATIENCE = 60.0


@pytest.fixture
def dbg(tmp_path: Path) -> Iterator[Bridge]:
    with open_bridge(tmp_path) as found:
        yield found


def files(dbg: Bridge) -> SessionFiles:
    assert dbg.home is not None
    return SessionFiles(dbg.home)


def places(dbg: Bridge, kind: str) -> list[tuple[str, int]]:
    """Lane and iteration of each event of that type."""
    return [(data.get("lane", "main"), data["iteration"]) for data in files(dbg).data_of(kind)]


def ask(dbg: Bridge, text: str, *tool_ids: str, lane: str = "") -> None:
    """A model call whose answer asks for these tools."""
    calls = [{"id": tool_id, "function": {"name": "write"}} for tool_id in tool_ids]
    answer = {"role": "assistant", "content": text, "tool_calls": calls}
    dbg.call_model(ModelCall([{"role": "user", "content": text}], lane=lane), lambda _: answer)


def write(dbg: Bridge, path: str, tool_id: str | None = None, lane: str = "") -> str:
    return dbg.call_tool(ToolCall("write", {"path": path}, id=tool_id, lane=lane), lambda _: path)


# -- iterations and turns -------------------------------------------------------------------------


def test_each_lane_counts_its_own_iterations(dbg: Bridge) -> None:
    TwoLaneAgent(dbg, turns=2)()
    assert places(dbg, "api_request") == [
        *(("main", 1), ("helper", 1), ("helper", 2), ("expert", 1)),
        *(("main", 2), ("helper", 3), ("helper", 4), ("expert", 2)),
    ]
    assert places(dbg, "tool_call_start")[:4] == [
        *(("helper", 1), ("main", 1), ("main", 1), ("expert", 1)),
    ]
    [run] = [data for data in files(dbg).data_of("run_end") if "lane" not in data]
    assert run["iterations"] == 2


def test_a_lane_names_the_one_that_called_it_and_the_tool(dbg: Bridge) -> None:
    TwoLaneAgent(dbg, turns=1)()
    [helper, expert] = files(dbg).data_of("lane_start")
    assert helper == {"lane": "helper", "parent": "main"}
    [called] = [each for each in files(dbg).data_of("tool_call_start") if each["name"] == "expert"]
    assert expert == {"lane": "expert", "parent": "main", "within": called["toolId"]}

    state = RecordingState()
    assert dbg.home is not None
    for event in read_events(Tail(dbg.home.events)):
        state.take(event)
    assert {name: lane.iteration for name, lane in state.lanes.items()} == {
        "main": 1,
        "helper": 2,
        "expert": 1,
    }
    assert (state.lanes["expert"].parent, state.lanes["expert"].count) == ("main", 1)
    assert state.lanes["expert"].within == called["toolId"]


def test_a_tool_belongs_to_the_model_call_that_asked_for_its_id(dbg: Bridge) -> None:
    with dbg.run():
        ask(dbg, "one", "call-1", lane="a")
        ask(dbg, "two", "call-2", lane="b")
        ask(dbg, "three", "call-3", lane="a")
        # A thread without the context, and the model call of another lane came last.
        run_in_thread(lambda: write(dbg, "x", "call-1")).result(PATIENCE)
        write(dbg, "y", "call-2")
    assert places(dbg, "tool_call_start") == [("a", 1), ("b", 1)]


def test_ids_that_several_agents_use_are_told_apart_by_the_context(dbg: Bridge) -> None:
    def agent(lane: str, before: threading.Event, after: threading.Event) -> None:
        with dbg.run(lane=lane):
            ask(dbg, lane, "call-1")
            after.set()
            assert before.wait(PATIENCE)
            write(dbg, lane, "call-1")

    one, two = threading.Event(), threading.Event()
    running = [
        run_in_thread(lambda: agent("a", two, one)),
        run_in_thread(lambda: agent("b", one, two)),
    ]
    for each in running:
        each.result(PATIENCE)
    assert sorted(places(dbg, "tool_call_start")) == [("a", 1), ("b", 1)]


def test_calls_with_the_same_id_at_the_same_time_are_told_apart(dbg: Bridge) -> None:
    both = threading.Barrier(2)

    def agent(lane: str) -> None:
        with dbg.run(lane=lane):
            ask(dbg, lane, "call-1")
            call = ToolCall("write", {"path": lane}, id="call-1")
            dbg.call_tool(call, lambda given: f"{both.wait(PATIENCE)} {given['path']}")

    for running in [run_in_thread(partial(agent, lane)) for lane in "ab"]:
        running.result(PATIENCE)
    begun = {data["toolId"]: data["lane"] for data in files(dbg).data_of("tool_call_start")}
    assert sorted(begun) == ["call-1", "call-1~2"]
    for result in files(dbg).data_of("tool_result"):
        assert result["result"].endswith(begun[result["toolId"]])


def test_a_tool_without_an_id_belongs_to_the_turn_of_its_context(dbg: Bridge) -> None:
    def look_up(question: str) -> str:
        with dbg.run(lane="helper"):
            ask(dbg, question)
            return write(dbg, "inner")

    with dbg.run():
        ask(dbg, "one")
        context = contextvars.copy_context()
        dbg.tool(look_up)("q")
        with ThreadPoolExecutor() as pool:
            pool.submit(context.run, write, dbg, "outer").result(PATIENCE)
        write(dbg, "last")
    assert places(dbg, "tool_call_start") == [
        *(("main", 1), ("helper", 1), ("main", 1), ("main", 1)),
    ]


def test_the_same_sub_agent_side_by_side_is_numbered_as_the_model_asked(dbg: Bridge) -> None:
    both = threading.Barrier(2)

    def research(tool_id: str, topic: str) -> None:
        def body(_: dict[str, Any]) -> None:
            both.wait(PATIENCE)
            ask(dbg, topic)

        dbg.call_tool(ToolCall("research", {"topic": topic}, id=tool_id), body)

    calls = [{"id": each, "function": {"name": "research"}} for each in ("c1", "c2")]
    answer = {"role": "assistant", "content": "go", "tool_calls": calls}
    with dbg.run():
        dbg.call_model(ModelCall([{"role": "user", "content": "go"}]), lambda _: answer)
        running: list[Future[Any]] = []
        for tool_id in ("c2", "c1"):  # the other way round
            context, topic = contextvars.copy_context(), f"of {tool_id}"
            running.append(run_in_thread(partial(context.run, research, tool_id, topic)))
        for each in running:
            each.result(PATIENCE)
    lanes = {data["lane"]: data["within"] for data in files(dbg).data_of("lane_start")}
    assert lanes == {"research": "c1", "research-2": "c2"}


# -- forks ----------------------------------------------------------------------------------------


def fork(dbg: Bridge, agent: type[Any] = TwoLaneAgent, **environment: str) -> Any:
    assert dbg.home is not None
    with open_bridge(dbg.home.agents.root, REPLAY=dbg.id, **environment) as again:
        found = agent(again)
        found()
    return found


def test_a_fork_repeats_no_recorded_side_effect(dbg: Bridge) -> None:
    before = TwoLaneAgent(dbg)
    before()
    again = fork(dbg, FORK_AT="1")
    assert again.done == before.done[len(before.done) // 3 :]
    assert again.messages == before.messages
    assert places(again.dbg, "api_request")[-3:] == places(dbg, "api_request")[-3:]


class BackgroundTool:
    """The tool of the first turn begins when the second turn has begun; `beside` is a lane of its
    own that goes on all the time."""

    def __init__(self, dbg: Bridge) -> None:
        self.dbg, self.done = dbg, list[str]()

    def write(self, path: str, tool_id: str) -> None:
        def body(_: dict[str, Any]) -> None:
            self.done.append(path)

        self.dbg.call_tool(ToolCall("write", {"path": path}, id=tool_id), body)

    def beside(self, number: int) -> None:
        with self.dbg.run(lane="beside"):
            ask(self.dbg, f"beside {number}", f"beside-{number}")

    def __call__(self) -> None:
        with self.dbg.run():
            ask(self.dbg, "one", "late")
            self.beside(1)
            ask(self.dbg, "two", "soon")
            self.write("late", "late")
            self.write("soon", "soon")
            self.write("beside 1", "beside-1")
            self.beside(2)
            self.write("beside 2", "beside-2")


def test_a_tool_of_a_recorded_turn_does_not_run_even_if_it_began_after_the_fork(
    dbg: Bridge,
) -> None:
    before = BackgroundTool(dbg)
    before()
    assert before.done == ["late", "soon", "beside 1", "beside 2"]
    assert fork(dbg, BackgroundTool, FORK_AT="1").done == ["soon", "beside 2"]
    assert fork(dbg, BackgroundTool, FORK_AT="2").done == []


def test_a_fork_may_begin_inside_a_sub_agent(dbg: Bridge) -> None:
    before = TwoLaneAgent(dbg)
    before()
    again = fork(dbg, FORK_AT="1", FORK_LANE="expert")
    # The tool `expert` of the second turn runs, because the fork begins inside it.
    assert again.done[:3] == ["expert q1", "model 1", "write expert of q1"]
    assert "write main 1" not in again.done
    assert "write helper 1" not in again.done
    assert again.messages == before.messages
    [started] = read_data(again.dbg.home, "session_start")
    assert (started["forkAt"], started["forkLane"]) == (1, "expert")


def test_a_full_replay_and_one_with_live_tools_find_every_lane(dbg: Bridge) -> None:
    before = TwoLaneAgent(dbg)
    before()
    assert fork(dbg).done == []
    live = fork(dbg, REPLAY_MODE="model")
    assert live.done == [each for each in before.done if not each.startswith("model")]
    assert live.messages == before.messages


# -- recordings that count for the whole process --------------------------------------------------


@pytest.fixture
def old(tmp_path: Path) -> Path:
    """The root of a directory with a recording that an earlier version made."""
    agents = AgentsDirectory(tmp_path / "old")
    agents.create()
    shutil.copytree(OLD_RECORDING, agents.home("debug_20260123_131000_abc1").path)
    return agents.root


@pytest.mark.parametrize("mode", ["full", "model"])
def test_an_old_recording_is_replayed(old: Path, mode: str) -> None:
    with open_bridge(old, REPLAY="debug_20260123_131000_abc1", REPLAY_MODE=mode) as dbg:
        agent = TwoLaneAgent(dbg)
        agent()
    assert not any(each.startswith("model") for each in agent.done)
    assert (agent.done == []) is (mode == "full")
    assert files(dbg).data_of("replay_diverged") == []


def test_an_old_recording_is_forked_by_the_iterations_of_its_lanes(old: Path) -> None:
    home = AgentsDirectory(old).home("debug_20260123_131000_abc1")
    tape = ReplayTape(home, fork_at=1)
    assert (tape.lanes, tape.iterations) == (["main", "helper", "expert"], 3)
    assert ReplayTape(home, fork_at=1, fork_lane="helper").iterations == 6
    with open_bridge(old, REPLAY=home.id, FORK_AT="1") as dbg:
        agent = TwoLaneAgent(dbg)
        agent()
    assert [each for each in agent.done if each.endswith((" 0", "q0"))] == []
    assert "write main 1" in agent.done


def test_an_old_recording_is_read_with_numbers_of_its_lanes(old: Path) -> None:
    state = RecordingState()
    for event in read_events(Tail(AgentsDirectory(old).home("debug_20260123_131000_abc1").events)):
        state.take(event)
    assert {name: lane.iteration for name, lane in state.lanes.items()} == {
        "main": 3,
        "helper": 6,
        "expert": 3,
    }


# -- steering one of them -------------------------------------------------------------------------


class Pair(SessionFiles):
    """Two loops in lanes `a` and `b`, each with turns as long as it is let go on."""

    def __init__(self, dbg: Bridge, turns: int = 3) -> None:
        assert dbg.home is not None
        super().__init__(dbg.home)
        self.dbg, self.turns = dbg, turns
        self.messages: dict[str, list[Any]] = {}
        self.vars: dict[str, dict[str, Any]] = {"a": {"depth": 1}, "b": {"depth": 1}}
        self._ask = dbg.model(lambda messages: f"answer to {len(messages)}")

    def loop(self, lane: str) -> None:
        messages = self.messages.setdefault(lane, [{"role": "user", "content": f"I am {lane}"}])
        with self.dbg.run(messages=messages, vars=self.vars[lane], lane=lane):
            for _ in range(self.turns):
                messages.append({"role": "assistant", "content": self._ask(messages)})

    def start(self) -> list[Future[Any]]:
        return [run_in_thread(partial(self.loop, lane)) for lane in "ab"]

    def hold_both(self) -> list[Future[Any]]:
        self.wait_for_execution(self.send("pause"))
        running = self.start()
        self.wait_for("paused", lane="a")
        self.wait_for("paused", lane="b")
        return running

    def held(self) -> dict[str, int]:
        return {
            stop.lane: int(stop.about["iteration"])
            for stop in list(self.dbg.control.stops.values())
        }

    def finish(self, running: list[Future[Any]]) -> None:
        self.send("breakpoint", action="clear-all")
        while not all(each.done() for each in running):
            self.resume()
        for each in running:
            each.result(PATIENCE)


def test_a_pause_holds_every_lane_and_a_lane_that_is_let_go_runs_on(dbg: Bridge) -> None:
    pair = Pair(dbg)
    running = pair.hold_both()
    stop = next(each for each in dbg.control.stops.values() if each.lane == "a")
    pair.resume(stop=stop.id)
    running[0].result(PATIENCE)
    assert pair.held() == {"b": 1}
    pair.finish(running)


def test_a_pause_of_one_lane_lets_the_others_run(dbg: Bridge) -> None:
    pair = Pair(dbg)
    # A lane is known once it has begun.
    pair.breakpoint(on="iteration", count=1, lane="b")
    running = pair.start()
    pair.wait_for("paused", lane="b")
    running[0].result(PATIENCE)

    pair.wait_for_execution(pair.send("pause", lane="a"))
    assert pair.wait_for_execution(pair.send("pause", lane="b"))["note"] == "it is held already"
    refused = pair.wait_for_rejection(pair.send("pause", lane="c"))
    assert "there is no lane 'c'; there are main, a, b" in refused["message"]
    pair.finish(running)


def test_a_step_of_one_lane_is_its_next_model_call(dbg: Bridge) -> None:
    pair = Pair(dbg)
    running = pair.hold_both()
    pair.wait_for_execution(pair.send("step", lane="b"))
    stop = pair.wait_for("paused", 2, lane="b")
    assert (stop["reason"], stop["iteration"]) == ("step", 2)
    assert pair.held() == {"a": 1, "b": 2}
    assert pair.data_of("step_complete") == [{"iteration": 1, "lane": "b"}]

    pair.wait_for_execution(pair.send("step"))  # every lane
    pair.wait_for("paused", 3, lane="b")
    pair.wait_for("paused", 2, lane="a")
    assert pair.held() == {"a": 2, "b": 3}
    pair.finish(running)


def test_an_iteration_breakpoint_is_for_one_lane_or_for_the_first_that_gets_there(
    dbg: Bridge,
) -> None:
    pair = Pair(dbg)
    pair.breakpoint(on="iteration", count=2, lane="b")
    point = pair.breakpoint(on="iteration", count=3)
    running = pair.start()
    assert pair.wait_for("paused", iteration=2)["lane"] == "b"
    third = pair.wait_for("paused", iteration=3)
    assert (third["lane"], third["breakpoint"]["id"]) == ("a", point)
    assert sorted(hit["lane"] for hit in pair.data_of("breakpoint_hit")) == ["a", "b"]
    pair.finish(running)
    assert len(pair.data_of("breakpoint_hit")) == 2


def test_messages_and_variables_go_to_the_lane_that_is_named_or_held(dbg: Bridge) -> None:
    pair = Pair(dbg)
    pair.breakpoint(on="iteration", count=1, lane="b")
    running = pair.start()
    pair.wait_for("paused", lane="b")
    running[0].result(PATIENCE)

    pair.wait_for("message_injected", commandId=pair.send("inject_message", content="hurry"))
    pair.wait_for("variable_set", commandId=pair.send("set_variable", key="depth", value=7))
    assert pair.messages["b"][-1] == {"role": "user", "content": "hurry"}
    assert pair.vars == {"a": {"depth": 1}, "b": {"depth": 7}}

    later = pair.send("inject_message", content="wait", lane="a")
    assert pair.wait_for_execution(later)["status"] == "accepted"
    refused = pair.wait_for_rejection(pair.send("set_variable", key="depth", value=8, lane="a"))
    assert "lane a gave no variables" in refused["message"]
    pair.finish(running)
    assert pair.data_of("command_applied")[-1]["commandId"] != later


def test_inspect_shows_the_lanes_and_the_conversation_of_one(dbg: Bridge) -> None:
    pair = Pair(dbg)
    running = pair.hold_both()
    pair.wait_for_execution(pair.send("step", lane="b"))
    pair.wait_for("paused", 2, lane="b")

    shown = pair.ask("inspect", lane="b")["data"]
    assert (shown["lane"], shown["iteration"], shown["messages"]["count"]) == ("b", 2, 2)
    assert [stop["lane"] for stop in shown["stops"]] == ["b"]
    other = pair.ask("inspect", what="messages", lane="a")["data"]
    assert other["messages"]["recent"] == [{"role": "user", "preview": "I am a"}]
    assert {lane["lane"]: (lane["status"], lane["iteration"]) for lane in shown["lanes"]} == {
        "main": ("idle", 0),
        "a": ("held", 1),
        "b": ("held", 2),
    }
    assert pair.wait_for_rejection(pair.send("inspect", lane="c"))
    pair.finish(running)


def test_inspect_shows_the_variables_of_the_lane_that_it_shows(dbg: Bridge) -> None:
    """The lane that is held, and not the one whose run began last."""
    pair = Pair(dbg)
    with (
        dbg.run(lane="a", vars={"who": "a"}),
        dbg.run(lane="b", vars={"who": "b"}),
    ):
        ask(dbg, "x", lane="a")
        ask(dbg, "y", lane="b")
        pair.breakpoint(on="tool", name="write")
        held = run_in_thread(partial(write, dbg, "file", lane="a"))
        pair.wait_for("paused", lane="a")
        shown = pair.ask("inspect")["data"]
        assert (shown["lane"], shown["variables"]) == ("a", {"who": "a"})
        pair.wait_for_execution(pair.send("resume"))
        held.result(PATIENCE)


def test_a_step_from_a_tool_passes_its_sub_agent_and_a_step_of_the_session_does_not(
    dbg: Bridge,
) -> None:
    found = files(dbg)
    agent = TwoLaneAgent(dbg, turns=2)
    found.breakpoint(on="tool", name="expert")
    running = run_in_thread(agent)
    stop = found.wait_for("paused", name="expert")
    found.wait_for_execution(found.send("step", stop=stop["stop"]))
    second = found.wait_for("paused", 2)
    assert (second.get("lane", "main"), second["iteration"]) == ("main", 2)

    found.wait_for_execution(found.send("resume"))
    stop = found.wait_for("paused", 2, name="expert")
    found.wait_for_execution(found.send("step"))
    assert found.wait_for("paused", 4)["lane"] == "expert"
    found.send("resume")
    running.result(PATIENCE)
