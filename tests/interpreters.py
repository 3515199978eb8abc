"""The Pythons on this machine that a target may run on, one for each minor version."""

from __future__ import annotations

import functools
import glob
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass

OLDEST, NEWEST = (3, 9), (3, 14)
_ASK = "import sys; print(sys.executable, *sys.version_info[:2], sep='\\n')"


@dataclass(frozen=True)
class Interpreter:
    path: str
    version: tuple[int, int]

    def __str__(self) -> str:
        return "python{}.{}".format(*self.version)


@functools.cache
def find_interpreters() -> list[Interpreter]:
    """This interpreter, and one of every other supported version, oldest first."""
    by_version: dict[tuple[int, int], Interpreter] = {}
    for candidate in _candidates():
        interpreter = _query(candidate)
        if interpreter is not None and OLDEST <= interpreter.version <= NEWEST:
            by_version.setdefault(interpreter.version, interpreter)
    return [by_version[version] for version in sorted(by_version)]


def find_other_interpreters() -> list[Interpreter]:
    """All but the version that runs the tests."""
    return [each for each in find_interpreters() if each.version != sys.version_info[:2]]


def _candidates() -> list[str]:
    pyenv = os.path.expanduser("~/.pyenv/versions/*/bin/python")
    names = [f"python3.{minor}" for minor in range(OLDEST[1], NEWEST[1] + 1)]
    on_path = [shutil.which(name) for name in names]
    return [sys.executable, *sorted(glob.glob(pyenv)), *filter(None, on_path)]


def _query(path: str) -> Interpreter | None:
    """A shim on the PATH may stand for a version that is not installed: ask it."""
    try:
        answer = subprocess.run(
            [path, "-I", "-c", _ASK], capture_output=True, text=True, timeout=30, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    executable, major, minor = answer.stdout.splitlines()
    return Interpreter(executable, (int(major), int(minor)))
