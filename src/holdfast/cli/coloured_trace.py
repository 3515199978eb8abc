"""A trace on a terminal: source with its colours, and values in a column beside it."""

from __future__ import annotations

import re

from rich.console import Console
from rich.syntax import Syntax
from rich.text import Text

_STATEMENT = re.compile(
    r"(?P<pad> *)(?P<place>(?:[^\s:]+:)?\d+) (?P<code>.*?)(?:  # (?P<facts>.*))?$"
)
_ROUND = re.compile(r"(?P<pad> *)(?P<number>#\d+)(?P<rest>.*)$")
_ENDS = {"returned": "bold green", "raised": "bold red", "begins": "green", "not": "yellow"}
_QUIET = ("note:", "next:", "left out:", "recorded:", "called from", "output:")
_COLUMN = 44
_THEME = "ansi_dark"


def print_coloured_trace(text: str, console: Console | None = None) -> None:
    """Print the text of a trace, which is harmless already."""
    console = console or Console(highlight=False, markup=False, emoji=False)
    head, *lines = text.split("\n")
    console.print(Text(head, "bold cyan"))
    for line in lines:
        console.print(_colour(line), soft_wrap=True)


def _colour(line: str) -> Text:
    if line.startswith(_QUIET):
        return Text(line, "dim")
    found = _STATEMENT.match(line)
    if found is not None:
        return _colour_statement(found)
    found = _ROUND.match(line)
    if found is not None:
        shown = Text(found["pad"]).append(found["number"], "bold magenta")
        return shown.append(found["rest"], "green")
    first = line.split(" ", 1)[0]
    return Text(line, _ENDS.get(first, ""))


def _colour_statement(found: re.Match[str]) -> Text:
    shown = Text(found["pad"]).append(f"{found['place']} ", "dim")
    code = Syntax("", "python", theme=_THEME).highlight(found["code"])
    code.rstrip()
    shown.append_text(code)
    if found["facts"]:
        shown.append(" " * max(2, _COLUMN - shown.cell_len))
        style = "bold red" if "raised " in found["facts"] else "green"
        shown.append(found["facts"], style)
    return shown
