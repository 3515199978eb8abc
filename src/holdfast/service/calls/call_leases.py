"""Leases: which calls an application need not ask about, and where it sees that change."""

from __future__ import annotations

from holdfast.service.calls.call_breakpoints import CallBreakpoints
from holdfast.service.calls.call_sessions import CallSessions
from holdfast.service.calls.lease_board import LeaseBoard
from holdfast.wire.call_answers import Lease, Rule

_FIRST_LANE = 10
_LANES = 90


class CallLeases:
    def __init__(
        self, board: LeaseBoard, sessions: CallSessions, breakpoints: CallBreakpoints
    ) -> None:
        self._board = board
        self._sessions = sessions
        self._breakpoints = breakpoints

    def renew(self, session_id: str | None) -> Lease:
        """The rules, and the board that announces their changes; renews the session's lease.

        The epoch is read before the rules, so that a rule added in between is fetched twice rather
        than missed.
        """
        if session_id is not None:
            session = self._sessions.accept_report(session_id)
            if session.is_leased:
                self._board.grant(session.id)
        epoch = self._board.epoch
        rules = [Rule.of(armed.point) for armed in self._breakpoints.all()]
        lane = _FIRST_LANE
        if session_id:
            lane += int(session_id.rpartition("_")[2], 16) % _LANES
        return Lease(epoch=epoch, board=self._board.path, lane=lane, rules=rules)
