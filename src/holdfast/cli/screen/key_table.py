"""The keys of the screen: the bindings, the bar at the bottom and the help come from this table."""

from __future__ import annotations

from dataclasses import dataclass

from textual.binding import Binding


@dataclass(frozen=True)
class Key:
    keys: str
    """As Textual names them, with commas."""
    shown: str
    action: str
    meaning: str
    label: str = ""
    """In the bar at the bottom; empty: not there."""

    @property
    def short(self) -> str:
        """The key that is quickest to press."""
        return next((key for key in self.shown.split() if len(key) == 1), self.shown)

    def to_binding(self) -> Binding:
        return Binding(self.keys, self.action, self.label or self.meaning, show=False)


KEYS = (
    Key("f5,c", "F5 c", "run('continue')", "continue", "go"),
    Key("f10,n", "F10 n", "run('step-over')", "step over", "over"),
    Key("f11,s", "F11 s", "run('step-into')", "step into", "into"),
    # Many terminals send F23 for shift+F11.
    Key("shift+f11,f23,r", "⇧F11 r", "run('step-out')", "run to the end of the function", "out"),
    Key("t", "t", "run_to_cursor", "run to the cursor", "here"),
    Key("p", "p", "pause", "pause a program that runs"),
    Key("b", "b", "toggle_breakpoint", "set or remove a breakpoint at the cursor", "break"),
    Key("B", "B", "set_condition", "a breakpoint with a condition at the cursor"),
    Key("w", "w", "add_watch", "watch an expression; del removes the selected one", "watch"),
    Key("u", "u", "move_frame(1)", "up the stack, to the caller"),
    Key("d", "d", "move_frame(-1)", "down the stack"),
    Key("exclamation_mark,ctrl+x", "! ctrl+x", "focus_console", "console; esc leaves it", "eval"),
    Key("o", "o", "focus_output", "the output, and input for the program", "output"),
    Key("slash", "/", "search", "search in the source; empty: the same again"),
    Key("m", "m", "open_file", "open another file"),
    Key("full_stop", ".", "show_current", "back to the current line"),
    Key("escape", "esc", "focus_source", "back to the source"),
    Key("R", "R", "restart", "run the program again"),
    Key("question_mark,f1", "? F1", "help", "this help", "help"),
    Key("q,ctrl+q", "q", "quit", "quit", "quit"),
)
MORE_HELP = (
    ("tab ⇧tab", "the next and the last pane"),
    ("↑ ↓ PgUp PgDn g G", "move in a pane"),
    ("enter → ←", "unfold a value, choose a frame, thread or breakpoint"),
    ("space, del", "in the breakpoints: off and on, remove"),
    ("ctrl+p", "commands and themes"),
    ("mouse", "a click beside a line sets or removes a breakpoint"),
)


def list_help() -> list[tuple[str, str]]:
    return [(key.shown, key.meaning) for key in KEYS] + list(MORE_HELP)
