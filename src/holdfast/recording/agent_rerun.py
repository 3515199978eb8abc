"""An agent that is to run again from its recording: its command, what it is told, what came of it.

Whoever starts its process tells it by variables of its environment what to play, and finds the new
session by an id among them. The command line and the server both do.
"""

from __future__ import annotations

import contextlib
import json
import os
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

from holdfast.model.agent_events import MAIN, EventData
from holdfast.recording.directories import AgentsDirectory, SessionDirectory
from holdfast.recording.recorded_calls import RecordedCalls
from holdfast.recording.recording_state import lane_of, read_events
from holdfast.recording.rerun_outcome import judge_rerun
from holdfast.recording.tail import Tail

if TYPE_CHECKING:
    from typing_extensions import NotRequired  # in `typing` from Python 3.11 on

FULL, MODEL = "full", "model"
REDACTED = "[redacted]"
"""Stands in a recording where a secret was."""
# What the agent does not inherit: the orders to an earlier one, and what is ours alone.
_OWN_VARIABLES = (
    "HOLDFAST_FORK_AT",
    "HOLDFAST_FORK_LANE",
    "HOLDFAST_FORK_EDITS",
    "HOLDFAST_FORK_EDITS_FILE",
    "HOLDFAST_AGENT_PARENT",
    "HOLDFAST_TOKEN",
)
_EDITS_SUFFIX = ".edits.json"


class CannotRerun(ValueError):
    """Why an agent cannot run again as it was wanted, and what to do about it."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.message, self.hint = message, hint


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

    def build_environment(self, run: str, known: Mapping[str, str]) -> dict[str, str]:
        """The variables of its process; `known` are those that it inherits."""
        # By its path: the agent may keep its sessions in a directory of its own.
        variables = {
            **{name: value for name, value in known.items() if name not in _OWN_VARIABLES},
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
            for event in read_events(Tail(new.events))
        )

    @contextlib.contextmanager
    def give_edits(self, folder: Path | None = None) -> Iterator[dict[str, str]]:
        """The variable that tells the agent what to change: in a file, for it may be long.

        The agent reads it when its session begins. The file is in this folder, or else where
        temporary files are; nobody else can read it.
        """
        if not self.edits:
            yield {}
            return
        if folder is not None:
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(
            "w", suffix=_EDITS_SUFFIX, dir=folder, encoding="utf-8"
        ) as file:
            json.dump(self.edits, file)
            file.flush()
            yield {"HOLDFAST_FORK_EDITS_FILE": file.name}

    def find_session(self, run: str, roots: Iterable[Path]) -> SessionDirectory | None:
        """The session of the agent that was started as this run, in one of these directories."""
        for root in dict.fromkeys(roots):
            for home in reversed(AgentsDirectory(root).list_sessions()):
                if self.is_session(run, home.read_metadata()):
                    return home
        return None

    def is_session(self, run: str, about: Mapping[str, Any]) -> bool:
        """Whether it is this run's. Agents that its tools start have the id, but play nothing."""
        return about.get("replayRun") == run and about.get("replayOf") == self.home.id

    def build_report(self, new: SessionDirectory, code: int) -> RerunReport:
        """What came of it. `code` is the exit code of its process."""
        judged = judge_rerun(
            read_events(Tail(new.events)),
            code,
            is_fork=self.fork_at is not None,
            failed_before=self.home.read_metadata().get("reason") == "error",
        )
        report: RerunReport = {
            "session": self.home.id,
            "newSession": new.id,
            "mode": self.mode,
            "forkAt": self.fork_at,
            "iterations": judged.iterations,
            "exitCode": code,
            "outcome": judged.outcome,
            "message": judged.message,
            "edited": bool(new.read_metadata().get("edited")),
        }
        if judged.divergence is not None:
            report["divergence"] = judged.divergence
        elif self.wants_edit and not self.has_forked(new):
            report["message"] = f"it made no live model call after iteration {self.fork_at}"
            report["edited"] = False
        return report


def remove_left_edits(folder: Path) -> None:
    """The files of a server that was killed: they hold whole conversations."""
    for path in folder.glob(f"*{_EDITS_SUFFIX}"):
        with contextlib.suppress(OSError):
            path.unlink()


# -- its command ----------------------------------------------------------------------------------


def choose_command(
    home: SessionDirectory, command: list[str], how: str = "Name its command after --"
) -> tuple[list[str], str | None]:
    """The words that start the agent, and the directory to do it in; None is the working one.

    `how` says how a command is given.
    """
    if command:
        return command, None
    about = home.read_metadata()
    argv, directory = about.get("argv"), about.get("cwd")
    if not isinstance(argv, list) or not argv:
        raise CannotRerun(f"{home.id} does not say how it was started.", f"{how}.")
    if any(REDACTED in str(word) for word in argv):
        raise CannotRerun(
            f"{home.id} was started with a secret, which is not in its recording.", f"{how}."
        )
    if not isinstance(directory, str) or not os.path.isdir(directory):
        raise CannotRerun(
            f"{home.id} ran in {directory}, which is not there any more.",
            f"{how}, from the directory it is to run in.",
        )
    return [str(word) for word in argv], directory


# -- checks of a fork -----------------------------------------------------------------------------


def check_fork_place(calls: RecordedCalls, name: str = "--at") -> None:
    """Raise if there is no such place. `name` is that of the field which says so."""
    lane, at, home = calls.fork_lane, calls.fork_at or 0, calls.home
    if lane not in calls.lanes:
        raise CannotRerun(f"{home.id} has no lane {lane}.", f"It has {', '.join(calls.lanes)}.")
    if at > calls.iterations:
        where = "" if lane == MAIN else f" in lane {lane}"
        raise CannotRerun(
            f"{home.id} has {calls.iterations} iterations{where}, so it cannot be forked at {at}.",
            f"{name} is from 0 (all live) to {calls.iterations} (all of it, then live).",
        )


def check_fork_edits(calls: RecordedCalls, edits: ForkEdits, name: str = "--result") -> None:
    """Raise if there is nothing that the edits could change. `name` is the field of results."""
    if set(edits) - {"results"} and not calls.has_models:
        raise CannotRerun(
            f"{calls.home.id} has no model calls that Holdfast sees, so its conversation cannot be "
            "edited.",
            f"Its tools can be: {name} TOOL_ID=JSON.",
        )
    tools = calls.list_last_tools()
    for tool_id in edits.get("results", {}):
        if tool_id not in tools:
            names = ", ".join(f"{known} ({tool})" for known, tool in tools.items())
            raise CannotRerun(
                f"Iteration {calls.fork_at} has no tool call {tool_id}.",
                f"It has {names}." if names else "It has none at all.",
            )


def find_messages_problem(messages: Any) -> str | None:
    """What is wrong with messages; None if they can be sent."""
    if not isinstance(messages, list) or not all(isinstance(each, dict) for each in messages):
        return 'it is a list of messages: [{"role": "user", "content": "…"}, …]'
    return "there is no message in it" if not messages else None


def list_fork_warnings(calls: RecordedCalls, mode: str) -> list[str]:
    """What a fork does that may surprise: about side effects, and tools that run again."""
    warnings = []
    if tools := calls.list_side_effects():
        what = "is not done again" if mode == FULL else "is done once more"
        warnings.append(f"this forks past side effects: what {', '.join(tools)} did {what}.")
    if mode == FULL and (tools := calls.open_tools):
        warnings.append(f"the fork begins inside {', '.join(tools)}, which runs again up to there.")
    return warnings
