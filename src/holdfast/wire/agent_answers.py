"""Answers about agents: what each field means, and the JSON they become.

A field that may be missing is `UNSET` by default: it is left out of the JSON.
"""

from __future__ import annotations

from typing import Annotated

import msgspec
from msgspec import UNSET, Meta, UnsetType

from holdfast.wire.session_answers import Location, SessionStatus


class AgentLane(msgspec.Struct, kw_only=True):
    """One of the agents of a process."""

    lane: Annotated[str, Meta(description="Its name; `main` for one that is alone.")]
    iteration: Annotated[int, Meta(description="How many model calls it has made.")]
    messages: Annotated[int, Meta(description="How many messages its last model call had.")]
    status: Annotated[
        str, Meta(description="`held`, `running`, or `idle` when it does nothing now.")
    ]
    parent: Annotated[str | UnsetType, Meta(description="The lane that called it.")] = UNSET
    within: Annotated[
        str | UnsetType, Meta(description="The id of the tool inside which it began.")
    ] = UNSET


class AgentStop(msgspec.Struct, kw_only=True):
    """A point where an agent waits for a decision."""

    hold_id: Annotated[str, Meta(description="The id of the hold.")]
    stop: Annotated[str, Meta(description="The name that the agent itself gave it: `stop-3`.")]
    at: Annotated[
        str | UnsetType,
        Meta(description="What waits: `model` and `tool` have not run, `error` has failed."),
    ] = UNSET
    name: Annotated[str | UnsetType, Meta(description="The name of the tool or model.")] = UNSET
    tool_id: Annotated[
        str | UnsetType, msgspec.Meta(description="Of a tool: the id of its call.")
    ] = msgspec.field(default=UNSET, name="toolId")
    iteration: Annotated[
        int | UnsetType,
        Meta(description="That of the model call, or of the one that asked for the tool."),
    ] = UNSET
    lane: Annotated[
        str | UnsetType, Meta(description="Which agent of the process; left out for the main one.")
    ] = UNSET
    breakpoint: Annotated[
        dict[str, object] | UnsetType, Meta(description="The breakpoint that it stopped at.")
    ] = UNSET
    rule: Annotated[
        dict[str, object] | UnsetType,
        Meta(
            description="The rule of the project that holds it. After its `timeout`, in seconds, "
            "it decides by itself what `onTimeout` says."
        ),
    ] = UNSET


class AgentHold(AgentStop, kw_only=True, tag_field="kind", tag="agent"):
    """A hold of an agent."""

    id: Annotated[str, Meta(description="The same id as `hold_id`.")]
    session_id: Annotated[str, Meta(description="The session whose agent waits.")]
    reason: Annotated[
        str, Meta(description="Why it waits: start, pause, step, breakpoint, rule or fork.")
    ]
    opened_at: Annotated[str, Meta(description="Since when, as an ISO 8601 time in UTC.")]
    thread_id: Annotated[int | None, Meta(description="Always null.")]
    location: Annotated[Location | None, Meta(description="Always null.")]
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
    input: Annotated[
        object,
        Meta(description="One hold: the tool's input, or the messages that the model call adds."),
    ] = UNSET
    input_text: Annotated[
        str | UnsetType,
        Meta(
            description="One hold: the same as JSON in a text, whole, with numbers as they were "
            "recorded; left out above 1 MB. `modify` takes it back under this name."
        ),
    ] = UNSET
    error: Annotated[
        dict[str, object] | UnsetType,
        Meta(description="One hold, of a failure: its `type` and `message`."),
    ] = UNSET


class AgentStatus(SessionStatus, kw_only=True, tag_field="kind", tag="agent"):
    """Where an agent's loop is: running, held, or over."""

    iteration: Annotated[
        int, Meta(description="The iteration of the lane that was the last to do something.")
    ]
    lanes: Annotated[
        list[AgentLane] | UnsetType,
        Meta(description="Its lanes; left out if not all of its recording was read yet."),
    ] = UNSET
    holds: Annotated[list[str], Meta(description="The ids of the holds that wait for a decision.")]
    hold_id: Annotated[str | UnsetType, Meta(description="While paused: the newest hold.")] = UNSET
    reason: Annotated[
        str | UnsetType | None,
        Meta(
            description="Why it is paused (start, pause, step, breakpoint or rule), or how it "
            "ended (exit, error, closed or crashed)."
        ),
    ] = UNSET
    held: Annotated[list[AgentStop] | UnsetType, Meta(description="While paused: what waits.")] = (
        UNSET
    )
    pause_pending: Annotated[
        bool | UnsetType, Meta(description="It was asked to pause and has not stopped yet.")
    ] = UNSET
    message: Annotated[str | UnsetType, Meta(description="What `pause_pending` means.")] = UNSET


class AgentDecision(AgentStatus, kw_only=True):
    """Where an agent's loop is after a decision."""

    action: Annotated[str, Meta(description="The action that was decided.")]
    stop: Annotated[str, Meta(description="The agent's own name of the stop that it ended.")]


class AgentCounters(msgspec.Struct, kw_only=True):
    """What a recording holds, counted."""

    events: Annotated[int, Meta(description="All events.")]
    model_calls: Annotated[int, Meta(description="Calls of models.")]
    tool_calls: Annotated[int, Meta(description="Calls of tools.")]
    holds: Annotated[int, Meta(description="How often it was held.")]
    errors: Annotated[int, Meta(description="Errors that the loop or the bridge reported.")]
    input_tokens: Annotated[int, Meta(description="Tokens that were sent to models.")]
    output_tokens: Annotated[int, Meta(description="Tokens that models answered with.")]
    cached_tokens: Annotated[
        int, Meta(description="Of the input tokens, those that came from a provider's cache.")
    ]
    cost: Annotated[
        float | None,
        Meta(
            description="What its model calls cost, in the unit of the prices that its process was "
            "given; null if it was given none."
        ),
    ]
    unpriced_models: Annotated[
        list[str],
        Meta(description="The models whose calls are not in `cost`, for want of a price."),
    ]
    unreadable_lines: Annotated[int, Meta(description="Lines of the recording without an event.")]


class AgentProcess(msgspec.Struct, kw_only=True):
    """The process of an agent that the server started; it ends with its session or the server."""

    pid: Annotated[int, Meta(description="Its process id.")]
    command: Annotated[list[str], Meta(description="The words that started it.")]
    cwd: Annotated[str | None, Meta(description="The directory that it was started in.")]
    running: Annotated[bool, Meta(description="Whether it runs still.")]
    exit_code: Annotated[
        int | None, Meta(description="Its exit code; below 0 the signal that ended it.")
    ]
    stdout: Annotated[str, Meta(description="The end of what it printed.")]
    stderr: Annotated[str, Meta(description="The end of what it printed on stderr.")]


class AgentSummary(AgentStatus, kw_only=True):
    """An agent session as a list shows it, and on its own."""

    name: Annotated[str | None, Meta(description="The name that `start` was given.")]
    created_at: Annotated[str, Meta(description="When it began, as an ISO 8601 time in UTC.")]
    pid: Annotated[int | None, Meta(description="The agent's process.")]
    directory: Annotated[str, Meta(description="Where its recording is.")]
    last_event: Annotated[int, Meta(description="The number of its newest event.")]
    last_event_type: Annotated[str | None, Meta(description="The type of its newest event.")]
    cwd: Annotated[str | UnsetType, Meta(description="The agent's working directory.")] = UNSET
    provider: Annotated[str | UnsetType, Meta(description="Whose models it calls.")] = UNSET
    model: Annotated[str | UnsetType, Meta(description="The model that it calls.")] = UNSET
    parent: Annotated[
        str | UnsetType,
        Meta(description="The session that it was forked from, else the one in `startedBy`."),
    ] = UNSET
    started_by: Annotated[
        str | UnsetType,
        Meta(description="The session whose process started this one's process."),
    ] = msgspec.field(default=UNSET, name="startedBy")
    rules: Annotated[
        list[dict[str, object]] | UnsetType,
        Meta(
            description="The rules of its project's `holdfast.toml`; the first one that fits "
            "a call counts. `source` is the file and the line."
        ),
    ] = UNSET
    replay_of: Annotated[
        str | UnsetType, Meta(description="Of a replay: the session that it replays.")
    ] = msgspec.field(default=UNSET, name="replayOf")
    mode: Annotated[
        str | UnsetType,
        Meta(description="Of a replay: `model` or `full`, what comes from the recording."),
    ] = UNSET
    fork_at: Annotated[int | UnsetType, Meta(description="Of a fork: the recorded iterations.")] = (
        msgspec.field(default=UNSET, name="forkAt")
    )
    fork_lane: Annotated[
        str | UnsetType,
        Meta(description="Of a fork: the lane that was counted, if not the main one."),
    ] = msgspec.field(default=UNSET, name="forkLane")
    edited: Annotated[
        bool | UnsetType,
        Meta(description="Of a fork: whether something was changed where it begins."),
    ] = UNSET
    run: Annotated[
        str | UnsetType, Meta(description="Of a replay or fork: the id of that run.")
    ] = UNSET
    ended_at: Annotated[
        str | UnsetType, Meta(description="When it ended in order, as an ISO 8601 time in UTC.")
    ] = UNSET
    process: Annotated[
        AgentProcess | UnsetType,
        Meta(description="One session, that the server started: its process and its output."),
    ] = UNSET
    counters: Annotated[
        AgentCounters | UnsetType,
        Meta(description="What its recording holds; in a list, once it was counted."),
    ] = UNSET


class AgentRerunAnswer(msgspec.Struct, kw_only=True):
    """An agent that runs again from a recording."""

    status: Annotated[
        str,
        Meta(
            description="`started`, or `starting` if its session had not begun in time: it has a "
            "minute more to begin, and is ended then."
        ),
    ]
    parent: Annotated[str, Meta(description="The session whose recording it begins from.")]
    run: Annotated[str, Meta(description="The id of this run: the `run` of its session.")]
    pid: Annotated[int, Meta(description="The process that was started.")]
    session_id: Annotated[
        str | None, Meta(description="The new session; null while it is `starting`.")
    ]
    warnings: Annotated[
        list[str],
        Meta(
            description="What it does that may surprise: about side effects, and a session that "
            "has not begun. The agent runs already; `POST …/fork` with `hold` stops it at its "
            "first live model call."
        ),
    ]


class AgentCommandAnswer(msgspec.Struct, kw_only=True):
    """What became of a command to an agent."""

    command_id: Annotated[str, Meta(description="The id that the command was given.")]
    type: Annotated[str, Meta(description="The type of the command.")]
    status: Annotated[
        str, Meta(description="`applied`, or `accepted` for what takes effect later.")
    ]
    response: Annotated[
        dict[str, object] | None,
        Meta(description="What the agent answered: `success`, and `data` or `message`."),
    ]
    session: Annotated[AgentStatus, Meta(description="Where its loop is now.")]
    note: Annotated[str | UnsetType, Meta(description="What the agent said about it.")] = UNSET


class AgentInspection(AgentStatus, kw_only=True):
    """What an agent says of itself."""

    state: Annotated[
        object,
        Meta(
            description="Its `lanes`, and of one `lane` the `messages`, `context`, `tools`, "
            "`variables` and `stops`, as far as they were asked for."
        ),
    ]
    source: Annotated[
        str,
        Meta(
            description="`recording`: as its last event left it; `agent`: as the agent says itself."
        ),
    ]
