"""Hides what looks like a secret, wherever in a report it stands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from itertools import zip_longest

from msgspec import UNSET, UnsetType

from holdfast.core.secret_values import HIDDEN, hide_secrets, hide_value, is_secret
from holdfast.wire.report_answers import Report, ReportedException

# A variable that a step changed, as a line of `steps` says it.
_CHANGE = re.compile(r"(?P<name>\b[^\W\d]\w*) (?P<old>[^→]{1,200}?) → (?P<new>[^→]*?)(?=, \w+ |$)")
HIDDEN_NOTE = "values that look like secrets: show_secrets=true"


def hide_report_secrets(report: Report) -> None:
    """Hide secrets in place. Done twice, it changes nothing more."""
    report.locals = _hide_all(report.locals)
    report.was = _hide_all(report.was)
    report.values = _hide_all(report.values)
    report.returned = _hide_all(report.returned)
    report.output = _hide(report.output)
    report.message = _hide(report.message)
    report.error = _hide(report.error)
    report.prompt = _hide(report.prompt)
    if report.steps is not UNSET:
        report.steps = [_CHANGE.sub(_hide_change, hide_secrets(step)) for step in report.steps]
    report.problems = _hide_list(report.problems)
    if report.rows is not UNSET:
        names = ["", *(report.columns or ())]
        report.rows = [
            [
                hide_value(name, cell)
                for name, cell in zip_longest(names[: len(row)], row, fillvalue="")
            ]
            for row in report.rows
        ]
    if report.exception is not UNSET:
        _hide_in_exception(report.exception)
    if _has_hidden(report) and HIDDEN_NOTE not in (report.omitted or ()):
        report.omitted = [*(report.omitted or ()), HIDDEN_NOTE]


def _hide_change(found: re.Match[str]) -> str:
    name, value = found["name"], found["new"]
    return f"{name} {HIDDEN} → {HIDDEN}" if is_secret(name, value) else found.group()


def _hide_in_exception(exception: ReportedException) -> None:
    exception.message = hide_secrets(exception.message)
    for cause in exception.causes or ():
        cause.message = hide_secrets(cause.message)
        cause.locals = _hide_all(cause.locals)
    for frame in exception.frames or ():
        frame.locals = _hide_all(frame.locals)


def _hide_all(values: Mapping[str, str] | UnsetType) -> dict[str, str] | UnsetType:
    if values is UNSET:
        return UNSET
    return {name: hide_value(name, value) for name, value in values.items()}


def _hide(text: str | UnsetType) -> str | UnsetType:
    return UNSET if text is UNSET else hide_secrets(text)


def _hide_list(texts: list[str] | UnsetType) -> list[str] | UnsetType:
    return UNSET if texts is UNSET else [hide_secrets(text) for text in texts]


def _list_texts(report: Report) -> list[str | UnsetType]:
    return [report.output, report.message, report.error, report.prompt]


def _has_hidden(report: Report) -> bool:
    exception = report.exception
    texts = [*(report.steps or ()), *(report.problems or ())]
    texts += [text for text in _list_texts(report) if text]
    for values in (report.locals, report.was, report.values, report.returned):
        texts += (values or {}).values()
    for row in report.rows or ():
        texts += row
    if exception is not UNSET:
        texts += [exception.message, *(cause.message for cause in exception.causes or ())]
        for place in (*(exception.frames or ()), *(exception.causes or ())):
            texts += (place.locals or {}).values()
    return any(HIDDEN in text for text in texts)
