"""Reads recordings for people: conversations, the messages of a call, states, comparisons.

The latest conversations are kept, so that a run that goes on is read on and not again. Everything
here reads files: the operations run in threads of their own.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET

from holdfast import errors
from holdfast.model.agent_commands import INSPECTABLE
from holdfast.model.agent_events import MAIN, RecordedEvent
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.conversation import Conversation, find_request
from holdfast.recording.directories import SessionDirectory
from holdfast.recording.message_summary import MessageRange
from holdfast.recording.placed_data import SMALL_LINE, PlacedData
from holdfast.recording.recorded_snapshot import take_recorded_snapshot
from holdfast.recording.recording_state import read_events, seq_of
from holdfast.recording.run_alignment import align_runs
from holdfast.recording.run_comparison import ComparedRun, find_lineage, read_run
from holdfast.recording.tail import Tail
from holdfast.service.agents.conversation_builder import (
    ConversationBuilder,
    build_step_messages,
    build_totals,
)
from holdfast.service.agents.reading_threads import Reading, ReadingGivenUp, ReadingThreads
from holdfast.service.agents.recorded_texts import RecordedTexts
from holdfast.service.agents.run_comparison_builder import build_comparison
from holdfast.wire import rest
from holdfast.wire.agent_lines import parse_event
from holdfast.wire.conversation_answers import (
    ComparedRuns,
    ConversationTotals,
    RunConversation,
)
from holdfast.wire.session_requests import (
    AgentStateQuery,
    CompareQuery,
    ConversationQuery,
    StepMessagesQuery,
)

if TYPE_CHECKING:
    from holdfast.service.agents.agent_session import AgentSession

_MAX_KEPT = 4
_MAX_KEPT_BYTES = 64 << 20
"""Of all kept conversations together; the latest one is kept whatever its size."""


class _KeptConversation:
    """A conversation that is read on when its recording has grown.

    What is large about its events stays in the file, and is read again when it is shown.
    """

    def __init__(self, home: SessionDirectory) -> None:
        self.home = home
        self._start()

    def _start(self) -> None:
        self._tail = Tail(self.home.events)
        self._next = 0  # where the next event begins
        self._begin_file()

    def _begin_file(self) -> None:
        self._conversation = Conversation()
        self.size = 0
        """About how many bytes of events are kept."""

    def read_on(self, reading: Reading) -> Conversation:
        """One at a time: what is read on must not be shown half."""
        try:
            self._take_new_lines(reading)
        except ReadingGivenUp:
            raise  # the next one goes on from here
        except BaseException:
            self._start()  # what was taken so far may be wrong
            raise
        return self._conversation

    def _take_new_lines(self, reading: Reading) -> None:
        for place, line in self._tail.all():
            if place < self._next:
                self._begin_file()  # another file is in its place
            self._next = place
            if reading.is_given_up:
                self._tail.offset = place
                raise ReadingGivenUp
            self._take(place, line)
            self._next = place + len(line) + 1
        self._tail.too_long.clear()
        if self._tail.offset < self._next:
            self._start()

    def _take(self, place: int, line: bytes) -> None:
        event = parse_event(line)
        if event is None:
            return
        self.size += min(len(line), SMALL_LINE)
        if len(line) <= SMALL_LINE:
            self._conversation.take(event)
            return
        data = PlacedData(event["data"], self.home.events, place, len(line))
        event["data"] = data
        self._conversation.take(event)
        data.shed()


class RecordingReader:
    def __init__(self) -> None:
        self._kept: OrderedDict[SessionDirectory, _KeptConversation] = OrderedDict()
        self._current = ReadingThreads()
        """Reads what is new. It is one thread, so that this is done in order."""
        self._whole = ReadingThreads()
        """Reads recordings from their beginning, which may take long."""

    def stop_waiting(self) -> None:
        self._current.stop()
        self._whole.stop()

    def close(self) -> None:
        self._current.close()
        self._whole.close()

    async def read_conversation(
        self, session: AgentSession, query: ConversationQuery
    ) -> RunConversation:
        """The run as it is now, or as it was at an event."""
        last_seq = session.log.seq
        key = ("conversation", *_describe(session), msgspec.json.encode(query))
        if query.at is not None and query.at < last_seq:
            return await self._whole.run(
                key, lambda reading: _read_past(session, query, last_seq, reading)
            )
        kept = self._keep(session)
        return await self._current.run(
            key,
            lambda reading: _build_conversation(session, kept.read_on(reading), query, last_seq),
        )

    def _keep(self, session: AgentSession) -> _KeptConversation:
        kept = self._kept.pop(session.home, None) or _KeptConversation(session.home)
        self._kept[session.home] = kept
        while len(self._kept) > 1 and self._is_too_much:
            self._kept.popitem(last=False)
        return kept

    @property
    def _is_too_much(self) -> bool:
        size = sum(kept.size for kept in self._kept.values())
        return len(self._kept) > _MAX_KEPT or size > _MAX_KEPT_BYTES

    def forget(self, session: AgentSession) -> None:
        self._kept.pop(session.home, None)

    async def read_messages(self, session: AgentSession, query: StepMessagesQuery) -> bytes:
        """Messages that a model call was given, as JSON. They may be many."""
        lane = query.lane or MAIN
        found = await self._whole.run(
            ("messages", *_describe(session), msgspec.json.encode(query)),
            lambda reading: _read_messages(session, query, reading),
        )
        if found is None:
            await session.count_events()
            known = session.lanes.get(lane)
            raise errors.InvalidInput(
                f"session {session.id} has no model call {query.iteration} in lane {lane:.100}",
                hint=f"That lane has {known.iteration} of them, from 1 on."
                if known is not None
                else f"Its lanes: {', '.join(session.lanes)}.",
                field="iteration" if known is not None else "lane",
                session_id=session.id,
            )
        return found

    async def read_state(self, session: AgentSession, query: AgentStateQuery) -> dict[str, Any]:
        """What `inspect` shows, from the recording: nothing is asked, and nothing written."""
        if query.what not in INSPECTABLE:
            raise errors.InvalidInput(
                f"what is one of {', '.join(INSPECTABLE)}, not {query.what!r:.100}", field="what"
            )
        found = await self._whole.run(
            ("state", *_describe(session), msgspec.json.encode(query)),
            lambda reading: _read_state(session, query, reading),
        )
        if isinstance(found, list):
            raise errors.InvalidInput(
                f"no lane {query.lane!r:.100}: there are {', '.join(found)}", field="lane"
            )
        return found

    async def compare(
        self, left: AgentSession, right: AgentSession, query: CompareQuery
    ) -> ComparedRuns:
        """Two runs side by side."""
        return await self._whole.run(
            ("compare", *_describe(left), *_describe(right), msgspec.json.encode(query)),
            lambda reading: _compare(left, right, query, reading),
        )


def _describe(session: AgentSession) -> tuple[SessionDirectory, int, bool]:
    """What an answer depends on: whoever asks after an event is not given what was before it."""
    return session.home, session.log.seq, session.over


def _read_events(session: AgentSession) -> Iterator[RecordedEvent]:
    return read_events(Tail(session.home.events))


def _contents(session: AgentSession) -> ContentFiles:
    return ContentFiles(session.home.contents)


def _read_messages(
    session: AgentSession, query: StepMessagesQuery, reading: Reading
) -> bytes | None:
    events = reading.follow(_read_events(session))
    found = find_request(events, _contents(session), query.lane or MAIN, query.iteration)
    return None if found is None else rest.encode(build_step_messages(session.id, query, found))


def _read_state(
    session: AgentSession, query: AgentStateQuery, reading: Reading
) -> dict[str, Any] | list[str]:
    is_whole = query.what == "messages" or query.first is not None or query.count is not None
    return take_recorded_snapshot(
        session.id,
        reading.follow(_read_events(session)),
        _contents(session),
        query.what,
        query.lane,
        MessageRange(query.first or 0, query.count) if is_whole else None,
    )


def _read_past(
    session: AgentSession, query: ConversationQuery, last_seq: int, reading: Reading
) -> RunConversation:
    conversation = Conversation()
    limit = last_seq if query.at is None else query.at
    events = reading.follow(_read_events(session))
    for event in takewhile(lambda event: seq_of(event) <= limit, events):
        conversation.take(event)
    return _build_conversation(session, conversation, query, last_seq)


def _build_conversation(
    session: AgentSession, conversation: Conversation, query: ConversationQuery, last_seq: int
) -> RunConversation:
    state, at = conversation.state, conversation.last_seq
    last_seq = max(last_seq, at)
    is_past = at < last_seq
    is_over = state.is_over or (session.over and not is_past)
    builder = ConversationBuilder(
        conversation,
        RecordedTexts(_contents(session), query.max_chars),
        is_over=is_over,
        holds={stop: held.id for stop, held in list(session.held.items())},
        name=session.name or session.id,
    )
    page = builder.build_page(query.lane, query.after_turn, query.limit)
    totals = build_totals(conversation.totals.describe(), state.last_iteration)
    return RunConversation(
        session_id=session.id,
        at=at,
        last_seq=last_seq,
        is_over=is_over,
        end_reason=(state.end_reason or session.reason or UNSET) if is_over else UNSET,
        lanes=builder.build_lanes(),
        turns=page.turns,
        total_turns=page.total,
        has_earlier=page.has_earlier,
        has_more=page.has_more,
        totals=ConversationTotals(**totals),
        held=builder.build_holds(),
        variables=builder.build_variables(),
    )


def _compare(
    left: AgentSession, right: AgentSession, query: CompareQuery, reading: Reading
) -> ComparedRuns:
    runs = _read_run(left, reading), _read_run(right, reading)
    texts = tuple(RecordedTexts(_contents(each), query.max_chars) for each in (left, right))
    return build_comparison(
        runs,
        align_runs(*runs, reading.check),
        find_lineage(*runs),
        (texts[0], texts[1]),
        -1 if query.after is None else query.after,
        query.limit,
    )


def _read_run(session: AgentSession, reading: Reading) -> ComparedRun:
    return read_run(session.id, reading.follow(_read_events(session)), _contents(session))
