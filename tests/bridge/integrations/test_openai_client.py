"""The client of `openai`, against a server on loopback."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from typing import Any

import pytest

pytest.importorskip("openai")

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
from openai import AsyncOpenAI, InternalServerError, OpenAI
from pydantic import BaseModel
from steering import SteeredSession

from holdfast.bridge.integrations.openai_client import watch

PARAMETERS = {
    "type": "object",
    "properties": {"to": {"type": "string"}, "text": {"type": "string"}},
}
CHAT_TOOLS: Any = [{"type": "function", "function": {"name": "send", "parameters": PARAMETERS}}]
TOOLS: Any = [{"type": "function", "name": "send", "parameters": PARAMETERS}]


class ChatLoop(Loop):
    """A loop by hand, whose tool is watched by `@dbg.tool`."""

    def __init__(self, dbg: Any, outside: Outside) -> None:
        super().__init__(dbg, outside)
        self.send = dbg.tool(outside.send)

    def run(self, prompt: str = "go") -> str:
        apis = FakeApis(self.outside)
        try:
            with OpenAI(base_url=apis.url, api_key="none", max_retries=0) as client:
                return self.talk(watch(client, self.dbg), prompt)
        finally:
            apis.close()

    def talk(self, client: OpenAI, prompt: str) -> str:
        messages: list[Any] = [{"role": "user", "content": prompt}]
        while True:
            message = self.ask(client, messages)
            messages.append(message)
            if not message.get("tool_calls"):
                return str(message["content"])
            for call in message["tool_calls"]:
                messages.append(self.use(call))

    def use(self, call: Any) -> dict[str, Any]:
        try:
            result = self.send(**json.loads(call["function"]["arguments"]))
        except Exception as error:
            result = f"{type(error).__name__}: {error}"
        return {"role": "tool", "tool_call_id": call["id"], "content": result}

    def ask(self, client: OpenAI, messages: list[Any]) -> dict[str, Any]:
        found = client.chat.completions.create(model="fake", messages=messages, tools=CHAT_TOOLS)
        return found.choices[0].message.model_dump(exclude_none=True)


class StreamedChatLoop(ChatLoop):
    def ask(self, client: OpenAI, messages: list[Any]) -> dict[str, Any]:
        with client.chat.completions.stream(
            model="fake", messages=messages, tools=CHAT_TOOLS
        ) as stream:
            for _ in stream:
                pass
            found = stream.get_final_completion()
        return found.choices[0].message.model_dump(exclude_none=True)


class AsyncChatLoop(ChatLoop):
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
            async with AsyncOpenAI(base_url=apis.url, api_key="none", max_retries=0) as client:
                return await self.atalk(watch(client, self.dbg), prompt)
        finally:
            apis.close()

    async def atalk(self, client: AsyncOpenAI, prompt: str) -> str:
        messages: list[Any] = [{"role": "user", "content": prompt}]
        while True:
            message = await self.aask(client, messages)
            messages.append(message)
            if not message.get("tool_calls"):
                return str(message["content"])
            for call in message["tool_calls"]:
                result = await self.asend(**json.loads(call["function"]["arguments"]))
                said = {"role": "tool", "tool_call_id": call["id"], "content": result}
                messages.append(said)

    async def aask(self, client: AsyncOpenAI, messages: list[Any]) -> dict[str, Any]:
        found = await client.chat.completions.create(
            model="fake", messages=messages, tools=CHAT_TOOLS
        )
        return found.choices[0].message.model_dump(exclude_none=True)


class AsyncStreamedChatLoop(AsyncChatLoop):
    async def aask(self, client: AsyncOpenAI, messages: list[Any]) -> dict[str, Any]:
        async with client.chat.completions.stream(
            model="fake", messages=messages, tools=CHAT_TOOLS
        ) as stream:
            async for _ in stream:
                pass
            found = await stream.get_final_completion()
        return found.choices[0].message.model_dump(exclude_none=True)


class ResponsesLoop(ChatLoop):
    def talk(self, client: OpenAI, prompt: str) -> str:
        items: Any = prompt
        while True:
            found: Any = self.respond(client, items)
            calls = [each for each in found.output if each.type == "function_call"]
            if not calls:
                return str(found.output_text)
            before = [{"role": "user", "content": items}] if isinstance(items, str) else items
            items = [*before, *(each.model_dump(exclude_none=True) for each in found.output)]
            for call in calls:
                result = self.send(**json.loads(call.arguments))
                said = {"type": "function_call_output", "call_id": call.call_id, "output": result}
                items.append(said)

    def respond(self, client: OpenAI, items: Any) -> Any:
        return client.responses.create(
            model="fake", instructions="Be brief.", input=items, tools=TOOLS
        )


class StreamedResponsesLoop(ResponsesLoop):
    def respond(self, client: OpenAI, items: Any) -> Any:
        with client.responses.stream(
            model="fake", instructions="Be brief.", input=items, tools=TOOLS
        ) as stream:
            for _ in stream:
                pass
            return stream.get_final_response()


class TestChat(Everything):
    loop = ChatLoop


class TestResponses(ModelContract, ReplayContract):
    loop = ResponsesLoop


class TestAsyncChat(ModelContract, ReplayContract, AsyncContract):
    loop = AsyncChatLoop


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


class TestStreamedChat(Streamed):
    loop = StreamedChatLoop


class TestAsyncStreamedChat(Streamed, AsyncContract):
    loop = AsyncStreamedChatLoop


class TestStreamedResponses(Streamed):
    loop = StreamedResponsesLoop


@pytest.fixture
def apis() -> Iterator[FakeApis]:
    made = FakeApis()
    yield made
    made.close()


class TestOtherWaysToAsk(Contract):
    loop = ChatLoop

    @pytest.fixture
    def client(self, apis: FakeApis, session: SteeredSession) -> Iterator[OpenAI]:
        with OpenAI(base_url=apis.url, api_key="none", max_retries=1) as client:
            yield watch(client, session.dbg)

    def test_a_raw_response_is_one(
        self, client: OpenAI, session: SteeredSession, begin: Any
    ) -> None:
        def ask(asked: OpenAI) -> tuple[Any, ...]:
            raw = asked.chat.completions.with_raw_response.create(model="fake", messages=HELLO)
            return raw.status_code, raw.request_id, raw.parse().choices[0].message.content

        assert ask(client) == (200, "req_1", "hello you")
        assert session.kinds() == ["api_request", "api_response"]
        replay = begin(of=session)
        assert ask(watch(client, replay.dbg)) == (200, "req_1", "hello you")

    def test_an_answer_is_parsed_into_the_class_that_was_asked_for(
        self, client: OpenAI, apis: FakeApis, session: SteeredSession, begin: Any
    ) -> None:
        def ask(asked: OpenAI) -> Any:
            messages: Any = [{"role": "user", "content": "{}"}, *HELLO]
            found = asked.chat.completions.parse(
                model="fake", messages=messages, response_format=Greeting
            )
            return found.choices[0].message.parsed

        apis.text = '{"hello": "you"}'
        assert ask(client) == Greeting(hello="you")
        replay = begin(of=session)
        assert ask(watch(client, replay.dbg)) == Greeting(hello="you")
        assert len(apis.requests) == 1

    def test_a_client_with_other_options_is_watched_too(
        self, client: OpenAI, session: SteeredSession
    ) -> None:
        other = client.with_options(timeout=5)
        other.chat.completions.create(model="fake", messages=HELLO)
        assert session.kinds() == ["api_request", "api_response"]

    def test_what_is_no_call_of_a_model_passes_by(
        self, client: OpenAI, session: SteeredSession
    ) -> None:
        assert client.models.list().data == []
        assert session.kinds() == []

    def test_a_retry_of_the_client_is_no_second_call(
        self, client: OpenAI, apis: FakeApis, session: SteeredSession
    ) -> None:
        apis.failures = 1
        client.chat.completions.create(model="fake", messages=HELLO)
        assert (len(apis.requests), session.kinds()) == (2, ["api_request", "api_response"])

    def test_an_error_is_recorded_and_raised(
        self, client: OpenAI, apis: FakeApis, session: SteeredSession
    ) -> None:
        apis.failures = 2
        with pytest.raises(InternalServerError):
            client.chat.completions.create(model="fake", messages=HELLO)
        (answer,) = session.data("api_response")
        assert (answer["isError"], answer["error"]["type"]) == (True, "InternalServerError")

    def test_a_stream_that_is_left_early_is_recorded_as_far_as_it_came(
        self, client: OpenAI, session: SteeredSession
    ) -> None:
        with client.chat.completions.create(model="fake", messages=HELLO, stream=True) as stream:
            first = next(stream)
        assert first.choices[0].delta.content == "hello"
        (answer,) = session.data("api_response")
        assert answer["content"] == "hello"


HELLO: Any = [{"role": "user", "content": "you"}]


class Greeting(BaseModel):
    hello: str


class TestWrappedMethods(Contract):
    """`dbg.model(client.chat.completions.create)`, without the integration."""

    def ask(self, dbg: Any, apis: FakeApis) -> list[str]:
        with OpenAI(base_url=apis.url, api_key="none", max_retries=0) as client:
            create = dbg.model(client.chat.completions.create)
            asked: Any = {"model": "fake", "messages": [{"role": "user", "content": "go"}]}
            with create(**asked, stream=True) as stream:
                chunks = [chunk.choices[0].delta.content for chunk in stream if chunk.choices]
            return ["".join(filter(None, chunks)), create(**asked).choices[0].message.content]

    async def aask(self, dbg: Any, apis: FakeApis) -> list[str]:
        async with AsyncOpenAI(base_url=apis.url, api_key="none", max_retries=0) as client:
            create = dbg.model(client.chat.completions.create)
            asked: Any = {"model": "fake", "messages": [{"role": "user", "content": "go"}]}
            async with await create(**asked, stream=True) as stream:
                chunks = [chunk.choices[0].delta.content async for chunk in stream if chunk.choices]
            answer = await create(**asked)
            return ["".join(filter(None, chunks)), answer.choices[0].message.content]

    @pytest.mark.parametrize("is_async", [False, True])
    def test_a_stream_and_an_answer_are_recorded_and_replayed(
        self, session: SteeredSession, begin: Any, is_async: bool
    ) -> None:
        def run(dbg: Any, apis: FakeApis) -> list[str]:
            return asyncio.run(self.aask(dbg, apis)) if is_async else self.ask(dbg, apis)

        apis = FakeApis()
        try:
            assert run(session.dbg, apis) == ["hello go", "hello go"]
            count = len(apis.requests)
            streamed, whole = session.data("api_response")
            assert streamed["content"] == whole["content"] == "hello go"
            # Its methods are plain functions around coroutine functions.
            assert streamed["returned"] == ("awaitable async_stream" if is_async else "stream")
            assert run(begin(of=session).dbg, apis) == ["hello go", "hello go"]
            assert len(apis.requests) == count
        finally:
            apis.close()
