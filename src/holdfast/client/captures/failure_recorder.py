"""Records what the own code of a test does, so that a failure can be asked how it came to it.

It is kept in memory, and written only if the test fails. A function that runs very often in one
test is left alone after its first statements, so that a suite stays usable.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from holdfast.probe.traces.memory_log import MemoryLog
from holdfast.probe.traces.run_recorder import RunRecorder
from holdfast.recording.trace_files import RecordedRun, TraceDirectory

_MAX_LINES = 50_000
"""Of the recording of one test: about so many statements."""
_MAX_PER_FUNCTION = 3_000
"""Statements of one function in one test."""


class FailureRecorder:
    """The hooks that start and stop the recorder around each test of this process."""

    def __init__(self, root: Path, directory: TraceDirectory) -> None:
        self._root = str(root)
        self._directory = directory
        self._log = MemoryLog({}, _MAX_LINES)
        self._recorder = RunRecorder(
            [self._root], self._log, _MAX_LINES, max_per_code=_MAX_PER_FUNCTION
        )

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: Any) -> None:
        """Begin anew. An attempt that is repeated begins here, too."""
        self._recorder.discard()
        self._log.header = self._describe(item.nodeid)
        self._recorder.start()

    @pytest.hookimpl(hookwrapper=True, trylast=True)
    def pytest_runtest_call(self) -> Iterator[None]:
        """The recording ends with the test: what looks at its failure may run code of the test."""
        yield
        self._recorder.stop()

    @pytest.hookimpl(hookwrapper=True)
    def pytest_runtest_teardown(self) -> Iterator[None]:
        yield
        self._recorder.discard()

    def pytest_unconfigure(self) -> None:
        self._recorder.end()

    def _describe(self, node: str) -> dict[str, Any]:
        return {
            "format": 1,
            "kind": "run",
            "python": ".".join(map(str, sys.version_info[:3])),
            "argv": sys.argv,
            "cwd": self._root,
            "roots": [self._root],
            "time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
            "node": node,
        }

    def save(self, node: str) -> str:
        """Write the recording of the test that has just failed; returns its id."""
        trace_id, path = self._directory.create()
        path.write_bytes(b"".join(self._log.read_lines()))
        run = RecordedRun(
            target=node,
            kind="run",
            cwd=self._root,
            roots=[self._root],
            request={"target": f"pytest {node}", "args": [], "cwd": self._root},
        )
        self._directory.note_run(trace_id, run)
        for surplus in self._directory.list_surplus():
            self._directory.delete(surplus)
        return trace_id
