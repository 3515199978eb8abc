"""An agent session: where the agent's loop is, what it holds, and its latest answers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import orjson

from holdfast import errors
from holdfast.core.ledger import Ledger
from holdfast.model.agent_commands import ACTIONS
from holdfast.model.agent_events import (
    API_REQUEST,
    API_RESPONSE,
    COMMAND_APPLIED,
    COMMAND_EXECUTED,
    COMMAND_RESPONSE,
    ERROR,
    LANE_START,
    PAUSED,
    RESUMED,
    RUN_END,
    RUN_START,
    SESSION_END,
    SESSION_START,
    EventData,
    RecordedEvent,
)
from holdfast.model.decision import AGENT_MOMENTS, Decision, Moment
from holdfast.model.hold import Hold
from holdfast.model.session_state import Kind, State
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.directories import SessionDirectory, SessionMetadata
from holdfast.recording.recording_state import (
    EventCounts,
    LaneState,
    RecordedStop,
    RecordingState,
    lane_of,
)
from holdfast.recording.tail import Tail
from holdfast.service import hold_titles
from holdfast.service.agents import command_exchange
from holdfast.service.agents.answer_builder import (
    build_event,
    build_hold,
    build_status,
    build_summary,
    format_input,
)
from holdfast.service.agents.event_log import EventLog, parse_event, parse_head, read_beginning
from holdfast.service.agents.recording_scan import CRASHED, RecordingScan
from holdfast.service.event_stream import EventStream
from holdfast.service.new_ids import new_id
from holdfast.service.run_options import RunOptions, parse_wait
from holdfast.service.session import DecisionRequest, Session
from holdfast.service.settings import Settings
from holdfast.wire import agent_answers as answers
from holdfast.wire import agent_lines
from holdfast.wire.agent_answers import (
    AgentCommandAnswer,
    AgentDecision,
    AgentInspection,
    AgentRerunAnswer,
    AgentStatus,
    AgentSummary,
)
from holdfast.wire.conversation_answers import ComparedRuns, RunConversation
from holdfast.wire.described import none_to_unset
from holdfast.wire.session_answers import EventList
from holdfast.wire.session_requests import (
    AgentFork,
    AgentReplay,
    AgentStateQuery,
    CompareQuery,
    ConversationQuery,
    StepMessagesQuery,
)

if TYPE_CHECKING:
    from holdfast.service.agents.agent_registry import AgentRegistry

_READ_BYTES = 256 * 1024
_ANSWERS = frozenset((COMMAND_EXECUTED, COMMAND_APPLIED, COMMAND_RESPONSE, ERROR))
_READ_TYPES = _ANSWERS | {
    *(SESSION_START, SESSION_END, LANE_START, RUN_START, RUN_END),
    *(API_REQUEST, API_RESPONSE, PAUSED, RESUMED),
}
"""Of all others only the number and the type matter here."""


@dataclass
class AgentHold:
    """A stop of an agent, with the data of its `paused` event. `lock` admits one decision."""

    id: str
    stop: str
    data: EventData
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def lane(self) -> str:
        return lane_of(self.data)


_AFTER_END = "It has ended, and its recording stays: GET its /conversation, or POST its /fork."


class AgentSession(Session):
    """It runs while its process does; it is paused while its bridge holds something."""

    kind = Kind.AGENT
    over: bool = False

    def __init__(
        self,
        home: SessionDirectory,
        ledger: Ledger,
        stream: EventStream,
        registry: AgentRegistry,
    ) -> None:
        super().__init__()
        self.id = home.id
        self.home = home
        self.about: SessionMetadata = {}
        self.created_at = 0.0
        self.reason: str | None = None
        self.recorded = RecordingState(keeps_messages=False)
        self.held: dict[str, AgentHold] = {}  # by stop
        self.answers: dict[str, list[RecordedEvent]] = {}  # by the id of a command that waits
        self.skipped = 0
        self.log = EventLog(home.events)
        self.counts_before: EventCounts | None = EventCounts()  # None: not counted yet
        self._lanes_before: dict[str, LaneState] = {}
        self.followed_from = 0
        self.tail = Tail(home.events, most=_READ_BYTES)
        self._ledger = ledger
        self._stream = stream
        self._registry = registry

    # -- report -----------------------------------------------------------------------------

    @property
    def name(self) -> str | None:
        return str(self.about["name"]) if self.about.get("name") else None

    @property
    def pid(self) -> int | None:
        return self.about.get("pid")

    @property
    def holds(self) -> list[str]:
        return [hold.id for hold in self.held.values()]

    @property
    def iteration(self) -> int:
        return self.recorded.iteration

    @property
    def state(self) -> State:
        if self.over:
            return State.TERMINATED
        return State.PAUSED if self.held else State.RUNNING

    @property
    def settled(self) -> bool:
        return self.over or bool(self.held)

    @property
    def knows_lanes(self) -> bool:
        """Whether all of its recording was read."""
        return self.counts_before is not None

    @property
    def lanes(self) -> dict[str, LaneState]:
        known = self._lanes_before | self.recorded.lanes
        return {name: self._merge_lane(name, lane) for name, lane in known.items()}

    def _merge_lane(self, name: str, lane: LaneState) -> LaneState:
        """What the newest part of the recording does not say of it is in the part before."""
        before = self._lanes_before.get(name)
        if before is None or before is lane:
            return lane
        return LaneState(
            iteration=lane.iteration or before.iteration,
            count=lane.count or before.count,
            parent=lane.parent or before.parent,
            within=lane.within or before.within,
        )

    def require_live(self) -> None:
        if self.over:
            raise errors.WrongState(
                f"the agent of session {self.id} has ended: {self.reason}",
                hint=_AFTER_END,
                session_id=self.id,
                kind=self.kind.value,
                state=self.state.value,
                possible=["events", "delete"],
            )

    # -- operations -------------------------------------------------------------------------

    @property
    def agent(self) -> AgentSession:
        return self

    def not_a_program(self) -> errors.WrongState:
        return errors.WrongState(
            f"session {self.id} is of kind {self.kind.value}: it has no program to look into",
            hint=_AFTER_END
            if self.over
            else "GET its /state, POST its /command, /pause, /continue or /step-over; "
            "what it holds is at GET /api/holds.",
            session_id=self.id,
            kind=self.kind.value,
            state=self.state.value,
            possible=["events", "delete"]
            if self.over
            else ["state", "command", "pause", "continue", "step-over", "events"],
        )

    @property
    def _settings(self) -> Settings:
        return self._registry.settings()

    def _seconds(self, options: RunOptions, default: float = 0.0) -> float:
        return parse_wait(options.wait, self._settings.max_wait, default)

    async def _settle_within(self, seconds: float) -> None:
        if seconds:
            await self.wait_until(lambda: self.settled, seconds)

    def summary(self) -> AgentSummary:
        before = self.counts_before
        return build_summary(self, None if before is None else before + self.recorded.counts)

    async def detail(self) -> AgentSummary:
        detail = build_summary(self, await self.count_events())
        agent = self._registry.reruns.find_agent(self.id)
        if agent is not None:
            detail.process = agent.describe()
        return detail

    async def status(self, options: RunOptions) -> AgentStatus:
        await self._settle_within(self._seconds(options))
        return build_status(self, AgentStatus)

    @property
    def last_seq(self) -> int:
        return self.log.seq

    async def read_events(
        self, since: int, limit: int, types: frozenset[str] | None = None
    ) -> EventList:
        page = await asyncio.to_thread(self.log.span(since).read, limit, types)
        events = [build_event(self.id, event) for event in page.events]
        return EventList(events, page.last, page.has_more)

    async def delete(self) -> None:
        await self._registry.delete(self)

    async def resume(self, options: RunOptions) -> AgentStatus:
        """Continue everything that it holds."""
        seconds = self._seconds(options)
        if options.lane is not None:
            holds = command_exchange.list_held(self, options.lane, "continue")
            await asyncio.gather(*(self._decide(hold, "continue", options.by) for hold in holds))
        elif len(self.held) > 1:
            await self.continue_holds(options.by)
        else:
            [held] = command_exchange.list_held(self, None, "continue")
            await self._decide(held, "continue", options.by)
        await self._settle_within(seconds)
        return build_status(self, AgentStatus)

    async def step(self, action: str, options: RunOptions) -> AgentStatus:
        """One iteration of what is held: an agent has no lines to step over, into or out of."""
        if action != "step-over":
            raise self.not_a_program()
        seconds = self._seconds(options, self._settings.step_wait)
        limit = self._settings.request_timeout
        await command_exchange.step(self, options.lane, options.by, limit)
        await self._settle_within(seconds)
        return build_status(self, AgentStatus)

    async def _decide(self, held: AgentHold, action: str, by: str) -> None:
        limit = self._settings.request_timeout
        await command_exchange.decide(self._registry, self._ledger, held.id, action, by, {}, limit)

    async def pause(self, options: RunOptions) -> AgentStatus:
        """Stop before its next model call."""
        seconds = self._seconds(options, self._settings.step_wait)
        limit = self._settings.request_timeout
        is_paused = await command_exchange.pause(self, options.lane, limit, seconds)
        answer = build_status(self, AgentStatus)
        if not is_paused and not self.over:
            answer.pause_pending = True
            answer.message = "It stops before its next model call; GET its /status?wait= to wait."
        return answer

    async def decide(self, hold: Hold, request: DecisionRequest) -> AgentDecision:
        by, fields = request.options.by, request.fields
        limit = command_exchange.parse_timeout(fields, self._settings.request_timeout)
        held = await command_exchange.decide(
            self._registry, self._ledger, hold.id, request.action, by, fields, limit
        )
        await self._settle_within(self._seconds(request.options))
        return build_status(
            self, AgentDecision, hold_id=hold.id, action=request.action, stop=held.stop
        )

    async def continue_holds(self, by: str) -> list[str]:
        limit = self._settings.request_timeout
        return await command_exchange.continue_all(self._registry, self._ledger, self, by, limit)

    def summarize_hold(self, hold: Hold) -> answers.AgentHold:
        return build_hold(hold, self._registry.get_hold(hold.id)[1], whole=False)

    async def describe_hold(self, hold: Hold) -> answers.AgentHold:
        held = self._registry.get_hold(hold.id)[1]
        answer = build_hold(hold, held, whole=True)
        if held.data.get("input") is not None:
            body = await asyncio.to_thread(self.read_body, held.data["input"])
            answer.input_text = none_to_unset(format_input(body))
        return answer

    @property
    def label(self) -> str | None:
        return self.name

    def title_hold(self, hold: Hold) -> str:
        return hold_titles.title_agent(hold, self._registry.get_hold(hold.id)[1].data)

    async def command(
        self, kind: str, data: Mapping[str, Any], timeout: float | None = None
    ) -> AgentCommandAnswer:
        """Send a command and wait for its answer."""
        limit = self._settings.request_timeout if timeout is None else timeout
        outcome = await command_exchange.send_command(self, kind, data, limit)
        return AgentCommandAnswer(
            command_id=outcome.command_id,
            type=kind,
            status=outcome.status,
            response=outcome.response,
            session=build_status(self, AgentStatus),
            note=none_to_unset(outcome.note),
        )

    async def inspect(self, query: AgentStateQuery) -> AgentInspection:
        """Its messages, context, tools, or all of it: as recorded, or as the agent reports."""
        if not query.live:
            recorded = await self._registry.reader.read_state(self, query)
            return build_status(self, AgentInspection, state=recorded, source="recording")
        limit = self._settings.request_timeout
        state = await command_exchange.inspect(self, query, limit)
        return build_status(self, AgentInspection, state=state, source="agent")

    # -- its recording ----------------------------------------------------------------------

    async def conversation(self, query: ConversationQuery) -> RunConversation:
        """The run as a conversation, now or as it was at an event."""
        return await self._registry.reader.read_conversation(self, query)

    async def messages(self, query: StepMessagesQuery) -> bytes:
        """Messages that a model call was given, as JSON."""
        return await self._registry.reader.read_messages(self, query)

    async def compare(self, other: AgentSession, query: CompareQuery) -> ComparedRuns:
        """This run beside another one."""
        return await self._registry.reader.compare(self, other, query)

    async def replay(self, request: AgentReplay) -> AgentRerunAnswer:
        """Run the agent again from its recording."""
        return await self._registry.reruns.replay(self, request)

    async def fork(self, request: AgentFork) -> AgentRerunAnswer:
        """Run the agent again: so many iterations from its recording, the rest live."""
        return await self._registry.reruns.fork(self, request)

    def read_body(self, recorded: object) -> Any:
        """A body of an event, wherever it is. It may have to be read from a file."""
        return RecordingState(ContentFiles(self.home.contents)).read_body(recorded)

    async def read_content(self, cid: str) -> tuple[bytes, bool]:
        """A body that an event names by its content id, and whether it is JSON."""
        try:
            body = await asyncio.to_thread(ContentFiles(self.home.contents).get, cid)
        except (KeyError, OSError):
            raise errors.CidNotFound(
                f"no content {cid[:100]} in session {self.id}",
                hint="Content ids are those of `$cid` and `…Pickle` in this session's events.",
                cid=cid[:100],
                session_id=self.id,
            ) from None
        return body, await asyncio.to_thread(_is_json, body)

    # -- following --------------------------------------------------------------------------

    def begin(self, scan: RecordingScan) -> None:
        """Follow it from where a scan of its recording ended."""
        self.describe(scan.about)
        if scan.offset:
            self.tail.offset = self.followed_from = self.log.end = scan.offset
            self.counts_before = None
            if scan.seq:
                self.log.note(scan.seq, scan.place)
            self.recorded = scan.recorded
            self.recorded.counts = EventCounts()  # counts from here on
        if scan.reason is not None:
            self.end(scan.reason)
        else:
            for stop in self.recorded.stops.values():
                self._open(stop)

    def describe(self, about: SessionMetadata) -> None:
        self.about = about
        began = agent_lines.parse_timestamp(about.get("startTime"))
        try:
            self.created_at = began or self.home.path.stat().st_mtime
        except OSError:
            self.created_at = 0.0
        self._registry.reruns.note_session(self)

    def read_new_lines(self) -> bool:
        """Read what its bridge has written since the last read. True if there is more to read."""
        before = self.tail.offset
        lines = self.tail.lines()
        for place, line in lines:
            self._take(place, line)
        while self.tail.too_long:
            self._skip_long_line(self.tail.too_long.pop(0))
        self.log.end = self.tail.offset
        if lines:
            self.wake()
        return self.tail.offset != before and self.tail.has_more()

    def _skip_long_line(self, place: int) -> None:
        self.skipped += 1
        self._registry.warnings.add(
            "AGENT_LINE_TOO_LONG",
            f"A line of more than {self.tail.max_line} bytes was skipped in {self.home.events}, at "
            f"byte {place}. What it said is missing in session {self.id}.",
            about=(self.id, place),
            session_id=self.id,
            file=str(self.home.events),
            place=place,
        )

    def _take(self, place: int, line: bytes) -> None:
        head = parse_head(line)
        if head is None:
            self.skipped += 1
            return
        seq, kind = head
        event = parse_event(line) if kind in _READ_TYPES else None
        if event is None and kind in _READ_TYPES:
            self.skipped += 1
            return
        self.log.note(seq, place)
        if event is None:
            self.recorded.skip(kind)
        else:
            self._take_event(kind, event)
        self._stream.add(self.id, seq, kind)

    def _take_event(self, kind: str, event: RecordedEvent) -> None:
        changed = self.recorded.take(event)
        if isinstance(changed, RecordedStop):
            if changed.ended is None:
                self._open(changed)
            else:
                self._settle(changed.id, changed.ended["data"])
        elif kind == SESSION_START:
            self.over, self.reason = False, None
            self.withdraw("its agent was started anew")
            self.describe(self.home.read_metadata() or self.about)
        elif kind == SESSION_END:
            self.end(self.recorded.end_reason or CRASHED)
        if kind in _ANSWERS:
            answers = self.answers.get(str(event["data"].get("commandId")))
            if answers is not None:
                answers.append(event)

    # -- holds ------------------------------------------------------------------------------

    def _open(self, stop: RecordedStop) -> None:
        if stop.id in self.held:
            return
        data, allows = stop.data, stop.data.get("allows")
        known = [name for name in allows if name in ACTIONS] if isinstance(allows, list) else []
        held = AgentHold(new_id("hold"), stop.id, data)
        self._ledger.open(
            Hold(
                id=held.id,
                session_id=self.id,
                kind=self.kind,
                reason=str(data.get("reason") or "pause"),
                opened_at=agent_lines.parse_timestamp(stop.began.get("timestamp")),
                moment=Moment(at) if (at := data.get("at")) in AGENT_MOMENTS else Moment.MODEL,
                allows=tuple(known),
            )
        )
        self.held[stop.id] = held

    def _settle(self, stop: str, data: EventData) -> None:
        held = self.held.pop(stop, None)
        if held is None:
            return
        action, by = str(data.get("action") or "continue"), str(data.get("by") or "a command")
        if action == "withdrawn":
            self._ledger.withdraw(held.id, "its agent went on by itself")
            return
        self._ledger.record(held.id, Decision(action, by))

    def withdraw(self, why: str) -> None:
        for held in self.held.values():
            self._ledger.withdraw(held.id, why)
        self.held.clear()

    def find_hold(self, hold_id: str) -> AgentHold | None:
        return next((held for held in self.held.values() if held.id == hold_id), None)

    # -- its end ----------------------------------------------------------------------------

    def end(self, reason: str) -> None:
        self.over, self.reason = True, reason
        self.withdraw(f"the agent ended: {reason}")
        self.wake()
        self._stream.changes.note(self.id)

    def revive(self) -> None:
        """Mark it as running again, because a process holds its lock."""
        self.over, self.reason = False, None
        self.describe(self.home.read_metadata() or self.about)
        self.wake()
        self._stream.changes.note(self.id)

    async def count_events(self) -> EventCounts:
        """The counts of all its events. The part before the server followed it is read once."""
        if self.counts_before is None:
            before = await asyncio.to_thread(read_beginning, self.home.events, self.followed_from)
            self.counts_before, self._lanes_before = before.counts, before.lanes
        return self.counts_before + self.recorded.counts


def _is_json(body: bytes) -> bool:
    try:
        orjson.loads(body)
    except ValueError:
        return False
    return True
