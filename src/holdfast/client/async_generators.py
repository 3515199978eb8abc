"""Asynchronous generators whose call may be held: it is made, and awaited, with the first step."""

from __future__ import annotations

import sys
import types
from collections.abc import AsyncGenerator, Awaitable, Callable
from typing import Any


async def steps(
    start: Callable[[types.FrameType], Awaitable[Any]],
) -> AsyncGenerator[Any, Any]:
    """The steps of what `start` gives, which is told who took the first one."""
    found = await start(sys._getframe(1))
    inner = found if isinstance(found, types.AsyncGeneratorType) else _each(found)
    try:
        value = await inner.__anext__()
        while True:
            try:
                sent = yield value
            except BaseException as problem:  # thrown in; to be closed is one of these
                value = await inner.athrow(problem)
            else:
                value = await inner.asend(sent)
    except StopAsyncIteration:
        return


async def _each(found: Any) -> AsyncGenerator[Any, Any]:
    """What a decision gave instead of a generator, one by one."""
    if hasattr(type(found), "__aiter__"):
        async for value in found:
            yield value
    elif found is not None:
        for value in found:
            yield value
