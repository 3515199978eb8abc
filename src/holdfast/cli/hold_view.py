"""One hold as text: what waits, with what, where, and the command for each decision."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator, Mapping
from typing import Any

Hold = Mapping[str, Any]
"""A hold as the server's JSON describes it: `GET /api/holds/{id}`."""

_MAX_FRAMES = 20
_MAX_WIDTH = 200


def list_commands(hold: Hold, url: str | None) -> dict[str, str]:
    """The command for each decision that an open hold allows."""
    hold_id = hold["hold_id"]
    ending = "" if url is None else f" --url {shlex.quote(url)}"
    commands = {"continue": f"holdfast holds continue {hold_id}{ending}"}
    for action in hold["allows"]:
        options = _list_options(action, hold)
        commands.setdefault(action, f"holdfast holds decide {hold_id} {action}{options}{ending}")
    return {action: commands[action] for action in hold["allows"]}


def _list_options(action: str, hold: Hold) -> str:
    if "method_name" in hold:
        names = [argument["name"] for argument in hold.get("arguments", ())]
        name = names[0].lstrip("*") if names and "[" not in names[0] else "0"
        function = next(iter(hold.get("replacements", ())), "NAME")
        options = {
            "skip": " --value LITERAL",
            "raise": " --exception ValueError --message TEXT",
            "modify": f" --arg {name}=LITERAL",
            "replace": f" --function {function}",
        }
    else:
        options = {
            "skip": " --field result=JSON",
            "raise": " --exception ValueError --message TEXT",
            "modify": " --input JSON",
            "inject": " --field content='\"TEXT\"'",
        }
    return options.get(action, "")


def render_hold(hold: Hold, commands: Mapping[str, str]) -> Iterator[str]:
    """The lines of `holdfast holds show`."""
    if not hold.get("open", True):
        by = f", by {hold['by']}" if hold.get("by") else ""
        yield f"{hold['hold_id']} is settled: {hold['outcome']}{by}"
        return
    yield f"{hold['hold_id']}  {_describe_target(hold)}"
    arguments = hold.get("arguments", ())
    width = max((len(argument["name"]) for argument in arguments), default=0)
    for argument in arguments:
        default = "" if argument["is_passed"] else "   (default)"
        yield f"  {argument['name']:<{width}} = {_shorten(argument['text'])}{default}"
    for name, value in _list_facts(hold):
        yield f"  {name:<10}{value}"
    for frame in hold.get("call_site", {}).get("stack_trace", ())[:_MAX_FRAMES]:
        context = str(frame.get("code_context") or "").strip()
        place = f"{frame.get('filename')}:{frame.get('lineno')} in {frame.get('function')}"
        yield f"  at {place}  {context}"
    yield "decide with one of:"
    for action, command in commands.items():
        yield f"  {action:<10}{command}"
    others = hold.get("replacements", ())
    if others:
        yield f"replace takes: {', '.join(others)}"


def _describe_target(hold: Hold) -> str:
    if "method_name" in hold:
        name = hold.get("alias") or hold.get("qualname") or hold["method_name"]
        return f"{hold['when']} {name}{hold.get('signature') or '(…)'}"
    if "at" in hold:
        return f"{hold['at']} {hold.get('name', '')}".rstrip()
    return "program"


def _list_facts(hold: Hold) -> Iterator[tuple[str, str]]:
    if hold.get("when") == "after" and hold.get("result"):
        yield "result", _shorten(hold["result"]["text"])
    if hold.get("exception_type"):
        yield "exception", f"{hold['exception_type']}: {hold.get('exception_message') or ''}"
    if hold.get("error"):
        yield "error", f"{hold['error'].get('type')}: {hold['error'].get('message')}"
    if hold.get("input") is not None:
        yield "input", _shorten(json.dumps(hold["input"], ensure_ascii=False))
    if hold.get("breakpoint_id"):
        yield "held by", f"breakpoint {hold['breakpoint_id']} ({hold.get('breakpoint', '')})"
    location = hold.get("location")
    if location and not hold.get("call_site"):
        yield "where", f"{location['file']}:{location['line']} in {location.get('function') or '?'}"
    yield "reason", str(hold["reason"])
    yield "since", str(hold["opened_at"])
    yield "session", str(hold["session_id"])
    thread = hold.get("thread")
    if thread:
        yield "thread", str(thread.get("name"))


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_WIDTH else text[: _MAX_WIDTH - 1] + "…"
