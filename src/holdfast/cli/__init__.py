"""The command line: `holdfast serve`, `demo`, `sessions`, `holds`, `calls`, `agent`.

Each command prints text for people, and with `--json` one JSON document for programs.
"""

from __future__ import annotations


def main() -> None:
    from holdfast.cli.commands import app

    app()
