"""Makes several steps in one call, until one of them leads to something else."""

from __future__ import annotations

import re

from holdfast import errors, timings
from holdfast.core import assigned_names
from holdfast.model.stop import Stop
from holdfast.service.programs.program_session import NATIVE, ProgramSession
from holdfast.service.tools.programs.step_log import StepLog
from holdfast.service.tools.time_limit import TimeLimit
from holdfast.service.tools.tool_client import ToolClient
from holdfast.service.waitable import client_disconnected
from holdfast.wire.plain_text import show_count
from holdfast.wire.tool_requests import DebugStep

_ACTIONS = {"over": "step-over", "into": "step-into", "out": "step-out", "return": "step-out"}
_MISSING = re.compile(r"NameError: name '(\w+)' is not defined")
_MAX_STEPS = 1000
_IN_LIBRARY = (
    'A library has called your code, and goes on now. debug_continue(until="file:line") runs to '
    "your code again."
)


class StepRun:
    """The steps of one call. A report is built of the last stop only."""

    def __init__(self, session: ProgramSession, client: ToolClient, request: DebugStep) -> None:
        self._session = session
        self._client = client
        self._request = request
        self._limit = TimeLimit(request.timeout)
        # With `until` a count of 1 means that nobody has counted.
        is_uncounted = request.until is not None and request.count == 1
        self._count = _MAX_STEPS if is_uncounted else request.count
        self._log = StepLog(client)
        self._is_unwinding = False
        self.message = ""

    @property
    def is_several(self) -> bool:
        return self._count > 1

    @property
    def lines(self) -> list[str]:
        return self._log.lines

    async def run(self) -> None:
        """Step, as often as the request says, or until something else stops the program."""
        if self.is_several:
            stop = self._session.stops.require()
            page = await self._session.inspection.locals()
            self._log.begin(stop, page.variables)
        for number in range(1, self._count + 1):
            if not await self._take(number):
                return
        if self._request.until is not None:
            self.message = f"`{self._request.until}` is not true after {self._count} steps."

    async def _take(self, number: int) -> bool:
        """One step. Returns whether another one may follow."""
        session = self._session
        before = session.stops.current
        self._is_unwinding = is_unwinding(session)
        try:
            await self._begin()
        except errors.WrongState:
            self.message = f"Somebody else runs it: {number - 1} of {self._count} steps were made."
            return False
        await session.wait_until_settled(self._limit.left)
        await self._leave_nowhere()
        stop = session.stops.current
        if not session.is_paused or stop is None:
            self._describe_end(number)
            return False
        if self.is_several:
            self._log.add(stop)
        elif before is not None and self._request.kind == "into":
            self.message = NATIVE if session.has_stepped_over_native(before) else ""
        if stop.reason != "exception" and await self._is_reached(number):
            return False
        if stop.reason != "step" or self._is_unwinding:
            self._describe_early_stop(number, stop)
            return False
        if self._request.kind != "into" and _leaves_own_code(before, stop):
            made = f"{number} of {self._count} steps: " if number < self._count else ""
            self.message = made + _IN_LIBRARY
            return False
        if self._limit.is_over or client_disconnected():
            self.message = f"Time is up: {number} of {self._count} steps were made."
            return False
        return True

    async def _begin(self) -> None:
        session, request = self._session, self._request
        action = _ACTIONS.get(request.kind, "continue")
        if is_unwinding(session):
            # The frames that one could step to are gone: what runs next is the interpreter's end.
            action = "continue"
        if request.kind == "to_line":
            place = session.stops.require().location
            if request.line is None or place is None:
                raise errors.InvalidInput("`to_line` needs `line`", field="line")
            await session.breakpoints.stop_once({"file": place.file, "line": request.line})
        self._client.running.add(session.id)
        await session.run_on(action, self._client.name, keeps_untils=request.kind == "to_line")

    def _will_be_assigned(self, error: str) -> bool:
        """Whether a name has no value yet that this function gives one."""
        missing = _MISSING.match(error)
        stop = self._session.stops.current
        if missing is None or stop is None or stop.location is None:
            return False
        source = self._session.programs.sources.get(stop.location.file)
        if source is None:
            return False
        return assigned_names.is_assigned(source.analysis.text, stop.location.line, missing[1])

    async def _leave_nowhere(self) -> None:
        """A step out of the outermost frame may stop where there is no frame: run on from there."""
        session, stop = self._session, self._session.stops.current
        if stop is None or stop.location is not None or stop.reason != "step":
            return
        if not (await session.inspection.stack(count=1)).frames:
            await session.run_on("continue", self._client.name)
            await session.wait_until_settled(self._limit.left)

    def _describe_early_stop(self, number: int, stop: Stop) -> None:
        """Something else has stopped it before the steps were made, or the line was reached."""
        request = self._request
        if request.kind == "to_line":
            line = stop.location.line if stop.location else None
            if line != request.line:
                self.message = f"Line {request.line} is not reached yet: {stop.reason}."
        elif request.until is not None:
            self.message = f"`{request.until}` is not true yet: {stop.reason}."
        elif number < self._count:
            self.message = f"{number} of {self._count} steps: {stop.reason}."

    def _describe_end(self, number: int) -> None:
        session = self._session
        if session.over:
            if self._request.kind == "to_line":
                self.message = f"It ended before it came to line {self._request.line}."
            elif self.is_several:
                self.message = f"It ended during step {number} of {self._count}."
        elif session.is_running and not session.wants_input:
            self.message = (
                f"It runs on in step {number} of {self._count}: debug_continue waits for it."
            )

    async def _is_reached(self, number: int) -> bool:
        """Whether `until` is true here. One that raises ends the steps, too."""
        until = self._request.until
        if until is None:
            return False
        seconds = timings.TIMINGS.until
        try:
            (value,) = await self._session.inspection.evaluate_watches([f"bool({until})"], seconds)
        except errors.HoldfastError as problem:
            value = {"error": problem.message}
        if value.get("result") == "False":
            return False
        if value.get("result") == "True":
            self.message = f"`{until}` is true after {show_count(number, 'step')}."
            return True
        why = str(value.get("error") or f"it has no value after {seconds:g} s")
        if self._will_be_assigned(why):
            return False
        self.message = f"`{until}` raised: {why}"
        return True


def _leaves_own_code(before: Stop | None, stop: Stop) -> bool:
    """Whether a step from the user's own code has led to a caller in a library."""
    if before is None or not before.frames or not stop.frames:
        return False
    return bool(stop.frames[0].get("library")) and not before.frames[0].get("library")


def is_unwinding(session: ProgramSession) -> bool:
    """Whether it stands at an exception that nothing catches, after its frames were left."""
    stop = session.stops.current
    filters = session.breakpoints.effective_exceptions.filters
    return stop is not None and stop.reason == "exception" and set(filters) == {"uncaught"}
