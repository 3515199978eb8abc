"""`debug_diff`: the first place where two runs differ."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from msgspec import UNSET

from holdfast import errors
from holdfast.core import run_diff
from holdfast.model.launch import Launch, TraceOrder
from holdfast.model.run_recording import Parting, RunDifference, Side
from holdfast.recording.capture_files import ID_PREFIX as CAPTURE_PREFIX
from holdfast.recording.file_ids import LATEST
from holdfast.recording.trace_files import ID_PREFIX
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.tools.programs.run_plan import RunPlan, plan_run
from holdfast.service.tools.tool_client import ToolClient
from holdfast.service.tools.traces.git_worktree import Worktree, open_worktree
from holdfast.service.tools.traces.recorded_run import build_run, record_run
from holdfast.service.traces.recordings import WholeRunRecording
from holdfast.service.traces.shown_values import ShownValues
from holdfast.wire.diff_reports import DiffReport, DiffSide, Divergence
from holdfast.wire.plain_text import clean_line
from holdfast.wire.tool_requests import DebugDiff

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger

_ORDER = TraceOrder(path="", kind="run", roots=(), keep="oldest")
"""The first difference is looked for, so the beginning of a long run counts."""


@dataclass(frozen=True)
class _Run:
    """One of two runs: its recording, and its session if it was made for this."""

    recording: WholeRunRecording
    title: str
    session: ProgramSession | None = None
    again: WholeRunRecording | None = None
    """The same once more: what differs between them says nothing."""
    worktree: Worktree | None = None
    """Where it was run, if that is a worktree. It is gone by now."""


async def compare(debugger: Debugger, client: ToolClient, request: DebugDiff) -> DiffReport:
    """Find where two runs differ first; make those that are not recorded yet."""
    if request.against is not None:
        first, second = await _run_both(debugger, client, request)
    else:
        if request.run_a is None or request.run_b is None:
            raise errors.InvalidInput(
                "give run_a and run_b, or `against` with a target",
                hint="A run is a recording's id, a capture's id, or a command line.",
                field="run_a" if request.run_a is None else "run_b",
            )
        first = await _find_run(debugger, client, request, request.run_a)
        second = await _find_run(debugger, client, request, request.run_b)
    difference = await asyncio.to_thread(_compare, first, second)
    return _build_report(client, request, first, second, difference)


def _compare(first: _Run, second: _Run) -> RunDifference:
    noise: frozenset[tuple[str, int, str]] = frozenset()
    if first.again is not None:
        noise = run_diff.find_noise(first.recording.events, first.again.events)
    return run_diff.compare_runs(first.recording.events, second.recording.events, noise)


# -- the runs --------------------------------------------------------------------------------------


async def _find_run(debugger: Debugger, client: ToolClient, request: DebugDiff, text: str) -> _Run:
    if text == LATEST or text.startswith((ID_PREFIX, CAPTURE_PREFIX)):
        recording = await _open(debugger, text)
        return _Run(recording, recording.run.target or recording.id)
    return await _record(debugger, client, request, text)


async def _open(debugger: Debugger, text: str) -> WholeRunRecording:
    recording = await debugger.traces.open(text)
    if not isinstance(recording, WholeRunRecording):
        raise errors.NotRecorded(
            f"trace {recording.id} follows one function only, and cannot be compared",
            hint="Give a command line: it is run and recorded as a whole.",
        )
    return recording


async def _record(
    debugger: Debugger,
    client: ToolClient,
    request: DebugDiff,
    target: str,
    plan: RunPlan | None = None,
) -> _Run:
    run = build_run(request, target)
    traced = await record_run(debugger, client, run, _ORDER, plan=plan)
    recording = await _open(debugger, traced.trace_id)
    return _Run(recording, recording.run.target, traced.session)


async def _run_both(
    debugger: Debugger, client: ToolClient, request: DebugDiff
) -> tuple[_Run, _Run]:
    """The target as it was at a commit, and as it is."""
    if request.target is None or request.against is None:
        raise errors.InvalidInput("`against` needs a target to run", field="target")
    plan = await plan_run(client, build_run(request, request.target))
    async with open_worktree(plan.cwd, request.against) as worktree:
        old = _move_plan(plan, worktree)
        _check_script(old, request)
        before = await _record(debugger, client, request, request.target, old)
        if before.session is not None and not before.session.over:
            await debugger.programs.delete(before.session)  # its files are about to go
    now = await _record(debugger, client, request, request.target, plan)
    command = " ".join([request.target, *request.args])
    before = replace(before, title=f"{command} at {request.against}", worktree=worktree)
    return before, replace(now, title=f"{command} now")


def _check_script(plan: RunPlan, request: DebugDiff) -> None:
    script = plan.launch.script
    if script is not None and not os.path.exists(os.path.join(plan.cwd, script)):
        raise errors.InvalidInput(
            f"{request.target} was not there at {request.against}",
            hint="Only files that the commit has are in its worktree.",
            field="against",
        )


def _move_plan(plan: RunPlan, worktree: Worktree) -> RunPlan:
    """The same run in another directory."""
    launch = plan.launch
    script = launch.script
    if script is not None and os.path.isabs(script):
        script = worktree.map_path(script)
    moved = replace(
        launch,
        script=script,
        args=tuple(_move_argument(word, worktree) for word in launch.args),
        cwd=worktree.map_path(plan.cwd),
        env=_move_path(launch, worktree),
    )
    return replace(plan, launch=moved, cwd=worktree.map_path(plan.cwd))


def _move_argument(word: str, worktree: Worktree) -> str:
    is_inside = os.path.isabs(word) and os.path.realpath(word).startswith(worktree.top + os.sep)
    return worktree.map_path(word) if is_inside else word


def _move_path(launch: Launch, worktree: Worktree) -> dict[str, str | None]:
    """Its variables. What the project's own directories give to import, comes from there too."""
    given = launch.env.get("PYTHONPATH") or os.environ.get("PYTHONPATH") or ""
    folders = [worktree.map_path(folder) for folder in given.split(os.pathsep) if folder]
    source = os.path.join(worktree.path, "src")
    # A project that is installed for development would be imported from where it is now.
    folders += [worktree.path, *([source] if os.path.isdir(source) else [])]
    return {**launch.env, "PYTHONPATH": os.pathsep.join(folders)}


# -- the answer ------------------------------------------------------------------------------------


def _build_report(
    client: ToolClient, request: DebugDiff, first: _Run, second: _Run, difference: RunDifference
) -> DiffReport:
    values = ShownValues(request.show_secrets)
    sides = _SideBuilder(client, values, first), _SideBuilder(client, values, second)
    partings = [_build_divergence(values, sides, one) for one in difference.partings]
    report = DiffReport(
        status="different" if partings else "same",
        run_a=first.recording.id,
        run_b=second.recording.id,
        titles=[clean_line(first.title), clean_line(second.title)],
        first=partings[0] if partings else UNSET,
        others=partings[1:] or UNSET,
        remarks=list(dict.fromkeys([*difference.remarks, *_list_remarks(first, second)])) or UNSET,
    )
    if second.session is not None:
        report.session_id = second.session.id
    if partings:
        b = second.recording.id
        report.next = (
            f'debug_why(trace="{b}") shows how it came to it; debug_trace takes that, too.'
        )
    return report


def _list_remarks(*runs: _Run) -> list[str]:
    return [f"{run.title} had not ended" for run in runs if run.session and not run.session.over]


def _build_divergence(
    values: ShownValues, sides: tuple[_SideBuilder, _SideBuilder], one: Parting
) -> Divergence:
    return Divergence(
        kind=one.kind,
        stack=[values.show_words(call) for call in one.stack],
        a=UNSET if one.a is None else sides[0].build(one.a),
        b=UNSET if one.b is None else sides[1].build(one.b),
        after=UNSET if one.after is None else values.show_words(one.after),
    )


@dataclass(frozen=True)
class _SideBuilder:
    """Shows what one of the runs did."""

    client: ToolClient
    values: ShownValues
    run: _Run

    def build(self, side: Side) -> DiffSide:
        worktree = self.run.worktree
        file = side.file if worktree is None else worktree.map_back(side.file)
        return DiffSide(
            at=self.client.show_place(file, side.line),
            source=self.values.show_words(side.source),
            did=self.values.show_words(side.did),
            values=self.values.show_all(side.values),
            state=self.values.show_all(side.state) or UNSET,
        )
