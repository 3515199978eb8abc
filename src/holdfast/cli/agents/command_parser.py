"""Parses the lines that people type to steer an agent."""

from __future__ import annotations

import json
import re
from typing import Any, NamedTuple

from holdfast.model.agent_commands import INSPECTABLE, CommandData
from holdfast.model.decision import ROLES

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
pause, step, inspect, inject and set take --lane NAME as their first word
wait [TYPE]                  until something is held, or the next event of that type
help, quit"""

_STOP = re.compile(r"stop-\d+")
_LANE = re.compile(r"--lane(?:=|\s+)(?:\"([^\"]+)\"|(\S+))\s*")
_WITH_LANE = ("pause", "step", "inspect", "inject", "set")


class ParsedCommand(NamedTuple):
    kind: str
    data: CommandData


class CommandSyntaxError(ValueError):
    """Says what is wrong with a line."""


def parse_command(line: str) -> ParsedCommand:
    """The command in a line."""
    word, _, rest = line.strip().partition(" ")
    rest = rest.strip()
    if word.lower() in _WITH_LANE and (named := _LANE.match(rest)):
        parsed = parse_command(f"{word} {rest[named.end() :]}")
        return ParsedCommand(parsed.kind, {**parsed.data, "lane": named[1] or named[2]})
    match word.lower():
        case "pause":
            return ParsedCommand("pause", {})
        case "resume" | "continue":
            return ParsedCommand("resume", {"by": BY, **_split_stop(rest)[0]})
        case "step":
            return ParsedCommand("step", {"by": BY, **_split_stop(rest)[0]})
        case "edit":
            return _parse_edit(rest)
        case "result":
            stop, text = _split_stop(rest)
            data = {"action": "skip", "result": parse_json(text, "the result")}
            return ParsedCommand("resume", {"by": BY, **stop, **data})
        case "raise":
            stop, text = _split_stop(rest)
            return ParsedCommand("resume", {"by": BY, **stop, **parse_exception(text)})
        case "inspect":
            if rest and rest not in INSPECTABLE:
                raise CommandSyntaxError(
                    f"inspect one of {', '.join(INSPECTABLE)}, not {rest[:40]}"
                )
            return ParsedCommand("inspect", {"what": rest or "all"})
        case "inject":
            return ParsedCommand("inject_message", parse_message(rest))
        case "set":
            return ParsedCommand("set_variable", parse_variable(rest))
        case "cancel":
            if not rest:
                raise CommandSyntaxError("cancel which tool? cancel TOOL_ID")
            return ParsedCommand("cancel_tool", {"toolId": rest, "by": BY})
        case "break" | "breakpoint":
            return ParsedCommand("breakpoint", {"action": "add", **parse_breakpoint(rest)})
        case "breakpoints":
            return ParsedCommand("breakpoint", {"action": "list"})
        case "clear":
            if not rest:
                raise CommandSyntaxError("clear which? clear ID, or clear all")
            is_all = rest in ("all", "clear-all")
            data = {"action": "clear-all"} if is_all else {"action": "clear", "id": rest}
            return ParsedCommand("breakpoint", data)
        case _:
            raise CommandSyntaxError(f"there is no command {word[:40]!r}; `help` lists them")


def _split_stop(rest: str) -> tuple[CommandData, str]:
    """The stop that is named first, if one is, and what is left."""
    first, _, more = rest.partition(" ")
    return ({"stop": first}, more.strip()) if _STOP.fullmatch(first) else ({}, rest)


def _parse_edit(rest: str) -> ParsedCommand:
    stop, text = _split_stop(rest)
    changes = parse_json(text, "the input")
    if not isinstance(changes, dict):
        raise CommandSyntaxError("an input is an object, with the names of what changes")
    return ParsedCommand("resume", {"by": BY, **stop, "action": "modify", "input": changes})


def parse_json(text: str, name: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as problem:
        raise CommandSyntaxError(f"{name} is not JSON: {problem}; text needs quotes") from None


def parse_exception(text: str) -> CommandData:
    """`ValueError no such file`, or `ValueError: no such file`."""
    match = re.match(r"([A-Za-z_][\w.]*)\s*:?\s*(.*)", text.strip(), re.DOTALL)
    if match is None:
        raise CommandSyntaxError("raise what? An exception's name, and its message")
    return {"action": "raise", "exception_type": match[1], "exception_message": match[2]}


def parse_message(text: str) -> CommandData:
    """`user be brief`, or `user: be brief`, or just `be brief`."""
    first, _, more = text.strip().partition(" ")
    role = first.rstrip(":").lower()
    if role not in ROLES:
        role, more = "user", text.strip()
    if not more.strip():
        raise CommandSyntaxError("a message has a text")
    return {"role": role, "content": more.strip()}


def parse_variable(text: str) -> CommandData:
    """`depth 7`, or `depth = 7`."""
    match = re.match(r"([^\s=]+)\s*=?\s*(.+)", text.strip(), re.DOTALL)
    if match is None:
        raise CommandSyntaxError("set what? KEY JSON")
    return {"key": match[1], "value": parse_json(match[2], "the value")}


def parse_breakpoint(text: str) -> CommandData:
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
            raise CommandSyntaxError(
                "break on: tool NAME, model, iteration N, pattern REGEX, error, tokens N, "
                "condition X"
            )
