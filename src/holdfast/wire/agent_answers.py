"""Answers about agents: what each field means, and the JSON they become.

What an agent recorded is passed on under the names that its recording has, such as `toolId`.
"""

from __future__ import annotations

from typing import Annotated, Any

from msgspec import UNSET, Meta, Struct, UnsetType

from holdfast.wire.session_answers import HoldAnswer, SessionStatus


def _about(text: str) -> Meta:
    return Meta(description=text)


class HeldStep(Struct, kw_only=True):
    """A model call or a tool that an agent's bridge holds."""

    hold_id: Annotated[str, _about("The hold that waits for a decision.")]
    stop: Annotated[str, _about("The id of the stop in the agent's recording.")]
    at: Annotated[str | UnsetType, _about("`model`, `tool` or `error`.")] = UNSET
    name: Annotated[str | UnsetType, _about("The tool's name.")] = UNSET
    toolId: Annotated[str | UnsetType, _about("The id of the tool call.")] = UNSET  # noqa: N815
    iteration: Annotated[int | UnsetType, _about("The model call that it belongs to.")] = UNSET
    lane: Annotated[str | UnsetType, _about("Which of several agents in one process.")] = UNSET
    breakpoint: Annotated[
        dict[str, Any] | UnsetType, _about("The agent breakpoint that held it, with its `id`.")
    ] = UNSET


class AgentStatus(SessionStatus, kw_only=True, tag_field="kind", tag="agent"):
    """Where an agent's loop is, and what it holds."""

    iteration: Annotated[int, _about("How many model calls the loop has begun.")]
    holds: Annotated[list[str], _about("The ids of its open holds.")]
    hold_id: Annotated[str | UnsetType, _about("The hold that was opened last.")] = UNSET
    reason: Annotated[
        str | UnsetType | None, _about("Why it is paused (`pause`, `step`, `breakpoint`) or ended.")
    ] = UNSET
    held: Annotated[list[HeldStep] | UnsetType, _about("What it holds.")] = UNSET
    pause_pending: Annotated[
        bool | UnsetType, _about("It has not stopped yet: it stops before its next model call.")
    ] = UNSET
    message: Annotated[str | UnsetType, _about("What `pause_pending` means.")] = UNSET


class AgentDecisionAnswer(AgentStatus, kw_only=True):
    """An agent's hold was decided, and its loop has gone on."""

    action: Annotated[str, _about("What was decided.")]
    stop: Annotated[str, _about("The stop that this settled.")]


class AgentState(AgentStatus, kw_only=True):
    """What an agent says of itself."""

    state: Annotated[
        Any, _about("Messages, context and tools, as the agent's bridge describes them.")
    ]


class AgentCounters(Struct, kw_only=True):
    """What an agent's recording holds, counted."""

    events: Annotated[int, _about("How many events there are.")]
    model_calls: Annotated[int, _about("How many calls of the model.")]
    tool_calls: Annotated[int, _about("How many tools were started.")]
    holds: Annotated[int, _about("How often it was held.")]
    errors: Annotated[int, _about("How many errors it reported.")]
    input_tokens: Annotated[int, _about("How many tokens the model read.")]
    output_tokens: Annotated[int, _about("How many tokens the model wrote.")]
    unreadable_lines: Annotated[int, _about("How many lines of the recording are no event.")]


class AgentSummary(AgentStatus, kw_only=True):
    """An agent session: its status, and whose it is."""

    name: Annotated[str | None, _about("The agent's name.")]
    created_at: Annotated[str, _about("When it started, as an ISO 8601 time in UTC.")]
    pid: Annotated[int | None, _about("The agent's process.")]
    directory: Annotated[str, _about("The directory of its recording.")]
    last_event: Annotated[int, _about("The number of its newest event.")]
    last_event_type: Annotated[str | None, _about("The type of its newest event.")]
    cwd: Annotated[str | UnsetType, _about("The agent's working directory.")] = UNSET
    provider: Annotated[str | UnsetType, _about("Who serves its model.")] = UNSET
    model: Annotated[str | UnsetType, _about("The name of its model.")] = UNSET
    parent: Annotated[str | UnsetType, _about("The session that it was forked from.")] = UNSET
    replayOf: Annotated[  # noqa: N815
        str | UnsetType, _about("The recording that it is given its answers from.")
    ] = UNSET
    mode: Annotated[str | UnsetType, _about("How it uses that recording.")] = UNSET
    forkAt: Annotated[  # noqa: N815
        int | UnsetType, _about("The iteration from which on it runs live.")
    ] = UNSET
    counters: Annotated[
        AgentCounters | UnsetType, _about("What its recording holds; left out until counted.")
    ] = UNSET


class CommandAnswer(Struct, kw_only=True):
    """What became of a command."""

    command_id: Annotated[str, _about("The id under which the recording has the command.")]
    type: Annotated[str, _about("The command.")]
    status: Annotated[str, _about("`applied`, or `accepted` for what takes effect later.")]
    response: Annotated[
        dict[str, Any] | None, _about("The agent's answer: `success`, and `data` if there is some.")
    ]
    session: Annotated[AgentStatus, _about("Where the agent is now.")]
    note: Annotated[str | UnsetType, _about("What the agent remarked.")] = UNSET


class AgentHold(HoldAnswer, kw_only=True, tag_field="kind", tag="agent"):
    """A model call, a tool or an error at which an agent waits for a decision."""

    stop: Annotated[str, _about("The id of the stop in the agent's recording.")]
    at: Annotated[str | UnsetType, _about("`model`, `tool` or `error`.")] = UNSET
    name: Annotated[str | UnsetType, _about("The tool's name.")] = UNSET
    toolId: Annotated[str | UnsetType, _about("The id of the tool call.")] = UNSET  # noqa: N815
    iteration: Annotated[int | UnsetType, _about("The model call that it belongs to.")] = UNSET
    lane: Annotated[str | UnsetType, _about("Which of several agents in one process.")] = UNSET
    breakpoint: Annotated[
        dict[str, Any] | UnsetType, _about("The agent breakpoint that held it, with its `id`.")
    ] = UNSET
    input: Annotated[Any, _about("One hold: what the model or the tool is about to be given.")] = (
        UNSET
    )
    error: Annotated[Any, _about("One hold, at an error: what went wrong.")] = UNSET
