"""A hand-written loop: what is recorded of it, and how little it takes."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_loops import AgentLoop, SessionFiles, build_writes, open_bridge
from holdfast.bridge import Bridge, ModelCall
from holdfast.bridge.answer_summary import describe_answer
from holdfast.wire import agent_lines


@pytest.fixture
def dbg(tmp_path: Path) -> Iterator[Bridge]:
    with open_bridge(tmp_path) as found:
        yield found


def files(dbg: Bridge) -> SessionFiles:
    assert dbg.home is not None
    return SessionFiles(dbg.home)


def test_a_loop_is_recorded_from_start_to_end(tmp_path: Path) -> None:
    with open_bridge(tmp_path, "writer") as dbg:
        loop = AgentLoop(dbg, build_writes(1))
        assert loop() == "done"

    iteration = ["api_request", "api_response"]
    tool = ["tool_call_start", "tool_result", "tool_call_end"]
    assert loop.types == [
        *("session_start", "run_start", "user_input"),
        *(*iteration, *tool, *iteration),
        *("run_end", "session_end"),
    ]
    assert [event["seq"] for event in loop.events] == list(range(1, len(loop.events) + 1))
    assert {event["sessionId"] for event in loop.events} == {dbg.id}
    assert loop.data_of("session_start")[0]["name"] == "writer"
    assert loop.data_of("user_input") == [{"content": "begin"}]


def test_a_request_tells_what_is_new_since_the_last(dbg: Bridge) -> None:
    loop = AgentLoop(dbg, build_writes(2))
    loop()

    requests = loop.data_of("api_request")
    assert [each["messageCount"] for each in requests] == [1, 3, 5]
    assert [each["messagesKept"] for each in requests] == [0, 1, 3]
    rebuilt: list[Any] = []
    for each in requests:
        rebuilt = rebuilt[: each["messagesKept"]] + each["messages"]
    assert rebuilt == loop.messages[:-1]
    assert [each["model"] for each in requests] == ["scripted"] * 3
    assert [each["iteration"] for each in requests] == [1, 2, 3]


@pytest.mark.parametrize(
    ("args", "kwargs", "recorded"),
    [
        ((1, 2), {}, {"first": 1, "second": 2}),
        ((1,), {}, {"first": 1}),
        ((1, 2, 3), {}, {"first": 1, "second": 2, "third": 3}),
        ((1,), {"third": 3, "second": 2}, {"first": 1, "second": 2, "third": 3}),
        ((), {"second": 2, "first": 1}, {"second": 2, "first": 1}),
        ((1, 2, 3, 4), {}, {"args": [1, 2, 3, 4]}),
        ((1,), {"first": 2}, {"args": [1], "first": 2}),
    ],
)
def test_arguments_are_recorded_by_their_names_in_the_order_of_the_function(
    dbg: Bridge, args: tuple[Any, ...], kwargs: dict[str, Any], recorded: dict[str, Any]
) -> None:
    @dbg.tool
    def look(first: int, second: int = 0, third: int = 0, *, fourth: int = 0) -> int:
        return first + second + third + fourth

    with contextlib.suppress(TypeError):
        assert look(*args, **kwargs) == sum((*args, *kwargs.values()))
    (started,) = files(dbg).data_of("tool_call_start")
    assert list(started["input"].items()) == list(recorded.items())


def test_an_argument_that_is_needed_by_its_name_is_missed_by_the_function(dbg: Bridge) -> None:
    @dbg.tool
    def look(first: int, *, second: int) -> int:
        return first + second

    with pytest.raises(TypeError, match="second"):
        look(1)
    assert look(1, second=2) == 3
    inputs = [started["input"] for started in files(dbg).data_of("tool_call_start")]
    assert inputs == [{"args": [1]}, {"first": 1, "second": 2}]


def test_a_response_tells_why_it_stopped_and_what_it_used(dbg: Bridge) -> None:
    @dbg.model
    def ask(messages: list[Any]) -> dict[str, Any]:
        message = {"content": "hello", "tool_calls": [{"id": "t1", "function": {"name": "look"}}]}
        usage = {"prompt_tokens": 7, "completion_tokens": 2}
        return {"choices": [{"finish_reason": "tool_calls", "message": message}], "usage": usage}

    ask([{"role": "user", "content": "hi"}])

    [response] = files(dbg).data_of("api_response")
    assert response["stopReason"] == "tool_calls"
    assert response["usage"] == {"inputTokens": 7, "outputTokens": 2}
    assert response["content"] == "hello"
    assert response["toolCalls"] == [{"id": "t1", "name": "look"}]
    assert response["durationMs"] >= 0
    assert dbg.tokens == 9


TEXT = {"type": "message", "content": [{"type": "output_text", "text": "hello"}]}
WANTED = {"type": "function_call", "call_id": "t1", "name": "look", "arguments": "{}"}
BLOCK = {"type": "tool_use", "id": "t1", "name": "look", "input": {}}


@pytest.mark.parametrize(
    "answer",
    [
        {"output": [{"type": "reasoning"}, TEXT, WANTED], "status": "completed"},
        [{"type": "response.completed", "response": {"output": [TEXT, WANTED]}}],
        {"content": [{"type": "text", "text": "hello"}, BLOCK]},
        [
            {"type": "content_block_delta", "delta": {"type": "text_delta", "text": "hello"}},
            {"type": "content_block_start", "content_block": BLOCK},
        ],
        [
            {"choices": [{"delta": {"content": "hello"}}]},
            {"choices": [{"delta": {"tool_calls": [{"id": "t1", "function": {"name": "look"}}]}}]},
            {"choices": [{"delta": {"tool_calls": [{"function": {"arguments": "{}"}}]}}]},
        ],
    ],
    ids=["response", "response events", "message", "message events", "chat chunks"],
)
def test_an_answer_of_the_common_clients_says_what_it_says_and_asks_for(answer: Any) -> None:
    summary = describe_answer(answer)
    assert summary["toolCalls"] == [{"id": "t1", "name": "look"}]
    assert "hello" in str(summary["content"])


def test_messages_are_previewed_as_people_read_them(dbg: Bridge) -> None:
    @dataclasses.dataclass
    class Message:
        """An object of a client library."""

        role: str
        content: str

    call = {"id": "t1", "function": {"name": "look", "arguments": '{"at": "Köln"}'}}
    messages: list[Any] = [
        Message("user", "hi"),
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"type": "function_call_output", "call_id": "t1", "output": "grey"},
    ]
    with dbg.run(messages=messages):
        shown = dbg.snapshot("messages")["messages"]
    assert shown["recent"] == [
        {"role": "user", "preview": "hi"},
        {"role": "assistant", "preview": '→ look({"at": "Köln"})'},
        {"role": "tool", "preview": "grey"},
    ]
    assert shown["roles"] == {"user": 1, "assistant": 1, "tool": 1}


def test_a_tool_is_recorded_with_its_arguments_by_name(dbg: Bridge) -> None:
    @dbg.tool
    def place(x: int, *more: int, scale: float = 1.0, **rest: Any) -> list[Any]:
        return [x, list(more), scale, rest]

    assert place(1, 2, 3, scale=0.5, colour="red") == [1, [2, 3], 0.5, {"colour": "red"}]

    found = files(dbg)
    [begun], [result] = found.data_of("tool_call_start"), found.data_of("tool_result")
    assert begun["input"] == {"x": 1, "more": [2, 3], "scale": 0.5, "colour": "red"}
    assert (begun["name"], begun["toolId"]) == ("place", "tool-1")
    assert result["result"] == [1, [2, 3], 0.5, {"colour": "red"}]
    assert place.__name__ == "place"


def test_an_error_of_a_tool_is_recorded_and_goes_on_to_the_loop(dbg: Bridge) -> None:
    loop = AgentLoop(dbg, [{"tool": "fail", "why": "no such file"}])
    loop()

    [end] = loop.data_of("tool_call_end")
    assert end["isError"] is True
    assert end["error"] == {"type": "ValueError", "message": "no such file"}
    assert loop.results == ["ValueError: no such file"]


def test_an_error_that_ends_the_run_is_on_record(dbg: Bridge) -> None:
    with pytest.raises(KeyError), dbg.run():
        raise KeyError("gone")

    found = files(dbg)
    assert found.data_of("run_end")[0]["isError"] is True
    assert found.data_of("error")[0]["context"] == "run"


def test_messages_that_were_dropped_are_a_compaction(dbg: Bridge) -> None:
    ask = dbg.model(lambda messages: "yes")
    ask(messages=[{"role": "user", "content": str(number)} for number in range(6)])
    ask(messages=[{"role": "system", "content": "summary"}, {"role": "user", "content": "5"}])

    assert files(dbg).data_of("context_compaction") == [{"before": 6, "after": 2}]


def test_async_tools_and_models_are_recorded_alike(dbg: Bridge) -> None:
    @dbg.tool
    async def fetch(url: str) -> str:
        await asyncio.sleep(0)
        return f"page of {url}"

    @dbg.model
    async def ask(messages: list[Any]) -> str:
        return str(await fetch("x"))

    async def main() -> str:
        async with dbg.run(messages=[]):
            found: str = await ask([{"role": "user", "content": "go"}])
            return found

    assert asyncio.run(main()) == "page of x"
    found = files(dbg)
    assert found.types[1:] == [
        *("run_start", "user_input", "api_request", "tool_call_start", "tool_result"),
        *("tool_call_end", "api_response", "run_end"),
    ]


def test_a_streamed_answer_arrives_piece_by_piece_and_is_recorded_whole(dbg: Bridge) -> None:
    @dbg.model
    def ask(messages: list[Any]) -> Iterator[str]:
        yield "hel"
        assert "api_response" not in files(dbg).types
        yield "lo"

    @dbg.model
    async def ask_async(messages: list[Any]) -> AsyncIterator[str]:
        yield "good"
        yield "bye"

    async def main() -> list[str]:
        return [piece async for piece in ask_async([])]

    assert list(ask([])) == ["hel", "lo"]
    assert asyncio.run(main()) == ["good", "bye"]
    first, second = files(dbg).data_of("api_response")
    assert (first["content"], first["response"]) == ("hello", ["hel", "lo"])
    assert second["content"] == "goodbye"


def test_a_stream_that_is_left_early_is_recorded_as_far_as_it_came(dbg: Bridge) -> None:
    @dbg.model
    def ask(messages: list[Any]) -> Iterator[str]:
        yield from ("one", "two", "three")

    pieces = ask([])
    assert next(pieces) == "one"
    pieces.close()

    assert files(dbg).data_of("api_response")[0]["response"] == ["one"]


@dataclasses.dataclass
class Point:
    x: int


def test_what_json_cannot_say_is_shown_and_kept_beside_it(dbg: Bridge) -> None:
    @dbg.tool
    def look() -> Any:
        return {"at": Point(3), "seen": {1, 2}}

    look()

    [result] = files(dbg).data_of("tool_result")
    assert result["result"] == {"at": {"x": 3}, "seen": [1, 2]}
    assert dbg.values.restore(result, "result") == {"at": Point(3), "seen": {1, 2}}


def test_a_large_body_is_whole_behind_a_content_id(dbg: Bridge) -> None:
    text = "x" * (20 << 20)
    read = dbg.tool(lambda: text, name="read")
    read()

    found = files(dbg)
    [result] = found.data_of("tool_result")
    assert result["result"]["size"] == len(text) + 2
    assert dbg.values.contents is not None
    body = dbg.values.contents.get(result["result"][agent_lines.CID])
    assert json.loads(body) == text
    assert max(len(json.dumps(event)) for event in found.events) < 10_000


def test_threads_share_a_session_and_no_line_is_torn(dbg: Bridge) -> None:
    note = dbg.tool(lambda number: number, name="note")

    def work() -> None:
        for number in range(200):
            note(number=number)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    events = files(dbg).events
    assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
    ids = [event["data"]["toolId"] for event in events if event["type"] == "tool_call_end"]
    assert len(set(ids)) == len(ids) == 800


def test_agents_in_one_process_have_lanes_of_their_own(dbg: Bridge) -> None:
    ask = dbg.model(lambda messages: "ok")
    with dbg.run(lane="planner"):
        ask(messages=[{"role": "user", "content": "plan"}])
        with dbg.run(lane="worker"):
            ask(messages=[{"role": "user", "content": "work"}])
        ask(messages=[{"role": "user", "content": "plan"}])

    requests = files(dbg).data_of("api_request")
    assert [(each["lane"], each["messagesKept"]) for each in requests] == [
        *(("planner", 0), ("worker", 0), ("planner", 1))
    ]


@pytest.mark.parametrize(
    "secret",
    [
        {"api_key": "alohomora"},
        {"headers": {"Authorization": "Basic xyz"}},
        {"env": {"DB_PASSWORD": "hunter2"}},
        "use sk-abcdefghijklmnop1234",
        "curl -H 'Authorization: Bearer abcdefghijklmnop'",
        json.dumps({"client_secret": "s3cr3t"}),
        "-----BEGIN PRIVATE KEY-----\nMII\n-----END PRIVATE KEY-----",
    ],
)
def test_secrets_do_not_get_into_the_files(dbg: Bridge, secret: Any) -> None:
    tool = dbg.tool(lambda given: given, name="keep")
    assert tool(given=secret) == secret

    found = files(dbg)
    text = found.home.events.read_text()
    assert "[redacted]" in text
    for hidden in ("alohomora", "xyz", "hunter2", "s3cr3t", "MII", "abcdefgh"):
        assert hidden not in text
    assert len(found.events) == 4  # each line is JSON all the same


def test_ones_own_patterns_are_redacted_and_redaction_can_be_off(tmp_path: Path) -> None:
    with open_bridge(tmp_path, redact=[r"card \d+"]) as dbg:
        dbg.error("card 1234 was refused")
        text = files(dbg).home.events.read_text()
    assert "1234" not in text

    with open_bridge(tmp_path, redact=False) as dbg:
        dbg.error("password", password="open")
        assert '"open"' in files(dbg).home.events.read_text()


@pytest.mark.parametrize("size", [1, 100_000])
def test_an_error_may_have_fields_of_any_name(dbg: Bridge, size: int) -> None:
    dbg.error("it failed", event="mine", kind="own", **{'a "quoted" näme': "x" * size})
    event = files(dbg).data_of("error")[0]
    assert (event["message"], event["context"]) == ("it failed", "agent")
    assert (event["event"], event["kind"]) == ("mine", "own")
    assert 'a "quoted" näme' in event


def test_a_request_of_the_common_clients_needs_nothing_but_a_model_call(dbg: Bridge) -> None:
    call = ModelCall([{"role": "user", "content": "hi"}], model="m", settings={"temperature": 0})
    assert dbg.call_model(call, lambda given: f"{len(given.messages)} heard") == "1 heard"
    assert files(dbg).data_of("api_request")[0]["settings"] == {"temperature": 0}
