"""Where leased calls come from: each function, stack and thread is described once.

A site is recognised by the code objects on the stack and the instructions they stand at. `recent`
has the last site of each caller: most calls come from where the one before came from, so that
comparing is enough and no key has to be built of a whole stack.
"""

from __future__ import annotations

import itertools
import json
import threading
import types
from typing import Any

from holdfast.client import stacks
from holdfast.client.invocation import Invocation
from holdfast.client.proxy_base import without_interception
from holdfast.client.recorder import Recorder
from holdfast.client.value_preview import clean

MAX_SITES = 20_000

Key = tuple[Any, ...]
"""Name, alias, qualified name, kind, type of the target, id of the code, number of the thread; then
for each frame the id of its code and its instruction, or the stack as text."""

_thread_numbers = itertools.count(1)


class CallSite:
    """What the calls of one function, from one stack, in one thread, have in common."""

    __slots__ = ("callers", "clear_epoch", "code", "names", "number", "text")

    def __init__(
        self,
        number: int,
        text: bytes,
        names: tuple[Any, ...],
        code: Any,
        callers: list[tuple[types.CodeType, int]],
    ) -> None:
        self.number = number
        self.text = text
        self.names = names  # name, alias, qualified name and kind
        self.code = code  # all code objects, kept so that no other gets their ids
        self.callers = callers  # the frames beyond the caller's
        self.clear_epoch = -1  # the epoch in which no rule concerns this site


class CurrentThread(threading.local):
    """The number and the description of the thread that asks."""

    def __init__(self) -> None:
        thread = threading.current_thread()
        self.number = next(_thread_numbers)
        self.description = {"id": thread.ident, "name": clean(thread.name)}


class CallSites:
    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._numbers = itertools.count(1)
        self._sites: dict[Key, CallSite] = {}
        self.thread = CurrentThread()
        self.recent: dict[Key, CallSite] = {}  # by the caller's frame alone

    def clear(self) -> None:
        self._sites.clear()
        self.recent.clear()

    def find(self, invocation: Invocation) -> CallSite:
        frame, function, target = invocation.frame, invocation.function, invocation.target
        code = getattr(function, "__code__", None)
        key: Key = (
            *(invocation.name, invocation.alias, invocation.qualname, invocation.kind),
            *(type(target), id(code), self.thread.number),
        )
        if frame is not None and invocation.stack is None:
            caller = (*key, id(frame.f_code), frame.f_lasti)
            return self.find_at(caller, function, target, frame)
        key = (*key, invocation.stack)
        return self._sites.get(key) or self._add(key, function, target, None, invocation.stack)

    def find_at(self, caller: Key, function: Any, target: Any, frame: types.FrameType) -> CallSite:
        """The site of a call from `frame`. `caller` is its key without the frames beyond."""
        key = [*caller]
        append, outer = key.append, frame.f_back
        while outer is not None:
            append(id(outer.f_code))
            append(outer.f_lasti)
            outer = outer.f_back
        site = self._sites.get(tuple(key))
        if site is None:
            site = self._add(tuple(key), function, target, frame, None)
        if not self._recorder.settings.capture_locals:
            self.recent[caller] = site
        return site

    def _add(
        self,
        key: Key,
        function: Any,
        target: Any,
        frame: types.FrameType | None,
        stack: str | None,
    ) -> CallSite:
        name, alias, qualname, kind = key[:4]
        recorder = self._recorder
        has_locals = recorder.settings.capture_locals
        with without_interception():
            described = recorder.functions.describe(function, type(target), name)
            description = {
                "name": clean(name),
                "alias": None if alias is None else clean(alias),
                "qualname": qualname,
                "call_type": kind,
                "signature": described.signature,
                "parameters": described.parameters,
                "thread": self.thread.description,
            }
            if stack is None:
                stack = stacks.with_locals(frame) if has_locals else recorder.stacks.capture(frame)
            text = f'{json.dumps(description)[:-1]}, "frames": {stack}}}'.encode()
        code = (getattr(function, "__code__", None), stacks.codes(frame))
        callers = [] if frame is None else stacks.instructions(frame.f_back)
        site = CallSite(next(self._numbers), text, (name, alias, qualname, kind), code, callers)
        if not has_locals:  # a site with locals is never met again
            if len(self._sites) >= MAX_SITES:
                self.clear()
            self._sites[key] = site
        return site
