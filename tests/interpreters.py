"""The Pythons on this machine that tests run programs on.

What depends on the version of Python is tested on the oldest and on the newest of them, and on
every one with `HOLDFAST_EVERY_PYTHON=1`, as in `make soak`. Between the two the debugger changes
its ways once: from 3.12 on it uses `sys.monitoring`.
"""

from __future__ import annotations

import functools
import glob
import os
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from own_environment import IS_SOAK, callers_home

OLDEST, NEWEST = (3, 9), (3, 14)
MONITORING = (3, 12)
"""The first version that has `sys.monitoring`."""
_ASK = "import sys; print(sys.executable, *sys.version_info[:2], sep='\\n')"


@dataclass(frozen=True)
class Interpreter:
    path: str
    version: tuple[int, int]

    def __str__(self) -> str:
        return "python{}.{}".format(*self.version)


@functools.cache
def find_interpreters() -> list[Interpreter]:
    """One of every supported version, oldest first."""
    by_version: dict[tuple[int, int], Interpreter] = {}
    for candidate in _candidates(by_version):
        interpreter = _query(candidate)
        if interpreter is not None and OLDEST <= interpreter.version <= NEWEST:
            by_version.setdefault(interpreter.version, interpreter)
    return [by_version[version] for version in sorted(by_version)]


def choose_interpreters(before: tuple[int, int] | None = None) -> list[Interpreter]:
    """The oldest and the newest, or all. If a version is given, only of those before it."""
    found = [each for each in find_interpreters() if before is None or each.version < before]
    if IS_SOAK:
        return found
    return list(dict.fromkeys([*found[:1], *found[-1:]]))


def choose_traced_interpreters() -> list[Interpreter]:
    """The same, and the newest without `sys.monitoring`, where code is rewritten in another way."""
    return sorted(
        {*choose_interpreters(before=MONITORING), *choose_interpreters()},
        key=lambda each: each.version,
    )


def choose_other_interpreters() -> list[Interpreter]:
    """The oldest and the newest, or all, but for the version that runs the tests."""
    return [each for each in choose_interpreters() if each.version != sys.version_info[:2]]


def _candidates(known: Collection[tuple[int, int]]) -> Iterator[str]:
    """Paths to ask. A name on the PATH only if its version is not known by then."""
    yield sys.executable
    pyenv = os.environ.get("PYENV_ROOT") or str(callers_home() / ".pyenv")
    # In a directory that is another user's, it finds nothing.
    yield from sorted(glob.glob(f"{glob.escape(pyenv)}/versions/*/bin/python"))
    for minor in range(OLDEST[1], NEWEST[1] + 1):
        if (3, minor) not in known and (found := shutil.which(f"python3.{minor}")):
            yield found


def _query(path: str) -> Interpreter | None:
    """A shim on the PATH may stand for a version that is not installed: ask it."""
    try:
        answer = subprocess.run(
            [path, "-I", "-c", _ASK], capture_output=True, text=True, timeout=60, check=True
        )
    except (OSError, subprocess.SubprocessError):
        return None
    executable, major, minor = answer.stdout.splitlines()
    return Interpreter(executable, (int(major), int(minor)))
