"""What a person types to steer an agent, and the command that it means."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from holdfast.model.agent import INSPECTABLE, ROLES

Json = dict[str, Any]
BY = "attach"

HELP = """\
pause                        stop before the next model call
resume [STOP]                let it go on
step [STOP]                  one iteration, then stop
edit [STOP] JSON             let it go on with this input
result [STOP] JSON           do not run it: this is its result
raise [STOP] TYPE [TEXT]     do not run it: raise this
inspect [messages|context|tools|all]
inject [user|assistant|system] TEXT
set KEY JSON                 a variable of the loop
cancel TOOL_ID               a tool that runs or is held
break tool NAME | model [NAME] | iteration N | pattern REGEX | error [NAME] | tokens N | condition X
breakpoints                  list them
clear ID | all
wait [TYPE]                  until something is held, or the next event of that type
help, quit"""

_STOP = re.compile(r"stop-\d+")


class Told(NamedTuple):
    kind: str
    data: Json


class NotUnderstood(ValueError):
    """Says what is wrong with a line."""


def told(line: str) -> Told:
    """The command in a line."""
    word, _, rest = line.strip().partition(" ")
    rest = rest.strip()
    match word.lower():
        case "pause":
            return Told("pause", {})
        case "resume" | "continue":
            return Told("resume", {"by": BY, **_stop(rest)[0]})
        case "step":
            return Told("step", {"by": BY, **_stop(rest)[0]})
        case "edit":
            return _edited(rest)
        case "result":
            stop, text = _stop(rest)
            data = {"action": "skip", "result": parsed(text, "the result")}
            return Told("resume", {"by": BY, **stop, **data})
        case "raise":
            stop, text = _stop(rest)
            return Told("resume", {"by": BY, **stop, **raised(text)})
        case "inspect":
            if rest and rest not in INSPECTABLE:
                raise NotUnderstood(f"inspect one of {', '.join(INSPECTABLE)}, not {rest[:40]}")
            return Told("inspect", {"what": rest or "all"})
        case "inject":
            return Told("inject_message", message(rest))
        case "set":
            return Told("set_variable", variable(rest))
        case "cancel":
            if not rest:
                raise NotUnderstood("cancel which tool? cancel TOOL_ID")
            return Told("cancel_tool", {"toolId": rest, "by": BY})
        case "break" | "breakpoint":
            return Told("breakpoint", {"action": "add", **breakpoint_of(rest)})
        case "breakpoints":
            return Told("breakpoint", {"action": "list"})
        case "clear":
            if not rest:
                raise NotUnderstood("clear which? clear ID, or clear all")
            is_all = rest in ("all", "clear-all")
            data = {"action": "clear-all"} if is_all else {"action": "clear", "id": rest}
            return Told("breakpoint", data)
        case _:
            raise NotUnderstood(f"there is no command {word[:40]!r}; `help` lists them")


def _stop(rest: str) -> tuple[Json, str]:
    """The stop that is named first, if one is, and what is left."""
    first, _, more = rest.partition(" ")
    return ({"stop": first}, more.strip()) if _STOP.fullmatch(first) else ({}, rest)


def _edited(rest: str) -> Told:
    stop, text = _stop(rest)
    found = parsed(text, "the input")
    if not isinstance(found, dict):
        raise NotUnderstood("an input is an object, with the names of what changes")
    return Told("resume", {"by": BY, **stop, "action": "modify", "input": found})


def parsed(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as problem:
        raise NotUnderstood(f"{name} is not JSON: {problem}; text needs quotes") from None


def raised(text: str) -> Json:
    """`ValueError no such file`, or `ValueError: no such file`."""
    found = re.match(r"([A-Za-z_][\w.]*)\s*:?\s*(.*)", text.strip(), re.DOTALL)
    if found is None:
        raise NotUnderstood("raise what? An exception's name, and its message")
    data = {"exception_type": found[1], "exception_message": found[2]}
    return {"action": "raise", **data}


def message(text: str) -> Json:
    """`user be brief`, or `user: be brief`, or just `be brief`."""
    first, _, more = text.strip().partition(" ")
    role = first.rstrip(":").lower()
    if role not in ROLES:
        role, more = "user", text.strip()
    if not more.strip():
        raise NotUnderstood("a message has a text")
    return {"role": role, "content": more.strip()}


def variable(text: str) -> Json:
    """`depth 7`, or `depth = 7`."""
    found = re.match(r"([^\s=]+)\s*=?\s*(.+)", text.strip(), re.DOTALL)
    if found is None:
        raise NotUnderstood("set what? KEY JSON")
    return {"key": found[1], "value": parsed(found[2], "the value")}


def breakpoint_of(text: str) -> Json:
    on, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    match on:
        case "tool" | "pattern" | "condition" if rest:
            name = {"tool": "name", "pattern": "regex", "condition": "condition"}[on]
            return {"on": on, name: rest}
        case "model" | "error":
            return {"on": on, **({"name": rest} if rest else {})}
        case "iteration" | "tokens" if rest.isdecimal():
            return {"on": on, "count": int(rest)}
        case _:
            raise NotUnderstood(
                "break on: tool NAME, model, iteration N, pattern REGEX, error, tokens N, "
                "condition X"
            )
