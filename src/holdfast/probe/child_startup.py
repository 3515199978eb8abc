"""How a child of the program joins the server: with a debugger of its own, or not at all.

A child that cannot connect, or whose connection ends before the server has told it where to
stop, is a plain child again. None ever waits for a server that is not there.
"""

from __future__ import annotations

import os
import re
import socket
import sys
from typing import Any, Callable, Dict, List, Optional

from . import debugger

BOOT = os.path.join(debugger.HERE, "boot.py")
_CONNECT_SECONDS = 5.0
_PYTHON = re.compile(r"(python|pypy)[0-9.]*[a-z]?$")
_WITH_VALUE = "WX"
_LONG_WITH_VALUE = ("--check-hash-based-pycs",)
# Helpers of `multiprocessing` that run none of the program's code and outlive its last line.
_HELPER = re.compile(r"from [\w.]*resource_tracker import main")


def connect(port: int) -> Any:
    connection = socket.create_connection(("127.0.0.1", port), timeout=_CONNECT_SECONDS)
    connection.settimeout(None)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return connection


# -- forked ---------------------------------------------------------------------------------------


def join_forked(port: int, joined: Callable[[Any], None]) -> bool:
    """In a forked child that was set free: start over with a debugger of its own."""
    try:
        connection = connect(port)
    except OSError:
        return False
    joined(connection)
    try:
        return debugger.wait_until_configured(debugger.arm_forked(connection))
    except Exception:
        return False


# -- started anew ---------------------------------------------------------------------------------


def through_boot(argv: Any, executable: Any, port: int) -> Optional[List[Any]]:
    """The same Python command, joining us first; None when it is not one that can."""
    try:
        texts = [os.fsdecode(part) for part in argv]
        name = os.fsdecode(executable) if executable is not None else texts[0]
    except (TypeError, IndexError):
        return None
    if not _PYTHON.match(os.path.basename(name)) or not os.path.exists(BOOT):
        return None
    spec = parse(texts[1:])
    if spec is None or _HELPER.match(spec.get("code", "")):
        return None
    flags = list(argv)[1 : 1 + spec["flags"]] + spec.get("joined", [])
    here = [BOOT, "--join", str(port), os.path.dirname(debugger.debugpy_folder())]
    command: List[Any] = [argv[0]] + flags + here + list(argv)[1:]
    return command


def parse(arguments: List[str]) -> Optional[Dict[str, Any]]:
    """What `python ARGUMENTS` would run, and how many of them are flags; None for no program."""
    at = 0
    while at < len(arguments):
        text = arguments[at]
        if text in _LONG_WITH_VALUE:
            at += 2
        elif text == "-" or text in ("-h", "-V", "-VV", "-?") or text.startswith("--"):
            return None
        elif not text.startswith("-"):
            return {"script": text, "args": arguments[at + 1 :], "flags": at}
        else:
            found = _short(arguments, at)
            if found is not None:
                return found
            takes_next = re.match(r"-[a-zA-Z]*?[%s]$" % _WITH_VALUE, text)
            at += 2 if takes_next else 1
    return None


def _short(arguments: List[str], at: int) -> Optional[Dict[str, Any]]:
    """`-m name` or `-c code`, also joined to other flags (`-um name`, `-cpass`)."""
    text = arguments[at]
    for place, letter in enumerate(text[1:], 1):
        if letter in _WITH_VALUE:
            return None
        if letter in "mc":
            rest = text[place + 1 :]
            value, after = (rest, at + 1) if rest else ("".join(arguments[at + 1 : at + 2]), at + 2)
            kind = {"m": "module", "c": "code"}[letter]
            found: Dict[str, Any] = {kind: value, "args": arguments[after:], "flags": at}
            if place > 1:
                found["joined"] = [text[:place]]
            return found
    return None


def become_plain(arguments: List[str]) -> None:
    """Be what was asked for in the first place, with nothing of us."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    import posix  # ours in `os` would come back here

    posix.execv(sys.executable, [sys.executable] + arguments)
