"""The messages of the live stream, which tells a client of everything as it happens."""

from __future__ import annotations

from typing import Annotated

from msgspec import UNSET, Struct, UnsetType

from holdfast.wire.described import about
from holdfast.wire.session_answers import Event


class LiveHello(Struct, kw_only=True):
    """`hello`, the first message: where the stream begins."""

    cursor: Annotated[str, about("Where it begins: nothing after this is left out.")]
    resumed: Annotated[
        bool,
        about(
            "Whether it goes on from the cursor that was given. Otherwise read the lists again "
            "that you show: what changed before is not told."
        ),
    ]


class LiveEvents(Struct, kw_only=True):
    """`events`: what happened, in the order in which the server heard of it."""

    events: Annotated[list[Event], about("The events, oldest first.")]
    missed: Annotated[
        bool,
        about(
            "Whether some before these are not known any more, because the client was too far "
            "behind or its cursor is another server's; each session's own list has them."
        ),
    ]
    cursor: Annotated[str, about("Where to go on; also the `id` of the message.")]


class SessionProgress(Struct, kw_only=True):
    """How far a session is."""

    status: Annotated[
        str,
        about(
            "Where it is: created, launching, running, paused, waiting_for_input, terminated or "
            "failed."
        ),
    ]
    kind: Annotated[str, about("What it debugs: program, calls or agent.")]
    last_seq: Annotated[int, about("The number of its newest event.")]
    calls: Annotated[int | UnsetType, about("Of calls: how many were recorded.")] = UNSET
    output: Annotated[
        str | UnsetType, about("Of a program: the cursor at the end of its output.")
    ] = UNSET


class LiveChanges(Struct, kw_only=True):
    """`changes`: how far those sessions are now that have changed since the last such message.

    It also tells of what has no event: output, recorded calls, sessions that are gone.
    """

    sessions: Annotated[
        dict[str, SessionProgress], about("The sessions that are new or have changed, by id.")
    ]
    gone: Annotated[list[str], about("The ids of sessions that are gone: deleted, or expired.")]
