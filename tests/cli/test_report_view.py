"""How a report looks: coloured on a terminal, plain elsewhere, and never obeyed by a terminal."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from rich.console import Console

from holdfast.cli import report_view
from holdfast.cli.coloured_report import print_coloured
from holdfast.cli.tool_hints import write_commands
from holdfast.wire.report_answers import Report

STOP: dict[str, Any] = {
    "status": "paused",
    "session_id": "sess_1",
    "reason": "breakpoint",
    "at": "shop.py:12",
    "function": "total",
    "environment": "Python 3.12.1 of .venv (project)",
    "source": ["    11  for item in cart:", ">   12      amount += item", "    13  return amount"],
    "locals": {"amount": "5", "item": "'tea'"},
    "was": {"amount": "3"},
    "gone": ["x"],
    "unchanged": 7,
    "returned": {"price": "2"},
    "values": {"len(cart)": "2"},
    "stack": ["main shop.py:20", "<module> shop.py:25"],
    "steps": ["shop.py:12  amount 3 → 5"],
    "output": "one\ntwo",
    "problems": ["shop.py:99 has no line"],
    "omitted": ['rows: debug_inspect(expand="rows")'],
    "threads": ["worker at pool.py:3"],
    "breakpoints": ["bp_1 shop.py:12"],
    "prompt": "How many? ",
    "message": "After 3 of 5 steps.",
    "error": "NameError: no such name",
    "next": "debug_step, debug_continue",
}
CRASH: dict[str, Any] = {
    "status": "terminated",
    "session_id": "sess_1",
    "exit_code": 1,
    "exception": {
        "type": "KeyError",
        "message": "'tea'",
        "causes": [
            {
                "type": "OSError",
                "message": "gone",
                "relation": "cause",
                "at": "shop.py:3",
                "text": "open(path)",
                "locals": {"path": "'/prices'"},
            },
        ],
        "frames": [
            {
                "at": "shop.py:4",
                "function": "price",
                "text": "return prices[name]",
                "locals": {"name": "'tea'"},
            }
        ],
    },
    "never_hit": ["shop.py:40"],
}
TABLE: dict[str, Any] = {
    "status": "terminated",
    "session_id": "sess_1",
    "exit_code": 0,
    "columns": ["amount", "item"],
    "rows": [["shop.py:12", "1", "'tea'"], ["shop.py:12", "3", "'milk'"]],
    "hits": 2,
}


def show(report: dict[str, Any], width: int = 100) -> str:
    """The report as a terminal with colours gets it."""
    file = io.StringIO()
    console = Console(
        file=file, force_terminal=True, width=width, color_system="standard", markup=False
    )
    print_coloured(msgspec.convert(report, Report), console)
    return file.getvalue()


def strip(text: str) -> str:
    return re.sub(r"\x1b\[[0-9;]*m", "", text)


def list_facts(value: Any) -> Iterator[str]:
    """Every text and number in a report, and the names of variables."""
    if isinstance(value, dict):
        for name, one in value.items():
            if name != "relation":
                yield from list_facts(one)
    elif isinstance(value, list):
        for one in value:
            yield from list_facts(one)
    else:
        yield str(value).lstrip("> ")


def squeeze(text: str) -> str:
    """The text without what its layout may change."""
    return re.sub(r"[\s│]", "", text)


def test_these_reports_have_every_field_that_there_is() -> None:
    assert {*STOP, *CRASH, *TABLE} == {*Report.__struct_fields__}


@pytest.mark.parametrize("report", [STOP, CRASH, TABLE])
@pytest.mark.parametrize("width", [30, 100])
def test_the_coloured_form_has_every_fact(report: dict[str, Any], width: int) -> None:
    shown = squeeze(strip(show(report, width)))
    names = [*report.get("locals", ()), *report.get("returned", ()), *report.get("values", ())]
    missing = [fact for fact in (*list_facts(report), *names) if squeeze(fact) not in shown]
    assert missing == []


def test_no_line_is_wider_than_the_terminal() -> None:
    long = {**STOP, "locals": {"text": "x" * 500, "a_very_long_name" * 4: "1"}}
    assert max(map(len, strip(show(long, 40)).splitlines())) <= 40


def test_the_current_line_is_marked_and_the_source_coloured() -> None:
    lines = show(STOP).splitlines()
    [current] = [line for line in lines if "amount += item" in strip(line)]
    assert strip(current).startswith("▶ 12     amount += item")
    [loop] = [line for line in lines if "for item in" in strip(line)]
    assert "\x1b[" in loop.partition("for")[0][-8:]


def test_a_changed_variable_is_marked_and_says_what_it_was() -> None:
    lines = show(STOP).splitlines()
    [changed] = [line for line in lines if strip(line).strip().startswith("amount =")]
    [same] = [line for line in lines if strip(line).strip().startswith("item")]
    assert "(was 3)" in strip(changed)
    assert "\x1b[1;33m5" in changed
    assert "\x1b[1;33m" not in same


def test_collected_values_are_a_table_with_the_expressions_as_titles() -> None:
    title, first, second, *_ = strip(show(TABLE)).splitlines()[1:]
    assert title.split() == ["at", "amount", "item"]
    assert first.split() == ["shop.py:12", "1", "'tea'"]
    assert second.index("'milk'") == title.index("item")


def test_without_a_terminal_it_is_the_text_of_the_tools(capsys: pytest.CaptureFixture[str]) -> None:
    report_view.print_answer("debug_run", CRASH)
    assert capsys.readouterr().out == msgspec.convert(CRASH, Report).to_text() + "\n"


EVIL = "a\x1b]0;owned\x07b\x1b[2Jc\x9b31md[bold red]\x00\u202e"


def test_what_a_program_wrote_is_neither_markup_nor_an_escape(
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = {**STOP, "locals": {EVIL: EVIL}, "output": EVIL, "message": EVIL, "stack": [EVIL]}
    report_view.print_answer("debug_run", report)
    shown = capsys.readouterr().out
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202e]", shown)
    assert "abc\\x9b31md[bold red]\\x00" in shown
    assert "[bold red]" in strip(show({**report, "output": "[bold red]"}))


@pytest.mark.parametrize(
    ("hint", "command"),
    [
        ('debug_inspect(expand="rows[3]")', "holdfast inspect --expand 'rows[3]'"),
        ("debug_inspect(frame=1, start=20)", "holdfast inspect --frame 1 --start 20"),
        ('debug_inspect(show=["stack"])', "holdfast inspect --show stack"),
        ('debug_inspect(expressions=["a b", "c"])', "holdfast inspect 'a b' c"),
        ('debug_step(kind="to_line", line=7)', "holdfast step to-line 7"),
        ("debug_continue(input=…)", "holdfast continue --input …"),
        ('debug_inspect(capture="cap_1", frame=…)', "holdfast inspect --capture cap_1 --frame …"),
        ('debug_run(target="a.py::b", cwd="/c")', "holdfast run --cwd /c a.py::b"),
        ("debug_stop", "holdfast stop"),
        ("debug_evaluate to look, debug_sessions", "holdfast eval to look, holdfast sessions"),
        ("show_secrets: true", "--show-secrets"),
        ("GET /api/holds lists what is held.", "`holdfast holds` lists what is held."),
        ("debug_unknown(a=1) and x_y", "debug_unknown(a=1) and x_y"),
    ],
)
def test_hints_name_commands_instead_of_tools(hint: str, command: str) -> None:
    assert write_commands(hint) == command
