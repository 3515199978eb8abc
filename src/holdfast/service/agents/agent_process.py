"""The process of an agent that the server started: it belongs to the server, as programs do.

It has a tag, and the warden knows it (`docs/decisions/0004`), before any of it runs. What it leaves
behind when it ends is ended, too.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Mapping

from holdfast import timings
from holdfast.service.programs.owned_processes import OwnedProcesses
from holdfast.service.programs.program_service import Programs
from holdfast.targets.program import descriptors
from holdfast.targets.program.gated_process import GatedProcess
from holdfast.targets.program.pipes import Output
from holdfast.targets.program.process_killer import send_signal
from holdfast.targets.program.process_spawner import Spawned
from holdfast.wire.agent_answers import AgentProcess

_KEPT_CHARS = 64 * 1024
_SHOWN_CHARS = 8 * 1024


class OutputTail:
    """The end of what a process prints."""

    def __init__(self) -> None:
        self._text = ""

    def add(self, text: str) -> None:
        self._text = (self._text + text)[-_KEPT_CHARS:]

    def read(self) -> str:
        return self._text[-_SHOWN_CHARS:]


class OwnedAgent:
    """A started agent, its output, and its end."""

    def __init__(
        self, process: Spawned, command: list[str], cwd: str | None, outputs: list[Output]
    ) -> None:
        self.process = process
        self.stdout, self.stderr = OutputTail(), OutputTail()
        self._command, self._cwd = command, cwd
        self._outputs = outputs
        self._owned = OwnedProcesses()
        self._end: asyncio.Task[None] | None = None

    @classmethod
    async def start(
        cls, programs: Programs, command: list[str], cwd: str | None, env: Mapping[str, str]
    ) -> OwnedAgent:
        """Start it; OSError if that cannot be done."""
        descriptors.check_room()
        tails = OutputTail(), OutputTail()
        with (
            descriptors.report_exhaustion(),
            contextlib.ExitStack() as on_failure,
            contextlib.ExitStack() as always,
        ):
            ours, theirs = [], []
            for _ in tails:
                mine, its = os.pipe()
                on_failure.callback(os.close, mine)
                always.callback(os.close, its)
                ours.append(mine)
                theirs.append(its)
            gated = await GatedProcess.start(
                command,
                cwd=cwd,
                env=env,
                stdout=theirs[0],
                stderr=theirs[1],
                tag=programs.tags.new(),
            )
            on_failure.pop_all()
        outputs = [Output(fd, tail.add) for fd, tail in zip(ours, tails, strict=True)]
        agent = cls(gated.process, command, cwd, outputs)
        agent.stdout, agent.stderr = tails
        agent._owned.adopt(gated.process, programs.warden)
        agent._end = asyncio.create_task(agent._clean_up(), name="holdfast-agent")
        try:
            await gated.open()
        except BaseException:  # cancellation included: what has begun is ended
            agent._kill()
            raise
        return agent

    def _kill(self) -> None:
        """Its clean-up ends what it started, too."""
        if self.is_running:
            send_signal(self.process.pid, signal.SIGKILL)

    @property
    def is_running(self) -> bool:
        return self.process.returncode is None

    async def wait(self) -> int:
        """Wait for its end, and for what it had printed by then."""
        code = await self.process.wait()
        for output in self._outputs:
            output.drain()
        return code

    async def _clean_up(self) -> None:
        await self.wait()
        await self._owned.end()
        self._close_outputs()

    def _close_outputs(self) -> None:
        for output in self._outputs:
            output.close()

    async def end(self) -> None:
        """End it and all that it started: it may end in order, within a moment."""
        if self.is_running:
            await self.process.kill_tree(timings.TIMINGS.agent_grace)
        if self._end is not None:
            await asyncio.wait([self._end])

    def describe(self) -> AgentProcess:
        for output in self._outputs:
            output.drain()
        return AgentProcess(
            pid=self.process.pid,
            command=self._command,
            cwd=self._cwd,
            running=self.is_running,
            exit_code=self.process.returncode,
            stdout=self.stdout.read(),
            stderr=self.stderr.read(),
        )
