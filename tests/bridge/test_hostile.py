"""Whatever an agent's values, tools and commands are like: it goes on, and the record is right."""

from __future__ import annotations

import asyncio
import dataclasses
import functools
import json
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from agent_loops import AgentLoop, SessionFiles, build_writes, open_bridge
from background import run_in_thread
from holdfast.bridge import Bridge, ToolCancelled
from holdfast.bridge.redaction import Redaction
from holdfast.recording.directories import AgentsDirectory


@pytest.fixture
def dbg(tmp_path: Path) -> Iterator[Bridge]:
    with open_bridge(tmp_path) as found:
        yield found


def files(dbg: Bridge) -> SessionFiles:
    assert dbg.home is not None
    return SessionFiles(dbg.home)


# -- values --------------------------------------------------------------------------------------


class Lazy:
    """As the proxies of web frameworks are, outside of a request."""

    def __getattr__(self, name: str) -> Any:
        raise RuntimeError("outside of a request")


class Unequal:
    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    __hash__ = None  # type: ignore[assignment]


def cyclic() -> list[Any]:
    made: list[Any] = []
    made.append(made)
    return made


def nested(depth: int) -> Any:
    made: Any = 1
    for _ in range(depth):
        made = [made]
    return made


@pytest.mark.parametrize(
    "value",
    [
        *(Lazy(), np.arange(3), Unequal(), cyclic(), nested(600), nested(5000)),
        *(float("nan"), {"a": float("inf")}, "\ud800", {(1, 2): 3}, {1: 2}, b"\xff", object()),
        'a"b',
    ],
    ids=lambda value: type(value).__name__,
)
def test_no_value_stops_an_agent_or_breaks_a_line(dbg: Bridge, value: Any) -> None:
    tool = dbg.tool(lambda given, password: given, name="tool")
    ask = dbg.model(lambda messages, more=None: "ok")
    messages = [{"role": "user", "content": "x", "more": value, "password": 'a"b'}]
    for _ in range(2):
        assert tool(given=value, password='c"d') is value
        assert ask(messages=messages, more=value) == "ok"

    def strict(found: str) -> Any:
        raise AssertionError(f"{found} is no JSON")

    found = files(dbg)
    for line in found.home.events.read_text().splitlines():
        json.loads(line, parse_constant=strict)
    assert len(found.data_of("tool_call_end")) == len(found.data_of("api_response")) == 2
    assert 'c\\"d' not in found.home.events.read_text()


def test_what_is_not_like_an_error_is_recorded_all_the_same(dbg: Bridge) -> None:
    class Odd(Exception):
        def __str__(self) -> str:
            raise RuntimeError

    def stops() -> None:
        next(iter(()))

    with pytest.raises(StopIteration):
        dbg.tool(stops)()
    assert files(dbg).data_of("tool_call_end")[0]["error"]["type"] == "StopIteration"
    with pytest.raises(Odd), dbg.run():
        raise Odd


def test_a_partial_and_an_object_are_tools_too(dbg: Bridge) -> None:
    class Adds:
        def __call__(self, a: int, b: int) -> int:
            return a + b

    assert dbg.tool(functools.partial(Adds(), 1))(b=2) == 3
    assert dbg.tool(Adds())(1, b=2) == 3


def test_a_method_is_a_tool_without_its_object(dbg: Bridge) -> None:
    class Shop:
        @dbg.tool
        def price(self, item: str, count: int = 1) -> str:
            return f"{type(self).__name__} {item} {count}"

    found = files(dbg)
    assert Shop().price("tea") == "Shop tea 1"
    assert found.data_of("tool_call_start")[0]["input"] == {"item": "tea"}

    found.breakpoint(on="tool", name="price")
    running = run_in_thread(lambda: Shop().price("tea"))
    found.wait_for_stop()
    found.resume(input={"count": 3})
    assert running.result(60) == "Shop tea 3"


# -- secrets -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value",
    [
        *({"password": 'pa"s-hidden'}, {"api_key": 1234567}, ["Authorization", "Basic hidden"]),
        *("password=hidden", "AWS_SECRET_ACCESS_KEY=hidden", "https://me:hidden@host/"),
        *({"credentials": {"user": "hidden"}}, ["run", "--api-key", "hidden"]),
        json.dumps({"client_secret": "hidden"}),
        {"usage": {"input_tokens": 5}, "access_token": "hidden"},
        *({"access_tokens": 1234567}, {"secret_input_tokens": "hidden"}),
        "secretotal_tokens=hidden",
    ],
)
def test_a_secret_is_found_wherever_it_is(value: Any) -> None:
    clean = Redaction().clean(json.dumps(value))
    assert "[redacted]" in clean
    assert "hidden" not in clean
    assert "1234567" not in clean
    json.loads(clean)


@pytest.mark.parametrize(
    "value", [{"max_tokens": 5}, {"key": "left"}, {"secretary": "x"}, "see https://host/path"]
)
def test_what_is_none_stays(value: Any) -> None:
    assert Redaction().clean(json.dumps(value)) == json.dumps(value)


def test_an_answer_that_counts_its_tokens_is_not_parsed_to_be_cleaned(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    usage = {"prompt_tokens": 7, "completion_tokens": 2, "total_tokens": 9}
    more = {"input_tokens": 7, "output_tokens": 2, "details": {"cached_tokens": 1}}
    text = json.dumps({"content": "yes", "usage": usage, "more": more})

    def fail(text: str) -> Any:
        raise AssertionError(text)

    monkeypatch.setattr(json, "loads", fail)
    assert Redaction().clean(text) is text


def test_ones_own_pattern_may_be_over_numbers() -> None:
    clean = Redaction([r"\d{12,}"]).clean('{"card": 4111111111111111, "count": 3}')
    assert json.loads(clean) == {"card": "[redacted]", "count": 3}


@pytest.mark.parametrize(
    "text",
    [
        *("eyJ" * 70_000, "-----BEGIN PRIVATE KEY-----" * 20_000, "password" + "\\" * 50_000),
        *('password "' + "x" * 1_000_000, "password=" * 50_000, "a://" * 50_000),
    ],
    ids=lambda text: text[:8],
)
def test_no_text_takes_for_ever(text: str) -> None:
    json.loads(Redaction().clean(json.dumps(text)))


def test_an_object_with_a_key_in_it_is_not_kept(dbg: Bridge) -> None:
    dbg.tool(lambda: Client("sk-abcdefghijklmnop1234"), name="make")()
    [result] = files(dbg).data_of("tool_result")
    assert result["resultMarker"] == "redacted"
    assert not any((files(dbg).home.path / "contents").glob("*"))


class Client:
    def __init__(self, key: str) -> None:
        self.key = key


# -- decisions that cannot be carried out --------------------------------------------------------


def test_messages_that_are_none_are_refused_and_it_stays_held(dbg: Bridge) -> None:
    loop = AgentLoop(dbg, [])
    loop.breakpoint(on="model")
    running = loop.run_in_thread()
    loop.wait_for_stop()
    for wrong in (["hi"], "hi", 5):
        loop.wait_for_rejection(loop.send("resume", action="modify", input={"messages": wrong}))
    loop.wait_for_rejection(loop.send("resume", stop=[1]))
    loop.resume()
    assert running.result(60) == "done"


def test_a_setting_that_was_left_to_its_default_can_be_changed(dbg: Bridge) -> None:
    used: list[float] = []

    @dbg.model
    def ask(messages: list[Any], temperature: float = 0.5) -> str:
        used.append(temperature)
        return "ok"

    found = files(dbg)
    found.breakpoint(on="model")
    running = run_in_thread(lambda: ask([]))
    found.wait_for_stop()
    found.resume(action="modify", input={"temperature": 0})
    running.result(60)
    assert used == [0]


def test_a_variable_that_cannot_be_set_is_an_error_event(dbg: Bridge) -> None:
    @dataclasses.dataclass(frozen=True)
    class State:
        depth: int = 1

    found = files(dbg)
    with dbg.run(vars=State()):
        command = found.send("set_variable", key="depth", value=2)
        found.wait_for_execution(command)
        assert dbg.tool(lambda: "ran", name="tool")() == "ran"
        assert found.wait_for_rejection(command)["context"] == "set_variable"


@pytest.mark.parametrize("regex", ["(a+)+$", r"(?:\d+,)*x", "(a|aa)+$", "(.*)*x"])
def test_a_pattern_that_could_take_for_ever_is_refused(dbg: Bridge, regex: str) -> None:
    found = files(dbg)
    found.wait_for_rejection(found.send("breakpoint", action="add", on="pattern", regex=regex))


# -- pausing and stepping ------------------------------------------------------------------------


def test_after_it_is_closed_nothing_is_held_and_what_was_held_does_not_run(tmp_path: Path) -> None:
    with open_bridge(tmp_path) as dbg:
        loop = AgentLoop(dbg, build_writes(1))
        loop.breakpoint(on="tool", name="write")
        running = loop.run_in_thread()
        loop.wait_for_stop()
    assert running.result(60) == "done"
    assert loop.done == []
    assert loop.write(path="later") == "wrote later"


def test_a_step_holds_the_next_run_and_is_not_ended_by_an_inner_one(dbg: Bridge) -> None:
    ask = dbg.model(lambda messages: "ok")
    found = files(dbg)
    found.wait_for_execution(found.send("pause"))

    def inner() -> None:
        with dbg.run(lane="inner"):
            pass

    def turns() -> None:
        for _ in range(3):
            with dbg.run(messages=[]):
                ask(messages=[])
                dbg.tool(inner)()

    running = run_in_thread(turns)
    for count in (1, 2):
        assert found.wait_for_stop(count)["iteration"] == count
        assert len(found.data_of("step_complete")) == count - 1
        found.wait_for_execution(found.send("step"))
    found.wait_for_stop(3)
    found.resume()
    running.result(60)


def test_a_pause_at_a_held_tool_holds_the_next_model_call(dbg: Bridge) -> None:
    loop = AgentLoop(dbg, build_writes(1))
    loop.breakpoint(on="tool", name="write")
    running = loop.run_in_thread()
    loop.wait_for_stop()
    command = loop.send("pause")
    assert loop.wait_for_execution(command)["status"] == "accepted"
    loop.resume()
    assert loop.wait_for_stop(2)["reason"] == "pause"
    assert loop.wait_for("command_applied", commandId=command)
    loop.resume()
    running.result(60)


def test_a_step_and_a_cancel_are_said_to_be_applied(dbg: Bridge) -> None:
    loop = AgentLoop(dbg, [{"tool": "wait"}])
    step = loop.send("step")
    loop.wait_for_execution(step)
    running = loop.run_in_thread()
    assert loop.entered.wait(60)
    cancel = loop.send("cancel_tool", toolId="tool-1")
    loop.wait_for("command_applied", commandId=cancel)
    loop.wait_for("command_applied", commandId=step)
    loop.resume()
    running.result(60)


def test_a_command_without_an_id_counts_in_a_new_file_too(dbg: Bridge) -> None:
    loop = AgentLoop(dbg, [])
    loop.home.commands.write_text('{"type":"pause"}\n')
    loop.wait_for("command_executed", type="pause")
    running = loop.run_in_thread()
    loop.wait_for_stop()
    loop.home.commands.unlink()
    loop.home.commands.write_text('{"type":"resume"}\n')
    assert running.result(60) == "done"


# -- streams, threads and ends -------------------------------------------------------------------


def test_a_stream_gives_what_it_returns_and_says_when_it_was_left(dbg: Bridge) -> None:
    closed: list[str] = []

    @dbg.model
    def ask(messages: list[Any]) -> Any:
        yield "one"
        return "all"

    @dbg.model
    async def ask_async(messages: list[Any]) -> AsyncIterator[str]:
        try:
            yield "one"
            yield "two"
        finally:
            closed.append("closed")

    def whole() -> Iterator[Any]:
        found = yield from ask([])
        yield found

    async def left() -> None:
        pieces = ask_async([])
        assert await anext(pieces) == "one"
        await pieces.aclose()
        assert closed == ["closed"]

    assert list(whole()) == ["one", "all"]
    asyncio.run(left())
    first, second = files(dbg).data_of("api_response")
    assert "partial" not in first
    assert second["partial"] is True


@pytest.mark.parametrize("how", ["wait_for", "shield", "gather"])
def test_a_thread_is_found_wherever_a_coroutine_waits_for_it(dbg: Bridge, how: str) -> None:
    found, entered, release = files(dbg), threading.Event(), threading.Event()

    def work() -> None:
        entered.set()
        release.wait(60)

    @dbg.tool
    async def threaded() -> None:
        thread = asyncio.to_thread(work)
        if how == "wait_for":
            await asyncio.wait_for(thread, 60)
        elif how == "shield":
            await asyncio.shield(thread)
        else:
            await asyncio.gather(thread)

    async def main() -> None:
        task = asyncio.create_task(threaded())
        await asyncio.to_thread(entered.wait, 60)
        found.send("cancel_tool", toolId="tool-1")
        with pytest.raises(ToolCancelled):
            await task
        release.set()

    asyncio.run(main())
    [end] = found.data_of("tool_call_end")
    assert (end["cancelled"], end["abandoned"]) == (False, True)


@pytest.mark.parametrize(
    ("ending", "reason"),
    [("raise KeyError", "error"), ("raise SystemExit(3)", "exit"), ("", "exit")],
)
def test_how_it_ended_is_on_record(tmp_path: Path, ending: str, reason: str) -> None:
    program = f"""
from holdfast.bridge import start
dbg = start("x", directory={str(tmp_path)!r})
print(dbg.id, flush=True)
{ending}
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    found = SessionFiles(AgentsDirectory(tmp_path).home(done.stdout.strip()))
    assert found.data_of("session_end") == [{"reason": reason}]
