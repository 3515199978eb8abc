"""How long a session may be idle before it expires."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from holdfast.core import lifecycle
from holdfast.service.clock import read_clock

if TYPE_CHECKING:
    from holdfast.service.programs.program_session import ProgramSession


class IdleTimer:
    """A request counts as activity, and so does a program that runs."""

    def __init__(self, session: ProgramSession) -> None:
        self._session = session
        self.expired = False
        self._holders = 0
        self.restart()

    def hold(self) -> Callable[[], None]:
        """Do not expire while somebody is connected. The function that is returned ends that."""
        self._holders += 1

        def release() -> None:
            self._holders -= 1
            self.restart()

        return release

    def restart(self) -> None:
        self._active_at = read_clock()

    @property
    def minutes(self) -> float:
        """How long the session may be idle."""
        session = self._session
        return session.config.timeout_minutes or session.settings.idle_timeout_minutes

    @property
    def seconds_left(self) -> float:
        if self._holders or lifecycle.is_busy(self._session.state):
            self.restart()
        return self._active_at + self.minutes * 60 - read_clock()

    @property
    def warning(self) -> str | None:
        """A text that says so if the session expires soon."""
        if self.expired:
            return None
        left = self.seconds_left / 60
        if left > min(self._session.settings.warning_minutes, self.minutes / 2):
            return None
        minutes = max(1, round(left))
        return f"Session will expire in {minutes} minute{'s' if minutes > 1 else ''}"
