"""An agent's events as spans: names, times, who belongs to whom. Plain values, no IO."""

from __future__ import annotations

from typing import Any

from holdfast.model.agent_events import RecordedEvent
from holdfast.recording import agent_spans
from holdfast.wire import agent_lines

BEGAN = 1_750_000_000.0


class Log:
    """Events, each at a moment given in milliseconds since the session began."""

    def __init__(self) -> None:
        self.events: list[RecordedEvent] = []
        about = {"name": "shopper", "provider": "openai", "model": "gpt-5"}
        self.add(0, "session_start", **about)

    def add(self, at: float, kind: str, /, **data: Any) -> Log:
        moment = agent_lines.format_timestamp(BEGAN + at / 1000)
        self.events.append(
            {
                "seq": len(self.events) + 1,
                "type": kind,
                "timestamp": moment,
                "sessionId": "debug_1",
                "data": data,
            }
        )
        return self

    def model(self, at: float, took: float, iteration: int = 1, **more: Any) -> Log:
        where = {"iteration": iteration, **({"lane": more.pop("lane")} if "lane" in more else {})}
        within = {"within": more.pop("within")} if "within" in more else {}
        self.add(at, "api_request", model="gpt-5", provider="openai", **where, **within)
        return self.add(at + took, "api_response", durationMs=took, isError=False, **where, **more)

    def tool(self, at: float, took: float, tool_id: str = "t1", **more: Any) -> Log:
        who = {"toolId": tool_id, "name": "write"}
        started = {name: more.pop(name) for name in ("lane", "within", "pure") if name in more}
        self.add(at, "tool_call_start", input={}, iteration=1, **who, **started)
        ended = {"isError": False, "durationMs": took, **more}
        return self.add(at + took, "tool_call_end", **who, **ended)

    def spans(self) -> dict[str, agent_spans.Span]:
        spans = agent_spans.Spans("debug_1")
        found = dict.fromkeys(span for event in self.events for span in spans.take(event))
        spans.close()
        return {span.name: span for span in found}


def milliseconds(span: agent_spans.Span) -> tuple[float, float]:
    assert span.end is not None
    began = int(BEGAN) * 10**9
    return (span.start - began) / 1e6, (span.end - began) / 1e6


def test_a_run_has_its_calls_inside() -> None:
    log = Log().add(10, "run_start").model(20, 5).tool(30, 7)
    spans = log.add(50, "run_end", isError=False).add(60, "session_end").spans()
    run, chat, tool = spans.values()
    assert list(spans) == ["invoke_agent shopper", "chat gpt-5", "execute_tool write"]
    assert run.parent is None
    assert chat.parent == tool.parent == run.id
    assert [milliseconds(each) for each in (run, chat, tool)] == [(10, 50), (20, 25), (30, 37)]
    assert (run.kind, chat.kind, tool.kind) == (
        agent_spans.INTERNAL,
        agent_spans.CLIENT,
        agent_spans.INTERNAL,
    )


def test_the_names_are_those_of_the_conventions() -> None:
    usage = {"inputTokens": 12, "outputTokens": 3}
    log = Log().add(0, "run_start").model(1, 1, usage=usage, stopReason="tool_use")
    run, chat, tool = log.tool(3, 1).spans().values()
    assert run.attributes == {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.conversation.id": "debug_1",
        "gen_ai.provider.name": "openai",
        "gen_ai.agent.name": "shopper",
        "gen_ai.request.model": "gpt-5",
    }
    assert chat.attributes == {
        "gen_ai.operation.name": "chat",
        "gen_ai.conversation.id": "debug_1",
        "gen_ai.provider.name": "openai",
        "gen_ai.request.model": "gpt-5",
        "gen_ai.response.finish_reasons": ["tool_use"],
        "gen_ai.usage.input_tokens": 12,
        "gen_ai.usage.output_tokens": 3,
        "holdfast.iteration": 1,
    }
    assert tool.attributes == {
        "gen_ai.operation.name": "execute_tool",
        "gen_ai.conversation.id": "debug_1",
        "gen_ai.tool.name": "write",
        "gen_ai.tool.call.id": "t1",
        "gen_ai.tool.type": "function",
        "holdfast.iteration": 1,
    }


def add_hold(log: Log, at: float, until: float, stop: str = "stop-1", /, **about: Any) -> Log:
    about = {"stop": stop, "reason": "breakpoint", "iteration": 1, **about}
    return log.add(at, "paused", **about).add(until, "resumed", stop=stop, action="continue")


def test_the_time_of_a_hold_is_no_duration_of_the_call_and_is_reported() -> None:
    log = add_hold(Log().add(0, "run_start"), 10, 5010, at="model", name="gpt-5").model(5010, 5)
    add_hold(log, 5020, 8020, "stop-2", at="tool", name="write", toolId="t1")
    log.tool(8020, 7, heldMs=3000.0).add(8030, "run_end", isError=False)
    run, chat, tool = log.spans().values()

    assert [milliseconds(each) for each in (chat, tool)] == [(5010, 5015), (8020, 8027)]
    assert milliseconds(run) == (0, 30)
    assert run.attributes["holdfast.held_ms"] == 8000.0
    assert [each.name for each in run.moments] == [agent_spans.HELD, agent_spans.HELD]
    (hold,) = tool.moments
    assert hold.attributes == {
        "holdfast.stop": "stop-2",
        "holdfast.reason": "breakpoint",
        "holdfast.action": "continue",
        "holdfast.held_ms": 3000.0,
        "holdfast.tool_id": "t1",
    }
    assert [each.attributes["holdfast.stop"] for each in chat.moments] == ["stop-1"]


def test_an_error_that_was_held_is_no_duration_either() -> None:
    log = Log().add(0, "run_start")
    log.add(10, "tool_call_start", toolId="t1", name="write", iteration=1, input={})
    add_hold(log, 15, 9000, at="error", name="write", toolId="t1")
    log.add(9000, "tool_call_end", toolId="t1", name="write", isError=False, durationMs=5.0)
    tool = log.spans()["execute_tool write"]
    assert milliseconds(tool) == (10, 15)
    assert len(tool.moments) == 1


def test_what_is_held_at_the_same_time_counts_once() -> None:
    log = Log().add(0, "run_start")
    for number in (1, 2):
        stop = {"stop": f"stop-{number}", "reason": "breakpoint", "at": "tool", "iteration": 1}
        log.add(10 * number, "paused", **stop, toolId=f"t{number}", name="write")
    for number in (1, 2):
        log.add(100 + 10 * number, "resumed", stop=f"stop-{number}", action="continue")
    log.add(130, "run_end", isError=False)
    run = log.spans()["invoke_agent shopper"]
    assert run.attributes["holdfast.held_ms"] == 110.0
    assert milliseconds(run) == (0, 20)


def test_errors_have_a_type() -> None:
    error = {"type": "ValueError", "message": "no such file"}
    log = Log().add(0, "run_start").tool(1, 1, isError=True, error=error, cancelled=True)
    tool = log.spans()["execute_tool write"]
    assert (tool.attributes["error.type"], tool.error) == ("ValueError", "no such file")
    assert tool.attributes["holdfast.cancelled"] is True


def test_what_a_tool_asks_a_model_belongs_to_the_tool() -> None:
    log = Log().add(0, "run_start")
    log.add(1, "tool_call_start", toolId="t1", name="expert", iteration=1, input={})
    log.model(2, 1, iteration=2, within="t1")
    spans = log.add(5, "tool_call_end", toolId="t1", name="expert", durationMs=4.0).spans()
    assert spans["chat gpt-5"].parent == spans["execute_tool expert"].id


def test_a_lane_is_an_agent_of_its_own() -> None:
    log = Log().add(0, "run_start").add(1, "run_start", lane="writer").model(2, 1, lane="writer")
    log.add(5, "run_end", lane="writer", isError=False).add(6, "run_end", isError=False)
    spans = log.spans()
    assert spans["chat gpt-5"].parent == spans["invoke_agent writer"].id
    assert spans["invoke_agent writer"].parent == spans["invoke_agent shopper"].id
    assert spans["chat gpt-5"].attributes["holdfast.lane"] == "writer"


def test_a_loop_that_marks_no_run_is_one() -> None:
    spans = Log().model(5, 1).tool(7, 1).add(20, "session_end").spans()
    run = spans["invoke_agent shopper"]
    assert milliseconds(run) == (5, 20)
    assert {spans["chat gpt-5"].parent, spans["execute_tool write"].parent} == {run.id}


def test_what_a_killed_agent_left_open_ends_with_its_last_word() -> None:
    log = Log().add(0, "run_start")
    log.add(10, "tool_call_start", toolId="t1", name="write", iteration=1, input={})
    log.add(90, "error", message="last")
    run, tool = log.spans().values()
    assert (milliseconds(run), milliseconds(tool)) == ((0, 90), (10, 90))
    assert tool.attributes["error.type"] == agent_spans.UNFINISHED


def test_ids_are_the_same_each_time() -> None:
    log = Log().add(0, "run_start").model(1, 1)
    assert [each.id for each in log.spans().values()] == [each.id for each in log.spans().values()]
    assert len({each.id for each in log.spans().values()}) == 2


def test_the_document_is_what_the_protocol_wants() -> None:
    log = Log().add(0, "run_start").model(1, 1, stopReason="stop", usage={"inputTokens": 5})
    log = add_hold(log, 3, 4, at="tool", toolId="t1", name="write")
    log.tool(4, 1, isError=True, error={"type": "OSError", "message": "full"})
    document = agent_spans.build_document(log.events, "debug_1", {"process.pid": 7}, "1.0")

    (resource,) = document["resourceSpans"]
    assert resource["resource"]["attributes"] == [
        {"key": "service.name", "value": {"stringValue": "shopper"}},
        {"key": "process.pid", "value": {"intValue": "7"}},
    ]
    (scope,) = resource["scopeSpans"]
    assert scope["scope"] == {"name": "holdfast", "version": "1.0"}
    run, chat, tool = scope["spans"]
    assert "parentSpanId" not in run
    assert chat["parentSpanId"] == run["spanId"]
    for span in scope["spans"]:
        assert (len(bytes.fromhex(span["traceId"])), len(bytes.fromhex(span["spanId"]))) == (16, 8)
    assert chat["startTimeUnixNano"] == "1750000000001000000"
    assert chat["endTimeUnixNano"] == "1750000000002000000"
    assert chat["kind"] == 3
    values = {each["key"]: each["value"] for each in chat["attributes"]}
    assert values["gen_ai.usage.input_tokens"] == {"intValue": "5"}
    assert values["gen_ai.response.finish_reasons"] == {
        "arrayValue": {"values": [{"stringValue": "stop"}]}
    }
    assert tool["status"] == {"code": 2, "message": "full"}
    assert tool["events"][0]["timeUnixNano"] == "1750000000004000000"
