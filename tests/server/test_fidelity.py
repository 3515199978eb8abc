"""A program under the debugger is the program: cold, warm, and as plain Python runs it.

`interpreter_state.py` prints what it can see of its interpreter. The same is run by plain Python
with the same pipes, by a cold start and by a warm interpreter; what may differ is written down
here.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipapp
from pathlib import Path
from typing import Any

import coverage
import pytest

from harness import PROGRAMS, Server
from polling import wait_until

Observed = dict[str, Any]

ENV = {"HOLDFAST_TEST": "1", "A B": "c=d"}
# What differs by intent, and why.
KNOWN = {
    "environ.PYTEST_CURRENT_TEST",  # the server was started under another test's name
}
CODE = (
    "import json, interpreter_state; seen = interpreter_state.observations(globals()); "
    "print('OBSERVED', json.dumps(seen))"
)
TARGETS: dict[str, tuple[dict[str, Any], list[str]]] = {
    "script": ({"script": "interpreter_state.py"}, ["interpreter_state.py"]),
    "module": ({"module": "interpreter_state"}, ["-m", "interpreter_state"]),
    "code": ({"code": CODE}, ["-c", CODE]),
}


ARGS = ["one", "two words"]
PYTEST = ["-qs", "-p", "no:cacheprovider", "test_interpreter_state.py::test_it"]


def _parse(output: str) -> Observed:
    [line] = [line for line in output.splitlines() if line.startswith("OBSERVED ")]
    found: Observed = json.loads(line.removeprefix("OBSERVED "))
    return found


def _plain(python: str, argv: list[str]) -> Observed:
    done = subprocess.run(
        [python, *argv],
        cwd=PROGRAMS,
        env={**os.environ, **ENV},
        input="",
        capture_output=True,
        text=True,
        start_new_session=True,
        check=True,
    )
    return _parse(done.stdout)


def _run_debugged(server: Server, python: str, target: dict[str, Any], **more: Any) -> Observed:
    with server.session() as session:
        options = {"python": python, "cwd": str(PROGRAMS), "env": ENV, **more}
        body = {"args": ARGS, **target, **options}
        end = session.post("/launch", {**body, "wait": 60})
        assert end["status"] == "terminated", end
        assert end["exit_code"] == 0, session.output("stderr")
        return _parse(session.output())


@pytest.fixture(scope="module")
def cold(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A server that keeps no interpreter warm."""
    running = Server(tmp_path_factory.mktemp("cold") / "data", "--pool-size", "0")
    yield running
    running.stop()


def _run_warm(server: Server, python: str, target: dict[str, Any]) -> Observed:
    """From a warm interpreter. One launch makes the pool keep some of this Python."""
    if python not in server.get("/info")["warm_interpreters"]:
        _run_debugged(server, python, TARGETS["code"][0])
    wait_until(lambda: server.get("/info")["warm_interpreters"].get(python), "a warm interpreter")
    return _run_debugged(server, python, target)


@pytest.mark.slow
@pytest.mark.parametrize("kind", TARGETS)
def test_a_program_sees_what_plain_python_shows_it(
    server: Server, cold: Server, python: str, kind: str
) -> None:
    target, argv = TARGETS[kind]
    _compare(server, cold, python, target, [*argv, *ARGS])


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["directory", "zip"])
def test_directories_zip_files_and_flags_of_the_interpreter_are_as_in_plain_python(
    server: Server, python: str, kind: str, tmp_path: Path
) -> None:
    app = tmp_path / "app"
    app.mkdir()
    (app / "__main__.py").write_bytes((PROGRAMS / "interpreter_state.py").read_bytes())
    if kind == "zip":
        zipapp.create_archive(app)
        app = tmp_path / "app.pyz"
    for flags in [[], ["-O", "-X", "utf8", "-W", "error", "-BI"]]:
        plain = _plain(python, [*flags, str(app), *ARGS])
        debugged = _run_debugged(server, python, {"script": str(app)}, python_args=flags)
        assert _differences(debugged, plain) == {}


@pytest.mark.slow
def test_a_test_under_pytest_sees_it_too(server: Server, cold: Server) -> None:
    target = {"module": "pytest", "args": PYTEST}
    _compare(server, cold, sys.executable, target, ["-m", "pytest", *PYTEST])


def _compare(
    server: Server, cold: Server, python: str, target: dict[str, Any], argv: list[str]
) -> None:
    plain = _plain(python, argv)
    started_cold = _run_debugged(cold, python, target)
    started_warm = _run_warm(server, python, target)

    assert _differences(started_warm, started_cold) == {}
    assert _differences(started_cold, plain) == {}


def _differences(one: Observed, other: Observed, prefix: str = "") -> dict[str, Any]:
    """What differs, by the path to it: both values."""
    found: dict[str, Any] = {}
    for name in sorted({*one, *other}):
        mine, its = one.get(name, "absent"), other.get(name, "absent")
        if isinstance(mine, dict) and isinstance(its, dict):
            found.update(_differences(mine, its, f"{prefix}{name}."))
        elif mine != its and prefix + name not in KNOWN:
            found[prefix + name] = (mine, its)
    return found


def test_the_probe_is_nowhere_in_the_programs_own_modules(server: Server, tmp_path: Path) -> None:
    program = tmp_path / "names.py"
    program.write_text("import sys\nprint('holdfast' in sys.modules)\n")
    with server.session() as session:
        session.launch(str(program))
        assert session.output() == "False\n"


MEASURED = """
def work(number):
    total = 0
    for each in range(number):
        total += each
    if total > 100:
        print("much")
    return total

print(work(int(input())))
"""


def _report_coverage(python: str, folder: Path, env: dict[str, str]) -> str:
    argv = [python, "-m", "coverage", "report", "-m"]
    return subprocess.run(
        argv, cwd=folder, env={**os.environ, **env}, capture_output=True, text=True, check=True
    ).stdout


@pytest.mark.slow
def test_coverage_reports_the_program_and_nothing_of_the_debugger(
    server: Server, python: str, tmp_path: Path
) -> None:
    (tmp_path / "measured.py").write_text(MEASURED)
    packages = tmp_path / "packages"  # coverage without what is compiled for one Python
    packages.mkdir()
    (packages / "coverage").symlink_to(Path(coverage.__file__).parent)
    core = "sysmon" if _has_monitoring(python) else "pytrace"
    env = {"PYTHONPATH": str(packages), "COVERAGE_CORE": core}
    if subprocess.run([python, "-c", "import coverage"], env={**os.environ, **env}).returncode:
        pytest.skip("this coverage.py is for newer Pythons")
    argv = [python, "-m", "coverage", "run", "measured.py"]
    subprocess.run(argv, cwd=tmp_path, env={**os.environ, **env}, input=b"3\n", check=True)
    plain = _report_coverage(python, tmp_path, env)

    (tmp_path / ".coverage").unlink()
    with server.session() as session:
        session.post("/breakpoints", {"file": str(tmp_path / "measured.py"), "line": 5})
        target = {"module": "coverage", "args": ["run", "measured.py"], "cwd": str(tmp_path)}
        answer = session.post("/launch", {**target, "python": python, "env": env, "wait": 60})
        assert answer["status"] == "waiting_for_input", answer
        session.post("/stdin", {"text": "3\n"})
        answer = session.get("/status?wait=60")
        while answer["status"] == "paused":
            answer = session.resume()
        assert answer["exit_code"] == 0, session.output("stderr")
    assert _report_coverage(python, tmp_path, env) == plain


def _has_monitoring(python: str) -> bool:
    code = "import sys; sys.exit(not hasattr(sys, 'monitoring'))"
    return subprocess.run([python, "-c", code]).returncode == 0


FRAMES = """
import gc, inspect, os, sys, threading, weakref

def walk():
    frame = sys._getframe()
    while frame:
        frame.f_globals["__name__"]
        frame = frame.f_back

walk()
thread = threading.Thread(target=walk)
print(thread.name.split()[0], threading.enumerate() == [threading.current_thread()])
thread.start()
thread.join()
ended = weakref.ref(thread)
del thread
gc.collect()
print(ended() is None, inspect.signature(os.fork), inspect.signature(os.execv))
"""


def test_a_program_finds_its_frames_threads_and_functions_as_in_plain_python(
    server: Server, python: str, tmp_path: Path
) -> None:
    program = tmp_path / "frames.py"
    program.write_text(FRAMES)
    with server.session() as session:
        session.launch(str(program), python=python)
        assert session.output("stderr") == ""
        assert session.output() == "Thread-1 True\nTrue () (path, argv, /)\n"


PDB = """
import pdb

def double(number):
    return number * 2

def main():
    pdb.set_trace()
    print("in main")
    result = double(2)
    return result

print(main())
print("end")
"""


def test_pdb_in_the_program_steps_as_without_a_debugger(
    server: Server, python: str, tmp_path: Path
) -> None:
    program = tmp_path / "with_pdb.py"
    program.write_text(PDB)
    commands = "n\ns\ns\np number\nr\nn\nn\nn\ns\nc\n"
    plain = subprocess.run([python, str(program)], input=commands, capture_output=True, text=True)
    with server.session() as session:
        if not _has_monitoring(python):
            # From 3.13 on, pdb begins at its own line, but at the next if anybody monitors.
            body = {"file": str(program), "line": 5, "condition": "False"}
            session.post("/breakpoints", body)
        answer = session.launch(str(program), python=python)
        assert answer["status"] == "waiting_for_input", answer
        session.post("/stdin", {"text": commands})
        session.get("/status?wait=60")
        assert session.output() == plain.stdout
