"""`holdfast debug`: a full-screen debugger in the terminal."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from typing import TYPE_CHECKING, Annotated

import typer

from holdfast.cli.completion import complete_program, complete_session
from holdfast.cli.program_options import Module, Places, Python
from holdfast.cli.server_access import (
    NoStart,
    Url,
    ask,
    complain,
    describe_client,
    open_client,
    print_note,
)
from holdfast.client.exceptions import DebugError
from holdfast.client.http_client import ApiError

if TYPE_CHECKING:
    from holdfast.cli.screen.debug_screen import DebugScreen, Leaving
    from holdfast.cli.screen.session_client import SessionClient

_LIGHT_BACKGROUNDS = ("7", "15")


def debug(
    words: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[PROGRAM]...",
            help="A script, file.py::test, or after -- a command: -- pytest -k cart.",
            autocompletion=complete_program,
        ),
    ] = None,
    module: Module = None,
    session: Annotated[
        str | None,
        typer.Option(
            "--session",
            "-s",
            help="Join a session instead, an agent's too: its id, its name, or `latest`.",
            autocompletion=complete_session,
        ),
    ] = None,
    places: Places = None,
    python: Python = None,
    no_start: NoStart = False,
    url: Url = None,
) -> None:
    """Debug a program in a full-screen view of this terminal.

    It stops at its first line; with --break it runs to there. ? lists the keys.
    """
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        complain("this needs a terminal", "Without one, use `holdfast run`.")
    if session is None and not words and module is None:
        complain("there is nothing to debug", "Give a program, or --session latest.")
    if session is not None and (words or module):
        complain("--session joins a program that runs", "Leave out the program, or --session.")
    if session is not None:
        session_id = _find_session(url, session)
    else:
        session_id = _start_program(url, words or [], module, places or [], python)
    _show(url, session_id, is_joined=session is not None)


def _start_program(
    url: str | None, words: list[str], module: str | None, places: list[str], python: str | None
) -> str:
    from holdfast.cli.screen.program_start import build_run

    body = build_run(words, module, places, python)
    path = f"/api/v1/run?{describe_client('screen')}"
    report = ask(url, "POST", path, body, starts=True)
    for problem in report.get("problems", []):
        print_note(problem)
    return str(report["session_id"])


def _find_session(url: str | None, wanted: str) -> str:
    from holdfast.cli.screen.program_start import choose_session

    found = choose_session(ask(url, "GET", "/sessions?kind=program")["sessions"], wanted)
    if found is None:
        complain(f"there is no program's session {wanted}", "`holdfast sessions` lists them.")
    return found


def _show(url: str | None, session_id: str, *, is_joined: bool) -> None:
    from holdfast.cli.screen.debug_screen import DebugScreen
    from holdfast.cli.screen.session_client import SessionClient

    client = SessionClient(open_client(url), session_id)
    app = DebugScreen(client, is_joined=is_joined)
    if _is_light():
        app.theme = "textual-light"
    leaving = None
    try:
        leaving = asyncio.run(_run(app))
    finally:
        leave_session(client, leaving, is_joined=is_joined)
    if leaving is not None and leaving.problem:
        complain(leaving.problem)
    if leaving is not None and not leaving.ends and not is_joined:
        print_note(f"It is left as it is: `holdfast debug --session {session_id}` joins it.")


async def _run(app: DebugScreen) -> Leaving | None:
    loop = asyncio.get_running_loop()
    # The terminal is gone, or somebody ends us: the terminal is restored, if there is one.
    for number in (signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, app.exit)
    return await app.run_async()


def leave_session(client: SessionClient, leaving: Leaving | None, *, is_joined: bool) -> None:
    """End the program if a person said so; or if nobody could, and it was started here."""
    ends = not is_joined if leaving is None else leaving.ends
    if not ends:
        return
    try:
        # A session that was joined stays for those who have it: they see how it ended.
        (client.terminate if is_joined else client.delete)()
    except (ApiError, DebugError) as problem:
        print_note(f"the program could not be ended: {problem}")


def _is_light() -> bool:
    """Whether the terminal says that its background is light, as some do."""
    return os.environ.get("COLORFGBG", "").rpartition(";")[2] in _LIGHT_BACKGROUNDS
