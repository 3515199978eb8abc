"""Reading a process from outside: what is kept of it, and what is said when it cannot be read."""

from __future__ import annotations

import asyncio
import subprocess
from typing import Any

import pytest

from holdfast.targets.program import outside_stacks
from holdfast.targets.program.debugger_files import PROBE, name_copy
from holdfast.targets.program.outside_stacks import UnreadableProcess, parse_dump, read_stacks

PYDEVD = "/x/debugpy/_vendored/pydevd/pydevd.py"


def make_thread(ident: int, name: str | None, *frames: tuple[str, str], gil: bool = False) -> Any:
    return {
        "thread_id": ident,
        "thread_name": name,
        "owns_gil": gil,
        "frames": [{"name": each, "filename": file, "line": 3} for each, file in frames],
    }


def test_the_threads_and_frames_of_the_debugger_are_left_out() -> None:
    runner = f"{PROBE}/program_runner.py"
    dump = [
        make_thread(10, "pydevd.Reader", ("_on_run", PYDEVD)),
        make_thread(11, "holdfast-repr", ("run", f"{PROBE}/bounded_calls.py")),
        make_thread(12, None, ("wait", "/lib/threading.py"), ("_on_run", PYDEVD)),
        make_thread(
            13,
            "MainThread",
            *(("Shop.add", "/app.py"), ("<module>", "/app.py"), ("_exec", runner)),
            ("main", "/x/boot.py"),
            gil=True,
        ),
        make_thread(
            *(16, None, ("Event.wait", "/lib/threading.py"), ("Thread.run", "/lib/threading.py")),
            ("__call__", PYDEVD),
        ),
        make_thread(14, "worker", ("f.<locals>.g", "/app.py"), ("run", "/lib/threading.py")),
        make_thread(
            *(15, "held", ("Event.wait", "/lib/threading.py"), ("PyDB.do_wait_suspend", PYDEVD)),
            ("work", "/app.py"),
        ),
    ]
    stacks = parse_dump(dump, {13: 1, 15: 2})
    shown = {
        thread.id: (thread.name, [frame.function for frame in thread.frames], thread.is_held)
        for thread in stacks.threads
    }
    assert shown == {
        1: ("MainThread", ["add", "<module>"], False),
        2: ("held", ["work"], True),
        14: ("worker", ["g", "run"], False),
        16: ("", ["wait", "run"], False),
    }
    assert stacks.gil_holder is stacks.find(1)
    assert stacks.threads[0].frames[0].qualname == "Shop.add"


def test_a_program_in_a_directory_called_as_ours_keeps_its_frames() -> None:
    copy = f"/tmp/{name_copy('0123456789abcdef0123')}/probe/program_runner.py"
    frames = [
        ("total", "/home/me/holdfast/probe/shop.py"),
        ("<module>", "/home/me/holdfast/run.py"),
    ]
    for runner in (copy, "<holdfast>/program_runner.py", f"{PROBE}/program_runner.py"):
        stacks = parse_dump([make_thread(13, "MainThread", *frames, ("_exec", runner))], {13: 1})
        assert [frame.function for frame in stacks.threads[0].frames] == ["total", "<module>"]


def test_a_debugger_at_work_is_told_from_one_that_cannot_answer() -> None:
    reader = make_thread(10, "pydevd.Reader", ("_on_run", PYDEVD), gil=True)
    main = make_thread(13, "MainThread", ("f", "/app.py"))
    assert parse_dump([reader, main], {13: 1}).is_debugger_busy
    assert not parse_dump([main], {13: 1}).is_debugger_busy


def test_a_process_that_is_no_python_is_refused_with_a_reason() -> None:
    with subprocess.Popen(["sleep", "100"]) as process:
        try:
            with pytest.raises(UnreadableProcess, match=f"process {process.pid} cannot be read"):
                asyncio.run(read_stacks(process.pid, {}))
        finally:
            process.kill()


def test_a_pid_that_means_another_process_here_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    dump = [make_thread(10, "MainThread", ("f", "/app.py"))]
    monkeypatch.setattr(outside_stacks, "_run_py_spy", lambda _program, _pid: dump)
    with pytest.raises(UnreadableProcess, match="is not the program"):
        asyncio.run(read_stacks(1, {99: 1}))
    assert asyncio.run(read_stacks(1, {10: 1})).threads[0].id == 1


def test_without_py_spy_the_answer_says_how_to_get_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outside_stacks, "find_py_spy", lambda: None)
    with pytest.raises(UnreadableProcess, match=r"pip install 'holdfast\[server\]'"):
        asyncio.run(read_stacks(1, {}))
