"""What a program wrote since the last report to a client."""

from __future__ import annotations

import re

from msgspec import UNSET, UnsetType

from holdfast.core.secret_values import hide_secrets
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.tools.reports.report_context import ReportContext, add_omitted
from holdfast.wire.plain_text import clean_output, show_count
from holdfast.wire.program_answers import OutputEntry
from holdfast.wire.report_answers import Report, ReportedException

_MAX_BYTES = 32_000
"""More than any budget leaves to the output of most reports."""
_TRACEBACK = re.compile(
    r"^(?:  [+|] )?(?:Exception Group )?Traceback \(most recent call last\):", re.M
)
_TEST_SESSION = re.compile(r"^=+ (test session starts) =+\n((?:[a-z][\w ]*(?:: | -- ).*\n)+)", re.M)
"""What pytest says of itself before it says anything of the tests."""
_LEADS_TO = re.compile(
    r"(?:another exception occurred|direct cause of the following exception):\s*\Z"
)
_MARKS = {"stderr": "[stderr] ", "log": "[log] "}


def fill_output(report: Report, context: ReportContext) -> None:
    """The end of what it wrote since the last report, and how much more there was."""
    output, memory = context.session.output, context.memory
    since = output.run_start if memory.output is None else memory.output
    tail = output.read_tail(since, _MAX_BYTES)
    memory.output = tail.cursor
    ended_by = report.exception if context.session.over else UNSET
    text = _join(tail.entries, ended_by).rstrip("\n")
    text = _TEST_SESSION.sub(r"\1\n", text)
    if report.prompt:
        text = text.removesuffix(report.prompt).rstrip("\n")
    if text:
        report.output = text
    if tail.counts.omitted_bytes > 0:
        note = f"{show_count(tail.counts.omitted_bytes, 'byte')} of output before"
        add_omitted(report, note, 'debug_inspect(show=["output"])')


def _join(entries: list[OutputEntry], ended_by: ReportedException | UnsetType) -> str:
    """All of them in order, but a log that came within a line follows that line."""
    text = logs = ""
    for entry in entries:
        shown = _show_entry(entry, ended_by)
        if entry["type"] == "log" and text and not text.endswith("\n"):
            logs += shown
            continue
        end = shown.find("\n") + 1
        if logs and end:
            text, shown, logs = text + shown[:end] + logs, shown[end:], ""
        text += shown
    return f"{text}\n{logs}" if logs else text


def read_output(session: ProgramSession) -> str:
    """All that is kept of what it wrote, without what looks like a secret."""
    output = session.output
    page = output.page(0, output.cursor, max_bytes=output.limit_bytes)
    return hide_secrets("".join(entry.text for entry in page.entries))


def _show_entry(entry: OutputEntry, ended_by: ReportedException | UnsetType) -> str:
    text = clean_output(entry["text"])
    if entry["type"] == "stderr" and ended_by is not UNSET:
        text = _drop_traceback(text, ended_by)
    if not text.strip():
        return text
    if entry["type"] == "log" and not text.endswith("\n"):
        text += "\n"
    return _MARKS.get(entry["type"], "") + text


def _drop_traceback(text: str, exception: ReportedException) -> str:
    """Leave out what Python printed of the exception that the report tells: the last traceback,
    and those of the exceptions that led to it."""
    begins = [found.start() for found in _TRACEBACK.finditer(text)]
    if not begins or exception.type not in text[begins[-1] :]:
        return text
    begin = begins.pop()
    end = _find_end(text, begin, exception)
    while begins and _LEADS_TO.search(text, begins[-1], begin):
        begin = begins.pop()
    return text[:begin] + text[end:]


def _find_end(text: str, begin: int, exception: ReportedException) -> int:
    """Where a traceback ends: after the line that names the exception, and its message."""
    named = re.compile(rf"^[\w.]*{re.escape(exception.type)}\b.*\n?", re.M).search(text, begin)
    if named is None:  # a group is drawn with lines before it
        return len(text)
    end = named.end()
    for _ in range(exception.message.count("\n")):
        end = text.find("\n", end) + 1 or len(text)
    return end
