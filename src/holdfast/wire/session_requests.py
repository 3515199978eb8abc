"""What clients may send about sessions of every kind: their settings, holds, events, agents.

Unknown fields are refused: a misspelt option must not be silently ignored.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal, TypedDict, get_type_hints

from msgspec import UNSET, Meta, Struct, UnsetType

from holdfast.model.decision import ACTIONS_AT, Field, Shape
from holdfast.wire.described import SystemText, VariableName, about

Wait = Annotated[
    bool | float | int | str | None,
    about("How long to wait for the next stop or the end: seconds, `true` or `false`."),
]
Include = Annotated[
    list[str] | str | None,
    about(
        "What the answer at a stop carries out of `source`, `locals`, `stack` and `output`: a "
        "list, or names with commas; null: `source` and `locals`."
    ),
]
OutputSince = Annotated[
    str | int | None,
    about(
        "With `output`: only what came after this cursor; null: what no answer of this run has "
        "shown yet."
    ),
]
OutputBytes = Annotated[
    Annotated[int, Meta(ge=0, le=2 * 1024 * 1024)] | None,
    about("With `output`: how many bytes of it at most, the newest; null: 65,536."),
]
By = Annotated[str | None, about("Who decides; whoever comes second is told.")]
Seconds = Annotated[float, Meta(gt=0, le=3600)]
MaxChars = Annotated[
    Annotated[int, Meta(ge=1, le=1_000_000)] | None,
    about("How many characters of a value are shown at most; null: 1000, and 400 of a container."),
]
EventLimit = Annotated[int, about("How many events the answer may carry.", ge=1, le=10_000)]
EventTypes = Annotated[str | None, about("The types of events that are wanted, with commas.")]


class Body(Struct, kw_only=True, forbid_unknown_fields=True):
    """A JSON body."""


class Query(Struct, kw_only=True):
    """The parameters of a query string."""


class ProofQuery(Query):
    """What a client sends that asks for a proof: it knows the secret in `server.json` too."""

    nonce: Annotated[str, about("A text that the client has never sent before.")]
    proof: Annotated[
        str, about("The HMAC-SHA256 of `holdfast client IP PORT NONCE` with the secret, in hex.")
    ]


class CaptureQuery(Query):
    """Which captures of failing tests to list."""

    limit: Annotated[int, about("At most so many.", ge=1, le=1000)] = 20


# -- settings of a session ------------------------------------------------------------------------

NameSetting = Annotated[
    Annotated[str, Meta(max_length=500)] | UnsetType | None, about("The session's name.")
]
CwdSetting = Annotated[
    SystemText | UnsetType | None, about("The project directory; relative paths start here.")
]
TimeoutSetting = Annotated[
    Annotated[float, Meta(gt=0, le=1e6)] | UnsetType | None,
    about("How long the session may be idle, in minutes; null: as the server's settings say."),
]
OutputSetting = Annotated[
    Annotated[int, Meta(ge=1024, le=2**40)] | UnsetType | None,
    about("How many bytes of output are kept; null: as the server's settings say."),
]
EvaluateSetting = Annotated[
    Seconds | UnsetType | None,
    about("How many seconds an expression may take; null: as the server's settings say."),
]


class SessionSettings(Body):
    """Settings of a session; one that is left out stays as it is."""

    name: NameSetting = UNSET
    cwd: CwdSetting = UNSET
    timeout_minutes: TimeoutSetting = UNSET
    output_limit_bytes: OutputSetting = UNSET
    evaluate_timeout: EvaluateSetting = UNSET


def get_settings(body: Struct) -> dict[str, Any]:
    """Those settings of a session that a body has."""
    values = {name: getattr(body, name) for name in SessionSettings.__struct_fields__}
    return {name: value for name, value in values.items() if value is not UNSET}


class SessionListQuery(Query):
    """Which sessions to list."""

    status: Annotated[
        str | None, about("Only sessions with this status: one, or some with commas.")
    ] = None
    kind: Annotated[
        str | None, about("Only sessions of this kind: program, calls, agent, or some with commas.")
    ] = None


class StatusQuery(Query):
    """How long to wait, and for what."""

    wait: Annotated[str | None, about("Wait for a stop or the end: seconds, or `true`.")] = None
    include: Annotated[
        str | None, about("What to add at a stop: `source,locals,stack,output`.")
    ] = None
    output_since: OutputSince = None
    output_bytes: OutputBytes = None


class EvaluateHold(Body):
    """An expression to evaluate."""

    expression: Annotated[str, about("A Python expression.", min_length=1)]
    frame_id: Annotated[int, about("The frame to evaluate it in; 0 is the innermost.")] = 0
    context: Annotated[
        Literal["watch", "repl", "hover", "clipboard", "variables"] | None,
        about("What the value is for; in a `repl`, statements are run too."),
    ] = None
    timeout: Annotated[Seconds | None, about("How many seconds it may take.")] = None
    max_chars: MaxChars = None
    start: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        about("In a program, of a value that is a string or bytes: where the part begins."),
    ] = None
    count: Annotated[
        Annotated[int, Meta(ge=0, le=1_000_000)] | None,
        about("In a program, of a value that is a string or bytes: how long the part is."),
    ] = None


class Evaluate(EvaluateHold):
    """An expression to evaluate where the target is held."""

    hold_id: Annotated[
        str | None,
        about("Which of a session's held calls is meant; of a program, which stop: 409 if over."),
    ] = None


# -- events ---------------------------------------------------------------------------------------


class SessionEventsQuery(Query):
    """Which events of a session."""

    since: Annotated[str | None, about("Only events after this `seq`.")] = None
    limit: EventLimit = 1000
    wait: Annotated[str | None, about("Wait for a new event: seconds, or `true`.")] = None
    types: EventTypes = None


class EventsQuery(SessionEventsQuery):
    """Which events of one session, or of all."""

    session: Annotated[str | None, about("Only events of this session.")] = None
    cursor: Annotated[
        str | None, about("Without `session`: what came after an earlier answer.")
    ] = None


class LiveQuery(Query):
    """What a live stream tells, and where it begins."""

    cursor: Annotated[
        str | None, about("Go on after this; the header `Last-Event-ID` does the same, and wins.")
    ] = None
    types: EventTypes = None
    session: Annotated[str | None, about("Only this session.")] = None
    kind: Annotated[
        str | None, about("Only sessions of this kind: program, calls, agent, or some with commas.")
    ] = None


# -- holds ----------------------------------------------------------------------------------------


class ContinueAll(Body):
    """Which holds to continue."""

    session_id: Annotated[str | None, about("Only those of this session.")] = None
    by: By = None


class DecisionHead(Struct, kw_only=True):
    """What every decision has; the other fields are those of its action."""

    action: Annotated[str, about("One of the hold's `allows`.")]
    by: By = None
    wait: Wait = None
    include: Include = None
    output_since: OutputSince = None
    output_bytes: OutputBytes = None


class DecidedValue(TypedDict, total=False):
    """A value that somebody decides on: `value`, `literal`, `text`, or `cid`, maybe with `data`."""

    value: Annotated[Any, about("The value as JSON.")]
    literal: Annotated[str, about("The value as a Python literal.")]
    text: Annotated[
        str,
        about("The value as somebody typed it: a Python literal, or if it is none, JSON."),
    ]
    cid: Annotated[str, about("The content id of a value that the server has.")]
    data: Annotated[str, about("With `cid`: the pickled value, in base64.")]


_TYPE_OF_SHAPE: dict[Shape, Any] = {
    Shape.TEXT: str,
    Shape.NAME: str,
    Shape.OBJECT: dict[str, Any],
    Shape.LIST: list[Any],
    Shape.CONTENT: str | list[Any],
    Shape.ROLE: str,
    Shape.JSON: Any,
    Shape.VALUE: DecidedValue,
}


def _list_decision_fields() -> dict[str, Any]:
    """The fields of every action, with the actions that take each of them."""
    shapes: dict[str, Any] = {}
    uses: dict[str, dict[str, list[str]]] = {}
    for moment, actions in ACTIONS_AT.items():
        for action in actions:
            for field in action.fields:
                for name, shape, meaning in _list_names(field):
                    shapes.setdefault(name, shape)
                    takers = uses.setdefault(name, {}).setdefault(meaning, [])
                    takers.append(f"{action.name} ({moment.value})")
    return {
        name: Annotated[
            _TYPE_OF_SHAPE.get(shape, shape),
            about(" ".join(_describe_use(*use) for use in uses[name].items())),
        ]
        for name, shape in shapes.items()
    }


def _list_names(field: Field) -> list[tuple[str, Any, str]]:
    """The names under which a field may come, each with its type or shape, and its meaning."""
    names: list[tuple[str, Any, str]] = [(field.name, field.shape, field.meaning)]
    if field.wrapped is not None:
        names.append((field.wrapped, DecidedValue, field.meaning))
    if field.text is not None:
        names.append((field.text, Shape.TEXT, f"`{field.name}` as JSON in a text."))
    return names


def _describe_use(meaning: str, takers: list[str]) -> str:
    return f"For {', '.join(dict.fromkeys(takers))}: {meaning[0].lower()}{meaning[1:]}"


HoldDecision = TypedDict(
    "HoldDecision",
    {  # its fields are those of the table of decisions
        **get_type_hints(DecisionHead, include_extras=True),  # type: ignore[misc]
        "timeout": Annotated[
            float, about("An agent's hold: how many seconds the agent may take; at most 300.")
        ],
        **_list_decision_fields(),
    },
    total=False,
)
HoldDecision.__doc__ = "What to do about a hold: an action, and the fields of that action."


# -- agents ---------------------------------------------------------------------------------------


class AgentCommand(Body):
    """A command as agents know them; `docs/agents.md` lists them."""

    type: Annotated[str, about("The command, such as `pause`, `inject` or `breakpoint`.")]
    data: Annotated[dict[str, Any], about("The command's own fields.")] = {}
    lane: Annotated[
        str | None,
        about("The lane that is meant, as in `data`; without it every lane, or the one held."),
    ] = None
    timeout: Annotated[
        Annotated[float, Meta(gt=0, le=300)] | None,
        about("How many seconds to wait for the agent's answer."),
    ] = None


class AgentDirectory(Body):
    """An agent session outside the server's own directory."""

    directory: Annotated[str, about("The directory of the session.", min_length=1, max_length=4096)]


class AgentStateQuery(Query):
    """What to ask an agent for."""

    what: Annotated[str, about("`messages`, `context`, `tools` or `all`.")] = "all"
    lane: Annotated[
        str | None, about("Whose state; without it, that of the lane that is held or runs.")
    ] = None
    first: Annotated[
        int | None,
        about(
            "The first message to give whole, from 0 on; below 0, from the end. Without it and "
            "`count`, `messages` gives all of them, and `all` only previews."
        ),
    ] = None
    count: Annotated[
        Annotated[int, Meta(ge=0)] | None, about("How many messages to give whole.")
    ] = None
    live: Annotated[
        bool,
        about(
            "Whether the agent itself is asked: that is a command, which its recording has. "
            "Otherwise the answer comes from the recording, and nothing is written."
        ),
    ] = False


MaxTextChars = Annotated[
    int, about("How many characters of each text are shown at most.", ge=1, le=4_000_000)
]


class ConversationQuery(Query):
    """Which part of a run to show, and as of when."""

    at: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        about("As it was at the event with this `seq`; without it, as it is now."),
    ] = None
    lane: Annotated[str | None, about("Only the turns of this lane.")] = None
    after_turn: Annotated[
        Annotated[int, Meta(ge=0)] | None,
        about("Only turns after the one with this `number`; without it, the newest."),
    ] = None
    limit: Annotated[int, about("How many turns the answer may have.", ge=1, le=1000)] = 200
    max_chars: MaxTextChars = 20_000


class StepMessagesQuery(Query):
    """Which model call is meant, and which of its messages."""

    iteration: Annotated[int, about("Its number in its lane, from 1 on.", ge=1)]
    lane: Annotated[str | None, about("Its lane; without it, the main one.")] = None
    first: Annotated[int, about("The first message that is given, from 0 on.", ge=0)] = 0
    count: Annotated[
        Annotated[int, Meta(ge=1)] | None,
        about("How many messages are given; without it, as many as one answer takes."),
    ] = None


class CompareQuery(Query):
    """Which two runs to compare."""

    left: Annotated[str, about("The id of an agent session.")]
    right: Annotated[str, about("The id of another one.")]
    after: Annotated[
        Annotated[int, Meta(ge=0)] | None, about("Only pairs after the one with this `index`.")
    ] = None
    limit: Annotated[int, about("How many pairs the answer may have.", ge=1, le=5000)] = 500
    max_chars: MaxTextChars = 4000


class AgentReplay(Body):
    """How to run an agent again from its recording."""

    mode: Annotated[
        Literal["full", "model"],
        about("`full`: models and tools come from the recording. `model`: tools run."),
    ] = "full"
    command: Annotated[
        Annotated[list[SystemText], Meta(min_length=1, max_length=1000)] | None,
        about("The words that start the agent; without them, those that it was started with."),
    ] = None
    cwd: Annotated[
        SystemText | None,
        about(
            "Where it runs; a relative path begins where it ran when it was recorded, and without "
            "one it runs there."
        ),
    ] = None
    env: Annotated[
        dict[VariableName, SystemText],
        about("Variables of its environment, besides those of the server."),
    ] = {}
    wait: Annotated[
        float, about("How many seconds to wait for its session to begin.", ge=0, le=60)
    ] = 20


class AgentFork(AgentReplay, kw_only=True):
    """Where a fork of a run begins, and what it changes there."""

    at: Annotated[int, about("So many iterations come from the recording.", ge=0)]
    lane: Annotated[str | None, about("Whose iterations are counted; the main one's.")] = None
    system: Annotated[str | None, about("Another system prompt from there on.")] = None
    messages: Annotated[
        str | list[str | dict[str, Any]] | None,
        about(
            "Other messages of the first live model call: a list of objects, or of their JSON "
            "texts, or the JSON text of a list."
        ),
    ] = None
    message: Annotated[
        str | dict[str, Any] | None,
        about("A message to add there: a user's text, or an object with `role` and `content`."),
    ] = None
    results: Annotated[
        dict[str, Any], about("Results of tools of iteration `at`, by the id of the call.")
    ] = {}
    hold: Annotated[bool, about("Whether it is held there, so that somebody can edit it.")] = False
