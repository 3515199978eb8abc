"""Answers about a recorded run: its conversation, the messages of one call, two runs compared.

Values are texts: a JSON text is as it was recorded, so that `4.0` stays `4.0` in every client. A
field that may be missing is `UNSET` by default: it is left out of the JSON.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

_SIZE = "Its length in characters, if more than is shown."
_CID = "The content id of the whole body: GET the session's /contents/{cid}."
_LANE = "Which agent of the process; `main` for one that is alone."


class ConversationMessage(msgspec.Struct, kw_only=True):
    """A message of a conversation."""

    role: Annotated[str, Meta(description="Who wrote it, with a name if it has one.")]
    text: Annotated[str, Meta(description="What it says, for people to read.")]
    json: Annotated[
        str | UnsetType,
        Meta(description="The message as JSON; left out if it has a role and a text only."),
    ] = UNSET
    size: Annotated[int | UnsetType, Meta(description=_SIZE)] = UNSET
    cid: Annotated[
        str | UnsetType,
        Meta(description="Of messages that cannot be shown one by one: where they are."),
    ] = UNSET


class RecordedFailure(msgspec.Struct, kw_only=True):
    """An exception of a model or a tool."""

    type: Annotated[str, Meta(description="The name of its class.")]
    message: Annotated[str, Meta(description="Its message.")]


class RecordedDecision(msgspec.Struct, kw_only=True):
    """What was decided about a call."""

    action: Annotated[str, Meta(description="The action, such as `continue` or `modify`.")]
    by: Annotated[str | UnsetType, Meta(description="Who decided it.")] = UNSET
    json: Annotated[str | UnsetType, Meta(description="The fields of the action, as JSON.")] = UNSET


class AskedTool(msgspec.Struct, kw_only=True):
    """A tool that a model asks for."""

    tool_id: Annotated[str | UnsetType, Meta(description="The id of the call.")] = UNSET
    name: Annotated[str, Meta(description="The name of the tool.")]


class ConversationUsage(msgspec.Struct, kw_only=True):
    """The tokens of a model call."""

    input_tokens: Annotated[int, Meta(description="All that were sent.")]
    output_tokens: Annotated[int, Meta(description="Those of the answer.")]
    cached_tokens: Annotated[
        int | UnsetType, Meta(description="Of the input tokens, those from a cache.")
    ] = UNSET


class ConversationAnswer(msgspec.Struct, kw_only=True):
    """What a model answered."""

    seq: Annotated[int, Meta(description="The number of its event.")]
    text: Annotated[str, Meta(description="What it says, without the tools that it asks for.")]
    size: Annotated[int | UnsetType, Meta(description=_SIZE)] = UNSET
    cid: Annotated[str | UnsetType, Meta(description=_CID)] = UNSET
    thinking: Annotated[str | UnsetType, Meta(description="What the model thought.")] = UNSET
    asks_for: Annotated[list[AskedTool], Meta(description="The tools that it asks for.")]
    stop_reason: Annotated[str | None, Meta(description="Why the model stopped.")]
    usage: Annotated[ConversationUsage | None, Meta(description="The tokens, if known.")]
    cost: Annotated[float | UnsetType, Meta(description="What it cost, if it has a price.")] = UNSET
    duration_ms: Annotated[float | None, Meta(description="How long the call took.")]
    held_ms: Annotated[float | UnsetType, Meta(description="How long it was held.")] = UNSET
    is_error: Annotated[bool, Meta(description="Whether the call failed.")]
    error: Annotated[RecordedFailure | UnsetType, Meta(description="How it failed.")] = UNSET


class ConversationTool(msgspec.Struct, kw_only=True):
    """A call of a tool."""

    tool_id: Annotated[str, Meta(description="The id of the call.")]
    name: Annotated[str, Meta(description="The name of the tool.")]
    seq: Annotated[int, Meta(description="The number of the event that began or holds it.")]
    timestamp: Annotated[str | None, Meta(description="When that was.")]
    status: Annotated[
        str,
        Meta(
            description="`running`, `held`, `done`, `error`, `cancelled`, `denied` (by a rule), "
            "`faked` (a decision gave the result), or `unfinished`: the agent ended before it."
        ),
    ]
    input_text: Annotated[str, Meta(description="The arguments that it runs with, as JSON.")]
    input_size: Annotated[int | UnsetType, Meta(description=_SIZE)] = UNSET
    input_cid: Annotated[str | UnsetType, Meta(description=_CID)] = UNSET
    requested_text: Annotated[
        str | UnsetType,
        Meta(description="The arguments that the agent gave, as JSON, if a decision changed them."),
    ] = UNSET
    result_text: Annotated[
        str | UnsetType, Meta(description="What it gave; left out before its end.")
    ] = UNSET
    result_format: Annotated[
        str | UnsetType, Meta(description="`text` if that is a text itself, `json` if it is JSON.")
    ] = UNSET
    result_size: Annotated[int | UnsetType, Meta(description=_SIZE)] = UNSET
    result_cid: Annotated[str | UnsetType, Meta(description=_CID)] = UNSET
    end_seq: Annotated[
        int | UnsetType, Meta(description="The number of the event that ended it.")
    ] = UNSET
    is_error: Annotated[bool, Meta(description="Whether it failed.")]
    error: Annotated[RecordedFailure | UnsetType, Meta(description="How it failed.")] = UNSET
    duration_ms: Annotated[float | None, Meta(description="How long it took.")]
    held_ms: Annotated[float | UnsetType, Meta(description="How long it was held.")] = UNSET
    decision: Annotated[
        RecordedDecision | UnsetType, Meta(description="What was decided about it.")
    ] = UNSET
    pure: Annotated[bool, Meta(description="Whether it changes nothing outside.")]
    replayed: Annotated[bool, Meta(description="Whether it came from a recording.")]
    within: Annotated[
        str | UnsetType, Meta(description="The id of the tool that called it, if one did.")
    ] = UNSET
    subagents: Annotated[
        list[str], Meta(description="The lanes of the agents that began inside it.")
    ]


class ConversationTurn(msgspec.Struct, kw_only=True):
    """A model call and the tools that it asked for; or tools that no model call asked for."""

    number: Annotated[int, Meta(description="Which turn of the run, from 1 on, over all lanes.")]
    lane: Annotated[str, Meta(description=_LANE)]
    depth: Annotated[
        int, Meta(description="0 for the main agent, 1 for what a tool or agent of it does, …")
    ]
    within: Annotated[
        str | UnsetType, Meta(description="The id of the tool that called the model, if one did.")
    ] = UNSET
    iteration: Annotated[
        int, Meta(description="Which model call of its lane; 0 for tools before the first.")
    ]
    seq: Annotated[int, Meta(description="The number of its first event.")]
    timestamp: Annotated[str | None, Meta(description="When that was.")]
    status: Annotated[
        str,
        Meta(
            description="Of the model call: `running`, `held`, `done`, `error`, `faked`, or "
            "`unfinished`; `none` for tools without one."
        ),
    ]
    model: Annotated[str | UnsetType, Meta(description="The name of the model.")] = UNSET
    message_count: Annotated[
        int, Meta(description="How many messages the call had, with those of earlier turns.")
    ]
    messages: Annotated[
        list[ConversationMessage], Meta(description="Those that the lane's last call did not have.")
    ]
    answer: Annotated[
        ConversationAnswer | None, Meta(description="The answer; null before it is there.")
    ]
    tools: Annotated[list[ConversationTool], Meta(description="The tools, in their order.")]
    left_out: Annotated[
        int | UnsetType,
        Meta(
            description="How many of its messages and tools are missing here, the first ones, "
            "because it is too large for one answer."
        ),
    ] = UNSET
    decision: Annotated[
        RecordedDecision | UnsetType, Meta(description="What was decided about the model call.")
    ] = UNSET
    replayed: Annotated[bool, Meta(description="Whether the answer came from a recording.")]


class ConversationLane(msgspec.Struct, kw_only=True):
    """One of the agents of a process."""

    lane: Annotated[str, Meta(description="Its name.")]
    label: Annotated[str, Meta(description="Its name; of the main one, that of the session.")]
    parent: Annotated[str | None, Meta(description="The lane that called it.")]
    within: Annotated[
        str | UnsetType, Meta(description="The id of the tool inside which it began.")
    ] = UNSET
    depth: Annotated[int, Meta(description="How deep it is below the main one, which is 0.")]
    iteration: Annotated[int, Meta(description="How many model calls it has made.")]
    status: Annotated[str, Meta(description="`held`, `running` or `idle`.")]
    turns: Annotated[int, Meta(description="How many turns it has.")]


class ConversationHold(msgspec.Struct, kw_only=True):
    """What waits for a decision."""

    stop: Annotated[str, Meta(description="The agent's own name of the hold.")]
    hold_id: Annotated[
        str | UnsetType, Meta(description="The id of the hold, if it can be decided now.")
    ] = UNSET
    at: Annotated[str, Meta(description="What waits: `model`, `tool` or `error`.")]
    reason: Annotated[str, Meta(description="Why: start, pause, step, breakpoint, rule, fork.")]
    name: Annotated[str, Meta(description="The name of the tool or model.")]
    lane: Annotated[str, Meta(description=_LANE)]
    iteration: Annotated[int, Meta(description="The iteration of its lane.")]
    tool_id: Annotated[str | UnsetType, Meta(description="Of a tool: the id of its call.")] = UNSET
    seq: Annotated[int, Meta(description="The number of its event.")]
    timestamp: Annotated[str | None, Meta(description="Since when.")]
    allows: Annotated[list[str], Meta(description="The actions that decide it.")]


class ConversationTotals(msgspec.Struct, kw_only=True):
    """What a run came to."""

    iterations: Annotated[int, Meta(description="The most model calls of one lane.")]
    model_calls: Annotated[int, Meta(description="Calls of models.")]
    tool_calls: Annotated[int, Meta(description="Calls of tools.")]
    failures: Annotated[int, Meta(description="Of models and tools.")]
    input_tokens: Annotated[int, Meta(description="Tokens that were sent to models.")]
    output_tokens: Annotated[int, Meta(description="Tokens that models answered with.")]
    cached_tokens: Annotated[int, Meta(description="Of the input tokens, those from a cache.")]
    cost: Annotated[float | None, Meta(description="What it cost; null if no price is known.")]
    duration_ms: Annotated[float, Meta(description="From the first event to the last.")]
    held_ms: Annotated[float, Meta(description="The part of it in which something was held.")]


class RunConversation(msgspec.Struct, kw_only=True):
    """A run as a conversation, as it was at one of its events."""

    session_id: Annotated[str, Meta(description="The session.")]
    at: Annotated[int, Meta(description="The number of the event that it is shown at.")]
    last_seq: Annotated[int, Meta(description="The number of its newest event.")]
    is_over: Annotated[bool, Meta(description="Whether the agent had ended by then.")]
    end_reason: Annotated[str | UnsetType, Meta(description="How it ended.")] = UNSET
    lanes: Annotated[list[ConversationLane], Meta(description="The agents of the process.")]
    turns: Annotated[list[ConversationTurn], Meta(description="The turns, oldest first.")]
    total_turns: Annotated[int, Meta(description="How many there are, in `lane` or in all.")]
    has_earlier: Annotated[bool, Meta(description="Whether there are turns before these.")]
    has_more: Annotated[bool, Meta(description="Whether there are turns after these.")]
    totals: Annotated[ConversationTotals, Meta(description="What it came to by then.")]
    held: Annotated[list[ConversationHold], Meta(description="What waited for a decision then.")]
    variables: Annotated[
        dict[str, str],
        Meta(description="Variables that the debugger set, as JSON; a million characters at most."),
    ]


class SystemPromptText(msgspec.Struct, kw_only=True):
    """The system prompt of a model call."""

    text: Annotated[str, Meta(description="What it says.")]
    place: Annotated[
        str,
        Meta(description="Where it is: `messages`, `settings`, or `call` (the framework's own)."),
    ]


class StepMessage(msgspec.Struct, kw_only=True):
    """A message as a model call was given it."""

    role: Annotated[str, Meta(description="Who wrote it, with a name if it has one.")]
    text: Annotated[str, Meta(description="What it says, for people to read.")]
    json: Annotated[str, Meta(description="The whole message as JSON, which a fork may change.")]


class StepMessages(msgspec.Struct, kw_only=True):
    """The messages that a model call was given."""

    session_id: Annotated[str, Meta(description="The session.")]
    lane: Annotated[str, Meta(description=_LANE)]
    iteration: Annotated[int, Meta(description="Which model call of the lane.")]
    fork_at: Annotated[
        int, Meta(description="The `at` of a fork whose first live model call is this one.")
    ]
    seq: Annotated[int, Meta(description="The number of its event.")]
    timestamp: Annotated[str | None, Meta(description="When it was made.")]
    is_held: Annotated[bool, Meta(description="Whether it is held and was not made yet.")]
    model: Annotated[str | UnsetType, Meta(description="The name of the model.")] = UNSET
    system: Annotated[
        SystemPromptText | None, Meta(description="The system prompt; null if none is recorded.")
    ]
    first: Annotated[int, Meta(description="Which message the first of `messages` is, from 0 on.")]
    messages: Annotated[list[StepMessage], Meta(description="The messages, in their order.")]
    total: Annotated[int, Meta(description="How many messages the call was given.")]
    has_more: Annotated[
        bool, Meta(description="Whether there are messages after these: ask with a later `first`.")
    ]
    settings_json: Annotated[
        str | UnsetType, Meta(description="The other arguments of the call, as JSON.")
    ] = UNSET


class ComparedTotals(ConversationTotals, kw_only=True):
    """One of two runs that are compared."""

    session_id: Annotated[str, Meta(description="The session.")]
    name: Annotated[str, Meta(description="Its name.")]
    steps: Annotated[int, Meta(description="How many steps of it are compared.")]


class ComparedStep(msgspec.Struct, kw_only=True):
    """A call of a model or a tool in one of two runs."""

    kind: Annotated[str, Meta(description="`model` or `tool`.")]
    name: Annotated[str, Meta(description="The name of the model or tool.")]
    iteration: Annotated[int, Meta(description="Its iteration in its lane.")]
    tool_id: Annotated[str | UnsetType, Meta(description="Of a tool: the id of its call.")] = UNSET
    seq: Annotated[int, Meta(description="The number of the event that began it.")]
    input_text: Annotated[
        str | UnsetType, Meta(description="Of a tool: its arguments, as JSON.")
    ] = UNSET
    ran_with_text: Annotated[
        str | UnsetType, Meta(description="The arguments that a decision gave it, as JSON.")
    ] = UNSET
    message_count: Annotated[
        int | UnsetType, Meta(description="Of a model: how many messages it was given.")
    ] = UNSET
    messages: Annotated[
        list[ConversationMessage] | UnsetType,
        Meta(description="Of a model: those that its lane's last call did not have."),
    ] = UNSET
    result_text: Annotated[
        str | UnsetType, Meta(description="What came of it: a text, or JSON.")
    ] = UNSET
    error: Annotated[RecordedFailure | UnsetType, Meta(description="How it failed.")] = UNSET
    duration_ms: Annotated[float | None, Meta(description="How long it took.")]
    replayed: Annotated[bool, Meta(description="Whether it came from a recording.")]


class StepDifference(msgspec.Struct, kw_only=True):
    """What differs between two steps."""

    what: Annotated[
        str,
        Meta(
            description="`call` (something else is called, or nothing), `request`, `decision` or "
            "`outcome`."
        ),
    ]
    text: Annotated[str, Meta(description="What differs, as a sentence; A is the left run.")]


class StepPair(msgspec.Struct, kw_only=True):
    """Two steps that stand beside each other."""

    index: Annotated[int, Meta(description="Which pair, from 0 on.")]
    lane: Annotated[str, Meta(description=_LANE)]
    same: Annotated[bool, Meta(description="Whether they are the same.")]
    left: Annotated[ComparedStep | None, Meta(description="That of the left run, if it has one.")]
    right: Annotated[ComparedStep | None, Meta(description="That of the right run.")]
    differences: Annotated[list[StepDifference], Meta(description="What differs.")]


class RunLineage(msgspec.Struct, kw_only=True):
    """How two runs are related."""

    relation: Annotated[str, Meta(description="`fork`, `replay` or `siblings`.")]
    parent: Annotated[str, Meta(description="The run that the other, or both, come from.")]
    child: Annotated[str | None, Meta(description="The other one; null for siblings.")]
    at: Annotated[int | None, Meta(description="Of a fork: the iterations from its parent.")]
    text: Annotated[str, Meta(description="The same as a sentence.")]


class ComparedRuns(msgspec.Struct, kw_only=True):
    """Two runs side by side."""

    equal: Annotated[bool, Meta(description="Whether every step is the same.")]
    left: Annotated[ComparedTotals, Meta(description="The left run.")]
    right: Annotated[ComparedTotals, Meta(description="The right run.")]
    lineage: Annotated[RunLineage | None, Meta(description="How they are related, if they are.")]
    first_difference: Annotated[
        int | None, Meta(description="The `index` of the first pair that differs.")
    ]
    same: Annotated[int, Meta(description="How many pairs are the same.")]
    total_steps: Annotated[int, Meta(description="How many pairs there are.")]
    has_more: Annotated[bool, Meta(description="Whether there are pairs after these.")]
    steps: Annotated[list[StepPair], Meta(description="The pairs, in the order of the left run.")]
