"""A model may answer one call by another of its own methods, which is watched as well: one call.

A generator must not leave a context variable set while it rests; hence the care with streams.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextvars import ContextVar
from typing import TypeVar

T = TypeVar("T")

_is_inside: ContextVar[bool] = ContextVar("holdfast_inside_model", default=False)


def is_inside() -> bool:
    """Whether a watched model is at work here already."""
    return _is_inside.get()


def call_inside(function: Callable[[], T]) -> T:
    token = _is_inside.set(True)
    try:
        return function()
    finally:
        _is_inside.reset(token)


async def await_inside(function: Callable[[], Awaitable[T]]) -> T:
    token = _is_inside.set(True)
    try:
        return await function()
    finally:
        _is_inside.reset(token)


def stream_inside(chunks: Iterator[T]) -> Iterator[T]:
    while True:
        token = _is_inside.set(True)
        try:
            chunk = next(chunks)
        except StopIteration:
            return
        finally:
            _is_inside.reset(token)
        yield chunk


async def astream_inside(chunks: AsyncIterator[T]) -> AsyncIterator[T]:
    while True:
        token = _is_inside.set(True)
        try:
            chunk = await anext(chunks)
        except StopAsyncIteration:
            return
        finally:
            _is_inside.reset(token)
        yield chunk
