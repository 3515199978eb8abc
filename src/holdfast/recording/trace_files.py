"""Recordings of runs: one file of JSON lines each, and the directory that they are in.

The probe writes `traces/trc_….jsonl` in the data directory while a program runs. The id begins with
the time, so that names sort by it. Beside it `trc_….json` says what was run. Files are private to
the user. The oldest are deleted when there are too many.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

from holdfast.recording.file_ids import find_ids
from holdfast.trust.private_files import (
    make_private_directory,
    open_private_file,
    write_private_file,
)

MAX_RECORDINGS = 200
MAX_TOTAL_BYTES = 1 << 30
"""More than this is not kept, except of the newest."""
ID_PREFIX = "trc_"
"""Stands for the id of the newest one."""
_MAX_HEADER = 1 << 16
_NAME = re.compile(r"(trc_\d{8}_\d{6}_[0-9a-f]{6})\.jsonl")


@dataclass(frozen=True)
class RecordedRun:
    """What was run for a recording, and how to run it again."""

    target: str
    session_id: str = ""
    kind: str = "frame"
    function: str | None = None
    cwd: str | None = None
    roots: Sequence[str] = ()
    request: dict[str, Any] | None = None
    """The fields of the request, as JSON has them."""


def traces_dir(data_dir: Path) -> Path:
    return data_dir / "traces"


class TraceDirectory:
    """The directory of all recordings."""

    def __init__(self, path: Path) -> None:
        self.path = path

    # -- writing ----------------------------------------------------------------------------

    def create(self) -> tuple[str, Path]:
        """A new id, and an empty file for the probe to write."""
        make_private_directory(self.path)
        stamp = time.strftime("%Y%m%d_%H%M%S", time.gmtime())
        trace_id = f"{ID_PREFIX}{stamp}_{os.urandom(3).hex()}"
        os.close(open_private_file(self._file(trace_id), os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        return trace_id, self._file(trace_id)

    def note_run(self, trace_id: str, run: RecordedRun) -> None:
        write_private_file(self._note(trace_id), json.dumps(asdict(run)))

    def delete(self, trace_id: str) -> bool:
        found = self._file(trace_id).exists()
        for path in (self._file(trace_id), self._note(trace_id)):
            with contextlib.suppress(FileNotFoundError):
                path.unlink()
        return found

    def list_surplus(self) -> list[str]:
        """The oldest ones beyond what is kept."""
        total, surplus = 0, []
        for number, trace_id in enumerate(self.list_ids()):
            total += self.measure(trace_id)
            if number and (number >= MAX_RECORDINGS or total > MAX_TOTAL_BYTES):
                surplus.append(trace_id)
        return surplus

    # -- reading ----------------------------------------------------------------------------

    def list_ids(self) -> list[str]:
        """Newest first."""
        try:
            names = os.listdir(self.path)
        except OSError:
            return []
        found = [matched[1] for matched in map(_NAME.fullmatch, names) if matched]
        return sorted(found, key=self._age, reverse=True)

    def _age(self, trace_id: str) -> tuple[str, float]:
        """The second in its name, and within that the time of its file."""
        with contextlib.suppress(OSError):
            return trace_id[: len("trc_00000000_000000")], self._file(trace_id).stat().st_mtime
        return trace_id, 0.0

    def find(self, text: str) -> list[str]:
        """The ids that are meant by an id, the beginning of one, or `latest`."""
        return find_ids(text, self.list_ids(), ID_PREFIX)

    def read_lines(self, trace_id: str) -> list[bytes]:
        """Its lines; the last may be incomplete if the program still writes it."""
        handle = open_private_file(self._file(trace_id), os.O_RDONLY)
        with open(handle, "rb") as file:
            return file.read().splitlines()

    def read_first_line(self, trace_id: str) -> bytes:
        """Its header, as far as that is written; empty if there is none."""
        try:
            with open(self._file(trace_id), "rb") as file:
                return file.readline(_MAX_HEADER)
        except OSError:
            return b""

    def read_run(self, trace_id: str) -> RecordedRun:
        try:
            note = json.loads(self._note(trace_id).read_text("utf-8"))
            known = {field.name for field in fields(RecordedRun)}
            return RecordedRun(**{name: note[name] for name in known & note.keys()})
        except (OSError, ValueError, TypeError, AttributeError):
            return RecordedRun(target="")

    def measure(self, trace_id: str) -> int:
        try:
            return self._file(trace_id).stat().st_size
        except OSError:
            return 0

    def _file(self, trace_id: str) -> Path:
        return self.path / f"{trace_id}.jsonl"

    def _note(self, trace_id: str) -> Path:
        return self.path / f"{trace_id}.json"
