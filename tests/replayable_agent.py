"""A small agent that can be recorded, and then run again from its recording."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from holdfast.bridge import Bridge, start
from holdfast.model.agent_events import EventData, RecordedEvent
from holdfast.recording.directories import SessionDirectory
from holdfast.wire import agent_lines


def read_events(home: SessionDirectory) -> list[RecordedEvent]:
    found = [agent_lines.parse_event(line) for line in home.events.read_bytes().splitlines()]
    return [event for event in found if event is not None]


def read_data(home: SessionDirectory, *types: str) -> list[EventData]:
    return [event["data"] for event in read_events(home) if event["type"] in types]


@contextmanager
def open_bridge(directory: Path, **environment: str) -> Iterator[Bridge]:
    """A session; `REPLAY="…"` sets `HOLDFAST_REPLAY` while it begins."""
    given = {f"HOLDFAST_{name}": value for name, value in environment.items()}
    os.environ.update(given)
    try:
        dbg = start("replayed", directory=directory)
    finally:
        for name in given:
            os.environ.pop(name, None)
    with dbg:
        yield dbg


class CountingLoop:
    """A loop: the model asks for the tools of each turn, which are done one after the other."""

    def __init__(self, dbg: Bridge, turns: list[list[dict[str, Any]]]) -> None:
        assert dbg.home is not None
        self.dbg, self.turns, self.home = dbg, turns, dbg.home
        self.messages: list[Any] = [{"role": "user", "content": "begin"}]
        self.vars: dict[str, Any] = {"depth": 1}
        self.asked = 0
        """How often the model was really called."""
        self.done: list[Any] = []
        """What the tools really did."""
        self.ask = dbg.model(self._ask)
        self.tools: dict[str, Callable[..., Any]] = {
            "write": dbg.tool(self._write, name="write"),
            "read": dbg.tool(self._read, name="read", pure=True),
            "fail": dbg.tool(self._fail, name="fail"),
        }

    def _ask(self, messages: list[Any], model: str = "scripted", heat: float = 0.5) -> Any:
        self.asked += 1
        turn = sum(1 for each in messages if each["role"] == "assistant")
        calls = self.turns[turn] if turn < len(self.turns) else []
        return {"role": "assistant", "content": f"turn {turn}", "calls": calls}

    def _write(self, path: str, text: str = "") -> str:
        self.done.append(("write", path))
        return f"wrote {path} {text}".strip()

    def _read(self, path: str) -> str:
        self.done.append(("read", path))
        return f"text of {path}"

    def _fail(self, why: str) -> None:
        self.done.append(("fail", why))
        raise ValueError(why)

    def perform(self, calls: list[dict[str, Any]]) -> list[Any]:
        return [self.perform_one(dict(call)) for call in calls]

    def perform_one(self, call: dict[str, Any]) -> Any:
        try:
            return self.tools[call.pop("tool")](**call)
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    def __call__(self) -> list[Any]:
        with self.dbg.run(messages=self.messages, vars=self.vars):
            while True:
                answer = self.ask(self.messages)
                self.messages.append(answer)
                if not answer["calls"]:
                    return self.messages
                for result in self.perform(answer["calls"]):
                    self.messages.append({"role": "tool", "content": result})


def build_writes(*paths: str) -> list[dict[str, Any]]:
    return [{"tool": "write", "path": path} for path in paths]


def format_edits(**given: Any) -> str:
    return json.dumps(given)
