"""Reads recordings for people: conversations, the messages of a call, states, comparisons.

The latest conversations are kept, so that a run that goes on is read on and not again. Everything
here reads files: the operations run in threads.
"""

from __future__ import annotations

import asyncio
import threading
from collections import OrderedDict
from collections.abc import Iterator
from itertools import takewhile
from typing import TYPE_CHECKING, Any

from msgspec import UNSET

from holdfast import errors
from holdfast.model.agent_commands import INSPECTABLE
from holdfast.model.agent_events import MAIN, RecordedEvent
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.conversation import Conversation, find_request
from holdfast.recording.directories import SessionDirectory
from holdfast.recording.message_summary import MessageRange
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
from holdfast.service.agents.recorded_texts import RecordedTexts
from holdfast.service.agents.run_comparison_builder import build_comparison
from holdfast.wire.conversation_answers import (
    ComparedRuns,
    ConversationTotals,
    RunConversation,
    StepMessages,
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
_MAX_KEPT_BYTES = 32 << 20


class _KeptConversation:
    """A conversation that is read on when its recording has grown."""

    def __init__(self, home: SessionDirectory) -> None:
        self.home = home
        self._lock = threading.Lock()
        self._start()

    def _start(self) -> None:
        self._tail = Tail(self.home.events)
        self._conversation = Conversation()

    def build(
        self, session: AgentSession, query: ConversationQuery, last_seq: int
    ) -> RunConversation:
        """One at a time: what is read on must not be shown half."""
        with self._lock:
            before = self._tail.offset
            for event in read_events(self._tail):
                self._conversation.take(event)
            if self._tail.offset < before:  # another file is in its place
                self._start()
                for event in read_events(self._tail):
                    self._conversation.take(event)
            return _build_conversation(session, self._conversation, query, last_seq)


class RecordingReader:
    def __init__(self) -> None:
        self._kept: OrderedDict[SessionDirectory, _KeptConversation] = OrderedDict()

    async def read_conversation(
        self, session: AgentSession, query: ConversationQuery
    ) -> RunConversation:
        """The run as it is now, or as it was at an event."""
        is_past = query.at is not None and query.at < session.log.seq
        if is_past or session.log.end > _MAX_KEPT_BYTES:
            return await asyncio.to_thread(_read_past, session, query)
        return await asyncio.to_thread(self._keep(session).build, session, query, session.log.seq)

    def _keep(self, session: AgentSession) -> _KeptConversation:
        kept = self._kept.pop(session.home, None) or _KeptConversation(session.home)
        self._kept[session.home] = kept
        while len(self._kept) > _MAX_KEPT:
            self._kept.popitem(last=False)
        return kept

    def forget(self, session: AgentSession) -> None:
        self._kept.pop(session.home, None)

    async def read_messages(self, session: AgentSession, query: StepMessagesQuery) -> StepMessages:
        """All messages that a model call was given."""
        lane = query.lane or MAIN
        found = await asyncio.to_thread(
            find_request, _read_events(session), _contents(session), lane, query.iteration
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
        return build_step_messages(session.id, lane, query.iteration, found)

    async def read_state(self, session: AgentSession, query: AgentStateQuery) -> dict[str, Any]:
        """What `inspect` shows, from the recording: nothing is asked, and nothing written."""
        if query.what not in INSPECTABLE:
            raise errors.InvalidInput(
                f"what is one of {', '.join(INSPECTABLE)}, not {query.what!r:.100}", field="what"
            )
        is_whole = query.what == "messages" or query.first is not None or query.count is not None
        shown = MessageRange(query.first or 0, query.count) if is_whole else None
        given = (session.id, _read_events(session), _contents(session))
        found = await asyncio.to_thread(
            take_recorded_snapshot, *given, query.what, query.lane, shown
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
        return await asyncio.to_thread(_compare, left, right, query)


def _read_events(session: AgentSession) -> Iterator[RecordedEvent]:
    return read_events(Tail(session.home.events))


def _contents(session: AgentSession) -> ContentFiles:
    return ContentFiles(session.home.contents)


def _read_past(session: AgentSession, query: ConversationQuery) -> RunConversation:
    conversation = Conversation()
    limit = session.log.seq if query.at is None else query.at
    for event in takewhile(lambda event: seq_of(event) <= limit, _read_events(session)):
        conversation.take(event)
    return _build_conversation(session, conversation, query, session.log.seq)


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


def _compare(left: AgentSession, right: AgentSession, query: CompareQuery) -> ComparedRuns:
    runs = _read_run(left), _read_run(right)
    texts = tuple(RecordedTexts(_contents(each), query.max_chars) for each in (left, right))
    return build_comparison(
        runs,
        align_runs(*runs),
        find_lineage(*runs),
        (texts[0], texts[1]),
        -1 if query.after is None else query.after,
        query.limit,
    )


def _read_run(session: AgentSession) -> ComparedRun:
    return read_run(session.id, _read_events(session), _contents(session))
