"""Why a program does not go on: deadlocks, and what a pause waits for."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from holdfast import errors, timings
from holdfast.model.stop import Described
from holdfast.wire.program_answers import DeadlockReport, ProgramStatus, WaitingThread
from holdfast.wire.session_answers import Location

if TYPE_CHECKING:
    from holdfast.service.programs.program_session import ProgramSession

_LATER = "The pause takes effect when that returns. GET /deadlocks says more."


def build_report(answer: Described) -> DeadlockReport:
    """The report from what the probe found."""
    threads, cycles = answer["threads"], answer["cycles"]
    for entry in (*threads, *answer["tasks"]):
        if "location" in entry:
            entry["location"] = Location(**entry["location"])
    if cycles:
        message = " ".join(cycle["message"] for cycle in cycles)
    elif threads and all(thread["waits_for"] for thread in threads):
        message = "No circle was found, but every thread waits."
    else:
        message = "No deadlock was found."
    return DeadlockReport(threads, answer["tasks"], cycles, message)


async def add_to_pause(
    answer: ProgramStatus, session: ProgramSession, thread: int | None, *, is_pending: bool
) -> None:
    """Say in the answer to a pause what it waits for, and whether there is a deadlock."""
    # It may have ended, or run on, meanwhile; or nobody can tell.
    with contextlib.suppress(errors.HoldfastError, asyncio.TimeoutError):
        report = await asyncio.wait_for(
            session.inspection.deadlocks(), timings.TIMINGS.pause_reason
        )
        if report.cycles:
            answer.deadlocks = [cycle["message"] for cycle in report.cycles]
        if is_pending:
            _explain_pending(answer, report, thread)


def _explain_pending(answer: ProgramStatus, report: DeadlockReport, thread: int | None) -> None:
    busy = _find_busy(report, thread)
    if busy is None:
        return
    if "location" in busy:
        answer.busy_at = busy["location"]
    if report.outside is True:
        reason = report.message.partition(" This was read")[0]
    else:
        reason = _describe_wait(busy, report)
    parts = [reason, _LATER, *(cycle["message"] for cycle in report.cycles)]
    answer.message = " ".join(parts)


def _find_busy(report: DeadlockReport, thread: int | None) -> WaitingThread | None:
    """The thread that the pause waits for: the one that was asked for, or else the main one."""
    threads = [each for each in report.threads if each["status"] != "paused"]
    for each in threads:
        if each["thread_id"] == thread or (thread is None and each["name"] == "MainThread"):
            return each
    return threads[0] if threads else None


def _describe_wait(busy: WaitingThread, report: DeadlockReport) -> str:
    place = busy.get("location")
    where = f" {place.file}:{place.line} ({place.function})" if place else " an unknown place"
    waited = busy["waits_for"]
    if waited is None:
        return f"{busy['name']} is in C code, asleep or in a read or write, called from{where}."
    what = f"{waited['kind']} {waited['name'] or ''}".strip()
    holder = next((t for t in report.threads if t["thread_id"] == busy["held_by"]), None)
    held = f", which {holder['name']} holds" if holder and waited["kind"] == "lock" else ""
    return f"{busy['name']} waits for {what} at{where}{held}."
