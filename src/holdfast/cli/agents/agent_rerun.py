"""Runs an agent again from its recording, and reports what came of it."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypedDict

from holdfast.cli.agents.recording_file import Recording
from holdfast.cli.agents.session_selection import agents_directory
from holdfast.cli.server_access import complain
from holdfast.model.agent_events import MAIN, EventData
from holdfast.recording.directories import AgentsDirectory, SessionDirectory
from holdfast.recording.recording_state import (
    RecordedStop,
    RecordingState,
    lane_of,
    read_events,
)
from holdfast.recording.rerun_outcome import judge_rerun
from holdfast.recording.tail import Tail

if TYPE_CHECKING:
    from typing_extensions import NotRequired  # in `typing` from Python 3.11 on

# What the agent does not inherit: the orders to an earlier one, and what is ours alone.
_OWN_VARIABLES = (
    "HOLDFAST_FORK_AT",
    "HOLDFAST_FORK_LANE",
    "HOLDFAST_FORK_EDITS",
    "HOLDFAST_FORK_EDITS_FILE",
    "HOLDFAST_AGENT_PARENT",
    "HOLDFAST_TOKEN",
)


_POLL_SECONDS = 0.1


class Message(TypedDict):
    role: str
    content: object


class ForkEdits(TypedDict, total=False):
    """What a fork changes."""

    message: Message
    """Added before the first live model call."""
    messages: list[object]
    """All messages of that call, instead of those there are."""
    system: str
    """Its system prompt."""
    hold: bool
    """Whether it is held there."""
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
    edited: bool
    """Whether something was changed where a fork begins."""
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
        return variables

    @property
    def wants_edit(self) -> bool:
        """Whether something is to be changed at the first live model call."""
        return any(name in self.edits for name in ("hold", "messages", "system", "message"))

    def has_forked(self, new: SessionDirectory) -> bool:
        """Whether the new session made a live model call in the lane that is forked."""
        return any(
            event["type"] == "api_request"
            and lane_of(event["data"]) == self.fork_lane
            and not event["data"].get("replayed")
            for event in Recording(new.events, new).events()
        )

    @contextlib.contextmanager
    def give_edits(self) -> Iterator[dict[str, str]]:
        """The variable that tells the agent what to change: in a file, for it may be long."""
        if not self.edits:
            yield {}
            return
        with tempfile.NamedTemporaryFile("w", suffix=".json", encoding="utf-8") as file:
            json.dump(self.edits, file)
            file.flush()
            yield {"HOLDFAST_FORK_EDITS_FILE": file.name}


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
    known = {name: value for name, value in os.environ.items() if name not in _OWN_VARIABLES}
    argv, directory = choose_command(again.home, command)
    with again.give_edits() as edits:
        try:
            process = subprocess.Popen(
                argv,
                cwd=directory,
                env={**known, **again.environment(run_id), **edits},
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
    return _build_report(again, new, code)


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
    if command:
        return command, None
    about = home.read_metadata()
    argv, directory = about.get("argv"), about.get("cwd")
    if not isinstance(argv, list) or not argv:
        complain(f"{home.id} does not say how it was started.", "Name its command after --.")
    if not isinstance(directory, str) or not os.path.isdir(directory):
        complain(
            f"{home.id} ran in {directory}, which is not there any more.",
            f"Name its command after --, {other_way}from the directory it is to run in.",
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
    judged = judge_rerun(
        Recording(new.events, new).events(),
        code,
        is_fork=again.fork_at is not None,
        failed_before=again.home.read_metadata().get("reason") == "error",
    )
    report: RerunReport = {
        "session": again.home.id,
        "newSession": new.id,
        "mode": again.mode,
        "forkAt": again.fork_at,
        "iterations": judged.iterations,
        "exitCode": code,
        "outcome": judged.outcome,
        "message": judged.message,
        "edited": bool(new.read_metadata().get("edited")),
    }
    if judged.divergence is not None:
        report["divergence"] = judged.divergence
    elif again.wants_edit and not again.has_forked(new):
        report["message"] = f"it made no live model call after iteration {again.fork_at}"
        report["edited"] = False
    return report
