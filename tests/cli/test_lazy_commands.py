"""The table of commands: what help lists is what there is. Plain values are taken as by Typer."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any

import pytest
import typer
from typer.main import get_command

from fork_server import run_holdfast
from holdfast.cli.agents.agent_app import AgentCommands
from holdfast.cli.call_commands import CallCommands
from holdfast.cli.commands import RootCommands, app
from holdfast.cli.lazy_commands import LazyCommand
from holdfast.cli.quick_parameters import quicken


def list_commands() -> Iterator[tuple[str, LazyCommand]]:
    for group in (RootCommands, CallCommands, AgentCommands):
        yield from group.lazy_commands.items()


@pytest.mark.parametrize(("name", "lazy"), list(list_commands()))
def test_a_command_is_listed_with_its_own_words(name: str, lazy: LazyCommand) -> None:
    command = lazy.load(name)
    assert command.name == name
    assert (command.help or "").partition("\n")[0].startswith(lazy.help)


def test_every_command_has_its_place_in_the_help() -> None:
    group: Any = get_command(app)
    assert all(command.rich_help_panel for command in group.commands.values())
    said = run_holdfast("--help").stdout
    assert "Debug a program:" in said
    assert all(f"\n  {name} " in said for name in group.commands)
    assert "╭" not in said  # no boxes in a pipe


def test_a_word_that_is_no_command_gets_a_suggestion() -> None:
    ran = run_holdfast("sesions")
    assert ran.returncode == 2
    assert "Did you mean 'sessions'?" in ran.stderr


# -- parameters ----------------------------------------------------------------------------------


def build(takes: list[Any], *, is_quick: bool) -> Any:
    """A command that notes what it takes."""
    probe = typer.Typer(add_completion=False)

    @probe.command()
    def take(
        words: list[str],
        number: Annotated[int, typer.Option(min=1, max=9)] = 3,
        ratio: float = 0.5,
        name: str | None = None,
        names: Annotated[list[str] | None, typer.Option("--item")] = None,
        is_on: Annotated[bool, typer.Option(envvar="TAKE_ON")] = False,
    ) -> None:
        takes.append((words, number, ratio, name, names, is_on))

    command: Any = get_command(probe)
    if is_quick:
        quicken(command)
    return command


@pytest.mark.parametrize(
    "line",
    [
        "a",
        "a b --number 9 --ratio 2 --name x --item 1 --item 2 --is-on",
        "a --number 3 --ratio 1e3",
        "",
        "a --number 10",
        "a --number x",
        "a --ratio x",
        "a --nonsense",
    ],
)
@pytest.mark.parametrize("variable", [None, "1", "no", "nonsense"])
def test_plain_values_are_taken_as_typer_takes_them(
    line: str, variable: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    if variable is not None:
        monkeypatch.setenv("TAKE_ON", variable)
    outcomes = []
    for is_quick in (False, True):
        takes: list[Any] = []
        with pytest.raises(SystemExit) as end:
            build(takes, is_quick=is_quick)(line.split())
        outcomes.append((end.value.code, takes, list(map(type, takes[0] if takes else ()))))
    assert outcomes[0] == outcomes[1]
    assert (outcomes[0][0] == 0) is bool(outcomes[0][1])
