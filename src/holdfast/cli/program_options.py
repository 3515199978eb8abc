"""The options that the commands for programs share."""

from __future__ import annotations

from typing import Annotated

import typer

from holdfast.cli.completion import complete_file, complete_place, complete_session

Places = Annotated[
    list[str] | None,
    typer.Option(
        "--break",
        "-b",
        metavar="PLACE",
        help="Stop at file:line or module.function, perhaps with ' if CONDITION'; repeatable.",
        autocompletion=complete_place,
    ),
]
Python = Annotated[
    str | None,
    typer.Option(
        "--python",
        help="Its interpreter, or a virtual environment. Default: the project's own.",
        autocompletion=complete_file,
    ),
]
Module = Annotated[
    str | None, typer.Option("-m", metavar="MODULE", help="A module, as with `python -m`.")
]
Session = Annotated[
    str | None,
    typer.Option(
        "--session",
        "-s",
        help="Its id, the beginning of it, or its name. Default: the latest.",
        autocompletion=complete_session,
    ),
]
Timeout = Annotated[
    float,
    typer.Option(
        "--timeout", "-t", min=0, help="Seconds to wait. Then it still runs: `holdfast continue`."
    ),
]
Budget = Annotated[
    int | None,
    typer.Option(
        "--budget-tokens",
        min=100,
        max=20_000,
        help="At most so many tokens of text. Default: 800, and 3000 on a terminal.",
        show_default=False,
    ),
]
Until = Annotated[
    str | None,
    typer.Option(
        "--until",
        help="Stop where this expression is true, or at this file:line.",
        autocompletion=complete_place,
    ),
]
Frame = Annotated[
    int, typer.Option("--frame", "-f", min=0, help="0 is where it stopped, 1 its caller, …")
]
ShowSecrets = Annotated[
    bool, typer.Option("--show-secrets", help="Show values that look like secrets.")
]
