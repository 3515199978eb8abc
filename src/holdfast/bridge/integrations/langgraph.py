"""A LangGraph graph that is there already: `watch(graph, models=[model])`.

Of a compiled graph, only its `ToolNode`s are known: they get a wrapper, and every decision works on
their tools. A model is called by a node's own function; so the chat model object is watched,
wherever it is called from. Tools and models that a node calls in other ways are not seen.
"""

from __future__ import annotations

import functools
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, TypeVar

from langchain_core.language_models.chat_models import BaseChatModel
from langchain_core.messages import BaseMessage
from langchain_core.outputs import ChatGeneration, ChatGenerationChunk, ChatResult
from langgraph.prebuilt import ToolNode
from langgraph.pregel import Pregel

from holdfast.bridge import Bridge, active
from holdfast.bridge.agent_calls import ModelCall
from holdfast.bridge.answer_summary import AnswerSummary
from holdfast.bridge.integrations import _langchain_messages, _nested_models
from holdfast.bridge.integrations._graph_lanes import find_lane
from holdfast.bridge.integrations._message_history import Histories, reuse_messages
from holdfast.bridge.integrations.langchain import acall_tool, call_tool

GraphT = TypeVar("GraphT", bound=Pregel[Any, Any, Any, Any])
ModelT = TypeVar("ModelT", bound=BaseChatModel)


def watch(
    graph: GraphT,
    dbg: Bridge | None = None,
    *,
    models: Sequence[BaseChatModel] = (),
    lane: str | None = None,
) -> GraphT:
    """Record and steer the tools of a compiled graph, and these models; returns the graph."""
    dbg = dbg or active()
    for part in [graph, *(inner for _, inner in graph.get_subgraphs(recurse=True))]:
        for node in part.nodes.values():
            if isinstance(node.bound, ToolNode):
                _watch_tools(node.bound, dbg, lane)
    for model in models:
        watch_model(model, dbg, lane=lane)
    return graph


def _watch_tools(node: Any, dbg: Bridge, lane: str | None) -> None:
    known: tuple[Any, Any] | None = getattr(node, "_holdfast", None)
    old, old_async = known or (node._wrap_tool_call, node._awrap_tool_call)

    def wrap(request: Any, execute: Callable[[Any], Any]) -> Any:
        inner = execute if old is None else functools.partial(_call_wrapper, old, execute)
        return call_tool(dbg, lane, request, inner)

    async def awrap(request: Any, execute: Callable[[Any], Any]) -> Any:
        inner = (
            execute if old_async is None else functools.partial(_call_wrapper, old_async, execute)
        )
        return await acall_tool(dbg, lane, request, inner)

    node._holdfast = (old, old_async)
    node._wrap_tool_call = wrap
    # A wrapper that is only sync is used for both, by LangGraph as well.
    node._awrap_tool_call = awrap if old is None or old_async is not None else None


def _call_wrapper(wrapper: Callable[[Any, Any], Any], execute: Any, request: Any) -> Any:
    return wrapper(request, execute)


def watch_model(model: ModelT, dbg: Bridge | None = None, *, lane: str | None = None) -> ModelT:
    """Record and steer what this chat model is asked, whoever asks it; returns the model."""
    watched = _WatchedModel(model, dbg or active(), lane)
    for name, wrapper in watched.wrappers().items():
        # What a model does not have, LangChain makes of the others.
        if getattr(type(model), name) is not getattr(BaseChatModel, name):
            object.__setattr__(model, name, wrapper)
    return model


class _WatchedModel:
    def __init__(self, model: BaseChatModel, dbg: Bridge, lane: str | None) -> None:
        self._model = model
        self._of = type(model)
        self._dbg = dbg
        self._lane = lane
        self._histories = Histories(_langchain_messages.show)

    def wrappers(self) -> dict[str, Callable[..., Any]]:
        return {
            "_generate": self.generate,
            "_agenerate": self.agenerate,
            "_stream": self.stream,
            "_astream": self.astream,
        }

    def generate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **more: Any
    ) -> ChatResult:
        def send(messages: list[BaseMessage]) -> ChatResult:
            return self._of._generate(self._model, messages, stop, run_manager, **more)

        if _nested_models.is_inside():
            return send(messages)
        call, note = self._build_call(messages, stop, more, is_stream=False)
        try:
            return self._dbg.call_model(
                call, lambda call: _nested_models.call_inside(lambda: send(call.messages))
            )
        finally:
            note()

    async def agenerate(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **more: Any
    ) -> ChatResult:
        async def send(messages: list[BaseMessage]) -> ChatResult:
            return await self._of._agenerate(self._model, messages, stop, run_manager, **more)

        if _nested_models.is_inside():
            return await send(messages)
        call, note = self._build_call(messages, stop, more, is_stream=False)
        try:
            return await self._dbg.acall_model(
                call, lambda call: _nested_models.await_inside(lambda: send(call.messages))
            )
        finally:
            note()

    def stream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **more: Any
    ) -> Iterator[ChatGenerationChunk]:
        def send(messages: list[BaseMessage]) -> Iterator[ChatGenerationChunk]:
            return self._of._stream(self._model, messages, stop, run_manager, **more)

        if _nested_models.is_inside():
            yield from send(messages)
            return
        call, note = self._build_call(messages, stop, more, is_stream=True)
        try:
            yield from self._dbg.stream_model(
                call, lambda call: _nested_models.stream_inside(send(call.messages))
            )
        finally:
            note()

    async def astream(
        self, messages: list[BaseMessage], stop: Any = None, run_manager: Any = None, **more: Any
    ) -> AsyncIterator[ChatGenerationChunk]:
        def send(messages: list[BaseMessage]) -> AsyncIterator[ChatGenerationChunk]:
            return self._of._astream(self._model, messages, stop, run_manager, **more)

        if _nested_models.is_inside():
            async for chunk in send(messages):
                yield chunk
            return
        call, note = self._build_call(messages, stop, more, is_stream=True)
        try:
            async for chunk in self._dbg.astream_model(
                call, lambda call: _nested_models.astream_inside(send(call.messages))
            ):
                yield chunk
        finally:
            note()

    def _build_call(
        self, messages: list[BaseMessage], stop: Any, more: dict[str, Any], *, is_stream: bool
    ) -> tuple[ModelCall, Callable[[], None]]:
        given = self._histories.restore(messages)
        settings = {name: value for name, value in more.items() if name != "tools"}
        call = ModelCall(
            messages=list(given),
            model=_langchain_messages.model_name(self._model),
            provider=self._model._llm_type,
            lane=find_lane(self._dbg, self._lane),
            settings={
                **settings,
                "stop": stop,
                "tools": _langchain_messages.tool_names(more.get("tools") or []),
            },
            show=_langchain_messages.show,
            make=reuse_messages(given, _langchain_messages.show, _langchain_messages.make),
            describe=_describe_chunks if is_stream else _describe,
            dump=_dump_chunks if is_stream else _dump,
            load=_load_chunks if is_stream else _load,
        )
        return call, lambda: self._histories.note(messages, given, call.messages)


def _describe(result: ChatResult) -> AnswerSummary:
    return _langchain_messages.describe([generation.message for generation in result.generations])


def _dump(result: ChatResult) -> Any:
    messages = _langchain_messages.dump([generation.message for generation in result.generations])
    about = [generation.generation_info for generation in result.generations]
    return {"messages": messages, "about": about, "output": result.llm_output}


def _load(answer: Any) -> ChatResult:
    if not (isinstance(answer, dict) and "about" in answer):
        answer = {"messages": answer, "about": [None], "output": None}
    generations = [
        ChatGeneration(message=message, generation_info=about)
        for message, about in zip(
            _langchain_messages.load(answer["messages"]), answer["about"], strict=True
        )
    ]
    return ChatResult(generations=generations, llm_output=answer["output"])


def _describe_chunks(chunks: list[ChatGenerationChunk]) -> AnswerSummary:
    if not chunks:
        return {}
    whole = chunks[0].message
    for chunk in chunks[1:]:
        whole = whole + chunk.message
    return _langchain_messages.describe([whole])


def _dump_chunks(chunks: list[ChatGenerationChunk]) -> Any:
    messages = _langchain_messages.dump([chunk.message for chunk in chunks])
    return [
        {"message": message, "about": chunk.generation_info}
        for message, chunk in zip(messages, chunks, strict=True)
    ]


def _load_chunks(answer: Any) -> list[ChatGenerationChunk]:
    if isinstance(answer, str):
        answer = [{"message": {"type": "AIMessageChunk", "data": {"content": answer}}}]
    return [
        ChatGenerationChunk(
            message=_langchain_messages.load([chunk["message"]])[0],
            generation_info=chunk.get("about"),
        )
        for chunk in answer
    ]
