"""A recording as a regression test: `holdfast agent test` writes files that call `check_recording`.

The agent runs in a process of its own and gets the recorded answers. Its requests must be the
recorded ones. Nothing that it does there is kept.
"""

from __future__ import annotations

import os
import secrets
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from holdfast.model.agent_events import EventData
from holdfast.recording.directories import AgentsDirectory, SessionDirectory
from holdfast.recording.recording_state import RecordingState, read_events
from holdfast.recording.rerun_outcome import DIVERGED, judge_rerun
from holdfast.recording.tail import Tail
from holdfast.wire import agent_lines

DIRECTORY_VARIABLE = "HOLDFAST_REPLAY_DIRECTORY"
"""Where the session of a replay is recorded, whatever the agent asks for."""

_MAX_CHARS = 2_000
_FORGOTTEN = ("HOLDFAST_AGENT_", "HOLDFAST_REPLAY", "HOLDFAST_FORK", "HOLDFAST_TOKEN")

# The entry is called as a program would call it: with no arguments, a coroutine in a new loop.
_CALL_ENTRY = """
import asyncio, importlib, inspect, os, sys
sys.path.insert(0, os.getcwd())
module, _, path = sys.argv.pop(1).partition(":")
entry = importlib.import_module(module)
for name in path.split("."):
    entry = getattr(entry, name)
result = entry()
if inspect.isawaitable(result):
    async def wait():
        return await result
    asyncio.run(wait())
"""


def check_recording(
    recording: str | os.PathLike[str],
    *,
    command: Sequence[str] = (),
    entry: str | None = None,
    cwd: str | os.PathLike[str] | None = None,
    mode: str = "full",
    timeout: float = 60.0,
) -> None:
    """Run the agent from a recording; AssertionError says where it does something else.

    `command` starts it, or `entry` (`"module:function"`) is called, in `cwd`. In mode `full` the
    answers of models and tools come from the recording; in mode `model` the tools run.
    """
    __tracebackhide__ = True
    home = SessionDirectory(Path(recording).resolve())
    if not home.events.is_file():
        raise AssertionError(
            f"There is no recording at {home.path}. Recordings in the data directory are kept for "
            "a while only: `holdfast agent test ID --copy DIR` puts one beside the test."
        )
    if bool(command) == (entry is not None):
        raise ValueError("an agent is run by `command` or by `entry`, one of them")
    argv = [sys.executable, "-c", _CALL_ENTRY, str(entry)] if entry is not None else list(command)
    with tempfile.TemporaryDirectory(prefix="holdfast-test-") as folder:
        problem = _find_problem(home, argv, cwd, mode, timeout, Path(folder))
    if problem is not None:
        raise AssertionError(problem)


def _find_problem(
    home: SessionDirectory,
    argv: list[str],
    cwd: str | os.PathLike[str] | None,
    mode: str,
    timeout: float,
    folder: Path,
) -> str | None:
    """What the agent does otherwise than recorded; None for nothing."""
    known = {name: text for name, text in os.environ.items() if not name.startswith(_FORGOTTEN)}
    replay = {
        "HOLDFAST_REPLAY": str(home.path),
        "HOLDFAST_REPLAY_MODE": mode,
        "HOLDFAST_REPLAY_RUN": secrets.token_hex(8),
        DIRECTORY_VARIABLE: str(folder),
    }
    try:
        ran = subprocess.run(
            argv,
            cwd=cwd,
            env={**known, **replay},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            timeout=timeout,
        )
    except OSError as problem:
        return f"{argv[0]} cannot be started in {cwd or os.getcwd()}: {problem}"
    except subprocess.TimeoutExpired:
        return f"The agent did not end within {timeout:g} s{_describe_holds(folder)}."
    printed = ran.stdout.decode(errors="replace").strip()
    sessions = AgentsDirectory(folder).list_sessions()
    if not sessions:
        return _join(
            f"The agent ended with {ran.returncode} and started no session: it has to call "
            "`holdfast.bridge.start`.",
            printed,
        )
    outcome = judge_rerun(
        read_events(Tail(sessions[0].events)),
        ran.returncode,
        is_fork=False,
        failed_before=home.read_metadata().get("reason") == "error",
    )
    if outcome.outcome != DIVERGED:
        return None
    lines = [f"The agent does something else than in its recording {home.id}:"]
    lines.append(f"  {outcome.message}")
    lines += _format_sides(outcome.divergence or {})
    text = "\n".join(lines)
    return text if outcome.divergence is not None else _join(text, printed)


def _format_sides(divergence: EventData) -> list[str]:
    """What was recorded and what was asked instead, as far as they are known."""
    sides = [(name, divergence.get(name)) for name in ("expected", "found")]
    return [
        f"  {name:<9} {agent_lines.encode_json(side)[:_MAX_CHARS]}"
        for name, side in sides
        if side is not None
    ]


def _describe_holds(folder: Path) -> str:
    """What the agents that are recorded there wait for, as the rest of a sentence."""
    for session in AgentsDirectory(folder).list_sessions():
        state = RecordingState(keeps_messages=False)
        for event in read_events(Tail(session.events)):
            state.take(event)
        if state.stops:
            held = ", ".join(stop.title for stop in state.stops.values())
            return f": it is held before {held}, and in a test nobody lets it go on"
    return ""


def _join(text: str, printed: str) -> str:
    return f"{text}\nIt printed:\n{printed[-_MAX_CHARS:]}" if printed else text
