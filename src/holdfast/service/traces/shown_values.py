"""Texts of recorded values as they are shown: clean, and without what looks like a secret."""

from __future__ import annotations

from collections.abc import Mapping

from holdfast.core.secret_values import hide_secrets, hide_value
from holdfast.model.trace import CalleeCall, TracedValue
from holdfast.wire.plain_text import clean_line


class ShownValues:
    """How values are shown: with secrets, or without."""

    def __init__(self, show_secrets: bool = False) -> None:
        self._shows_secrets = show_secrets

    def show(self, name: str, text: str) -> str:
        """The value of a variable."""
        return clean_line(text if self._shows_secrets else hide_value(name, text))

    def show_words(self, text: str) -> str:
        """Words in which values may stand."""
        return clean_line(text if self._shows_secrets else hide_secrets(text))

    def show_all(self, values: Mapping[str, str]) -> dict[str, str]:
        return {clean_line(name): self.show(name, text) for name, text in values.items()}

    def show_traced(self, values: Mapping[str, TracedValue]) -> dict[str, str]:
        return {clean_line(name): self.show(name, value.text) for name, value in values.items()}

    def show_call(self, call: CalleeCall) -> str:
        """A call and what came of it."""
        if call.raised is not None:
            outcome = f"raised {call.raised}"
        else:
            outcome = f"-> {call.result}" if call.result is not None else "has not ended"
        return self.show_words(f"{call.function}({call.args}) {outcome}")
