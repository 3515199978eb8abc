"""The run recorder: what it records equals a plain trace."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.model.run_recording import RunFrame, RunRecording
from interpreters import Interpreter, choose_interpreters
from run_recordings import (
    BUGS,
    PROBE,
    PROGRAMS,
    RUNS,
    Recorded,
    record,
    record_text,
    run_python,
)

_NEWER = {"pattern_matching": (3, 10), "exception_groups": (3, 11)}
_COMPARED = (
    *("control_flow", "exceptions", "generators", "one_liners", "scopes"),
    *("pattern_matching", "exception_groups"),
)
_EXPRESSIONS = ("<lambda>", "<genexpr>")
_STANDARD = """
argparse bisect calendar configparser copy csv difflib fnmatch fractions graphlib heapq ipaddress
pprint reprlib shlex statistics string textwrap tokenize
"""


pythons = pytest.mark.parametrize("interpreter", choose_interpreters(), ids=str)


def find_differences(run: RunRecording, truth: list[dict[str, Any]]) -> list[object]:
    """Invocations, lines, values and outcomes that the recording has otherwise than the trace."""
    frames = [frame for frame in run.frames.values() if frame.code.name not in _EXPRESSIONS]
    names = [frame.code.name for frame in frames], [call["function"] for call in truth]
    if names[0] != names[1]:
        return ["invocations", *names]
    found: list[object] = []
    for frame, call in zip(frames, truth, strict=True):
        found += _compare_frame(frame, call)
    return found


def _compare_frame(frame: RunFrame, call: dict[str, Any]) -> list[object]:
    name = frame.code.name
    lines = [event.statement.line for event in frame.events]
    expected = [line for line, _values in call["steps"]]
    if lines != expected:
        return [("lines", name, lines, expected)]
    found: list[object] = []
    for event, (line, values) in zip(frame.events, call["steps"], strict=True):
        if event.statement.kind == "for" and event.branch == 0:
            continue  # it has ended, and assigns nothing
        written = {write.place.partition(".")[2]: write.text for write in event.writes}
        found += [
            ("value", name, line, variable, written.get(variable), text)
            for variable, text in values.items()
            if text is not None and written.get(variable) != text
        ]
    outcome, text = call["outcome"] or ("running", None)
    if outcome != frame.outcome or (outcome == "returned" and text not in (None, frame.result)):
        found.append(("outcome", name, frame.outcome, frame.result, outcome, text))
    return found


def compare_with_trace(script: Path, folder: Path, python: str) -> int:
    """How many statements the recording and a plain trace have, which must be the same."""
    run = record(script, folder, python).read()
    truth = folder / "truth.json"
    run_python(python, str(PROGRAMS / "run_truth.py"), str(truth), str(script.parent), str(script))
    calls = json.loads(truth.read_text(encoding="utf-8"))
    assert not run.remarks
    assert find_differences(run, calls) == []
    return sum(len(call["steps"]) for call in calls)


@pytest.mark.parametrize("name", _COMPARED)
@pythons
def test_lines_and_values_equal_a_plain_trace(
    interpreter: Interpreter, name: str, tmp_path: Path
) -> None:
    if interpreter.version < _NEWER.get(name, (3, 9)):
        pytest.skip("this Python has no such statement")
    assert compare_with_trace(RUNS / f"{name}.py", tmp_path, interpreter.path) > 15


@pythons
def test_programs_with_bugs_are_recorded_as_a_plain_trace_sees_them(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    for script in sorted(BUGS.glob("*.py")):
        assert compare_with_trace(script, tmp_path, interpreter.path) > 5


@pytest.mark.slow
@pytest.mark.timeout(600)
@pythons
def test_modules_of_the_standard_library_are_recorded_as_a_plain_trace_sees_them(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    library = run_python(interpreter.path, "-c", "import os; print(os.path.dirname(os.__file__))")
    for name in _STANDARD.split():
        shutil.copy(Path(library.stdout.strip()) / f"{name}.py", tmp_path / f"own_{name}.py")
    shutil.copy(RUNS / "standard_modules.py", tmp_path)
    assert compare_with_trace(tmp_path / "standard_modules.py", tmp_path, interpreter.path) > 5_000


# -- the program notices nothing -------------------------------------------------------------------


def run_both(name: str, folder: Path, interpreter: Interpreter) -> tuple[str, Recorded]:
    """What a program prints without the recorder, and its recorded run."""
    script = RUNS / f"{name}.py"
    plain = run_python(interpreter.path, str(script))
    recorded = record(script, folder, interpreter.path)
    assert recorded.status == plain.returncode, recorded.errors
    return plain.stdout, recorded


@pythons
def test_no_code_of_the_program_runs_for_the_recording(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    plain, recorded = run_both("hostile_objects", tmp_path, interpreter)
    assert recorded.output == plain
    run = recorded.read()
    assert not run.remarks
    assert any(frame.code.name == "keys" for frame in run.frames.values())


@pythons
def test_objects_die_when_they_would(interpreter: Interpreter, tmp_path: Path) -> None:
    plain, recorded = run_both("last_breaths", tmp_path, interpreter)
    if interpreter.version < (3, 12):  # `sys.settrace` itself updates what `locals()` has returned
        plain = plain.replace("['held']", "['extra', 'held', 'names']")
    assert recorded.output == plain
    assert not recorded.read().remarks


@pythons
def test_what_a_signal_handler_raises_reaches_the_program(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    plain, recorded = run_both("signal_raises", tmp_path, interpreter)
    assert recorded.output == plain == "caught 20\n"


@pythons
def test_the_recursion_limit_stays_where_it_is(interpreter: Interpreter, tmp_path: Path) -> None:
    text = (
        "import sys\n"
        "depths = []\n"
        "def dive(depth):\n"
        "    depths.append(depth)\n"
        "    dive(depth + 1)\n"
        "for limit in (900, 300):\n"
        "    sys.setrecursionlimit(limit)\n"
        "    try:\n"
        "        dive(0)\n"
        "    except RecursionError:\n"
        "        print(sys.getrecursionlimit(), len(depths) // 10)\n"
        "    depths.clear()\n"
    )
    recorded = record_text(text, tmp_path, interpreter.path)
    plain = run_python(interpreter.path, str(tmp_path / "program.py"))
    assert recorded.output == plain.stdout
    run = recorded.read()
    assert not run.remarks
    assert sum(frame.code.name == "dive" for frame in run.frames.values()) > 1100


@pythons
def test_the_recursion_limit_stays_where_it_is_after_a_signal_handler_has_raised(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    # Before 3.12, what it raises ends the tracing of the thread.
    text = (
        "import signal, sys\n"
        "class Alarm(Exception):\n"
        "    pass\n"
        "def ring(number, frame):\n"
        "    raise Alarm\n"
        "def work(total):\n"
        "    while True:\n"
        "        total += 1\n"
        "        values = [total]\n"
        "def dive(depth):\n"
        "    depths.append(depth)\n"
        "    dive(depth + 1)\n"
        "signal.signal(signal.SIGALRM, ring)\n"
        "for _ in range(5):\n"
        "    try:\n"
        "        signal.setitimer(signal.ITIMER_REAL, 0.02)\n"
        "        work(0)\n"
        "    except Alarm:\n"
        "        pass\n"
        "depths = []\n"
        "try:\n"
        "    dive(0)\n"
        "except RecursionError:\n"
        "    print(sys.getrecursionlimit(), len(depths) // 20)\n"
    )
    recorded = record_text(text, tmp_path, interpreter.path)
    plain = run_python(interpreter.path, str(tmp_path / "program.py")).stdout
    if recorded.output != plain:  # it was raised as the trace function itself began
        assert interpreter.version < (3, 12)
        assert recorded.output.split()[0] == plain.split()[0]


@pythons
def test_output_and_exit_status_are_the_programs(interpreter: Interpreter, tmp_path: Path) -> None:
    text = "import sys\nprint('a')\nprint('b', file=sys.stderr)\nsys.exit(3)\n"
    recorded = record_text(text, tmp_path, interpreter.path)
    assert (recorded.output, recorded.errors, recorded.status) == ("a\n", "b\n", 3)


@pythons
def test_warnings_of_the_program_are_not_shown_twice(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    text = "import re\npattern = '\\d'\nprint(pattern)\n"
    recorded = record_text(text, tmp_path, interpreter.path)
    plain = run_python(interpreter.path, str(tmp_path / "program.py"))
    assert recorded.output == plain.stdout
    assert recorded.errors.count("SyntaxWarning") == plain.stderr.count("SyntaxWarning")


# -- what is recorded ------------------------------------------------------------------------------


@pythons
def test_made_code_is_recorded_if_its_source_is_known(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    run = record(RUNS / "made_code.py", tmp_path, interpreter.path).read()
    made = [frame for frame in run.frames.values() if frame.code.name == "double"]
    assert [frame.code.file.path for frame in made] == ["<made 1>"]
    assert [event.statement.source for event in made[0].events] == [
        "result = value * 2",
        "return result",
    ]
    assert len(run.remarks) == 1
    assert "has no source" in run.remarks[0]


def test_installed_packages_and_the_standard_library_are_left_out(tmp_path: Path) -> None:
    for folder in ("site-packages", ".venv/lib"):
        (tmp_path / folder).mkdir(parents=True)
        (tmp_path / folder / f"lib_{folder[1]}.py").write_text("x = 1\n", encoding="utf-8")
    text = (
        "import sys, textwrap\n"
        f"sys.path += [{str(tmp_path / 'site-packages')!r}, {str(tmp_path / '.venv/lib')!r}]\n"
        "import lib_i, lib_v\n"
        "print(textwrap.wrap('a b'))\n"
    )
    run = record_text(text, tmp_path).read()
    assert [Path(file.path).name for file in run.files.values()] == ["program.py"]


@pythons
def test_a_change_made_in_c_code_is_recorded(interpreter: Interpreter, tmp_path: Path) -> None:
    text = (
        "import operator\n"
        "from random import Random\n"
        "items = [1, 2, 3]\n"
        "operator.iadd(items, [4])\n"
        "print(items)\n"
    )
    run = record_text(text, tmp_path, interpreter.path).read()
    event = next(e for e in run.events.values() if e.statement.line == 4)
    changes = [write for write in event.writes if write.place[0] == "c"]
    assert [(write.text, write.label) for write in changes] == [("[1, 2, 3, 4]", "items")]


@pythons
def test_threads_have_their_names(interpreter: Interpreter, tmp_path: Path) -> None:
    text = (
        "import threading\n"
        "def work():\n"
        "    done = 1\n"
        "thread = threading.Thread(target=work, name='helper')\n"
        "thread.start()\n"
        "thread.join()\n"
    )
    run = record_text(text, tmp_path, interpreter.path).read()
    frame = next(frame for frame in run.frames.values() if frame.code.name == "work")
    assert run.threads[frame.thread] == "helper"
    assert frame.caller_time == 0


# -- bounds and bad ends ---------------------------------------------------------------------------

_LOOP = "total = 0\nfor number in range(5000):\n    total += number\nprint(total)\n"


@pythons
def test_the_newest_events_are_kept_and_the_rest_is_said_to_be_missing(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    recorded = record_text(_LOOP, tmp_path, interpreter.path, max_events=500)
    run = recorded.read()
    assert recorded.output == "12497500\n"
    assert len(run.events) == 500
    assert list(run.events.values())[-1].statement.line == 4
    assert any("oldest part is missing" in remark for remark in run.remarks)


@pythons
def test_the_oldest_events_are_kept_if_that_is_asked_for(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    run = record_text(_LOOP, tmp_path, interpreter.path, max_events=500, keep="oldest").read()
    assert 500 <= len(run.events) <= 501
    assert next(iter(run.events.values())).statement.line == 1
    assert any("as it was full" in remark for remark in run.remarks)


@pythons
def test_a_program_that_is_killed_leaves_what_it_did(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    text = (
        "import os, signal\n"
        "def inner(value):\n"
        "    doubled = value * 2\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
        "def outer():\n"
        "    inner(4)\n"
        "outer()\n"
    )
    recorded = record_text(text, tmp_path, interpreter.path)
    assert recorded.status == -signal.SIGKILL
    run = recorded.read()
    frames = {frame.code.name: frame for frame in run.frames.values()}
    assert [write.text for event in frames["inner"].events for write in event.writes] == ["8"]
    assert [event.statement.source for event in frames["outer"].events] == ["inner(4)"]
    assert frames["inner"].outcome == "running"


@pythons
def test_a_forked_child_writes_nothing(interpreter: Interpreter, tmp_path: Path) -> None:
    text = (
        "import os\n"
        "child = os.fork()\n"
        "if child == 0:\n"
        "    mark = 'in the child'\n"
        "    os._exit(0)\n"
        "os.waitpid(child, 0)\n"
        "mark = 'in the parent'\n"
    )
    recorded = record_text(text, tmp_path, interpreter.path)
    texts = [write.text for event in recorded.read().events.values() for write in event.writes]
    assert "'in the parent'" in texts
    assert "'in the child'" not in texts


def test_a_torn_last_line_is_passed_over(tmp_path: Path) -> None:
    recorded = record_text(_LOOP.replace("5000", "5"), tmp_path)
    data = recorded.path.read_bytes()
    recorded.path.write_bytes(data[:-7])
    run = recorded.read()
    assert not run.remarks
    assert len(run.events) >= 12


@pythons
def test_a_program_that_traces_itself_goes_on_as_it_would(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    plain, recorded = run_both("own_tracing", tmp_path, interpreter)
    assert recorded.output == plain
    remarks = recorded.read().remarks
    is_shared = interpreter.version >= (3, 12)
    assert remarks == [] if is_shared else "tracing was ended" in remarks[0]


@pythons
@pytest.mark.parametrize("uses_it", [False, True])
def test_a_program_that_takes_our_tool_of_monitoring_goes_on_as_it_would(
    interpreter: Interpreter, uses_it: bool, tmp_path: Path
) -> None:
    if interpreter.version < (3, 12):
        pytest.skip("this Python has no sys.monitoring")
    text = (
        "import sys\n"
        "api, heard = sys.monitoring, []\n"
        "def work(n):\n"
        "    return n + 1\n"
        "work(1)\n"
        "for tool in (3, 4, 5):\n"
        "    if api.get_tool(tool) is not None:\n"
        "        api.free_tool_id(tool)\n"
        "work(2)\n"
    )
    if uses_it:
        text += (
            "api.use_tool_id(5, 'own')\n"
            "api.register_callback(5, api.events.PY_START, lambda *_: heard.append(1))\n"
            "api.set_local_events(5, work.__code__, api.events.PY_START)\n"
            "import atexit\n"
            "atexit.register(lambda: print(work(3), len(heard) > 0, api.get_tool(5)))\n"
        )
    recorded = record_text(text, tmp_path, interpreter.path)
    plain = run_python(interpreter.path, str(tmp_path / "program.py"))
    have = (recorded.output, recorded.errors, recorded.status)
    assert have == (plain.stdout, plain.stderr, plain.returncode)
    run = recorded.read()
    assert "work" in [frame.code.name for frame in run.frames.values()]
    assert run.remarks


def test_an_error_of_the_recorder_ends_the_recording_and_nothing_else(tmp_path: Path) -> None:
    text = (
        "import sys\n"
        "tracker = sys.modules['_holdfast.traces.event_tracker']\n"
        "tracker.FrameNames = None\n"
        "total = 1\n"
        "total += 1\n"
        "print(total)\n"
    )
    recorded = record_text(text, tmp_path)
    assert (recorded.output, recorded.status) == ("2\n", 0)
    assert any("error of the recorder" in remark for remark in recorded.read().remarks)


@pytest.mark.skipif(sys.version_info < (3, 10), reason="the recorder of this process")
def test_a_recording_is_only_for_the_user(tmp_path: Path) -> None:
    recorded = record_text("x = 1\n", tmp_path)
    assert recorded.path.stat().st_mode & 0o777 == 0o600


# -- in a process that has other things to do ------------------------------------------------------

_IN_PROCESS = """
import importlib.util, json, os, sys
path = os.path.join(sys.argv[1], "package_loader.py")
spec = importlib.util.spec_from_file_location("package_loader", path)
loader = importlib.util.module_from_spec(spec)
spec.loader.exec_module(loader)
run_recorder = loader.load_module(sys.argv[1], "traces.run_recorder")
memory_log = loader.load_module(sys.argv[1], "traces.memory_log")
sys.path.insert(0, sys.argv[2])
log = memory_log.MemoryLog({"format": 1, "kind": "run", "roots": [sys.argv[2]]})
recorder = run_recorder.RunRecorder([sys.argv[2]], log, max_per_code=100)
import tested
answers = []
for test in (tested.first, tested.hot, tested.second):
    recorder.start()
    test()
    recorder.stop()
    answers.append([line.decode() for line in log.read_lines()])
    recorder.discard()
with recorder:
    tested.first()
answers.append([line.decode() for line in log.read_lines()])
recorder.end()
print(json.dumps(answers))
"""

_TESTED = """
def first():
    value = 1
    return helper(value)


def helper(value):
    return value + 1


def hot():
    total = 0
    for number in range(1000):
        total += helper(number)
    done = True


def second():
    return helper(5)
"""


@pythons
def test_each_of_several_recordings_in_one_process_stands_for_itself(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    (tmp_path / "tested.py").write_text(_TESTED, encoding="utf-8")
    script = tmp_path / "tests.py"
    script.write_text(_IN_PROCESS, encoding="utf-8")
    done = run_python(interpreter.path, str(script), str(PROBE), str(tmp_path))
    assert done.returncode == 0, done.stderr
    from holdfast.core.run_reader import read_run

    runs = [read_run([line.encode() for line in lines]) for lines in json.loads(done.stdout)]
    names = [[frame.code.name for frame in run.frames.values()] for run in runs]
    assert names[0] == names[3] == ["first", "helper"]
    assert names[2] == ["second", "helper"]
    assert names[1][0] == "hot"
    assert len(runs[1].events) < 500
    assert len([remark for remark in runs[1].remarks if "only the first 100" in remark]) == 2
    for index in (0, 2, 3):
        assert not runs[index].remarks
        assert [frame.outcome for frame in runs[index].frames.values()] == ["returned"] * 2


@pytest.mark.skipif(sys.version_info >= (3, 14), reason="not tried there yet")
def test_a_process_that_is_recorded_can_be_interrupted(tmp_path: Path) -> None:
    script = tmp_path / "program.py"
    script.write_text("print('on', flush=True)\nwhile True:\n    x = 1\n", encoding="utf-8")
    order = {"path": str(tmp_path / "run.jsonl"), "roots": [str(tmp_path)], "max_events": 1000}
    command = [sys.executable, str(PROGRAMS / "record_run.py"), str(PROBE), json.dumps(order)]
    with subprocess.Popen(
        [*command, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        os.kill(process.pid, signal.SIGINT)
        _output, errors = process.communicate(timeout=60)
    assert "KeyboardInterrupt" in errors
