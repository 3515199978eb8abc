"""Runs an agent again from its recording, its output where ours goes."""

from __future__ import annotations

import os
import secrets
import signal
import subprocess
import sys
import time
from collections.abc import Callable

from holdfast.cli.agents.session_selection import agents_directory
from holdfast.cli.server_access import complain
from holdfast.recording import agent_rerun
from holdfast.recording.agent_rerun import CannotRerun, Rerun, RerunReport
from holdfast.recording.directories import SessionDirectory
from holdfast.recording.recording_state import RecordedStop, RecordingState, read_events
from holdfast.recording.tail import Tail

_POLL_SECONDS = 0.1


def run_again(
    again: Rerun,
    command: list[str],
    as_json: bool,
    when_held: Callable[[SessionDirectory, RecordedStop], None] | None = None,
) -> RerunReport:
    """Run it to its end, its output where ours goes, and report.

    `when_held` is called once, when a fork is held where it begins.
    """
    run_id = secrets.token_hex(8)
    argv, directory = choose_command(again.home, command)
    with again.give_edits() as edits:
        try:
            process = subprocess.Popen(
                argv,
                cwd=directory,
                env={**again.build_environment(run_id, os.environ), **edits},
                # What we print ourselves is one document then.
                stdout=sys.stderr if as_json else None,
            )
        except OSError as problem:
            complain(
                f"{argv[0]} cannot be started: {problem}", "Name the agent's command after --."
            )
        if when_held is not None:
            _wait_for_fork(again, run_id, process, when_held)
        code = _wait(process)
    new = _find_session(again, run_id)
    if new is None:
        complain(
            f"{' '.join(argv)[:200]} ended with {code} and started no session.",
            "The agent has to call `holdfast.bridge.start`.",
        )
    return again.build_report(new, code)


def _wait_for_fork(
    again: Rerun,
    run_id: str,
    process: subprocess.Popen[bytes],
    when_held: Callable[[SessionDirectory, RecordedStop], None],
) -> None:
    """Wait until the fork is held where it begins, or its agent has ended."""
    home: SessionDirectory | None = None
    tail: Tail | None = None
    state = RecordingState(keeps_messages=False)
    while process.poll() is None:
        home = home or _find_session(again, run_id)
        if home is not None:
            tail = tail or Tail(home.events)
            for event in read_events(tail):
                state.take(event)
            stop = next((s for s in state.stops.values() if s.data.get("reason") == "fork"), None)
            if stop is not None:
                when_held(home, stop)
                return
        time.sleep(_POLL_SECONDS)


def choose_command(
    home: SessionDirectory, command: list[str], other_way: str = ""
) -> tuple[list[str], str | None]:
    """The words that start the agent, and the directory to do it in; None is the working one."""
    try:
        return agent_rerun.choose_command(home, command, f"Name its command after --{other_way}")
    except CannotRerun as problem:
        complain(problem.message, problem.hint)


def _wait(process: subprocess.Popen[bytes]) -> int:
    """Ctrl+C is for the agent, which gets it as well: the report says how it ended."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return process.wait()
    finally:
        signal.signal(signal.SIGINT, before)


def _find_session(again: Rerun, run_id: str) -> SessionDirectory | None:
    return again.find_session(run_id, (again.home.agents.root, agents_directory().root))
