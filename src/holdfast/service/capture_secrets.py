"""Hides what looks like a secret in a capture.

The values of variables that are secrets by their names are hidden wherever they are repeated, as in
pytest's explanation of an assertion. Lines of source are shown: they are in the user's files.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from msgspec import UNSET
from msgspec.structs import replace

from holdfast.core.secret_values import HIDDEN, hide_secrets, hide_value
from holdfast.wire.capture_answers import (
    Capture,
    CaptureAssertion,
    CaptureException,
    CaptureFrame,
    CaptureValue,
)

_MIN_SECRET = 4  # characters; a shorter text may be part of anything


def hide_capture_secrets(capture: Capture) -> Capture:
    """The same capture, without values that look like secrets."""
    return _Cleaner(capture).clean()


class _Cleaner:
    def __init__(self, capture: Capture) -> None:
        self._capture = capture
        found = {text for value in _iter_values(capture) for text in _iter_secrets(value)}
        self._secrets = sorted(found, key=len, reverse=True)

    def clean(self) -> Capture:
        capture = self._capture
        assertion = capture.assertion
        return replace(
            capture,
            exception=self._clean_exception(capture.exception),
            causes=[self._clean_exception(cause) for cause in capture.causes],
            assertion=UNSET if assertion is UNSET else self._clean_assertion(assertion),
            output=[(title, self._clean_text(text)) for title, text in capture.output],
        )

    def _clean_text(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, HIDDEN)
        return hide_secrets(text)

    def _clean_assertion(self, assertion: CaptureAssertion) -> CaptureAssertion:
        return replace(assertion, operands=self._clean_values(assertion.operands))

    def _clean_exception(self, error: CaptureException) -> CaptureException:
        return replace(
            error,
            message=self._clean_text(error.message),
            notes=[self._clean_text(note) for note in error.notes],
            frames=[self._clean_frame(frame) for frame in error.frames],
            inner=[self._clean_frame(frame) for frame in error.inner],
        )

    def _clean_frame(self, frame: CaptureFrame) -> CaptureFrame:
        return replace(frame, locals=self._clean_values(frame.locals))

    def _clean_values(self, values: Sequence[CaptureValue]) -> list[CaptureValue]:
        return [self._clean_value(value) for value in values]

    def _clean_value(self, value: CaptureValue) -> CaptureValue:
        shown = hide_value(_name(value), value.value)
        if shown == HIDDEN:
            return replace(value, value=shown, children=UNSET)
        children = UNSET if value.children is UNSET else self._clean_values(value.children)
        return replace(value, value=self._clean_text(shown), children=children)


def _iter_values(capture: Capture) -> Iterator[CaptureValue]:
    for error in (capture.exception, *capture.causes):
        for frame in (*error.frames, *error.inner):
            yield from frame.locals
    if capture.assertion is not UNSET:
        yield from capture.assertion.operands


def _iter_secrets(value: CaptureValue) -> Iterator[str]:
    """The texts that are secret because of the name that they have."""
    if hide_value(_name(value), value.value) == HIDDEN:
        text = _read_string(value.value)
        if len(text) >= _MIN_SECRET:
            yield text
    for child in () if value.children is UNSET else value.children:
        yield from _iter_secrets(child)


def _name(value: CaptureValue) -> str:
    return value.name.strip("'\"")  # a key of a dict has its quotes


def _read_string(text: str) -> str:
    """The text of a string, of which the value is the repr; empty of anything else."""
    try:
        string = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return ""
    return string if isinstance(string, str) else ""
