"""The questions of the screen: a line of text, whether to end the program, and the help."""

from __future__ import annotations

from typing import ClassVar

from rich.table import Table
from rich.text import Text
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Label, Static

_BOX = """
    align: center middle;
    & > .box { width: 80%; max-width: 90; height: auto; max-height: 90%;
               border: round $accent; padding: 0 1; background: $surface; }
    & Label { width: 100%; height: auto; }
"""


class LineDialog(ModalScreen[str | None]):
    """Asks for one line; None if the person gives none."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", "cancel")]
    DEFAULT_CSS = f"LineDialog {{{_BOX}}}"

    def __init__(self, title: str, hint: str, text: str = "") -> None:
        super().__init__()
        self._title, self._hint, self._text = title, hint, text

    def compose(self) -> ComposeResult:
        with Vertical(classes="box") as box:
            box.border_title = Text(self._title)
            box.border_subtitle = "enter takes it, esc does not"
            yield Label(Text(self._hint), markup=False)
            yield Input(self._text, id="line", select_on_focus=False)

    def on_mount(self) -> None:
        # Not `focus()`, which takes effect later: the next key may be here already.
        self.set_focus(self.query_one("#line"))

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.dismiss(event.value)


class LeaveDialog(ModalScreen[str | None]):
    """Asks what becomes of the program: `end`, `leave`, or None to stay."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("e", "dismiss('end')", "end"),
        Binding("l", "dismiss('leave')", "leave"),
        Binding("escape,c,n", "dismiss(None)", "stay"),
        Binding("enter,q,y", "default", "default"),
    ]
    DEFAULT_CSS = f"LeaveDialog {{{_BOX}}}"

    def __init__(self, *, is_joined: bool) -> None:
        super().__init__()
        self._default = "leave" if is_joined else "end"

    def compose(self) -> ComposeResult:
        with Vertical(classes="box") as box:
            box.border_title = "quit"
            text = Text("The program has not ended.\n\n")
            for key, meaning in (
                ("e", "end it, and quit"),
                ("l", "leave it as it is, and quit: others can go on with it"),
                ("esc", "stay"),
            ):
                text.append(f" {key} ", style="bold reverse")
                text.append(f" {meaning}\n")
            text.append(f"\nenter: {self._default}")
            yield Label(text)

    def action_default(self) -> None:
        self.dismiss(self._default)


class HelpDialog(ModalScreen[None]):
    """Lists the keys."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,enter,question_mark", "dismiss(None)", "close")
    ]
    DEFAULT_CSS = f"HelpDialog {{{_BOX}}}"

    def __init__(self, rows: list[tuple[str, str]]) -> None:
        super().__init__()
        self._rows = rows

    def compose(self) -> ComposeResult:
        table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
        for keys, meaning in self._rows:
            table.add_row(Text(keys, style="bold"), Text(meaning))
        with VerticalScroll(classes="box") as box:
            box.border_title = "keys"
            box.border_subtitle = "esc closes"
            yield Static(table)
