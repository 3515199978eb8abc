"""A directory in the file system of a process that does not see ours, or may not read it.

It holds what attaching needs there: the probe, debugpy, the ticket, and a Unix socket, which a
process reaches from any network namespace. Only the process's user can enter it. It is removed
when the debugger leaves, also after the process has ended.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import platform
import shutil
import socket
import stat
import sys
from collections.abc import Iterator
from pathlib import Path

from holdfast import errors
from holdfast.targets.program.debugger_files import DEBUGPY, PROBE, name_copy
from holdfast.targets.program.process_view import ProcessView
from holdfast.targets.program.python_processes import find_version
from holdfast.trust.private_files import is_private_directory

_PLACES = ("tmp", "var/tmp", "dev/shm", "run")
_LIBRARY_FOLDER = "debugpy/_vendored/pydevd/pydevd_attach_to_process"
_UNUSED = {"winappdbg", "windows", "linux_and_mac"}
_CACHE_HOME = os.environ.get("XDG_CACHE_HOME", "")
# A relative one is to be ignored.
_CACHE_HOME = _CACHE_HOME if os.path.isabs(_CACHE_HOME) else os.path.expanduser("~/.cache")
_CACHES = Path(_CACHE_HOME, "holdfast", "pycache")


class AttachFolder:
    def __init__(self, view: ProcessView, place: int, name: str, path: str) -> None:
        self._view = view
        self._place, self._name = place, name
        self._fd = os.open(name, _DIRECTORY, dir_fd=place)
        self._bytecode_tag = (find_version(view.pid) or "none").replace(".", "")
        self.path = path
        """As the process sees it."""

    # -- its making -------------------------------------------------------------------------

    @classmethod
    def create(cls, view: ProcessView) -> AttachFolder:
        """Make it and copy everything there. Call it in a thread."""
        problems = []
        name = _build_name(view)
        for place in _PLACES:
            try:
                folder = cls._create_in(view, place, name)
            except OSError as problem:
                problems.append(f"/{place}: {problem.strerror or problem}")
                continue
            try:
                folder._fill()
            except OSError as problem:
                problems.append(f"/{place}: {problem.strerror or problem}")
                folder.remove()
                continue
            return folder
        raise errors.AttachFailed(
            f"cannot attach to process {view.pid}: it has {', '.join(view.differences)}, and no"
            " directory there can take the debugger's files",
            hint="Make /tmp writable there; or start the program with `python -m debugpy --listen`"
            " there and attach to that port.",
            pid=view.pid,
            tried=problems,
        )

    @classmethod
    def _create_in(cls, view: ProcessView, place: str, name: str) -> AttachFolder:
        fd = _open_below(f"/proc/{view.pid}/root", place)
        try:
            flags = os.fstatvfs(fd).f_flag
            if flags & (os.ST_RDONLY | os.ST_NOEXEC):
                raise OSError("nothing can be written, or nothing executed")
            with contextlib.suppress(FileNotFoundError):
                _remove_left(fd, name, view)
            os.mkdir(name, 0o700, dir_fd=fd)
            return cls(view, fd, name, f"/{place}/{name}")
        except BaseException:
            os.close(fd)
            raise

    def _fill(self) -> None:
        here = self._here
        for source, folder in (
            (PROBE, here / "probe"),
            (Path(DEBUGPY) / "debugpy", here / "debugpy"),
        ):
            for file in _list_sources(source):
                copy = folder / file.relative_to(source)
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, copy)
                self._copy_bytecode(file, copy)
        for path in here.rglob("*"):
            os.chown(path, self._view.uid, self._view.gid, follow_symlinks=False)

    def hand_over(self) -> None:
        """Give it to the process's user, once everything is in it.

        Before that, nobody can exchange a file there, so that another's would be given away."""
        os.fchown(self._fd, self._view.uid, self._view.gid)

    def _copy_bytecode(self, source: Path, copy: Path) -> None:
        """Compiling everything there would take a second."""
        name = f"{source.stem}.cpython-{self._bytecode_tag}.pyc"
        folders = [source.parent / "__pycache__"]
        if is_private_directory(_CACHES.parent):  # or somebody could have put code there
            folders.insert(0, _CACHES / str(source.parent).lstrip("/"))
        for folder in folders:
            compiled = folder / name
            if compiled.exists():
                (copy.parent / "__pycache__").mkdir(exist_ok=True)
                with contextlib.suppress(OSError):
                    shutil.copy2(compiled, copy.parent / "__pycache__" / name)
                return

    # -- what is in it ----------------------------------------------------------------------

    @property
    def pid(self) -> int:
        return self._view.pid

    @property
    def _here(self) -> Path:
        """As this server reaches it, whatever the process does to its file system."""
        return Path(f"/proc/self/fd/{self._fd}")

    @property
    def probe(self) -> str:
        return f"{self.path}/probe"

    @property
    def library(self) -> str:
        """What gdb loads into the process."""
        return f"{self.path}/{_LIBRARY_FOLDER}/{_library_name()}"

    def bind_socket(self) -> tuple[socket.socket, str]:
        """A socket that listens in it, and its path for the process."""
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        try:
            listener.bind(str(self._here / "socket"))
            self._give("socket")
        except BaseException:
            listener.close()
            raise
        return listener, f"{self.path}/socket"

    def write_ticket(self, text: str) -> str:
        """A file that only the process's user can read; its path for the process."""
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with open(os.open("ticket", flags, 0o600, dir_fd=self._fd), "w") as file:
            file.write(text)
        self._give("ticket")
        return f"{self.path}/ticket"

    def remove_ticket(self) -> None:
        if self._fd >= 0:
            for name in ("ticket", "socket"):
                with contextlib.suppress(OSError):
                    os.unlink(name, dir_fd=self._fd)

    def _give(self, name: str) -> None:
        os.chown(name, self._view.uid, self._view.gid, dir_fd=self._fd, follow_symlinks=False)

    # -- its end ----------------------------------------------------------------------------

    def remove(self) -> None:
        if self._fd < 0:
            return
        with contextlib.suppress(OSError):
            _remove_tree(self._place, self._name)
        os.close(self._fd)
        os.close(self._place)
        self._fd = -1


_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC


def _build_name(view: ProcessView) -> str:
    """The same for one process every time: it has kept modules that know where they came from."""
    with open(f"/proc/{view.pid}/stat") as file:
        began = file.read().rpartition(")")[2].split()[19]
    return name_copy(hashlib.sha256(f"{view.pid} {began}".encode()).hexdigest())


def _open_below(root: str, place: str) -> int:
    """Without following links, which would lead out of the process's file system into ours."""
    fd = os.open(root, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    for part in place.split("/"):
        try:
            following = os.open(part, _DIRECTORY, dir_fd=fd)
        finally:
            os.close(fd)
        fd = following
    return fd


def _remove_left(place: int, name: str, view: ProcessView) -> None:
    """One that a server left that was killed. Somebody else's is not touched."""
    status = os.stat(name, dir_fd=place, follow_symlinks=False)
    is_ours = status.st_uid in (view.uid, os.geteuid()) and stat.S_ISDIR(status.st_mode)
    if not is_ours:
        raise OSError(f"{name} is somebody else's")
    _remove_tree(place, name)


def _remove_tree(place: int, name: str) -> None:
    """`shutil.rmtree` takes no directory descriptor before 3.11, so it gets a path through one."""
    shutil.rmtree(f"/proc/self/fd/{place}/{name}")


def _list_sources(folder: Path) -> Iterator[Path]:
    for directory, names, files in os.walk(folder):
        names[:] = [name for name in names if name not in _UNUSED and name != "__pycache__"]
        for file in files:
            if file.endswith(".py") or file == _library_name():
                yield Path(directory) / file


def _library_name() -> str:
    bits = "amd64" if sys.maxsize > 2**32 else "x86"
    known = {"aarch64": "attach_linux_aarch64.so"}
    return known.get(platform.machine(), f"attach_linux_{bits}.so")
