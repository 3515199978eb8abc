"""The command line. `commands` has the table of the commands; docs/cli.md tells what they do.

Each command prints text for people, and with `--json` one JSON document for programs. The commands
need the packages of the `server` extra. This module does not, so that it can say so.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import sys


def main() -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Not every terminal has every character. Nor can every stream be changed.
        with contextlib.suppress(OSError):
            sys.stdout.reconfigure(errors="backslashreplace")
    _run("commands")


def main_dap() -> None:
    """`holdfast-dap`: `holdfast dap`, for editors that run a Python file as their adapter."""
    _run("dap_command")


def _run(module: str) -> None:
    try:
        importlib.import_module(f"holdfast.cli.{module}").app()
    except ModuleNotFoundError as problem:
        package = (problem.name or "").partition(".")[0]
        if package == "holdfast" or package in sys.stdlib_module_names:
            raise
        sys.exit(
            f"This command needs {package}, which is not installed. Install it with: "
            "pip install 'holdfast[server]'"
        )
