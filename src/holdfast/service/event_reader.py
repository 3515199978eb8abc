"""What happened, read out: of one session, or of all, in the order the server heard of it."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from holdfast import errors
from holdfast.service.agents.session import AgentSession
from holdfast.service.agents.shown import event_json
from holdfast.service.calls.call_session import CallSession
from holdfast.service.debugger import Debugger
from holdfast.service.event_stream import EventStream, Mention
from holdfast.service.programs.program_session import ProgramSession
from holdfast.wire import rest

Json = dict[str, Any]
AnySession = ProgramSession | CallSession | AgentSession
Types = frozenset[str] | None
_PAGES = 50


@dataclass
class Events:
    """`last` is the number up to which was looked."""

    events: list[Json] = field(default_factory=list)
    last: int = 0
    has_more: bool = False


def seq_of(session: AnySession) -> int:
    return session.log.seq if isinstance(session, AgentSession) else session.journal.seq


async def after(session: AnySession, since: int, limit: int, types: Types = None) -> Events:
    """What happened in a session after a number; agents' events come out of their files."""
    if isinstance(session, AgentSession):
        page = await asyncio.to_thread(session.log.span(since).read, limit, types)
        shown = [event_json(session.id, each) for each in page.events]
        return Events(shown, page.last, page.has_more)
    found = Events(last=since)
    for _ in range(1 if types is None else _PAGES):
        records = session.journal.after(found.last, limit)
        for record in records:
            if len(found.events) == limit:
                break
            found.last = record.seq
            if types is None or record.type in types:
                found.events.append(rest.event(record))
        if len(records) < limit or len(found.events) == limit:
            break
    found.has_more = found.last < session.journal.seq
    return found


async def next_of(
    session: AnySession, since: int, limit: int, types: Types, patience: float
) -> Events:
    """The same; when there is nothing, wait for something."""
    deadline = time.monotonic() + patience
    while True:
        found = await after(session, since, limit, types)
        left = deadline - time.monotonic()
        if found.events or found.has_more or left <= 0:
            return found
        since = found.last
        if not await session.wait_until(partial(_is_past, session, since), left):
            return found


def _is_past(session: AnySession, seq: int) -> bool:
    return seq_of(session) > seq


# -- of all sessions ------------------------------------------------------------------------------


@dataclass
class Latest:
    events: list[Json]
    cursor: str
    has_more: bool
    missed: bool
    """Whether something between the cursor and the first event is not known any more."""


async def latest(
    service: Debugger, cursor: str | None, limit: int, types: Types, patience: float
) -> Latest:
    """Without a cursor the newest; with one, what came after it, waited for if need be."""
    stream = service.stream
    if cursor is None:
        known = _of_types(stream.after(stream.oldest), types, stream.oldest)
        if known or not patience:
            found, _, _ = await _read(service, known[-limit:], types)
            return Latest(found, stream.cursor(stream.number), False, False)
    place = stream.number if cursor is None else stream.place(cursor)
    missed = place is None or place < stream.oldest
    number = stream.oldest if place is None else max(place, stream.oldest)
    deadline = time.monotonic() + patience
    while True:
        known = _of_types(stream.after(number), types, number)
        left = deadline - time.monotonic()
        if known or left <= 0:
            break
        number = stream.number
        await stream.wait_until(partial(_has_grown, stream, number), left)
        if stream.stopping or stream.number == number:
            break
    end = stream.number
    found, reached, is_cut = await _read(service, known[:limit], types)
    has_more = is_cut or len(known) > limit
    if has_more:
        end = reached
    return Latest(found, stream.cursor(end), has_more, missed)


def _has_grown(stream: EventStream, number: int) -> bool:
    return stream.number > number


Numbered = tuple[int, Mention]


def _of_types(mentions: list[Mention], types: Types, first: int) -> list[Numbered]:
    """Those of these types, each with its number; `first` is the one before the first."""
    numbered = enumerate(mentions, first + 1)
    return [(number, each) for number, each in numbered if types is None or each.type in types]


async def _read(
    service: Debugger, wanted: list[Numbered], types: Types
) -> tuple[list[Json], int, bool]:
    """The events themselves, the number of the last one, and whether some are left for later."""
    by_session: dict[str, list[int]] = {}
    for _, mention in wanted:
        by_session.setdefault(mention.session_id, []).append(mention.seq)
    pages: dict[str, Events] = {}
    for session_id, numbers in by_session.items():
        try:
            session = service.any_session(session_id)
        except errors.HoldfastError:
            continue  # it is gone, and so are its events
        page = await after(session, min(numbers) - 1, len(numbers), types)
        pages[session_id] = page
    found: list[Json] = []
    reached = 0
    events = [(of, each) for of, page in pages.items() for each in page.events]
    by_number = {(of, each["seq"]): each for of, each in events}
    for number, mention in wanted:
        event = by_number.get((mention.session_id, mention.seq))
        page_of = pages.get(mention.session_id)
        if event is None and page_of is not None and mention.seq > page_of.last:
            return found, reached, True
        reached = number
        if event is not None:
            found.append(event)
    return found, reached, False
