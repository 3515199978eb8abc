"""The standard library's own tests have the same outcomes under Holdfast as without.

Every test function gets a breakpoint whose condition is false, so that the debugger looks at
its code, and never stops. What differs, and why, is in `docs/reliability.md`.
`make test` runs a few modules, `make soak` all (`HOLDFAST_EVERY_MODULE=1`).
"""

from __future__ import annotations

import fnmatch
import functools
import json
import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from harness import PROGRAMS, Server
from interpreters import Interpreter, find_interpreters

RUNNER = str(PROGRAMS / "unittest_outcomes.py")
PAGE = Path(__file__).parents[2] / "docs" / "reliability.md"
_USUAL = """
asyncgen contextlib frame generators raise sys_setprofile threading_local with yield_from
"""
_MORE = """
abc argparse array augassign baseexception bdb builtin call class cmd code codeop collections
compile configparser context contextlib_async copy copyreg coroutines csv dataclasses decorators
defaultdict deque descr dict dictcomps difflib dis doctest dynamic enum exceptions fileinput
finalization float fractions fstring funcattrs functools gc genericclass getopt global grammar
graphlib hash heapq inspect int ipaddress isinstance iter json linecache list listcomps marshal
module named_expressions operator optparse ordered_dict pdb pkgutil pprint property pyclbr queue re
reprlib runpy sched scope shelve shlex shutil super symtable syntax sys sys_settrace tempfile
textwrap thread trace traceback tracemalloc types typing userdict warnings weakref weakset zipapp
zipimport
"""
MODULES = _USUAL.split() + (_MORE.split() if "HOLDFAST_EVERY_MODULE" in os.environ else [])
BREAKPOINTS = 100  # at most, for one module
Outcomes = dict[str, list[str]]


def _choose_interpreters() -> list[Interpreter]:
    """The oldest and the newest that have the tests of their standard library."""
    every = find_interpreters()
    oldest = next((each for each in every if _find_tests(each.path)), None)
    newest = next((each for each in reversed(every) if _find_tests(each.path)), None)
    return list(dict.fromkeys(filter(None, (oldest, newest))))


@functools.cache
def _find_tests(python: str) -> Path | None:
    code = "import test.test_generators, test; print(test.__path__[0])"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True)
    return Path(done.stdout.strip()) if done.returncode == 0 else None


def _list_files(python: str, module: str) -> list[Path]:
    folder = _find_tests(python)
    assert folder is not None
    file = folder / f"test_{module}.py"
    return [file] if file.exists() else sorted((folder / f"test_{module}").glob("test_*.py"))


_LIST_LINES = """
import ast, sys

for name in sys.argv[1:]:
    with open(name, "rb") as file:
        tree = ast.parse(file.read())
    for node in ast.walk(tree):
        if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if node.name.startswith("test"):
                print(name, node.body[0].lineno)
"""


def _list_breakpoints(python: str, files: list[Path]) -> list[dict[str, Any]]:
    """One at the beginning of each test function, with a condition that is never true."""
    argv = [python, "-c", _LIST_LINES, *map(str, files)]
    found = subprocess.run(argv, capture_output=True, text=True, check=True).stdout
    lines = [line.rsplit(" ", 1) for line in found.splitlines()[:BREAKPOINTS]]
    return [{"file": file, "line": int(line), "condition": "False"} for file, line in lines]


def _run_plain(python: str, module: str, folder: Path) -> Outcomes:
    report = folder / "plain.json"
    subprocess.run(
        [python, RUNNER, str(report), f"test.test_{module}"],
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        check=True,
    )
    return json.loads(report.read_bytes())  # type: ignore[no-any-return]


def _run_debugged(server: Server, python: str, module: str, folder: Path) -> Outcomes:
    report = folder / "debugged.json"
    with server.session() as session:
        session.post("/breakpoints", _list_breakpoints(python, _list_files(python, module)))
        args = [str(report), f"test.test_{module}"]
        session.launch(RUNNER, python=python, args=args, cwd=str(folder), wait=0)
        closed = server.http.post(session.path("/stdin"), json={"close": True})
        assert closed.status_code in (200, 409), closed.text  # or it has ended already
        end = session.get("/status?wait=300")
        assert end["status"] == "terminated", end
        assert end["exit_code"] == 0, session.output("stderr")[-2000:]
    return json.loads(report.read_bytes())  # type: ignore[no-any-return]


def _find_differences(server: Server, python: str, module: str, folder: Path) -> dict[str, Any]:
    plain = _run_plain(python, module, folder)
    debugged = _run_debugged(server, python, module, folder)
    return {
        test: (plain.get(test), debugged.get(test))
        for test in sorted({*plain, *debugged})
        if plain.get(test, [None])[0] != debugged.get(test, [None])[0]
    }


@functools.cache
def _read_known_differences() -> list[str]:
    """The tests that the page names, such as `test_trace.*`."""
    return re.findall(r"`(test_\w+\.[\w.*]+)`", PAGE.read_text("utf-8"))


def _is_known(test: str) -> bool:
    name = test.removeprefix("test.")
    return any(fnmatch.fnmatchcase(name, known) for known in _read_known_differences())


@pytest.mark.slow
@pytest.mark.parametrize("module", MODULES)
@pytest.mark.parametrize("interpreter", _choose_interpreters(), ids=str)
def test_a_module_of_the_standard_library_behaves_as_without_a_debugger(
    server: Server, interpreter: Interpreter, module: str, tmp_path: Path
) -> None:
    if not _list_files(interpreter.path, module):
        pytest.skip(f"{interpreter} has no tests of {module}")
    differences: dict[str, Any] = {}
    for attempt in ("first", "second"):  # a test that fails by chance does not do so twice
        folder = tmp_path / attempt
        folder.mkdir()
        found = _find_differences(server, interpreter.path, module, folder)
        differences = (
            found if attempt == "first" else {t: found[t] for t in differences if t in found}
        )
        differences = {
            test: outcomes for test, outcomes in differences.items() if not _is_known(test)
        }
        if not differences:
            return
    shown = [f"{test}: {' / '.join(map(str, pair))}" for test, pair in differences.items()]
    pytest.fail("\n".join(shown))
