"""Reads the lines of a recorded run (`probe/traces/run_events.py` has the format)."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from operator import itemgetter
from typing import Any

from holdfast.core.collection_pause import without_collections
from holdfast.model.run_recording import (
    GivenArgument,
    GivenValue,
    PlaceWrite,
    RecordedCode,
    RecordedFile,
    RecordedStatement,
    RunEvent,
    RunFrame,
    RunRecording,
    StatementPlace,
)

_CHUNK = 1000  # lines that are decoded at once
_NO_FILE = RecordedFile(0, "?")
_NO_CODE = RecordedCode(0, _NO_FILE, "?", "?", 0, 0)
_make_write: Callable[[Iterable[Any]], PlaceWrite] = PlaceWrite._make


def read_run(lines: Iterable[bytes]) -> RunRecording:
    """The recording that the lines are. A torn line, or one that is not known, is passed over."""
    reader = _Reader()
    waiting = iter(lines)
    with without_collections():
        while chunk := list(islice(waiting, _CHUNK)):
            reader.add_all(_decode(chunk))
        return reader.finish()


def _decode(lines: Sequence[bytes]) -> list[Any]:
    """The values of the lines, None for one that is torn. Many at once take half the time."""
    try:
        values: list[Any] = json.loads(b"[%b]" % b",".join(lines))
        if len(values) == len(lines):
            return values
    except ValueError:
        pass
    return [_decode_line(line) for line in lines]


def _decode_line(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


class _Reader:
    def __init__(self) -> None:
        self.run = RunRecording({})
        self.torn = 0
        self._ends: list[list[Any]] = []
        self._given: list[list[Any]] = []

    def add_all(self, values: Iterable[Any]) -> None:
        for value in values:
            try:
                self._add(value)
            except (ValueError, TypeError, LookupError, AttributeError):
                self.torn += 1

    def _add(self, line: Any) -> None:
        if isinstance(line, dict):
            self._add_lasting(line)
        elif line[0] == "e":
            self._add_event(line)
        elif line[0] == "F":
            self._add_frame(line)
        elif line[0] == "x":
            self._ends.append(line)
        elif line[0] == "y":
            self._given.append(line)
        elif line[0] == "t":
            self._add_text(line[2], line[1], line[3])

    def _add_lasting(self, line: dict[str, Any]) -> None:
        run = self.run
        if "format" in line:
            run.header = line
        elif "statement" in line:
            run.statements[line["statement"]] = self._build_statement(line)
        elif "code" in line:
            run.codes[line["code"]] = self._build_code(line)
        elif "file" in line:
            lines = line["text"].split("\n")
            run.files[line["file"]] = RecordedFile(line["file"], line["path"], lines)
        elif "class" in line:
            run.classes[line["class"]] = line["frame"]
        elif "thread" in line:
            run.threads[line["thread"]] = line["name"]
        elif "dropped" in line:
            run.dropped += line["dropped"]
        elif "note" in line:
            run.remarks.append(line["note"])
        elif "failed" in line:
            run.remarks.append(f"the recording could not be written to its end: {line['failed']}")

    def _build_statement(self, line: dict[str, Any]) -> RecordedStatement:
        return RecordedStatement(
            number=line["statement"],
            file=self.run.files.get(line["file"], _NO_FILE),
            line=line["line"],
            last=line["last"],
            kind=line["kind"],
            parent=line["parent"],
            exits=line["exits"],
            body=line["body"],
            could=line["could"],
            reads=[StatementPlace(*place) for place in line["reads"]],
            bases=[StatementPlace(*place) for place in line["bases"]],
            writes=line["writes"],
            calls=line["calls"],
            returns=line["returns"],
            unused=line["unused"],
        )

    def _build_code(self, line: dict[str, Any]) -> RecordedCode:
        return RecordedCode(
            number=line["code"],
            file=self.run.files.get(line["file"], _NO_FILE),
            name=line["name"],
            qualname=line["qualname"],
            first=line["first"],
            last=line["last"],
            params=line["params"],
            free=line["free"],
            is_function=line["function"],
            definition=line["definition"],
        )

    # -- detail ------------------------------------------------------------------------------------

    def _add_frame(self, line: list[Any]) -> None:
        _kind, number, code, caller_time, caller, site, thread, time, namespace, args, homes = line
        frame = self._find_frame(number)
        frame.is_cut = False
        frame.code = self.run.codes.get(code, _NO_CODE)
        frame.caller_time, frame.caller, frame.site = caller_time, caller, site
        frame.thread, frame.time, frame.namespace = thread, time, namespace
        frame.args = [GivenArgument._make(argument) for argument in args]
        for argument in frame.args:
            self._add_text(argument.object, argument.time, argument.text)
        frame.homes = homes or {}

    def _find_frame(self, number: int) -> RunFrame:
        frame = self.run.frames.get(number)
        if frame is None:
            frame = self.run.frames[number] = RunFrame(number, _NO_CODE, is_cut=True)
        return frame

    def _add_event(self, line: list[Any]) -> None:
        _kind, time, done, number, statement, reads, bases, writes, children, branch, raised = line
        run = self.run
        known = run.statements[statement]
        frame = run.frames.get(number) or self._find_frame(number)
        run.events[time] = event = RunEvent(
            time,
            done,
            frame,
            known,
            reads,
            bases,
            [_make_write(write) for write in writes] if writes else (),
            children,
            branch,
            raised,
        )
        frame.events.append(event)
        for write in event.writes:
            if write.object and write.text is not None:
                self._add_text(write.object, done, write.text)

    def _add_text(self, number: int, time: int, text: str) -> None:
        if number:
            self.run.texts.setdefault(number, []).append((time, text))

    def finish(self) -> RunRecording:
        run = self.run
        for line in self._ends:
            self._end_frame(line)
        for _kind, number, time, done, text, value in self._given:
            self._find_frame(number).given.append(GivenValue(time, done, text, value))
        self._add_unfinished()
        self._drop_oldest()
        run.events = dict(sorted(run.events.items()))
        run.frames = dict(sorted(run.frames.items()))
        for frame in run.frames.values():
            frame.events.sort(key=_get_time)
        for texts in run.texts.values():
            texts.sort(key=itemgetter(0))
        self._add_remarks()
        return run

    def _end_frame(self, line: list[Any]) -> None:
        _kind, number, code, time, done, outcome, text, value = line
        frame = self._find_frame(number)
        frame.code = self.run.codes.get(code, frame.code)
        frame.outcome, frame.result, frame.result_object = outcome, text, value
        frame.result_time, frame.end = time, done

    def _add_unfinished(self) -> None:
        """A program that was killed has not said what its outer frames were at: their calls do."""
        run = self.run
        for frame in list(run.frames.values()):
            time = frame.caller_time
            if not time or time in run.events or frame.site not in run.statements:
                continue
            caller = run.frames.get(frame.caller)
            if caller is None:
                continue
            event = RunEvent(time, 0, caller, run.statements[frame.site], children=[frame.number])
            run.events[time] = event
            caller.events.append(event)

    def _drop_oldest(self) -> None:
        """The file has more than was asked for: it is cut by its size."""
        run = self.run
        most = run.header.get("max_events") or 0
        excess = len(run.events) - most
        if not most or excess <= 0 or run.header.get("keep") == "oldest":
            return
        first = sorted(run.events)[excess]
        for frame in run.frames.values():
            kept = [event for event in frame.events if event.time >= first]
            frame.is_cut = frame.is_cut or len(kept) < len(frame.events)
            frame.events = kept
        run.events = {time: event for time, event in run.events.items() if time >= first}
        run.dropped += excess

    def _add_remarks(self) -> None:
        run = self.run
        if run.dropped:
            which = "newest" if run.header.get("keep") == "oldest" else "oldest"
            run.remarks.append(f"the {which} part is missing: {run.dropped} lines were dropped")
        if self.torn > 1:
            run.remarks.append(f"{self.torn} lines of the recording could not be read")


def _get_time(event: RunEvent) -> int:
    return event.time
