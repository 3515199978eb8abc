"""Directories and files for their owner alone, whatever the umask.

Somebody else's are refused, and a symbolic link in place of a file is never followed. `NotPrivate`
says what is wrong and is an OSError, so that whoever handles a bad disk handles this too.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from pathlib import Path

MAX_BYTES = 1 << 20
_FLAGS = 0
for _flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_NOCTTY", "O_CLOEXEC"):
    _FLAGS |= getattr(os, _flag, 0)
_OTHERS = stat.S_IRWXG | stat.S_IRWXO
_OTHERS_WRITE = stat.S_IWGRP | stat.S_IWOTH


class NotPrivate(PermissionError):
    """A file or directory is another user's, can be read by others, or is not what it should be."""

    def __init__(self, message: str) -> None:
        super().__init__(message)

    def __str__(self) -> str:
        return str(self.args[0])


# -- directories ---------------------------------------------------------------------------------


def make_private_directory(path: Path) -> list[str]:
    """Create what is missing of it, for its owner alone. Returns warnings.

    A directory of ours that others may use is tightened, with a warning. Another user's is refused.
    """
    create_missing(path)
    _refuse_foreign_link(path)
    handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        status = os.fstat(handle)
        if status.st_uid != os.geteuid():
            raise NotPrivate(f"{path} belongs to {_name(status.st_uid)}, not to you")
        warnings = []
        if status.st_mode & _OTHERS:
            os.fchmod(handle, 0o700)
            mode = stat.S_IMODE(status.st_mode)
            warnings.append(
                f"{path} could be used by other users (mode {mode:04o}); it is yours alone now "
                "(0700). Look whether somebody has been there."
            )
    finally:
        os.close(handle)
    return warnings


def create_missing(path: Path) -> None:
    """Create what is missing of a directory and of those above it, for their owner alone."""
    missing = [folder for folder in (path, *path.parents) if not os.path.lexists(folder)]
    for folder in reversed(missing):
        with contextlib.suppress(FileExistsError):
            folder.mkdir(mode=0o700)
            folder.chmod(0o700)  # the umask may have taken rights of the owner


def _refuse_foreign_link(path: Path) -> None:
    status = os.lstat(path)
    if stat.S_ISLNK(status.st_mode) and status.st_uid not in (os.geteuid(), 0):
        raise NotPrivate(
            f"{path} is a symbolic link of {_name(status.st_uid)}, which is not followed"
        )


def is_private_directory(path: Path) -> bool:
    """Whether only we can have put something there."""
    try:
        link, status = os.lstat(path), os.stat(path)
    except OSError:
        return False
    is_ours = link.st_uid == status.st_uid == os.geteuid()
    return is_ours and stat.S_ISDIR(status.st_mode) and not status.st_mode & _OTHERS_WRITE


def check_parents(path: Path) -> list[str]:
    """Warnings about directories above that others may change.

    They could rename ours, and put another in its place."""
    warnings = []
    for parent in Path(os.path.realpath(path)).parents:
        status = os.stat(parent)
        is_open = status.st_mode & _OTHERS_WRITE and not status.st_mode & stat.S_ISVTX
        if is_open or status.st_uid not in (os.geteuid(), 0):
            warnings.append(
                f"{parent}, above {path}, can be changed by other users "
                f"({_name(status.st_uid)}, mode {stat.S_IMODE(status.st_mode):04o}): they can put "
                "another directory in its place. Choose a place below your home directory."
            )
    return warnings


def _name(uid: int) -> str:
    import pwd  # only for messages

    try:
        return f"user {pwd.getpwuid(uid).pw_name}"
    except KeyError:
        return f"user {uid}"


# -- files ---------------------------------------------------------------------------------------


def open_private_file(path: Path, flags: int) -> int:
    """A descriptor of our own regular file at `path`, which others may not use from now on."""
    handle = _open(path, flags)
    try:
        status = os.fstat(handle)
        if status.st_uid != os.geteuid():
            raise NotPrivate(f"{path} belongs to {_name(status.st_uid)}, not to you")
        if stat.S_IMODE(status.st_mode) != 0o600:
            os.fchmod(handle, 0o600)
    except BaseException:
        os.close(handle)
        raise
    return handle


def read_private_file(path: Path) -> bytes:
    """What only we, or root, can have written; refused if others can read it."""
    with open(_open(path, os.O_RDONLY), "rb") as file:
        status = os.fstat(file.fileno())
        if status.st_uid not in (os.geteuid(), 0):
            raise NotPrivate(f"{path} belongs to {_name(status.st_uid)}, not to you")
        if status.st_mode & _OTHERS:
            mode = stat.S_IMODE(status.st_mode)
            raise NotPrivate(f"{path} can be used by other users (mode {mode:04o}, not 0600)")
        data = file.read(MAX_BYTES + 1)
    if len(data) > MAX_BYTES:
        raise NotPrivate(f"{path} is larger than {MAX_BYTES} bytes")
    return data


def write_private_file(path: Path, text: str) -> None:
    """Write a file whole or not at all. What was there is replaced, also if it was a link."""
    beside = path.with_name(f".{path.name}.{os.urandom(8).hex()}")
    handle = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _FLAGS, 0o600)
    try:
        with open(handle, "w", encoding="utf-8") as stream:
            os.fchmod(handle, 0o600)
            stream.write(text)
        os.replace(beside, path)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(beside)
        raise


def _open(path: Path, flags: int) -> int:
    try:
        handle = os.open(path, flags | _FLAGS, 0o600)
    except OSError as problem:
        if problem.errno == errno.ELOOP:
            raise NotPrivate(f"{path} is a symbolic link, which is not followed") from None
        raise
    if not stat.S_ISREG(os.fstat(handle).st_mode):
        os.close(handle)
        raise NotPrivate(f"{path} is not a regular file")
    return handle


def take_room(handle: int, size: int) -> None:
    """Take the room on the disk. A mapped page without room kills whoever touches it."""
    if hasattr(os, "posix_fallocate"):
        try:
            os.posix_fallocate(handle, 0, size)
            return
        except OSError as problem:
            if problem.errno not in (errno.EOPNOTSUPP, errno.EINVAL):
                raise
    if os.pwrite(handle, bytes(size), 0) != size:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
