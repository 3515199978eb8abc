"""`@dbg.tool` and `@dbg.model`: plain functions of a hand-written loop, wrapped."""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from holdfast.bridge import flows, pending_results
from holdfast.bridge.agent_calls import ModelCall, ToolCall
from holdfast.bridge.pending_results import ASYNC_STREAM, STREAM
from holdfast.bridge.recorded_values import is_plain
from holdfast.bridge.system_prompt import (
    ARGUMENTS,
    IN_MESSAGES,
    ROLES,
    ArgumentPrompt,
    SystemPrompt,
)
from holdfast.core.call_parameters import CallParameters

if TYPE_CHECKING:
    from holdfast.bridge.agent_bridge import Bridge


def name_of(function: Any) -> str:
    """What a callable is called: a partial by what it calls, an object by its class."""
    while isinstance(function, functools.partial):
        function = function.func
    return str(getattr(function, "__name__", type(function).__name__))


class _Arguments:
    """The arguments of a function by their names, and back again."""

    def __init__(self, function: Callable[..., Any]) -> None:
        try:
            self._signature: inspect.Signature | None = inspect.signature(function)
        except (TypeError, ValueError):
            self._signature = None
        parameters = self._signature.parameters.values() if self._signature else ()
        self._rest = next((p.name for p in parameters if p.kind is p.VAR_KEYWORD), None)
        self._more = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), None)
        names = self._names = [p.name for p in parameters]
        # Of a method, the object is not something that the agent asked for.
        self._owner = names[0] if names[:1] in (["self"], ["cls"]) else None
        self.defaults = {p.name: p.default for p in parameters if p.default is not p.empty}
        self._is_simple = self._more is None and all(
            p.kind is p.POSITIONAL_OR_KEYWORD or p.kind is p.KEYWORD_ONLY for p in parameters
        )
        # Which counts of positional arguments alone make a call that fits; none, if none does.
        positional = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
        needed = [p for p in parameters if p.default is p.empty]
        can_be_alone = self._is_simple and all(p.kind is p.POSITIONAL_OR_KEYWORD for p in needed)
        self._counts = range(len(needed), len(positional) + 1) if can_be_alone else range(0)
        self.has_prompt = any(name in ARGUMENTS for name in names)
        """Whether a parameter is one for a system prompt."""

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
        if not args and self._is_simple:
            return dict(kwargs)
        if self._signature is None:
            return {"args": list(args), **kwargs}
        if not kwargs and len(args) in self._counts:
            bound = dict(zip(self._names, args))  # noqa: B905 - the others have defaults
        else:
            try:
                bound = dict(self._signature.bind(*args, **kwargs).arguments)
            except TypeError:
                return {"args": list(args), **kwargs}  # the function itself will say what is wrong
        if self._rest is not None:
            bound |= bound.pop(self._rest, {})
        if args and self._owner is not None:
            del bound[self._owner]
        return bound

    def has(self, name: str) -> bool:
        """Whether a parameter has this name."""
        return name in self._names

    def describe(self) -> CallParameters | None:
        """What it takes; None if nobody knows."""
        if self._signature is None:
            return None
        kinds = (inspect.Parameter.VAR_KEYWORD, inspect.Parameter.VAR_POSITIONAL)
        names = tuple(name for name in self._names if name not in (self._rest, self._owner))
        required = tuple(
            p.name
            for p in self._signature.parameters.values()
            if p.name in names and p.default is p.empty and p.kind not in kinds
        )
        defaults = {name: value for name, value in self.defaults.items() if is_plain(value)}
        return CallParameters(names, required, self._rest is not None, defaults)

    def takes(self, name: str) -> bool:
        return self._rest is not None or name in self._names

    def call(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        before: dict[str, Any],
        after: dict[str, Any],
    ) -> Any:
        """Call it as it was called, but for what was changed."""
        if after is before:
            return function(*args, **kwargs)
        if args and self._owner is not None:
            after = {self._owner: args[0], **after}
        if self._signature is None or not self._is_simple:
            return self._call_by_kind(function, after)
        return function(**after)

    def _call_by_kind(self, function: Callable[..., Any], after: dict[str, Any]) -> Any:
        if self._signature is None:
            rest = dict(after)
            return function(*rest.pop("args", ()), **rest)
        args: list[Any] = []
        named: dict[str, Any] = {}
        left = dict(after)
        for parameter in self._signature.parameters.values():
            if parameter.name not in left or parameter.kind is parameter.VAR_KEYWORD:
                continue
            value = left.pop(parameter.name)
            if parameter.kind is parameter.VAR_POSITIONAL:
                args.extend(value)
            elif parameter.kind is parameter.KEYWORD_ONLY:
                named[parameter.name] = value
            else:
                args.append(value)
        return function(*args, **named, **left)


def wrap_tool(bridge: Bridge, function: Callable[..., Any], name: str, pure: bool) -> Any:
    arguments = _Arguments(function)
    parameters = arguments.describe()

    def build_call(args: tuple[Any, ...], kwargs: dict[str, Any]) -> ToolCall:
        return ToolCall(name, arguments.bind(args, kwargs), None, "", pure, parameters)

    expected = pending_results.Expectation(function, is_model=False)
    if pending_results.is_coroutine_function(function):

        @functools.wraps(function)
        async def call_async(*args: Any, **kwargs: Any) -> Any:
            call = build_call(args, kwargs)
            return await pending_results.call_async(
                bridge,
                flows.run_tool(bridge, call),
                lambda given: arguments.call(function, args, kwargs, call.input, given),
                expected,
            )

        return call_async

    @functools.wraps(function)
    def call_sync(*args: Any, **kwargs: Any) -> Any:
        call = build_call(args, kwargs)
        asked = call.input

        def perform(given: dict[str, Any]) -> Any:
            if given is asked:
                return function(*args, **kwargs)
            return arguments.call(function, args, kwargs, asked, given)

        return pending_results.call(bridge, flows.run_tool(bridge, call), perform, expected)

    return call_sync


def wrap_model(
    bridge: Bridge, function: Callable[..., Any], name: str | None, provider: str | None
) -> Any:
    arguments = _Arguments(function)
    described = arguments.describe()
    # What it needs it has been given: only the names of what is changed can be wrong.
    parameters = described and dataclasses.replace(described, required=())

    def prepare(
        args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[ModelCall, Callable[[ModelCall], Any]]:
        named = arguments.bind(args, kwargs)
        where, messages = _find_messages(bridge, named)
        settings = {
            key: value
            for key, value in named.items()
            if key != where and key != "model" and is_plain(value)
        }
        given = named.get("model", arguments.defaults.get("model"))
        call = ModelCall(
            messages,
            model=given if isinstance(given, str) else name,
            provider=provider,
            settings=dict(settings),
            parameters=parameters,
            system=_find_prompt(arguments, named, messages),
        )

        def perform(call: ModelCall) -> Any:
            changed = {
                key: value
                for key, value in call.settings.items()
                if (key not in settings or value is not settings[key]) and arguments.takes(key)
            }
            if where is not None and not isinstance(named[where], list):
                changed[where] = _join_prompt(named[where], call.messages)
            after = {**named, **changed} if changed else named
            return arguments.call(function, args, kwargs, named, after)

        return call, perform

    code = pending_results.find_code(function)
    is_async = pending_results.is_coroutine_function(function)
    expected = pending_results.Expectation(
        function, is_model=True, stream=ASYNC_STREAM if is_async else STREAM
    )
    if inspect.isasyncgenfunction(code):

        @functools.wraps(function)
        def stream_async(*args: Any, **kwargs: Any) -> Any:
            return bridge.astream_model(*prepare(args, kwargs))

        return stream_async
    if inspect.isgeneratorfunction(code):

        @functools.wraps(function)
        def stream(*args: Any, **kwargs: Any) -> Any:
            return bridge.stream_model(*prepare(args, kwargs))

        return stream
    if is_async:

        @functools.wraps(function)
        async def call_async(*args: Any, **kwargs: Any) -> Any:
            call, perform = prepare(args, kwargs)
            flow, wants_stream = flows.run_model(bridge, call), call.settings.get("stream") is True
            return await pending_results.call_async(bridge, flow, perform, expected, wants_stream)

        return call_async

    @functools.wraps(function)
    def call_sync(*args: Any, **kwargs: Any) -> Any:
        call, perform = prepare(args, kwargs)
        flow, wants_stream = flows.run_model(bridge, call), call.settings.get("stream") is True
        return pending_results.call(bridge, flow, perform, expected, wants_stream)

    return call_sync


def _find_messages(bridge: Bridge, named: dict[str, Any]) -> tuple[str | None, list[Any]]:
    """Which argument holds the messages, and these; those of the run if none does."""
    if isinstance(named.get("messages"), list):
        return "messages", named["messages"]
    ours = bridge.current_messages
    for name, value in named.items():
        if isinstance(value, list) and (value is ours or name in ("input", "history", "prompt")):
            return name, value
    for name in ("messages", "prompt", "input", "text", "query"):
        value = named.get(name)
        if isinstance(value, str):
            return name, [{"role": "user", "content": value}]
        if isinstance(value, tuple):
            return name, list(value)
    return None, ours if ours is not None else []


def _find_prompt(arguments: _Arguments, named: dict[str, Any], messages: list[Any]) -> SystemPrompt:
    """An argument that is given or has a default; else a message; else an argument there is."""
    if not arguments.has_prompt and named.keys().isdisjoint(ARGUMENTS):
        return IN_MESSAGES
    names = [name for name in ARGUMENTS if name in named or arguments.has(name)]
    prompts = [ArgumentPrompt(name, arguments.defaults.get(name)) for name in names]
    if not prompts:
        return IN_MESSAGES
    for prompt in prompts:
        if named.get(prompt.name, prompt.default) is not None:
            return prompt
    is_message = any(isinstance(each, dict) and each.get("role") in ROLES for each in messages)
    return IN_MESSAGES if is_message else prompts[0]


def _join_prompt(before: Any, messages: list[Any]) -> Any:
    """An argument that was no list, with what was added to it."""
    if isinstance(before, str):
        return "\n\n".join(str(message.get("content", "")) for message in messages)
    return type(before)(messages)
