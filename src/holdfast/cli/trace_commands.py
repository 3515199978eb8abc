"""`holdfast trace`, `why` and `diff`: what a run did, as typed."""

from __future__ import annotations

import json
import os
import sys
from typing import Annotated, Any, Literal

import typer

from holdfast.cli import exit_codes
from holdfast.cli.completion import (
    complete_directory,
    complete_file,
    complete_place,
    complete_program,
)
from holdfast.cli.program_options import Budget, Module, Python, ShowSecrets
from holdfast.cli.run_input import build_environment, read_input
from holdfast.cli.server_access import AsJson, Url, ask, console, print_table
from holdfast.cli.tool_access import Answer, Tools
from holdfast.cli.typed_program import name_module, split_program
from holdfast.wire.plain_text import clean_line

Program = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="[PROGRAM]...",
        help="A script, a module, file.py::test, or after -- a command: -- pytest -k cart.",
        autocompletion=complete_program,
    ),
]
Recorded = Annotated[
    str | None,
    typer.Option(
        "--trace", metavar="ID", help="Instead of a run: a recording, a capture, or `latest`."
    ),
]
Again = Annotated[
    bool,
    typer.Option("--again", help="Run it once more if that was not recorded. Side effects repeat."),
]
Timeout = Annotated[
    float, typer.Option("--timeout", "-t", min=0, help="Seconds that the run may take.")
]
Directory = Annotated[
    str | None, typer.Option(help="Its working directory.", autocompletion=complete_directory)
]
Environment = Annotated[
    list[str] | None,
    typer.Option(
        "--env",
        "-e",
        metavar="NAME=VALUE",
        help="A variable for it; NAME alone unsets one; repeatable.",
    ),
]
Stdin = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="What it reads: a file, or - for what this command reads.",
        autocompletion=complete_file,
    ),
]


def trace(
    program: Program = None,
    module: Module = None,
    function: Annotated[
        str | None,
        typer.Option(
            "--function",
            "-f",
            metavar="NAME",
            help="module.func or Class.method; a bare name is the script's. Without: a call tree.",
        ),
    ] = None,
    call: Annotated[
        int | None, typer.Option("--call", "-n", min=1, help="Which of its calls. Default: 1.")
    ] = None,
    where: Annotated[
        str | None,
        typer.Option(metavar="EXPR", help="The first call whose arguments satisfy this."),
    ] = None,
    raised: Annotated[
        bool, typer.Option("--raised", help="The first call that ended by an exception.")
    ] = False,
    full: Annotated[bool, typer.Option("--full", help="Fold no loop, leave nothing out.")] = False,
    recorded: Recorded = None,
    go: Annotated[
        Literal["parent", "child", "next", "previous"] | None,
        typer.Option(help="From that call of a recording to another one."),
    ] = None,
    find: Annotated[
        str | None, typer.Option(metavar="VALUE", help="Where a recording has this value.")
    ] = None,
    again: Again = False,
    lists: Annotated[bool, typer.Option("--list", help="List the recordings.")] = False,
    timeout: Timeout = 30,
    budget: Budget = None,
    python: Python = None,
    cwd: Directory = None,
    env: Environment = None,
    stdin: Stdin = None,
    show_secrets: ShowSecrets = False,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """Show one call's whole life: each line with what it changed.

    Its arguments, the calls that it made, its result or exception; loops are folded. Options may
    follow the program; what is the program's own follows --.

    Exit code: 0 if it is shown, 1 if there is no such call.
    """
    if lists:
        _list(url, as_json)
        return
    fields = _build_run(program, module, python, cwd, env, stdin, recorded)
    fields |= {"function": function, "call": call, "where": where, "raised": raised or None}
    fields |= {"full": full or None, "go": go, "find": find, "again": again or None}
    fields |= {"show_secrets": show_secrets}
    tools = Tools(url, budget, is_bounded=not full or budget is not None)
    report = tools.record("debug_trace", timeout, **fields)
    _show("debug_trace", report, as_json)
    if not any(report.get(part) is not None for part in ("steps", "tree", "found")):
        raise typer.Exit(exit_codes.ERROR)


def why(
    variable: Annotated[
        str | None, typer.Argument(metavar="[VAR]", help="total, order.total or rows[2].")
    ] = None,
    program: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PROGRAM]...",
            help="What to run. Default: the file of --at.",
            autocompletion=complete_program,
        ),
    ] = None,
    module: Module = None,
    at: Annotated[
        str | None,
        typer.Option(
            metavar="FILE:LINE",
            help="The value before this line runs.",
            autocompletion=complete_place,
        ),
    ] = None,
    hit: Annotated[
        int, typer.Option(help="Which time the line runs, from 1 on; -1 is the last.")
    ] = 1,
    raised: Annotated[
        bool, typer.Option("--raised", help="Explain the exception that ended the program.")
    ] = False,
    recorded: Recorded = None,
    again: Again = False,
    timeout: Timeout = 30,
    budget: Budget = None,
    python: Python = None,
    cwd: Directory = None,
    env: Environment = None,
    stdin: Stdin = None,
    show_secrets: ShowSecrets = False,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """Ask where a value came from.

    The answer is the write that made it, and what fed that write. It runs the file of --at, or the
    program that is given, once.
    """
    words = list(program or ())
    if raised:
        words = [*([variable] if variable else []), *words]
        variable = None
    elif variable is None or at is None:
        raise typer.BadParameter("give a variable and --at FILE:LINE, or --raised")
    elif not words and module is None and recorded is None:
        words = [os.path.abspath(os.path.expanduser(at.rpartition(":")[0]))]
    fields = _build_run(words, module, python, cwd, env, stdin, recorded)
    fields |= {"variable": variable, "at": at, "hit": hit, "show_secrets": show_secrets}
    fields["again"] = again or None
    _show("debug_why", Tools(url, budget).record("debug_why", timeout, **fields), as_json)


def diff(
    runs: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="RUN_A RUN_B | -- PROGRAM...",
            help="Two runs: recordings, captures, or command lines in quotes. With --against: "
            "the program.",
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(metavar="COMMIT", help="Run the program as it was at this commit, and now."),
    ] = None,
    timeout: Timeout = 30,
    budget: Budget = None,
    python: Python = None,
    cwd: Directory = None,
    env: Environment = None,
    stdin: Stdin = None,
    show_secrets: ShowSecrets = False,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """Find the first place where two runs differ.

    Both states are shown."""
    words = list(runs or ())
    fields: dict[str, Any] = {"env": build_environment(env or []), "python": python}
    fields |= {"stdin": read_input(stdin), "cwd": _find_directory(cwd)}
    fields |= {"show_secrets": show_secrets, "against": against}
    if against is None:
        if len(words) != 2:
            raise typer.BadParameter("give two runs, or --against COMMIT and after -- a program")
        fields |= {"run_a": words[0], "run_b": words[1]}
    else:
        if not words:
            raise typer.BadParameter("give the program to run after --")
        fields["target"], fields["args"] = split_program(words)
    _show("debug_diff", Tools(url, budget).record("debug_diff", timeout, **fields), as_json)


def _build_run(
    program: list[str] | None,
    module: str | None,
    python: str | None,
    cwd: str | None,
    env: list[str] | None,
    stdin: str | None,
    recorded: str | None,
) -> dict[str, Any]:
    """The fields of what is to be run, or of the recording that stands for it."""
    words = list(program or ())
    if module is not None:
        words = name_module(module, words)
    if bool(words) is (recorded is not None):
        raise typer.BadParameter("give a program to run, or --trace and a recording")
    fields: dict[str, Any] = {"python": python, "cwd": _find_directory(cwd)}
    fields |= {"env": build_environment(env or []), "stdin": read_input(stdin)}
    if recorded is not None:  # the others are for --again
        return fields | {"trace": recorded}
    target, args = split_program(words)
    return fields | {"target": target, "args": args}


def _find_directory(cwd: str | None) -> str | None:
    return os.path.abspath(os.path.expanduser(cwd)) if cwd else None


def _show(tool: str, answer: Answer, as_json: bool) -> None:
    try:
        if as_json:
            print(json.dumps(answer))
        else:
            from holdfast.cli.report_view import print_answer

            print_answer(tool, answer)
        sys.stdout.flush()
    except BrokenPipeError:  # as of `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _list(url: str | None, as_json: bool) -> None:
    answer = ask(url, "GET", "/api/traces", without_server={"traces": [], "total": 0})
    if as_json:
        print(json.dumps(answer))
        return
    if not answer["traces"]:
        console.print("no traces; `holdfast trace PROGRAM --function NAME` makes one")
        return
    from rich.table import Column, Table

    table = Table(Column("trace", no_wrap=True), "what", "function", "program", "when", box=None)
    for one in answer["traces"]:
        names = (one["trace_id"], one["recorded"], one.get("function", ""), one["target"])
        table.add_row(*map(clean_line, names), one["time"])
    print_table(table)
