"""The file that a recording is written to: JSON lines, within a budget of bytes.

A line that is an object (`{…}`) is kept for good: the header, the beginnings and ends of frames.
A line that is a list (`[…]`) is detail. When the file is full, the oldest detail goes, and a line
`{"dropped": N}` stands in its place; with `keep="oldest"`, newer detail is not written any more.

The hooks of a recorder write here from any thread, and from signal handlers that interrupt another
hook. So no lock is ever waited for: whoever holds it writes the lines of the others, too.
"""

from __future__ import annotations

import collections
import errno
import json
import os
from _thread import allocate_lock
from json import encoder as json_encoder
from typing import Any, Callable, Deque, Dict, Iterator, List, Optional, Tuple, Union

try:
    import fcntl
    import resource
except ImportError:  # not on POSIX
    fcntl = resource = None  # type: ignore[assignment]

BUDGET = 16_000_000  # bytes of one recording
_MIN_BUDGET = 20_000
_HIGH_DESCRIPTOR = 4000  # a program that daemonizes closes or replaces the first ones
_SLACK = 1_000_000  # bytes of lasting lines that may still come after a file is full
_COPY_SIZE = 1 << 20
_DROPPED = b'{"dropped":'
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_CLOEXEC", 0)

# The program may replace these functions while it runs.
_write, _getpid, _open, _close = os.write, os.getpid, os.open, os.close
_replace, _unlink, _open_file = os.replace, os.unlink, open
quote: Callable[[str], str] = json_encoder.encode_basestring_ascii  # a string as JSON


def _build_encoder() -> Callable[[Any], str]:
    """A function that encodes plain values as JSON, without Python code of its own if possible."""
    fallback = json.JSONEncoder(separators=(",", ":"), check_circular=False).encode
    make = getattr(json_encoder, "c_make_encoder", None)
    if make is None:
        return fallback
    try:
        chunks = make(None, str, quote, None, ":", ",", False, False, True)
        if "".join(chunks([1, "a", None, {"b": 2.5}], 0)) != '[1,"a",null,{"b":2.5}]':
            return fallback
    except Exception:  # its parameters are no documented interface
        return fallback
    return lambda value: "".join(chunks(value, 0))


encode: Callable[[Any], str] = _build_encoder()


class TraceLog:
    """One recording under way. It never raises what goes wrong with its file."""

    def __init__(
        self,
        path: str,
        header: Dict[str, Any],
        budget_bytes: int = BUDGET,
        keep: str = "newest",
        drop_first: str = "",
    ) -> None:
        """`drop_first`: how lines begin that go before other detail does, such as `["r"`."""
        self.path = path
        self.is_full = False
        """Whether no more detail is written."""
        self.dropped = 0
        """How many lines of detail went, or were not written."""
        self.failure: Optional[str] = None
        self._budget = max(budget_bytes, _MIN_BUDGET)
        self._keeps_newest = keep == "newest"
        self._drop_first = drop_first.encode()
        self._pending: Deque[str] = collections.deque()
        self._lock = allocate_lock()
        self._pid = _getpid()
        self._size = 0
        self._fd = -1
        try:
            self._fd = _move_high(_open(path, _FLAGS | os.O_TRUNC, 0o600))
        except OSError as error:
            self._fail(error)
        self.write(header)
        self.flush()

    @property
    def is_open(self) -> bool:
        return self._fd >= 0 and self._pid == _getpid()

    def write(self, line: Union[Dict[str, Any], List[Any]]) -> None:
        """Add a line; `flush` brings it to the file."""
        self.write_text(encode(line))

    def write_text(self, line: str) -> None:
        """Add a line that is JSON already."""
        if self.is_full and line.startswith("["):
            self.dropped += 1
        elif self._fd >= 0:
            self._pending.append(line)

    def write_now(self, line: str) -> None:
        """Add a line that is JSON already, and bring it to the file."""
        if self._pending or not self._lock.acquire(False):
            self.write_text(line)
            self.flush()
            return
        try:
            if self._fd < 0 or self._pid != _getpid() or self.is_full:
                self.write_text(line)
            else:
                self._write_lines([line])
        finally:
            self._lock.release()
        if self._pending:
            self.flush()

    def flush(self) -> None:
        """Write what was added; lines stay whole, whoever interrupts."""
        pending, lock = self._pending, self._lock
        while pending:
            if self._fd < 0 or self._pid != _getpid():
                pending.clear()  # a forked child: the recording is its parent's
                return
            if not lock.acquire(False):
                return  # whoever has it looks again when it is released
            try:
                self._write_pending()
            finally:
                lock.release()

    def close(self) -> None:
        """Write all, say what is missing, and close the file. It may be called again."""
        if self.is_full and not self._keeps_newest and self.dropped and self.is_open:
            self.write({"dropped": self.dropped, "keep": "oldest"})
        self.flush()
        fd, self._fd = self._fd, -1
        if fd >= 0:
            _close_quietly(fd)

    # -- the file ---------------------------------------------------------------------------------

    def _write_pending(self) -> None:
        pending = self._pending
        lines = []
        while pending:
            lines.append(pending.popleft())
        self._write_lines(lines)

    def _write_lines(self, lines: List[str]) -> None:
        data = ("\n".join(lines) + "\n").encode("ascii", "backslashreplace")
        try:
            self._write_all(data)
        except OSError as error:
            self._fail(error)
            return
        except BaseException:  # raised by a signal handler of the program, before anything was done
            self._pending.extendleft(reversed(lines))
            raise
        if self._size > self._budget and not self.is_full:
            self._make_room()
        elif self._size > self._budget + _SLACK:
            self._fail(OSError("the recording has outgrown its budget"))

    def _write_all(self, data: bytes) -> None:
        try:
            count = _write(self._fd, data)
        except OSError as error:
            if error.errno != errno.EBADF:
                raise
            self._fd = _move_high(_open(self.path, _FLAGS, 0o600))  # the program has closed it
            count = _write(self._fd, data)
        self._size += count
        while count < len(data):  # the disk is nearly full: the next attempt says so
            more = _write(self._fd, data[count:])
            count += more
            self._size += more

    def _fail(self, error: BaseException) -> None:
        """Nothing more is written."""
        self.failure = "%s: %s" % (type(error).__name__, error)
        self.is_full = True
        self._pending.clear()
        fd, self._fd = self._fd, -1
        if fd < 0:
            return
        try:
            _write(fd, b"\n" + _encode_line({"failed": self.failure}))
        except OSError:
            pass  # as is to be expected on a full disk
        _close_quietly(fd)

    def _make_room(self) -> None:
        if not self._keeps_newest:
            self.is_full = True
            return
        try:
            self._compact()
        except OSError as error:
            self._fail(error)

    def _compact(self) -> None:
        """Copy the file without its oldest detail, to half of its budget."""
        to_drop = self._choose_dropped(self._size - self._budget // 2)
        copy = self.path + ".new"
        fd = _open(copy, _FLAGS | os.O_TRUNC, 0o600)
        try:
            size, dropped = self._copy_lines(fd, to_drop)
            _replace(copy, self.path)
        except BaseException:
            _close(fd)
            _unlink(copy)
            raise
        old, self._fd = self._fd, _move_high(fd)
        _close_quietly(old)
        self.dropped += dropped
        self._size = size
        if size > self._budget * 3 // 4:  # lasting lines: another attempt would not help
            self.is_full = True

    def _choose_dropped(self, excess: int) -> List[int]:
        """How many bytes of each kind of detail go: of what goes first, and of the rest."""
        first = sum(len(line) for line in self._read_lines() if self._kind_of(line) == 0)
        return [excess, max(0, excess - first)]

    def _kind_of(self, line: bytes) -> int:
        """0: detail that goes first, 1: other detail, 2: a line that stays."""
        if not line.startswith(b"["):
            return 2
        return 0 if self._drop_first and line.startswith(self._drop_first) else 1

    def _copy_lines(self, fd: int, to_drop: List[int]) -> Tuple[int, int]:
        """Copy what stays; returns its size, and how many lines went."""
        size = dropped = gap = 0
        kept: List[bytes] = []
        for line in self._read_lines():
            kind = self._kind_of(line)
            if kind < 2 and to_drop[kind] > 0:
                to_drop[kind] -= len(line)
                gap += 1
                dropped += 1
                continue
            if line.startswith(_DROPPED):  # what went earlier, from the same place
                gap += int(json.loads(line)["dropped"])
                continue
            if gap:
                kept.append(_encode_line({"dropped": gap, "keep": "newest"}))
                gap = 0
            kept.append(line)
            if len(kept) > 1000:
                size += _write_chunk(fd, kept)
        if gap:
            kept.append(_encode_line({"dropped": gap, "keep": "newest"}))
        return size + _write_chunk(fd, kept), dropped

    def _read_lines(self) -> Iterator[bytes]:
        with _open_file(self.path, "rb", _COPY_SIZE) as file:
            yield from file


def _write_chunk(fd: int, lines: List[bytes]) -> int:
    data = b"".join(lines)
    lines.clear()
    done = 0
    while done < len(data):
        done += _write(fd, data[done:])
    return done


def _encode_line(line: Dict[str, Any]) -> bytes:
    return (encode(line) + "\n").encode("ascii", "backslashreplace")


def _close_quietly(fd: int) -> None:
    try:
        _close(fd)
    except OSError:
        pass  # the program has closed it


def _move_high(fd: int) -> int:
    """The same file under a number that programs do not use."""
    if fcntl is None:
        return fd
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    is_unlimited = limit == resource.RLIM_INFINITY
    high = _HIGH_DESCRIPTOR if is_unlimited else max(fd, min(_HIGH_DESCRIPTOR, limit - 8))
    try:
        moved: int = fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, high)
    except OSError:
        return fd
    _close_quietly(fd)
    return moved
