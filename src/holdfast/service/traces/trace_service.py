"""The recordings of runs in the data directory: listed, read, shown and deleted."""

from __future__ import annotations

import asyncio
import base64
import binascii
import hashlib
import json
from collections import OrderedDict
from collections.abc import Sequence
from pathlib import Path

from holdfast import errors
from holdfast.recording.capture_files import ID_PREFIX as CAPTURE_PREFIX
from holdfast.recording.file_ids import LATEST
from holdfast.recording.trace_files import RecordedRun, TraceDirectory, traces_dir
from holdfast.service.captures import Captures
from holdfast.service.traces.call_view import build_call, describe_recording, summarize
from holdfast.service.traces.recordings import Recording, read_recording
from holdfast.service.traces.why_view import build_why
from holdfast.store import Store
from holdfast.wire.pickle_viewer import build_preview
from holdfast.wire.trace_answers import Trace, TraceCall, TraceList
from holdfast.wire.trace_why import TraceWhy, WhyQuery

_MAX_CACHED = 4
_CONTENT = b'{"content"'


class Traces:
    """Reads a file again when it has grown, because a program may still write it."""

    def __init__(self, data_dir: Path, store: Store, captures: Captures) -> None:
        self.directory = TraceDirectory(traces_dir(data_dir))
        self._contents = store.contents
        self._captures = captures
        self._read: OrderedDict[str, tuple[int, Recording]] = OrderedDict()

    # -- for tools --------------------------------------------------------------------------

    async def create(self) -> tuple[str, str]:
        """A new recording: its id and its file. The oldest make room for it."""
        trace_id, path = await asyncio.to_thread(self.directory.create)
        for surplus in await asyncio.to_thread(self.directory.list_surplus):
            await self._delete(surplus)
        return trace_id, str(path)

    async def note_run(self, trace_id: str, run: RecordedRun) -> None:
        await asyncio.to_thread(self.directory.note_run, trace_id, run)

    async def open(self, text: str) -> Recording:
        """The recording that an id, its beginning, `latest`, or the id of a capture means."""
        trace_id = await self.find_id(text)
        size = self.directory.measure(trace_id)
        known = self._read.get(trace_id)
        if known is not None and known[0] == size:
            self._read.move_to_end(trace_id)
            return known[1]
        recording, contents = await asyncio.to_thread(self._load, trace_id)
        for cid, data in contents.items():
            self._contents.put(cid, data, build_preview(data))
        self._read[trace_id] = (size, recording)
        while len(self._read) > _MAX_CACHED:
            self._read.popitem(last=False)
        return recording

    def _load(self, trace_id: str) -> tuple[Recording, dict[str, bytes]]:
        try:
            lines = self.directory.read_lines(trace_id)
            run = self.directory.read_run(trace_id)
            recording = read_recording(trace_id, run, lines)
        except (OSError, ValueError) as problem:
            raise errors.TraceNotFound(f"trace {trace_id} cannot be read: {problem}") from None
        return recording, _list_contents(lines)

    async def find_id(self, text: str) -> str:
        if text.startswith(CAPTURE_PREFIX):
            return await self._find_captured(text)
        found = await asyncio.to_thread(self.directory.find, text)
        if len(found) == 1:
            return found[0]
        if found:
            raise errors.TraceNotFound(
                f"{text} may be any of {', '.join(found[:5])}", hint="Give more of the id."
            )
        known = self.directory.list_ids()
        if text == LATEST or not known:
            raise errors.TraceNotFound("there are no traces yet")
        raise errors.TraceNotFound(f"no trace {text}", traces=known[:20])

    async def _find_captured(self, text: str) -> str:
        capture = await self._captures.get(text)
        if not capture.trace:
            raise errors.TraceNotFound(
                f"capture {capture.id} has no recording",
                hint="`pytest --holdfast` records what a test's own code does, unless "
                "`--holdfast-trace=off` is given.",
            )
        return await self.find_id(capture.trace)

    # -- for pages --------------------------------------------------------------------------

    async def list(self, limit: int = 50) -> TraceList:
        ids = await asyncio.to_thread(self.directory.list_ids)
        listed = await asyncio.to_thread(
            lambda: [summarize(self.directory, trace_id) for trace_id in ids[:limit]]
        )
        return TraceList(traces=listed, total=len(ids))

    async def describe(self, text: str) -> Trace:
        recording = await self.open(text)
        return describe_recording(recording, summarize(self.directory, recording.id))

    async def show_call(self, text: str, key: str, *, show_secrets: bool = False) -> TraceCall:
        recording = await self.open(text)
        try:
            return await asyncio.to_thread(build_call, recording, key, show_secrets)
        except KeyError:
            raise errors.TraceNotFound(
                f"trace {recording.id} has no call {key}",
                hint=f"GET /api/traces/{recording.id} lists its calls.",
            ) from None

    async def explain(self, text: str, query: WhyQuery) -> TraceWhy:
        """Where a value came from."""
        recording = await self.open(text)
        return await asyncio.to_thread(build_why, recording, query)

    # -- deleting ---------------------------------------------------------------------------

    async def delete(self, text: str) -> int:
        """Delete one; `all` deletes all. Says how many."""
        ids: Sequence[str]
        if text == "all":
            ids = await asyncio.to_thread(self.directory.list_ids)
        else:
            ids = [await self.find_id(text)]
        return sum([await self._delete(trace_id) for trace_id in ids])

    async def _delete(self, trace_id: str) -> bool:
        """Delete it with the values that only it has."""
        self._read.pop(trace_id, None)
        try:
            lines = await asyncio.to_thread(self.directory.read_lines, trace_id)
        except OSError:
            lines = []
        cids = list(_list_contents(lines))
        is_gone = await asyncio.to_thread(self.directory.delete, trace_id)
        if cids:
            await self._contents.drop_unused(cids, lambda _cid: True)
        return is_gone


def _list_contents(lines: Sequence[bytes]) -> dict[str, bytes]:
    """The values that a recording has whole. Bytes that do not fit their id are left out."""
    contents: dict[str, bytes] = {}
    for line in lines:
        if not line.startswith(_CONTENT):
            continue
        try:
            entry = json.loads(line)
            data = base64.b64decode(entry["data"], validate=True)
        except (ValueError, KeyError, TypeError, binascii.Error):
            continue
        if hashlib.sha256(data).hexdigest() == entry["content"]:
            contents[entry["content"]] = data
    return contents
