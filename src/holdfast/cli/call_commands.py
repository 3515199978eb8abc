"""`holdfast calls` and `holdfast holds`: what was called, and what waits for a decision."""

from __future__ import annotations

import json
from typing import Annotated, Any
from urllib.parse import quote, urlencode

import typer
from rich.table import Column, Table

from holdfast.cli.server_access import AsJson, Url, ask, complain, console, where

calls = typer.Typer(help="Recorded calls.", no_args_is_help=True)
holds = typer.Typer(help="What waits for a decision now.")
_WIDTH = 60


# -- calls ---------------------------------------------------------------------------------------


@calls.command("list")
def list_calls(
    function: Annotated[str | None, typer.Option(help="A name, or a pattern.")] = None,
    alias: Annotated[str | None, typer.Option(help="An alias, or a pattern.")] = None,
    session: Annotated[str | None, typer.Option(help="A session of calls.")] = None,
    status: Annotated[str | None, typer.Option(help="running, success, exception or lost.")] = None,
    cid: Annotated[str | None, typer.Option(help="A value that the call used.")] = None,
    expression: Annotated[
        str | None, typer.Option("--filter", help="For instance 'args[0] > 10'.")
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="How many.")] = 20,
    before: Annotated[str | None, typer.Option(help="Go on from this call_id.")] = None,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """The newest calls, the newest first."""
    asked = {"function": function, "alias": alias, "session": session, "status": status}
    asked |= {"cid": cid, "filter": expression, "limit": str(limit), "before": before}
    query = urlencode({name: value for name, value in asked.items() if value is not None})
    found = ask(url, "GET", f"/api/calls?{query}")
    if as_json:
        print(json.dumps(found))
        return
    call = Column("call", no_wrap=True, min_width=21)  # whole: `show` and `replay` ask for it
    table = Table(call, "what", "status", "result", "ms", box=None)
    for each in found["calls"]:
        took = each["duration_ms"]
        shown = "" if took is None else f"{took:.3g}"
        table.add_row(each["call_id"], _call_text(each), each["status"], _outcome(each), shown)
    console.print(table if found["calls"] else "no calls")
    if found["next"]:
        console.print(f"more: --before {found['next']}", highlight=False)


@calls.command("show")
def show_call(call_id: str, as_json: AsJson = False, url: Url = None) -> None:
    """All of one call: values, outcome, and where it was made."""
    found = ask(url, "GET", f"/api/calls/{quote(call_id)}")
    if as_json:
        print(json.dumps(found))
        return
    _say(f"{_call_text(found)} → {_outcome(found) or found['status']}")
    for name, value in _facts(found):
        _say(f"  {name:<10}{value}")
    for frame in found["call_site"]["stack_trace"][:20]:
        context = str(frame.get("code_context") or "").strip()
        place = f"{frame.get('filename')}:{frame.get('lineno')} in {frame.get('function')}"
        _say(f"  at {place}  {context}")


def _facts(call: dict[str, Any]) -> list[tuple[str, str]]:
    facts = [
        *(("call", call["call_id"]), ("session", call["session_id"]), ("when", call["timestamp"])),
        *(("type", call["call_type"]), ("parent", call["parent_call_id"]), ("task", call["task"])),
        ("thread", (call["thread"] or {}).get("name")),
        ("took", None if call["duration_ms"] is None else f"{call['duration_ms']:.6g} ms"),
        ("changed", json.dumps(call["changed"]) if call["changed"] else None),
        ("decided", json.dumps(call["decision"]) if call["decision"] else None),
    ]
    return [(name, str(value)) for name, value in facts if value is not None]


def _call_text(call: dict[str, Any]) -> str:
    parts = [each["text"] for each in call["args"]]
    parts += [f"{name}={each['text']}" for name, each in call["kwargs"].items()]
    return _cut(f"{call['alias'] or call['method_name']}({', '.join(parts)})")


def _outcome(call: dict[str, Any]) -> str:
    if call.get("exception_type"):
        return _cut(f"{call['exception_type']}: {call['exception_message']}")
    if call.get("marker"):
        return f"<{call['marker']}>"
    return _cut(call["result"]["text"]) if call["result"] else ""


def _cut(text: str) -> str:
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"


def _say(text: str) -> None:
    console.print(text, markup=False, highlight=False, soft_wrap=True)


# -- holds ---------------------------------------------------------------------------------------


@holds.callback(invoke_without_command=True)
def list_holds(context: typer.Context, as_json: AsJson = False, url: Url = None) -> None:
    """What waits for a decision now."""
    if context.invoked_subcommand is not None:
        return
    found = ask(url, "GET", "/api/holds")
    if as_json:
        print(json.dumps(found))
        return
    table = Table("hold", "session", "reason", "what", "where", "allows", box=None)
    for each in found["holds"]:
        called = f"{each['when']} {each['method_name']}" if "method_name" in each else ""
        if each["kind"] == "agent":
            called = f"{each.get('at')} {each.get('name', '')}"
        allows = ", ".join(each["allows"])
        names = (each["hold_id"], each["session_id"], each["reason"])
        table.add_row(*names, called, where(each), allows)
    console.print(table if found["holds"] else "nothing is held")


@holds.command("decide")
def decide(
    hold_id: str,
    action: Annotated[str, typer.Argument(help="continue, skip, raise, modify, replace, …")],
    value: Annotated[
        str | None, typer.Option(help="skip: the result, as a Python literal.")
    ] = None,
    arg: Annotated[
        list[str] | None, typer.Option(help="modify: N=LITERAL or NAME=LITERAL, repeatable.")
    ] = None,
    exception: Annotated[str | None, typer.Option(help="raise: the exception's class.")] = None,
    message: Annotated[str, typer.Option(help="raise: its message.")] = "",
    function: Annotated[str | None, typer.Option(help="replace: what to call instead.")] = None,
    changed: Annotated[
        str | None, typer.Option("--input", help="modify, of an agent: its input, as JSON.")
    ] = None,
    by: Annotated[str, typer.Option(help="Who decides.")] = "cli",
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """Decide a hold; the first decision wins."""
    body: dict[str, Any] = {"action": action, "by": by}
    if value is not None:
        body["fake_result"] = {"literal": value}
    if exception is not None:
        body |= {"exception_type": exception, "exception_message": message}
    if function is not None:
        body["function_name"] = function
    if changed is not None:
        body["input"] = _json(changed)
    if arg:
        body |= _modified(arg)
    found = ask(url, "POST", f"/api/holds/{quote(hold_id)}/decision", body)
    print(json.dumps(found) if as_json else f"{hold_id}: {action}, now {found['status']}")


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError as problem:
        complain(f"--input is not JSON: {problem}", 'For instance --input \'{"path": "x"}\'.')


def _modified(given: list[str]) -> dict[str, Any]:
    """`0=5` is the first argument, `name=5` one by name; what is not named is kept."""
    args: dict[int, Any] = {}
    kwargs: dict[str, Any] = {}
    for each in given:
        name, sign, literal = each.partition("=")
        if not sign or not (name.isdecimal() or name.isidentifier()):
            complain(f"{each!r} is no N=LITERAL or NAME=LITERAL", "For instance --arg 0=5.")
        if name.isdecimal():
            args[int(name)] = {"literal": literal}
        else:
            kwargs[name] = {"literal": literal}
    placed = [args.get(at) for at in range(max(args, default=-1) + 1)]
    return {"modified_args": placed, "modified_kwargs": kwargs}
