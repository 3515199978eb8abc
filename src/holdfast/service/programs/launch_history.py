"""The programs that were launched lately, each once: remembered when their sessions are gone.

The values of environment variables, and what was written to a program's stdin, are often secrets.
They are not kept.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET

from holdfast import errors
from holdfast.core.secret_values import hide_secrets
from holdfast.service.programs.session_document import build_launch
from holdfast.store import Directory
from holdfast.targets.program.launcher import Place
from holdfast.wire import rest
from holdfast.wire.program_answers import LaunchList, RecentLaunch
from holdfast.wire.program_requests import LaunchOptions

if TYPE_CHECKING:
    from holdfast.service.programs.program_session import ProgramSession

log = logging.getLogger(__name__)
Document = dict[str, Any]
MAX_LAUNCHES = 50
_MAX_CHARACTERS = 64 * 1024
"""A launch with more than this, such as a very long piece of code, is not remembered."""


class LaunchHistory:
    """They are few, so all are in memory, the newest first. Each change writes them all."""

    def __init__(self, directory: Directory, is_there: Callable[[str], bool]) -> None:
        self._directory = directory
        self._is_there = is_there
        self._launches: list[RecentLaunch] = []

    async def load(self) -> None:
        """Read what an earlier server remembered. What cannot be read is left out."""
        for document in await self._directory.launches():
            try:
                self._launches.append(msgspec.convert(document, RecentLaunch))
            except (msgspec.ValidationError, ValueError) as problem:
                log.warning("a remembered launch is left out: %s", problem)

    def list(self, limit: int) -> LaunchList:
        """The newest, with those of their sessions that are still there."""
        shown = [self._show(launch) for launch in self._launches[:limit]]
        return LaunchList(shown, len(self._launches))

    def _show(self, launch: RecentLaunch) -> RecentLaunch:
        session_id = launch.session_id
        if session_id is UNSET or self._is_there(session_id):
            return launch
        return msgspec.structs.replace(launch, session_id=UNSET)

    def note(self, session: ProgramSession, place: Place) -> None:
        """Remember what a session has launched, in front of all others."""
        launch = _describe(session, place)
        if _has_secrets(launch) or len(str(msgspec.to_builtins(launch))) > _MAX_CHARACTERS:
            return
        key = _build_key(launch)
        others = [each for each in self._launches if _build_key(each) != key]
        self._launches = [launch, *others][:MAX_LAUNCHES]
        self._write()

    def _write(self) -> None:
        """Write them in order with the session, which is waited for. A failure is no problem of
        the launch: the next one writes them all."""
        documents = [msgspec.to_builtins(launch) for launch in self._launches]
        try:
            self._directory.put_launches(documents)
        except errors.NotStored as problem:
            log.warning("the launch is not remembered: %s", problem.message)

    async def clear(self) -> int:
        """Forget them all; how many there were."""
        count, self._launches = len(self._launches), []
        await self._directory.put_launches([])
        return count


def _describe(session: ProgramSession, place: Place) -> RecentLaunch:
    launch = session.launch
    options = build_launch(launch)
    assert launch is not None
    assert options is not None
    return RecentLaunch(
        target=launch.target,
        name=session.config.name,
        launched_at=rest.timestamp(time.time()),
        python=place.interpreter.path,
        cwd=place.cwd,
        env_names=sorted(launch.env),
        launch=_leave_out_secrets(options, place),
        session_id=session.id,
    )


def _leave_out_secrets(options: LaunchOptions, place: Place) -> LaunchOptions:
    """The launch with absolute paths, without the environment and the input."""
    script = place.spec.get("script")
    given = {"script": script} if script is not None else {}
    return msgspec.structs.replace(options, **given, cwd=place.cwd, env={}, stdin_inputs=[])


def _has_secrets(launch: RecentLaunch) -> bool:
    """Whether something in the command line looks like a secret: then it is not remembered."""
    line = " ".join([launch.launch.code or "", *launch.launch.args])
    return hide_secrets(line) != line


def _build_key(launch: RecentLaunch) -> tuple[object, ...]:
    """What makes two launches the same: the program, its arguments, directory and interpreter."""
    options = launch.launch
    program = (options.script, options.module, options.code, *options.args)
    return (program, launch.cwd, launch.python)
