"""`holdfast agent test`: writes a recording as a pytest file."""

from __future__ import annotations

import os
import re
import shutil
import stat
import sys
from pathlib import Path
from typing import Annotated

import typer

from holdfast.bridge.recorded_test import check_recording
from holdfast.cli.agents.agent_rerun import choose_command
from holdfast.cli.agents.event_lines import format_totals
from holdfast.cli.agents.recording_commands import Command, Live
from holdfast.cli.agents.recording_file import open_recording
from holdfast.cli.server_access import complain, print_note
from holdfast.recording.directories import SessionDirectory
from holdfast.recording.run_totals import add_up

_COPIED = ("events.jsonl", "session.json")
_ENTRY = re.compile(r"[A-Za-z_][\w.]*:[A-Za-z_][\w.]*")

_FILE = '''"""A recorded run of an agent as a test, written by `holdfast agent test`."""

{imports}

from holdfast.bridge.recorded_test import check_recording

HERE = Path(__file__).parent


def {name}():
    """Session {id}: {totals}."""
    check_recording(
        {recording},
        {start},
        cwd={cwd},{mode}
    )
'''


def write_test(
    named: Annotated[str, typer.Argument(metavar="ID|PATH", help="The session that is repeated.")],
    command: Command = None,
    entry: Annotated[
        str | None,
        typer.Option(metavar="MODULE:FUNCTION", help="Call this instead of running a command."),
    ] = None,
    copy: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Copy the recording there: into the project, to be committed."
        ),
    ] = None,
    mode: Annotated[
        Live, typer.Option(help="full: tools come from the recording. model: they run.")
    ] = Live.full,
    is_tried: Annotated[
        bool, typer.Option("--try/--no-try", help="Run it once, and say whether it passes.")
    ] = True,
) -> None:
    """Write a pytest file that runs the agent from a recording: it must ask for the same.

    The agent is run as it was started, or by CMD, or by calling --entry. The paths in the file are
    relative to the directory that it is written to.
    """
    recording = open_recording(named)
    home = recording.home
    if home is None:
        complain(
            f"{recording.path} can be shown, but not run.",
            "A test needs the whole directory of the session: session.json and contents.",
        )
    place = _find_directory()
    argv, cwd = _choose_start(home, command or [], entry)
    if copy is not None:
        home = _copy(home, copy)
    source = _Source(place)
    text = _FILE.format(
        imports="import sys\nfrom pathlib import Path" if argv else "from pathlib import Path",
        name=_choose_name(home),
        id=home.id,
        totals=_describe_totals(home),
        recording=source.path(home.path, is_shared=copy is not None),
        start=f"entry={_quote(entry)}" if entry is not None else f"command={source.words(argv)}",
        cwd=source.path(Path(cwd), is_shared=True),
        mode="" if mode is Live.full else f"\n        mode={_quote(mode.value)},",
    )
    if is_tried:
        _try(home, argv, entry, cwd, mode.value)
    if copy is None:
        print_note(f"The test refers to {home.path}. --copy DIR puts the recording beside it.")
    sys.stdout.write(text)


def _choose_start(
    home: SessionDirectory, command: list[str], entry: str | None
) -> tuple[list[str], str]:
    """The words that start the agent, none with an entry; and the directory to do it in."""
    if entry is not None:
        if command:
            complain("--entry and a command exclude each other.")
        if not _ENTRY.fullmatch(entry):
            complain(f"--entry is module:function, not {entry[:60]!r}.")
        return [], os.getcwd()
    argv, cwd = choose_command(home, command, ", or --entry")
    return argv, cwd or os.getcwd()


def _find_directory() -> Path:
    """That of the file that stdout goes to; the working directory if that cannot be known."""
    try:
        handle = sys.stdout.fileno()
        path = Path(os.readlink(f"/proc/self/fd/{handle}"))
        if stat.S_ISREG(os.fstat(handle).st_mode) and path.exists():
            return path.parent
    except (OSError, ValueError):
        pass  # no such file, or a system that does not tell
    return Path.cwd()


def _copy(home: SessionDirectory, folder: Path) -> SessionDirectory:
    """What a replay needs of the recording, in a directory of the project."""
    copied = SessionDirectory(folder.absolute() / home.id)
    try:
        copied.path.mkdir(parents=True, exist_ok=True)
        for name in _COPIED:
            shutil.copyfile(home.path / name, copied.path / name)
        if home.contents.is_dir():
            shutil.copytree(home.contents, copied.contents, dirs_exist_ok=True)
    except OSError as problem:
        complain(f"The recording cannot be copied to {copied.path}: {problem}")
    return copied


class _Source:
    """Writes paths and commands as Python, relative to the directory of the test."""

    def __init__(self, place: Path) -> None:
        self._place = place

    def path(self, path: Path, *, is_shared: bool) -> str:
        """`HERE / "…"` for what is part of the project, else the path itself."""
        relative = os.path.relpath(os.path.realpath(path), os.path.realpath(self._place))
        if relative == os.curdir:
            return "HERE"
        is_far = relative.count(os.pardir) > 3
        if is_far or not is_shared:
            return f"Path({_quote(str(path))})"
        return f"HERE / {_quote(Path(relative).as_posix())}"

    def words(self, argv: list[str]) -> str:
        first, *rest = map(_quote, argv)
        name = Path(argv[0]).name
        first = "sys.executable" if re.fullmatch(r"python[\d.]*", name) else first
        return f"[{', '.join([first, *rest])}]"


def _quote(text: str | None) -> str:
    quoted = repr(text)
    return f'"{quoted[1:-1]}"' if quoted.startswith("'") and '"' not in quoted else quoted


def _choose_name(home: SessionDirectory) -> str:
    name = str(home.read_metadata().get("name") or "agent").lower()
    words = re.sub(r"[^a-z0-9]+", "_", name).strip("_") or "agent"
    return f"test_{words}"


def _describe_totals(home: SessionDirectory) -> str:
    totals = add_up(open_recording(f"{home.path}{os.sep}").events()).describe()
    lines = format_totals(totals)
    return ", ".join(f"{name} {lines[name]}" for name in ("model calls", "tools", "tokens"))


def _try(home: SessionDirectory, argv: list[str], entry: str | None, cwd: str, mode: str) -> None:
    try:
        check_recording(home.path, command=argv, entry=entry, cwd=cwd, mode=mode)
    except AssertionError as problem:
        print_note(f"This test fails with the current code. {problem}")
