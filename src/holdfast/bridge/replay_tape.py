"""A recording to play from: what models and tools gave, in the order in which they were asked.

Calls are matched by lane and order, and then their keys must agree. What may have run in parallel
(the tools of one turn, or several agents that share a lane) may come in another order now; each
finds its own by its key. What a tool did inside itself is not asked for when the tool's own result
is played.
"""

from __future__ import annotations

import json
import threading
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from holdfast.bridge.bridge_errors import Diverged
from holdfast.bridge.recorded_values import NotRestorable, Values
from holdfast.bridge.redaction import Redaction
from holdfast.model.agent_events import MAIN
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.directories import SessionDirectory
from holdfast.wire import agent_lines

VIEW, MODEL, FULL = "view", "model", "full"
NOT_DONE = ("skip", "raise", "cancel")
"""Decisions by which a tool did not run."""


@dataclass(eq=False)
class RecordedCall:
    """One call of the recording."""

    kind: str
    lane: str
    name: str
    iteration: int
    key: str
    began: int
    said: dict[str, Any]
    """The data of the event that began it."""
    tool_id: str | None = None
    pure: bool = False
    within: str | None = None
    """The tool that asked for it, when that was not the loop itself."""
    ended: int | None = None
    outcome: dict[str, Any] = field(default_factory=dict)
    decision: dict[str, Any] | None = None
    changes: list[dict[str, Any]] = field(default_factory=list)
    """Messages injected and variables set by the debugger, just before it."""
    ancestors: frozenset[str | None] = frozenset()
    """The tools inside which it was asked for."""
    models_inside: int = 0
    """Model calls that the tool made itself."""


class _Group:
    """Calls whose order among themselves says nothing."""

    def __init__(self, entries: list[RecordedCall]) -> None:
        self.entries = dict.fromkeys(entries)
        self._by_key: dict[tuple[str, str, str], deque[RecordedCall]] = defaultdict(deque)
        for entry in entries:
            self._by_key[entry.kind, entry.name if entry.kind == "tool" else "", entry.key].append(
                entry
            )

    def take(self, kind: str, name: str, key: str) -> RecordedCall | None:
        found = self._by_key.get((kind, name if kind == "tool" else "", key))
        if not found:
            return None
        entry = found.popleft()
        del self.entries[entry]
        return entry


class ReplayTape:
    def __init__(
        self, home: SessionDirectory, mode: str = FULL, fork_at: int | None = None
    ) -> None:
        self.home = home
        self.mode = mode
        self.fork_at = fork_at
        self.edits: dict[str, Any] = {}
        """Results to give instead of the recorded ones, by tool id."""
        self.message: Any = None
        """What is added before the first live model call of a fork."""
        self.is_whole = False
        """Whether the recording has an end: that of a killed agent just stops."""
        self.diverged: Diverged | None = None
        self._contents = ContentFiles(home.contents)
        self._lock = threading.Lock()
        self.entries: list[RecordedCall] = []
        self._given: dict[tuple[str, str], deque[dict[str, Any]]] = defaultdict(deque)
        self._read(_events(home))
        self._waiting = self._arranged()

    # -- reading ---------------------------------------------------------------------------------

    def _read(self, events: Iterable[dict[str, Any]]) -> None:
        open_models: dict[tuple[str, int], RecordedCall] = {}
        open_tools: dict[str, RecordedCall] = {}
        injected: dict[str, list[dict[str, Any]]] = defaultdict(list)
        settings: list[dict[str, Any]] = []
        for event in events:
            data, kind = event["data"], event["type"]
            lane, iteration = data.get("lane", MAIN), int(data.get("iteration") or 0)
            self.is_whole = kind == "session_end"
            match kind:
                case "api_request":
                    entry = self._entry("model", data.get("model"), event)
                    entry.changes = [*settings, *injected.pop(lane, [])]
                    settings = []
                    open_models[lane, iteration] = entry
                case "api_response":
                    if (found := open_models.pop((lane, iteration), None)) is not None:
                        found.ended = int(event.get("seq", 0))
                        found.outcome = self._with_bodies(data, "decision")
                case "tool_call_start":
                    entry = self._entry("tool", data.get("name"), event)
                    entry.changes, settings = settings, []
                    open_tools[str(entry.tool_id)] = entry
                case "tool_result":
                    if (found := open_tools.get(str(data.get("toolId")))) is not None:
                        found.outcome = {**found.outcome, **data}
                case "tool_call_end":
                    if (found := open_tools.pop(str(data.get("toolId")), None)) is not None:
                        found.ended = int(event.get("seq", 0))
                        found.outcome |= self._with_bodies(data, "decision")
                case "message_injected":
                    before = data.get("before") or {}
                    injected[str(before.get("lane", MAIN))].append(event)
                case "variable_set":
                    settings.append(event)
                case "value_recorded":
                    if self.mode != FULL or "within" not in data:
                        self._given[lane, str(data.get("name"))].append(data)

    def _entry(self, kind: str, name: Any, event: dict[str, Any]) -> RecordedCall:
        data = event["data"]
        entry = RecordedCall(
            kind,
            data.get("lane", MAIN),
            str(name or ""),
            int(data.get("iteration") or 0),
            data.get("hash", ""),
            int(event.get("seq", 0)),
            data,
            data.get("toolId"),
            bool(data.get("pure")),
            data.get("within"),
        )
        entry.decision = self._body(data.get("decision"))
        self.entries.append(entry)
        return entry

    def _arranged(self) -> dict[str, deque[_Group]]:
        """What will be asked for, lane by lane."""
        tools: dict[str | None, RecordedCall] = {}
        lanes: dict[str, list[RecordedCall]] = defaultdict(list)
        for entry in self.entries:
            outer = tools.get(entry.within) if entry.within is not None else None
            if outer is not None:
                entry.ancestors = outer.ancestors | {outer.tool_id}
            if entry.kind == "tool":
                tools[entry.tool_id] = entry
            if self.mode != FULL or outer is None:
                lanes[entry.lane].append(entry)
                continue
            while outer.within in tools and outer.ancestors:
                outer = tools[outer.within]
            outer.models_inside += entry.kind == "model"
            outer.changes += entry.changes
        return {lane: deque(map(_Group, _groups(found))) for lane, found in lanes.items()}

    @property
    def iterations(self) -> int:
        return max((entry.iteration for entry in self.entries), default=0)

    def side_effects(self) -> list[str]:
        """The tools of the recorded part of a fork that may have changed something outside."""
        ran = [
            each
            for each in self.entries
            if each.kind == "tool" and self.covers(each.iteration) and not each.pure
        ]
        return sorted({each.name for each in ran if not _was_prevented(each)})

    # -- playing ---------------------------------------------------------------------------------

    def covers(self, iteration: int) -> bool:
        """Whether what is asked in this iteration comes from here."""
        return self.fork_at is None or iteration <= self.fork_at

    def messages_to_inject(self, lane: str, iteration: int) -> list[dict[str, Any]]:
        """What the debugger had put in before the model call that comes now in this lane."""
        if not self.covers(iteration):
            return []
        with self._lock:
            groups = self._waiting.get(lane)
            coming = next(iter(groups[0].entries)) if groups else None
            if coming is None or coming.kind != "model":
                return []
            taken = [each for each in coming.changes if each["type"] == "message_injected"]
            coming.changes = [each for each in coming.changes if each not in taken]
        return [self._with_bodies(each["data"], "content") for each in taken]

    def variables_to_set(self, entry: RecordedCall) -> list[dict[str, Any]]:
        found = [each["data"] for each in entry.changes if each["type"] == "variable_set"]
        return [self._with_bodies(each, "value") for each in found]

    def _with_bodies(self, data: dict[str, Any], name: str) -> dict[str, Any]:
        return {**data, name: self._body(data.get(name))}

    def next(
        self,
        kind: str,
        lane: str,
        name: str,
        key: str,
        asked: Callable[[], Any],
        iteration: int,
    ) -> RecordedCall:
        """The recorded call that this one is; `asked` shows it, for the case that it is not."""
        with self._lock:
            if self.diverged is not None:
                # One thread has met it: the others do not go on, either.
                raise Diverged(str(self.diverged), self.diverged.details)
            groups = self._waiting.get(lane)
            if not groups:
                raise self._over(kind, lane, name, asked, iteration)
            entry = groups[0].take(kind, name, key)
            if entry is None:
                raise self._different(kind, lane, name, asked, iteration, groups[0])
            if not groups[0].entries:
                groups.popleft()
            return entry

    def left(self) -> RecordedCall | None:
        """The first call of the recording that nobody asked for."""
        waiting = [next(iter(groups[0].entries)) for groups in self._waiting.values() if groups]
        return min(waiting, key=lambda each: each.began, default=None)

    def outcome(self, entry: RecordedCall, values_of: Values, load: Any = None) -> Any:
        """What it gave; raises what it raised."""
        values = Values(self._contents, values_of.redaction)
        name = "response" if entry.kind == "model" else "result"
        if entry.ended is None:
            raise self._stopped(
                f"the recording ends inside {_called(entry)} of iteration {entry.iteration}: "
                "what came of it is not known",
                {"kind": entry.kind, "name": entry.name, "iteration": entry.iteration},
            )
        try:
            if entry.outcome.get("isError"):
                raise values.error(entry.outcome)
            return values.restored(entry.outcome, name, load)
        except NotRestorable as problem:
            self.diverged = Diverged(
                f"{_called(entry)} of iteration {entry.iteration} cannot be replayed: {problem}",
                {"kind": entry.kind, "name": entry.name, "iteration": entry.iteration},
            )
            raise self.diverged from None

    def restored(self, data: dict[str, Any], values: Values) -> Any:
        return Values(self._contents, values.redaction).restored(data, "value")

    def value(self, lane: str, name: str) -> dict[str, Any] | None:
        """A recorded clock, id or random number; None when there are no more of them."""
        with self._lock:
            queue = self._given[lane, name]
            if queue:
                return queue.popleft()
        if self.fork_at is not None:
            return None
        details = {"kind": "value", "lane": lane, "name": name}
        message = f"the recording has no more values of {name!r}"
        if not self.is_whole:
            raise self._stopped(f"{message}: it has no end", details)
        self.diverged = Diverged(message, details)
        raise self.diverged

    # -- where they part -------------------------------------------------------------------------

    def _stopped(self, message: str, details: dict[str, Any]) -> Diverged:
        """Nothing is different: there is no more to play."""
        self.diverged = Diverged(message, {**details, "recordingEnded": True})
        return self.diverged

    def _over(
        self, kind: str, lane: str, name: str, asked: Callable[[], Any], iteration: int
    ) -> Diverged:
        details = {"kind": kind, "lane": lane, "name": name, "iteration": iteration}
        wanted = f"iteration {iteration}: the agent asks for {kind} {name}".rstrip()
        if not self.is_whole:
            return self._stopped(f"{wanted}, and the recording ends before it", details)
        details |= {"expected": None, "found": {"name": name, "asked": asked()}}
        self.diverged = Diverged(
            f"{wanted}, and the recording has no more calls", {**details, "difference": None}
        )
        return self.diverged

    def _different(
        self,
        kind: str,
        lane: str,
        name: str,
        asked: Callable[[], Any],
        iteration: int,
        group: _Group,
    ) -> Diverged:
        now = asked()
        entry = self._nearest(kind, name, now, list(group.entries))
        was = self._asked(entry)
        details: dict[str, Any] = {"kind": kind, "lane": lane, "name": name, "iteration": iteration}
        if entry.kind == kind and (entry.name == name or kind == "model"):
            difference = _difference(was, now)
            message = (
                f"iteration {iteration}: {kind} {name} is asked for something else than in the "
                f"recording: {difference}"
            )
        else:
            difference = f"it was {_called(entry)} and is {kind} {name}".rstrip()
            message = (
                f"iteration {iteration}: the agent asks for {kind} {name}, where the recording has "
                f"{_called(entry)}"
            )
        details["expected"] = {"kind": entry.kind, "name": entry.name, "asked": was}
        details["found"] = {"kind": kind, "name": name, "asked": now}
        self.diverged = Diverged(message, {**details, "difference": difference})
        return self.diverged

    def _nearest(self, kind: str, name: str, now: Any, entries: list[RecordedCall]) -> RecordedCall:
        same = [each for each in entries if each.kind == kind and each.name == name]
        same = same or [each for each in entries if each.kind == kind] or entries
        if len(same) == 1 or kind == "model" or not isinstance(now, dict):
            return same[0]
        return max(same, key=lambda each: _likeness(self._asked(each), now))

    def _asked(self, entry: RecordedCall) -> Any:
        """What was asked: the input of a tool; all of a model's messages, and its settings."""
        if entry.kind == "tool":
            return self._body(entry.said.get("requested", entry.said.get("input")))
        messages: list[Any] = []
        for each in self.entries:
            if each.kind == "model" and each.lane == entry.lane:
                new = self._body(each.said.get("messages"))
                kept = int(each.said.get("messagesKept") or 0)
                messages = messages[:kept] + (new if isinstance(new, list) else [])
            if each is entry:
                break
        return {
            "model": entry.said.get("model"),
            "settings": self._body(entry.said.get("settings")) or {},
            "messages": messages,
        }

    def _body(self, asked: Any) -> Any:
        try:
            return Values(self._contents, Redaction(False)).body(asked)
        except NotRestorable:
            return asked


def _groups(entries: list[RecordedCall]) -> list[list[RecordedCall]]:
    """The calls of a lane, in order; those that may come in any order are together."""
    if _is_shared(entries):
        return [entries]
    found: list[list[RecordedCall]] = []
    for entry in entries:
        # The tools of one turn may run in threads, and a quick one is over before the next begins:
        # nothing but the turn tells that their order is up to the scheduler.
        if entry.kind == "tool" and found and found[-1][0].kind == "tool":
            found[-1].append(entry)
        else:
            found.append([entry])
    return found


def _is_shared(entries: list[RecordedCall]) -> bool:
    """Whether several loops run in one lane: a model is asked while something else goes on."""
    return any("model" in (one.kind, other.kind) for one, other in _parallel(entries))


def _parallel(entries: list[RecordedCall]) -> Iterator[tuple[RecordedCall, RecordedCall]]:
    """Those that went on at the same time, and not one because of the other."""
    going_on: list[RecordedCall] = []
    for entry in entries:
        going_on = [each for each in going_on if each.ended is None or each.ended > entry.began]
        yield from ((each, entry) for each in going_on if each.tool_id not in entry.ancestors)
        going_on.append(entry)


def _was_prevented(entry: RecordedCall) -> bool:
    return isinstance(entry.decision, dict) and entry.decision.get("action") in NOT_DONE


def _called(entry: RecordedCall) -> str:
    return f"{entry.kind} {entry.name}".rstrip()


def _events(home: SessionDirectory) -> Iterable[dict[str, Any]]:
    with open(home.events, "rb") as file:
        for line in file:
            event = agent_lines.parse_event(line) if line.endswith(b"\n") else None
            if event is not None:
                yield event


def _likeness(one: Any, other: dict[str, Any]) -> int:
    if not isinstance(one, dict):
        return 0
    return sum(1 for name, value in other.items() if name in one and one[name] == value)


def _difference(expected: Any, found: Any, where: str = "") -> str:
    """The first place in which they differ, for people."""
    if type(expected) is type(found):
        if isinstance(expected, dict):
            for name in [*expected, *(name for name in found if name not in expected)]:
                inside = f"{where}.{name}" if where else str(name)
                if name not in found:
                    return f"{inside} is missing; it was {_short(expected[name])}"
                if name not in expected:
                    return f"{inside} is new: {_short(found[name])}"
                if expected[name] != found[name] and not agent_lines.is_random(name, found[name]):
                    return _difference(expected[name], found[name], inside)
        if isinstance(expected, list):
            for at, (one, other) in enumerate(zip(expected, found)):  # noqa: B905 - lengths differ
                if agent_lines.loose_key(one) != agent_lines.loose_key(other):
                    return _difference(one, other, f"{where}[{at}]")
            if len(expected) != len(found):
                return f"{where or 'it'} has {len(found)} items, not {len(expected)}"
    return f"{where or 'it'} was {_short(expected)} and is {_short(found)}"


def _short(value: Any) -> str:
    shown = json.dumps(value, ensure_ascii=False, default=repr)
    return shown if len(shown) <= 120 else f"{shown[:117]}…"
