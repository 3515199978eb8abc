"""Agent loops: the cost of recording one, and how soon a decision releases a held tool.

The agent runs in this process, and its tool in a thread. A decision arrives as a line in its file,
or through a server that follows it.
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

from bench.http_client import HttpClient
from bench.measurements import Ratio, measure_in_turn, time_each
from bench.server import Server
from holdfast.bridge import Bridge, start
from holdfast.bridge.command_listener import POLL
from holdfast.model.agent_events import TOOL_CALL_START
from holdfast.recording.directories import SessionDirectory
from holdfast.wire import agent_lines as wire


@dataclass(frozen=True)
class ReplayCheck:
    """A replay of a recording, and how many models and tools it really called."""

    steps: int
    model_calls: int
    tool_calls: int
    same_messages: bool


@contextlib.contextmanager
def start_session(root: Path | None = None) -> Iterator[Bridge]:
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        dbg = start("bench", directory=root or folder)
        try:
            yield dbg
        finally:
            dbg.close()


def _home(dbg: Bridge) -> SessionDirectory:
    assert dbg.home is not None
    return dbg.home


def measure_recording(rounds: int, times: int) -> list[Ratio]:
    """Compare a tool call, and one event, with writing the same events and nothing else."""
    with start_session() as dbg:
        read = dbg.tool(lambda path, lines: f"contents of {path}", name="read")

        def tool() -> object:
            return read(path="src/main.py", lines=20)

        tool()
        lines = _home(dbg).events.read_bytes().splitlines()
        events = [json.loads(line) for line in lines[-3:]]
        fields = events[0]["data"]
        handle = os.open(_home(dbg).path / "bare", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

        def write_bare(batch: list[Any]) -> None:
            for event in batch:
                os.write(handle, (json.dumps(event) + "\n").encode())

        clock = time.thread_time
        call, bare_call, event, bare_event = measure_in_turn(
            rounds,
            lambda: time_each(tool, times, clock),
            lambda: time_each(lambda: write_bare(events), times, clock),
            lambda: time_each(lambda: dbg.emit(TOOL_CALL_START(fields)), times, clock),
            lambda: time_each(lambda: write_bare(events[:1]), times, clock),
        )
        os.close(handle)
    base = "json.dumps and os.write of the same"
    return [
        Ratio("a tool call, recorded", "µs", call, base, bare_call, 3),
        Ratio("an event", "µs", event, base, bare_event, 2),
    ]


class _HeldTool:
    """A tool that is held again and again, and notes when it runs."""

    def __init__(self, dbg: Bridge) -> None:
        self.run_times: queue.SimpleQueue[float] = queue.SimpleQueue()
        self._home = _home(dbg)
        self._dbg = dbg
        self._is_over = False
        self._tool = dbg.tool(lambda: self.run_times.put(time.perf_counter()), name="held")
        self._thread = threading.Thread(target=self._run, daemon=True)
        self.send("breakpoint", action="add", on="tool", name="held")
        while not dbg.control.breakpoints:
            time.sleep(0.001)
        self._thread.start()

    def _run(self) -> None:
        while not self._is_over:
            self._tool()

    def send(self, kind: str, **data: Any) -> None:
        """Append a line to the command file, as `echo` would, without ringing the bell."""
        with open(self._home.commands, "ab", buffering=0) as file:
            file.write(wire.encode_command(kind, f"bench-{time.monotonic_ns()}", data, time.time()))

    def wait_for_stop(self) -> str:
        """Wait until the tool is held, and return the id of the stop."""
        while not (stops := list(self._dbg.control.stops)):
            time.sleep(0.0005)
        return stops[0]

    def time_decision(self, decide: Callable[[str], object]) -> float:
        """Return the milliseconds from the decision until the tool runs."""
        stop = self.wait_for_stop()
        start = time.perf_counter()
        decide(stop)
        return (self.run_times.get(timeout=60) - start) * 1000

    def close(self) -> None:
        self._is_over = True
        while self._thread.is_alive():
            self.send("resume")
            self._thread.join(0.1)


def measure_decision_by_file(times: int) -> Ratio:
    with start_session() as dbg, contextlib.closing(_HeldTool(dbg)) as held:
        taken = [
            held.time_decision(lambda stop: held.send("resume", stop=stop)) for _ in range(times)
        ]
    poll = POLL * 1000
    return Ratio("a command in the file, until the tool runs", "ms", max(taken), "a poll", poll, 3)


def measure_decision_by_server(server: Server, times: int) -> Ratio:
    with (
        start_session(server.data_dir / "agents") as dbg,
        contextlib.closing(_HeldTool(dbg)) as held,
        contextlib.closing(HttpClient(server.url)) as http,
    ):

        def decide(stop: str) -> None:
            http.request("POST", f"/api/holds/{holds[stop]}/decision", {"action": "continue"})

        taken, holds = [], dict[str, str]()
        for _ in range(times):
            stop = held.wait_for_stop()
            while stop not in holds:
                listed = http.request("GET", "/api/holds")["holds"]
                holds |= {hold["stop"]: hold["hold_id"] for hold in listed if "stop" in hold}
            taken.append(held.time_decision(decide))
    ours = statistics.median(taken)
    return Ratio("a decision through the server, until the tool runs", "ms", ours, "5 ms", 5.0, 1)


def check_replay(steps: int) -> ReplayCheck:
    """Record a loop with this number of steps, and replay it in full."""
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
    return ReplayCheck(steps, second.model_calls, second.tool_calls, same)


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
