"""Call stacks, each stored once under a key made of its frames."""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

from holdfast.model.call import CallRecord
from holdfast.model.location import Location
from holdfast.store import CallLog
from holdfast.wire import rest

_MAX_REMEMBERED = 20_000


class StackCache:
    """Calls from the same place share one stack. Remembers where the latest stacks end."""

    def __init__(self, call_log: CallLog) -> None:
        self._call_log = call_log
        self._locations: OrderedDict[int, Location | None] = OrderedDict()

    def store(self, frames: list[Any]) -> int | None:
        """Store frames unless they are known. Return their key, or None without frames."""
        if not frames:
            return None
        text = rest.encode(frames)
        key = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "big", signed=True)
        if key not in self._locations:
            self._call_log.put_stack(key, frames)
            self._locations[key] = _find_location(frames)
            if len(self._locations) > _MAX_REMEMBERED:
                self._locations.popitem(last=False)
        return key

    async def frames(self, record: CallRecord) -> list[dict[str, Any]]:
        return [] if record.stack is None else await self._call_log.stack(record.stack)

    async def location(self, record: CallRecord) -> Location | None:
        """Where the call was made."""
        if record.stack is not None and record.stack in self._locations:
            return self._locations[record.stack]
        return _find_location(await self.frames(record))

    def forget(self, keys: Iterable[int]) -> None:
        for key in keys:
            self._locations.pop(key, None)


def _find_location(frames: list[Any]) -> Location | None:
    """The innermost frame, if it is complete."""
    frame = frames[0] if frames else None
    if not isinstance(frame, dict) or not isinstance(frame.get("filename"), str):
        return None
    line, function = frame.get("lineno"), frame.get("function")
    return Location(
        frame["filename"],
        line if isinstance(line, int) else 0,
        function if isinstance(function, str) else None,
    )
