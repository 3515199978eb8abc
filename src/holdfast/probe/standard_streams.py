"""Standard streams: keeps the order of stdout and stderr, reports when stdin is awaited."""

from __future__ import annotations

import array
import fcntl
import functools
import io
import os
import platform
import select
import sys
import termios
import threading
import time
from _queue import SimpleQueue
from _thread import allocate_lock  # of no greenlet, and without a line of Python
from typing import Any, Dict, List, Optional, Tuple

from . import timings
from .pydevd_access import current, step_suspended
from .server_messages import report, wait_for_writer
from .tracing_watch import is_debuggers

_CHECK_SECONDS = 0.0001  # between two looks at a pipe that the server has not read yet


class _Stdin(io.FileIO):
    """Standard input that reports a read that would wait, before and after it.

    The count of bytes read so far tells the server whether what it wrote meanwhile is the answer.
    """

    bytes_read = 0

    def readinto(self, buffer: Any) -> Any:
        has_reported = self._report_if_waiting()
        count = super().readinto(buffer)
        self._note_read(count, has_reported)
        return count

    def read(self, size: Optional[int] = -1) -> Any:
        if size is None or size < 0:
            return self.readall()
        has_reported = self._report_if_waiting()
        data = super().read(size)
        self._note_read(len(data or b""), has_reported)
        return data

    def readall(self) -> Any:
        parts: List[bytes] = []
        while True:
            part = self.read(65536)
            if not part:
                return b"".join(parts) if parts or part is not None else None
            parts.append(part)

    def _report_if_waiting(self) -> bool:
        try:
            ready = select.select([self.fileno()], [], [], 0)[0]
        except (OSError, ValueError):
            return False
        if not ready:
            report("input_wanted", taken=self.bytes_read)
        return not ready

    def _note_read(self, count: Optional[int], has_reported: bool) -> None:
        self.bytes_read += count or 0
        if has_reported:
            report("input_taken")


_SERVER_PIPES: Dict[int, Tuple[int, int]] = {}  # the pipes to the server, by descriptor


def disconnect_pipes() -> None:
    """After a detach nobody reads the pipes: replace them, so that the program runs on."""
    nowhere = os.open(os.devnull, os.O_RDWR)
    try:
        for fd, pipe in _SERVER_PIPES.items():
            if _file_identity(fd) == pipe:
                os.dup2(nowhere, fd, inheritable=True)
    finally:
        os.close(nowhere)


def _file_identity(fd: int) -> Optional[Tuple[int, int]]:
    try:
        status = os.fstat(fd)
    except OSError:
        return None
    return status.st_dev, status.st_ino


class _Terminal:
    """What must be kept while the program has a terminal."""

    server_fd = -1  # while it is open, nobody hangs up on the program
    input_hook: Any = None


def take_terminal(server_fd: int) -> None:
    """Make the terminal that is stdin the controlling one, whose Ctrl-C interrupts the program."""
    _Terminal.server_fd = server_fd
    try:
        fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    except OSError:
        pass


_READ_SECONDS = 0.02
# By machine: how /proc shows `read` from descriptor 0, and the `select` and `pselect` of readline.
_SYSTEM_CALLS = {
    "x86_64": ("0 0x0 ", "23 0x1 ", "270 0x1 "),
    "aarch64": ("63 0x0 ", "72 0x1 "),
}


def _is_thread_reading_stdin() -> bool:
    """Whether the system has a thread waiting for stdin; one that has its line may seem to read.

    True where the system does not say, because by now a thread that has its line has returned.
    """
    calls = _SYSTEM_CALLS.get(platform.machine())
    try:
        tasks = os.listdir("/proc/self/task")
        lines = list(filter(None, (_read_text("/proc/self/task/%s/syscall" % t) for t in tasks)))
    except OSError:
        return True
    return calls is None or not lines or any(line.startswith(calls) for line in lines)


def _read_text(path: str) -> str:
    try:
        with open(path, encoding="ascii") as file:
            return file.read()
    except FileNotFoundError:  # the thread has ended
        return ""


class _InputWatcher(threading.Thread):
    """Reports that `input()` waits. At a terminal it reads in C, and calls a hook before it waits.

    The hook is a function in C: in one in Python, a Ctrl-C would raise its exception, and be lost.
    """

    def __init__(self) -> None:
        super().__init__(name="holdfast-input", daemon=True)
        self.is_pydev_daemon_thread = True
        self.pydev_do_not_trace = True
        self._calls: Any = SimpleQueue()
        self._reading: Any = None  # of C: not null while somebody reads a line

    def set_hook(self) -> None:
        import ctypes

        note_call = functools.partial(self._calls.put, True)
        _Terminal.input_hook = ctypes.CFUNCTYPE(None)(note_call)
        place = ctypes.c_void_p.in_dll(ctypes.pythonapi, "PyOS_InputHook")
        place.value = ctypes.cast(_Terminal.input_hook, ctypes.c_void_p).value
        try:
            self._reading = ctypes.c_void_p.in_dll(ctypes.pythonapi, "_PyOS_ReadlineTState")
        except ValueError:
            pass  # it is only good for being certain

    def run(self) -> None:
        while self._calls.get():
            try:
                while self._is_waited_for():
                    time.sleep(_READ_SECONDS)
                    if _is_thread_reading_stdin() and self._is_waited_for():
                        report("input_wanted", taken=-1)
                        break
            except (OSError, ValueError):
                return

    def _is_waited_for(self) -> bool:
        is_reading = self._reading is None or self._reading.value is not None
        return is_reading and not select.select([0], [], [], 0)[0]


def install() -> None:
    for fd in (0, 1, 2):
        pipe = _file_identity(fd)
        if pipe is not None:
            _SERVER_PIPES[fd] = pipe
    if _Terminal.server_fd >= 0:
        watcher = _InputWatcher()
        watcher.start()
        watcher.set_hook()
    elif isinstance(sys.stdout, io.TextIOWrapper) and isinstance(sys.stderr, io.TextIOWrapper):
        sys.stdout = sys.__stdout__ = _wrap_output(sys.stdout)  # type: ignore[misc]
        sys.stderr = sys.__stderr__ = _wrap_output(sys.stderr)  # type: ignore[misc]
        FileIO.keeps_order = True
    if isinstance(sys.stdin, io.TextIOWrapper):
        sys.stdin = sys.__stdin__ = _wrap_input(sys.stdin)  # type: ignore[misc]


_NOTHING, _MESSAGE = -1, -2  # in place of a descriptor: what was written last


class FileIO(io.FileIO):
    """Standard output or error, named as the type that it stands for.

    Two pipes have no order between them: a change from one to the other waits, for a moment at
    the most, until what was written to the first has been read. So does a change from a pipe to
    a message that is shown among the output, and back.

    Once the program has a tracer of its own, such as pdb, the order is given up. The tracer would
    step into `write`, which is not Python elsewhere.
    """

    last_fd = _NOTHING
    keeps_order = False  # once the program writes through it

    def write(self, data: Any) -> Any:
        if sys.gettrace() is not None and not is_debuggers(sys.gettrace()):
            if "write" in vars(FileIO):
                del FileIO.write  # of this class, not of its base
            return super().write(data)
        fd = self.fileno()
        if FileIO.last_fd != fd:
            _finish_last(timings.TIMINGS.output_read)
            FileIO.last_fd = fd
        return super().write(data)


def begin_message() -> bool:
    """Called before a message that is shown among the output; whether its place there is certain.

    If it is, the server has read all that was written before, and gets the rest after the message.
    """
    if not FileIO.keeps_order or "write" not in vars(FileIO):
        return False
    is_read = FileIO.last_fd == _MESSAGE or _finish_last(timings.TIMINGS.output_read_at_message)
    FileIO.last_fd = _MESSAGE
    return is_read


def _finish_last(seconds: float) -> bool:
    """Wait until the server has what was written last, whichever way that takes."""
    if FileIO.last_fd == _NOTHING:
        return True
    if FileIO.last_fd == _MESSAGE:
        connection, seconds = _find_connection(), timings.TIMINGS.output_read_at_message
        return _wait_until_sent() and _wait_until_read(connection, termios.TIOCOUTQ, seconds)
    return _wait_until_read(FileIO.last_fd, termios.FIONREAD, seconds)


def _wait_until_sent() -> bool:
    """Messages are sent by another thread."""
    from _pydevd_bundle.pydevd_net_command import _NullNetCommand

    db = current()
    writer = None if db is None else db.writer
    if writer is None or not writer.is_alive():
        return False
    being_sent, mark = allocate_lock(), _NullNetCommand()
    mark.send = lambda _socket: being_sent.release()
    being_sent.acquire()
    with step_suspended():
        writer.add_command(mark)

    def wait(seconds: float) -> bool:
        return being_sent.acquire(timeout=seconds)

    return wait_for_writer(writer, wait, timings.TIMINGS.output_read_at_message)


def _find_connection() -> int:
    try:
        return int(current().writer.sock.fileno())
    except (AttributeError, OSError):
        return -1


def _wait_until_read(fd: int, question: int, seconds: float) -> bool:
    unread = array.array("i", [0])
    for _ in range(int(seconds / _CHECK_SECONDS)):  # the program may have stopped its clock
        try:
            fcntl.ioctl(fd, question, unread)
        except (OSError, ValueError):
            return False
        if not unread[0]:
            return True
        time.sleep(_CHECK_SECONDS)
    return False


def _wrap_output(plain: io.TextIOWrapper) -> io.TextIOWrapper:
    raw = FileIO(plain.fileno(), "wb", closefd=False)
    raw.name = plain.name
    buffered = isinstance(plain.buffer, io.BufferedWriter)
    text = io.TextIOWrapper(
        io.BufferedWriter(raw) if buffered else raw,
        encoding=plain.encoding,
        errors=plain.errors,
        # Into a pipe Python buffers whole blocks; a debugger's user wants each line at once.
        line_buffering=True,
        write_through=plain.write_through,
    )
    text.mode = "w"  # type: ignore[misc]
    return text


def _wrap_input(plain: io.TextIOWrapper) -> io.TextIOWrapper:
    raw = _Stdin(plain.fileno(), "rb", closefd=False)
    raw.name = "<stdin>"
    text = io.TextIOWrapper(
        io.BufferedReader(raw),
        encoding=plain.encoding,
        errors=plain.errors,
        line_buffering=plain.line_buffering,
        write_through=plain.write_through,
    )
    text.mode = "r"  # type: ignore[misc]
    return text
