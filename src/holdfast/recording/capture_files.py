"""The captures of failing tests: one file each, and the directory that they are in.

A run of pytest writes `captures/RUN-WORKER-N.json` in the data directory. `RUN` begins with the
time, so that names sort by it. The id of a capture comes from the name of its file. Files are
private to the user. Old runs are deleted as a whole.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import re
import time
from collections.abc import Iterator
from pathlib import Path
from typing import TypedDict, cast

from holdfast.recording.file_ids import find_ids
from holdfast.trust.private_files import (
    make_private_directory,
    read_private_file,
    write_private_file,
)

FORMAT = 1
MAX_CAPTURES = 400
"""More than this are not kept, except of the newest run."""
MAX_OF_PROCESS = 200
"""So many failures of one process of a run leave a capture."""
MAX_FILE_BYTES = 1 << 19
_NAME = re.compile(r"(\d{8}_\d{6}_[0-9a-f]{6})-([A-Za-z0-9_.]+)-(\d+)\.json")
ID_PREFIX = "cap_"
"""Stands for the id of the newest one."""
_ID_DIGITS = 10
_TEXTS = ("type", "message")


class CapturedValue(TypedDict, total=False):
    """A variable, an item or an attribute, as text."""

    name: str
    type: str
    value: str
    children: list[CapturedValue]
    children_total: int


class CapturedFrame(TypedDict, total=False):
    """A frame of the traceback."""

    file: str
    line: int
    function: str
    source: list[tuple[int, str]]
    """The lines around, with their numbers."""
    locals: list[CapturedValue]
    locals_total: int


class CapturedException(TypedDict, total=False):
    """An exception, or one that led to it."""

    type: str
    module: str
    message: str
    notes: list[str]
    relation: str
    """Of one that led to another: `cause`, `context` or `member` of a group."""
    frames: list[CapturedFrame]
    """From the nearest frame of the user's own outwards."""
    inner: list[CapturedFrame]
    """Frames of libraries that it called, where the exception was raised first."""
    frames_total: int


class CapturedAssertion(TypedDict, total=False):
    """A failed assertion."""

    source: str
    operands: list[CapturedValue]
    """Expressions in it, with their values. Of a comparison its two sides come first."""
    is_comparison: bool


class Capture(TypedDict, total=False):
    """A failing test, as it was when it failed."""

    format: int
    id: str
    run: str
    time: str
    """In UTC, as ISO 8601."""
    node: str
    when: str
    """`setup`, `call`, `teardown` or `collect`."""
    subtest: str
    duration: float
    worker: str | None
    attempt: int
    root: str
    """The directory that the node id is relative to."""
    python: str
    version: str
    exception: CapturedException
    causes: list[CapturedException]
    assertion: CapturedAssertion
    trace: str
    """The recording of what the test's own code did."""
    output: list[tuple[str, str]]
    """Title and text of what the test wrote."""


def captures_dir(data_dir: Path) -> Path:
    return data_dir / "captures"


def create_run_id(moment: float | None = None) -> str:
    stamp = time.strftime("%Y%m%d_%H%M%S", time.gmtime(moment))
    return f"{stamp}_{os.urandom(3).hex()}"


def is_run_id(text: str) -> bool:
    return bool(_NAME.fullmatch(f"{text}-main-1.json"))


class CaptureDirectory:
    """The directory of all captures."""

    def __init__(self, path: Path) -> None:
        self.path = path

    # -- writing ----------------------------------------------------------------------------

    def write(self, capture: Capture, run: str, worker: str | None, number: int) -> str:
        """Write it whole or not at all, as small as it must be; returns its id."""
        make_private_directory(self.path)
        name = f"{run}-{re.sub(r'[^A-Za-z0-9_.]', '_', worker or 'main')}-{number}.json"
        capture["format"], capture["id"], capture["run"] = FORMAT, _make_id(name), run
        write_private_file(self.path / name, _encode(capture))
        return capture["id"]

    def prune(self, newest: str | None = None, keep: int = MAX_CAPTURES) -> None:
        """Delete the oldest runs beyond what is kept; never the run `newest`."""
        names = self._list_names()
        runs = sorted({name.partition("-")[0] for name in names})
        for run in runs[:-1]:
            if len(names) <= keep:
                return
            if run != newest:
                gone = [name for name in names if name.startswith(run)]
                self._delete(gone)
                names = [name for name in names if name not in gone]

    def clear(self) -> int:
        """Delete all captures; says how many."""
        return self._delete(self._list_names())

    def delete(self, capture_id: str) -> bool:
        return bool(self._delete([n for n in self._list_names() if _make_id(n) == capture_id]))

    def _delete(self, names: list[str]) -> int:
        count = 0
        for name in names:
            with contextlib.suppress(FileNotFoundError):
                (self.path / name).unlink()
                count += 1
        return count

    # -- reading ----------------------------------------------------------------------------

    def list_ids(self, run: str | None = None) -> list[str]:
        """Newest first; of one run, if that is given."""
        return [_make_id(n) for n in self._list_names() if run is None or n.startswith(run)]

    def find(self, text: str) -> list[str]:
        """The ids that are meant by an id, the beginning of one, or `latest`."""
        return find_ids(text, self.list_ids(), ID_PREFIX)

    def read(self, capture_id: str) -> Capture:
        """OSError if there is none, or not ours; ValueError if it cannot be read."""
        for name in self._list_names():
            if _make_id(name) == capture_id:
                return _decode(read_private_file(self.path / name), name)
        raise FileNotFoundError(f"no capture {capture_id}")

    def iter_captures(
        self, problems: list[str] | None = None, run: str | None = None
    ) -> Iterator[Capture]:
        """Newest first. Files that cannot be read are left out, and told in `problems`."""
        for name in self._list_names():
            if run is not None and not name.startswith(run):
                continue
            try:
                yield _decode(read_private_file(self.path / name), name)
            except (OSError, ValueError) as problem:
                if problems is not None:
                    problems.append(f"{self.path / name}: {problem}")

    def _list_names(self) -> list[str]:
        """Newest first."""
        try:
            with os.scandir(self.path) as entries:
                files = [entry.name for entry in entries if entry.is_file(follow_symlinks=False)]
        except OSError:
            return []
        names = [name for name in files if _NAME.fullmatch(name)]
        return sorted(names, key=_sort_key, reverse=True)


def _sort_key(name: str) -> tuple[str, int, str]:
    run, worker, number = name.removesuffix(".json").split("-")
    return run, int(number), worker


def _make_id(name: str) -> str:
    return ID_PREFIX + hashlib.sha256(name.encode()).hexdigest()[:_ID_DIGITS]


def _encode(capture: Capture) -> str:
    """Its JSON. If that is too large, parts of values go first, then variables, then frames."""
    for reduce in (_keep_all, _drop_children, _drop_outer_locals, _drop_callers):
        reduce(capture)
        text = json.dumps(capture, default=str)
        if len(text) <= MAX_FILE_BYTES:
            break
    return text


def _keep_all(_capture: Capture) -> None:
    pass


def _list_frames(capture: Capture) -> list[CapturedFrame]:
    exceptions = [capture.get("exception", {}), *capture.get("causes", [])]
    return [frame for error in exceptions for frame in [*error["frames"], *error.get("inner", [])]]


def _drop_children(capture: Capture) -> None:
    for frame in _list_frames(capture):
        for value in frame.get("locals", []):
            value.pop("children", None)


def _drop_outer_locals(capture: Capture) -> None:
    for frame in _list_frames(capture)[1:]:
        frame.pop("locals", None)


def _drop_callers(capture: Capture) -> None:
    """What remains is bounded by the limits of each value and text."""
    for error in [capture.get("exception", {}), *capture.get("causes", [])]:
        error["frames"] = error["frames"][:3]
        error["inner"] = error.get("inner", [])[:1]


def _decode(data: bytes, name: str) -> Capture:
    try:
        capture = json.loads(data)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    if not isinstance(capture, dict) or capture.get("format") != FORMAT:
        raise ValueError("not a capture, or one of a newer Holdfast")
    error = capture.get("exception")
    is_whole = isinstance(error, dict) and all(isinstance(error.get(k), str) for k in _TEXTS)
    if not is_whole or not all(isinstance(capture.get(k), str) for k in ("node", "when", "time")):
        raise ValueError("not a whole capture")
    capture["id"] = _make_id(name)
    return cast(Capture, capture)
