"""Which session the screen shows: one that it starts, or one that is there."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from holdfast.cli.typed_program import name_module, read_environment, split_program

_LATEST = "latest"
_ENDED = ("terminated", "failed")
_START_SECONDS = 1.0
"""How long to wait for the first stop before the screen opens: a wrong target is found by then."""


def build_run(
    words: Sequence[str],
    module: str | None = None,
    places: Iterable[str] = (),
    python: str | None = None,
) -> dict[str, Any]:
    """The request that starts a program as from this terminal.

    It stops at its first line; or, if there are breakpoints, at those. Nobody wants to begin in
    pytest: a test that is named stops where it begins, others where they fail.
    """
    if module is not None:
        words = name_module(module, words)
    target, args = split_program(words)
    breakpoints = [*places, *_find_test(words)]
    run: dict[str, Any] = {"target": target, "args": args, "breakpoints": breakpoints}
    if not breakpoints and not _is_pytest(words):
        run["until"] = "True"
    if python is not None:
        run["python"] = python
    return {**run, "env": read_environment(), "timeout": _START_SECONDS}


def _is_pytest(words: Sequence[str]) -> bool:
    return "::" in words[0] or any(os.path.basename(word) == "pytest" for word in words[:4])


def _find_test(words: Sequence[str]) -> list[str]:
    """Where the test begins, if one is named."""
    if not _is_pytest(words):
        return []
    named = [word for word in words if "::" in word and not word.startswith("-")]
    if len(named) != 1:
        return []
    file, *names = named[0].partition("[")[0].split("::")
    return [f"{file}:{'.'.join(names)}"]


def choose_session(sessions: Iterable[Mapping[str, Any]], wanted: str) -> str | None:
    """The id of the session that is meant by an id, its beginning, or a name.

    `latest` is the newest that has not ended.
    """
    known = list(sessions)
    if wanted == _LATEST:
        meant = [session for session in known if session["status"] not in _ENDED] or known
    else:
        meant = [s for s in known if wanted in (s["session_id"], s["name"])]
        meant = meant or [s for s in known if _begins(s["session_id"], wanted)]
    newest = max(meant, key=lambda session: session["created_at"], default=None)
    return None if newest is None else str(newest["session_id"])


def _begins(session_id: str, wanted: str) -> bool:
    """Whether this is the beginning of an id, with or without its `sess_`."""
    return bool(wanted) and (
        session_id.startswith(wanted) or session_id.partition("_")[2].startswith(wanted)
    )
