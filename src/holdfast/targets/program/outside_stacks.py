"""Reads the stacks of a process from outside its interpreter, with py-spy.

While C code holds the interpreter's lock (the GIL), nothing inside can answer. py-spy reads the
memory of the process instead, without stopping it. It knows where each thread is, and no values.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.metadata
import json
import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

from holdfast import timings
from holdfast.targets.program.debugger_files import is_debugger_file

_TRIES = 2  # a process that runs on may change under its hands
_OUR_THREADS = ("pydevd.", "holdfast-")


class UnreadableProcess(Exception):
    """The process cannot be read from outside; the message says why."""


@dataclass(frozen=True, slots=True)
class OutsideFrame:
    function: str
    qualname: str
    file: str
    line: int


@dataclass(frozen=True, slots=True)
class OutsideThread:
    id: int
    """The debugger's id for it, or the interpreter's if the debugger has not named it yet."""
    name: str
    frames: tuple[OutsideFrame, ...]
    holds_gil: bool
    is_held: bool
    """The debugger holds it at a stop."""


@dataclass(frozen=True, slots=True)
class OutsideStacks:
    """The program's own threads. Those of the debugger are left out."""

    threads: tuple[OutsideThread, ...]
    is_debugger_busy: bool = False
    """A thread of the debugger has the interpreter's lock: it is at work, and will answer."""

    @property
    def gil_holder(self) -> OutsideThread | None:
        return next((thread for thread in self.threads if thread.holds_gil), None)

    def find(self, thread_id: int) -> OutsideThread | None:
        return next((thread for thread in self.threads if thread.id == thread_id), None)


async def read_stacks(pid: int, known: Mapping[int, int]) -> OutsideStacks:
    """The stacks of a process. `known`: the debugger's thread ids by the interpreter's."""
    program = find_py_spy()
    if program is None:
        raise UnreadableProcess(
            "py-spy, which reads a process from outside, is not installed here "
            "(pip install 'holdfast[server]' brings it)"
        )
    dump = await asyncio.to_thread(_run_py_spy, program, pid)
    if known and not any(thread["thread_id"] in known for thread in dump):
        # The pid was reported from another machine or namespace, and means another process here.
        raise UnreadableProcess(f"process {pid} of this machine is not the program")
    return parse_dump(dump, known)


@cache
def find_py_spy() -> str | None:
    """The path of the py-spy that was installed with this package, or of another one."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        for file in importlib.metadata.files("py-spy") or ():
            path = os.path.normpath(str(file.locate()))
            if file.stem == "py-spy" and os.access(path, os.X_OK):
                return path
    return shutil.which("py-spy")


def _run_py_spy(program: str, pid: int) -> list[dict[str, Any]]:
    command = [program, "dump", "--json", "--nonblocking", "--pid", str(pid)]
    for tries_left in reversed(range(_TRIES)):
        try:
            done = subprocess.run(  # it kills the process when the time is up
                command,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=timings.TIMINGS.outside_look / _TRIES,
                env={"LC_ALL": "C"},
                check=False,
            )
            if done.returncode == 0:
                dump: list[dict[str, Any]] = json.loads(done.stdout)
                return dump
            problem = _last_line(done.stderr) or f"py-spy ended with {done.returncode}"
        except subprocess.TimeoutExpired:
            problem = "py-spy did not return in time"
        except (OSError, ValueError) as error:
            problem = f"py-spy: {error}"
        if not tries_left:
            break
    raise UnreadableProcess(f"process {pid} cannot be read from outside: {problem}")


def _last_line(text: bytes) -> str:
    lines = text.decode(errors="replace").strip().splitlines()
    return lines[-1].removeprefix("Error: ").strip() if lines else ""


# -- what py-spy says -----------------------------------------------------------------------------


def parse_dump(dump: Sequence[Mapping[str, Any]], known: Mapping[int, int]) -> OutsideStacks:
    """The program's own threads in a dump of py-spy, in the order of their ids."""
    threads = [
        OutsideThread(
            id=known.get(thread["thread_id"], thread["thread_id"]),
            name=thread.get("thread_name") or "",
            frames=_drop_debugger_frames(thread["frames"]),
            holds_gil=bool(thread.get("owns_gil")),
            is_held=any("do_wait_suspend" in frame["name"] for frame in thread["frames"]),
        )
        for thread in dump
        if thread["thread_id"] in known or _is_of_program(thread)
    ]
    is_held_by_program = any(thread.holds_gil for thread in threads)
    return OutsideStacks(
        tuple(sorted(threads, key=lambda thread: thread.id)),
        not is_held_by_program and any(thread.get("owns_gil") for thread in dump),
    )


def _is_of_program(thread: Mapping[str, Any]) -> bool:
    """Whether it runs a function of the program, or a class of its own. The debugger's own threads
    all have a `run` of theirs, and call nothing but the debugger and `threading`."""
    if (thread.get("thread_name") or "").startswith(_OUR_THREADS):
        return False
    return any(
        not frame["filename"].endswith("/threading.py") or _short_name(frame["name"]) == "run"
        for frame in thread["frames"]
        if not is_debugger_file(frame["filename"])
    )


def _drop_debugger_frames(frames: Sequence[Mapping[str, Any]]) -> tuple[OutsideFrame, ...]:
    """As the probe does: without the frames of the debugger, and those that started the program."""
    own: list[OutsideFrame] = []
    for frame in frames:
        name = _short_name(frame["name"])
        if not is_debugger_file(frame["filename"]):
            own.append(OutsideFrame(name, frame["name"], frame["filename"], int(frame["line"])))
        elif name == "do_wait_suspend":
            own.clear()  # the debugger called these, to hold the thread
        elif own and name == "_exec":
            break
    return tuple(own)


def _short_name(name: str) -> str:
    """The function's name without its class, as older Pythons give it."""
    return name.rpartition(".")[2]
