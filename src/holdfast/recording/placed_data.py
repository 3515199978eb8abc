"""The fields of events that are kept for long: the large ones stay in the file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from holdfast.model.agent_events import EventData
from holdfast.recording.regular_files import open_regular
from holdfast.wire import agent_lines

SMALL_LINE = 1024
"""An event whose line is no longer is kept as it is."""
_SMALL_FIELD = 200
_NAMES = frozenset(("lane", "name", "model", "toolId", "within", "stop"))
"""What others look for: kept whatever its size."""


class PlacedData(dict[str, Any]):
    """The fields of a long event, and where its line is.

    They are all there until `shed` is called, and then only the small ones.
    """

    __slots__ = ("_path", "_place", "_size")

    def __init__(self, data: EventData, path: Path, place: int, size: int) -> None:
        super().__init__(data)
        self._path = path
        self._place = place
        self._size = size

    def shed(self) -> None:
        for name in [name for name, value in self.items() if not _is_kept(name, value)]:
            del self[name]

    def read(self) -> EventData:
        """All the fields; the small ones, if the file is no more what it was."""
        try:
            handle = open_regular(self._path)
        except OSError:
            return self
        try:
            event = agent_lines.parse_event(os.pread(handle, self._size, self._place))
        except OSError:
            return self
        finally:
            os.close(handle)
        found: EventData = {} if event is None else event["data"]
        is_same = all(name in found and found[name] == value for name, value in self.items())
        return found if is_same else self


def read_data(data: EventData) -> EventData:
    """All the fields of an event, wherever they are."""
    return data.read() if isinstance(data, PlacedData) else data


def _is_kept(name: str, value: Any) -> bool:
    if name in _NAMES and isinstance(value, str):
        return True
    return _measure(value, _SMALL_FIELD) <= _SMALL_FIELD


def _measure(value: Any, most: int) -> int:
    """About how large it is; only more than `most`, if it is."""
    if isinstance(value, str):
        return len(value)
    if not isinstance(value, (dict, list)):
        return 1
    size = 1 + (sum(map(len, value)) if isinstance(value, dict) else len(value))
    for item in value.values() if isinstance(value, dict) else value:
        if size > most:
            break
        size += _measure(item, most - size)
    return size
