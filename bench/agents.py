"""Agent loops: what recording one costs, and how soon a decision is felt.

The agent runs in this process, its tool in a thread; a decision comes as a line in its file, or
through a server that follows it.
"""

from __future__ import annotations

import contextlib
import json
import os
import queue
import statistics
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bench.calls import Ratio, each, in_turn
from bench.http import Http
from bench.server import Server
from holdfast.bridge import Bridge, start
from holdfast.bridge.command_listener import POLL
from holdfast.recording.directories import SessionDirectory
from holdfast.wire import agent_lines as wire


@dataclass(frozen=True)
class Replayed:
    """A recording that was played again, and what was really called for it."""

    steps: int
    model_calls: int
    tool_calls: int
    same_messages: bool


@contextlib.contextmanager
def recorded(root: Path | None = None) -> Iterator[Bridge]:
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        dbg = start("bench", directory=root or folder)
        try:
            yield dbg
        finally:
            dbg.close()


def _home(dbg: Bridge) -> SessionDirectory:
    assert dbg.home is not None
    return dbg.home


def recording(rounds: int, times: int) -> list[Ratio]:
    """A tool call beside the bare writing of its events, and any event beside its own."""
    with recorded() as dbg:
        read = dbg.tool(lambda path, lines: f"contents of {path}", name="read")

        def tool() -> object:
            return read(path="src/main.py", lines=20)

        tool()
        lines = _home(dbg).events.read_bytes().splitlines()
        events = [json.loads(line) for line in lines[-3:]]
        said = events[0]["data"]
        handle = os.open(_home(dbg).path / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

        def bare(written: list[Any]) -> None:
            for event in written:
                os.write(handle, (json.dumps(event) + "\n").encode())

        clock = time.thread_time
        call, three, one, single = in_turn(
            rounds,
            lambda: each(tool, times, clock),
            lambda: each(lambda: bare(events), times, clock),
            lambda: each(lambda: dbg.emit("tool_call_start", **said), times, clock),
            lambda: each(lambda: bare(events[:1]), times, clock),
        )
        os.close(handle)
    base = "json.dumps and os.write of the same"
    return [
        Ratio("a tool call, recorded", "µs", call, base, three, 3),
        Ratio("an event", "µs", one, base, single, 2),
    ]


class _Held:
    """A tool that is held again and again, and says when it came to run."""

    def __init__(self, dbg: Bridge) -> None:
        self.ran: queue.SimpleQueue[float] = queue.SimpleQueue()
        self._home = _home(dbg)
        self._dbg = dbg
        self._is_over = False
        self._tool = dbg.tool(lambda: self.ran.put(time.perf_counter()), name="held")
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.say("breakpoint", action="add", on="tool", name="held")
        while not dbg.control.breakpoints:
            time.sleep(0.001)
        self._thread.start()

    def _run(self) -> None:
        while not self._is_over:
            self._tool()

    def say(self, kind: str, **data: Any) -> None:
        """As `echo` would: a line, and nobody is rung for."""
        with open(self._home.commands, "ab", buffering=0) as file:
            file.write(wire.encode_command(kind, f"bench-{time.monotonic_ns()}", data, time.time()))

    def stop(self) -> str:
        """The stop that it is held at, when it is."""
        while not (stops := list(self._dbg.control.stops)):
            time.sleep(0.0005)
        return stops[0]

    def felt(self, decide: Callable[[str], object]) -> float:
        """Milliseconds from the decision until the tool runs."""
        stop = self.stop()
        began = time.perf_counter()
        decide(stop)
        return (self.ran.get(timeout=60) - began) * 1000

    def close(self) -> None:
        self._is_over = True
        while self._thread.is_alive():
            self.say("resume")
            self._thread.join(0.1)


def by_file(times: int) -> Ratio:
    with recorded() as dbg, contextlib.closing(_Held(dbg)) as held:
        taken = [held.felt(lambda stop: held.say("resume", stop=stop)) for _ in range(times)]
    poll = POLL * 1000
    return Ratio("a command in the file, until it is felt", "ms", max(taken), "a poll", poll, 3)


def by_server(server: Server, times: int) -> Ratio:
    with (
        recorded(server.data_dir / "agents") as dbg,
        contextlib.closing(_Held(dbg)) as held,
        contextlib.closing(Http(server.url)) as http,
    ):

        def decide(stop: str) -> None:
            http.ask("POST", f"/api/holds/{known[stop]}/decision", {"action": "continue"})

        taken, known = [], dict[str, str]()
        for _ in range(times):
            stop = held.stop()
            while stop not in known:
                found = http.ask("GET", "/api/holds")["holds"]
                known |= {each["stop"]: each["hold_id"] for each in found if "stop" in each}
            taken.append(held.felt(decide))
    ours = statistics.median(taken)
    return Ratio("a decision through the server, until it is felt", "ms", ours, "5 ms", 5.0, 1)


def replay(steps: int) -> Replayed:
    """A recording of so many steps, played again in full."""
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        live = start("bench", directory=folder)
        first = _Loop(live, steps)
        first.run()
        live.close()
        os.environ["HOLDFAST_REPLAY"] = live.id
        try:
            again = start("bench", directory=folder)
        finally:
            os.environ.pop("HOLDFAST_REPLAY", None)
        second = _Loop(again, steps)
        second.run()
        again.close()
    same = first.messages == second.messages
    return Replayed(steps, second.model_calls, second.tool_calls, same)


class _Loop:
    def __init__(self, dbg: Bridge, steps: int) -> None:
        self.messages: list[Any] = [{"role": "user", "content": "begin"}]
        self.model_calls = self.tool_calls = 0
        self._steps = steps
        self._dbg = dbg
        self._ask = dbg.model(self._model)
        self._look = dbg.tool(self._tool, name="look")

    def _model(self, messages: list[Any]) -> dict[str, Any]:
        self.model_calls += 1
        turn = len(messages) // 2
        return {"role": "assistant", "content": f"turn {turn}", "more": turn < self._steps}

    def _tool(self, at: str) -> str:
        self.tool_calls += 1
        return f"seen {at}"

    def run(self) -> None:
        with self._dbg.run(messages=self.messages):
            while (answer := self._ask(self.messages))["more"]:
                self.messages.append(answer)
                self.messages.append({"role": "tool", "content": self._look(at=answer["content"])})
            self.messages.append(answer)
