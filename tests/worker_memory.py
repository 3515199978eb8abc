"""Says at the end of a run how much memory each worker took; too much fails the run."""

from __future__ import annotations

import gc
import resource
import sys
from typing import Any

import pytest

MAX_MEGABYTES = 500  # the goal is 400; the largest seen in a whole run was 449

_PEAKS = pytest.StashKey[dict[str, int]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_PEAKS] = {}


def pytest_collection_finish() -> None:
    """Have the garbage of tests collected when there is little of it.

    The collector looks at old objects once they are a quarter more than before. All modules and
    tests, which stay until the end, would let tens of megabytes pile up; they count no longer.
    """
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["peak_megabytes"] = measure_peak()
    elif session.exitstatus == pytest.ExitCode.OK and _list_large(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def measure_peak() -> int:
    """The largest memory that this process has had so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) // 1_000_000


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A worker has ended. One that was killed has left no figure."""
    peak = getattr(node, "workeroutput", {}).get("peak_megabytes")
    if peak is not None:
        node.config.stash[_PEAKS][node.gateway.id] = peak


def _list_large(config: pytest.Config) -> list[str]:
    return [worker for worker, peak in config.stash[_PEAKS].items() if peak > MAX_MEGABYTES]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if peaks := config.stash[_PEAKS]:
        shown = ", ".join(f"{worker} {peak} MB" for worker, peak in sorted(peaks.items()))
        terminalreporter.write_line(f"Largest memory of each worker: {shown}")
    if large := _list_large(config):
        terminalreporter.write_line(
            f"{', '.join(large)} took more than {MAX_MEGABYTES} MB. The heading of"
            " tests/separate_modules.py tells how tests are kept apart from what they load.",
            red=True,
        )
