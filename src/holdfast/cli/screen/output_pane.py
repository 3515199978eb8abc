"""What the program writes, and a line for what it reads."""

from __future__ import annotations

from collections import deque
from typing import ClassVar

from rich.style import Style
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.widgets import Input

from holdfast.cli.screen.debug_state import OutputPage
from holdfast.cli.screen.plain_text import shorten, show_controls

_MAX_LINES = 5_000
_MAX_LINE_CHARS = 2_000
_STYLES = {"stderr": "red", "log": "italic cyan", "stdin": "green"}


class OutputLog:
    """The last lines of the output. The last one may not be complete yet."""

    def __init__(self) -> None:
        self.lines: deque[tuple[str, str]] = deque(maxlen=_MAX_LINES)
        self._is_open = False

    def write(self, stream: str, text: str) -> None:
        # What would be thrown away at once is not looked at.
        *ended, last = text.split("\n")[-_MAX_LINES - 1 :]
        for line in ended:
            self._add(stream, line)
            self._is_open = False
        if last:
            self._add(stream, last)
            self._is_open = True

    def _add(self, stream: str, text: str) -> None:
        if self._is_open and self.lines and self.lines[-1][0] == stream:
            text = (self.lines.pop()[1] + text)[-_MAX_LINE_CHARS:]
        elif self._is_open and not text:
            return
        self.lines.append((stream, _overwrite(text)[:_MAX_LINE_CHARS]))


def _overwrite(text: str) -> str:
    """What is left of a line that a progress bar writes over and over.

    A return at its end stays: what comes next replaces the line."""
    shown = text.rstrip("\r")
    return shown.rpartition("\r")[2] + "\r" * (shown != text)


class OutputView(ScrollView, can_focus=True):
    """The lines, scrolled to the end unless a person looks at earlier ones."""

    def __init__(self) -> None:
        super().__init__(id="lines")
        self._log = OutputLog()

    def write(self, page: OutputPage) -> None:
        if page.dropped:
            self._log.write("log", f"… {page.dropped} entries are not kept\n")
        for stream, text in page.entries:
            self._log.write(stream, text)
        self._lay_out()

    def echo(self, text: str) -> None:
        """What a person gave the program: a pipe does not show it."""
        self._log.write("stdin", text)
        self._lay_out()

    def note(self, text: str) -> None:
        self._log.write("log", text + "\n")
        self._lay_out()

    def get_text(self) -> str:
        return "\n".join(text for _, text in self._log.lines)

    def _lay_out(self) -> None:
        is_at_end = self.scroll_offset.y >= self.max_scroll_y - 1
        lines = self._log.lines
        width = max((len(text) for _, text in lines), default=0)
        self.virtual_size = Size(width + 1, len(lines))
        if is_at_end:
            self.scroll_end(animate=False, force=True)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        number, left = y + self.scroll_offset.y, self.scroll_offset.x
        if number >= len(self._log.lines):
            return Strip.blank(width, self.rich_style)
        stream, text = self._log.lines[number]
        style = Style.parse(_STYLES.get(stream, ""))
        strip = Strip(Text(show_controls(text.rstrip("\r")), style=style).render(self.app.console))
        return strip.crop_extend(left, left + width, None).apply_style(self.rich_style)


class ProgramInput(Input):
    """A line for the program's stdin."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+d", "close", "end of input", show=False, priority=True),
    ]

    class Closed(Message):
        """There is no more input."""

    def action_close(self) -> None:
        self.post_message(self.Closed())


class OutputPane(Vertical):
    """The output above the input."""

    DEFAULT_CSS = """
    OutputPane { border: round $primary; }
    OutputPane:focus-within { border: round $accent; }
    OutputPane.waiting { border: round $warning; }
    OutputPane OutputView { height: 1fr; background: $background; }
    OutputPane Input { height: 1; border: none; padding: 0; background: $surface; }
    """

    class Given(Message):
        """A line of input."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    def __init__(self) -> None:
        super().__init__(id="output")
        self.border_title = "output"
        self.view = OutputView()
        self.input = ProgramInput(
            placeholder="input for the program; ctrl+d ends it", id="program-input"
        )

    def compose(self) -> ComposeResult:
        yield self.view
        yield self.input

    def show_waiting(self, is_waiting: bool, prompt: str) -> None:
        self.set_class(is_waiting, "waiting")
        asks = f": {shorten(prompt.strip(), 60)}" if prompt.strip() else ""
        self.border_title = Text(f"output, it waits for input{asks}" if is_waiting else "output")

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.input.clear()
        self.post_message(self.Given(event.value + "\n"))
