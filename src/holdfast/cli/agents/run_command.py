"""`holdfast agent run -- CMD`: starts an agent that is held from its first call on."""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Mapping
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from holdfast.bridge import initial_holds
from holdfast.cli.server_access import complain
from holdfast.errors import InvalidInput

# What the agent does not inherit, because it is for us alone.
_OWN_VARIABLES = ("HOLDFAST_TOKEN",)
_EXAMPLE = "For instance: --break tool 'write_*'."


def run(
    command: Annotated[
        list[str], typer.Argument(metavar="-- CMD…", help="The agent's command, after --.")
    ],
    points: Annotated[
        list[str] | None,
        typer.Option(
            "--break",
            metavar="KIND ARG",
            help="Hold there: tool 'write_*', pattern REGEX, iteration N, model NAME, …",
        ),
    ] = None,
    is_held: Annotated[bool, typer.Option("--hold", help="Hold its first call.")] = False,
) -> None:
    """Run an agent, held where you say from its first call on.

    The command takes the place of this one: its input, output, signals and exit code are its own.
    """
    environment = {name: value for name, value in os.environ.items() if name not in _OWN_VARIABLES}
    environment[initial_holds.ANNOUNCE_VARIABLE] = "1"
    if points or is_held:
        arming = _encode_arming(list(map(_split, points or [])), is_held)
        environment[initial_holds.VARIABLE] = arming
    sys.stdout.flush()
    sys.stderr.flush()
    for name in ("SIGPIPE", "SIGXFSZ"):  # Python ignores them, and the agent would inherit that
        if hasattr(signal, name):
            signal.signal(getattr(signal, name), signal.SIG_DFL)
    try:
        os.execvpe(command[0], command, environment)
    except OSError as problem:
        complain(
            f"{command[0]} cannot be started: {problem.strerror}",
            "Name the agent's command after --.",
        )


class RunCommand(TyperCommand):
    """Lets an option that is given several times take two words, which Typer cannot."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        return super().parse_args(ctx, _join_points(args))


def _join_points(args: list[str]) -> list[str]:
    """`--break KIND ARG` as an option with one word, up to the agent's command."""
    joined: list[str] = []
    rest = list(args)
    while rest and rest[0].startswith("-") and rest[0] != "--":
        word = rest.pop(0)
        joined.append(word)
        if word == "--break" and len(rest) > 1 and "--" not in rest[:2]:
            joined.append(json.dumps([rest.pop(0), rest.pop(0)]))
    return joined + rest


def _split(point: str) -> tuple[str, str]:
    try:
        kind, argument = json.loads(point)
    except ValueError:
        complain("--break takes two words, KIND and ARG.", _EXAMPLE)
    return kind, argument


def _encode_arming(points: list[tuple[str, str]], is_held: bool) -> str:
    built: list[Mapping[str, Any]] = []
    for kind, argument in points:
        try:
            built.append(initial_holds.build_point(kind, argument))
            initial_holds.check_point(built[-1])
        except InvalidInput as problem:
            complain(f"--break {kind} {argument}: {problem.message}", _EXAMPLE)
    return initial_holds.encode_arming(initial_holds.Arming(is_held, tuple(built)))


app = typer.Typer(add_completion=False)
app.command(cls=RunCommand, context_settings={"allow_interspersed_args": False})(run)
