"""The hooks of `pytest --holdfast`: each failure leaves a file, and the summary names them."""

from __future__ import annotations

import contextlib
import itertools
from typing import TYPE_CHECKING, Any

import pytest

from holdfast.client import discovery
from holdfast.recording import capture_files
from holdfast.recording.capture_files import Capture, CaptureDirectory
from holdfast.recording.trace_files import TraceDirectory, traces_dir

if TYPE_CHECKING:
    from holdfast.client.captures.failure_recorder import FailureRecorder

_MAX_LISTED = 20
_RUN = "holdfast_run"
_WORKER_OUTPUT = "holdfast_captures"


class CapturePlugin:
    """Captures failures in this process: the only one, the controller of xdist, or a worker."""

    def __init__(self, config: pytest.Config) -> None:
        given: dict[str, Any] | None = getattr(config, "workerinput", None)  # of a worker of xdist
        run = given.get(_RUN) if given else None
        self.run = run if run is not None else capture_files.create_run_id()
        self._worker = str(given["workerid"]) if given else None
        self._directory = CaptureDirectory(capture_files.captures_dir(discovery.data_dir()))
        self._numbers = itertools.count(1)
        self._left_out = 0
        self._recorder = self._make_recorder(config)
        self._problems: list[str] = []

    def _make_recorder(self, config: pytest.Config) -> FailureRecorder | None:
        if config.getoption("holdfast_trace") == "off":
            return None
        from holdfast.client.captures.failure_recorder import FailureRecorder

        directory = TraceDirectory(traces_dir(discovery.data_dir()))
        recorder = FailureRecorder(config.rootpath, directory)
        config.pluginmanager.register(recorder, "holdfast-recorder")
        return recorder

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """A hook of xdist: its workers write files of the same run."""
        node.workerinput[_RUN] = self.run

    @pytest.hookimpl(tryfirst=True)
    def pytest_exception_interact(self, node: Any, call: Any, report: Any) -> None:
        """Called for failures only, while fixtures still stand."""
        if call.excinfo is None:
            return
        number = next(self._numbers)
        if number > capture_files.MAX_OF_PROCESS:
            self._left_out += 1
            return
        try:
            from holdfast.client.captures.failure_capture import build_capture

            trace = None
            if self._recorder is not None and call.when in ("setup", "call"):
                trace = self._recorder.save(str(node.nodeid))
            capture = build_capture(node, call, report, self._worker)
            if trace is not None:
                capture["trace"] = trace
            self._directory.write(capture, self.run, self._worker, number)
        except Exception as problem:  # a capture never changes how the tests end
            self._problems = [f"{type(problem).__name__}: {problem}"]  # one is enough

    def pytest_sessionfinish(self, session: Any) -> None:
        """A worker of xdist lets the controller know."""
        if self._worker is not None:
            session.config.workeroutput[_WORKER_OUTPUT] = (self._left_out, self._problems)

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        """A hook of xdist: a worker has ended; one that has crashed has told nothing."""
        told = getattr(node, "workeroutput", {}).get(_WORKER_OUTPUT)
        if told is not None:
            self._left_out += told[0]
            self._problems += [one for one in told[1] if one not in self._problems]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """In the only process, or the controller."""
        problems = list(self._problems)
        captures = list(self._directory.iter_captures(problems, self.run))
        if not captures and not problems:
            return
        terminalreporter.section("holdfast")
        for capture in reversed(captures[-_MAX_LISTED:]):
            terminalreporter.write_line(_summarize(capture))
        if len(captures) > _MAX_LISTED:
            terminalreporter.write_line(f"… {len(captures) - _MAX_LISTED} more")
        if self._left_out:
            terminalreporter.write_line(f"{self._left_out} more failures left no capture")
        for problem in problems:
            terminalreporter.write_line(f"a capture could not be written: {problem}", yellow=True)
        if captures:
            one = f"holdfast captures {captures[-1]['id']}"
            terminalreporter.write_line(f"`{one}` shows one, `holdfast captures` lists them")
            with contextlib.suppress(OSError):  # old ones stay; the tests end as they would
                self._directory.prune(self.run)


def _summarize(capture: Capture) -> str:
    error = capture["exception"]
    first_line = error["message"].strip().partition("\n")[0][:100]
    remarks = [capture["when"]] if capture["when"] != "call" else []
    remarks += [f"attempt {capture['attempt']}"] if capture["attempt"] > 1 else []
    place = capture["node"] + (f" ({', '.join(remarks)})" if remarks else "")
    return f"{capture['id']}  {place}  {error['type']}: {first_line}".rstrip(": ")
