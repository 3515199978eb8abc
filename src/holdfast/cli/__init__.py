"""The command line: `holdfast serve`, `demo`, `sessions`, `holds`, `calls`, `agent`.

Each command prints text for people, and with `--json` one JSON document for programs. The commands
need the packages of the `server` extra. This module does not, so that it can say so.
"""

from __future__ import annotations

import sys


def main() -> None:
    try:
        from holdfast.cli.commands import app

        app()
    except ModuleNotFoundError as problem:
        package = (problem.name or "").partition(".")[0]
        if package == "holdfast" or package in sys.stdlib_module_names:
            raise
        sys.exit(
            f"This command needs {package}, which is not installed. Install it with: "
            "pip install 'holdfast[server]'"
        )
