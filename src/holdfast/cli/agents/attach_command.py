"""`holdfast agent attach`: watches and steers an agent, on a screen or from a pipe."""

from __future__ import annotations

import json
import queue
import sys
import threading
import time
from collections.abc import Iterable

import typer

from holdfast import timings
from holdfast.cli.agents import command_parser
from holdfast.cli.agents.control_commands import format_state
from holdfast.cli.agents.event_lines import EventFormatter
from holdfast.cli.agents.session_selection import SessionOption, select_running
from holdfast.cli.server_access import AsJson, complaints, console
from holdfast.model.agent_events import EventData, RecordedEvent
from holdfast.recording import command_sender, liveness
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.directories import SessionDirectory
from holdfast.recording.recording_state import RecordingState, read_events
from holdfast.recording.tail import Tail
from holdfast.wire import agent_lines

_POLL_SECONDS = 0.02


def attach(session: SessionOption = None, as_json: AsJson = False) -> None:
    """A full-screen view on a terminal; from a pipe, a command a line (`help` lists them)."""
    home = select_running(session)
    if sys.stdin.isatty() and sys.stdout.isatty() and not as_json:
        from holdfast.cli.agents.agent_screen import AgentScreen

        left = AgentScreen(home).run()
        if left:
            console.print(left, highlight=False)
        return
    raise typer.Exit(0 if PipeSession(home, as_json).run(sys.stdin) else 1)


class PipeSession:
    """Events to stdout, and commands from lines, until these end or the agent does."""

    def __init__(self, home: SessionDirectory, as_json: bool = False) -> None:
        self._home, self._as_json = home, as_json
        self._tail = Tail(home.events)
        self._state = RecordingState(ContentFiles(home.contents))
        self._formatter = EventFormatter(self._state.read_body)
        for event in read_events(self._tail):
            self._state.take(event)
            self._formatter.skip(event)
        self._lines: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._waiting: dict[str, tuple[str, float]] = {}
        """Commands without an answer: their types, and until when to wait."""
        self._until: str | None = None
        """The type of event that the next line waits for."""
        self._released: set[str] = set()
        """Stops that a command has released, and the agent has not confirmed."""
        self._is_good = True
        self._is_last = False
        self._last = ""

    def run(self, lines: Iterable[str]) -> bool:
        """Whether every line was understood, and every command taken."""
        # A thread, because a read cannot be given up when the agent ends.
        threading.Thread(target=self._read_lines, args=(lines,), daemon=True).start()
        if not self._as_json:
            text = f"Attached to {self._home.id}. Lines are commands; `help` lists them."
            complaints.print(text, style="dim", highlight=False)
            for stop in self._state.stops.values():
                self._print(f"held: {stop.id} before {stop.title}")
        try:
            while self._advance():
                pass
        except KeyboardInterrupt:
            pass
        return self._is_good

    def _read_lines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self._lines.put(line)
        self._lines.put(None)

    def _advance(self) -> bool:
        is_alive = liveness.is_alive(self._home)
        lines = self._tail.lines()
        for _, line in lines:
            event = agent_lines.parse_event(line)
            if event is not None:
                self._show(event)
        if not is_alive and not lines:
            if self._last != "session_end":
                self._complain("The agent is gone: it did not end in order.")
            return False
        self._drop_unanswered()
        # One command after the other: what the next one means may depend on this one.
        if not self._waiting and self._until is None:
            if self._is_last:
                return False
            self._handle_line(0.0 if lines else _POLL_SECONDS)
        elif not lines:
            time.sleep(_POLL_SECONDS)
        return True

    def _drop_unanswered(self) -> None:
        for command_id, (kind, deadline) in list(self._waiting.items()):
            if time.monotonic() > deadline:
                del self._waiting[command_id]
                self._complain(f"{kind}: no answer within {timings.TIMINGS.agent_answer:g} s")

    def _handle_line(self, patience: float) -> None:
        try:
            line = self._lines.get(timeout=patience) if patience else self._lines.get_nowait()
        except queue.Empty:
            return
        if line is None or line.strip() in ("quit", "exit"):
            self._is_last = True
        elif line.strip() == "help":
            self._print(command_parser.HELP)
        elif line.split()[:1] == ["wait"]:
            wanted = line.split()[1:] or ["paused"]
            is_held = bool(self._state.stops.keys() - self._released)
            self._until = None if wanted == ["paused"] and is_held else wanted[0]
        elif line.strip() and not line.startswith("#"):
            self._send(line)

    def _send(self, line: str) -> None:
        try:
            kind, data = command_parser.parse_command(line)
            command_id = command_sender.send_command(self._home, kind, data)
        except (command_parser.CommandSyntaxError, OSError) as problem:
            self._complain(str(problem))
            return
        self._waiting[command_id] = (kind, time.monotonic() + timings.TIMINGS.agent_answer)
        if kind in ("resume", "step"):
            self._released |= {data["stop"]} if "stop" in data else set(self._state.stops)

    def _show(self, event: RecordedEvent) -> None:
        self._state.take(event)
        kind, data = event["type"], event["data"]
        is_repeated = kind == self._last == "state_snapshot"
        line = self._formatter.format(event)
        self._last = kind
        if kind == self._until:
            self._until = None
        if self._as_json:
            print(json.dumps(event), flush=True)
        elif not is_repeated:
            console.print(line, highlight=False, soft_wrap=True)
            if kind == "command_response":
                self._print_response(data)
        sent = self._waiting.get(str(data.get("commandId")))
        if sent is not None and command_sender.is_final_answer(sent[0], event):
            del self._waiting[str(data["commandId"])]
            if kind == "error":
                self._released.clear()
            self._is_good &= kind != "error" and data.get("status") != "expired"

    def _print_response(self, data: EventData) -> None:
        response = self._state.read_body(data.get("data"))
        if data.get("type") == "inspect" and isinstance(response, dict):
            for line in format_state(response):
                self._print(f"  {line}")
        elif response:
            self._print(f"  {agent_lines.encode_json(response)}")

    def _print(self, text: str) -> None:
        (complaints if self._as_json else console).print(
            text, markup=False, highlight=False, soft_wrap=True
        )

    def _complain(self, text: str) -> None:
        self._is_good = False
        complaints.print(text, style="red", markup=False, highlight=False, soft_wrap=True)
