"""Test modules that load large libraries are collected and run in a process beside the worker.

pytest keeps each module that it has collected until the end, and Python keeps each library that
was imported. All frameworks and libraries that we work with take hundreds of megabytes, in each
worker, for the whole run. So a worker of pytest-xdist imports the modules named here in children,
which end: one child while tests are collected, and one for each module whose tests run.

The tests do not know of it. A run without workers (`pytest FILE`) imports the modules as usual, so
that a debugger finds everything in one process.
"""

from __future__ import annotations

import itertools
import os
import signal
import traceback
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any, NoReturn

import pytest

from worker_memory import OWN_PEAK, measure_peak

TESTS = Path(__file__).parent
SEPARATE = [
    "bridge/integrations/test_*.py",
    "bridge/test_hostile.py",
    "bridge/test_loop.py",
    "bridge/test_replay.py",
    "bridge/test_tracing.py",
    "cli/test_debug_screen.py",
    "client/test_bad_days.py",
    "client/test_followed_objects.py",
    "client/test_lazy_values.py",
    "client/test_libraries.py",
    "client/test_limits.py",
    "client/test_protocols.py",
    "client/test_reports.py",
    "core/test_run_diff.py",
    "core/test_run_frames.py",
    "probe/test_numpy_pandas.py",
    "probe/test_previews.py",
    "probe/test_run_recorder.py",
    "probe/test_variable_rendering.py",
    "recording/test_recording.py",
    "server/mcp/test_agent_streams.py",
    "server/mcp/test_mcp_*.py",
    "service/test_agent_event_log.py",
    "service/test_agent_recordings.py",
    "service/test_stop_reports.py",
    "test_bench_evaluation.py",
    "wire/test_dap.py",
    "wire/test_report_reduction.py",
]


@dataclass
class FoundTest:
    names: tuple[str, ...]
    """Of its classes, and its own."""
    line: int | None
    keywords: set[str]
    is_slow: bool


@dataclass
class FoundModule:
    tests: list[FoundTest]
    error: str | None = None
    skipped: str | None = None


@dataclass
class CollectRequest:
    module: Path


@dataclass
class RunRequest:
    module: Path
    test: str
    next_test: str | None
    """In the same module: its fixtures stay."""


class EndRequest:
    """The child ends."""


@dataclass
class RanTest:
    reports: list[dict[str, Any]]
    peak_megabytes: int
    """The largest memory of the child so far."""


@dataclass
class ChildDied:
    how: str


_ENDED_AS_ASKED = 77
"""The exit status of a child that did not end in the middle of a test."""


# -- in the worker ---------------------------------------------------------------------------------


class Children:
    """Speaks with one child at a time.

    The children are forked by a process which was itself forked before anything was collected: it
    is small, and has a single thread.
    """

    def __init__(self, session: pytest.Session) -> None:
        session.config._tmp_path_factory.getbasetemp()  # type: ignore[attr-defined]  # made once
        self._connection, theirs = Pipe()
        with warnings.catch_warnings():
            # A thread of pytest-xdist waits for messages. It holds no lock that a child needs.
            warnings.simplefilter("ignore", DeprecationWarning)
            self._forker = os.fork()
        if not self._forker:
            self._connection.close()
            _fork_children(session, theirs)
        theirs.close()

    def ask(self, request: CollectRequest | RunRequest) -> Any:
        if not self._connection.poll():  # or it died after its last answer
            self._connection.send(request)
        answer = self._connection.recv()
        if isinstance(answer, ChildDied):
            raise RuntimeError(f"The process of this module died: {answer.how}")
        return answer

    def end_child(self) -> None:
        self._connection.send(EndRequest())

    def close(self) -> None:
        """A child that is left, because the run stops early, ends its fixtures."""
        self._connection.close()
        os.waitpid(self._forker, 0)


_CHILDREN = pytest.StashKey[Children]()


@pytest.hookimpl(tryfirst=True)
def pytest_collection(session: pytest.Session) -> None:
    if hasattr(session.config, "workerinput"):
        session.config.stash[_CHILDREN] = Children(session)


def pytest_collection_finish(session: pytest.Session) -> None:
    if children := session.config.stash.get(_CHILDREN, None):
        children.end_child()


def pytest_unconfigure(config: pytest.Config) -> None:
    stop(config)


def stop(config: pytest.Config) -> None:
    """End the process that forks the children, if there is one."""
    if children := config.stash.get(_CHILDREN, None):
        children.close()
        del config.stash[_CHILDREN]


def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> Any:
    is_separate = any(module_path in TESTS.glob(pattern) for pattern in SEPARATE)
    if is_separate and _CHILDREN in parent.config.stash:
        return SeparateModule.from_parent(parent, path=module_path)
    return None


class SeparateModule(pytest.File):
    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        found: FoundModule = self.config.stash[_CHILDREN].ask(CollectRequest(self.path))
        if found.error is not None:
            raise self.CollectError(found.error)
        if found.skipped is not None:
            pytest.skip(found.skipped, allow_module_level=True)
        yield from _build_nodes(self, found.tests, 0)


class SeparateClass(pytest.Collector):
    tests: list[FoundTest]
    depth: int

    def collect(self) -> Iterator[pytest.Item | pytest.Collector]:
        return _build_nodes(self, self.tests, self.depth)


def _build_nodes(
    parent: pytest.Collector, tests: list[FoundTest], depth: int
) -> Iterator[pytest.Item | pytest.Collector]:
    for name, group in itertools.groupby(tests, lambda test: test.names[depth]):
        inside = list(group)
        if len(inside[0].names) > depth + 1:
            of_class: SeparateClass = SeparateClass.from_parent(parent, name=name)
            of_class.tests, of_class.depth = inside, depth + 1
            yield of_class
        else:
            yield from (_build_item(parent, test) for test in inside)


def _build_item(parent: pytest.Collector, test: FoundTest) -> SeparateItem:
    item: SeparateItem = SeparateItem.from_parent(parent, name=test.names[-1])
    item.line = test.line
    item.extra_keyword_matches.update(test.keywords)
    if test.is_slow:
        item.add_marker(pytest.mark.slow)
    return item


class SeparateItem(pytest.Item):
    line: int | None
    next_test: str | None
    reports: dict[str, pytest.TestReport]

    def setup(self) -> None:
        """Run the whole test; `pytest_runtest_makereport` hands out what was reported."""
        self.reports = {}
        children, hook = self.config.stash[_CHILDREN], self.config.hook
        ran: RanTest = children.ask(RunRequest(self.path, self.nodeid, self.next_test))
        self.config.stash[OWN_PEAK].note_child(ran.peak_megabytes, self.nodeid)
        for data in ran.reports:
            report = hook.pytest_report_from_serializable(config=self.config, data=data)
            self.reports[report.when] = report
        if self.next_test is None:
            children.end_child()

    def runtest(self) -> None:
        """It has run."""

    def reportinfo(self) -> tuple[Path, int | None, str]:
        return self.path, self.line, ".".join(self.listnames()[-2:])


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    if isinstance(item, SeparateItem):
        is_same = nextitem is not None and nextitem.path == item.path
        item.next_test = nextitem.nodeid if nextitem is not None and is_same else None


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> pytest.TestReport | None:
    if isinstance(item, SeparateItem) and call.excinfo is None:
        return item.reports.get(call.when)
    return None


@pytest.hookimpl(optionalhook=True)
def pytest_timeout_set_timer(item: pytest.Item) -> bool | None:
    """The child keeps the time."""
    return isinstance(item, SeparateItem) or None


# -- in its children -------------------------------------------------------------------------------


def _fork_children(session: pytest.Session, connection: Connection) -> NoReturn:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends with the worker
    try:
        while True:
            request = connection.recv()
            if isinstance(request, EndRequest):
                continue  # the child never was, or died
            child = os.fork()
            if not child:
                signal.signal(signal.SIGINT, signal.default_int_handler)
                _answer(session, connection, request)
            _, status = os.waitpid(child, 0)
            if os.waitstatus_to_exitcode(status) != _ENDED_AS_ASKED:
                how = f"its exit status is {os.waitstatus_to_exitcode(status)}"
                connection.send(ChildDied(how))
    finally:  # the worker has ended
        os._exit(0)


def _answer(session: pytest.Session, connection: Connection, request: Any) -> NoReturn:
    try:
        child = _Child(session)
        while not isinstance(request, EndRequest):
            connection.send(child.answer(request))
            request = connection.recv()
    except EOFError:  # the run stops early
        session._setupstate.teardown_exact(None)
    except BaseException:
        connection.send(ChildDied(traceback.format_exc()))
    finally:
        os._exit(_ENDED_AS_ASKED)


class _Child:
    def __init__(self, session: pytest.Session) -> None:
        self._session = session
        self._items: dict[str, pytest.Item] = {}
        self._reports: list[pytest.TestReport] = []
        self._failures: list[pytest.CollectReport] = []
        plugins = session.config.pluginmanager
        for plugin in plugins.get_plugins():
            if type(plugin).__name__ == "WorkerInteractor":
                plugins.unregister(plugin)  # or it would report these tests a second time
        plugins.register(self)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._reports.append(report)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not report.passed:
            self._failures.append(report)

    def answer(self, request: CollectRequest | RunRequest) -> FoundModule | RanTest:
        if isinstance(request, CollectRequest):
            return self._collect(request.module)
        if not self._items:
            self._collect(request.module)
        return self._run(request)

    def _collect(self, module: Path) -> FoundModule:
        self._failures.clear()
        items = self._session.perform_collect([str(module)])
        self._items = {item.nodeid: item for item in items}
        for report in self._failures:
            if report.failed:
                return FoundModule([], error=report.longreprtext)
            if isinstance(report.longrepr, tuple):
                return FoundModule([], skipped=report.longrepr[2])
        return FoundModule([_describe(item) for item in items])

    def _run(self, request: RunRequest) -> RanTest:
        self._reports.clear()
        config = self._session.config
        following = self._items[request.next_test] if request.next_test else None
        config.hook.pytest_runtest_protocol(item=self._items[request.test], nextitem=following)
        reports = [
            config.hook.pytest_report_to_serializable(config=config, report=report)
            for report in self._reports
        ]
        return RanTest(reports, measure_peak())


def _describe(item: pytest.Item) -> FoundTest:
    within = itertools.dropwhile(lambda node: not isinstance(node, pytest.Module), item.listchain())
    names = tuple(node.name for node in within)[1:]
    is_slow = item.get_closest_marker("slow") is not None
    return FoundTest(names, item.location[1], set(item.keywords), is_slow)
