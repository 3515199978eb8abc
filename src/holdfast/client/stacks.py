"""Where a call came from: its stack, described once and recognised after that.

A stack is known by its code objects and the instructions they stand at, which costs a walk over
the frames. Lines of source are read only for a stack that was not seen before; the JSON of one
that was is kept ready.
"""

from __future__ import annotations

import json
import linecache
import os
import types
from typing import Any

from holdfast.client.value_preview import clean, preview_text

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
MAX_FRAMES = 500
_MAX_STACKS = 4096


class Stacks:
    def __init__(self) -> None:
        # The code objects are kept, so that their ids stay theirs.
        self._known: dict[tuple[int, ...], tuple[str, list[types.CodeType]]] = {}

    def capture(self, frame: types.FrameType | None) -> str:
        """The stack from `frame` outwards, as JSON: the caller first."""
        where: list[int] = []
        current = frame
        while current is not None:
            where.append(id(current.f_code))
            where.append(current.f_lasti)
            current = current.f_back
        known = self._known.get(tuple(where))
        return known[0] if known is not None else self._describe(tuple(where), frame)

    def _describe(self, where: tuple[int, ...], frame: types.FrameType | None) -> str:
        if len(self._known) >= _MAX_STACKS:
            self._known.clear()
        frames = _frames(frame)
        text = json.dumps([_place(each) for each in frames if not is_ours(each.f_code)])
        self._known[where] = (text, codes(frame))
        return text


def with_locals(frame: types.FrameType | None) -> str:
    """The stack with every frame's variables, as text. Never the same twice, so never kept."""
    return json.dumps(
        [
            {**_place(each), "locals": _locals(each)}
            for each in _frames(frame)
            if not is_ours(each.f_code)
        ]
    )


def is_ours(code: types.CodeType) -> bool:
    return code.co_filename.startswith(_HERE)


def codes(frame: types.FrameType | None) -> list[types.CodeType]:
    return [each.f_code for each in _every(frame)]


def instructions(frame: types.FrameType | None) -> list[tuple[types.CodeType, int]]:
    """Where each frame from here outwards stands."""
    return [(each.f_code, each.f_lasti) for each in _every(frame)]


def _every(frame: types.FrameType | None) -> list[types.FrameType]:
    found = []
    while frame is not None:
        found.append(frame)
        frame = frame.f_back
    return found


def _frames(frame: types.FrameType | None) -> list[types.FrameType]:
    return _every(frame)[:MAX_FRAMES]


def _place(frame: types.FrameType) -> dict[str, Any]:
    code = frame.f_code
    line = linecache.getline(code.co_filename, frame.f_lineno or 0, frame.f_globals)
    return {
        "filename": clean(code.co_filename),
        "lineno": frame.f_lineno,
        "function": clean(code.co_name),
        "code_context": clean(line.strip()),
    }


def _locals(frame: types.FrameType) -> dict[str, str]:
    return {clean(name): preview_text(value) for name, value in list(frame.f_locals.items())}
