"""A recording that stays in memory until somebody wants it: that of a test which may pass."""

from __future__ import annotations

import collections
from typing import Any, Deque, Dict, Iterator, List, Union

from .trace_log import encode


class MemoryLog:
    """As `TraceLog`, without a file. Lists are detail, of which the oldest go."""

    def __init__(
        self, header: Dict[str, Any], max_lines: int = 100_000, keep: str = "newest"
    ) -> None:
        self.header = header
        self.dropped = 0
        self._max_lines = max_lines
        self._keeps_newest = keep == "newest"
        self._lasting: List[Dict[str, Any]] = []
        self._detail: Deque[List[Any]] = collections.deque()

    @property
    def is_full(self) -> bool:
        """Whether no more detail is taken."""
        return not self._keeps_newest and len(self._detail) >= self._max_lines

    def write(self, line: Union[Dict[str, Any], List[Any]]) -> None:
        if isinstance(line, dict):
            self._lasting.append(line)
        elif self.is_full:
            self.dropped += 1
        else:
            self._detail.append(line)
            if len(self._detail) > self._max_lines:
                self._detail.popleft()
                self.dropped += 1

    def flush(self) -> None:
        pass

    def close(self) -> None:
        pass

    def clear(self) -> None:
        """Forget all."""
        self._lasting.clear()
        self._detail.clear()
        self.dropped = 0

    def read_lines(self) -> Iterator[bytes]:
        """The recording as lines of JSON."""
        lines: List[Any] = [self.header, *self._lasting]
        if self.dropped:
            keep = "newest" if self._keeps_newest else "oldest"
            lines.append({"dropped": self.dropped, "keep": keep})
        for line in (*lines, *self._detail):
            yield (encode(line) + "\n").encode("ascii", "backslashreplace")
