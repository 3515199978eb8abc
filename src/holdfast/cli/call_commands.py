"""`holdfast calls` and `holdfast holds`: recorded calls, and targets that wait for a decision."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Annotated, Any, ClassVar, cast
from urllib.parse import quote, urlencode

import typer
from rich.table import Column, Table

from holdfast.cli import call_breakpoint_commands
from holdfast.cli.completion import complete_call, complete_hold
from holdfast.cli.hold_view import list_commands, render_hold
from holdfast.cli.lazy_commands import LazyCommand, LazyGroup
from holdfast.cli.server_access import (
    AsJson,
    NoStart,
    Url,
    ask,
    choose_id,
    complain,
    console,
    format_location,
    has_records,
    print_note,
    print_table,
)
from holdfast.model.decision import CONTINUE, names_at
from holdfast.wire.plain_text import clean, clean_line


class CallCommands(LazyGroup):
    lazy_commands: ClassVar = {
        "replay": LazyCommand(
            "replay_commands:replay",
            "Make a recorded call again with the current code, and show the differences.",
        ),
        "test": LazyCommand(
            "replay_commands:write_test",
            "Write a pytest file in which each recorded call is a test.",
        ),
    }


calls = typer.Typer(
    cls=CallCommands,
    help="Show, hold and replay calls.",
    no_args_is_help=True,
    add_completion=False,
)
calls.command("break")(call_breakpoint_commands.add)
calls.command("breaks")(call_breakpoint_commands.list_breakpoints)
calls.command("unbreak")(call_breakpoint_commands.remove)
holds = typer.Typer(help="List and decide what waits for a decision.", add_completion=False)
_MAX_WIDTH = 60

CallId = Annotated[str, typer.Argument(help="Its id.", autocompletion=complete_call)]
HoldId = Annotated[
    str, typer.Argument(help="Its id, or the beginning of it.", autocompletion=complete_hold)
]

Call = Mapping[str, Any]
"""A call as the server's JSON describes it: see `wire.call_answers`."""


# -- calls ---------------------------------------------------------------------------------------


@calls.command("list")
def list_calls(
    function: Annotated[str | None, typer.Option(help="Function name or pattern.")] = None,
    alias: Annotated[str | None, typer.Option(help="Alias or pattern.")] = None,
    session: Annotated[str | None, typer.Option(help="Session id.")] = None,
    status: Annotated[str | None, typer.Option(help="running, success, exception or lost.")] = None,
    cid: Annotated[
        str | None, typer.Option(help="Content id of a value that the call used.")
    ] = None,
    expression: Annotated[
        str | None,
        typer.Option(
            "--filter", "--if", help="Expression over the call, such as \"item == 'tea'\"."
        ),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Maximum number of calls.")] = 20,
    before: Annotated[
        str | None, typer.Option(help="List calls that were made before this call_id.")
    ] = None,
    no_start: NoStart = False,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """List the newest calls."""
    options = {"function": function, "alias": alias, "session": session, "status": status}
    options |= {"cid": cid, "filter": expression, "limit": str(limit), "before": before}
    query = urlencode({name: value for name, value in options.items() if value is not None})
    answer = ask(
        *(url, "GET", f"/api/calls?{query}"),
        starts=has_records(),
        without_server={"calls": [], "next": None},
    )
    if as_json:
        print(json.dumps(answer))
        return
    id_column = Column("call", no_wrap=True, min_width=21)  # not cut: `show` and `replay` take it
    has_decisions = any("decided" in call for call in answer["calls"])
    columns = ("what", "status", "result", "ms", *(["decided"] if has_decisions else []))
    table = Table(id_column, *columns, box=None)
    for call in answer["calls"]:
        took = "" if call["duration_ms"] is None else f"{call['duration_ms']:.3g}"
        cells = (call["call_id"], _format_call(call), call["status"], _format_outcome(call), took)
        decided = [call["decided"]["text"] if "decided" in call else ""] if has_decisions else []
        table.add_row(*cells, *decided)
    if answer["calls"]:
        print_table(table)
    else:
        console.print("no calls")
    if answer["next"]:
        console.print(f"more: --before {answer['next']}", highlight=False)
    for problem in answer.get("condition_errors", ()):
        print_note(f"not decided for {problem['count']} calls: {problem['error']}")


@calls.command("show")
def show_call(
    call_id: CallId, no_start: NoStart = False, as_json: AsJson = False, url: Url = None
) -> None:
    """Show one call: its values, its outcome, and where it was made."""
    call = ask(url, "GET", f"/api/calls/{quote(call_id)}", starts=True)
    if as_json:
        print(json.dumps(call))
        return
    _print(f"{_format_call(call)} → {_format_outcome(call) or call['status']}")
    for name, value in _list_facts(call):
        _print(f"  {name:<10}{value}")
    for frame in call["call_site"]["stack_trace"][:20]:
        context = str(frame.get("code_context") or "").strip()
        place = f"{frame.get('filename')}:{frame.get('lineno')} in {frame.get('function')}"
        _print(f"  at {place}  {context}")


def _list_facts(call: Call) -> list[tuple[str, str]]:
    facts = [
        *(("call", call["call_id"]), ("session", call["session_id"]), ("when", call["timestamp"])),
        *(("type", call["call_type"]), ("parent", call["parent_call_id"]), ("task", call["task"])),
        ("thread", (call["thread"] or {}).get("name")),
        ("took", None if call["duration_ms"] is None else f"{call['duration_ms']:.6g} ms"),
        ("target", _format_age(call.get("target_age_ms"))),
        ("changed", json.dumps(call["changed"]) if call["changed"] else None),
        ("decided", call["decided"]["text"] if "decided" in call else None),
        ("note", call["decided"].get("note") if "decided" in call else None),
    ]
    return [(name, str(value)) for name, value in facts if value is not None]


def _format_age(milliseconds: float | None) -> str | None:
    """How old what is recorded of the target is, if it was not compared for the call."""
    if milliseconds is None:
        return None
    is_short = milliseconds < 1000
    age = f"{milliseconds:.3g} ms" if is_short else f"{milliseconds / 1000:.1f} s"
    return f"recorded {age} earlier; it may have changed since"


def format_arguments(call: Call) -> str:
    parts = [value["text"] for value in call["args"]]
    parts += [f"{name}={value['text']}" for name, value in call["kwargs"].items()]
    return ", ".join(parts)


def _format_call(call: Call) -> str:
    return _shorten(f"{call['alias'] or call['method_name']}({format_arguments(call)})")


def _format_outcome(call: Call) -> str:
    if call.get("exception_type"):
        return _shorten(f"{call['exception_type']}: {call['exception_message']}")
    if call.get("marker"):
        return f"<{call['marker']}>"
    return _shorten(call["result"]["text"]) if call["result"] else ""


def _shorten(text: str) -> str:
    text = clean_line(text)
    return text if len(text) <= _MAX_WIDTH else text[: _MAX_WIDTH - 1] + "…"


def _print(text: str) -> None:
    console.print(clean(text), markup=False, highlight=False, soft_wrap=True)


# -- holds ---------------------------------------------------------------------------------------


@holds.callback(invoke_without_command=True)
def list_holds(context: typer.Context, as_json: AsJson = False, url: Url = None) -> None:
    """List what waits for a decision."""
    if context.invoked_subcommand is not None:
        return
    answer = ask(url, "GET", "/api/holds", without_server={"holds": []})
    if as_json:
        print(json.dumps(answer))
        return
    table = Table("hold", "session", "reason", "what", "where", "allows", box=None)
    for hold in answer["holds"]:
        called = f"{hold['when']} {hold['method_name']}" if "method_name" in hold else ""
        if "at" in hold:
            called = f"{hold['at']} {hold.get('name', '')}"
        allows = ", ".join(hold["allows"])
        names = (hold["hold_id"], hold["session_id"], hold["reason"])
        table.add_row(*names, called, format_location(hold), allows)
    if answer["holds"]:
        print_table(table)
    else:
        console.print("nothing is held")


@holds.command("show")
def show_hold(
    hold_id: HoldId,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """Show one hold: the arguments, the stack, and the command for each decision."""
    hold = ask(url, "GET", f"/api/holds/{quote(_choose_hold(hold_id, url))}")
    commands = list_commands(hold, url) if hold.get("open", True) else {}
    if as_json:
        print(json.dumps({**hold, "commands": commands}))
        return
    for line in render_hold(hold, commands):
        _print(line)


@holds.command("continue")
def continue_holds(
    hold_ids: Annotated[
        list[str] | None,
        typer.Argument(help="The ids, or the beginnings of them.", autocompletion=complete_hold),
    ] = None,
    all_: Annotated[
        bool, typer.Option("--all", help="Continue every held call and every held agent.")
    ] = False,
    by: Annotated[str, typer.Option(help="Who decides.")] = "cli",
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """Let held targets go on as if nothing had stopped them."""
    if bool(hold_ids) is all_:
        complain("name the holds, or say --all", "`holdfast holds` lists them.")
    if all_:
        answer = ask(url, "POST", "/api/holds/continue", {"by": by})
        shown = ", ".join(answer["continued"]) or "nothing was held"
        print(json.dumps(answer) if as_json else shown)
        return
    answers = []
    for hold_id in hold_ids or ():
        chosen = _choose_hold(hold_id, url)
        body = {"action": CONTINUE.name, "by": by}
        answers.append(ask(url, "POST", f"/api/holds/{quote(chosen)}/decision", body))
        if not as_json:
            print(f"{chosen}: continue, now {answers[-1]['status']}")
    if as_json:
        print(json.dumps({"decisions": answers}))


def _choose_hold(given: str, url: str | None) -> str:
    holds = ask(url, "GET", "/api/holds")["holds"]
    return choose_id(given, [hold["hold_id"] for hold in holds])


@holds.command("decide")
def decide(
    hold_id: HoldId,
    action: Annotated[
        str, typer.Argument(help=f"One that the hold allows: {', '.join(names_at())}.")
    ],
    value: Annotated[
        str | None, typer.Option(help="skip: the result, as a Python literal.")
    ] = None,
    arg: Annotated[
        list[str] | None, typer.Option(help="modify: N=LITERAL or NAME=LITERAL, repeatable.")
    ] = None,
    exception: Annotated[str | None, typer.Option(help="raise: the exception's class.")] = None,
    message: Annotated[str, typer.Option(help="raise: its message.")] = "",
    exception_arg: Annotated[
        list[str] | None,
        typer.Option(
            help="raise: LITERAL or NAME=LITERAL for the exception's constructor, repeatable."
        ),
    ] = None,
    function: Annotated[str | None, typer.Option(help="replace: what to call instead.")] = None,
    changed: Annotated[
        str | None, typer.Option("--input", help="modify, for an agent: the input, as JSON.")
    ] = None,
    field: Annotated[
        list[str] | None, typer.Option(help="Any field of the action: NAME=JSON, repeatable.")
    ] = None,
    by: Annotated[str, typer.Option(help="Who decides.")] = "cli",
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """Decide what happens to a held target. The first decision wins."""
    body: dict[str, object] = {"action": action, "by": by, **_parse_fields(field or [])}
    if value is not None:
        body["fake_result"] = {"literal": value}
    if exception is not None:
        body |= {"exception_type": exception, "exception_message": message}
    if exception_arg:
        body |= _parse_constructor_arguments(exception_arg)
    if function is not None:
        body["function_name"] = function
    if changed is not None:
        body["input"] = _parse_json("--input", changed, '--input \'{"path": "x"}\'')
    if arg:
        body |= _parse_arguments(arg)
    hold_id = _choose_hold(hold_id, url)
    answer = ask(url, "POST", f"/api/holds/{quote(hold_id)}/decision", body)
    print(json.dumps(answer) if as_json else f"{hold_id}: {action}, now {answer['status']}")
    if answer.get("note") and not as_json:
        print_note(answer["note"])


def _parse_json(option: str, text: str, example: str) -> object:
    try:
        return cast(object, json.loads(text))
    except ValueError as problem:
        complain(f"{option} is not JSON: {problem}", f"For instance {example}.")


def _parse_fields(assignments: Iterable[str]) -> dict[str, object]:
    fields: dict[str, object] = {}
    for assignment in assignments:
        name, sign, value = assignment.partition("=")
        example = "--field role='\"user\"'"
        if not sign or not name.isidentifier():
            complain(f"{assignment!r} is not NAME=JSON", f"For instance {example}.")
        fields[name] = _parse_json(f"--field {name}", value, example)
    return fields


def _parse_arguments(assignments: Iterable[str]) -> dict[str, object]:
    """`0=5` is the first argument and `name=5` one by name. The others keep their values."""
    args: dict[int, object] = {}
    kwargs: dict[str, object] = {}
    for assignment in assignments:
        name, sign, literal = assignment.partition("=")
        if not sign or not (name.isdecimal() or name.isidentifier()):
            complain(f"{assignment!r} is no N=LITERAL or NAME=LITERAL", "For instance --arg 0=5.")
        if name.isdecimal():
            args[int(name)] = {"literal": literal}
        else:
            kwargs[name] = {"literal": literal}
    positional = [args.get(place) for place in range(max(args, default=-1) + 1)]
    return {"modified_args": positional, "modified_kwargs": kwargs}


def _parse_constructor_arguments(given: Iterable[str]) -> dict[str, object]:
    """`7` is a positional argument, and `detail='gone'` one by name."""
    args: list[object] = []
    kwargs: dict[str, object] = {}
    for text in given:
        name, sign, literal = text.partition("=")
        if sign and name.isidentifier():
            kwargs[name] = {"literal": literal}
        else:
            args.append({"literal": text})
    return {"exception_args": args, "exception_kwargs": kwargs}
