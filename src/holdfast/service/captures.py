"""The captures of failing tests: what runs of pytest have left in the data directory."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import msgspec

from holdfast import errors
from holdfast.recording.capture_files import CaptureDirectory, captures_dir
from holdfast.service.capture_secrets import hide_capture_secrets
from holdfast.service.warning_list import WarningList
from holdfast.wire.capture_answers import (
    Capture,
    CaptureList,
    CaptureSummary,
    summarize,
)


class Captures:
    """Reads the files anew each time, because any process may write them."""

    def __init__(self, data_dir: Path, warnings: WarningList) -> None:
        self._directory = CaptureDirectory(captures_dir(data_dir))
        self._warnings = warnings

    async def list(self, limit: int = 20) -> CaptureList:
        """The newest ones. Those that cannot be read are warned of, and left out."""
        summaries, problems = await asyncio.to_thread(read_summaries, self._directory, limit)
        for problem in problems:
            self._warnings.add("CAPTURE_IGNORED", f"capture ignored: {problem}", about=problem)
        total = await asyncio.to_thread(lambda: len(self._directory.list_ids()))
        return CaptureList(captures=[*summaries], total=total - len(problems))

    async def get(self, text: str) -> Capture:
        """The one with an id, the beginning of an id, or `latest`."""
        return await asyncio.to_thread(read_capture, self._directory, text)

    async def delete(self, text: str) -> int:
        """Delete one; `all` deletes all. Says how many."""
        if text == "all":
            return await asyncio.to_thread(self._directory.clear)
        capture_id = await asyncio.to_thread(find_id, self._directory, text)
        return int(await asyncio.to_thread(self._directory.delete, capture_id))


def read_summaries(
    directory: CaptureDirectory, limit: int
) -> tuple[Sequence[CaptureSummary], Sequence[str]]:
    """The newest captures, without secrets, and what is wrong with those that cannot be read."""
    summaries: list[CaptureSummary] = []
    problems: list[str] = []
    for capture in directory.iter_captures(problems):
        if len(summaries) == limit:
            break
        try:
            whole = msgspec.convert(capture, Capture)
            summaries.append(summarize(hide_capture_secrets(whole)))
        except msgspec.ValidationError as problem:
            problems.append(f"{capture['id']}: {problem}")
    return summaries, problems


def find_id(directory: CaptureDirectory, text: str) -> str:
    """The id that is meant; an error that says what there is, if none or several are."""
    found = directory.find(text)
    if len(found) == 1:
        return found[0]
    if found:
        raise errors.CaptureNotFound(
            f"{text} may be any of {', '.join(found[:5])}", hint="Give more of the id."
        )
    known = directory.list_ids()
    what = f"no capture {text}" if known else "there are no captures yet"
    raise errors.CaptureNotFound(what, captures=known[:20])


def read_capture(directory: CaptureDirectory, text: str) -> Capture:
    capture_id = find_id(directory, text)
    try:
        return msgspec.convert(directory.read(capture_id), Capture)
    except (OSError, ValueError) as problem:
        raise errors.CaptureNotFound(f"capture {capture_id} cannot be read: {problem}") from None
