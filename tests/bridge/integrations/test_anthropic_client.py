"""The client of `anthropic`, against a server on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("anthropic")

from anthropic import Anthropic, AsyncAnthropic
from contract import (
    DONE,
    AsyncContract,
    Contract,
    Everything,
    Loop,
    ModelContract,
    Outside,
    ReplayContract,
)
from fake_apis import FakeApis
from steering import SteeredSession

from holdfast.bridge.integrations.anthropic_client import watch

TOOLS: Any = [
    {
        "name": "send",
        "input_schema": {
            "type": "object",
            "properties": {"to": {"type": "string"}, "text": {"type": "string"}},
        },
    }
]


class MessagesLoop(Loop):
    """A loop by hand, whose tool is watched by `@dbg.tool`."""

    def __init__(self, dbg: Any, outside: Outside) -> None:
        super().__init__(dbg, outside)
        self.send = dbg.tool(outside.send)

    def run(self, prompt: str = "go") -> str:
        apis = FakeApis(self.outside)
        try:
            with Anthropic(base_url=apis.url, api_key="none", max_retries=0) as client:
                return self.talk(watch(client, self.dbg), prompt)
        finally:
            apis.close()

    def talk(self, client: Anthropic, prompt: str) -> str:
        messages: list[Any] = [{"role": "user", "content": prompt}]
        while True:
            blocks = self.ask(client, messages)
            messages.append({"role": "assistant", "content": blocks})
            if blocks[0]["type"] == "text":
                return str(blocks[0]["text"])
            messages.append({"role": "user", "content": [self.use(each) for each in blocks]})

    def use(self, block: Any) -> dict[str, Any]:
        try:
            result = self.send(**block["input"])
        except Exception as error:
            result = f"{type(error).__name__}: {error}"
        return {"type": "tool_result", "tool_use_id": block["id"], "content": result}

    def ask(self, client: Anthropic, messages: list[Any]) -> list[Any]:
        found = client.messages.create(**request(messages))
        return [each.model_dump(exclude_none=True) for each in found.content]


def request(messages: list[Any]) -> Any:
    about = {"model": "fake", "max_tokens": 100, "system": "Be brief.", "tools": TOOLS}
    return {**about, "messages": messages}


class StreamedMessagesLoop(MessagesLoop):
    def ask(self, client: Anthropic, messages: list[Any]) -> list[Any]:
        with client.messages.stream(**request(messages)) as stream:
            found = stream.get_final_message()
        return [each.model_dump(exclude_none=True) for each in found.content]


class AsyncMessagesLoop(MessagesLoop):
    def __init__(self, dbg: Any, outside: Outside) -> None:
        super().__init__(dbg, outside)

        @dbg.tool(name="send")
        async def send(to: str, text: str) -> str:
            return outside.send(to, text)

        self.asend = send

    def run(self, prompt: str = "go") -> str:
        return asyncio.run(self.arun(prompt))

    async def arun(self, prompt: str = "go") -> str:
        apis = FakeApis(self.outside)
        try:
            async with AsyncAnthropic(base_url=apis.url, api_key="none", max_retries=0) as client:
                return await self.atalk(watch(client, self.dbg), prompt)
        finally:
            apis.close()

    async def atalk(self, client: AsyncAnthropic, prompt: str) -> str:
        messages: list[Any] = [{"role": "user", "content": prompt}]
        while True:
            blocks = await self.aask(client, messages)
            messages.append({"role": "assistant", "content": blocks})
            if blocks[0]["type"] == "text":
                return str(blocks[0]["text"])
            results = [
                {
                    "type": "tool_result",
                    "tool_use_id": each["id"],
                    "content": await self.asend(**each["input"]),
                }
                for each in blocks
            ]
            messages.append({"role": "user", "content": results})

    async def aask(self, client: AsyncAnthropic, messages: list[Any]) -> list[Any]:
        found = await client.messages.create(**request(messages))
        return [each.model_dump(exclude_none=True) for each in found.content]


class AsyncStreamedMessagesLoop(AsyncMessagesLoop):
    async def aask(self, client: AsyncAnthropic, messages: list[Any]) -> list[Any]:
        async with client.messages.stream(**request(messages)) as stream:
            found = await stream.get_final_message()
        return [each.model_dump(exclude_none=True) for each in found.content]


class TestMessages(Everything):
    loop = MessagesLoop


class TestAsyncMessages(ModelContract, ReplayContract, AsyncContract):
    loop = AsyncMessagesLoop


class Streamed(ModelContract, ReplayContract):
    """All but supplying an answer: a stream has too many parts to write by hand."""

    def test_an_answer_can_be_supplied_instead_of_asking(
        self, agent: Loop, session: SteeredSession, outside: Outside
    ) -> None:
        session.pause()
        ran = self.started(agent)
        stop = session.held()
        assert "skip" not in stop["allows"]
        session.resume(stop)
        assert self.said(ran) == DONE


class TestStreamedMessages(Streamed):
    loop = StreamedMessagesLoop


class TestAsyncStreamedMessages(Streamed, AsyncContract):
    loop = AsyncStreamedMessagesLoop


@pytest.fixture
def apis() -> Iterator[FakeApis]:
    made = FakeApis()
    yield made
    made.close()


class TestOtherWaysToAsk(Contract):
    loop = MessagesLoop

    def test_beta_messages_are_seen_and_other_requests_pass_by(
        self, apis: FakeApis, session: SteeredSession
    ) -> None:
        hello: Any = [{"role": "user", "content": "you"}]
        with Anthropic(base_url=apis.url, api_key="none") as plain:
            client = watch(plain, session.dbg)
            client.messages.count_tokens(model="fake", messages=hello)
            assert session.kinds() == []
            answer: Any = client.beta.messages.create(model="fake", max_tokens=9, messages=hello)
        assert answer.content[0].text == "hello you"
        assert session.kinds() == ["api_request", "api_response"]

    def test_a_stream_that_is_left_early_is_recorded_as_far_as_it_came(
        self, apis: FakeApis, session: SteeredSession
    ) -> None:
        hello: Any = [{"role": "user", "content": "you"}]
        with Anthropic(base_url=apis.url, api_key="none") as plain:
            client = watch(plain, session.dbg)
            with client.messages.stream(model="fake", max_tokens=9, messages=hello) as stream:
                assert next(iter(stream.text_stream)) == "hello"
        (answer,) = session.data("api_response")
        assert answer["content"] == "hello"
