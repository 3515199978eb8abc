"""The lists beside the source: the stack, the threads, the breakpoints."""

from __future__ import annotations

from pathlib import Path
from typing import ClassVar

from rich.text import Text
from textual.binding import Binding, BindingType
from textual.message import Message
from textual.widgets import OptionList
from textual.widgets.option_list import Option

from holdfast.cli.screen.debug_state import Breakpoint, Stack, Thread
from holdfast.cli.screen.plain_text import shorten

_MAX_CHARS = 200


class ListPane(OptionList):
    """A list that is filled anew and keeps its place."""

    DEFAULT_CSS = """
    ListPane { border: round $primary; background: $background; padding: 0;
               text-wrap: nowrap; text-overflow: ellipsis; }
    ListPane:focus { border: round $accent; }
    """

    def __init__(self, title: str) -> None:
        super().__init__(id=title, markup=False)
        self.border_title = title
        self._filled_with: list[Text] = []

    def fill(self, lines: list[Text], chosen: int | None) -> None:
        if lines != self._filled_with:  # to lay it out again takes a while
            self._filled_with = lines
            self.clear_options()
            self.add_options([Option(line) for line in lines])
        self.highlighted = chosen if lines else None


class StackPane(ListPane):
    """The frames of a thread, innermost first."""

    class FrameChosen(Message):
        def __init__(self, index: int) -> None:
            super().__init__()
            self.index = index

    class MoreWanted(Message):
        """The rest of a deep stack."""

    def show(self, stack: Stack, selected: int) -> None:
        lines = []
        for frame in stack.frames:
            style = "dim" if frame.is_library else ""
            line = Text(shorten(frame.function, _MAX_CHARS), style=style)
            line.append(f"  {shorten(Path(frame.file).name, 60)}:{frame.line}", style="dim")
            lines.append(line)
        rest = stack.total - len(stack.frames)
        if rest > 0 and lines:
            lines.append(Text(f"… {rest} more", style="dim italic"))
        self._count = len(stack.frames)
        subtitle = str(stack.total) if stack.total > 1 else ""
        if subtitle != self.border_subtitle:
            self.border_subtitle = subtitle
        self.fill(lines, min(selected, max(0, len(lines) - 1)))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        is_frame = event.option_index < self._count
        self.post_message(self.FrameChosen(event.option_index) if is_frame else self.MoreWanted())


class ThreadPane(ListPane):
    """The threads, shown if there are several."""

    class ThreadChosen(Message):
        def __init__(self, thread: Thread) -> None:
            super().__init__()
            self.thread = thread

    def show(self, threads: tuple[Thread, ...], selected: int) -> None:
        self._threads = threads
        self.display = len(threads) > 1
        lines, chosen = [], None
        for index, thread in enumerate(threads):
            sign = "‖" if thread.status == "paused" else "●"
            lines.append(Text(f"{sign} {shorten(thread.name, _MAX_CHARS)}"))
            if thread.id == selected:
                chosen = index
        self.fill(lines, chosen)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.post_message(self.ThreadChosen(self._threads[event.option_index]))


class BreakpointPane(ListPane):
    """Every breakpoint of the session, whoever set it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("delete,backspace", "remove", "remove the breakpoint", show=False),
        Binding("space", "switch", "turn it off or on", show=False),
    ]

    class Chosen(Message):
        def __init__(self, point: Breakpoint) -> None:
            super().__init__()
            self.point = point

    class RemovalWanted(Chosen):
        pass

    class SwitchWanted(Chosen):
        pass

    def show(self, points: tuple[Breakpoint, ...]) -> None:
        chosen = self.highlighted
        self._points = points
        self.display = bool(points)
        self.fill([_format_breakpoint(point) for point in points], None)
        if chosen is not None and points:
            self.highlighted = min(chosen, len(points) - 1)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        self.post_message(self.Chosen(self._points[event.option_index]))

    def action_remove(self) -> None:
        if self.highlighted is not None:
            self.post_message(self.RemovalWanted(self._points[self.highlighted]))

    def action_switch(self) -> None:
        if self.highlighted is not None:
            self.post_message(self.SwitchWanted(self._points[self.highlighted]))


def _format_breakpoint(point: Breakpoint) -> Text:
    is_on = point.is_enabled and point.is_verified
    line = Text()
    line.append("● " if is_on else "○ ", style="red" if is_on else "dim")
    place = f"{Path(point.file).name}:{point.line}" if point.file else ""
    if point.kind != "line":
        place = f"{point.function}  {place}" if place else point.function
    line.append(shorten(place, _MAX_CHARS), style="" if is_on else "dim")
    if point.condition:
        line.append(f" if {shorten(point.condition, _MAX_CHARS)}", style="italic")
    if point.hit_condition:
        line.append(f" at hit {shorten(point.hit_condition, 20)}", style="italic")
    if point.hits:
        line.append(f"  ×{point.hits}", style="dim")
    return line
