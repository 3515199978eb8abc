"""The second part of the demo: a bug that reading does not show, found by `run`, `trace`, `why`.

The code is plausible and the file has 400 lines, one of them with a currency in small letters. What
is concluded is computed from the answers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import msgspec

from holdfast.wire.trace_reports import TraceReport
from holdfast.wire.why_reports import WhyReport

PAYMENTS = 400
_ODD = 301
"""The payment whose currency is in small letters."""
_CURRENCIES = ("EUR", "USD", "GBP", "EUR", "USD")

Ask = Callable[[str, str, str, Any], Any]


@dataclass(frozen=True)
class TracedFinding:
    """What the three calls have shown."""

    payment: int
    line: int
    code: str
    facts: list[str]


def write_payments(file: Path) -> None:
    """The payments of a day: always the same."""
    lines = [f"{number},{amount:.2f},{currency}\n" for number, amount, currency in _list_payments()]
    file.write_text("".join(lines), encoding="utf-8")


def _list_payments() -> Iterator[tuple[int, float, str]]:
    seed = 7
    for number in range(1, PAYMENTS + 1):
        seed = (seed * 1103515245 + 12345) % 2**31
        currency = _CURRENCIES[(seed >> 20) % 5]
        yield (
            number,
            (seed >> 8) % 10000 / 100,
            currency.lower() if number == _ODD else currency,
        )


def investigate_with_traces(ask: Ask, program: Path, payments: Path) -> TracedFinding:
    """Find the payment that is settled wrongly, and why, in three calls."""
    lines = program.read_text(encoding="utf-8").splitlines()
    run = {"target": program.name, "args": [payments.name]}
    ask(
        "Nothing crashes. The total is wrong.",
        "POST",
        _tool_path("debug_run", program),
        run,
    )
    trace = ask(
        "The whole life of the call that makes the total, in one answer.",
        "POST",
        _tool_path("debug_trace", program),
        {**run, "function": "settle"},
    )
    payment = _find_odd_round(trace)
    place = next(number for number, line in enumerate(lines, 1) if "euros = " in line)
    why = ask(
        f"Payment {payment} took another way. Where did its rate come from?",
        "POST",
        _tool_path("debug_why", program),
        {**run, "variable": "rate", "at": f"{program.name}:{place}", "hit": payment},
    )
    return _conclude(lines, payment, why)


def _tool_path(tool: str, program: Path) -> str:
    return f"/api/v1/tools/{tool}?{urlencode({'client': 'demo', 'cwd': str(program.parent)})}"


def _find_odd_round(trace: Mapping[str, Any]) -> int:
    """The round of the loop that took a way of its own."""
    for entry in trace["steps"]:
        for one in entry.get("loop", {}).get("unusual", ()):
            if "path" in one.get("remark", ""):
                return int(one["number"])
    raise RuntimeError("the trace does not show the bug of the demo program")


def _conclude(lines: list[str], payment: int, why: Mapping[str, Any]) -> TracedFinding:
    tests = [link for link in why["from"] if link["source"].startswith("if ")]
    if not tests:
        raise RuntimeError("the chain does not show the bug of the demo program")
    test, assigned = tests[0], why["assigned"]
    return TracedFinding(
        payment=payment,
        line=test["line"],
        code=lines[test["line"] - 1].strip(),
        facts=[
            f"payment {payment} is converted with rate {assigned['value']},",
            f"which line {assigned['line']} has set for an earlier payment:",
            f"`{test['source'].rstrip(':')}` was not so, and the rate of before was kept",
        ],
    )


def render_answer(path: str, answer: Mapping[str, Any]) -> str:
    """An answer as an agent reads it."""
    if "/debug_trace" in path:
        return msgspec.convert(answer, TraceReport).to_text()
    if "/debug_why" in path:
        return msgspec.convert(answer, WhyReport).to_text()
    return f"{answer['status']}, exit code {answer['exit_code']}\n{answer['output']}".rstrip()
