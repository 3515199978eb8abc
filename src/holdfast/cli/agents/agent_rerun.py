"""Runs an agent again from its recording, and reports what came of it."""

from __future__ import annotations

import json
import os
import secrets
import signal
import subprocess
import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypedDict

from holdfast.cli.agents.recording_file import Recording
from holdfast.cli.agents.session_selection import agents_directory
from holdfast.cli.server_access import complain
from holdfast.model.agent_events import MAIN, EventData
from holdfast.recording.directories import AgentsDirectory, SessionDirectory

if TYPE_CHECKING:
    from typing_extensions import NotRequired  # in `typing` from Python 3.11 on

# What the agent does not inherit: the orders to an earlier one, and what is ours alone.
_OWN_VARIABLES = (
    "HOLDFAST_FORK_AT",
    "HOLDFAST_FORK_LANE",
    "HOLDFAST_FORK_EDITS",
    "HOLDFAST_AGENT_PARENT",
    "HOLDFAST_TOKEN",
)


class Message(TypedDict):
    role: str
    content: object


class ForkEdits(TypedDict, total=False):
    """What a fork changes."""

    message: Message
    """Added before the first live model call."""
    results: dict[str, object]
    """Given instead of the recorded ones, by tool id."""


class RerunReport(TypedDict):
    """What came of it, as `--json` prints it."""

    session: str
    newSession: str
    mode: str
    forkAt: int | None
    iterations: int
    exitCode: int
    outcome: str
    """`same`, `forked`, `incomplete` or `diverged`."""
    message: str | None
    divergence: NotRequired[EventData]


@dataclass(frozen=True)
class Rerun:
    """What to play, and how."""

    home: SessionDirectory
    mode: str
    fork_at: int | None = None
    fork_lane: str = MAIN
    edits: ForkEdits = field(default_factory=lambda: ForkEdits())

    def environment(self, run: str) -> dict[str, str]:
        # By its path: the agent may keep its sessions in a directory of its own.
        variables = {
            "HOLDFAST_REPLAY": str(self.home.path),
            "HOLDFAST_REPLAY_MODE": self.mode,
            "HOLDFAST_REPLAY_RUN": run,
        }
        if self.fork_at is not None:
            variables["HOLDFAST_FORK_AT"] = str(self.fork_at)
            variables["HOLDFAST_FORK_LANE"] = self.fork_lane
        if self.edits:
            variables["HOLDFAST_FORK_EDITS"] = json.dumps(self.edits)
        return variables


def run_again(again: Rerun, command: list[str], as_json: bool) -> RerunReport:
    """Run it to its end, its output where ours goes, and report."""
    run_id = secrets.token_hex(8)
    known = {name: value for name, value in os.environ.items() if name not in _OWN_VARIABLES}
    argv, directory = _choose_command(again.home, command)
    try:
        process = subprocess.Popen(
            argv,
            cwd=directory,
            env={**known, **again.environment(run_id)},
            # What we print ourselves is one document then.
            stdout=sys.stderr if as_json else None,
        )
    except OSError as problem:
        complain(f"{argv[0]} cannot be started: {problem}", "Name the agent's command after --.")
    code = _wait(process)
    new = _find_session(again, run_id)
    if new is None:
        complain(
            f"{' '.join(argv)[:200]} ended with {code} and started no session.",
            "The agent has to call `holdfast.bridge.start`.",
        )
    return _build_report(again, new, code)


def _choose_command(home: SessionDirectory, command: list[str]) -> tuple[list[str], str | None]:
    if command:
        return command, None
    about = home.read_metadata()
    argv, directory = about.get("argv"), about.get("cwd")
    if not isinstance(argv, list) or not argv:
        complain(f"{home.id} does not say how it was started.", "Name its command after --.")
    if not isinstance(directory, str) or not os.path.isdir(directory):
        complain(
            f"{home.id} ran in {directory}, which is not there any more.",
            "Name its command after --, from the directory it is to run in.",
        )
    return [str(word) for word in argv], directory


def _wait(process: subprocess.Popen[bytes]) -> int:
    """Ctrl+C is for the agent, which gets it as well: the report says how it ended."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        return process.wait()
    finally:
        signal.signal(signal.SIGINT, before)


def _find_session(again: Rerun, run_id: str) -> SessionDirectory | None:
    for root in dict.fromkeys((again.home.agents.root, agents_directory().root)):
        for home in reversed(AgentsDirectory(root).list_sessions()):
            if home.read_metadata().get("replayRun") == run_id:
                return home
    return None


def _build_report(again: Rerun, new: SessionDirectory, code: int) -> RerunReport:
    diverged: EventData | None = None
    iterations, last = 0, ""
    for event in Recording(new.events, new).events():
        last = event["type"]
        if last == "replay_diverged":
            diverged = diverged or event["data"]
        iterations += last == "api_request"
    report: RerunReport = {
        "session": again.home.id,
        "newSession": new.id,
        "mode": again.mode,
        "forkAt": again.fork_at,
        "iterations": iterations,
        "exitCode": code,
        "outcome": "same" if again.fork_at is None else "forked",
        "message": None,
    }
    if diverged is not None:
        is_over = diverged.get("recordingEnded") and again.fork_at is None
        report["outcome"] = "incomplete" if is_over else "diverged"
        report["message"], report["divergence"] = diverged.get("message"), diverged
    elif last != "session_end" and again.fork_at is None:
        report["outcome"] = "diverged"
        report["message"] = f"the agent did not end in order (exit code {code})"
    elif code and again.fork_at is None and again.home.read_metadata().get("reason") != "error":
        report["outcome"] = "diverged"
        report["message"] = f"it asked for the same, and then failed (exit code {code})"
    return report
