"""`holdfast agent breakpoint …`: where an agent is to stop."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from holdfast.cli.agents.control_commands import read_response, run_command
from holdfast.cli.agents.event_lines import format_point, format_rule
from holdfast.cli.agents.session_selection import LaneOption, SessionOption
from holdfast.cli.server_access import AsJson, console
from holdfast.model.agent_events import EventData

breakpoints = typer.Typer(help="Where it is to stop.", no_args_is_help=True)
add = typer.Typer(help="Stop on a tool, an iteration, a pattern, …", no_args_is_help=True)
breakpoints.add_typer(add, name="add")

Hits = Annotated[str | None, typer.Option("--hits", help="Which hits stop: 3, > 3, % 3, …")]
Condition = Annotated[
    str | None,
    typer.Option("--if", help="Only if this is so: \"'rm' in input['command']\"."),
]


def _add(
    session: str | None, as_json: bool, hits: str | None, only_if: str | None, **point: Any
) -> None:
    data = {"action": "add", **{name: value for name, value in point.items() if value}}
    if hits is not None:
        data["hitCondition"] = hits
    if only_if is not None:
        data["if"] = only_if
    report = run_command(session, "breakpoint", data, as_json)
    if not as_json:
        _print_point(read_response(report).get("breakpoint") or {})


@add.command("tool")
def on_tool(
    name: Annotated[str, typer.Argument(help="A tool's name, or a pattern such as 'write_*'.")],
    hits: Hits = None,
    condition: Condition = None,
    session: SessionOption = None,
    as_json: AsJson = False,
) -> None:
    """Before a tool runs."""
    _add(session, as_json, hits, condition, on="tool", name=name)


@add.command("iteration")
def on_iteration(
    count: Annotated[int, typer.Argument(min=1)],
    lane: LaneOption = None,
    session: SessionOption = None,
    as_json: AsJson = False,
) -> None:
    """Before an iteration's model call, once: of any lane, or of one."""
    _add(session, as_json, None, None, on="iteration", count=count, lane=lane)


@add.command("pattern")
def on_pattern(
    regex: Annotated[str, typer.Argument(help="A regular expression, over the input as JSON.")],
    hits: Hits = None,
    condition: Condition = None,
    session: SessionOption = None,
    as_json: AsJson = False,
) -> None:
    """Before a tool runs whose input matches."""
    _add(session, as_json, hits, condition, on="pattern", regex=regex)


@add.command("model")
def on_model(
    name: Annotated[str | None, typer.Argument(help="A model's name, or a pattern.")] = None,
    hits: Hits = None,
    condition: Condition = None,
    session: SessionOption = None,
    as_json: AsJson = False,
) -> None:
    """Before a model is called."""
    _add(session, as_json, hits, condition, on="model", name=name)


@add.command("error")
def on_error(
    name: Annotated[str | None, typer.Argument(help="A tool's name, or a pattern.")] = None,
    hits: Hits = None,
    condition: Condition = None,
    session: SessionOption = None,
    as_json: AsJson = False,
) -> None:
    """When a tool or a model call has failed."""
    _add(session, as_json, hits, condition, on="error", name=name)


@add.command("tokens")
def on_tokens(
    count: Annotated[int, typer.Argument(min=1)],
    hits: Hits = None,
    condition: Condition = None,
    session: SessionOption = None,
    as_json: AsJson = False,
) -> None:
    """Before the next model call once so many tokens were used."""
    _add(session, as_json, hits, condition, on="tokens", count=count)


@add.command("condition")
def on_condition(
    expression: Annotated[str, typer.Argument(help="For instance \"tool == 'shell'\".")],
    hits: Hits = None,
    session: SessionOption = None,
    as_json: AsJson = False,
) -> None:
    """Before a model call or a tool for which it holds."""
    _add(session, as_json, hits, None, on="condition", condition=expression)


@breakpoints.command("list")
def list_breakpoints(session: SessionOption = None, as_json: AsJson = False) -> None:
    """The breakpoints and the rules there are, and how often each was hit."""
    report = run_command(session, "breakpoint", {"action": "list"}, as_json)
    if as_json:
        return
    answer = read_response(report)
    points, rules = answer.get("breakpoints") or [], answer.get("rules") or []
    for point in points:
        _print_point(point)
    for rule in rules:
        _print(f"{format_rule(rule)} ({rule.get('hits', 0)} hits)")
    if not points and not rules:
        console.print("no breakpoints")


@breakpoints.command("clear")
def clear(
    breakpoint_id: Annotated[str, typer.Argument(metavar="ID")],
    session: SessionOption = None,
    as_json: AsJson = False,
) -> None:
    """Take one away."""
    run_command(session, "breakpoint", {"action": "clear", "id": breakpoint_id}, as_json)


@breakpoints.command("clear-all")
def clear_all(session: SessionOption = None, as_json: AsJson = False) -> None:
    """Take all of them away; the rules of a project's `holdfast.toml` stay."""
    report = run_command(session, "breakpoint", {"action": "clear-all"}, as_json)
    rules = read_response(report).get("rules") or []
    if rules and not as_json:
        _print("the rules of the project stay:")
        for rule in rules:
            _print(format_rule(rule))


def _print_point(point: EventData) -> None:
    extra = f" of {point['lane']}" if point.get("lane") else ""
    extra += f" if {point['if']}" if point.get("if") else ""
    extra += f" at hits {point['hitCondition']}" if point.get("hitCondition") else ""
    text = f"{point.get('id')}: {format_point(point)}{extra} ({point.get('hits', 0)} hits)"
    _print(text)


def _print(text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)
