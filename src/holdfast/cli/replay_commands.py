"""`holdfast calls replay` and `holdfast calls test`: from a recorded call to a proof."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

import typer

import holdfast
from holdfast.cli import pytest_writer
from holdfast.cli.server_access import AsJson, Url, ask, complaints
from holdfast.client import discovery

Json = dict[str, Any]
Python = Annotated[str | None, typer.Option(help="The interpreter; else the recorded one.")]
Cwd = Annotated[Path | None, typer.Option(help="The directory; else the recorded one.")]
Timeout = Annotated[float, typer.Option(min=0.1, help="Seconds that a call may take.")]
EQUAL, DIFFERENT, CANNOT = 0, 1, 2

# `-c` puts the current directory first, which only the recorded program may do. If its interpreter
# has no Holdfast, ours is used, after everything that it has.
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
    call_id: str,
    python: Python = None,
    cwd: Cwd = None,
    timeout: Timeout = 60,
    as_json: AsJson = False,
    url: Url = None,
) -> None:
    """Make a recorded call again with the current code, and show what is different.

    Ends with 0 when nothing is, 1 when something is, and 2 when the call cannot be made.
    """
    try:
        call, session = recorded(url, call_id, python, cwd)
    except typer.Exit:  # it was said why, and 1 would mean a difference
        raise typer.Exit(CANNOT) from None
    found = run(url, call, session, timeout)
    found = {"call_id": call_id, **{key: each for key, each in found.items() if key in _SHOWN}}
    print(json.dumps(found) if as_json else _text(call, found))
    raise typer.Exit({"equal": EQUAL, "different": DIFFERENT}.get(found["status"], CANNOT))


_SHOWN = ("status", "reason", "function", "expected", "actual", "differences")


def _text(call: Json, found: Json) -> str:
    name = found.get("function") or call.get("qualname") or call["method_name"]
    said = [each["text"] for each in call["args"]]
    said += [f"{key}={each['text']}" for key, each in call["kwargs"].items()]
    lines = [f"{name}({', '.join(said)})"]
    if found["status"] == "cannot":
        return f"{lines[0]}\ncannot be replayed: {found['reason']}"
    if found["status"] == "equal":
        return f"{lines[0]}\nthe same as recorded: {found['actual']}"
    lines.append("different from what was recorded")
    for each in found["differences"]:
        lines.append(f"  {each['of']}{' ' if each['path'] else ''}{each['path']}")
        lines.append(f"    expected  {each['expected']}")
        lines.append(f"    actual    {each['actual']}")
    return "\n".join(lines)


def write_test(
    call_ids: Annotated[list[str], typer.Argument(metavar="ID…")],
    python: Python = None,
    cwd: Cwd = None,
    timeout: Timeout = 60,
    url: Url = None,
) -> None:
    """Write a pytest file in which each recorded call is a test.

    A call that cannot be repeated becomes a test that is skipped, with the reason.
    """
    tests = []
    for call_id in call_ids:
        call, session = recorded(url, call_id, python, cwd)
        tests.append(tested(url, call, session, timeout))
    sys.stdout.write(pytest_writer.text_of(tests))


def tested(url: str | None, call: Json, session: Json, timeout: float) -> pytest_writer.Recorded:
    """Replay the call in processes of their own, twice or more, to see whether it is repeatable."""
    with ThreadPoolExecutor(2) as both:
        seeds = [{"PYTHONHASHSEED": "1"}, {"PYTHONHASHSEED": "2"}]
        work = [both.submit(run, url, call, session, timeout, test=True, **seed) for seed in seeds]
        first, second = (each.result() for each in work)
    reason = _unrepeatable(first) or _unstable(first, second)
    if reason is None and first["clock"] and first["status"] == "equal":
        later = run(url, call, session, timeout, test=True, shift=True)
        if later["status"] != "equal":
            reason = f"it depends on the clock ({first['clock']})"
    if reason is None and first["status"] == "different":
        if first["code_changed_at"] <= call["completed_at"]:
            reason = "the same code gives something else now: it depends on what is not recorded"
        else:
            _note(f"{call['call_id']}: the current code does not do what was recorded")
    return pytest_writer.Recorded(call, session, first, reason)


def _unrepeatable(found: Json) -> str | None:
    if found["status"] == "cannot":
        return str(found["reason"])
    if "skip" in found["test"]:
        return str(found["test"]["skip"])
    return f"it depends on chance ({found['chance']})" if found["chance"] else None


def _unstable(first: Json, second: Json) -> str | None:
    if second["status"] == "cannot":
        return str(second["reason"])
    if (first["status"], first["key"]) == (second["status"], second["key"]):
        return None
    if first["clock"]:
        return f"it depends on the clock ({first['clock']})"
    return "two replays of it end differently"


def _note(text: str) -> None:
    complaints.print(text, markup=False, highlight=False, soft_wrap=True)


# -- the process in which it happens -------------------------------------------------------------


def recorded(
    url: str | None, call_id: str, python: str | None, cwd: Path | None
) -> tuple[Json, Json]:
    """The call, and the program that made it; what is not known of that is as it is here."""
    call: Json = ask(url, "GET", f"/api/calls/{quote(call_id)}")
    found = ask(url, "GET", "/sessions")["sessions"]
    session: Json = next((s for s in found if s["session_id"] == call["session_id"]), {})
    session = {"cwd": os.getcwd(), "python": sys.executable, **session}
    if session.get("script"):
        session["script"] = os.path.join(session["cwd"], session["script"])
    if cwd is not None:
        session = _moved(session, str(cwd.resolve()))
    if python is not None:
        session["python"] = python
    return call, session


def _moved(session: Json, cwd: str) -> Json:
    """The program in another directory: what was in the recorded one is looked for in that."""
    before = session["cwd"]

    def moved(path: str) -> str:
        inside = path == before or path.startswith(before + os.sep)
        there = cwd + path[len(before) :] if inside else path
        return there if os.path.exists(there) else path

    path = [moved(each) for each in session.get("path") or []]
    script = session.get("script")
    return {**session, "cwd": cwd, "path": path, "script": script and moved(script)}


def run(url: str | None, call: Json, session: Json, timeout: float, **options: Any) -> Json:
    """What the child answers. Its words in capitals go into its environment."""
    environment = {name: each for name, each in options.items() if name.isupper()}
    order = {
        "call": call,
        "session": session,
        "url": discovery.server_url(url),
        **{name: each for name, each in options.items() if not name.isupper()},
    }
    home = str(Path(holdfast.__file__).parents[1])
    try:
        ran = subprocess.run(
            [session["python"], "-c", _BOOT, home],
            input=json.dumps(order).encode(),
            stdout=subprocess.PIPE,
            cwd=session["cwd"],
            env={**os.environ, "HOLDFAST_CALLS": "off", **environment},
            timeout=timeout,
        )
    except subprocess.TimeoutExpired:
        return _cannot(f"it did not end within {timeout:g} s")
    except OSError as problem:
        where = f"{session['python']} cannot be started in {session['cwd']}"
        return _cannot(f"{where}: {problem.strerror} (--python and --cwd name others)")
    try:
        found: Json = json.loads(ran.stdout)
    except ValueError:
        return _cannot(f"its process ended with {ran.returncode} before the call did")
    return found


def _cannot(reason: str) -> Json:
    return {"status": "cannot", "reason": reason}
