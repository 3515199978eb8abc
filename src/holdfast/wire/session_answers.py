"""Answers about sessions of every kind: what each field means, and the JSON they become."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, TypedDict

import msgspec
from msgspec import UNSET, Meta, UnsetType


class SessionStatus(msgspec.Struct, kw_only=True):
    """What every answer about a session begins with."""

    session_id: Annotated[str, Meta(description="The id of the session.")]
    status: Annotated[
        str,
        Meta(
            description="Where the session is: created, launching, running, paused, "
            "waiting_for_input, terminated or failed."
        ),
    ]


class Location(msgspec.Struct):
    """A place in source code."""

    file: Annotated[str, Meta(description="The path of the file.")]
    line: Annotated[int, Meta(description="The line, counted from 1.")]
    function: Annotated[str | None, Meta(description="The function that the line is in.")] = None


class EventHead(TypedDict):
    """What every event has."""

    seq: Annotated[int, Meta(description="Its number within its session.")]
    session_id: Annotated[str, Meta(description="The session that it is of.")]
    event: Annotated[str, Meta(description="Its type.")]
    type: Annotated[str, Meta(description="The same type.")]
    timestamp: Annotated[str | None, Meta(description="When, as an ISO 8601 time in UTC.")]


class Event(EventHead, total=False):
    """Something that happened. `wire/event_types.py` has the fields of each type."""

    data: Annotated[
        Mapping[str, object], Meta(description="An agent's event: its fields, as recorded.")
    ]


class EventList(msgspec.Struct):
    """Some events of one session, oldest first."""

    events: Annotated[
        list[Event],
        Meta(description="What happened."),
    ]
    last_seq: Annotated[
        int, Meta(description="The number up to which events were looked at: the next `since`.")
    ]
    has_more: Annotated[
        bool, Meta(description="Whether there are more: ask again from `last_seq`.")
    ]


class LatestEvents(msgspec.Struct):
    """Events of all sessions, in the order in which the server heard of them."""

    events: Annotated[list[Event], Meta(description="What happened, oldest first.")]
    cursor: Annotated[str, Meta(description="Where the next answer goes on.")]
    has_more: Annotated[bool, Meta(description="Whether there are more: ask again from `cursor`.")]
    missed: Annotated[
        bool,
        Meta(
            description="Whether something between the cursor and the first event is not known "
            "any more; each session's own list has it."
        ),
    ]


class HoldAnswer(msgspec.Struct, kw_only=True):
    """A point where a target waits for a decision."""

    hold_id: Annotated[str, Meta(description="The id of the hold.")]
    id: Annotated[str, Meta(description="The same id.")]
    session_id: Annotated[str, Meta(description="The session whose target waits.")]
    reason: Annotated[str, Meta(description="Why it waits: breakpoint, step, pause, exception…")]
    opened_at: Annotated[str, Meta(description="Since when, as an ISO 8601 time in UTC.")]
    thread_id: Annotated[int | None, Meta(description="The thread that waits, if one does.")]
    location: Annotated[Location | None, Meta(description="Where it waits, if that is known.")]
    allows: Annotated[list[str], Meta(description="The actions that decide it.")]
    session_name: Annotated[
        str | UnsetType | None,
        Meta(description="A name of that session to show; null if it has none."),
    ] = UNSET
    title: Annotated[
        str | UnsetType, Meta(description="An open hold: what waits, in one line.")
    ] = UNSET
    open: Annotated[
        bool | UnsetType, Meta(description="One hold: whether it still waits for a decision.")
    ] = UNSET


class ProgramHold(HoldAnswer, kw_only=True, tag_field="kind", tag="program"):
    """A stop of a program."""


class SettledHold(HoldAnswer, kw_only=True):
    """A hold that nobody can decide any more."""

    kind: Annotated[str, Meta(description="program, calls or agent.")]
    outcome: Annotated[str, Meta(description="The action that settled it, or `withdrawn`.")]
    by: Annotated[str | None, Meta(description="Who decided it.")]


class ContinuedHolds(msgspec.Struct):
    """Which holds one request continued."""

    continued: Annotated[list[str], Meta(description="The ids of the holds that it settled.")]
    total: Annotated[int, Meta(description="How many they are.")]


class DeletedSession(msgspec.Struct):
    """A session that is gone."""

    session_id: Annotated[str, Meta(description="The id that it had.")]
    deleted: Annotated[bool, Meta(description="Always true.")] = True


class Deleted(msgspec.Struct):
    """That something is gone."""

    deleted: Annotated[bool, Meta(description="Always true.")] = True


class DeletedCount(msgspec.Struct):
    """That several things are gone."""

    deleted: Annotated[int, Meta(description="How many there were.")]
