"""The stop that a session shows, the hold that it opened, and its frames."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from holdfast import errors
from holdfast.core import lifecycle
from holdfast.core.lifecycle import Signal
from holdfast.model.decision import Decision, Moment, names_at
from holdfast.model.hold import Hold
from holdfast.model.session_state import State
from holdfast.model.stop import Described, Stop
from holdfast.service.new_ids import new_id
from holdfast.service.programs.frame_ids import FrameIds, FramePlace, is_small
from holdfast.service.programs.status_builder import name_reason
from holdfast.service.programs.thread_stops import ThreadStops, build_stop_of_held_thread

if TYPE_CHECKING:
    from holdfast.service.programs.program_session import ProgramSession

_ACTIONS = names_at(Moment.STOP)


class StopTracker:
    def __init__(self, session: ProgramSession) -> None:
        self._session = session
        self._ledger = session.programs.ledger
        self.current: Stop | None = None
        self.hold: Hold | None = None
        self.threads = ThreadStops()
        self.frame_ids = FrameIds()

    def require(self) -> Stop:
        if self.current is None:
            raise self._session.wrong_state("only a paused program can be looked into")
        return self.current

    def find(self, thread: int) -> Stop | None:
        """The stop of a thread, shown or waiting."""
        if self.current is not None and self.current.thread_id == thread:
            return self.current
        return self.threads.waiting.get(thread)

    def find_thread(self, thread: int) -> Stop:
        """The same, for a thread that must be held."""
        stop = self.find(thread)
        if stop is None:
            raise self._session.wrong_state(f"thread {thread} is not held")
        return stop

    # -- whoever asks about one stop --------------------------------------------------------

    def require_hold(self, hold_id: str | None) -> None:
        """Raise HoldOver unless this is the hold of the stop that is shown. None: any will do."""
        now = self.hold.id if self.hold is not None else None
        if hold_id is not None and hold_id != now:
            session = self._session
            raise errors.HoldOver(
                f"hold {hold_id} is over, or not of this session: it is {session.state.value} now",
                hold_id=hold_id,
                current_hold_id=now,
                session_id=session.id,
                state=session.state.value,
                possible=session.list_operations(),
            )

    @contextlib.contextmanager
    def reading(self, hold_id: str | None) -> Iterator[None]:
        """What is read in here is of this hold. It raises HoldOver if that ends meanwhile."""
        self.require_hold(hold_id)
        try:
            yield
        except errors.HoldfastError:
            self.require_hold(hold_id)
            raise
        self.require_hold(hold_id)

    # -- stops come -------------------------------------------------------------------------

    def handle_stop(self, stop: Stop) -> None:
        """Handle a stop that the program reports, before clients see that it is paused."""
        session = self._session
        if lifecycle.try_next_state(session.state, Signal.STOPPED) is None:
            return
        stop = self._leave_out_untils(stop)
        for breakpoint_id, hits in stop.breakpoints:
            session.breakpoints.points.note(breakpoint_id, hits=hits)
        is_beside = self.current is not None and self.current.thread_id != stop.thread_id
        if session.state is State.PAUSED and is_beside:
            self.threads.waiting[stop.thread_id] = stop
            self._append_event(stop)
        else:
            self.show(stop)

    def _leave_out_untils(self, stop: Stop) -> Stop:
        """The place that somebody runs to is no breakpoint of theirs: reaching it is a step."""
        is_until = self._session.breakpoints.is_until
        points = tuple(point for point in stop.breakpoints if not is_until(point[0]))
        if len(points) == len(stop.breakpoints) or stop.data is not None:
            return stop
        return dataclasses.replace(
            stop, breakpoints=points, reason=stop.reason if points else "step"
        )

    def show(self, stop: Stop) -> None:
        """Pause the session at this stop."""
        session = self._session
        self.withdraw("another stop")
        self.current = stop
        self.threads.note_shown(stop)
        self.hold = Hold(
            id=new_id("hold"),
            session_id=session.id,
            kind=session.kind,
            reason=name_reason(stop),
            opened_at=time.time(),
            thread_id=stop.thread_id,
            location=stop.location,
            moment=Moment.STOP,
            allows=_ACTIONS,
        )
        self._ledger.open(self.hold)
        self._append_event(stop, hold_id=self.hold.id)
        session.move(Signal.STOPPED)

    def _append_event(self, stop: Stop, **more: Any) -> None:
        place = stop.location
        self._session.event(
            "stopped",
            **more,
            reason=name_reason(stop),
            thread_id=stop.thread_id,
            location=dataclasses.asdict(place) if place else None,
            breakpoint_ids=[breakpoint_id for breakpoint_id, _hits in stop.breakpoints],
        )

    # -- and go -----------------------------------------------------------------------------

    def decide(
        self, action: str, by: str, hold_id: str | None = None, thread: int | None = None
    ) -> Stop:
        """Settle the hold by this decision and return the stop that it ends.

        If another thread stopped meanwhile, and nobody has seen that yet, its stop comes first:
        the session is at that now, and nothing runs.
        """
        if hold_id is None:
            self._session.require(action)
            hold_id = self.hold.id if self.hold else ""
        self._ledger.decide(hold_id, Decision(action, by))
        stop = self.current
        assert stop is not None
        unseen = self.threads.find_unseen() if action == "continue" else None
        if unseen is not None:
            self.threads.waiting[stop.thread_id] = stop
        elif action == "continue":
            self.threads.clear()
            self.frame_ids.forget_held()
        else:
            self.threads.step(thread or stop.thread_id, stop)
            if stop.all_threads_stopped:
                self.frame_ids.forget_held()
            self.frame_ids.forget(thread or stop.thread_id)
        self.hold = self.current = None
        self._session.note_resumed(action, by)
        if unseen is not None:
            self.show(unseen)
        return stop

    def withdraw(self, why: str) -> None:
        """Withdraw the hold: nobody can decide it any more."""
        if self.hold is not None:
            self._ledger.withdraw(self.hold.id, why)
        self.hold = self.current = None

    def release_thread(self, thread: int, held: Sequence[Described], by: str) -> None:
        """Let one thread run on. While others are held, the session is paused at one of them."""
        if not held:
            self.decide("continue", by)
            return
        self._session.event("continued", action="continue", by=by, thread_id=thread)
        current = self.current
        self.threads.release(thread)
        self.frame_ids.forget(thread)
        if current is not None and current.thread_id == thread:
            self.show(self.threads.get_first() or build_stop_of_held_thread(current, held))
            self.threads.release(thread)

    def show_held(self, thread: int | None = None) -> None:
        """While one thread's step gets nowhere, show a thread that is held: this one, or any.

        The step may wait for what the other holds, so one must be able to let that go.
        """
        waiting = self.threads.waiting
        stop = self.threads.get_first() if thread is None else waiting.get(thread)
        if self._session.state is State.RUNNING and stop is not None:
            self.show(stop)

    def end_thread(self, thread: int) -> None:
        """A thread ended. If it was stepping, the next waiting stop is shown."""
        self.threads.waiting.pop(thread, None)
        self.frame_ids.forget(thread)
        following = self.threads.get_first()
        is_running = self._session.state is State.RUNNING
        if self.threads.stepping == thread and following and is_running:
            self.show(following)

    async def wait_for_thread(self, thread: int, seconds: float) -> None:
        """Wait for the next stop of one thread, and show it."""
        session = self._session

        def is_settled() -> bool:
            is_here = self.current is not None and self.current.thread_id == thread
            wants_input = session.state is State.WAITING_FOR_INPUT
            return is_here or thread in self.threads.waiting or wants_input or session.over

        await session.wait_until(is_settled, seconds)
        stop = self.threads.waiting.get(thread)
        if stop is not None and self.current is not None:
            self.threads.waiting[self.current.thread_id] = self.current
            self.show(stop)

    def forget_values(self) -> None:
        """Drop the values that came with the stop, because the user's code may change them."""
        if self.current is not None:
            self.current = dataclasses.replace(self.current, locals=(), locals_total=0)

    # -- frames -----------------------------------------------------------------------------

    def find_frame(self, frame_id: int) -> FramePlace:
        """Where the frame of this id is."""
        if not is_small(frame_id):
            place = self.frame_ids.find(frame_id)
            if place is not None:
                return place
        if self.current is None:
            raise self._session.wrong_state("frames can be looked at while paused")
        if is_small(frame_id):
            return FramePlace(self.current.thread_id, frame_id)
        raise errors.FrameNotFound(f"no frame {frame_id}", frame_id=frame_id)

    def assign_frame_ids(
        self, thread: int, start: int, marks: Sequence[str], *, is_held: bool
    ) -> Sequence[int]:
        """0 is the top frame of the thread that stopped. Other threads have blocks of their own."""
        if self.current is not None and thread == self.current.thread_id:
            return range(start, start + len(marks))
        return self.frame_ids.assign(thread, start, marks, is_held=is_held)
