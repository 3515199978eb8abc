"""Where a file of a program is here, and where it is there: on another machine, in a container.

A pair names a directory (or a file) here and the same one there. The longest that fits is used.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Pair = tuple[str, str]


class PathMap:
    def __init__(self, pairs: Sequence[Pair] = ()) -> None:
        pairs = [(_without_end(here), _without_end(there)) for here, there in pairs]
        self._to_remote = sorted(pairs, key=lambda pair: -len(pair[0]))
        self._to_local = sorted(
            ((there, here) for here, there in pairs), key=lambda pair: -len(pair[0])
        )

    def to_remote(self, path: str) -> str:
        """The path there of a file that is known by its path here."""
        return _translate(path, self._to_remote)

    def to_local(self, path: str) -> str:
        """The path here of a file that is known by its path there."""
        return _translate(path, self._to_local)

    def localize(self, described: Any) -> Any:
        """The same description, with every `file` in it as its path here."""
        return self._localize(described) if self._to_local else described

    def _localize(self, described: Any) -> Any:
        if isinstance(described, dict):
            return {
                key: self.to_local(value)
                if key == "file" and isinstance(value, str)
                else self._localize(value)
                for key, value in described.items()
            }
        if isinstance(described, list):
            return [self._localize(part) for part in described]
        return described


def _translate(path: str, pairs: Sequence[Pair]) -> str:
    for start, other in pairs:
        if path == start:
            return other
        ours, theirs = _separator(start), _separator(other)
        if path.startswith(start if start.endswith(ours) else start + ours):
            rest = path[len(start) :].lstrip(ours)
            joint = "" if other.endswith(theirs) else theirs
            return other + joint + rest.replace(ours, theirs)
    return path


def _separator(path: str) -> str:
    return "\\" if "\\" in path or path[1:2] == ":" else "/"


def _without_end(path: str) -> str:
    return path.rstrip("/\\") or path[:1]
