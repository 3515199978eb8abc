"""Decisions, and the one table of what may be decided.

A target waits at a *moment*: a program's stop, a call before or after it ran, an agent's model
call. `ACTIONS_AT` lists the actions that each moment allows, with the fields that each action
takes. Everything that offers, checks or documents decisions reads this table. A new action is one
entry here, plus the code that carries it out.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from types import MappingProxyType


@dataclass(frozen=True)
class Decision:
    """One answer to one hold. `options` are the action's own fields, such as `modified_args`."""

    action: str
    by: str
    options: Mapping[str, object] = field(default_factory=dict, hash=False)


class Moment(str, Enum):
    """Where a target waits."""

    STOP = "stop"
    """A program stands at a line."""
    BEFORE = "before"
    """A call has its arguments and has not run."""
    AFTER = "after"
    """A call has returned, and its caller has not got the result."""
    EXCEPTION = "exception"
    """A call has raised, and its caller has not got the exception."""
    MODEL = "model"
    """An agent is about to call its model."""
    TOOL = "tool"
    """An agent is about to run a tool."""
    ERROR = "error"
    """An agent's model call or tool has failed."""


class Shape(str, Enum):
    """What a field holds."""

    TEXT = "text"
    NAME = "a name"
    OBJECT = "an object"
    LIST = "a list"
    CONTENT = "text or a list"
    ROLE = "a role"
    JSON = "any JSON value"
    VALUE = "a value"
    """`{"value": json}`, `{"literal": "python"}`, `{"text": "either"}`, `{"cid": …}` or
    `{"cid": …, "data": base64}`."""


ROLES = ("user", "assistant", "system")
"""Who a message that is injected into an agent's conversation may come from."""


@dataclass(frozen=True)
class Field:
    """A field of an action. Under the name `wrapped` its value may come as a `Shape.VALUE`.

    Under the name `text` it may come as text, which keeps numbers as they are written.
    """

    name: str
    shape: Shape
    meaning: str
    default: object = None
    wrapped: str | None = None
    text: str | None = None


@dataclass(frozen=True)
class Action:
    """A way to end a hold. At least one of the fields in `needs` must be there."""

    name: str
    meaning: str
    fields: tuple[Field, ...] = ()
    needs: tuple[str, ...] = ()


CONTINUE = Action("continue", "Let the target go on as if nothing had stopped it.")

_STEPS = (
    Action("step-over", "Run to the next line of this frame."),
    Action("step-into", "Run to the first line of the function that this line calls."),
    Action("step-out", "Run to the line that called this frame."),
)

_SKIP_CALL = Action(
    "skip",
    "Give the caller this result; before a call, do not run it.",
    (
        Field("fake_result", Shape.VALUE, "The result that the caller gets."),
        Field("fake_result_cid", Shape.TEXT, "The content id of the result."),
        Field("fake_result_data", Shape.TEXT, "The pickled result, in base64."),
    ),
    needs=("fake_result", "fake_result_cid", "fake_result_data"),
)
_RAISE_IN_CALL = Action(
    "raise",
    "Raise this exception in the caller; before a call, do not run it.",
    (
        Field("exception_type", Shape.NAME, "A builtin exception's name, or a dotted path."),
        Field("exception_message", Shape.TEXT, "The message of the exception.", ""),
        Field(
            "exception_args",
            Shape.LIST,
            "The positional arguments of its constructor as values, instead of the message.",
        ),
        Field(
            "exception_kwargs",
            Shape.OBJECT,
            "The keyword arguments of its constructor as values, by name.",
        ),
        Field("exception", Shape.VALUE, "The exception itself, instead of its type."),
        Field("exception_cid", Shape.TEXT, "The content id of the exception."),
        Field("exception_data", Shape.TEXT, "The pickled exception, in base64."),
    ),
    needs=("exception_type", "exception", "exception_cid", "exception_data"),
)
_MODIFY_CALL = Action(
    "modify",
    "Run the call with other arguments.",
    (
        Field(
            "modified_args",
            Shape.LIST,
            "The positional arguments as values; null, or a place left out, keeps the argument.",
        ),
        Field(
            "modified_kwargs",
            Shape.OBJECT,
            "Arguments as values, by parameter name, however they were passed.",
        ),
    ),
    needs=("modified_args", "modified_kwargs"),
)
_REPLACE_CALL = Action(
    "replace",
    "Call another registered function instead, which takes the same arguments.",
    (Field("function_name", Shape.NAME, "The name under which it was registered."),),
    needs=("function_name",),
)

_STEP_AGENT = Action("step", "Go on to the next model call, and hold there.")
_SKIP_IN_AGENT = Action(
    "skip",
    "Do not make the model call or run the tool; use this result.",
    (Field("result", Shape.JSON, "The result that the agent gets.", wrapped="fake_result"),),
    needs=("result",),
)
_RAISE_IN_AGENT = Action(
    "raise",
    "Raise this exception in the agent's loop.",
    (
        Field("exception_type", Shape.NAME, "A builtin's name, or a dotted path.", "RuntimeError"),
        Field("exception_message", Shape.TEXT, "The message of the exception.", ""),
    ),
)
_CHANGED_INPUT = Field(
    "input", Shape.OBJECT, "The changed input.", wrapped="modified_input", text="input_text"
)
_MODIFY_MODEL_CALL = Action(
    "modify",
    "Make the model call with another input.",
    (
        _CHANGED_INPUT,
        Field(
            "messages",
            Shape.LIST,
            "The messages alone, instead of the whole input.",
            text="messages_text",
        ),
        Field("system", Shape.TEXT, "The system prompt alone, wherever the call has it."),
    ),
    needs=("input", "messages", "system"),
)
_MODIFY_TOOL_CALL = Action(
    "modify",
    "Run the tool with another input.",
    (_CHANGED_INPUT,),
    needs=("input",),
)
_INJECT = Action(
    "inject",
    "Add a message to the conversation and make the model call.",
    (
        Field("role", Shape.ROLE, "Whom the message comes from.", "user"),
        Field("content", Shape.CONTENT, "The text of the message."),
    ),
    needs=("content",),
)
_CANCEL_TOOL = Action("cancel", "Do not run the tool; tell the agent that it was cancelled.")

ACTIONS_AT: Mapping[Moment, tuple[Action, ...]] = MappingProxyType(
    {
        Moment.STOP: (CONTINUE, *_STEPS),
        Moment.BEFORE: (CONTINUE, _SKIP_CALL, _RAISE_IN_CALL, _MODIFY_CALL, _REPLACE_CALL),
        Moment.AFTER: (CONTINUE, _SKIP_CALL, _RAISE_IN_CALL),
        Moment.EXCEPTION: (CONTINUE, _SKIP_CALL, _RAISE_IN_CALL),
        Moment.MODEL: (
            *(CONTINUE, _MODIFY_MODEL_CALL, _SKIP_IN_AGENT, _RAISE_IN_AGENT, _INJECT),
            _STEP_AGENT,
        ),
        Moment.TOOL: (
            *(CONTINUE, _MODIFY_TOOL_CALL, _SKIP_IN_AGENT, _RAISE_IN_AGENT, _CANCEL_TOOL),
            _STEP_AGENT,
        ),
        Moment.ERROR: (CONTINUE, _SKIP_IN_AGENT, _RAISE_IN_AGENT, _STEP_AGENT),
    }
)

AGENT_MOMENTS = (Moment.MODEL, Moment.TOOL, Moment.ERROR)


def names_at(*moments: Moment) -> tuple[str, ...]:
    """The names of the actions that these moments allow; without moments, those of all."""
    names = (action.name for moment in moments or ACTIONS_AT for action in ACTIONS_AT[moment])
    return tuple(dict.fromkeys(names))


def action_at(moment: Moment, name: str) -> Action | None:
    """The action of that name at that moment, if there is one."""
    return next((action for action in ACTIONS_AT[moment] if action.name == name), None)
