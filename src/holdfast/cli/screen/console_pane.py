"""The console: expressions and statements in the selected frame, with history and completions."""

from __future__ import annotations

from typing import ClassVar

from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.message import Message
from textual.widgets import Input, RichLog

from holdfast.cli.screen.debug_state import Completion, Value
from holdfast.cli.screen.plain_text import show_controls

_MAX_LINES = 2_000
_MAX_SHOWN = 40
"""Completions that are listed at once."""


class ConsoleInput(Input):
    """A line of Python."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "recall(-1)", "older", show=False),
        Binding("down", "recall(1)", "newer", show=False),
        Binding("tab", "complete", "complete", show=False),
    ]

    class CompletionWanted(Message):
        """Complete the text before the cursor."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self) -> None:
        super().__init__(placeholder="an expression or a statement; tab completes", id="expression")
        self._history: list[str] = []
        self._index = 0

    def remember(self, text: str) -> None:
        if not self._history or self._history[-1] != text:
            self._history.append(text)
        self._index = len(self._history)

    def action_recall(self, step: int) -> None:
        self._index = max(0, min(self._index + step, len(self._history)))
        is_new = self._index == len(self._history)
        self.value = "" if is_new else self._history[self._index]
        self.cursor_position = len(self.value)

    def action_complete(self) -> None:
        text = self.value[: self.cursor_position]
        if text.strip():
            self.post_message(self.CompletionWanted(text))


class ConsolePane(Vertical):
    """What was entered and what came of it, above the line to enter more."""

    DEFAULT_CSS = """
    ConsolePane { border: round $primary; }
    ConsolePane:focus-within { border: round $accent; }
    ConsolePane RichLog { height: 1fr; background: $background; }
    ConsolePane Input { height: 1; border: none; padding: 0; background: $surface; }
    """

    class Entered(Message):
        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self) -> None:
        super().__init__(id="console")
        self.border_title = "console"
        self.log_view = RichLog(max_lines=_MAX_LINES, wrap=True, min_width=10, highlight=False)
        self.log_view.can_focus = False
        self.input = ConsoleInput()

    def compose(self) -> ComposeResult:
        yield self.log_view
        yield self.input

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        text = event.value
        self.input.clear()
        if not text.strip():
            return
        self.input.remember(text)
        self.log_view.write(Text(f">>> {show_controls(text)}", style="bold"))
        self.post_message(self.Entered(text))

    def show_result(self, value: Value) -> None:
        for line in value.text.splitlines() if value.text != "None" else ():
            self.log_view.write(Text(show_controls(line)))

    def show_problem(self, message: str, hint: str = "") -> None:
        for line in message.splitlines():
            self.log_view.write(Text(show_controls(line), style="red"))
        if hint:
            self.log_view.write(Text(show_controls(hint), style="dim"))

    def show_completions(self, text: str, found: list[Completion]) -> None:
        """Write what all have in common, and list them if there are several."""
        if not found or text != self.input.value[: self.input.cursor_position]:
            return
        start, length = found[0].start, found[0].length
        labels = [completion.label for completion in found]
        common = _find_common_start(labels)
        if len(common) >= length:
            rest = self.input.value[start + length :]
            self.input.value = text[:start] + common + rest
            self.input.cursor_position = start + len(common)
        if len(labels) > 1:
            shown = "  ".join(labels[:_MAX_SHOWN])
            more = "" if len(labels) <= _MAX_SHOWN else f"  … {len(labels) - _MAX_SHOWN} more"
            self.log_view.write(Text(show_controls(shown + more), style="dim"))


def _find_common_start(texts: list[str]) -> str:
    first, last = min(texts), max(texts)  # the two that differ first
    length = next((i for i, char in enumerate(first) if last[i : i + 1] != char), len(first))
    return first[:length]
