"""`holdfast calls replay` and `calls test`: repeat recorded calls, and write tests of them."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any, cast
from urllib.parse import quote

import typer

import holdfast
from holdfast.cli import pytest_writer
from holdfast.cli.call_commands import Call, CallId, format_arguments
from holdfast.cli.completion import complete_call
from holdfast.cli.server_access import AsJson, NoStart, Url, ask, print_note
from holdfast.client import discovery
from holdfast.client.replay.replay_messages import ProgramRecord, ReplayAnswer

Python = Annotated[str | None, typer.Option(help="Interpreter. Default: the recorded one.")]
Cwd = Annotated[Path | None, typer.Option(help="Directory. Default: the recorded one.")]
Timeout = Annotated[float, typer.Option(min=0.1, help="Seconds that a call may take.")]
EQUAL, DIFFERENT, CANNOT = 0, 1, 2


# `-c` puts the current directory first in the import path, where only the program's own may be.
# An interpreter without Holdfast uses ours, which then comes last.
_BOOT = """
import sys
home = sys.argv[1]
sys.path.remove("")
try:
    import holdfast.client.replay.replay_process as child
except ImportError:
    sys.path.append(home)
    import holdfast.client.replay.replay_process as child
child.main()
"""


def replay(
    call_id: CallId,
    python: Python = None,
    cwd: Cwd = None,
    timeout: Timeout = 60,
    no_start: NoStart = False,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """Make a recorded call again with the current code, and show the differences.

    The exit code is 0 without differences, 1 with some, and 2 when the call cannot be made.
    """
    try:
        call, program = _read_call(url, call_id, python, cwd)
    except typer.Exit:  # the message is printed; 1 would mean a difference
        raise typer.Exit(CANNOT) from None
    answer = _run(url, call, program, timeout)
    shown = {"call_id": call_id, **{key: value for key, value in answer.items() if key in _SHOWN}}
    print(json.dumps(shown) if as_json else _format_answer(call, answer))
    raise typer.Exit({"equal": EQUAL, "different": DIFFERENT}.get(answer["status"], CANNOT))


_SHOWN = ("status", "reason", "function", "expected", "actual", "differences")


def _format_answer(call: Call, answer: ReplayAnswer) -> str:
    name = answer.get("function") or call.get("qualname") or call["method_name"]
    lines = [f"{name}({format_arguments(call)})"]
    if answer["status"] == "cannot":
        return f"{lines[0]}\ncannot be replayed: {answer['reason']}"
    if answer["status"] == "equal":
        return f"{lines[0]}\nthe same as recorded: {answer['actual']}"
    lines.append("different from what was recorded")
    for difference in answer["differences"]:
        path = difference["path"]
        lines.append(f"  {difference['of']}{' ' if path else ''}{path}")
        lines.append(f"    expected  {difference['expected']}")
        lines.append(f"    actual    {difference['actual']}")
    return "\n".join(lines)


def write_test(
    call_ids: Annotated[list[str], typer.Argument(metavar="ID…", autocompletion=complete_call)],
    python: Python = None,
    cwd: Cwd = None,
    timeout: Timeout = 60,
    url: Url = None,
) -> None:
    """Write a pytest file in which each recorded call is a test.

    A call that cannot be repeated becomes a skipped test, with the reason.
    """
    tests = []
    for call_id in call_ids:
        call, program = _read_call(url, call_id, python, cwd)
        tests.append(_test_call(url, call, program, timeout))
    sys.stdout.write(pytest_writer.write(tests))


def _test_call(
    url: str | None, call: Call, program: ProgramRecord, timeout: float
) -> pytest_writer.TestedCall:
    """Replay the call at least twice, in processes of their own, to see if it is repeatable."""
    with ThreadPoolExecutor(2) as pool:
        seeds = [{"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2"}]
        runs = [pool.submit(_run, url, call, program, timeout, test=True, **seed) for seed in seeds]
        first, second = (run.result() for run in runs)
    reason = _find_dependency(first) or _compare_runs(first, second)
    if reason is None and first["clock"] and first["status"] == "equal":
        later = _run(url, call, program, timeout, test=True, shift=True)
        if later["status"] != "equal":
            reason = f"it depends on the clock ({first['clock']})"
    if reason is None and first["status"] == "different":
        if first["code_changed_at"] <= call["completed_at"]:
            reason = "the same code gives something else now: it depends on what is not recorded"
        else:
            print_note(f"{call['call_id']}: the current code does not do what was recorded")
    has_test = reason is None
    return pytest_writer.TestedCall(
        call=call,
        cwd=program["cwd"],
        function=first.get("function"),
        test=first["test"] if has_test else {},
        connects=bool(first.get("connects")),
        skip=reason,
    )


def _find_dependency(answer: ReplayAnswer) -> str | None:
    """Why one replay shows that the call is not repeatable."""
    if answer["status"] == "cannot":
        return answer["reason"]
    if "skip" in answer["test"]:
        return answer["test"]["skip"]
    return f"it depends on chance ({answer['chance']})" if answer["chance"] else None


def _compare_runs(first: ReplayAnswer, second: ReplayAnswer) -> str | None:
    """Why two replays show that the call is not repeatable."""
    if second["status"] == "cannot":
        return second["reason"]
    if (first["status"], first["key"]) == (second["status"], second["key"]):
        return None
    if first["clock"]:
        return f"it depends on the clock ({first['clock']})"
    return "two replays of it end differently"


# -- the process that makes the call -------------------------------------------------------------


def _read_call(
    url: str | None, call_id: str, python: str | None, cwd: Path | None
) -> tuple[Call, ProgramRecord]:
    """The call and the program that made it. What is not recorded is taken from here."""
    call: Call = ask(url, "GET", f"/api/calls/{quote(call_id)}", starts=True)
    sessions: list[ProgramRecord] = ask(url, "GET", "/sessions")["sessions"]
    program: ProgramRecord = {"cwd": os.getcwd(), "python": sys.executable}
    for session in sessions:
        if session["session_id"] == call["session_id"]:
            program.update(session)
    if script := program.get("script"):
        program["script"] = os.path.join(program["cwd"], script)
    if cwd is not None:
        _move(program, str(cwd.resolve()))
    if python is not None:
        program["python"] = python
    return call, program


def _move(program: ProgramRecord, cwd: str) -> None:
    """Use another directory. Files of the recorded directory are taken from it if they exist."""
    before = program["cwd"]

    def move(path: str) -> str:
        is_inside = path == before or path.startswith(before + os.sep)
        moved = cwd + path[len(before) :] if is_inside else path
        return moved if os.path.exists(moved) else path

    program["path"] = [move(path) for path in program.get("path") or []]
    program["script"] = (script := program.get("script")) and move(script)
    program["cwd"] = cwd


def _run(
    url: str | None, call: Call, program: ProgramRecord, timeout: float, **options: Any
) -> ReplayAnswer:
    """Return what the child answers. Options in capitals go into its environment."""
    environment = {name: value for name, value in options.items() if name.isupper()}
    order = {
        "call": call,
        "session": program,
        "url": discovery.server_url(url),
        "token": os.environ.get("HOLDFAST_TOKEN"),
        **{name: value for name, value in options.items() if not name.isupper()},
    }
    home = str(Path(holdfast.__file__).parents[1])
    # The recorded program runs there, and the token is not its own.
    inherited = {name: text for name, text in os.environ.items() if name != "HOLDFAST_TOKEN"}
    try:
        child = subprocess.run(
            [program["python"], "-c", _BOOT, home],
            input=json.dumps(order).encode(),
            stdout=subprocess.PIPE,
            cwd=program["cwd"],
            env={**inherited, "HOLDFAST_CALLS": "off", **environment},
            timeout=timeout,
        )
    except subprocess.TimeoutExpired:
        return _refuse(f"it did not end within {timeout:g} s")
    except OSError as problem:
        place = f"{program['python']} cannot be started in {program['cwd']}"
        return _refuse(f"{place}: {problem.strerror} (--python and --cwd name others)")
    try:
        return cast(ReplayAnswer, json.loads(child.stdout))
    except ValueError:
        return _refuse(f"its process ended with {child.returncode} before the call did")


def _refuse(reason: str) -> ReplayAnswer:
    return {"status": "cannot", "reason": reason}
