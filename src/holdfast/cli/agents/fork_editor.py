"""Edits the conversation of a fork that is held where it begins: in the user's own editor."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast import timings
from holdfast.cli.server_access import complain, complaints
from holdfast.recording import command_sender
from holdfast.recording.agent_rerun import find_messages_problem
from holdfast.recording.content_files import ContentFiles
from holdfast.recording.directories import SessionDirectory
from holdfast.recording.recording_state import RecordedStop, RecordingState, read_events
from holdfast.recording.tail import Tail

BY = "fork"


def can_edit() -> bool:
    """Whether there is a person with a terminal."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def read_messages(path: str) -> list[object]:
    """The messages in a file, or on standard input if it is `-`."""
    try:
        text = sys.stdin.read() if path == "-" else Path(path).read_text(encoding="utf-8")
        messages = json.loads(text)
    except OSError as problem:
        complain(f"--messages: {path} cannot be read: {problem.strerror}")
    except ValueError as problem:
        complain(f"--messages: {path} is not JSON: {problem}")
    mistake = find_messages_problem(messages)
    if mistake is not None:
        complain(f"--messages: {mistake}")
    found: list[object] = messages
    return found


def edit_held(home: SessionDirectory, stop: RecordedStop) -> None:
    """Open the conversation in an editor, and let the fork go on with what was saved."""
    before = read_conversation(home, stop)
    with tempfile.NamedTemporaryFile("w+", suffix=".json", encoding="utf-8") as file:
        json.dump(before, file, indent=2, ensure_ascii=False)
        file.flush()
        while True:
            if not _run_editor(file.name):
                _say(f"Nothing was changed. {describe_hold(home, stop)}")
                return
            data = _read_changes(Path(file.name), before)
            if isinstance(data, str):
                _say(f"{data}. Press Enter to edit it again, or Ctrl+D to leave the fork held.")
                if not sys.stdin.readline():
                    _say(describe_hold(home, stop))
                    return
                continue
            problem = _decide(home, stop, data)
            if problem is None:
                return
            _say(f"{problem}. {describe_hold(home, stop)}")
            return


def read_conversation(home: SessionDirectory, stop: RecordedStop) -> dict[str, Any]:
    """The messages of the held call; its system prompt as well, if it is not one of them."""
    state = RecordingState(ContentFiles(home.contents))
    for event in read_events(Tail(home.events)):
        state.take(event)
    held = state.stops.get(stop.id, stop)
    conversation: dict[str, Any] = {}
    if held.data.get("system") is not None:
        conversation["system"] = state.read_body(held.data["system"])
    return {**conversation, "messages": state.editable_input(held).get("messages", [])}


def describe_hold(home: SessionDirectory, stop: RecordedStop) -> str:
    """How a fork that is held goes on."""
    return (
        f"The fork is {home.id}, held at {stop.id} before its first live model call. See it: "
        f"holdfast agent inspect messages -s {home.id}. Go on: holdfast agent resume {stop.id} "
        f"-s {home.id} [--system TEXT] [--messages FILE]"
    )


def _say(text: str) -> None:
    complaints.print(text, style="yellow", markup=False, highlight=False, soft_wrap=True)


def _run_editor(path: str) -> bool:
    """Whether the editor ended in order."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    try:
        return subprocess.run([*shlex.split(editor), path], check=False).returncode == 0
    except (OSError, ValueError) as problem:
        _say(f"The editor {editor} cannot be started: {problem}. Set EDITOR to another one.")
        return False


def _read_changes(path: Path, before: Mapping[str, Any]) -> dict[str, Any] | str:
    """What was changed, as the fields of a decision; or what is wrong."""
    try:
        after = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as problem:
        return f"That is not JSON: {problem}"
    if not isinstance(after, dict):
        return "That is no object with `messages`"
    mistake = find_messages_problem(after.get("messages"))
    if mistake is not None:
        return f"messages: {mistake}"
    system = after.get("system")
    if system is not None and not isinstance(system, str) and system != before.get("system"):
        return "system is a text"
    changes = {name: after[name] for name in ("system", "messages") if name in after}
    return {name: value for name, value in changes.items() if value != before.get(name)}


def _decide(home: SessionDirectory, stop: RecordedStop, changes: Mapping[str, Any]) -> str | None:
    """Why the fork did not take it; None if it goes on."""
    action = "modify" if changes else "continue"
    data = {"stop": stop.id, "by": BY, "action": action, **changes}
    tail = command_sender.tail_from_end(home)
    command_id = command_sender.send_command(home, "resume", data)
    events = command_sender.collect_answers(
        tail,
        home,
        command_id,
        timings.TIMINGS.agent_answer,
        lambda event: command_sender.is_final_answer("resume", event),
    )
    for event in events:
        if event["type"] == "error":
            return str(event["data"].get("message"))
        if event["type"] == "command_executed" and event["data"].get("status") == "expired":
            return "Somebody else let it go on"
    return None if events else "The agent did not answer"
