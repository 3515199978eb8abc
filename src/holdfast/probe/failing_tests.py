"""Stops where a test fails, its frames alive and its fixtures not torn down yet.

pytest and unittest catch what a test raises, so it is never uncaught. Here pytest gets a plugin and
unittest a wrapper, as soon as they are imported; both hand the exception over as an uncaught one.
Nothing is installed, and no plugin of the user's is in the way.
"""

from __future__ import annotations

import contextlib
import importlib.util
import sys
from typing import Any, Callable, Dict, Iterator, Optional

from . import exception_filters, server_messages
from .exception_stops import link_trace
from .pydevd_access import current, is_ours

PLUGIN = "holdfast-failing-tests"
__unittest = True  # unittest leaves out the frames of such modules where it prints a traceback


class _Last:
    """The exception that was stopped at last: pytest sees one of unittest a second time."""

    error: Optional[BaseException] = None


def install() -> None:
    """Wait for the test frameworks to be imported; one that is there already is changed now."""
    waiting: Dict[str, Callable[[Any], None]] = {}
    for name, change in (("_pytest.config", _change_pytest), ("unittest.case", _change_unittest)):
        if name in sys.modules:
            change(sys.modules[name])
        else:
            waiting[name] = change
    if waiting:
        sys.meta_path.insert(0, _ImportWatch(waiting))


class _ImportWatch:
    """Lets others find a module, and changes it when its code has run."""

    def __init__(self, waiting: Dict[str, Callable[[Any], None]]) -> None:
        self._waiting = waiting

    def find_spec(self, name: str, _path: Any = None, _target: Any = None) -> Any:
        change = self._waiting.pop(name, None)
        if change is None:
            return None
        if not self._waiting and self in sys.meta_path:
            sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)  # by the other finders: this name is not ours now
        loader: Any = spec.loader if spec is not None else None
        original = getattr(loader, "exec_module", None)
        if original is None:
            return spec

        def exec_module(module: Any) -> None:
            del loader.exec_module
            original(module)
            with contextlib.suppress(Exception):  # a version that we do not know runs as it is
                change(module)

        loader.exec_module = exec_module
        return spec


# -- stopping -------------------------------------------------------------------------------------


def stop_at_failure(error: BaseException) -> None:
    """Stop in the innermost frame of the user's own, unless no frame is."""
    db = current()
    if db is None or error is _Last.error:
        return
    trace = _cut_to_user_code(error.__traceback__, db)
    if trace is None:
        return
    exception_filters.stop_at_crash(error, trace)
    # The next test may fail at the same line, in a frame at the same address.
    exception_filters.FILTERS.forget_stop()
    _Last.error = error


def _cut_to_user_code(trace: Any, db: Any) -> Any:
    """The same traceback from the first frame of the user's to the last one."""
    entries = []
    while trace is not None:
        entries.append(trace)
        trace = trace.tb_next
    frames = [entry.tb_frame for entry in entries]
    is_users = [
        bool(db.in_project_scope(frame)) and not is_ours(frame.f_code.co_filename)
        for frame in frames
    ]
    if True not in is_users:
        return None
    first, last = is_users.index(True), len(entries) - is_users[::-1].index(True)
    return link_trace(entries[first:last])


# -- pytest ---------------------------------------------------------------------------------------


def _change_pytest(config: Any) -> None:
    """Register the plugin with every plugin manager, before any other plugin is."""
    manager = config.PytestPluginManager
    original = manager.__init__
    plugin = _build_plugin(config.hookimpl)

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        original(self, *args, **kwargs)
        self.register(plugin, PLUGIN)

    manager.__init__ = __init__


def _build_plugin(hookimpl: Any) -> Any:
    class TestFailures:
        """What pytest does otherwise while it is debugged."""

        def pytest_load_initial_conftests(self, early_config: Any) -> Iterator[None]:
            _show_output(early_config)
            yield

        def pytest_cmdline_main(self, config: Any) -> Iterator[None]:
            _change_options(config.option)
            with _unreadable_input(config):
                yield

        def pytest_runtest_protocol(self) -> None:
            _Last.error = None

        def pytest_exception_interact(self, call: Any) -> None:
            error = call.excinfo.value
            if type(error).__name__ == "CollectError" and error.__cause__ is not None:
                error = error.__cause__  # what the import of a test module raised
            stop_at_failure(error)

    for wrapper in (
        TestFailures.pytest_load_initial_conftests,
        TestFailures.pytest_cmdline_main,
    ):
        hookimpl(hookwrapper=True, tryfirst=True)(wrapper)
    for hook in (TestFailures.pytest_runtest_protocol, TestFailures.pytest_exception_interact):
        hookimpl(tryfirst=True)(hook)
    return TestFailures()


def _show_output(early_config: Any) -> None:
    """What tests write goes to the reports at once, and so does what an evaluation prints."""
    options = early_config.known_args_namespace
    if hasattr(options, "capture"):  # else that plugin is off
        options.holdfast_capture = options.capture
        options.capture = "no"


@contextlib.contextmanager
def _unreadable_input(config: Any) -> Iterator[None]:
    """A test that reads its stdin fails, as it does when pytest captures the output."""
    if getattr(config.known_args_namespace, "holdfast_capture", "no") == "no":
        yield
        return
    from _pytest.capture import DontReadFromInput  # type: ignore[import-not-found,unused-ignore]

    before, sys.stdin = sys.stdin, DontReadFromInput()
    try:
        yield
    finally:
        sys.stdin = before


def _change_options(options: Any) -> None:
    if hasattr(options, "capture"):
        options.capture = "no"
    if getattr(options, "numprocesses", None) or getattr(options, "tx", None):
        options.numprocesses, options.tx, options.dist = None, [], "no"
        _remark("xdist is off in a debugged run: the tests run one after another (-n 0).")
    if getattr(options, "usepdb", False):
        options.usepdb = False
        _remark("--pdb is off in a debugged run: it stops at failures by itself.")
    if hasattr(options, "timeout"):  # of pytest-timeout: it would end a test that is looked at
        options.timeout = 0


def _remark(text: str) -> None:
    server_messages.report("remark", text=text)


# -- unittest -------------------------------------------------------------------------------------


def _change_unittest(case: Any) -> None:
    """`_Outcome` runs each part of a test, and keeps what that raises."""
    original = case._Outcome.testPartExecutor
    passing = (KeyboardInterrupt, case.SkipTest, case._ShouldStop)

    @contextlib.contextmanager
    def executor(self: Any, *args: Any, **kwargs: Any) -> Iterator[None]:
        with original(self, *args, **kwargs):
            try:
                yield
            except passing:
                raise
            except BaseException as error:
                if not self.expecting_failure:
                    stop_at_failure(error)
                raise

    case._Outcome.testPartExecutor = executor
