"""Which line of a function became which, when its source was changed between two runs.

Lines are compared function by function: over a whole file, unrelated lines that look alike may be
taken for each other.
"""

from __future__ import annotations

import difflib
import os
from collections.abc import Mapping, Sequence

from holdfast.model.run_recording import RecordedCode, RunRecording

_SCRIPT = "<script>"


def map_lines(old: Sequence[str], new: Sequence[str]) -> dict[int, int]:
    """Line numbers, from 1 on, of lines that are the same but for their indentation."""
    before, after = [line.strip() for line in old], [line.strip() for line in new]
    if before == after:
        return {number: number for number in range(1, len(before) + 1)}
    matcher = difflib.SequenceMatcher(None, before, after, autojunk=False)
    return {
        first + offset + 1: second + offset + 1
        for first, second, size in matcher.get_matching_blocks()
        for offset in range(size)
    }


class LineMapping:
    """The lines of two runs of one program."""

    def __init__(self, a: RunRecording, b: RunRecording) -> None:
        self._roots = a.roots, b.roots
        self._scripts = _find_script(a), _find_script(b)
        self._known: dict[tuple[int, int], Mapping[int, int]] = {}

    def find(self, a: RecordedCode, b: RecordedCode) -> Mapping[int, int]:
        """From the lines of a function in the first run to those in the second."""
        key = (a.number, b.number)
        found = self._known.get(key)
        if found is None:
            old, new = _cut_lines(a), _cut_lines(b)
            found = self._known[key] = {
                first + a.first - 1: second + b.first - 1
                for first, second in map_lines(old, new).items()
            }
        return found

    def is_same_code(self, a: RecordedCode, b: RecordedCode) -> bool:
        return a.qualname == b.qualname and self.name_file(0, a) == self.name_file(1, b)

    def name_file(self, side: int, code: RecordedCode) -> str:
        """The path of a file in its run, without the directory that the run was made in.

        The scripts that were run stand for each other, whatever they are called."""
        if os.path.realpath(code.file.path) == self._scripts[side]:
            return _SCRIPT
        return relate_path(code.file.path, self._roots[side])


def _find_script(run: RunRecording) -> str:
    script = run.header.get("script")
    return os.path.realpath(script) if isinstance(script, str) else ""


def relate_path(path: str, roots: Sequence[str]) -> str:
    """A path relative to the root that it is below."""
    for root in sorted(roots, key=len, reverse=True):
        prefix = os.path.normpath(root) + os.sep
        if path.startswith(prefix):
            return path[len(prefix) :]
    return os.path.basename(path)


def _cut_lines(code: RecordedCode) -> Sequence[str]:
    return code.file.lines[code.first - 1 : code.last]
