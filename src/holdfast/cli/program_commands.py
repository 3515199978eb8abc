"""`holdfast run`, `continue`, `step`, `inspect`, `eval`, `break`, `stop`: the tools, as typed."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Annotated, Any, Literal, NoReturn

import typer

from holdfast.cli import exit_codes
from holdfast.cli.completion import (
    complete_breakpoint,
    complete_capture,
    complete_directory,
    complete_file,
    complete_place,
    complete_program,
    complete_session,
)
from holdfast.cli.program_options import (
    Budget,
    Frame,
    Module,
    Places,
    Python,
    Session,
    ShowSecrets,
    Timeout,
    Until,
)
from holdfast.cli.run_input import build_environment, read_input
from holdfast.cli.server_access import AsJson, NoStart, Url, print_note
from holdfast.cli.tool_access import Answer, Tools
from holdfast.cli.typed_program import name_module, split_program

_MISPLACED = ("--break", "-b", "--collect", "--until", "--max-hits", "--budget-tokens", "--json")

Exceptions = Literal["uncaught", "raised", "none"]
StepKind = Literal["over", "into", "out", "to-line", "return", "pause"]
_PARTS = ("locals", "stack", "source", "output", "threads", "breakpoints")


def run(
    program: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PROGRAM]...",
            help="A script, a module, file.py::test, or after -- a command: -- pytest -k cart.",
            autocompletion=complete_program,
        ),
    ] = None,
    module: Module = None,
    places: Places = None,
    collect: Annotated[
        list[str] | None,
        typer.Option(
            "--collect",
            "-c",
            metavar="EXPR",
            help="Instead of stopping: a table of this expression at each hit; repeatable.",
        ),
    ] = None,
    until: Until = None,
    max_hits: Annotated[
        int | None,
        typer.Option(min=1, help="Stop at this hit; with --collect, after so many rows."),
    ] = None,
    exceptions: Annotated[Exceptions, typer.Option(help="Which exceptions stop it.")] = "uncaught",
    subprocesses: Annotated[
        bool, typer.Option("--subprocesses", help="Debug child processes, too.")
    ] = False,
    timeout: Timeout = 30,
    budget: Budget = None,
    python: Python = None,
    cwd: Annotated[
        str | None,
        typer.Option(help="Its working directory.", autocompletion=complete_directory),
    ] = None,
    env: Annotated[
        list[str] | None,
        typer.Option(
            "--env",
            "-e",
            metavar="NAME=VALUE",
            help="A variable for it; NAME alone unsets one; repeatable.",
        ),
    ] = None,
    stdin: Annotated[
        str | None,
        typer.Option(
            metavar="FILE",
            help="What it reads: a file, or - for what this command reads.",
            autocompletion=complete_file,
        ),
    ] = None,
    show_secrets: ShowSecrets = False,
    no_start: NoStart = False,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """Run a program to its first stop, crash or end.

    One command is one experiment: it answers with where the program stopped, its variables and its
    output. The program stays there until it is continued or stopped.

    Exit code: 0 it ended well, 3 it is paused, 4 it failed, 5 it still runs, 6 it waits for input;
    1 an error of Holdfast, 2 a wrong command line.
    """
    words = list(program or ())
    if module is not None:
        words = name_module(module, words)
    if not words:
        _refuse("give a program: a script, a module, file.py::test, or after -- a command")
    target, args = split_program(words)
    _warn_of_options(args)
    tools = Tools(url, budget)
    fields: dict[str, Any] = {"target": target, "args": args}
    fields |= {"env": build_environment(env or []), "python": python, "stdin": read_input(stdin)}
    fields |= {"cwd": os.path.abspath(os.path.expanduser(cwd)) if cwd else None}
    fields |= {"breakpoints": places, "collect": collect, "until": until, "max_hits": max_hits}
    fields |= {"exceptions": exceptions, "show_secrets": show_secrets}
    fields |= {"subprocesses": subprocesses}
    _finish(tools.run("debug_run", timeout, **fields), as_json)


def _warn_of_options(args: Sequence[str]) -> None:
    """What stands behind a program is the program's, which may not be what was meant."""
    own = [word for word in args if word in _MISPLACED]
    if own:
        print_note(f"{own[0]} goes to the program: options of Holdfast come before it")


def _refuse(message: str) -> NoReturn:
    """End as for any wrong command line."""
    raise typer.BadParameter(message)


def _finish(report: Answer, as_json: bool) -> NoReturn:
    """Show where the program is, also in the exit code."""
    _show("debug_run", report, as_json)
    raise typer.Exit(exit_codes.choose_code(report))


def _show(tool: str, answer: Answer, as_json: bool) -> None:
    try:
        _print(tool, answer, as_json)
        sys.stdout.flush()
    except BrokenPipeError:  # as of `| head`; the exit code says what it would have said
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _print(tool: str, answer: Answer, as_json: bool) -> None:
    if as_json:
        print(json.dumps(answer))
        return
    from holdfast.cli.report_view import print_answer  # with `--json` nothing of it is needed

    print_answer(tool, answer)


def resume(
    session: Session = None,
    until: Until = None,
    text: Annotated[
        str | None,
        typer.Option("--input", "-i", help="A line for a program that waits for input."),
    ] = None,
    timeout: Timeout = 30,
    budget: Budget = None,
    show_secrets: ShowSecrets = False,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """Let it run to its next stop, or wait for it.

    The exit code says where it is, as that of `holdfast run` does.
    """
    tools = Tools(url, budget)
    fields = {"session_id": session, "until": until, "show_secrets": show_secrets}
    report = tools.run("debug_continue", timeout, **fields, input=text)
    _finish(report, as_json)


def step(
    kind: Annotated[
        StepKind,
        typer.Argument(
            help="`to-line` runs to LINE, `return` to the end of the frame, `pause` stops a run."
        ),
    ] = "over",
    line: Annotated[int | None, typer.Argument(min=1, help="For `to-line`.")] = None,
    count: Annotated[int, typer.Option("--count", "-n", min=1, max=1000, help="How many.")] = 1,
    until: Annotated[
        str | None, typer.Option("--until", help="Step until this expression is true.")
    ] = None,
    session: Session = None,
    timeout: Timeout = 30,
    budget: Budget = None,
    show_secrets: ShowSecrets = False,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """Make one step or several.

    The exit code says where the program is, as that of `holdfast run` does.
    """
    if (kind == "to-line") is (line is None):
        _refuse("`step to-line` takes a line, and no other step does")
    tools = Tools(url, budget)
    fields: dict[str, Any] = {"session_id": session, "kind": kind.replace("-", "_"), "line": line}
    fields |= {"count": count, "until": until, "show_secrets": show_secrets}
    _finish(tools.run("debug_step", timeout, **fields), as_json)


def _check_parts(parts: list[str] | None) -> list[str] | None:
    unknown = [part for part in parts or () if part not in _PARTS]
    if unknown:
        raise typer.BadParameter(f"there is no part {unknown[0]!r}: there are {', '.join(_PARTS)}")
    return parts


def inspect(
    expressions: Annotated[
        list[str] | None, typer.Argument(metavar="EXPR", help="Expressions to evaluate there.")
    ] = None,
    frame: Frame = 0,
    expand: Annotated[
        str | None, typer.Option("--expand", "-x", help="A value to unfold: q.child, rows[3].")
    ] = None,
    show: Annotated[
        list[str] | None,
        typer.Option(
            metavar="PART",
            help=f"Only this part: {', '.join(_PARTS)}; repeatable.",
            autocompletion=lambda: list(_PARTS),
            callback=_check_parts,
        ),
    ] = None,
    start: Annotated[int, typer.Option(min=0, help="From which item, frame or line on.")] = 0,
    capture: Annotated[
        str | None,
        typer.Option(
            help="Instead of a session: a failing test's capture.",
            autocompletion=complete_capture,
        ),
    ] = None,
    session: Session = None,
    budget: Budget = None,
    show_secrets: ShowSecrets = False,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """Look at a stop: variables, frames, expressions."""
    tools = Tools(url, budget)
    fields: dict[str, Any] = {"session_id": session, "frame": frame, "expand": expand}
    fields |= {"expressions": expressions, "show": show, "start": start, "capture": capture}
    report = tools.call("debug_inspect", **fields, show_secrets=show_secrets)
    _show("debug_inspect", report, as_json)


def evaluate(
    expression: Annotated[str, typer.Argument(help="An expression, or a statement.")],
    frame: Frame = 0,
    session: Session = None,
    timeout: Annotated[
        float, typer.Option("--timeout", "-t", min=0, max=50, help="Seconds that it may take.")
    ] = 10,
    budget: Budget = None,
    show_secrets: ShowSecrets = False,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """Evaluate Python where the program stands.

    Exit code: 1 if it raised or could not be evaluated.
    """
    tools = Tools(url, budget)
    fields: dict[str, Any] = {"expression": expression, "frame": frame, "session_id": session}
    fields |= {"timeout": timeout, "show_secrets": show_secrets}
    report = tools.call("debug_evaluate", **fields)
    _show("debug_evaluate", report, as_json)
    if "error" in report:
        raise typer.Exit(exit_codes.ERROR)


def set_breakpoints(
    places: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="PLACE",
            help="file:line or module.function, perhaps with ' if CONDITION'.",
            autocompletion=complete_place,
        ),
    ] = None,
    watch: Annotated[
        list[str] | None,
        typer.Option("--watch", "-w", help="Stop where this is written: cart.total; repeatable."),
    ] = None,
    remove: Annotated[
        list[str] | None,
        typer.Option(
            "--remove",
            "-r",
            help="An id or a place, or `all`; repeatable.",
            autocompletion=complete_breakpoint,
        ),
    ] = None,
    exceptions: Annotated[Exceptions | None, typer.Option(help="Which exceptions stop it.")] = None,
    session: Session = None,
    budget: Budget = None,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """List, set and remove breakpoints.

    Of a session that lives. `holdfast run --break` sets them before the program begins.
    """
    tools = Tools(url, budget)
    fields: dict[str, Any] = {"session_id": session, "add": places, "watch": watch}
    fields |= {"remove": remove, "exceptions": exceptions}
    _show("debug_set_breakpoints", tools.call("debug_set_breakpoints", **fields), as_json)


def stop(
    session: Annotated[
        str | None,
        typer.Argument(
            help="Its id, the beginning of it, its name, or `all`. Default: the latest.",
            autocompletion=complete_session,
        ),
    ] = None,
    chosen: Session = None,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """End a session and its program."""
    if session and chosen:
        _refuse("name the session once")
    _show("debug_stop", Tools(url).call("debug_stop", session_id=session or chosen), as_json)
