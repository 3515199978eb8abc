"""`holdfast calls break`, `breaks` and `unbreak`: which calls are held."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import quote

import typer
from rich.table import Table

from holdfast.cli.completion import complete_call_breakpoint, complete_session
from holdfast.cli.server_access import (
    AsJson,
    NoStart,
    Url,
    ask,
    choose_id,
    complain,
    console,
    has_records,
    print_note,
    print_table,
)

Point = Mapping[str, Any]
"""A breakpoint as the server's JSON describes it: see `wire.call_answers`."""


def add(
    pattern: Annotated[
        str, typer.Argument(help="A function: Shop.price, or a pattern such as 'Shop.*' or '*'.")
    ],
    condition: Annotated[
        str | None,
        typer.Option("--if", help="Expression over the call, such as \"item == 'tea'\"."),
    ] = None,
    when: Annotated[
        str, typer.Option(help="When to hold: before the call, after it, or on an exception.")
    ] = "before",
    hits: Annotated[
        str | None, typer.Option(help="On which hits to hold, such as 3, '>= 3' or '% 10'.")
    ] = None,
    alias: Annotated[
        str | None, typer.Option(help="Only objects that the application named so.")
    ] = None,
    call_type: Annotated[
        str | None, typer.Option("--type", help="Only proxy or inline calls.")
    ] = None,
    session: Annotated[
        str | None,
        typer.Option(help="Only calls of this session.", autocompletion=complete_session),
    ] = None,
    action: Annotated[
        str | None,
        typer.Option(help="A decision, as JSON, that is made at once instead of a hold."),
    ] = None,
    no_start: NoStart = False,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """Hold the calls of a function. In force when this returns."""
    fields: dict[str, object] = {
        "function": pattern,
        "condition": condition,
        "when": when,
        "hit_condition": hits,
        "alias": alias,
        "call_type": call_type,
        "session_id": session,
    }
    if action is not None:
        try:
            fields["action"] = json.loads(action)
        except ValueError as problem:
            example = '--action \'{"action": "skip", "fake_result": {"value": 1}}\''
            complain(f"--action is not JSON: {problem}", f"For instance {example}.")
    body = {name: value for name, value in fields.items() if value is not None}
    point = ask(url, "POST", "/api/breakpoints", body, starts=True)
    if as_json:
        print(json.dumps(point))
        return
    count = point["matches"]
    functions = f"{count} function{'' if count == 1 else 's'}"
    console.print(
        f"{point['id']}: {_describe(point)}; matches {functions} so far",
        markup=False,
        highlight=False,
        soft_wrap=True,
    )
    for warning in point.get("warnings", ()):
        print_note(f"warning: {warning}")


def list_breakpoints(no_start: NoStart = False, as_json: AsJson = False, url: Url = None) -> None:
    """List the call breakpoints, with what they have counted."""
    answer = ask(
        *(url, "GET", "/api/breakpoints"), starts=has_records(), without_server={"breakpoints": []}
    )
    if as_json:
        print(json.dumps(answer))
        return
    if not answer["breakpoints"]:
        console.print("no call breakpoints")
        return
    table = Table("breakpoint", "what", "hits", "undecided", "matches", "", box=None)
    for point in answer["breakpoints"]:
        table.add_row(
            *(point["id"], _describe(point), str(point["hits"]), str(point["undecided"])),
            *(str(point["matches"]), "" if point["enabled"] else "disabled"),
        )
    print_table(table)
    for point in answer["breakpoints"]:
        for warning in (*point.get("warnings", ()), *filter(None, [point.get("message")])):
            print_note(f"{point['id']}: {warning}")


def remove(
    breakpoint_id: Annotated[
        str | None,
        typer.Argument(
            help="Its id, or the beginning of it.", autocompletion=complete_call_breakpoint
        ),
    ] = None,
    all_: Annotated[bool, typer.Option("--all", help="Remove every call breakpoint.")] = False,
    release: Annotated[
        bool | None,
        typer.Option(
            "--release/--keep",
            help="Continue the calls that it still holds, or keep them held. "
            "On a terminal this is asked.",
        ),
    ] = None,
    no_start: NoStart = False,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """Remove a breakpoint. Calls that it holds stay held, unless they are released."""
    if (breakpoint_id is None) is not all_:
        complain("name one breakpoint, or say --all", "`holdfast calls breaks` lists them.")
    known = ask(url, "GET", "/api/breakpoints", starts=True)["breakpoints"]
    points = [point["id"] for point in known]
    chosen = points if breakpoint_id is None else [choose_id(breakpoint_id, points)]
    holds = [
        hold["hold_id"]
        for hold in ask(url, "GET", "/api/holds")["holds"]
        if hold.get("breakpoint_id") in chosen
    ]
    if holds and release is None and not as_json and sys.stdin.isatty():
        calls = f"{len(holds)} held call{'' if len(holds) == 1 else 's'}"
        release = typer.confirm(f"{calls} would stay held. Release?", default=False)
    path = "/api/breakpoints" if breakpoint_id is None else f"/api/breakpoints/{quote(chosen[0])}"
    query = "?release=true&by=cli" if release else ""
    answer = ask(url, "DELETE", path + query)
    if as_json:
        print(json.dumps(answer))
        return
    removed = chosen[0]
    if breakpoint_id is None:
        removed = f"{answer['deleted']} breakpoint{'' if answer['deleted'] == 1 else 's'}"
    console.print(f"{removed} removed", markup=False, highlight=False)
    _report_holds(answer)


def _report_holds(answer: Mapping[str, Any]) -> None:
    released: Sequence[str] = answer.get("released", ())
    if released:
        console.print(f"released: {', '.join(released)}", markup=False, highlight=False)
    still_held: Sequence[str] = answer.get("holds", ())
    if still_held:
        print_note(
            f"still held: {', '.join(still_held)}; release with: "
            f"holdfast holds continue {' '.join(still_held)}"
        )


def _describe(point: Point) -> str:
    words = [point.get("function") or "any function"]
    if "alias" in point:
        words.append(f"as {point['alias']}")
    if "call_type" in point:
        words.append(f"called {point['call_type']}")
    words.append(point["when"])
    if "condition" in point:
        words.append(f"if {point['condition']}")
    if "hit_condition" in point:
        words.append(f"on hits {point['hit_condition']}")
    if "action" in point:
        words.append(f"then {point['action'].get('action')}")
    return " ".join(words)
