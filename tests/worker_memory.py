"""Says at the end of a run how much memory each worker took; too much fails the run."""

from __future__ import annotations

import ctypes
import gc
import resource
import sys
from collections.abc import Generator
from dataclasses import dataclass, field
from typing import Any

import pytest

MAX_MEGABYTES = 400
_MOST_RISES = 4


@dataclass
class Peak:
    megabytes: int = 0
    rises: list[tuple[int, str]] = field(default_factory=list)
    """The tests that raised the peak most, each with how much; before any test it rose, too."""
    largest_child: int = 0
    """Of the children that run `separate_modules`."""
    child_test: str = ""

    def note_child(self, megabytes: int, test: str) -> None:
        if megabytes > self.largest_child:
            self.largest_child, self.child_test = megabytes, test

    def note(self, megabytes: int, what: str) -> None:
        rise, self.megabytes = megabytes - self.megabytes, megabytes
        if rise:
            self.rises = sorted([*self.rises, (rise, what)], reverse=True)[:_MOST_RISES]

    def __str__(self) -> str:
        most = ", ".join(f"{rise} of it in {what}" for rise, what in self.rises)
        child = f", a child {self.largest_child} MB ({self.child_test})" if self.child_test else ""
        return f"{self.megabytes} MB ({most}){child}"


OWN_PEAK = pytest.StashKey[Peak]()
_PEAKS = pytest.StashKey[dict[str, Peak]]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[_PEAKS] = {}


def pytest_collection_finish(session: pytest.Session) -> None:
    """Have the garbage of tests collected when there is little of it.

    The collector looks at old objects once they are a quarter more than before. All modules and
    tests, which stay until the end, would let tens of megabytes pile up; they count no longer.
    """
    gc.collect()
    gc.freeze()
    session.config.stash[OWN_PEAK] = peak = Peak()
    peak.note(measure_peak(), "the collection of the tests")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(
    item: pytest.Item, nextitem: pytest.Item | None
) -> Generator[None, object, object]:
    done = yield
    item.config.stash[OWN_PEAK].note(measure_peak(), item.nodeid)
    if nextitem is None or nextitem.path != item.path:
        return_memory()
    return done


def return_memory() -> None:
    """Give what the tests of a module have freed back to the system, before the next one begins."""
    gc.collect()
    if trim := getattr(ctypes.CDLL(None), "malloc_trim", None):
        trim(0)


@pytest.hookimpl(tryfirst=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    output: dict[str, Any] | None = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["peak"] = vars(session.config.stash[OWN_PEAK])
    elif session.exitstatus == pytest.ExitCode.OK and _list_large(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def measure_peak() -> int:
    """The largest memory that this process has had so far."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) // 1_000_000


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """A worker has ended. One that was killed has left no figure."""
    peak = getattr(node, "workeroutput", {}).get("peak")
    if peak is not None:
        node.config.stash[_PEAKS][node.gateway.id] = Peak(**peak)


def _list_large(config: pytest.Config) -> list[str]:
    peaks = config.stash[_PEAKS].items()
    return [
        worker for worker, peak in peaks if max(peak.megabytes, peak.largest_child) > MAX_MEGABYTES
    ]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    if peaks := config.stash[_PEAKS]:
        shown = "; ".join(f"{worker} {peak}" for worker, peak in sorted(peaks.items()))
        terminalreporter.write_line(f"Largest memory of each worker: {shown}")
    if large := _list_large(config):
        terminalreporter.write_line(
            f"{', '.join(large)} took more than {MAX_MEGABYTES} MB. The heading of"
            " tests/separate_modules.py tells how tests are kept apart from what they load.",
            red=True,
        )
