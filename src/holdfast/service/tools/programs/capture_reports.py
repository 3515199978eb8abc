"""Reports a failing test's capture, as a stop is reported.

The test is over: its frames and values are there as far as they were captured, and nothing can be
evaluated. A report says how to run the test again.
"""

from __future__ import annotations

import ast
import json
import shlex
from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import UNSET

from holdfast import errors
from holdfast.recording.capture_files import ID_PREFIX
from holdfast.recording.file_ids import LATEST
from holdfast.service.capture_secrets import hide_capture_secrets
from holdfast.service.tools.reports.report_secrets import HIDDEN_NOTE
from holdfast.service.tools.tool_client import ToolClient
from holdfast.wire.capture_answers import Capture, CaptureException, CaptureFrame, CaptureValue
from holdfast.wire.report_answers import Report, ReportedCause, ReportedException, ReportedFrame
from holdfast.wire.tool_requests import DebugInspect

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger

CAPTURED = "captured"
_PAGE = 50


async def report_capture(debugger: Debugger, client: ToolClient, request: DebugInspect) -> Report:
    """Show a failing test as it was: a frame, a value, what it wrote."""
    whole = await debugger.captures.get(request.capture or request.session_id or LATEST)
    capture = whole if request.show_secrets else hide_capture_secrets(whole)
    report = CaptureReporter(capture, client, request).build()
    if capture != whole:
        report.omitted = [*(report.omitted or ()), HIDDEN_NOTE]
    return report


def is_of_capture(request: DebugInspect) -> bool:
    """Whether it asks for a capture; its id may stand in the place of a session's."""
    return request.capture is not None or (request.session_id or "").startswith(ID_PREFIX)


class CaptureReporter:
    """Builds the report of one capture, as one request wants it."""

    def __init__(self, capture: Capture, client: ToolClient, request: DebugInspect) -> None:
        self._capture = capture
        self._client = client
        self._request = request
        self._frames = capture.exception.frames
        self._problems: list[str] = []

    def build(self) -> Report:
        request = self._request
        frame = self._find_frame()
        report = Report(status=CAPTURED, session_id=self._capture.id, reason=self._explain())
        report.inspected = f"capture={json.dumps(self._capture.id)}"
        if request.frame:
            report.inspected += f", frame={request.frame}"
        if frame is not None:
            report.at, report.function = self._show_place(frame), frame.function
        if request.expand is None and not request.expressions:
            self._fill(report, frame)
        else:
            self._fill_values(report, frame)
        report.problems = self._problems or UNSET
        more = f"debug_inspect(capture={json.dumps(self._capture.id)}, frame=…, expand=…)"
        report.next = f"{more}; to run it again: {self._build_rerun()}"
        return report

    def _find_frame(self) -> CaptureFrame | None:
        number = self._request.frame
        if not self._frames and number == 0:
            return None
        if number >= len(self._frames):
            raise errors.FrameNotFound(
                f"the capture has {len(self._frames)} frames", hint="0 is where it failed."
            )
        return self._frames[number]

    def _explain(self) -> str:
        capture = self._capture
        subtest = f" [{capture.subtest}]" if capture.subtest is not UNSET else ""
        attempt = f", attempt {capture.attempt}" if capture.attempt > 1 else ""
        return f"{capture.node}{subtest} failed in {capture.when}{attempt}"

    def _build_rerun(self) -> str:
        """The call that stops where this test fails, with its frames alive."""
        capture = self._capture
        is_test = "::" in capture.node  # else a file that could not be collected
        target = capture.node if is_test else f"pytest {shlex.quote(capture.node)}"
        fields = {"target": target, "cwd": capture.root, "python": capture.python}
        shown = ", ".join(f"{name}={json.dumps(text)}" for name, text in fields.items())
        return f"debug_run({shown})"

    # -- all of it --------------------------------------------------------------------------

    def _fill(self, report: Report, frame: CaptureFrame | None) -> None:
        if self._wants("source"):
            report.exception = self._describe_exception()
            report.source = _mark_source(frame) if frame is not None else UNSET
        if self._wants("locals") and frame is not None:
            report.locals = self._show_all(frame.locals)
            self._fill_assertion(report)
            missing = frame.locals_total - len(frame.locals)
            if missing > 0:
                report.omitted = [f"{missing} variables were not captured"]
        if self._wants("stack"):
            report.stack = [self._show_line(frame) for frame in self._frames] or UNSET
        if self._wants("output") and self._capture.output:
            report.output = "".join(
                f"--- {title}\n{text}" if text.endswith("\n") else f"--- {title}\n{text}\n"
                for title, text in self._capture.output
            )

    def _wants(self, part: str) -> bool:
        return not self._request.show or part in self._request.show

    def _fill_assertion(self, report: Report) -> None:
        assertion = self._capture.assertion
        if assertion is UNSET or self._request.frame != 0:
            return
        report.message = assertion.source
        known = report.locals or {}
        shown = [one for one in assertion.operands if one.name not in (*known, one.value)]
        report.values = self._show_all(shown) or UNSET

    def _describe_exception(self) -> ReportedException:
        error = self._capture.exception
        frames = [
            ReportedFrame(at=self._show_place(one), function=one.function, text=_read_line(one))
            for one in error.inner
        ]
        return ReportedException(
            type=error.type,
            message="\n".join([error.message, *error.notes]),
            causes=[self._describe_cause(cause) for cause in self._capture.causes] or UNSET,
            frames=frames or UNSET,
        )

    def _describe_cause(self, cause: CaptureException) -> ReportedCause:
        first = next(iter([*cause.frames, *cause.inner]), None)
        return ReportedCause(
            type=cause.type,
            message=cause.message,
            relation=cause.relation or "cause",
            at=self._show_place(first) if first is not None else UNSET,
        )

    # -- values that are asked for ----------------------------------------------------------

    def _fill_values(self, report: Report, frame: CaptureFrame | None) -> None:
        report.values = {}
        if self._request.expand is not None:
            self._expand(report, self._request.expand, frame)
        for expression in self._request.expressions:
            value = self._find_value(expression, frame)
            if value is None:
                self._note_missing(expression)
            else:
                report.values[expression] = value.value

    def _expand(self, report: Report, expression: str, frame: CaptureFrame | None) -> None:
        value = self._find_value(expression, frame)
        if value is None:
            self._note_missing(expression)
            return
        assert report.values is not UNSET
        report.values[expression] = value.value
        children = [] if value.children is UNSET else value.children
        for child in children[self._request.start : self._request.start + _PAGE]:
            report.values[_name_part(child)] = child.value
        total = 0 if value.children_total is UNSET else value.children_total
        if total > len(children):
            report.omitted = [f"{len(children)} of {total} parts of it were captured"]

    def _find_value(self, expression: str, frame: CaptureFrame | None) -> CaptureValue | None:
        known = list(frame.locals) if frame is not None else []
        assertion = self._capture.assertion
        if assertion is not UNSET and self._request.frame == 0:
            known += assertion.operands
        for value in known:
            if value.name == expression:
                return value
        path = _parse_path(expression)
        return _follow(known, path) if path else None

    def _note_missing(self, expression: str) -> None:
        self._problems.append(
            f"{expression}: not captured, and a capture cannot evaluate; run the test again"
        )

    # -- showing ----------------------------------------------------------------------------

    def _show_all(self, values: Sequence[CaptureValue]) -> dict[str, str]:
        return {value.name: value.value for value in values}

    def _show_place(self, frame: CaptureFrame) -> str:
        return f"{self._client.show_path(frame.file)}:{frame.line}"

    def _show_line(self, frame: CaptureFrame) -> str:
        return f"{frame.function} {self._show_place(frame)}"


def _mark_source(frame: CaptureFrame) -> list[str]:
    return [f"{'>' if line == frame.line else ' '}{line:5}  {text}" for line, text in frame.source]


def _read_line(frame: CaptureFrame) -> str:
    return next((text.strip() for line, text in frame.source if line == frame.line), "")


def _name_part(child: CaptureValue) -> str:
    """`.total` of an object, `[3]` of a list, `['a']` of a dict."""
    is_name = child.name.isidentifier()
    return f".{child.name}" if is_name else f"[{child.name}]"


def _parse_path(expression: str) -> list[str]:
    """`q.rows[3]` as the names of parts: `q`, `rows`, `3`. Empty if it is something else."""
    try:
        node = ast.parse(expression.strip(), mode="eval").body
    except (SyntaxError, ValueError):
        return []
    names: list[str] = []
    while not isinstance(node, ast.Name):
        if isinstance(node, ast.Attribute):
            names.append(node.attr)
        elif isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Constant):
            names.append(repr(node.slice.value))
        else:
            return []
        node = node.value
    return [node.id, *reversed(names)]


def _follow(known: Sequence[CaptureValue], path: Sequence[str]) -> CaptureValue | None:
    found: CaptureValue | None = None
    for name in path:
        found = next((value for value in known if value.name == name), None)
        if found is None:
            return None
        known = [] if found.children is UNSET else found.children
    return found
