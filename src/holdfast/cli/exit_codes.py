"""What the exit code of a command says. docs/cli.md lists them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

OK = 0
"""The program ended well; of other commands: what was asked for is done."""
ERROR = 1
"""Holdfast could not do it."""
USAGE = 2
"""The command line is wrong."""
PAUSED = 3
"""The program is held at a stop."""
FAILED = 4
"""The program crashed, was killed, or ended with a code other than 0."""
RUNNING = 5
"""Time was up, and the program still runs."""
WAITS_FOR_INPUT = 6
"""The program reads its standard input, and there is none."""
UNKNOWN_END = 7
"""The program ended, and nobody knows with which code: it was not started by Holdfast."""
INTERRUPTED = 130
"""Ctrl-C. The program goes on."""

_BY_STATUS = {
    "paused": PAUSED,
    "running": RUNNING,
    "launching": RUNNING,
    "waiting_for_input": WAITS_FOR_INPUT,
    "failed": FAILED,
}


def choose_code(report: Mapping[str, Any]) -> int:
    """The exit code for what a report says of a program."""
    status = report.get("status")
    if status == "terminated":
        if report.get("exit_code") or report.get("exception"):
            return FAILED
        return UNKNOWN_END if report.get("exit_code", OK) is None else OK
    return _BY_STATUS.get(str(status), OK)
