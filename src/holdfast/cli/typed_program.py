"""A program as it is typed: what is run, with which arguments and variables."""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence

_OWN_VARIABLES = ("HOLDFAST_TOKEN", "HOLDFAST_NO_START")
"""What a program does not inherit, because it is for us alone."""


def split_program(words: Sequence[str]) -> tuple[str, list[str]]:
    """The target and its arguments; or a whole command as the target."""
    first, *rest = words
    is_module = "." in first and "/" not in first
    if not rest or "::" in first or first.endswith(".py") or is_module:
        return first, rest
    return shlex.join(words), []


def name_module(module: str, args: Sequence[str]) -> list[str]:
    """The words of a command that runs a module."""
    return ["python", "-m", module, *args]


def read_environment() -> dict[str, str]:
    """The variables of this shell, without those that JSON cannot hold."""
    return {
        name: value
        for name, value in os.environ.items()
        if name not in _OWN_VARIABLES and _is_text(name + value)
    }


def _is_text(value: str) -> bool:
    try:
        value.encode()
    except UnicodeEncodeError:  # the system allows any bytes
        return False
    return True
