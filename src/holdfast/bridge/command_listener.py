"""The thread that reads commands, and reports twice a second what is held."""

from __future__ import annotations

import contextlib
import logging
import os
import threading
import time
from collections.abc import Callable

from holdfast import timings
from holdfast.bridge.command_executor import CommandExecutor
from holdfast.bridge.loop_control import Control
from holdfast.recording import wakeup_fifo
from holdfast.recording.directories import SessionDirectory
from holdfast.recording.regular_files import open_regular
from holdfast.recording.tail import Tail
from holdfast.wire import agent_lines

logger = logging.getLogger("holdfast")

POLL = 0.02
SNAPSHOT = 0.5


class Listener:
    def __init__(
        self,
        home: SessionDirectory,
        control: Control,
        commands: CommandExecutor,
        report: Callable[[], None],
    ) -> None:
        """`report` is called twice a second while something is held."""
        self._home = home
        self._control = control
        self._commands = commands
        self._tail = Tail(home.commands)
        self._report = report
        self._bell = wakeup_fifo.open_fifo(home.bell)
        self._is_over = False
        self._kept = -1  # the file as it is: while it is open, no other gets its number
        self._thread = threading.Thread(target=self._listen, name="holdfast-agent", daemon=True)

    def start(self) -> None:
        self.read()  # commands from before the beginning count
        self._thread.start()

    def stop(self) -> None:
        self._is_over = True
        wakeup_fifo.ring(self._home.bell)
        if threading.current_thread() is not self._thread:
            self._thread.join(timings.TIMINGS.listener_ends)
        with contextlib.suppress(OSError):
            self._home.bell.unlink()

    def _listen(self) -> None:
        reported = 0.0
        while not self._is_over:
            wakeup_fifo.wait(self._bell, POLL)
            try:
                if self._tail.has_more() or not self._home.commands.exists():
                    self.read()
                if self._control.stops and time.monotonic() - reported >= SNAPSHOT:
                    reported = time.monotonic()
                    self._report()
            except Exception:
                # Whatever it is, a hold must not be left without anybody who can end it.
                logger.exception("a command could not be handled")
        with contextlib.suppress(Exception):  # the agent ends, whatever comes of it
            self.read()  # commands from before the end are answered
        for handle in (self._bell, self._kept):
            if handle is not None and handle >= 0:
                os.close(handle)

    def read(self) -> None:
        """Whatever is new. A file that was taken away is there again."""
        try:
            kept = open_regular(self._home.commands, os.O_RDWR | os.O_CREAT)
        except OSError as problem:
            if self._home.commands.exists():
                self._commands.refuse("commands.jsonl", f"the file cannot be read: {problem}")
        else:
            if self._kept >= 0:
                os.close(self._kept)
            self._kept = kept
        for place, line in self._tail.lines():
            for command in agent_lines.parse_commands(line, place):
                if isinstance(command, agent_lines.BadCommand):
                    self._commands.refuse(command.command_id, str(command))
                else:
                    self._commands.execute(command)
        while self._tail.too_long:
            place = self._tail.too_long.pop(0)
            why = f"a line of more than {self._tail.max_line} bytes was skipped, at byte {place}"
            self._commands.refuse(f"line-{place}", why)
