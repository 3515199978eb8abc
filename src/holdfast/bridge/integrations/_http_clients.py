"""The clients of `openai` and `anthropic`, which are alike: every request goes one way.

A watched client has a class of its own, below its old one, so that `with_options` makes watched
clients, too. What is recorded is the answer as it came, a JSON body or the events of a stream; the
client makes its objects from that, live and in a replay, so `parse`, `with_raw_response` and
streams are what they ever were.
"""

from __future__ import annotations

import codecs
import functools
import importlib
import json
from collections.abc import AsyncIterator, Callable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeVar, cast

from holdfast.bridge import Bridge
from holdfast.bridge.agent_calls import ModelCall
from holdfast.bridge.answer_summary import AnswerSummary
from holdfast.bridge.integrations._message_history import Histories
from holdfast.model.agent_commands import AT_MODEL

ClientT = TypeVar("ClientT")

# The request that is under way wants its answer as it came.
_raw: ContextVar[bool] = ContextVar("holdfast_raw", default=False)

# Its events have too many parts to be written by hand.
_ALLOWED_OF_A_STREAM = tuple(action for action in AT_MODEL if action != "skip")

_KEPT_HEADERS = ("content-type", "request-id", "x-request-id")
_NO_LONGER_TRUE = ("content-encoding", "content-length", "transfer-encoding")


class Dialect(Protocol):
    """What is different from provider to provider, and from one of its routes to another."""

    provider: str

    def is_model_call(self, url: str, body: dict[str, Any]) -> bool:
        """Whether this is a call of a model."""

    def messages(self, url: str, body: dict[str, Any]) -> list[Any]: ...

    def with_messages(self, url: str, body: dict[str, Any], messages: list[Any]) -> dict[str, Any]:
        """The body with these messages instead."""

    def describe(self, url: str, body: Any) -> AnswerSummary: ...

    def describe_events(self, url: str, events: list[Any]) -> AnswerSummary: ...

    def answer(self, url: str, text: str, model: str | None) -> dict[str, Any]:
        """A body that says just this text."""


@dataclass
class Watch:
    dbg: Bridge
    dialect: Dialect
    lane: str | None
    of: type[Any]
    """The class that the client had."""
    histories: Histories = field(default_factory=lambda: Histories(lambda message: message))


def watch(
    client: ClientT, dbg: Bridge, dialect: Dialect, lane: str | None, *, is_async: bool
) -> ClientT:
    known: Watch | None = getattr(type(client), "_holdfast", None)
    of = type(client) if known is None else known.of
    # One base, and no slots: else an object cannot change its class.
    inside: dict[str, Any] = {"_holdfast": Watch(dbg, dialect, lane, of)}
    inside |= {"__module__": of.__module__, "__qualname__": of.__qualname__}
    watched = type(of.__name__, (of,), {**inside, **(_ASYNC if is_async else _SYNC)})
    cast(Any, client).__class__ = watched
    return client


class _Request:
    """One request of a client that calls a model."""

    def __init__(self, watch: Watch, options: Any, is_stream: bool) -> None:
        self._watch = watch
        self._options = options
        self._url = str(options.url)
        self._body = {n: value for n, value in options.json_data.items() if not _is_left_out(value)}
        body, dialect = self._body, watch.dialect
        self._messages = dialect.messages(self._url, body)
        self._given = watch.histories.restore(self._messages)
        settings = {
            name: value
            for name, value in dialect.with_messages(self._url, body, []).items()
            if name not in ("model", "messages", "input", "stream")
        }
        if isinstance(settings.get("tools"), list):
            settings["tools"] = [_tool_name(tool) for tool in settings["tools"]]
        model = body.get("model")
        self.call = ModelCall(
            messages=list(self._given),
            model=None if model is None else str(model),
            provider=dialect.provider,
            lane=watch.lane or "",
            settings=settings,
            describe=self._describe_events if is_stream else self._describe,
            load=None if is_stream else self._load,
            allows=_ALLOWED_OF_A_STREAM if is_stream else AT_MODEL,
        )

    def options(self, call: ModelCall) -> Any:
        """The client's options for what is to be sent now."""
        body = self._watch.dialect.with_messages(self._url, self._body, call.messages)
        body |= {name: value for name, value in call.settings.items() if name != "tools"}
        return self._options.model_copy(update={"json_data": body})

    def note(self) -> None:
        self._watch.histories.note(self._messages, self._given, self.call.messages)

    def _describe(self, answer: dict[str, Any]) -> AnswerSummary:
        return self._watch.dialect.describe(self._url, answer["body"])

    def _describe_events(self, chunks: list[Any]) -> AnswerSummary:
        events = [data for chunk in chunks[1:] if (data := _data(chunk)) is not None]
        return self._watch.dialect.describe_events(self._url, events)

    def _load(self, answer: Any) -> Any:
        """A recorded answer; or one by decision: a text, or a whole body."""
        if isinstance(answer, dict) and answer.keys() >= {"status", "body"}:
            return answer
        if isinstance(answer, str):
            answer = self._watch.dialect.answer(self._url, answer, self.call.model)
        return {"status": 200, "headers": {"content-type": "application/json"}, "body": answer}


# -- the methods of a watched client --------------------------------------------------------------


def _request(
    self: Any, cast_to: Any, options: Any, *, stream: bool = False, stream_cls: Any = None
) -> Any:
    watch: Watch = self._holdfast
    parent = functools.partial(watch.of.request, self)
    if not _is_for(watch, options):
        return parent(cast_to, options, stream=stream, stream_cls=stream_cls)
    request, dbg = _Request(watch, options, stream), watch.dbg
    live: list[dict[str, Any]] = []

    def send(call: ModelCall) -> Any:
        token = _raw.set(True)
        try:
            answer = parent(cast_to, request.options(call), stream=stream, stream_cls=stream_cls)
        finally:
            _raw.reset(token)
        live.append(answer)
        return answer["response"]

    def fetch(call: ModelCall) -> Any:
        response = send(call)
        response.read()
        return _answer(response)

    def read_events(call: ModelCall) -> Iterator[Any]:
        response = send(call)
        yield {"status": response.status_code, "headers": _select_headers(response.headers)}
        reader = Events()
        try:
            for piece in response.iter_bytes():
                yield from reader.feed(piece)
            yield from reader.end()
        finally:
            response.close()

    try:
        if stream:
            chunks = dbg.stream_model(request.call, read_events)
            head = next(chunks)
        else:
            answer = dbg.call_model(request.call, fetch)
    finally:
        request.note()
    how = live[-1] if live else _prepare_response(self, cast_to, request, stream, stream_cls)
    if stream:
        how["response"] = _response(how["response"], head, Chunks(chunks), "SyncByteStream")
    elif not live:
        how["response"] = _response(how["response"], answer, _body(answer))
    return watch.of._process_response(self, **how)


def _process_response(self: Any, **how: Any) -> Any:
    return how if _raw.get() else self._holdfast.of._process_response(self, **how)


async def _arequest(
    self: Any, cast_to: Any, options: Any, *, stream: bool = False, stream_cls: Any = None
) -> Any:
    watch: Watch = self._holdfast
    parent = functools.partial(watch.of.request, self)
    if not _is_for(watch, options):
        return await parent(cast_to, options, stream=stream, stream_cls=stream_cls)
    request, dbg = _Request(watch, options, stream), watch.dbg
    live: list[dict[str, Any]] = []

    async def send(call: ModelCall) -> Any:
        token = _raw.set(True)
        try:
            answer = await parent(
                cast_to, request.options(call), stream=stream, stream_cls=stream_cls
            )
        finally:
            _raw.reset(token)
        live.append(answer)
        return answer["response"]

    async def fetch(call: ModelCall) -> Any:
        response = await send(call)
        await response.aread()
        return _answer(response)

    async def read_events(call: ModelCall) -> AsyncIterator[Any]:
        response = await send(call)
        yield {"status": response.status_code, "headers": _select_headers(response.headers)}
        reader = Events()
        try:
            async for piece in response.aiter_bytes():
                for event in reader.feed(piece):
                    yield event
            for event in reader.end():
                yield event
        finally:
            await response.aclose()

    try:
        if stream:
            chunks = dbg.astream_model(request.call, read_events)
            head = await anext(chunks)
        else:
            answer = await dbg.acall_model(request.call, fetch)
    finally:
        request.note()
    how = live[-1] if live else _prepare_response(self, cast_to, request, stream, stream_cls)
    if stream:
        how["response"] = _response(how["response"], head, AsyncChunks(chunks), "AsyncByteStream")
    elif not live:
        how["response"] = _response(how["response"], answer, _body(answer))
    return await watch.of._process_response(self, **how)


async def _aprocess_response(self: Any, **how: Any) -> Any:
    return how if _raw.get() else await self._holdfast.of._process_response(self, **how)


_SYNC = {"request": _request, "_process_response": _process_response}
_ASYNC = {"request": _arequest, "_process_response": _aprocess_response}


def _is_for(watch: Watch, options: Any) -> bool:
    body = options.json_data
    return (
        str(options.method).lower() == "post"
        and isinstance(body, dict)
        and watch.dialect.is_model_call(str(options.url), body)
    )


def _prepare_response(
    client: Any, cast_to: Any, request: _Request, stream: bool, stream_cls: Any
) -> dict[str, Any]:
    """What the client would have made of its arguments on the way; its request is not sent."""
    options = request.options(request.call)
    cast_to = client._maybe_override_cast_to(cast_to, options)
    return {
        "cast_to": cast_to,
        "options": options,
        "response": client._build_request(options),
        "stream": stream,
        "stream_cls": stream_cls,
        "retries_taken": 0,
    }


def _response(of: Any, head: dict[str, Any], body: Any, kind: str | None = None) -> Any:
    """An answer of the HTTP library that the client uses; `of` is a request, or its answer."""
    library = importlib.import_module(type(of).__module__.partition(".")[0])
    if not isinstance(of, library.Response):
        headers, request = dict(head["headers"]), of
    else:
        headers = {n: v for n, v in of.headers.items() if n.lower() not in _NO_LONGER_TRUE}
        request = of.request
    if kind is None:
        return library.Response(head["status"], headers=headers, content=body, request=request)
    # A stream must be of a class of the library's.
    body.__class__ = type(kind, (type(body), getattr(library, kind)), {})
    return library.Response(head["status"], headers=headers, stream=body, request=request)


def _is_left_out(value: Any) -> bool:
    """Both libraries have marks of their own for an argument that was not given."""
    return type(value).__name__ in ("NotGiven", "Omit")


def _answer(response: Any) -> dict[str, Any]:
    try:
        body = response.json()
    except ValueError:
        body = response.text
    return {
        "status": response.status_code,
        "headers": _select_headers(response.headers),
        "body": body,
    }


def _body(answer: dict[str, Any]) -> bytes:
    body = answer["body"]
    return (body if isinstance(body, str) else json.dumps(body)).encode()


def _select_headers(headers: Any) -> dict[str, str]:
    return {name: headers[name] for name in _KEPT_HEADERS if name in headers}


def _tool_name(tool: Any) -> Any:
    if not isinstance(tool, dict):
        return tool
    function = tool.get("function")
    inner = function if isinstance(function, dict) else tool
    return inner.get("name") or tool.get("type")


class Chunks:
    """The rest of a stream, as the bytes that a client reads."""

    def __init__(self, chunks: Iterator[Any]) -> None:
        self._chunks = chunks

    def __iter__(self) -> Iterator[bytes]:
        for chunk in self._chunks:
            yield str(chunk).encode()

    def close(self) -> None:
        end: Callable[[], None] | None = getattr(self._chunks, "close", None)
        if end is not None:
            end()


class AsyncChunks:
    def __init__(self, chunks: AsyncIterator[Any]) -> None:
        self._chunks = chunks

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._chunks:
            yield str(chunk).encode()

    async def aclose(self) -> None:
        end = getattr(self._chunks, "aclose", None)
        if end is not None:
            await end()


class Events:
    """Cuts a stream of bytes into server-sent events, each with the empty line that ends it."""

    def __init__(self) -> None:
        self._decoder = codecs.getincrementaldecoder("utf-8")("replace")
        self._rest = ""

    def feed(self, piece: bytes) -> Iterator[str]:
        self._rest += self._decoder.decode(piece)
        *events, self._rest = _split_events(self._rest)
        yield from events

    def end(self) -> Iterator[str]:
        self._rest += self._decoder.decode(b"", True)
        if self._rest:
            yield self._rest


def _split_events(text: str) -> list[str]:
    pieces = text.replace("\r\n", "\n").split("\n\n") if "\r\n\r\n" in text else text.split("\n\n")
    return [*(f"{piece}\n\n" for piece in pieces[:-1]), pieces[-1]]


def _data(event: Any) -> Any:
    """The JSON of an event; None if it has none."""
    lines = [line[5:].strip() for line in str(event).splitlines() if line.startswith("data:")]
    try:
        return json.loads("\n".join(lines)) if lines else None
    except ValueError:
        return None
