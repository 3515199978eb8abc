"""How a child of the program connects to the server with a debugger of its own.

A child that cannot connect, or whose connection ends before it is configured, runs as a plain
process. None ever waits for a server that is not there.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any, Callable, Dict, List, Optional

from . import join_ticket, pydevd_control
from .pydevd_access import HERE, debugpy_folder

BOOT = os.path.join(HERE, "boot.py")
_PYTHON = re.compile(r"(python|pypy)[0-9.]*[a-z]?$")
_FLAGS_WITH_VALUE = "WX"
_LONG_FLAGS_WITH_VALUE = ("--check-hash-based-pycs",)
# Helpers of `multiprocessing` that run none of the program's code and outlive its last line.
_MULTIPROCESSING_HELPER = re.compile(r"from [\w.]*resource_tracker import main")


# -- forked ---------------------------------------------------------------------------------------


def join_forked(ticket: join_ticket.Ticket, on_connected: Callable[[Any], None]) -> bool:
    """In a forked child, once detached: start over with a debugger of its own."""
    try:
        connection = join_ticket.connect(ticket)
    except OSError:
        return False
    on_connected(connection)
    try:
        return pydevd_control.wait_until_configured(pydevd_control.arm_forked(connection))
    except Exception:
        return False


# -- new processes ---------------------------------------------------------------------------------


def rewrite_command(argv: Any, executable: Any, ticket: join_ticket.Ticket) -> Optional[List[Any]]:
    """The same Python command through `boot.py --join`; None for a command that cannot be."""
    try:
        texts = [os.fsdecode(part) for part in argv]
        name = os.fsdecode(executable) if executable is not None else texts[0]
    except (TypeError, IndexError):
        return None
    if not _PYTHON.match(os.path.basename(name)) or not os.path.exists(BOOT):
        return None
    if not os.path.exists(ticket.path):  # the server has gone, or follows no more
        return None
    spec = parse_python_arguments(texts[1:])
    if spec is None or _MULTIPROCESSING_HELPER.match(spec.get("code", "")):
        return None
    flags = list(argv)[1 : 1 + spec["flags"]] + spec.get("joined", [])
    boot = [BOOT, "--join", ticket.path, os.path.dirname(debugpy_folder())]
    command: List[Any] = [argv[0]] + flags + boot + list(argv)[1:]
    return command


def parse_python_arguments(arguments: List[str]) -> Optional[Dict[str, Any]]:
    """What `python ARGUMENTS` runs, and how many of them are flags; None for no program."""
    at = 0
    while at < len(arguments):
        text = arguments[at]
        if text in _LONG_FLAGS_WITH_VALUE:
            at += 2
        elif text == "-" or text in ("-h", "-V", "-VV", "-?") or text.startswith("--"):
            return None
        elif not text.startswith("-"):
            return {"script": text, "args": arguments[at + 1 :], "flags": at}
        else:
            program = _parse_short_flags(arguments, at)
            if program is not None:
                return program
            takes_next = re.match(r"-[a-zA-Z]*?[%s]$" % _FLAGS_WITH_VALUE, text)
            at += 2 if takes_next else 1
    return None


def _parse_short_flags(arguments: List[str], at: int) -> Optional[Dict[str, Any]]:
    """`-m name` or `-c code`, also joined to other flags (`-um name`, `-cpass`)."""
    text = arguments[at]
    for place, letter in enumerate(text[1:], 1):
        if letter in _FLAGS_WITH_VALUE:
            return None
        if letter in "mc":
            rest = text[place + 1 :]
            value, after = (rest, at + 1) if rest else ("".join(arguments[at + 1 : at + 2]), at + 2)
            kind = {"m": "module", "c": "code"}[letter]
            program: Dict[str, Any] = {kind: value, "args": arguments[after:], "flags": at}
            if place > 1:
                program["joined"] = [text[:place]]
            return program
    return None


def exec_plain_python(arguments: List[str]) -> None:
    """Run the original command in this process, without a debugger."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    import posix  # `os.execv` is our own hook

    posix.execv(sys.executable, [sys.executable] + arguments)
