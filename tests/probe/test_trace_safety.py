"""A recording survives what the program does to itself, and leaves the program as it is."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.model.trace import LoopRun, Step
from interpreters import Interpreter, choose_interpreters
from traced_programs import TracedRun, run_plain, run_traced

PYTHONS = pytest.mark.parametrize("interpreter", choose_interpreters(), ids=str)


def write(folder: Path, text: str) -> Path:
    script = folder / "program.py"
    script.write_text(text)
    return script


def list_lines(run: TracedRun) -> list[int]:
    return [item.line for item in run.picked.items]


ENDS = {
    "segfault": "import ctypes; ctypes.string_at(0)",
    "killed": "import os, signal; os.kill(os.getpid(), signal.SIGKILL)",
    "exit": "import os; os._exit(3)",
    "exec": "import os, sys; os.execv(sys.executable, [sys.executable, '-c', 'pass'])",
}


@PYTHONS
@pytest.mark.parametrize("end", ENDS)
def test_what_happened_is_in_the_file_when_the_process_is_gone(
    interpreter: Interpreter, end: str, tmp_path: Path
) -> None:
    script = write(
        tmp_path,
        "def work(n):\n"
        "    total = n\n"
        "    total += 1\n"
        f"    {ENDS[end]}\n"
        "    return total\n"
        "work(5)\n",
    )
    run = run_traced(interpreter.path, script, "work", tmp_path)
    assert run.picked.outcome == "running"
    steps = [item for item in run.picked.items if isinstance(item, Step)]
    assert [step.line for step in steps][:2] == [2, 3]
    assert [change.text for step in steps for change in step.changes][:2] == [
        "total = 5",
        "total = 6",
    ]
    last = [json.loads(line) for line in run.lines if line.startswith(b'["s"')][1]
    assert last[4] == 4  # the line that was about to run


@PYTHONS
def test_a_forked_child_records_nothing(interpreter: Interpreter, tmp_path: Path) -> None:
    script = write(
        tmp_path,
        "import os, sys\n"
        "def work(n):\n"
        "    pid = os.fork()\n"
        "    if pid == 0:\n"
        "        for i in range(300):\n"
        "            n += i\n"
        "        os._exit(n % 50)\n"
        "    status = os.waitpid(pid, 0)[1]\n"
        "    return os.WEXITSTATUS(status)\n"
        "print(work(1), work(2))\n",
    )
    run = run_traced(interpreter.path, script, "work", tmp_path)
    assert run.output == run_plain(interpreter.path, script).output
    assert [frame.outcome for frame in run.frames] == ["returned", "returned"]
    assert list_lines(run) == [3, 4, 8, 9]
    assert run.remarks == []


@PYTHONS
def test_signal_handlers_that_raise_reach_the_program(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    # The handler runs in whatever code is under way, and most of that is the recorder's.
    script = write(
        tmp_path,
        "import signal\n"
        "class Alarm(Exception):\n"
        "    pass\n"
        "def ring(number, frame):\n"
        "    raise Alarm\n"
        "def work(n):\n"
        "    caught = 0\n"
        "    while caught < n:\n"
        "        try:\n"
        "            total = 0\n"
        "            while True:\n"
        "                total = total + 1\n"
        "                items = [total]\n"
        "        except Alarm:\n"
        "            caught += 1\n"
        "    return caught\n"
        "signal.signal(signal.SIGALRM, ring)\n"
        "signal.setitimer(signal.ITIMER_REAL, 0.02, 0.01)\n"
        "try:\n"
        "    done = work(20)\n"
        "finally:\n"
        "    signal.setitimer(signal.ITIMER_REAL, 0)\n"
        "print(done)\n",
    )
    specs: list[dict[str, Any]] = [{"full": True}, {}]
    for spec in specs:
        run = run_traced(interpreter.path, script, "work", tmp_path, **spec)
        # An alarm may come after `try`, where the program itself does not catch it.
        assert run.output == "20\n" or "Alarm" in run.errors
        assert not any("failed" in remark for remark in run.remarks)


@PYTHONS
def test_signal_handlers_that_raise_in_a_loop_of_one_line_are_caught(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    script = write(
        tmp_path,
        "import signal\n"
        "class Alarm(Exception):\n"
        "    pass\n"
        "def ring(number, frame):\n"
        "    raise Alarm\n"
        "def work(total):\n"
        "    try:\n"
        "        signal.setitimer(signal.ITIMER_REAL, 0.02)\n"
        "        while True: total += 1\n"
        "    except Alarm:\n"
        "        return 'caught'\n"
        "signal.signal(signal.SIGALRM, ring)\n"
        "for _ in range(8):\n"
        "    print(work(0))\n",
    )
    run = run_traced(interpreter.path, script, "work", tmp_path, full=True, call=3)
    if run.errors:  # CPython lets nobody catch what is raised as the callback itself begins
        assert interpreter.version >= (3, 12)
        assert "in _guard_jump" in run.errors
    else:
        assert run.output == "caught\n" * 8
    assert {
        frame.result.text for frame in run.frames if frame.outcome == "returned" and frame.result
    } <= {"'caught'"}


@PYTHONS
def test_a_program_at_its_recursion_limit_behaves_as_without_a_recorder(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    script = write(
        tmp_path,
        "import sys\n"
        "sys.setrecursionlimit(200)\n"
        "def down(n):\n"
        "    if n == 0:\n"
        "        return leaf(n)\n"
        "    return down(n - 1)\n"
        "def leaf(n):\n"
        "    values = [n, n + 1]\n"
        "    values.append(3)\n"
        "    return len(values)\n"
        "def endless(n):\n"
        "    return endless(n + 1)\n"
        "for depth in range(140, 180):\n"
        "    assert down(depth) == 3\n"
        "try:\n"
        "    endless(0)\n"
        "except RecursionError as error:\n"
        "    print(error)\n"
        "print(sys.getrecursionlimit())\n",
    )
    plain = run_plain(interpreter.path, script)
    for function in ("leaf", "down"):
        run = run_traced(interpreter.path, script, function, tmp_path, raised=True)
        assert (run.output, run.errors, run.code) == (plain.output, plain.errors, 0)
        assert run.remarks == []


@PYTHONS
def test_a_recording_keeps_its_budget_and_says_what_is_missing(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    script = write(
        tmp_path,
        "def work(n):\n"
        "    total = 0\n"
        "    for i in range(n):\n"
        "        text = 'x' * (i % 90)\n"
        "        total += len(text)\n"
        "    return total\n"
        "print(work(20_000))\n",
    )
    run = run_traced(interpreter.path, script, "work", tmp_path, full=True, budget=300_000)
    assert run.path.stat().st_size <= 300_000
    assert any("oldest detail" in remark for remark in run.remarks)
    loop = next(item for item in run.picked.items if isinstance(item, LoopRun))
    assert loop.iterations == 20_000
    assert loop.kept[-1].values["i"] == "19999"
    assert loop.forgotten == 20_000 - len(loop.kept)


@PYTHONS
def test_a_full_disk_does_not_reach_the_program(interpreter: Interpreter, tmp_path: Path) -> None:
    script = write(
        tmp_path,
        "import resource\n"
        "def work(n):\n"
        "    values = []\n"
        "    for i in range(n):\n"
        "        values.append(i)\n"
        "    return len(values)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (6000, 6000))\n"
        "print(work(500))\n",
    )
    run = run_traced(interpreter.path, script, "work", tmp_path, full=True)
    assert (run.output, run.errors) == ("500\n", "")
    assert run.path.stat().st_size <= 6000
    assert run.picked.items


@PYTHONS
def test_a_file_that_cannot_be_written_does_not_reach_the_program(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    script = write(tmp_path, "def work():\n    return 1\nprint(work())\n")
    path = str(tmp_path / "missing" / "recording.jsonl")
    run = run_traced(interpreter.path, script, "work", tmp_path, path=path)
    assert (run.output, run.errors) == ("1\n", "")


@PYTHONS
def test_a_program_that_closes_all_descriptors_is_still_recorded(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    script = write(
        tmp_path,
        "import os\n"
        "def work(n):\n"
        "    os.closerange(3, 5000)\n"
        "    a = n + 1\n"
        "    return a\n"
        "print(work(1))\n",
    )
    run = run_traced(interpreter.path, script, "work", tmp_path)
    assert run.output == "2\n"
    assert list_lines(run) == [3, 4, 5]
    assert run.picked.outcome == "returned"


@PYTHONS
def test_objects_live_no_longer_than_without_a_recorder(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    script = write(
        tmp_path,
        "import gc, weakref\n"
        "gc.disable()\n"
        "class Thing:\n"
        "    def __init__(self, name): self.name = name\n"
        "    def __del__(self): print('gone', self.name)\n"
        "def make(name):\n"
        "    thing = Thing(name)\n"
        "    other = [thing]\n"
        "    return weakref.ref(thing)\n"
        "def work():\n"
        "    a = Thing('a'); a = None; print('after a')\n"
        "    b = [Thing('b'), Thing('c')]\n"
        "    b.pop(); print('after c')\n"
        "    for i in range(2): thing = Thing(i)\n"
        "    print('loop'); del thing; print('after loop')\n"
        "    ref = make('d'); print(ref() is None)\n"
        "    try:\n"
        "        local = Thing('e'); raise ValueError\n"
        "    except ValueError as error:\n"
        "        kept = error\n"
        "    kept = None; local = None; print('after e')\n"
        "    def inner(): return kept\n"
        "    return Thing('f')\n"
        "result = work()\n"
        "print('returned')\n"
        "result = None\n"
        "print('end')\n",
    )
    plain = run_plain(interpreter.path, script)
    for function in ("work", "make", "Thing.__init__"):
        run = run_traced(interpreter.path, script, function, tmp_path, full=True)
        assert run.output == plain.output


@PYTHONS
def test_tracebacks_are_those_of_the_program(interpreter: Interpreter, tmp_path: Path) -> None:
    (tmp_path / "helper.py").write_text(
        "def fail(n):\n    values = {}\n    return values[\n        n\n    ]\n"
    )
    (tmp_path / "broken.py").write_text("def f(:\n")
    script = write(
        tmp_path,
        "import helper, traceback\n"
        "def work(n):\n"
        "    try:\n"
        "        helper.fail(n)\n"
        "    finally:\n"
        "        n = None\n"
        "try:\n"
        "    work(1)\n"
        "except KeyError:\n"
        "    traceback.print_exc()\n"
        "try:\n"
        "    import broken\n"
        "except SyntaxError:\n"
        "    traceback.print_exc()\n"
        "work(2)\n",
    )
    plain = run_plain(interpreter.path, script)
    for function in ("work", "helper.fail"):
        run = run_traced(interpreter.path, script, function, tmp_path, is_own=False)
        assert (run.errors, run.code) == (plain.errors, plain.code)
        assert run.picked.outcome == "raised"


@PYTHONS
def test_functions_are_hashable_and_keep_what_others_see(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    script = write(
        tmp_path,
        "import inspect\n"
        "def work(a, b=2, *, c: int = 3):\n"
        '    """Its own words."""\n'
        "    x = a + b\n"
        "    return x + c\n"
        "print({work.__code__: 1}[work.__code__], work.__code__ == work.__code__)\n"
        "print(inspect.signature(work), work.__doc__, inspect.getsource(work))\n"
        "print(work.__code__.co_varnames, work.__code__.co_firstlineno, work.__defaults__)\n"
        "print(work(1), eval(work.__code__.replace(co_name='other').co_name and 'work(2, c=4)'))\n",
    )
    run = run_traced(interpreter.path, script, "work", tmp_path)
    assert (run.output, run.errors) == (run_plain(interpreter.path, script).output, "")
    assert [frame.index for frame in run.frames] == [1, 2]


@PYTHONS
def test_a_picked_function_that_never_ends_is_recorded_so_far(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    script = write(
        tmp_path,
        "import sys, threading\n"
        "def wait(event):\n"
        "    count = 1\n"
        "    started.set()\n"
        "    event.wait()\n"
        "    return count\n"
        "event, started = threading.Event(), threading.Event()\n"
        "threading.Thread(target=wait, args=(event,), daemon=True).start()\n"
        "started.wait()\n"
        "print('end')\n",
    )
    run = run_traced(interpreter.path, script, "wait", tmp_path)
    assert run.output == "end\n"
    assert run.picked.outcome == "running"
    assert list_lines(run)[0] == 3


@PYTHONS
def test_a_loop_that_has_not_ended_tells_its_newest_values(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    script = write(
        tmp_path,
        "import os\n"
        "def spin(i):\n"
        "    while i < 10**9:\n"
        "        i += 1\n"
        "        if i == 5000:\n"
        "            os._exit(0)\n"
        "spin(0)\n",
    )
    run = run_traced(interpreter.path, script, "spin", tmp_path)
    (loop,) = [item for item in run.picked.items if isinstance(item, LoopRun)]
    assert loop.rows is not None
    assert loop.after["i"] == loop.rows.columns["i"][-1]
    assert int(loop.after["i"]) > 500


@PYTHONS
def test_dropped_generators_do_not_disturb_later_ones(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    script = write(
        tmp_path,
        "def count(n):\n"
        "    for i in range(n):\n"
        "        yield i\n"
        "print([next(count(k)) for k in range(1, 6)], list(count(3)))\n",
    )
    run = run_traced(interpreter.path, script, "count", tmp_path, call=4)
    assert run.output == "[0, 0, 0, 0, 0] [0, 1, 2]\n"
    assert [frame.index for frame in run.frames] == [2, 3, 4, 5, 6]
    assert run.frames[-1].outcome == "returned"
    yielded = [
        step.yielded
        for item in run.frames[-1].items
        if isinstance(item, LoopRun)
        for one in item.kept
        for step in one.steps
        if isinstance(step, Step) and step.yielded
    ]
    assert yielded == ["0", "1", "2"]


COVERED = """
def work(n):
    total = 0
    for i in range(n):
        if i > 100:
            total += 1
    return total


def other():
    return 1


print(work(3))
"""


def test_coverage_measures_what_it_would_without_a_recorder(tmp_path: Path) -> None:
    script = write(tmp_path, COVERED)
    starter = tmp_path / "start.py"
    starter.write_text(
        "import sys, json, coverage\n"
        "measured = coverage.Coverage(data_file=None, include=[sys.argv[1]])\n"
        "measured.start()\n"
        "exec(compile(open(sys.argv[1]).read(), sys.argv[1], 'exec'), {'__name__': '__main__',"
        " '__file__': sys.argv[1]})\n"
        "measured.stop()\n"
        "print(measured.get_data().lines(sys.argv[1]), measured.get_data().measured_files())\n"
    )
    plain = run_plain(sys.executable, starter, args=[str(script)])
    run = run_traced(
        sys.executable, starter, "program.work", tmp_path, args=[str(script)], is_static=False
    )
    assert plain.errors == ""
    assert run.output == plain.output


TESTED = """
import helper


def check(values):
    total = sum(values)
    assert total == 6, "six"
    return total


def test_one():
    assert check([1, 2, 3]) == helper.give(6)


def test_two():
    values = [1, 2]
    assert check(values) == 6
"""


@pytest.mark.parametrize("cached", [False, True])
def test_functions_of_test_modules_are_recorded_under_pytest(tmp_path: Path, cached: bool) -> None:
    (tmp_path / "helper.py").write_text("def give(x):\n    return x\n")
    tests = tmp_path / "test_sums.py"
    tests.write_text(TESTED)
    starter = tmp_path / "start.py"
    starter.write_text(
        "import sys, pytest\n"
        f"sys.exit(pytest.main([{str(tests)!r}, '-q', '-p', 'no:cacheprovider', '-p',"
        " 'no:holdfast', '--tb=line']))\n"
    )
    plain = run_plain(sys.executable, starter)
    if not cached:
        subprocess.run(["rm", "-rf", str(tmp_path / "__pycache__")], check=True)
    for function in ("check", "test_sums.check"):
        run = run_traced(
            sys.executable,
            starter,
            function,
            tmp_path,
            script=None,
            raised=True,
            is_own=function == "check",
        )
        strip = [line.partition(" in ")[0] for line in run.output.splitlines()]
        assert strip == [line.partition(" in ")[0] for line in plain.output.splitlines()]
        assert run.code == 1
        assert run.picked.exception_type == "AssertionError"
        assert run.picked.args["values"].text == "[1, 2]"
        assert list_lines(run) == [6, 7]
        steps = [item for frame in run.frames for item in frame.items if isinstance(item, Step)]
        assert {change.name for step in steps for change in step.changes} == {"total"}
