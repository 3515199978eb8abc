"""Agent loops: commands to them, and what their recordings say; runs from a recording."""

from __future__ import annotations

from typing import Annotated

from starlette.responses import Response

from holdfast.server.route_table import Documented, Media, RouteList
from holdfast.service.session import Session
from holdfast.wire.agent_answers import AgentCommandAnswer, AgentInspection, AgentRerunAnswer
from holdfast.wire.conversation_answers import RunConversation, StepMessages
from holdfast.wire.session_requests import (
    AgentCommand,
    AgentFork,
    AgentReplay,
    AgentStateQuery,
    ConversationQuery,
    StepMessagesQuery,
)

routes = RouteList()
_NO_CHANGE = AgentReplay()
RecordedBody = Annotated[
    Response, Media("application/octet-stream", "The body as it was recorded; JSON as JSON.")
]
MessagesAnswer = Annotated[Response, Documented(StepMessages)]


@routes.post("/sessions/{session_id}/command")
async def send_command(session: Session, body: AgentCommand) -> AgentCommandAnswer:
    """Send a command to an agent and wait for its answer.

    `status` is `applied`, or `accepted` for what takes effect later (a pause, before the next model
    call). A rejected command is 400, one whose stop is over 409.
    """
    data = body.data if body.lane is None else {**body.data, "lane": body.lane}
    return await session.agent.command(body.type, data, body.timeout)


@routes.get("/sessions/{session_id}/state")
async def get_state(session: Session, query: AgentStateQuery) -> AgentInspection:
    """Where an agent's loop is: messages, context, tools, or all of it.

    It comes from the recording, which stays as it is; variables are those that the debugger set.
    With `live=true` the agent itself is asked: that is a command, which its recording has.
    """
    return await session.agent.inspect(query)


@routes.get("/sessions/{session_id}/conversation")
async def get_conversation(session: Session, query: ConversationQuery) -> RunConversation:
    """An agent's run as a conversation, now or as it was at any of its events.

    A turn is a model call with the messages that are new in it, its answer, and the tools that it
    asked for. Without `after_turn` these are the newest turns.
    """
    return await session.agent.conversation(query)


@routes.get("/sessions/{session_id}/messages")
async def get_messages(session: Session, query: StepMessagesQuery) -> MessagesAnswer:
    """The messages that one model call was given: what a fork can change.

    Fork with `at` as in `fork_at`: then this call is the first that is live. If they are too many
    for one answer, `has_more` says so: ask again with `first`.
    """
    return Response(await session.agent.messages(query), media_type="application/json")


@routes.post("/sessions/{session_id}/fork", status=201)
async def fork(session: Session, body: AgentFork) -> AgentRerunAnswer:
    """Run an agent again: `at` iterations from its recording, then live, perhaps changed.

    Its process belongs to the server: it ends when its session is deleted, or with the server. The
    recording that it begins from stays as it is.
    """
    return await session.agent.fork(body)


@routes.post("/sessions/{session_id}/replay", status=201)
async def replay(session: Session, body: AgentReplay = _NO_CHANGE) -> AgentRerunAnswer:
    """Run an agent again from its recording: no model is called, and with `full` no tool runs.

    If the agent asks for something else than it did, the new session has a `replay_diverged` event.
    """
    return await session.agent.replay(body)


@routes.get("/sessions/{session_id}/contents/{cid}")
async def get_content(session: Session, cid: str) -> RecordedBody:
    """A body that an event names by its content id: JSON as it is, anything else as bytes.

    Pickles are given out as they are stored; nothing here ever loads one.
    """
    body, is_json = await session.agent.read_content(cid)
    kind = "application/json" if is_json else "application/octet-stream"
    return Response(body, media_type=kind, headers={"x-content-type-options": "nosniff"})
