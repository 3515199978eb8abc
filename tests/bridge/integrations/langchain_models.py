"""A chat model for LangChain that follows the script of the contract, and calls nobody."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from contract import Outside
from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import AIMessage, AIMessageChunk, HumanMessage, ToolMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langchain_core.tools import StructuredTool
from pydantic import ConfigDict

USAGE: Any = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}


class ScriptedChat(BaseChatModel):
    model_config = ConfigDict(arbitrary_types_allowed=True)

    outside: Outside
    calls: tuple[dict[str, str], ...] = ({"to": "ann", "text": "hi"},)

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def bind_tools(self, tools: Any, **more: Any) -> Any:
        return self.bind(tools=tools)

    def _generate(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **more: Any
    ) -> ChatResult:
        return ChatResult(generations=[ChatGeneration(message=self.answer(messages))])

    def answer(self, messages: list[Any]) -> AIMessage:
        self.outside.asked += 1
        results = [str(each.content) for each in messages if isinstance(each, ToolMessage)]
        users = [str(each.content) for each in messages if isinstance(each, HumanMessage)]
        if results:
            return AIMessage(f"{', '.join(results)} | {', '.join(users)}", usage_metadata=USAGE)
        calls: Any = [
            {"name": "send", "args": args, "id": f"c{at}"} for at, args in enumerate(self.calls)
        ]
        return AIMessage("", tool_calls=calls, usage_metadata=USAGE)


class StreamingChat(ScriptedChat):
    """Gives its words one by one."""

    def _stream(
        self, messages: Any, stop: Any = None, run_manager: Any = None, **more: Any
    ) -> Iterator[ChatGenerationChunk]:
        answer = self.answer(messages)
        if answer.tool_calls:
            chunk = AIMessageChunk(
                content="", tool_calls=answer.tool_calls, usage_metadata=answer.usage_metadata
            )
            yield ChatGenerationChunk(message=chunk)
            return
        for word in str(answer.content).split(" "):
            space = "" if str(answer.content).startswith(word) else " "
            yield ChatGenerationChunk(message=AIMessageChunk(content=space + word))


def tool_of(function: Callable[..., str]) -> StructuredTool:
    return StructuredTool.from_function(function, name="send", description="Send a text.")
