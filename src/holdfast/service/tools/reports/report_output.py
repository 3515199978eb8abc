"""What a program wrote since the last report to a client."""

from __future__ import annotations

import re

from msgspec import UNSET

from holdfast.service.tools.reports.report_context import ReportContext, add_omitted
from holdfast.wire.plain_text import clean_output, show_count
from holdfast.wire.program_answers import OutputEntry
from holdfast.wire.report_answers import Report

_MAX_BYTES = 32_000
"""More than any budget leaves to the output of most reports."""
_TRACEBACK = re.compile(
    r"^(?:  [+|] )?(?:Exception Group )?Traceback \(most recent call last\):", re.M
)
_TEST_SESSION = re.compile(r"^=+ (test session starts) =+\n((?:[a-z][\w ]*(?:: | -- ).*\n)+)", re.M)
"""What pytest says of itself before it says anything of the tests."""
_MARKS = {"stderr": "[stderr] ", "log": "[log] "}


def fill_output(report: Report, context: ReportContext) -> None:
    """The end of what it wrote since the last report, and how much more there was."""
    output, memory = context.session.output, context.memory
    since = output.run_start if memory.output is None else memory.output
    tail = output.read_tail(since, _MAX_BYTES)
    memory.output = tail.cursor
    text = "".join(_show_entry(entry, report) for entry in tail.entries).rstrip("\n")
    text = _TEST_SESSION.sub(r"\1\n", text)
    if report.prompt:
        text = text.removesuffix(report.prompt).rstrip("\n")
    if text:
        report.output = text
    if tail.counts.omitted_bytes > 0:
        note = f"{show_count(tail.counts.omitted_bytes, 'byte')} of output before"
        add_omitted(report, note, 'debug_inspect(show=["output"])')


def _show_entry(entry: OutputEntry, report: Report) -> str:
    text = clean_output(entry["text"])
    if entry["type"] == "stderr" and report.exception is not UNSET:
        text = _drop_traceback(text, report.exception.type)
    if not text.strip():
        return text
    if entry["type"] == "log" and not text.endswith("\n"):
        text += "\n"
    return _MARKS.get(entry["type"], "") + text


def _drop_traceback(text: str, kind: str) -> str:
    """What Python printed of the exception that the report tells."""
    found = _TRACEBACK.search(text)
    if found is None or kind not in text[found.end() :]:
        return text
    return text[: found.start()]
