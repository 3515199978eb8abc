"""Calls that have started and not completed."""

from __future__ import annotations

import contextlib
import dataclasses
from collections import OrderedDict
from dataclasses import dataclass
from typing import Any

from holdfast.model.call import CallRecord, CallStatus, When
from holdfast.service.calls.call_session import CallSession
from holdfast.store import CallLog, StoreProblem

_MAX_REMEMBERED = 20_000


@dataclass(slots=True)
class RunningCall:
    """A call under way. `evaluates`: its application evaluates expressions while it is held."""

    record: CallRecord
    session: CallSession
    evaluates: bool

    def check_replacement(self, name: str) -> None:
        self.session.check_replacement(self.record, name)

    def with_decision(self, when: When, summary: dict[str, Any], by: str) -> CallRecord:
        """Its record with what was decided."""
        decision = {**summary, "by": by, "when": when.value}
        return dataclasses.replace(self.record, decision=decision)


class RunningCalls:
    """The calls under way, by number, and the numbers of those that completed last."""

    def __init__(self, call_log: CallLog) -> None:
        self._call_log = call_log
        self._calls: dict[int, RunningCall] = {}
        self._completed: OrderedDict[int, None] = OrderedDict()

    def add(self, call: RunningCall) -> None:
        self._calls[call.record.number] = call

    def get(self, number: int) -> RunningCall | None:
        return self._calls.get(number)

    def has_completed(self, number: int) -> bool:
        return number in self._completed

    def complete(self, record: CallRecord) -> None:
        self._call_log.update_call(record)  # if that fails, the call has not completed
        completed = self._calls.pop(record.number, None)
        self._completed[record.number] = None
        if completed is not None:
            completed.session.wake()  # somebody may wait for what came of it
            completed.session.note_change()
        if len(self._completed) > _MAX_REMEMBERED:
            self._completed.popitem(last=False)

    def lose(self, session: CallSession) -> None:
        """Mark a session's calls as lost: its process has ended, so they will never complete."""
        for call in [call for call in self._calls.values() if call.session is session]:
            with contextlib.suppress(StoreProblem):  # the next start marks them as lost
                self.complete(dataclasses.replace(call.record, status=CallStatus.LOST))
