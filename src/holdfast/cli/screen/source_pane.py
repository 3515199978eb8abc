"""The source: a cursor, the line about to run, and breakpoints in the gutter."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from rich.syntax import Syntax
from rich.text import Text
from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Region, Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip

from holdfast.cli.screen.debug_state import Breakpoint, SourceFile
from holdfast.cli.screen.plain_text import show_controls

_MAX_COLOURED_CHARS = 1_000_000
_MAX_LINE_CHARS = 5_000
_MARGIN = 3
"""How many lines stay visible around the one that is shown."""


@dataclass(frozen=True)
class CurrentLine:
    """The line of the selected frame."""

    line: int
    is_innermost: bool
    """Whether it is about to run, and not waiting for a call of its own."""


class SourcePane(ScrollView, can_focus=True):
    """One file, coloured, with a cursor."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up,k", "move(-1)", "up", show=False),
        Binding("down,j", "move(1)", "down", show=False),
        Binding("pageup", "page(-1)", "page up", show=False),
        Binding("pagedown", "page(1)", "page down", show=False),
        Binding("home,g", "top", "top", show=False),
        Binding("end,G", "bottom", "bottom", show=False),
    ]
    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "source--number",
        "source--breakpoint",
        "source--current",
        "source--caller",
        "source--cursor",
        "source--marker",
    }
    DEFAULT_CSS = """
    SourcePane { border: round $primary; }
    SourcePane:focus { border: round $accent; }
    SourcePane .source--number { color: $text-muted; }
    SourcePane .source--breakpoint { color: $error; text-style: bold; }
    SourcePane .source--current { background: $warning 35%; }
    SourcePane .source--caller { background: $secondary 25%; }
    SourcePane .source--cursor { background: $foreground 12%; }
    SourcePane .source--marker { color: $warning; text-style: bold; }
    """

    class GutterClicked(Message):
        """A person clicked beside a line."""

        def __init__(self, line: int) -> None:
            super().__init__()
            self.line = line

    def __init__(self) -> None:
        super().__init__(id="source")
        self.file = SourceFile("", "")
        self.cursor = 1
        self._lines: list[Text] = []
        self._current: CurrentLine | None = None
        self._breakpoints: Mapping[int, Breakpoint] = {}

    # -- what is shown ---------------------------------------------------------------------------

    def show(self, file: SourceFile, current: CurrentLine | None) -> None:
        """Show a file, and its current line if it has one."""
        if file is not self.file:
            self.file = file
            self._colour()
            self.cursor = 1
            self.scroll_to(0, 0, animate=False)
        self.border_title = Text(show_controls(_shorten_path(file.path)))
        is_moved = current != self._current
        self._current = current
        if current is not None and is_moved:
            self.move_to(current.line)
        self.refresh()

    def unmark(self) -> None:
        """There is no current line any more."""
        self._current = None
        self.refresh()

    def show_breakpoints(self, breakpoints: Mapping[int, Breakpoint]) -> None:
        """Breakpoints of this file by line."""
        self._breakpoints = breakpoints
        self.refresh()

    def move_to(self, line: int) -> None:
        self.cursor = max(1, min(line, len(self._lines)))
        top = max(0, self.cursor - 1 - _MARGIN)
        around = Region(0, top, 1, self.cursor - 1 + _MARGIN + 1 - top)
        self.scroll_to_region(around, animate=False, force=True, x_axis=False)
        self.refresh()

    def find(self, text: str) -> bool:
        """Move to the next line with this text, from the top again after the last."""
        count = len(self._lines)
        wanted = text.casefold()
        for distance in range(1, count + 1):
            line = (self.cursor - 1 + distance) % count
            if wanted in self._lines[line].plain.casefold():
                self.move_to(line + 1)
                return True
        return False

    def _colour(self) -> None:
        # Not `splitlines`: a form feed does not end a line of Python.
        shown = [show_controls(line[:_MAX_LINE_CHARS]) for line in self.file.text.split("\n")]
        if len(shown) > 1 and not shown[-1]:
            shown.pop()
        text = "\n".join(shown)
        if len(text) > _MAX_COLOURED_CHARS:
            self._lines = [Text(line) for line in shown]
        else:
            theme = "ansi_dark" if self.app.current_theme.dark else "ansi_light"
            coloured = Syntax(text, "python", theme=theme).highlight(text)
            self._lines = list(coloured.split("\n", allow_blank=True))[: len(shown)]
        width = max((line.cell_len for line in self._lines), default=0)
        self.virtual_size = Size(self._gutter_width + width + 1, len(self._lines))

    def colour_again(self) -> None:
        """After a change of the theme."""
        self._colour()
        self.refresh()

    @property
    def _gutter_width(self) -> int:
        return len(str(len(self._lines))) + 4

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        number = y + self.scroll_offset.y + 1
        if number > len(self._lines):
            return Strip.blank(width, self.rich_style)
        style = self.rich_style + self._get_line_style(number)
        left = self.scroll_offset.x
        code = Strip(self._lines[number - 1].render(self.app.console))
        code = code.crop_extend(left, left + max(0, width - self._gutter_width), None)
        return Strip([*self._render_gutter(number), *code]).apply_style(style)

    def _get_line_style(self, number: int) -> Style:
        style = Style.null()
        if number == self.cursor and self.has_focus:
            style = self.get_component_rich_style("source--cursor")
        if self._current is not None and number == self._current.line:
            name = "current" if self._current.is_innermost else "caller"
            style += self.get_component_rich_style(f"source--{name}")
        return style

    def _render_gutter(self, number: int) -> list[Segment]:
        point = self._breakpoints.get(number)
        is_current = self._current is not None and number == self._current.line
        arrow = " "
        if is_current:
            arrow = "▶" if self._current and self._current.is_innermost else "▷"
        elif number == self.cursor:
            arrow = "›"
        digits = str(number).rjust(self._gutter_width - 4)
        return [
            Segment(_choose_sign(point), self._get_foreground("breakpoint")),
            Segment(f" {digits}", self._get_foreground("number")),
            Segment(arrow, self._get_foreground("marker")),
            Segment(" "),
        ]

    def _get_foreground(self, name: str) -> Style:
        """The colour alone: the background is that of the line."""
        style = self.get_component_rich_style(f"source--{name}")
        return Style(color=style.color, bold=style.bold)

    # -- keys and clicks -------------------------------------------------------------------------

    def action_move(self, lines: int) -> None:
        self.move_to(self.cursor + lines)

    def action_page(self, direction: int) -> None:
        self.move_to(self.cursor + direction * max(1, self.size.height - 1))

    def action_top(self) -> None:
        self.move_to(1)

    def action_bottom(self) -> None:
        self.move_to(len(self._lines))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        if offset is None:
            return
        line = offset.y + self.scroll_offset.y + 1
        if line > len(self._lines):
            return
        self.cursor = line
        self.refresh()
        if offset.x < self._gutter_width - 1:
            self.post_message(self.GutterClicked(line))


def _choose_sign(point: Breakpoint | None) -> str:
    if point is None:
        return " "
    if not point.is_enabled or not point.is_verified:
        return "○"
    return "◆" if point.condition or point.hit_condition or point.log_message else "●"


def _shorten_path(path: str) -> str:
    """Relative to where the screen was started, if it is below."""
    try:
        return str(Path(path).relative_to(Path.cwd()))
    except (ValueError, OSError):
        return path
