"""Runs tests many times beside busy processes, to find those that fail once in a while.

    make flakes                               every test that may depend on the clock: many hours
    make flakes TESTS=tests/core TIMES=20     those of them that are in a directory or file
    make flakes TESTS=tests/x.py::test_y      one test, whatever it does

Those are the tests with processes, browsers or threads, the tests whose code or name speaks of
waiting or of what does not happen, and those that once failed in a whole run.

The other variables: TIMES is how often each test runs, BUSY how many processes compute meanwhile.
"""

from __future__ import annotations

import argparse
import inspect
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

_ROOT = Path(__file__).parents[1]
_BUSY = """
import os
parent = os.getppid()
while os.getppid() == parent:
    sum(range(100_000))
"""

# Tests and files of tests that have failed in a whole run, for whatever reason.
ONCE_FAILED = frozenset((_ROOT / "tests/once_failed.txt").read_text().split())
_WITH_PROCESSES = {"bridge", "cli", "client", "embed", "page", "server", "targets"}
_WAITS = re.compile(r"wait|timeout|seconds|sleep")
_ABSENCE = re.compile(r"_(never|no|not|nothing|nobody|without|only|once|still|stays?)_")


def waits(item: pytest.Function) -> bool:
    """Whether a test waits for something, or asserts that something does not happen."""
    if _ABSENCE.search(f"{item.originalname}_"):
        return True
    return _WAITS.search(inspect.getsource(item.function)) is not None


def _is_chosen(item: pytest.Item) -> bool:
    from separate_modules import SeparateItem  # which pytest loads later than this

    name = item.nodeid.partition("[")[0]
    if name in ONCE_FAILED or name.partition("::")[0] in ONCE_FAILED:
        return True
    if item.path.relative_to(_ROOT / "tests").parts[0] in _WITH_PROCESSES:
        return True
    # The child that runs a separate module chooses among its tests in the same way.
    return isinstance(item, SeparateItem) or (isinstance(item, pytest.Function) and waits(item))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep the chosen tests, unless tests are named one by one."""
    if not any("::" in each for each in config.args):
        left_out = [item for item in items if not _is_chosen(item)]
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if _is_chosen(item)]


@contextmanager
def _busy_processes(count: int) -> Iterator[None]:
    """Each computes until it is stopped, or until this process is gone."""
    with ExitStack() as stack:
        for _ in range(count):
            process = stack.enter_context(subprocess.Popen([sys.executable, "-c", _BUSY]))
            stack.callback(process.kill)
        yield


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("tests", nargs="*", default=["tests"])
    parser.add_argument("--times", type=int, default=100)
    parser.add_argument("--busy", type=int, default=8)
    asked = parser.parse_args()
    command = f"-m pytest -q -n 2 --dist load -p flakes --count {asked.times}"
    command += " --durations 0 --durations-min 60"
    argv = [sys.executable, *command.split(), *asked.tests]
    with _busy_processes(asked.busy):
        environment = {**os.environ, "PYTHONPATH": str(_ROOT / "tests")}
        return subprocess.run(argv, cwd=_ROOT, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
