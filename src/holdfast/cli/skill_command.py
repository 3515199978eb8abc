"""`holdfast skill`: prints `SKILL.md`, which teaches an agent these commands."""

from __future__ import annotations

from pathlib import Path

from holdfast.cli.server_access import complain

_HERE = Path(__file__).resolve()
# In an installed package it lies beside this file, in a checkout at the root.
_PLACES = (_HERE.parent / "SKILL.md", _HERE.parents[3] / "skills" / "holdfast" / "SKILL.md")


def print_skill() -> None:
    """Print how an agent uses these commands.

    As a SKILL.md. `holdfast skill > .claude/skills/holdfast/SKILL.md` installs it for an agent that
    reads skills."""
    for place in _PLACES:
        if place.is_file():
            print(place.read_text("utf-8"), end="")
            return
    complain("SKILL.md is not installed", "Install Holdfast again.")
