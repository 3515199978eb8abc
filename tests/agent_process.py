"""A real agent in a process of its own, told what to do on its stdin."""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from fork_server import start_python
from harness import PROGRAMS, Server
from holdfast.recording.directories import AgentsDirectory, SessionDirectory
from polling import wait_until


class AgentProcess:
    """`tests/programs/command_agent.py`, from ready to gone."""

    def __init__(self, data_dir: Path, *arguments: str, cwd: Path | None = None) -> None:
        self.data_dir = data_dir
        environment = {**os.environ, "HOLDFAST_HOME": str(data_dir)}
        environment.pop("HOLDFAST_AGENT_DIR", None)
        stdin, write = os.pipe()
        read, stdout = os.pipe()
        program = str(PROGRAMS / "command_agent.py")
        try:
            self.process = start_python(
                program, *arguments, stdin=stdin, stdout=stdout, env=environment, cwd=cwd
            )
        finally:
            os.close(stdin)
            os.close(stdout)
        self._stdin, self._stdout = os.fdopen(write, "w"), os.fdopen(read, "r")
        self._is_busy = True
        self.id = self.read_reply().split()[1]
        root = Path(arguments[0]) if arguments else data_dir / "agents"
        self.home: SessionDirectory = AgentsDirectory(root).home(self.id)

    def send(self, line: str) -> None:
        """Begin something, and do not wait for its end."""
        self._is_busy = True
        self._stdin.write(line + "\n")
        self._stdin.flush()

    def read_reply(self) -> str:
        """The last line that it wrote before it was ready."""
        last = ""
        for line in self._stdout:
            if line.startswith("ready"):
                self._is_busy = False
                return last or line.strip()
            last = line.strip()
        return last

    def ask(self, line: str) -> str:
        self.send(line)
        return self.read_reply()

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """It does nothing within the block."""
        os.kill(self.process.pid, signal.SIGSTOP)
        process = psutil.Process(self.process.pid)
        wait_until(lambda: process.status() == psutil.STATUS_STOPPED, "the agent to stop")
        try:
            yield
        finally:
            os.kill(self.process.pid, signal.SIGCONT)

    def close(self) -> None:
        """Let it end by itself. One that was not seen to be ready again may be held: end it."""
        with contextlib.suppress(OSError):
            self._stdin.close()
        if self._is_busy:
            self.process.kill()
        self.process.wait(60)
        self._stdout.close()


@contextlib.contextmanager
def running_agent(
    data_dir: Path, *arguments: str, cwd: Path | None = None
) -> Iterator[AgentProcess]:
    running = AgentProcess(data_dir, *arguments, cwd=cwd)
    try:
        yield running
    finally:
        running.close()


class AgentView:
    """An agent as a server shows it."""

    def __init__(self, server: Server, agent: AgentProcess) -> None:
        self.server = server
        self.agent = agent
        self.path = f"/sessions/{agent.id}"
        self.wait_for_event("session_start")

    def get(self, rest: str = "", **options: Any) -> Any:
        return self.server.get(self.path + rest, **options)

    def post(self, rest: str, body: Any = None, **options: Any) -> Any:
        return self.server.post(self.path + rest, body, **options)

    def command(self, kind: str, expect: int | None = None, **data: Any) -> Any:
        return self.post("/command", {"type": kind, "data": data}, expect=expect)

    def break_on(self, name: str) -> str:
        made = self.command("breakpoint", action="add", on="tool", name=name)
        return str(made["response"]["data"]["id"])

    def wait_for_event(self, kind: str, since: int = 0) -> Any:
        """The first event of a type; waits for the session itself too."""
        while True:
            answer = self.server.http.get(f"{self.path}/events?since={since}&types={kind}&wait=60")
            if answer.status_code == 404:  # the server has not heard of it yet
                self.server.get("/api/events?types=replay_diverged&wait=0.05")
                continue
            found = answer.json()
            assert found["events"], found
            return found["events"][0]

    def wait_for_hold(self) -> Any:
        """The hold that it is at, once it is."""
        shown = self.get("/status?wait=60")
        assert shown["status"] == "paused", shown
        return self.server.get(f"/api/holds/{shown['hold_id']}")

    def decide(self, hold: Any, action: str, expect: int | None = None, **more: Any) -> Any:
        path = f"/api/holds/{hold['hold_id']}/decision"
        return self.server.post(path, {"action": action, **more}, expect=expect)


@contextlib.contextmanager
def agent_view(server: Server, cwd: Path | None = None) -> Iterator[AgentView]:
    with running_agent(server.data_dir, cwd=cwd) as running:
        yield AgentView(server, running)
