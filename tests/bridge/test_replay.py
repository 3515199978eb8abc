"""A recording played again: nothing is called, nothing is different, or it says what is."""

from __future__ import annotations

import asyncio
import os
import uuid
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from background import run_in_thread
from holdfast.bridge import Bridge, Diverged, start
from holdfast.model.agent_events import EventData
from holdfast.recording import command_sender
from holdfast.recording.directories import SessionDirectory
from holdfast.recording.tail import Tail
from holdfast.wire import agent_lines
from polling import wait_until
from replayable_agent import CountingLoop, build_writes, format_edits, open_bridge, read_data

PATIENCE = 60.0


def record_run(directory: Path, turns: list[list[dict[str, Any]]]) -> CountingLoop:
    with open_bridge(directory) as dbg:
        loop = CountingLoop(dbg, turns)
        loop()
    return loop


def replay_run(loop: CountingLoop, **environment: str) -> CountingLoop:
    with open_bridge(loop.home.agents.root, REPLAY=loop.home.id, **environment) as dbg:
        again = CountingLoop(dbg, loop.turns)
        again()
    return again


def find_divergence(home: SessionDirectory) -> EventData:
    (found,) = read_data(home, "replay_diverged")
    return found


class Debugger:
    """Holds an agent that runs in a thread, and decides."""

    def __init__(self, home: SessionDirectory) -> None:
        self.home = home
        self._tail = Tail(home.events)
        self._lines: deque[bytes] = deque()

    def until(self, kind: str) -> EventData:
        """The next event of that type."""

        def look() -> EventData | None:
            self._lines.extend(line for _, line in self._tail.lines())
            while self._lines:
                event = agent_lines.parse_event(self._lines.popleft())
                if event is not None and event["type"] == kind:
                    return event["data"]
            return None

        return wait_until(look, kind, pause=0.002)

    def send(self, kind: str, **data: Any) -> str:
        return command_sender.send_command(self.home, kind, data)

    def breakpoint(self, **data: Any) -> None:
        self.send("breakpoint", action="add", **data)
        self.until("command_response")

    def decide(self, **data: Any) -> None:
        self.send("resume", stop=self.until("paused")["stop"], **data)
        self.until("resumed")


def record_decision(
    directory: Path, turns: list[list[dict[str, Any]]], steer: Callable[[Debugger], None], **on: Any
) -> CountingLoop:
    """A recording in which somebody decided something."""
    with open_bridge(directory) as dbg:
        loop = CountingLoop(dbg, turns)
        debugger = Debugger(loop.home)
        debugger.breakpoint(**on)
        running = run_in_thread(loop)
        steer(debugger)
        running.result(PATIENCE)
    return loop


# -- the same -----------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_thousand_steps_replay_without_one_call(tmp_path: Path) -> None:
    loop = record_run(tmp_path, [build_writes(f"{number}.txt") for number in range(1000)])
    assert (loop.asked, len(loop.done)) == (1001, 1000)

    again = replay_run(loop)

    assert (again.asked, again.done) == (0, [])
    assert again.messages == loop.messages
    assert read_data(again.home, "replay_diverged") == []
    assert read_data(again.home, "session_start")[0]["replayOf"] == loop.home.id


def test_a_replay_can_be_replayed(tmp_path: Path) -> None:
    loop = record_run(tmp_path, [build_writes("a"), [{"tool": "fail", "why": "broken"}]])
    again = replay_run(replay_run(loop))
    assert (again.asked, again.done, again.messages) == (0, [], loop.messages)


def test_errors_are_raised_again_as_what_they_were(tmp_path: Path) -> None:
    again = replay_run(record_run(tmp_path, [[{"tool": "fail", "why": "broken"}]]))
    assert again.messages[2]["content"] == "ValueError: broken"
    assert again.done == []


def test_in_model_mode_the_tools_run(tmp_path: Path) -> None:
    loop = record_run(tmp_path, [build_writes("a"), build_writes("b")])
    again = replay_run(loop, REPLAY_MODE="model")
    assert (again.asked, again.done) == (0, [("write", "a"), ("write", "b")])
    assert again.messages == loop.messages


class Parallel(CountingLoop):
    """Its tools run in threads of a pool, more of them than threads."""

    def perform(self, calls: list[dict[str, Any]]) -> list[Any]:
        with ThreadPoolExecutor(4) as pool:
            return list(pool.map(self.perform_one, map(dict, calls)))


def test_parallel_tools_find_their_own_results(tmp_path: Path) -> None:
    turns = [build_writes(*(f"{turn}-{number}" for number in range(20))) for turn in range(20)]
    with open_bridge(tmp_path) as dbg:
        loop = Parallel(dbg, turns)
        loop()
    for _ in range(3):
        with open_bridge(tmp_path, REPLAY=loop.home.id) as dbg:
            again = Parallel(dbg, turns)
            again()
        assert (again.asked, again.done, again.messages) == (0, [], loop.messages)


def test_agents_in_lanes_of_their_own_replay_side_by_side(tmp_path: Path) -> None:
    async def family(dbg: Bridge, calls: list[str]) -> list[Any]:
        @dbg.model
        async def ask(messages: list[Any]) -> str:
            calls.append("model")
            await asyncio.sleep(0.001 * (len(messages) % 3))
            return f"answer {len(messages)}"

        @dbg.tool
        async def look(name: str) -> str:
            calls.append("tool")
            await asyncio.sleep(0.001)
            return name.upper()

        async def agent(name: str) -> list[Any]:
            messages: list[Any] = [{"role": "user", "content": name}]
            async with dbg.run(messages=messages, lane=name):
                for _ in range(5):
                    said = await ask(messages)
                    found = await look(f"{name} {said}")
                    token = dbg.random()
                    messages.append({"role": "tool", "content": [said, found, token]})
            return messages

        return list(await asyncio.gather(*(agent(name) for name in "abc")))

    with open_bridge(tmp_path) as dbg:
        before = asyncio.run(family(dbg, []))
    calls: list[str] = []
    with open_bridge(tmp_path, REPLAY=dbg.id) as again:
        assert asyncio.run(family(again, calls)) == before
    assert calls == []


def test_what_a_tool_asks_for_inside_is_not_asked_for_in_a_full_replay(tmp_path: Path) -> None:
    calls: list[str] = []

    def agent(dbg: Bridge) -> list[Any]:
        messages: list[Any] = [{"role": "user", "content": "begin"}]

        @dbg.model
        def ask(messages: list[Any]) -> str:
            calls.append("model")
            return f"answer to {len(messages)}"

        @dbg.tool
        def small(text: str) -> str:
            calls.append("small")
            return text.upper()

        @dbg.tool
        def expert(question: str) -> list[Any]:
            calls.append("expert")
            answer = ask([{"role": "user", "content": question}])
            return [answer, small(answer), str(dbg.uuid4())]

        with dbg.run(messages=messages):
            for number in range(3):
                messages.append({"role": "assistant", "content": ask(messages)})
                messages.append({"role": "tool", "content": expert(f"question {number}")})
                messages.append({"role": "tool", "content": str(dbg.uuid4())})
        return messages

    with open_bridge(tmp_path) as dbg:
        before = agent(dbg)
    assert calls == ["model", "expert", "model", "small"] * 3
    calls.clear()
    with open_bridge(tmp_path, REPLAY=dbg.id) as again:
        assert agent(again) == before
    assert (calls, again.iteration) == ([], dbg.iteration)
    with open_bridge(tmp_path, REPLAY=dbg.id, REPLAY_MODE="model") as again:
        assert agent(again) == before
    assert calls == ["expert", "small"] * 3


def test_clocks_ids_and_chance_come_back(tmp_path: Path) -> None:
    def ask(dbg: Bridge) -> list[Any]:
        found: list[Any] = [dbg.time(), dbg.now(), dbg.uuid4(), dbg.random(), dbg.randint(1, 10**9)]
        return [*found, dbg.choice(range(10**6)), dbg.value("mine", uuid.uuid4)]

    with open_bridge(tmp_path) as dbg:
        before = [ask(dbg), ask(dbg)]
    with open_bridge(tmp_path, REPLAY=dbg.id) as again:
        assert [ask(again), ask(again)] == before
        with pytest.raises(Diverged, match="no more values of 'time'"):
            again.time()
    assert again.home is not None
    assert find_divergence(again.home)["name"] == "time"


# -- what the debugger did is part of it --------------------------------------------------------


def test_a_changed_input_is_changed_again(tmp_path: Path) -> None:
    loop = record_decision(
        tmp_path,
        [build_writes("a")],
        lambda debugger: debugger.decide(action="modify", input={"text": "x" * 100_000}),
        on="tool",
        name="write",
    )
    assert replay_run(loop).messages == loop.messages
    live = replay_run(loop, REPLAY_MODE="model")
    assert (live.messages, len(live.done)) == (loop.messages, 1)


def test_a_faked_result_is_faked_again(tmp_path: Path) -> None:
    loop = record_decision(
        tmp_path,
        [build_writes("a"), build_writes("b")],
        lambda debugger: debugger.decide(action="skip", result={"faked": "x" * 100_000}),
        on="tool",
        name="write",
        hitCondition="1",
    )
    assert loop.done == [("write", "b")]
    assert replay_run(loop).messages == loop.messages
    live = replay_run(loop, REPLAY_MODE="model")
    assert (live.messages, live.done) == (loop.messages, [("write", "b")])


def test_a_raised_error_and_a_cancelled_tool_are_so_again(tmp_path: Path) -> None:
    def steer(debugger: Debugger) -> None:
        debugger.decide(action="raise", exception_type="KeyError", exception_message="no")
        debugger.decide(action="cancel")

    loop = record_decision(
        tmp_path, [build_writes("a"), build_writes("b")], steer, on="tool", name="write"
    )
    assert [each["content"] for each in loop.messages[2::2]] == [
        "KeyError: 'no'",
        "ToolCancelled: write was cancelled before it ran",
    ]
    for mode in ("full", "model"):
        again = replay_run(loop, REPLAY_MODE=mode)
        assert (again.messages, again.done) == (loop.messages, [])


@pytest.mark.parametrize("decision", ["skip", "raise"])
def test_what_was_decided_of_an_error_is_decided_again(tmp_path: Path, decision: str) -> None:
    data: dict[str, Any] = {"result": "never mind"}
    if decision == "raise":
        data = {"exception_type": "OSError", "exception_message": "something else"}
    loop = record_decision(
        tmp_path,
        [[{"tool": "fail", "why": "broken"}], build_writes("a")],
        lambda debugger: debugger.decide(action=decision, **data),
        on="error",
    )
    said = {"skip": "never mind", "raise": "OSError: something else"}[decision]
    assert loop.messages[2]["content"] == said
    for mode in ("full", "model"):
        assert replay_run(loop, REPLAY_MODE=mode).messages == loop.messages


def test_an_injected_message_and_edited_messages_are_there_again(tmp_path: Path) -> None:
    def steer(debugger: Debugger) -> None:
        debugger.until("paused")
        debugger.send("inject_message", role="user", content="hurry " * 20_000)
        debugger.until("message_injected")
        debugger.send("resume", action="inject", role="system", content="and be brief")
        debugger.until("resumed")
        held = debugger.until("paused")["input"]
        edited = [*held["messages"], {"role": "user", "content": "edited"}]
        debugger.send("resume", action="modify", input={"messages": edited})

    loop = record_decision(
        tmp_path, [build_writes("a"), build_writes("b")], steer, on="model", hitCondition="<=2"
    )
    again = replay_run(loop)
    assert again.messages == loop.messages
    assert len(read_data(again.home, "message_injected")) == 2
    assert again.messages[-1]["content"] == loop.messages[-1]["content"]


class Steered(CountingLoop):
    """What its tools are asked for depends on a variable, at once."""

    def perform_one(self, call: dict[str, Any]) -> Any:
        call["path"] += f"-{self.vars['depth']}"
        return super().perform_one(call)


@pytest.mark.parametrize("on", [{"on": "model", "name": "*"}, {"on": "tool", "name": "write"}])
def test_a_variable_is_set_again_at_the_same_place(tmp_path: Path, on: dict[str, Any]) -> None:
    with open_bridge(tmp_path) as dbg:
        loop = Steered(dbg, [build_writes("a", "b"), build_writes("c")])
        debugger = Debugger(loop.home)
        debugger.breakpoint(**on, hitCondition="1")
        running = run_in_thread(loop)
        debugger.until("paused")
        debugger.send("set_variable", key="depth", value=7)
        debugger.until("variable_set")
        debugger.send("resume")
        running.result(PATIENCE)
    assert ("write", "b-7") in loop.done
    with open_bridge(tmp_path, REPLAY=dbg.id) as dbg:
        again = Steered(dbg, loop.turns)
        again()
    assert (again.messages, again.vars) == (loop.messages, {"depth": 7})


# -- different ----------------------------------------------------------------------------------


def test_it_stops_at_the_first_difference_and_shows_it(tmp_path: Path) -> None:
    loop = record_run(tmp_path, [build_writes("a"), build_writes("b"), build_writes("c")])

    class Changed(CountingLoop):
        def perform_one(self, call: dict[str, Any]) -> Any:
            if call["path"] == "b":
                call["text"] = "new"
            return super().perform_one(call)

    with open_bridge(tmp_path, REPLAY=loop.home.id) as dbg:
        again = Changed(dbg, loop.turns)
        with pytest.raises(Diverged, match=r'iteration 2: tool write .*: text is new: "new"'):
            again()
        with pytest.raises(Diverged, match="iteration 2"):
            again.tools["write"]("c")
    found = find_divergence(again.home)
    assert (found["kind"], found["name"], found["iteration"]) == ("tool", "write", 2)
    assert found["expected"]["asked"] == {"path": "b"}
    assert found["found"]["asked"] == {"path": "b", "text": "new"}
    assert (again.asked, again.done) == (0, [])


def test_another_tool_in_its_place_is_a_difference(tmp_path: Path) -> None:
    loop = record_run(tmp_path, [build_writes("a"), [{"tool": "read", "path": "a"}]])
    with open_bridge(tmp_path, REPLAY=loop.home.id) as dbg:
        again = CountingLoop(dbg, [])
        again.ask(again.messages)
        with pytest.raises(Diverged, match="asks for tool read, where the recording has tool wri"):
            again.tools["read"]("a")


@pytest.mark.parametrize(
    ("change", "difference"),
    [
        ({"model": "other"}, 'model was "scripted" and is "other"'),
        ({"heat": 0.9}, "settings.heat is new: 0.9"),
    ],
)
def test_another_setting_of_a_model_is_a_difference(
    tmp_path: Path, change: dict[str, Any], difference: str
) -> None:
    loop = record_run(tmp_path, [])
    with open_bridge(tmp_path, REPLAY=loop.home.id) as dbg:
        again = CountingLoop(dbg, [])
        with pytest.raises(Diverged):
            again.ask(again.messages, **change)
    assert find_divergence(again.home)["difference"] == difference


def test_another_message_is_found_among_many(tmp_path: Path) -> None:
    loop = record_run(tmp_path, [build_writes("a"), build_writes("b")])
    with open_bridge(tmp_path, REPLAY=loop.home.id, REPLAY_MODE="model") as dbg:
        again = CountingLoop(dbg, loop.turns)
        again.tools["write"] = dbg.tool(lambda path: f"tore {path}", name="write")
        with pytest.raises(Diverged):
            again()
    found = find_divergence(again.home)
    assert (found["kind"], found["iteration"]) == ("model", 2)
    assert found["difference"] == 'messages[2].content was "wrote a" and is "tore a"'


def test_more_than_was_recorded_and_less_are_differences(tmp_path: Path) -> None:
    loop = record_run(tmp_path, [build_writes("a")])
    with open_bridge(tmp_path, REPLAY=loop.home.id) as dbg:
        again = CountingLoop(dbg, loop.turns)
        again()
        with pytest.raises(Diverged, match="the recording has no more calls"):
            again.tools["write"]("b")
    assert "recordingEnded" not in find_divergence(again.home)

    with open_bridge(tmp_path, REPLAY=loop.home.id) as dbg:
        less = CountingLoop(dbg, loop.turns)
        less.ask(less.messages)
    assert find_divergence(less.home)["message"] == (
        "the agent ended, and the recording goes on with tool write of iteration 1"
    )


def test_a_loop_that_survives_errors_does_not_survive_this(tmp_path: Path) -> None:
    assert not issubclass(Diverged, Exception)


# -- the recording of a killed agent ------------------------------------------------------------


def truncate_recording(home: SessionDirectory, after: int) -> None:
    """As a killed agent leaves it: so many whole lines, and half of one."""
    lines = home.events.read_bytes().splitlines(keepends=True)
    home.events.write_bytes(b"".join(lines[:after]) + lines[after][:20])


@pytest.mark.parametrize(
    ("last", "said"),
    [
        ("tool_call_end", "asks for model scripted, and the recording ends before it"),
        ("tool_call_start", "the recording ends inside tool write of iteration 2"),
        ("api_request", "the recording ends inside model scripted of iteration 2"),
    ],
)
def test_half_a_recording_is_played_to_where_it_ends(tmp_path: Path, last: str, said: str) -> None:
    loop = record_run(tmp_path, [build_writes("a"), build_writes("b"), build_writes("c")])
    types = [agent_lines.parse_event(line) for line in loop.home.events.read_bytes().splitlines()]
    places = [at for at, event in enumerate(types) if event and event["type"] == last]
    truncate_recording(loop.home, places[1] + 1)

    with open_bridge(tmp_path, REPLAY=loop.home.id) as dbg:
        again = CountingLoop(dbg, loop.turns)
        with pytest.raises(Diverged, match=said):
            again()
    assert (again.asked, again.done) == (0, [])
    assert again.messages[:3] == loop.messages[:3]
    assert find_divergence(again.home)["recordingEnded"] is True


# -- forks --------------------------------------------------------------------------------------


def test_a_fork_plays_so_many_iterations_and_goes_on_live(tmp_path: Path) -> None:
    loop = record_run(tmp_path, [build_writes("a"), build_writes("b"), build_writes("c")])
    again = replay_run(loop, FORK_AT="2")
    assert (again.asked, again.done) == (2, [("write", "c")])
    assert again.messages == loop.messages
    started_as = read_data(again.home, "session_start")[0]
    assert (started_as["parent"], started_as["forkAt"]) == (loop.home.id, 2)
    assert again.home.read_metadata()["parent"] == loop.home.id


def test_a_fork_may_say_something_else(tmp_path: Path) -> None:
    loop = record_run(tmp_path, [build_writes("a"), build_writes("b")])
    message = {"role": "user", "content": "stop it"}
    again = replay_run(loop, FORK_AT="1", FORK_EDITS=format_edits(message=message))
    assert again.messages[3] == message
    assert again.asked == 2


@pytest.mark.parametrize("mode", ["full", "model"])
def test_a_fork_may_have_seen_something_else(tmp_path: Path, mode: str) -> None:
    loop = record_run(tmp_path, [build_writes("a"), build_writes("b")])
    results = {"tool-2": {"nothing": "written"}}
    again = replay_run(
        loop, FORK_AT="2", REPLAY_MODE=mode, FORK_EDITS=format_edits(results=results)
    )
    assert again.messages[4]["content"] == {"nothing": "written"}
    assert ("write", "b") not in again.done
    assert read_data(again.home, "tool_result")[1]["faked"] is True


def test_a_fork_of_nothing_is_live_from_the_start(tmp_path: Path) -> None:
    loop = record_run(tmp_path, [build_writes("a")])
    again = replay_run(loop, FORK_AT="0")
    assert (again.asked, again.done) == (2, [("write", "a")])


def test_a_fork_past_a_side_effect_warns(tmp_path: Path) -> None:
    read = [{"tool": "read", "path": "a"}]
    loop = record_run(tmp_path, [read, build_writes("a"), build_writes("b")])

    assert read_data(replay_run(loop, FORK_AT="1").home, "error") == []
    (warning,) = read_data(replay_run(loop, FORK_AT="2").home, "error")
    assert (warning["warning"], warning["tools"]) == (True, ["write"])
    assert "is not done again" in warning["message"]
    (warning,) = read_data(replay_run(loop, FORK_AT="2", REPLAY_MODE="model").home, "error")
    assert "is done once more" in warning["message"]


def test_what_was_prevented_is_no_side_effect(tmp_path: Path) -> None:
    loop = record_decision(
        tmp_path,
        [build_writes("a")],
        lambda debugger: debugger.decide(action="skip", result="faked"),
        on="tool",
        name="write",
    )
    assert read_data(replay_run(loop, FORK_AT="1").home, "error") == []


def test_what_a_replayed_agent_starts_itself_is_live(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with open_bridge(tmp_path) as dbg:
        pass
    monkeypatch.setenv("HOLDFAST_REPLAY", dbg.id)
    with start("replayed", directory=tmp_path) as again, start("own", directory=tmp_path) as own:
        assert again.tape is not None
        assert own.tape is None
        assert "HOLDFAST_REPLAY" not in os.environ
