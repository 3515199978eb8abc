"""An agent to be debugged: a loop with a scripted model, and what its files say of it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from background import run_in_thread
from holdfast.bridge import Bridge, start
from holdfast.model.agent_events import EventData, RecordedEvent
from holdfast.recording import command_sender
from holdfast.recording.directories import AgentsDirectory, SessionDirectory
from holdfast.recording.tail import Tail
from holdfast.wire import agent_lines
from polling import wait_until

PATIENCE = 60.0
PROGRAM = Path(__file__).parent / "programs" / "agent_loop.py"


class SessionFiles:
    """What is to be read of a session, and what can be said to it."""

    def __init__(self, home: SessionDirectory) -> None:
        self.home = home

    @property
    def events(self) -> list[RecordedEvent]:
        found = [agent_lines.parse_event(line) for _, line in Tail(self.home.events).all()]
        return [event for event in found if event is not None]

    def data_of(self, *types: str) -> list[EventData]:
        return [event["data"] for event in self.events if event["type"] in types]

    @property
    def types(self) -> list[str]:
        return [event["type"] for event in self.events]

    def wait_for(self, kind: str, count: int = 1, **fields: Any) -> EventData:
        """The data of the event of that type and those fields, the `count`th, when it is there."""

        def look() -> EventData | None:
            matches = [
                data
                for data in self.data_of(kind)
                if all(data.get(name) == value for name, value in fields.items())
            ]
            return matches[count - 1] if len(matches) >= count else None

        return wait_until(look, lambda: f"{kind} {fields}: {self.types}")

    def send(self, kind: str, _id: str | None = None, **data: Any) -> str:
        return command_sender.send_command(self.home, kind, data, _id)

    def wait_for_execution(self, command_id: str) -> EventData:
        return self.wait_for("command_executed", commandId=command_id)

    def wait_for_rejection(self, command_id: str) -> EventData:
        return self.wait_for("error", commandId=command_id)

    def ask(self, kind: str, **data: Any) -> EventData:
        """What a command is answered with."""
        return self.wait_for("command_response", commandId=self.send(kind, **data))

    def breakpoint(self, **data: Any) -> str:
        answered = self.ask("breakpoint", action="add", **data)
        return str(answered["data"]["id"])

    def wait_for_stop(self, count: int = 1) -> EventData:
        return self.wait_for("paused", count)

    def resume(self, **decision: Any) -> EventData:
        return self.wait_for_execution(self.send("resume", **decision))


class AgentLoop(SessionFiles):
    """A model that asks for one tool after another, and the tools."""

    def __init__(self, dbg: Bridge, asks: list[dict[str, Any]]) -> None:
        assert dbg.home is not None
        super().__init__(dbg.home)
        self.dbg = dbg
        self.asks = asks
        self.messages: list[Any] = [{"role": "user", "content": "begin"}]
        self.vars: dict[str, Any] = {"depth": 1}
        self.done: list[Any] = []
        """What the tools really did."""
        self.asked = 0
        """How often the model was really called."""
        self.seen: list[list[Any]] = []
        self.model = dbg.model(self._model)
        self.write = dbg.tool(self._write, name="write")
        self.fail = dbg.tool(self._fail, name="fail")
        self.wait = dbg.tool(self._wait, name="wait")
        self.release = threading.Event()
        self.entered = threading.Event()

    def _model(self, messages: list[Any], model: str = "scripted") -> dict[str, Any]:
        self.asked += 1
        self.seen.append([dict(each) for each in messages])
        turn = sum(1 for each in messages if each["role"] == "assistant")
        usage = {"input_tokens": 10, "output_tokens": 5}
        if turn < len(self.asks):
            ask = self.asks[turn]
            return {"role": "assistant", "content": "go on", "ask": ask, "usage": usage}
        return {"role": "assistant", "content": "done", "ask": None, "usage": usage}

    def _write(self, path: str, text: str = "") -> str:
        self.done.append((path, text))
        return f"wrote {path}"

    def _fail(self, why: str) -> None:
        self.done.append(why)
        raise ValueError(why)

    def _wait(self) -> str:
        self.entered.set()
        while not self.release.wait(0.01):
            pass
        return "waited"

    def __call__(self) -> Any:
        with self.dbg.run(messages=self.messages, vars=self.vars):
            while True:
                answer = self.model(self.messages)
                self.messages.append(answer)
                if answer["ask"] is None:
                    return answer["content"]
                ask = dict(answer["ask"])
                tool = getattr(self, ask.pop("tool"))
                try:
                    result = tool(**ask)
                except Exception as error:
                    result = f"{type(error).__name__}: {error}"
                self.messages.append({"role": "tool", "content": result})

    def run_in_thread(self) -> Any:
        return run_in_thread(self)

    @property
    def results(self) -> list[Any]:
        return [each["content"] for each in self.messages if each["role"] == "tool"]


def build_writes(count: int) -> list[dict[str, Any]]:
    return [{"tool": "write", "path": f"{number}.txt"} for number in range(count)]


@contextmanager
def open_bridge(directory: Path, name: str = "tested", **options: Any) -> Iterator[Bridge]:
    with start(name, directory=directory, **options) as dbg:
        yield dbg


class AgentLoopProcess(SessionFiles):
    """`tests/programs/agent_loop.py`, in a process of its own."""

    def __init__(self, root: Path, *args: str, **environment: str) -> None:
        self.root = AgentsDirectory(root)
        self.process = subprocess.Popen(
            [sys.executable, str(PROGRAM), *args],
            env={**os.environ, "HOLDFAST_AGENT_DIR": str(root), **environment},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,  # `communicate` would not see what `readline` has in a buffer
        )
        assert self.process.stdout is not None
        session_id = self.process.stdout.readline().decode().strip()
        super().__init__(
            self.root.home(session_id) if session_id else SessionDirectory(root / "nowhere")
        )

    def go(self) -> None:
        """What one that was started with WAIT waits for."""
        assert self.process.stdin is not None
        self.process.stdin.write(b"\n")

    def result(self) -> dict[str, Any]:
        """What it prints at its end."""
        out, err = self.process.communicate(timeout=60)
        assert self.process.returncode == 0, err.decode()
        found: dict[str, Any] = json.loads(out.splitlines()[-1])
        return found

    def kill(self) -> None:
        self.process.kill()
        self.process.communicate()

    def __enter__(self) -> AgentLoopProcess:
        return self

    def __exit__(self, *problem: object) -> None:
        if self.process.poll() is None:
            self.kill()
