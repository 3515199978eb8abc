"""What every integration can do, told once; each framework's tests say how its agent is made.

The agent is always the same. Asked to `go`, its model calls `send(to="ann", text="hi")`; then it
says what that gave, and everything that users have said: `sent hi to ann | go`.
"""

from __future__ import annotations

import asyncio
import re
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
from steering import PATIENCE, SteeredSession, WatchedEventLoop

from background import run_in_thread
from holdfast.bridge import Diverged
from holdfast.core.agent_rules import parse_rule

DONE = "sent hi to ann | go"
ONE_ROUND = [
    *("api_request", "api_response", "tool_call_start", "tool_result", "tool_call_end"),
    *("api_request", "api_response"),
]


class Outside:
    """What the agent does to the world, and asks of its model."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, str]] = []
        self.asked = 0
        self.begun, self.may_end = threading.Event(), threading.Event()
        self.may_end.set()

    def send(self, to: str, text: str) -> str:
        self.begun.set()
        # Awake now and then, as a tool is that does something.
        while not self.may_end.wait(0.01):
            pass
        self.sent.append((to, text))
        return f"sent {text} to {to}"


class Loop:
    """An agent of a framework, with a bridge in it."""

    def __init__(self, dbg: Any, outside: Outside) -> None:
        self.dbg = dbg
        self.outside = outside

    def run(self, prompt: str = "go") -> str:
        """What it says in the end."""
        return asyncio.run(self.arun(prompt))

    async def arun(self, prompt: str = "go") -> str:
        raise NotImplementedError


class Contract:
    """Fixtures for all of them."""

    loop: type[Loop]
    answer: Any = "nothing to do"
    """Of a model, by which the loop ends with these words."""

    @pytest.fixture
    def outside(self) -> Outside:
        return Outside()

    @pytest.fixture
    def begin(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> Iterator[Callable[..., SteeredSession]]:
        begun: list[SteeredSession] = []

        def make(of: SteeredSession | None = None, mode: str = "full") -> SteeredSession:
            begun.append(SteeredSession.begin(tmp_path, monkeypatch, of, mode))
            return begun[-1]

        yield make
        for each in begun:
            each.dbg.close()

    @pytest.fixture
    def session(self, begin: Callable[..., SteeredSession]) -> SteeredSession:
        return begin()

    @pytest.fixture
    def agent(self, session: SteeredSession, outside: Outside) -> Loop:
        return self.loop(session.dbg, outside)

    def started(self, agent: Loop) -> Future[Any]:
        return run_in_thread(agent.run)

    def said(self, ran: Future[Any]) -> str:
        """What came of it: the last answer, or the error that ended it."""
        error = ran.exception(PATIENCE)
        return str(ran.result()) if error is None else _messages(error)


def _messages(error: BaseException) -> str:
    """A framework may wrap what was raised."""
    inner = error.__cause__ or error.__context__
    return f"{type(error).__name__}: {error}" + (f" <- {_messages(inner)}" if inner else "")


def of_send(session: SteeredSession, kind: str) -> list[dict[str, Any]]:
    return [each for each in session.data(kind) if each["name"] == "send"]


class ToolContract(Contract):
    def test_a_tool_is_recorded(self, agent: Loop, session: SteeredSession) -> None:
        agent.run()
        (begun,) = of_send(session, "tool_call_start")
        assert (begun["name"], begun["input"]) == ("send", {"to": "ann", "text": "hi"})
        (result,) = of_send(session, "tool_result")
        assert "sent hi to ann" in str(result["result"])
        (ended,) = of_send(session, "tool_call_end")
        assert ended["isError"] is False

    def test_a_held_tool_has_not_run(
        self, agent: Loop, session: SteeredSession, outside: Outside
    ) -> None:
        session.break_on_tool("send")
        ran = self.started(agent)
        stop = session.held()
        assert (stop["name"], stop["input"]) == ("send", {"to": "ann", "text": "hi"})
        assert outside.sent == []
        session.resume(stop)
        assert self.said(ran) == DONE
        assert outside.sent == [("ann", "hi")]

    def test_it_runs_with_the_input_that_was_decided(
        self, agent: Loop, session: SteeredSession, outside: Outside
    ) -> None:
        session.break_on_tool("send")
        ran = self.started(agent)
        session.resume(session.held(), "modify", input={"text": "no"})
        assert self.said(ran) == "sent no to ann | go"
        assert outside.sent == [("ann", "no")]

    def test_an_error_can_be_raised_instead_of_running_it(
        self, agent: Loop, session: SteeredSession, outside: Outside
    ) -> None:
        session.break_on_tool("send")
        ran = self.started(agent)
        session.resume(
            session.held(),
            *("raise",),
            exception_type="PermissionError",
            exception_message="not to ann",
        )
        assert "not to ann" in self.said(ran)
        assert outside.sent == []

    def test_it_can_be_cancelled_before_it_runs(
        self, agent: Loop, session: SteeredSession, outside: Outside
    ) -> None:
        session.break_on_tool("send")
        ran = self.started(agent)
        session.resume(session.held(), "cancel")
        assert "was cancelled before it ran" in self.said(ran)
        assert outside.sent == []

    def test_a_rule_denies_it_before_it_runs(
        self, agent: Loop, session: SteeredSession, outside: Outside
    ) -> None:
        session.dbg.control.rules = (parse_rule({"tool": "se*", "action": "deny"}, "rule-1"),)
        assert "send is denied by a rule of this project" in self.said(self.started(agent))
        assert outside.sent == []
        (begun,) = of_send(session, "tool_call_start")
        assert (begun["decision"]["action"], begun["decision"]["by"]) == ("deny", "rule-1")


class Cancelling(Contract):
    is_abandoned = False
    """A thread that an event loop waits for cannot be cancelled; and that is what is said."""

    def test_a_tool_can_be_cancelled_while_it_runs(
        self, agent: Loop, session: SteeredSession, outside: Outside
    ) -> None:
        outside.may_end.clear()
        ran = self.started(agent)
        begun = session.until(lambda kind, _: kind == "tool_call_start")
        assert outside.begun.wait(PATIENCE)
        session.command("cancel_tool", toolId=begun["toolId"])
        ended = session.until(lambda kind, _: kind == "tool_call_end")
        outside.may_end.set()
        assert (ended["cancelled"], ended["abandoned"]) == (
            not self.is_abandoned,
            self.is_abandoned,
        )
        assert "it was" in self.said(ran)


class FakedResults(Contract):
    def test_a_result_can_be_supplied_instead_of_running_it(
        self, agent: Loop, session: SteeredSession, outside: Outside
    ) -> None:
        session.break_on_tool("send")
        ran = self.started(agent)
        session.resume(session.held(), "skip", result="sent nothing")
        assert self.said(ran) == "sent nothing | go"
        assert outside.sent == []


class CheckedInputs(Contract):
    def test_an_input_that_does_not_fit_is_refused_and_it_stays_held(
        self, agent: Loop, session: SteeredSession, outside: Outside
    ) -> None:
        session.break_on_tool("send")
        ran = self.started(agent)
        stop = session.held()
        with pytest.raises(AssertionError, match="send has no parameter 'txt'"):
            session.resume(stop, "modify", input={"txt": "no"})
        session.resume(stop, "modify", input={"text": "no"})
        assert self.said(ran) == "sent no to ann | go"
        assert outside.sent == [("ann", "no")]


class ModelContract(Contract):
    asks = r"→ send\(\{.*hi.*\}\)"
    """How a message that asks for the tool is shown."""

    def test_what_the_model_is_asked_and_says_is_recorded(
        self, agent: Loop, session: SteeredSession
    ) -> None:
        assert agent.run() == DONE
        asked, again = session.data("api_request")
        assert asked["messages"][-1]["role"] == "user"
        assert "go" in str(asked["messages"][-1])
        assert again["messageCount"] > asked["messageCount"]
        first, last = session.data("api_response")
        assert [each["name"] for each in first["toolCalls"]] == ["send"]
        assert first["usage"] == {"inputTokens": 10, "outputTokens": 5}
        assert DONE in str(last)

    def test_it_pauses_before_the_model_is_asked(
        self, agent: Loop, session: SteeredSession, outside: Outside
    ) -> None:
        session.pause()
        ran = self.started(agent)
        stop = session.held()
        assert (stop["at"], outside.asked) == ("model", 0)
        session.resume(stop)
        assert self.said(ran) == DONE

    def test_its_messages_are_shown_as_people_read_them(
        self, agent: Loop, session: SteeredSession
    ) -> None:
        session.command("breakpoint", action="add", on="iteration", count=2)
        ran = self.started(agent)
        stop = session.held()
        recent = session.dbg.snapshot("messages")["messages"]["recent"]
        session.resume(stop)
        self.said(ran)
        shown = [each["preview"] for each in recent]
        assert any(re.search(self.asks, each) for each in shown), shown
        assert re.fullmatch(r"(← )?(send: )?(.*\n)?sent hi to ann", shown[-1]), shown

    def test_an_injected_message_is_there_from_then_on(
        self, agent: Loop, session: SteeredSession
    ) -> None:
        session.pause()
        ran = self.started(agent)
        stop = session.held()
        session.command("inject_message", role="user", content="and be kind")
        session.resume(stop)
        assert self.said(ran) == "sent hi to ann | go, and be kind"

    def test_messages_can_be_edited(self, agent: Loop, session: SteeredSession) -> None:
        session.pause()
        ran = self.started(agent)
        stop = session.held()
        messages = stop["input"]["messages"]
        messages[-1] = {"role": "user", "content": "stop"}
        session.resume(stop, "modify", input={"messages": messages})
        assert self.said(ran) == "sent hi to ann | stop"

    def test_another_system_prompt_stays_and_is_replayed(
        self, agent: Loop, session: SteeredSession, begin: Callable[..., SteeredSession]
    ) -> None:
        session.pause()
        ran = self.started(agent)
        session.resume(session.held(), "modify", system="be thorough")
        assert self.said(ran) == DONE
        first, second = session.data("api_request")
        assert "be thorough" in str(first["messages"][0])
        assert second["messagesKept"] or "be thorough" in str(second["messages"][0])
        replay, outside = begin(of=session), Outside()
        assert self.loop(replay.dbg, outside).run() == DONE
        assert (outside.asked, outside.sent) == (0, [])

    def test_an_answer_can_be_supplied_instead_of_asking(
        self, agent: Loop, session: SteeredSession, outside: Outside
    ) -> None:
        session.pause()
        ran = self.started(agent)
        session.resume(session.held(), "skip", result=self.answer)
        assert self.said(ran) == "nothing to do"
        assert (outside.asked, outside.sent) == (0, [])


class ReplayContract(Contract):
    def test_a_full_replay_calls_nothing_and_ends_in_the_same_words(
        self, agent: Loop, session: SteeredSession, begin: Callable[..., SteeredSession]
    ) -> None:
        assert agent.run() == DONE
        replay, outside = begin(of=session), Outside()
        assert self.loop(replay.dbg, outside).run() == DONE
        assert (outside.asked, outside.sent) == (0, [])
        assert replay.kinds() == session.kinds()

    def test_what_was_decided_is_part_of_the_recording(
        self, agent: Loop, session: SteeredSession, begin: Callable[..., SteeredSession]
    ) -> None:
        session.pause()
        session.break_on_tool("send")
        ran = self.started(agent)
        stop = session.held()
        session.command("inject_message", role="user", content="and be kind")
        session.resume(stop)
        session.resume(session.held(), "modify", input={"text": "no"})
        done = self.said(ran)
        assert done == "sent no to ann | go, and be kind"
        replay, outside = begin(of=session), Outside()
        assert self.loop(replay.dbg, outside).run() == done
        assert (outside.asked, outside.sent) == (0, [])

    def test_with_models_from_the_recording_the_tools_are_live(
        self, agent: Loop, session: SteeredSession, begin: Callable[..., SteeredSession]
    ) -> None:
        agent.run()
        replay, outside = begin(of=session, mode="model"), Outside()
        assert self.loop(replay.dbg, outside).run() == DONE
        assert (outside.asked, outside.sent) == (0, [("ann", "hi")])

    def test_an_agent_that_asks_for_something_else_is_stopped(
        self, agent: Loop, session: SteeredSession, begin: Callable[..., SteeredSession]
    ) -> None:
        agent.run()
        replay, outside = begin(of=session), Outside()
        with pytest.raises(BaseException) as raised:  # noqa: PT011 - as the framework passes it on
            self.loop(replay.dbg, outside).run("come")
        assert Diverged.__name__ in _messages(raised.value)
        assert (outside.asked, outside.sent) == (0, [])
        (diverged,) = replay.data("replay_diverged")
        assert "come" in diverged["difference"]


class AsyncContract(Contract):
    def test_the_event_loop_goes_on_while_a_tool_is_held(
        self, agent: Loop, session: SteeredSession, outside: Outside
    ) -> None:
        session.break_on_tool("send")
        beating = WatchedEventLoop()
        ran = run_in_thread(lambda: beating.run(agent.arun))
        stop = session.held()
        assert beating.goes_on()
        assert outside.sent == []
        session.resume(stop)
        assert self.said(ran) == DONE

    def test_the_event_loop_goes_on_while_the_model_is_held(
        self, agent: Loop, session: SteeredSession, outside: Outside
    ) -> None:
        session.pause()
        beating = WatchedEventLoop()
        ran = run_in_thread(lambda: beating.run(agent.arun))
        stop = session.held()
        assert beating.goes_on()
        assert outside.asked == 0
        session.resume(stop)
        assert self.said(ran) == DONE


class Everything(
    ToolContract, Cancelling, FakedResults, CheckedInputs, ModelContract, ReplayContract
):
    """A framework in which all of it can be done."""
