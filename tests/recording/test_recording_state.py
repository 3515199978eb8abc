"""A recording's events reduced to its state. Plain values, no IO but for one large body."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from holdfast.model.agent_events import EVENTS, MAIN, RecordedEvent
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.recording_state import (
    Recorded,
    RecordedCall,
    RecordedRun,
    RecordedStop,
    RecordingState,
)


class Log:
    """A state, and what it gave for the event before."""

    def __init__(self, state: RecordingState | None = None) -> None:
        self.state = state or RecordingState()
        self.seq = 0
        self.changed: Recorded | None = None

    def add(self, kind: str, /, **data: Any) -> Log:
        self.seq += 1
        event: RecordedEvent = {
            "seq": self.seq,
            "type": kind,
            "timestamp": "2026-01-23T13:10:00.000Z",
            "sessionId": "debug_1",
            "data": data,
        }
        self.changed = self.state.take(event)
        return self

    def ask(self, iteration: int, *messages: Any, kept: int = 0, **more: Any) -> Log:
        counts = {"iteration": iteration, "messagesKept": kept}
        return self.add("api_request", messages=list(messages), **counts, **more)

    def hold(self, stop: str, at: str = "tool", **more: Any) -> Log:
        return self.add("paused", stop=stop, at=at, reason="breakpoint", **more)


def user(text: str) -> dict[str, str]:
    return {"role": "user", "content": text}


def test_a_session_begins_ends_and_goes_on() -> None:
    log = Log().add("session_start", name="shopper", model="gpt-5")
    assert (log.state.name, log.state.model, log.state.is_over) == ("shopper", "gpt-5", False)
    log.hold("stop-1").add("session_end", reason="error")
    assert (log.state.is_over, log.state.end_reason) == (True, "error")
    assert not log.state.stops
    log.add("session_start", name="shopper")
    assert (log.state.is_over, log.state.end_reason) == (False, None)
    assert log.state.model == "gpt-5"


def test_what_a_crashed_process_held_is_not_held_by_the_next() -> None:
    log = Log().add("session_start").hold("stop-1")
    log.add("tool_call_start", toolId="t1", name="write").ask(1)
    log.add("session_start", reopened=True)
    assert [log.state.stops, log.state.tools, log.state.models] == [{}, {}, {}]
    assert log.state.last_iteration == 1


def test_a_run_begins_and_ends_in_its_lane() -> None:
    log = Log().add("run_start").add("run_start", lane="worker")
    worker = log.changed
    assert isinstance(worker, RecordedRun)
    log.add("run_end", lane="worker", isError=False)
    assert log.changed is worker
    assert worker.ended is not None
    assert [run.lane for run in log.state.runs] == [MAIN]


def test_a_model_call_has_a_request_and_an_outcome() -> None:
    log = Log().ask(3, user("hi"), model="gpt-5", hash="k")
    call = log.changed
    assert isinstance(call, RecordedCall)
    assert (call.kind, call.name, call.iteration, call.ended) == ("model", "gpt-5", 3, None)
    assert log.state.models == {(MAIN, 3): call}
    log.add("api_response", iteration=3, content="yes", usage={"inputTokens": 5, "outputTokens": 2})
    assert log.changed is call
    assert call.outcome["content"] == "yes"
    assert not log.state.models
    assert log.state.counts.tokens == 7


def test_a_tool_call_has_a_result_before_it_ends() -> None:
    log = Log().add("tool_call_start", toolId="t1", name="write", within="t0", iteration=2)
    call = log.changed
    assert isinstance(call, RecordedCall)
    assert (call.kind, call.name, call.tool_id, call.within) == ("tool", "write", "t1", "t0")
    log.add("tool_result", toolId="t1", name="write", result=7)
    assert log.changed is call
    assert (call.ended, call.outcome["result"]) == (None, 7)
    log.add("tool_call_end", toolId="t1", name="write", isError=False)
    assert not log.state.tools
    assert (call.outcome["result"], call.outcome["isError"]) == (7, False)


def test_what_the_debugger_changed_belongs_to_the_next_call() -> None:
    log = Log().add("variable_set", key="a", value=1)
    log.add("message_injected", role="user", content="x", before={"iteration": 2})
    log.add("tool_call_start", toolId="t1", name="write")
    assert isinstance(log.changed, RecordedCall)
    assert [event["type"] for event in log.changed.changes] == ["variable_set"]
    log.ask(1, lane="worker")
    assert isinstance(log.changed, RecordedCall)
    assert log.changed.changes == []
    log.ask(2)
    assert isinstance(log.changed, RecordedCall)
    assert [event["type"] for event in log.changed.changes] == ["message_injected"]


def test_a_stop_is_open_until_it_is_resumed() -> None:
    log = Log().hold("stop-12", name="write", toolId="t1", iteration=4)
    stop = log.changed
    assert isinstance(stop, RecordedStop)
    assert (stop.title, stop.number, stop.lane) == ("tool write", 12, MAIN)
    assert log.state.iteration == 4
    assert log.state.last_iteration == 0
    log.add("resumed", stop="stop-12", action="skip", by="human")
    assert log.changed is stop
    assert stop.ended is not None
    assert stop.ended["data"]["action"] == "skip"
    assert not log.state.stops
    assert log.add("resumed", stop="stop-12").changed is None


def test_messages_are_those_that_stay_and_those_that_are_new() -> None:
    log = Log().ask(1, user("a"), user("b"))
    log.add("api_response", iteration=1, content="c", toolCalls=[{"name": "write"}])
    log.add("tool_call_start", toolId="t1", name="write")
    log.add("tool_result", toolId="t1", name="write", result="d")
    contents = [message["content"] for message in log.state.messages]
    assert contents == ["a", "b", "c", "d"]
    log.ask(2, user("z"), kept=1)
    assert log.state.messages == [user("a"), user("z")]


def test_every_lane_has_its_own_iteration_messages_and_stops() -> None:
    log = Log().ask(1, user("main")).ask(2, user("work"), lane="worker")
    log.add("tool_call_start", toolId="t1", name="read", lane="worker")
    log.ask(3, user("main again"))
    log.add("tool_result", toolId="t1", name="read", result="found")
    log.hold("stop-1", at="model", lane="worker", input={"messages": [], "messagesKept": 1})
    main, worker = log.state.lanes[MAIN], log.state.lanes["worker"]
    assert (main.iteration, worker.iteration, log.state.last_iteration) == (3, 2, 3)
    assert main.messages == [user("main again")]
    assert worker.messages == [user("work")]
    assert log.state.lane == "worker"
    assert [stop.lane for stop in log.state.stops.values()] == ["worker"]


def test_the_result_of_a_tool_goes_to_the_lane_that_called_it() -> None:
    log = Log().ask(1, user("work"), lane="worker")
    log.add("tool_call_start", toolId="t1", name="read", lane="worker").ask(2, user("main"))
    log.add("tool_result", toolId="t1", name="read", result="found")
    assert [message["content"] for message in log.state.lanes["worker"].messages] == [
        *("work", "found")
    ]


def test_a_held_model_call_can_be_edited_whole() -> None:
    log = (
        Log()
        .ask(1, user("a"))
        .hold("stop-1", at="model", input={"messagesKept": 1, "messages": [user("b")]})
    )
    assert isinstance(log.changed, RecordedStop)
    assert log.state.editable_input(log.changed) == {"messages": [user("a"), user("b")]}
    log.hold("stop-2", at="tool", input={"path": "x"})
    assert isinstance(log.changed, RecordedStop)
    assert log.state.editable_input(log.changed) == {"path": "x"}


def test_a_large_body_is_read_from_its_file(tmp_path: Path) -> None:
    contents = ContentFiles(tmp_path)
    cid = contents.put(b'["large"]')
    state = RecordingState(contents)
    assert state.read_body({"$cid": cid, "preview": "…"}) == ["large"]
    assert state.read_body({"$cid": "0" * 64, "preview": "gone"}) == "gone"
    assert RecordingState().read_body({"$cid": cid, "preview": "…"}) == "…"


def test_breakpoints_come_and_go() -> None:
    log = Log().add("command_response", type="breakpoint", data={"breakpoint": {"id": "bp-1"}})
    log.add("command_response", type="breakpoint", data={"breakpoints": [{"id": "bp-2"}]})
    assert list(log.state.breakpoints) == ["bp-1", "bp-2"]
    log.add("command_response", type="breakpoint", data={"cleared": ["bp-1"]})
    assert list(log.state.breakpoints) == ["bp-2"]


def test_an_event_that_was_skipped_is_counted() -> None:
    log = Log().add("error", message="x")
    log.state.skip("value_recorded")
    log.state.skip("something new")
    assert log.state.counts.types == {"error": 1, "value_recorded": 1, "other": 1}
    assert log.state.last_type == "something new"


def test_conversations_are_not_kept_where_nobody_wants_them() -> None:
    log = Log(RecordingState(keeps_messages=False)).ask(1, user("a"))
    log.add("api_response", iteration=1, content="b")
    assert log.state.messages == []
    assert log.state.last_iteration == 1


@pytest.mark.parametrize("kind", EVENTS)
@pytest.mark.parametrize("value", [None, 7, "text", [1], {"a": 1}])
def test_whatever_a_field_holds_the_state_goes_on(kind: str, value: Any) -> None:
    names = ("lane", "iteration", "messages", "messagesKept", "stop", "toolId", "within", "usage")
    more = ("before", "data", "input", "name", "model", "reason", "content", "toolCalls", "allows")
    log = Log().add(kind, **dict.fromkeys((*names, *more), value), type="breakpoint", at="model")
    log.add(kind).add("session_end")
    assert log.state.is_over
