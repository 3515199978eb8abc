"""Commands that are imported when they are run, so that each of them starts quickly.

Help texts and completions list all commands and import none of them.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup

from holdfast.cli.quick_parameters import quicken


@dataclass(frozen=True)
class LazyCommand:
    """Where a command or a group of commands is, and how the help text lists it."""

    place: str
    """`module:name` of its function or its `typer.Typer`, in `holdfast.cli`."""
    help: str
    panel: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    """More for `typer.Typer.command`."""

    def load(self, name: str) -> Any:
        """The command itself."""
        module, _, attribute = self.place.partition(":")
        found = getattr(importlib.import_module(f"holdfast.cli.{module}"), attribute)
        if not isinstance(found, typer.Typer):
            function = found
            found = typer.Typer(add_completion=False)
            found.command(name, **self.options)(function)
        found.rich_markup_mode = choose_markup()
        command = typer.main.get_command(found)
        command.name = name
        quicken(command)
        return command


class _ListedCommand(TyperCommand):
    """Stands for a command where it is listed."""

    def __init__(self, name: str, lazy: LazyCommand) -> None:
        super().__init__(name, help=lazy.help, rich_help_panel=lazy.panel)
        self.lazy = lazy


class LazyGroup(TyperGroup):
    """A group with commands that are imported later, besides those that it has."""

    lazy_commands: ClassVar[Mapping[str, LazyCommand]] = {}

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        listed = {name: _ListedCommand(name, lazy) for name, lazy in self.lazy_commands.items()}
        self.commands = {**listed, **self.commands}
        quicken(self)

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        name, command, rest = super().resolve_command(ctx, args)
        if isinstance(command, _ListedCommand):
            command = command.lazy.load(command.name or "")
        return name, command, rest

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The commands without colours and boxes, by panel as the coloured help has them."""
        panels: dict[str, list[Any]] = {}
        for command in self.commands.values():
            if not command.hidden:
                panel = getattr(command, "rich_help_panel", None)
                title = panel if isinstance(panel, str) else "Commands"
                panels.setdefault(title, []).append(command)
        for title, commands in panels.items():
            with formatter.section(title):
                rows = [(command.name, command.get_short_help_str(200)) for command in commands]
                formatter.write_dl(rows)


def choose_markup() -> Any:
    """How help is written: in a pipe without the boxes that a terminal gets."""
    return "rich" if sys.stdout is not None and sys.stdout.isatty() else None
