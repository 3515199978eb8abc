"""Hints of the server name tools, as `debug_inspect(expand="rows")`. Here they become commands."""

from __future__ import annotations

import ast
import re
import shlex

_COMMANDS = {
    "debug_run": "run",
    "debug_continue": "continue",
    "debug_step": "step",
    "debug_inspect": "inspect",
    "debug_evaluate": "eval",
    "debug_set_breakpoints": "break",
    "debug_trace": "trace",
    "debug_why": "why",
    "debug_diff": "diff",
    "debug_sessions": "sessions",
    "debug_stop": "stop",
    "hold_list": "holds",
    "hold_decide": "holds decide",
    "calls_search": "calls list",
}
_ROUTES = {
    "GET /api/holds": "holds",
    "GET /api/calls": "calls list",
    "GET /sessions": "sessions",
    "POST /sessions": "run",
}
_WORDS = ("target", "kind", "line", "expression", "expressions", "add", "hold_id", "action")
"""Fields that are words of their command, and no options."""
_OPTIONS = {"session_id": "session", "breakpoints": "break", "where": "filter"}
_CALL = re.compile(rf"\b({'|'.join(_COMMANDS)})\b(\((?:[^()]|\([^()]*\))*\))?")
_OPTION = re.compile(r"\b(show_secrets|budget_tokens|max_hits)(?:\s*[:=]\s*(true|True|\d+|…))?")


def write_commands(text: str) -> str:
    """The text with commands in place of tools and routes."""
    text = text.replace("again: true", "--again")
    for route, command in _ROUTES.items():
        text = text.replace(route, f"`holdfast {command}`")
    if "_" in text:
        text = _CALL.sub(_write_command, text)
        text = _OPTION.sub(_write_option, text)
    return text


def _write_option(match: re.Match[str]) -> str:
    option = f"--{match[1].replace('_', '-')}"
    return option if match[2] in (None, "true", "True") else f"{option} {match[2]}"


def _write_command(match: re.Match[str]) -> str:
    arguments = _parse_arguments(match[2] or "")
    # What follows the program of `holdfast run` is the program's.
    arguments.sort(key=lambda argument: argument[0] == "target")
    words = [word for name, value in arguments for word in _write_argument(name, value)]
    return " ".join([f"holdfast {_COMMANDS[match[1]]}", *words])


def _parse_arguments(text: str) -> list[tuple[str, object]]:
    """The arguments of a call; none if they are only sketched."""
    try:
        call = ast.parse(f"f{text}".replace("=…", "=..."), mode="eval").body
    except SyntaxError:
        return []
    if not isinstance(call, ast.Call):
        return []
    return [(one.arg, _parse_value(one.value)) for one in call.keywords if one.arg]


def _parse_value(node: ast.expr) -> object:
    try:
        return ast.literal_eval(node)
    except ValueError:
        return "…"


def _write_argument(name: str, value: object) -> list[str]:
    values = value if isinstance(value, list) else [value]
    if name in _WORDS:
        return [_quote(one if name != "kind" else str(one).replace("_", "-")) for one in values]
    option = "--" + _OPTIONS.get(name, name).replace("_", "-")
    return [word for one in values for word in ([option] if one is True else [option, _quote(one)])]


def _quote(value: object) -> str:
    return "…" if value in ("…", ...) else shlex.quote(str(value))
