"""Follows calls as they are recorded, in the order in which they arrive.

That is not the order in which they began: a leased application reports a call when it is over. A
call that changed (it ended, it was decided) arrives again.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass

from holdfast import errors, timings
from holdfast.model.call import CallRecord
from holdfast.model.call_query import CallQuery
from holdfast.service.calls.call_finder import (
    JUDGED_TOGETHER,
    MAX_LOOKED_AT,
    Check,
    build_all_checks,
    fits_all,
)
from holdfast.service.calls.filter_check import FilterCheck
from holdfast.service.clock import read_clock
from holdfast.service.waitable import Waitable
from holdfast.store import CALLS_TOPIC, Bell, CallLog


@dataclass(frozen=True, slots=True)
class ArrivedCalls:
    """`cursor` is where to go on; `missed` says that some were before the first one here."""

    records: list[CallRecord]
    cursor: str
    has_more: bool
    looked_at: int
    missed: bool


@dataclass(slots=True)
class _Reading:
    """What was found so far. `place` is the last arrival that was looked at.

    A call that arrived twice is there once, in its latest version.
    """

    place: int
    missed: bool
    records: dict[int, CallRecord]
    looked_at: int = 0

    def add(self, arrived: list[CallRecord], fitting: list[CallRecord]) -> None:
        for call in arrived:
            self.records.pop(call.number, None)
        self.records.update({call.number: call for call in fitting})
        self.looked_at += len(arrived)


class CallTail(Waitable):
    """A cursor is the number of an arrival with the id of this server."""

    def __init__(self, call_log: CallLog, bell: Bell) -> None:
        super().__init__()
        self._call_log = call_log
        self._bell = bell
        self._server = secrets.token_hex(4)

    def format_cursor(self, place: int | None = None) -> str:
        return f"{self._server}-{self._call_log.arrivals if place is None else place}"

    async def read(
        self, cursor: str, query: CallQuery, check: FilterCheck | None, limit: int, seconds: float
    ) -> ArrivedCalls:
        reading, checks = self._begin(cursor), build_all_checks(query)
        deadline = read_clock() + seconds
        while True:
            await self._read(reading, checks, check, limit)
            has_more = reading.place < self._call_log.arrivals
            left = deadline - read_clock()
            is_news = reading.records or has_more or reading.missed
            if is_news or not await self._wait(reading.place, left):
                cursor = self.format_cursor(reading.place)
                records = list(reading.records.values())
                return ArrivedCalls(records, cursor, has_more, reading.looked_at, reading.missed)

    def _begin(self, cursor: str) -> _Reading:
        """Read from a cursor on; from now on if it is another server's, or forgotten."""
        server, _, number = cursor.partition("-")
        if len(server) != len(self._server) or not (number.isascii() and number.isdecimal()):
            raise errors.InvalidInput(
                f"after: {cursor!r:.100} is no cursor",
                hint="Use `cursor` of a list of calls, or `next` of the answer before.",
                field="after",
            )
        arrivals = self._call_log.arrivals
        place = int(number) if server == self._server and len(number) < 19 else arrivals + 1
        is_known = place <= arrivals and self._call_log.arrived_after(place, 0) is not None
        return _Reading(place if is_known else arrivals, not is_known, {})

    async def _read(
        self, reading: _Reading, checks: list[Check], check: FilterCheck | None, limit: int
    ) -> None:
        """Look at arrivals until the page is full, or enough was looked at."""
        # Real time, also where a test holds the loop's clock: it measures our own work.
        deadline = time.monotonic() + timings.TIMINGS.call_search
        enough = reading.looked_at + MAX_LOOKED_AT
        while reading.looked_at < enough and time.monotonic() < deadline:
            left = limit - len(reading.records)
            numbers = self._call_log.arrived_after(reading.place, min(left, JUDGED_TOGETHER))
            if numbers is None:  # they were forgotten meanwhile
                reading.place, reading.missed = self._call_log.arrivals, True
            if not numbers:
                return
            calls = await self._call_log.calls(list(set(numbers)))
            # Of several arrivals of a call the last one counts: what is read is its latest version.
            latest = [calls[number] for number in _keep_last(numbers) if number in calls]
            fitting = [call for call in latest if fits_all(call, checks)]
            if check is not None:
                await check.prepare(fitting)
                fitting = [call for call in fitting if await check.fits(call)]
            reading.add(latest, fitting)
            reading.place += len(numbers)

    async def _wait(self, place: int, seconds: float) -> bool:
        """Wait for the next arrival. False if there is none in time."""
        if seconds <= 0 or self.stopping:
            return False
        unsubscribe = self._bell.subscribe(CALLS_TOPIC, self.wake)
        try:
            return await self.wait_until(lambda: self._call_log.arrivals > place, seconds)
        finally:
            unsubscribe()


def _keep_last(numbers: list[int]) -> list[int]:
    """Each number once, at its last place."""
    return list(dict.fromkeys(reversed(numbers)))[::-1]
