"""What a program gets from the command line that runs it: its variables and its input."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import typer

from holdfast.cli.server_access import complain
from holdfast.cli.typed_program import read_environment


def build_environment(assignments: Iterable[str]) -> dict[str, str | None]:
    """The variables of this shell, and those that are given."""
    environment: dict[str, str | None] = {**read_environment()}
    for assignment in assignments:
        name, sign, value = assignment.partition("=")
        if not name:
            raise typer.BadParameter(f"--env takes NAME=VALUE, and not {assignment!r}")
        environment[name] = value if sign else None
    return environment


def read_input(source: str | None) -> str | None:
    """What a program is to read: the text of a file, or with `-` what this command reads."""
    if source is None:
        return None
    try:
        if source == "-":
            return sys.stdin.read()
        return Path(source).read_text("utf-8", "replace")
    except OSError as problem:
        complain(f"--stdin {source}: {problem.strerror}")
