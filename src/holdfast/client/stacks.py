"""The stacks from which calls are made: each is described once and recognised after that.

A stack is recognised by its code objects and the instructions they stand at, which costs a walk
over the frames. Lines of source are read only for a new stack; the JSON of the others is kept.
"""

from __future__ import annotations

import itertools
import json
import linecache
import os
import types
from collections.abc import Iterator
from typing import Any

from holdfast.client.value_preview import clean, preview_text

_OUR_FOLDER = os.path.dirname(os.path.abspath(__file__)) + os.sep
MAX_FRAMES = 500
_MAX_STACKS = 4096


class Stacks:
    def __init__(self) -> None:
        # The code objects are kept, so that their ids stay theirs.
        self._known: dict[tuple[int, ...], tuple[str, list[types.CodeType]]] = {}

    def capture(self, frame: types.FrameType | None) -> str:
        """The stack from `frame` outwards, as JSON: the caller first."""
        key: list[int] = []
        current = frame
        while current is not None:
            key.append(id(current.f_code))
            key.append(current.f_lasti)
            current = current.f_back
        known = self._known.get(tuple(key))
        return known[0] if known is not None else self._describe(tuple(key), frame)

    def _describe(self, key: tuple[int, ...], frame: types.FrameType | None) -> str:
        if len(self._known) >= _MAX_STACKS:
            self._known.clear()
        text = json.dumps([_describe_frame(inner) for inner in _application_frames(frame)])
        self._known[key] = (text, codes(frame))
        return text


def with_locals(frame: types.FrameType | None) -> str:
    """The stack with the variables of every frame, as JSON; no two are the same."""
    return json.dumps(
        [
            {**_describe_frame(inner), "locals": _locals(inner)}
            for inner in _application_frames(frame)
        ]
    )


def codes(frame: types.FrameType | None) -> list[types.CodeType]:
    return [outer.f_code for outer in _walk(frame)]


def instructions(frame: types.FrameType | None) -> list[tuple[types.CodeType, int]]:
    """The code and the instruction of each frame from here outwards."""
    return [(outer.f_code, outer.f_lasti) for outer in _walk(frame)]


def _walk(frame: types.FrameType | None) -> Iterator[types.FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _application_frames(frame: types.FrameType | None) -> list[types.FrameType]:
    """The frames from here outwards without our own."""
    frames = itertools.islice(_walk(frame), MAX_FRAMES)
    return [outer for outer in frames if not outer.f_code.co_filename.startswith(_OUR_FOLDER)]


def _describe_frame(frame: types.FrameType) -> dict[str, Any]:
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
