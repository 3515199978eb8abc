"""A server with something of everything: a held program, a held call, agents. For looking at it."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import PROGRAMS, Program, Server
from polling import wait_until

ROOT = Path(__file__).parents[1]


@dataclass(frozen=True)
class Scene:
    """The server, and the ids of what is there."""

    server: Server
    program: str
    calls: str
    call_hold: str
    agent: str
    finished_agent: str
    forked_agent: str

    def address(self, pattern: str) -> str:
        """The address of a view, such as `/programs/{program}`."""
        return self.server.url + pattern.format(**vars(self))


@contextlib.contextmanager
def built_scene(server: Server, folder: Path) -> Iterator[Scene]:
    """Starts three kinds of targets on the server, with their programs in the folder."""
    shutil.copytree(PROGRAMS / "page", folder, dirs_exist_ok=True)
    agent = [sys.executable, str(shutil.copy(ROOT / "examples" / "agent_loop.py", folder))]
    with contextlib.ExitStack() as stack:
        program = _hold_program(server, folder)
        stack.callback(server.delete, f"/sessions/{program}")
        finished = _run_agent(server, agent)
        fork = ["fork", finished, "--at", "2", "--message", "in German, please", "--", *agent]
        forked = _run_agent(server, [sys.executable, "-m", "holdfast", "agent", *fork])
        held = stack.enter_context(_held_agent(server, agent))
        calls, hold = stack.enter_context(_held_call(server, folder))
        yield Scene(server, program, calls, hold, held, finished, forked)


def _hold_program(server: Server, folder: Path) -> str:
    orders = Program("orders.py", folder)
    body = {"name": "orders report", "cwd": str(folder)}
    session: str = server.post("/sessions", body)["session_id"]
    place = {"file": orders.path, "line": orders.line("discount")}
    server.post(f"/sessions/{session}/breakpoints", place)
    server.post(f"/sessions/{session}/launch", {"script": orders.path, "wait": 60})
    for _ in range(2):
        server.post(f"/sessions/{session}/continue", {"wait": 60})
        server.post(f"/sessions/{session}/step-over", {"wait": 60})
    server.post(f"/sessions/{session}/watch", {"expression": "order.total()"})
    return session


def _environment(server: Server, **more: str) -> dict[str, str]:
    return {
        **os.environ,
        "HOLDFAST_HOME": str(server.data_dir),
        "HOLDFAST_SERVER_URL": server.url,
        **more,
    }


def _run_agent(server: Server, command: list[str]) -> str:
    """Run an agent to its end."""
    before = server.list_ids("agent")
    subprocess.run(command, env=_environment(server), check=True, capture_output=True, timeout=60)
    [session] = wait_until(lambda: server.list_ids("agent", but=before), "the agent's session")
    return session


@contextlib.contextmanager
def _held_agent(server: Server, command: list[str]) -> Iterator[str]:
    before = server.list_ids("agent")
    environment = _environment(server, HOLDFAST_AGENT_HOLD="tool:put")
    with subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL) as agent:
        try:
            [session] = wait_until(lambda: server.list_ids("agent", but=before), "the session")
            wait_until(lambda: _find_hold(server, session), "the held tool")
            yield session
        finally:
            agent.kill()


@contextlib.contextmanager
def _held_call(server: Server, folder: Path) -> Iterator[tuple[str, str]]:
    before = server.list_ids("calls")
    application = subprocess.Popen(
        [sys.executable, str(folder / "shop.py")],
        env=_environment(server),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with application:
        try:
            assert application.stdin
            assert application.stdout
            assert application.stdout.readline() == "ready\n"
            [session] = server.list_ids("calls", but=before)
            server.post("/api/breakpoints", {"function": "Shop.sell"})
            application.stdin.write("\n")
            application.stdin.flush()
            hold = wait_until(lambda: _find_hold(server, session), "the held call")
            yield session, hold["hold_id"]
        finally:
            application.kill()
            server.delete("/api/breakpoints")


def _find_hold(server: Server, session: str) -> Any:
    holds = server.get("/api/holds")["holds"]
    return next((hold for hold in holds if hold["session_id"] == session), None)
