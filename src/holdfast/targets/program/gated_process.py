"""Starts a command that cannot start others before it is tagged and the warden knows it.

A tag is set from outside, when there is a process already. A command that is quick might have
children by then, which would have no tag. So the process waits in a gate (`exec_gate`) until it is
let go on.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import sys
from collections.abc import Mapping, Sequence

from holdfast.targets.program import exec_gate
from holdfast.targets.program.process_spawner import Spawned, spawn

_SCRIPT = os.path.abspath(exec_gate.__file__)


class GatedProcess:
    """A tagged process that waits to become its command."""

    def __init__(self, process: Spawned, command: Sequence[str], gate: socket.socket) -> None:
        self.process = process
        self._command = command
        self._gate = gate

    @classmethod
    async def start(
        cls,
        command: Sequence[str],
        *,
        cwd: str | None,
        env: Mapping[str, str],
        stdout: int,
        stderr: int,
        tag: int | None,
    ) -> GatedProcess:
        ours, theirs = socket.socketpair()
        with contextlib.ExitStack() as on_failure, theirs:
            on_failure.callback(ours.close)
            locale = f"LC_CTYPE={env['LC_CTYPE']}" if "LC_CTYPE" in env else "LC_CTYPE"
            gate = [sys.executable, "-I", "-S", _SCRIPT, str(theirs.fileno()), locale]
            process = await spawn(
                [*gate, *command],
                cwd=cwd,
                env=env,
                stdout=stdout,
                stderr=stderr,
                pass_fds=[theirs.fileno()],
                tag=tag,
            )
            on_failure.pop_all()
        ours.setblocking(False)
        return cls(process, command, ours)

    async def open(self) -> None:
        """Let it become its command; OSError, with the command's name, if it cannot."""
        loop, report = asyncio.get_running_loop(), b""
        with self._gate, contextlib.suppress(ConnectionError):  # it has ended
            await loop.sock_sendall(self._gate, b"+")
            report = await loop.sock_recv(self._gate, 100)
        if report:
            number = int(report)
            raise OSError(number, os.strerror(number), self._command[0])

    def close(self) -> None:
        """Let it end without having run."""
        self._gate.close()
