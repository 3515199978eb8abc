"""Where leased calls come from: each function, stack and thread is described once.

A site is known again by the code objects on the stack and the instructions they stand at. The last
one of each caller is at hand in `near`: most calls come from where the one before came from, so
that comparing is enough and no key has to be made of a whole stack.
"""

from __future__ import annotations

import itertools
import json
import threading
import types
from typing import TYPE_CHECKING, Any

from holdfast.client import stacks, value_preview
from holdfast.client.proxy_base import without_interception

if TYPE_CHECKING:
    from holdfast.client.recorder import Recorder

MAX = 20_000

_threads = itertools.count(1)


class CallSite:
    """What the calls of one function, from one stack, in one thread, have in common."""

    __slots__ = ("clear", "keeps", "named", "number", "outside", "text")

    def __init__(
        self,
        number: int,
        text: bytes,
        named: tuple[Any, ...],
        keeps: Any,
        outside: list[tuple[types.CodeType, int]],
    ) -> None:
        self.number = number
        self.text = text
        self.named = named
        self.keeps = keeps  # the code objects, so that their ids stay theirs
        self.outside = outside  # the frames beyond the caller's
        self.clear = -1  # the epoch in which no rule is known to concern it


class Mine(threading.local):
    """This thread's number, and how it is described."""

    def __init__(self) -> None:
        thread = threading.current_thread()
        self.number = next(_threads)
        self.about = {"id": thread.ident, "name": value_preview.clean(thread.name)}


class CallSites:
    def __init__(self, recorder: Recorder) -> None:
        self._recorder = recorder
        self._numbers = itertools.count(1)
        self._every: dict[tuple[Any, ...], CallSite] = {}
        self.mine = Mine()
        self.near: dict[tuple[Any, ...], CallSite] = {}  # by the caller's frame alone: the last

    def of(
        self,
        name: str,
        alias: str | None,
        qualname: str | None,
        kind: str,
        function: Any,
        target: Any,
        frame: types.FrameType | None,
        stack: str | None,
    ) -> CallSite:
        """The site of a call. `stack`: where its coroutine was made, if that is elsewhere."""
        code = getattr(function, "__code__", None)
        whose = (name, alias, qualname, kind, type(target), id(code), self.mine.number)
        if frame is None or stack is not None:
            key = (*whose, stack)
            return self._every.get(key) or self._new(key, code, function, target, None, stack)
        caller = (*whose, id(frame.f_code), frame.f_lasti)
        where = [*caller]
        add, each = where.append, frame.f_back
        while each is not None:
            add(id(each.f_code))
            add(each.f_lasti)
            each = each.f_back
        found = self._every.get(tuple(where))
        if found is None:
            found = self._new(tuple(where), code, function, target, frame, None)
        if not self._recorder.settings.capture_locals:
            self.near[caller] = found
        return found

    def _new(
        self,
        key: tuple[Any, ...],
        code: Any,
        function: Any,
        target: Any,
        frame: types.FrameType | None,
        stack: str | None,
    ) -> CallSite:
        name, alias, qualname, kind = key[:4]
        recorder = self._recorder
        whole = recorder.settings.capture_locals
        with without_interception():
            about = {
                "name": value_preview.clean(name),
                "alias": None if alias is None else value_preview.clean(alias),
                "qualname": qualname,
                "call_type": kind,
                "signature": recorder.signature(function, (type(target), name)),
                "thread": self.mine.about,
            }
            if stack is None:
                stack = stacks.with_locals(frame) if whole else recorder.stacks.capture(frame)
            text = f'{json.dumps(about)[:-1]}, "frames": {stack}}}'.encode()
        keeps = (code, stacks.codes(frame))
        outside = [] if frame is None else stacks.instructions(frame.f_back)
        site = CallSite(next(self._numbers), text, (name, alias, qualname, kind), keeps, outside)
        if not whole:
            if len(self._every) >= MAX:
                self._every.clear()
                self.near.clear()
            self._every[key] = site
        return site
