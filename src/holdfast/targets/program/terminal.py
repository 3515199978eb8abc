"""A pseudo-terminal for a program that wants one: its stdin, stdout and stderr in one stream.

It echoes what is written to it, as terminals do. Ctrl-C and Ctrl-D are the characters that
terminals make of them: `\\x03` interrupts the program, `\\x04` is the end of its input.
"""

from __future__ import annotations

import array
import fcntl
import os
import struct
import termios

from holdfast.targets.program.pipes import Input, Output, Report

_END_OF_FILE = b"\x04"
DEFAULT_TERM = "xterm-256color"


class Terminal:
    """A new terminal: our end and the program's.

    The program keeps our end open, too. Otherwise it would be hung up on when it is detached and we
    close ours.
    """

    def __init__(self, size: tuple[int, int]) -> None:
        self._ours, self._theirs = os.openpty()
        try:
            self._writing = os.dup(self._ours)
        except OSError:
            os.close(self._ours)
            os.close(self._theirs)
            raise
        columns, rows = size
        fcntl.ioctl(self._theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        attributes = termios.tcgetattr(self._theirs)
        attributes[1] &= ~termios.ONLCR  # lines end as they do in a pipe
        termios.tcsetattr(self._theirs, termios.TCSANOW, attributes)
        self.streams = (self._theirs, self._theirs, self._theirs)
        self.inherited = (self._ours,)
        self._path = os.ttyname(self._theirs)

    def close_ours(self) -> None:
        os.close(self._ours)
        os.close(self._writing)

    def close_theirs(self) -> None:
        os.close(self._theirs)

    def connect(self, report: Report) -> tuple[Input, list[Output]]:
        """Read and write our end."""
        output = Output(self._ours, lambda text: report("stdout", text))
        return TerminalInput(self._writing, self._path), [output]


class TerminalInput(Input):
    """What is typed at a terminal. It has no end that could be closed: the end is a character."""

    is_terminal = True

    def __init__(self, fd: int, path: str) -> None:
        super().__init__(fd)
        self._path = path
        self._is_at_line_start = True

    @property
    def unread(self) -> int:
        """Bytes that the program can read now. Only its own end of the terminal knows."""
        count = array.array("i", [0])
        try:
            fd = os.open(self._path, os.O_RDONLY | os.O_NOCTTY | os.O_NONBLOCK)
        except OSError:
            return 0
        try:
            fcntl.ioctl(fd, termios.FIONREAD, count)
        except OSError:
            return 0
        finally:
            os.close(fd)
        return count[0]

    def is_answer(self, data: bytes) -> bool:
        """A program that waits for a line gets it when it is complete, or a signal instead."""
        return any(end in data for end in (b"\n", b"\r", b"\x03", b"\x04", b"\x1a", b"\x1c"))

    def write(self, data: bytes) -> None:
        if data:
            self._is_at_line_start = data.endswith((b"\n", b"\r"))
        super().write(data)

    def end(self) -> None:
        """In the middle of a line the first one only ends the line."""
        self.write(_END_OF_FILE if self._is_at_line_start else 2 * _END_OF_FILE)
