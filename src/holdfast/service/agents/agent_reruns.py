"""Runs agents again from their recordings: replays and forks, whose processes the server owns."""

from __future__ import annotations

import asyncio
import contextlib
import errno
import json
import logging
import os
import secrets
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from holdfast import errors, timings
from holdfast.model.agent_events import MAIN
from holdfast.recording.agent_rerun import (
    CannotRerun,
    ForkEdits,
    Message,
    Rerun,
    check_fork_edits,
    check_fork_place,
    choose_command,
    find_messages_problem,
    list_fork_warnings,
    remove_left_edits,
)
from holdfast.recording.directories import SessionDirectory
from holdfast.recording.recorded_calls import RecordedCalls
from holdfast.service.agents.agent_process import OwnedAgent
from holdfast.service.programs.program_service import Programs
from holdfast.wire.agent_answers import AgentRerunAnswer
from holdfast.wire.session_requests import AgentFork, AgentReplay

if TYPE_CHECKING:
    from holdfast.service.agents.agent_session import AgentSession

log = logging.getLogger(__name__)

_MAX_RUNNING = 32
_MAX_ENDED = 100
"""Of so many that have ended, the end of their output is kept."""
_HOW = "Send `command`, the words that start it, and `cwd`"


@dataclass(eq=False)
class _StartedRun:
    """A run whose process was started. Its session is found by the id."""

    id: str
    rerun: Rerun
    agent: OwnedAgent
    edits: contextlib.ExitStack
    """The file with what it changes: the agent has read it when its session begins."""
    found: asyncio.Event = field(default_factory=asyncio.Event)
    watcher: asyncio.Task[None] | None = None
    session_id: str | None = None


class AgentReruns:
    def __init__(
        self, programs: Programs, root: Path, data_dir: Path, search: Callable[[], Awaitable[None]]
    ) -> None:
        self._programs = programs
        self._root = root
        self._data_dir = data_dir
        self._edits_folder = data_dir / "reruns"
        self._search = search
        """Looks for new sessions now."""
        self._runs: list[_StartedRun] = []
        self._starting = 0
        """How many are about to be in that list."""
        self._is_closed = False

    def remove_left_edits(self) -> None:
        """Those of a server that was killed."""
        remove_left_edits(self._edits_folder)

    # -- operations -------------------------------------------------------------------------

    async def replay(self, parent: AgentSession, request: AgentReplay) -> AgentRerunAnswer:
        """Run the agent again; what comes from the recording is not called."""
        return await self._start(parent, Rerun(parent.home, request.mode), request, [])

    async def fork(self, parent: AgentSession, request: AgentFork) -> AgentRerunAnswer:
        """Take some iterations from the recording, then go on live, perhaps changed."""
        lane, edits = request.lane or MAIN, _build_edits(request)
        warnings = await asyncio.to_thread(_check_fork, parent.home, request, lane, edits)
        rerun = Rerun(parent.home, request.mode, request.at, lane, edits)
        return await self._start(parent, rerun, request, warnings)

    async def _start(
        self, parent: AgentSession, rerun: Rerun, request: AgentReplay, warnings: list[str]
    ) -> AgentRerunAnswer:
        with self._reserve_place():
            command, cwd = await asyncio.to_thread(_choose_command, parent.home, request)
            run = await self._start_run(rerun, command, cwd, request)
        await self._wait_for_session(run, request.wait)
        if run.session_id is None and not run.agent.is_running:
            raise await self._explain_end(run, command)
        return AgentRerunAnswer(
            status="starting" if run.session_id is None else "started",
            parent=parent.id,
            run=run.id,
            pid=run.agent.process.pid,
            session_id=run.session_id,
            warnings=warnings if run.session_id is not None else [*warnings, self._warn_of_end()],
        )

    def _warn_of_end(self) -> str:
        seconds = timings.TIMINGS.rerun_begins
        return f"its session has not begun: if it does not within {seconds:g} s, it is ended."

    @contextlib.contextmanager
    def _reserve_place(self) -> Iterator[None]:
        """Keep a place among those that run, until the run has taken it."""
        if self._is_closed:
            raise errors.WrongState("the server stops", state="stopping", possible=[])
        running = [run for run in self._runs if run.agent.is_running]
        if len(running) + self._starting >= _MAX_RUNNING:
            nameless = sum(run.session_id is None for run in running) + self._starting
            seconds = timings.TIMINGS.rerun_begins
            raise errors.WrongState(
                f"{_MAX_RUNNING} agents that this server started run already; {nameless} of them "
                "have not begun their sessions",
                hint="Delete the sessions of some: that ends them. One that does not begin its "
                f"session is ended {seconds:g} s after the request waited for it.",
                state="full",
                possible=["delete"],
                running=len(running) + self._starting,
                without_session=nameless,
            )
        self._starting += 1
        try:
            yield
        finally:
            self._starting -= 1

    async def _start_run(
        self, rerun: Rerun, command: list[str], cwd: str | None, request: AgentReplay
    ) -> _StartedRun:
        run_id = secrets.token_hex(8)
        with contextlib.ExitStack() as stack:
            edits = await self._give_edits(rerun, stack)
            known = {"HOLDFAST_HOME": str(self._data_dir), **os.environ, **request.env}
            variables = {
                **rerun.build_environment(run_id, known),
                **edits,
                # Where this server finds it, whatever its own directory is.
                "HOLDFAST_REPLAY_DIRECTORY": str(self._root),
            }
            try:
                agent = await OwnedAgent.start(self._programs, command, cwd, variables)
            except (OSError, ValueError) as problem:
                raise _explain_problem(problem, command, cwd) from None
            run = _StartedRun(run_id, rerun, agent, stack.pop_all())
        self._add(run, request.wait)
        if self._is_closed:
            await self._end(run)
        return run

    async def _give_edits(self, rerun: Rerun, stack: contextlib.ExitStack) -> dict[str, str]:
        try:
            given = rerun.give_edits(self._edits_folder)
            return await asyncio.to_thread(stack.enter_context, given)
        except OSError as problem:
            raise errors.NotStored(f"what the fork changes cannot be written: {problem}") from None

    def _add(self, run: _StartedRun, seconds: float) -> None:
        ended = [known for known in self._runs if not known.agent.is_running]
        for known in ended[: max(0, len(ended) - _MAX_ENDED)]:
            self._runs.remove(known)
        self._runs.append(run)
        watching = self._end_without_session(run, seconds + timings.TIMINGS.rerun_begins)
        run.watcher = asyncio.create_task(watching, name="holdfast-rerun")

    async def _end_without_session(self, run: _StartedRun, seconds: float) -> None:
        """End a run whose session does not begin in time, for nobody else can."""
        try:
            await self._wait_for_session(run, seconds)
        finally:
            if run.session_id is None:
                if run.agent.is_running:
                    log.warning("%s began no session, and is ended", run.agent.process.pid)
                await self._end(run)

    async def _wait_for_session(self, run: _StartedRun, seconds: float) -> None:
        """Wait until its session has begun, its process has ended, or the time is up."""
        waits = [asyncio.ensure_future(run.found.wait()), asyncio.ensure_future(run.agent.wait())]
        try:
            await asyncio.wait(waits, timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in waits:
                each.cancel()
        if run.session_id is None:
            await self._search()

    async def _explain_end(self, run: _StartedRun, command: list[str]) -> errors.SessionNotBegun:
        """It has ended, and nobody has seen a session of it."""
        await self._end(run)
        shown = run.agent.describe()
        return errors.SessionNotBegun(
            f"{' '.join(command)[:200]} ended with {shown.exit_code} and started no session",
            field="command",
            exit_code=shown.exit_code,
            stderr=shown.stderr,
            stdout=shown.stdout,
            command=command,
            cwd=shown.cwd,
        )

    # -- the sessions of runs -----------------------------------------------------------------

    def note_session(self, session: AgentSession) -> None:
        """A session begins: it may be that of a run."""
        for run in self._runs:
            if run.session_id is None and run.rerun.is_session(run.id, session.about):
                run.session_id = session.id
                run.edits.close()
                run.found.set()

    def find_agent(self, session_id: str) -> OwnedAgent | None:
        """The process of a session, if this server started it."""
        runs = (run for run in self._runs if run.session_id == session_id)
        return next((run.agent for run in runs), None)

    @property
    def has_running(self) -> bool:
        return any(run.agent.is_running for run in self._runs)

    async def end_session(self, session_id: str) -> None:
        """End the process of a session that is to be deleted."""
        for run in [run for run in self._runs if run.session_id == session_id]:
            await self._end(run)

    def stop_waiting(self) -> None:
        """Answer every request that waits, because the server stops. No more can be started."""
        self._is_closed = True
        for run in self._runs:
            run.found.set()

    async def close(self) -> None:
        """End all of them, because the server stops."""
        self.stop_waiting()
        await asyncio.gather(*map(self._end, list(self._runs)))

    async def _end(self, run: _StartedRun) -> None:
        run.edits.close()
        await run.agent.end()
        if run in self._runs:
            self._runs.remove(run)


def _explain_problem(
    problem: OSError | ValueError, command: list[str], cwd: str | None
) -> errors.HoldfastError:
    """Why it cannot be started: most often, the command or the directory is not there."""
    message, hint = (
        f"{command[0][:200]} cannot be started: {problem}",
        f"{_HOW} if they are others.",
    )
    number, file = getattr(problem, "errno", None), getattr(problem, "filename", None)
    if cwd is not None and file == cwd:
        return errors.UnusablePath(message, file=cwd, field="cwd")
    if number in (None, errno.E2BIG):
        return errors.InvalidInput(message, hint=hint, field="command", cwd=cwd)
    if file == command[0] and number not in (errno.ENOMEM, errno.EAGAIN):
        return errors.UnusablePath(message, hint=hint, field="command", command=command, cwd=cwd)
    return errors.LaunchFailed(message, hint="Try again in a moment.", command=command, cwd=cwd)


# -- checks ---------------------------------------------------------------------------------------


def _choose_command(home: SessionDirectory, request: AgentReplay) -> tuple[list[str], str | None]:
    """Reads `session.json`: for a thread."""
    recorded = home.read_metadata().get("cwd")
    recorded = recorded if isinstance(recorded, str) else None
    cwd = _resolve_directory(request.cwd, recorded)
    if request.command is not None:
        is_there = recorded is not None and os.path.isdir(recorded)
        return request.command, cwd or (recorded if is_there else None)
    try:
        command, recorded_cwd = choose_command(home, [], _HOW)
    except CannotRerun as problem:
        raise errors.InvalidInput(problem.message, hint=problem.hint, field="command") from None
    return command, cwd or recorded_cwd


def _resolve_directory(given: str | None, recorded: str | None) -> str | None:
    """A relative path begins where the agent ran."""
    if given is None:
        return None
    cwd = os.path.join(recorded or os.getcwd(), os.path.expanduser(given))
    if not os.path.isdir(cwd):
        raise errors.UnusablePath(f"no such directory: {cwd[:500]}", file=cwd[:500], field="cwd")
    return os.path.abspath(cwd)


def _check_fork(
    home: SessionDirectory, request: AgentFork, lane: str, edits: ForkEdits
) -> list[str]:
    """What may surprise; raises if it cannot be. Reads the recording: for a thread."""
    calls = RecordedCalls(home, request.at, lane)
    try:
        check_fork_place(calls, "at")
        check_fork_edits(calls, edits, "results")
    except CannotRerun as problem:
        raise errors.InvalidInput(problem.message, hint=problem.hint, session_id=home.id) from None
    return list_fork_warnings(calls, request.mode)


def _build_edits(request: AgentFork) -> ForkEdits:
    edits: ForkEdits = {}
    if request.messages is not None:
        edits["messages"] = _parse_messages(request.messages)
    if request.message is not None:
        edits["message"] = _parse_message(request.message)
    if request.system is not None:
        edits["system"] = request.system
    if request.results:
        edits["results"] = request.results
    if request.hold:
        edits["hold"] = True
    return edits


def _parse_messages(given: str | list[str | dict[str, Any]]) -> list[object]:
    messages: Any = _parse_json(given) if isinstance(given, str) else given
    if isinstance(messages, list):
        messages = [_parse_json(each) if isinstance(each, str) else each for each in messages]
    mistake = find_messages_problem(messages)
    if mistake is not None:
        raise errors.InvalidInput(f"messages: {mistake}", field="messages")
    found: list[object] = messages
    return found


def _parse_json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as problem:
        raise errors.InvalidInput(f"messages: not JSON: {problem}", field="messages") from None


def _parse_message(given: str | dict[str, Any]) -> Message:
    if isinstance(given, str):
        return {"role": "user", "content": given}
    if "content" not in given:
        raise errors.InvalidInput(
            "message has no content",
            hint='{"role": "user", "content": "…"}, or just text.',
            field="message",
        )
    return {"role": str(given.get("role", "user")), "content": given["content"]}
