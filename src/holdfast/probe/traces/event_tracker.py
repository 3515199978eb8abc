"""Follows the frames of a program's own code, and makes events of the statements that they run.

The hooks (`run_hooks`) tell what frames do. An event begins when a statement does; what it wrote is
read when the next one of the same frame begins, or the frame ends. All this is done by the thread
that runs the frame.
"""

from __future__ import annotations

import itertools
import sys
import threading
import types
from _thread import get_ident
from typing import Any, Callable, Dict, FrozenSet, List, Optional, Tuple

from . import traced_values, value_kinds
from .argument_places import Arguments, find_call, match_arguments
from .closure_homes import ClosureHomes
from .foreign_changes import ForeignChanges
from .frame_names import NOTHING, UNKNOWN, FrameNames
from .object_numbers import ObjectEntry, ObjectNumbers
from .place_lookup import find_stored
from .place_resolver import PlaceResolver
from .run_events import CodePlan, Event, FrameInfo, describe_event
from .statement_facts import Scope, Statement

_MAX_CALLERS = 500  # frames of other code between one of the program's own and its caller
_ARGUMENT_ROOM = 60
_HIDES_CELLS = (3, 13) <= sys.version_info < (3, 14)  # reading one there may end the process
_STOPS = (StopIteration, StopAsyncIteration, GeneratorExit)
_show = traced_values.show


class EventTracker:
    """The frames that run, the event that each is at, and the clock that orders them."""

    def __init__(
        self,
        write: Callable[[Any], None],
        flush: Callable[[], None],
        number_statement: Callable[[Statement, CodePlan], int],
        is_own: Callable[[Any], bool],
    ) -> None:
        self._write = write
        self._flush = flush
        self._number_statement = number_statement
        self.frames: Dict[int, FrameInfo] = {}  # by the id of a frame object that runs or waits
        self.lines: Dict[int, Any] = {}  # of frames that have not ended, by number
        self.numbers = ObjectNumbers()
        self.homes = ClosureHomes()
        self._resolver = PlaceResolver(self.numbers, is_own)
        self._foreign = ForeignChanges(self.numbers, is_own)
        self._clock = itertools.count(1)
        self._frame_numbers = itertools.count(1)
        self._latest: Dict[Scope, FrameInfo] = {}  # the newest invocation of what defines functions
        self._threads: Dict[Tuple[int, int], int] = {}
        self.count = 0

    def _tick(self) -> int:
        time = next(self._clock)
        self.numbers.clock = time
        return time

    # -- frames -----------------------------------------------------------------------------------

    def begin_frame(self, frame: Any, plan: CodePlan) -> FrameInfo:
        """A function is called, or a module begins to run."""
        self.numbers.release()
        thread = self._find_thread()
        namespace = self._resolver.find_namespace(frame.f_globals)
        info = FrameInfo(next(self._frame_numbers), plan, namespace, thread)
        info.is_module = not plan.is_function and frame.f_locals is frame.f_globals
        if plan.free:
            info.home = self.homes.find(frame) or self._latest.get(_outer_of(plan.scope))
        if plan.code.co_cellvars or not plan.is_function:
            self._latest[plan.scope] = info
        caller, back = self._find_caller(frame)
        self.frames[id(frame)] = info
        self._write_begin(frame, info, caller, back)
        if plan.scope.is_single:
            self.begin_statement(frame, info, plan.scope.first)
        return info

    def _find_caller(self, frame: Any) -> Tuple[Optional[FrameInfo], Any]:
        """The nearest frame of the program's own, and the frame that called directly."""
        direct = back = frame.f_back
        for _ in range(_MAX_CALLERS):
            if back is None:
                return None, None
            info = self.frames.get(id(back))
            if info is not None and info.plan.code is back.f_code:
                is_inside = direct.f_code.co_name in ("<listcomp>", "<setcomp>", "<dictcomp>")
                return info, direct if is_inside else back
            back = back.f_back
        return None, None

    def _write_begin(
        self, frame: Any, info: FrameInfo, caller: Optional[FrameInfo], back: Any
    ) -> None:
        plan = info.plan
        event = info.caller = caller.now if caller is not None else None
        args = self._bind(frame, info, caller, event, back) if plan.is_function else []
        site = 0
        if event is not None and caller is not None:
            event.children.append(info.number)
            site = self._number_statement(event.statement, caller.plan)
        line = [
            "F",
            info.number,
            plan.number,
            event.time if event is not None else 0,
            caller.number if caller is not None else 0,
            site,
            info.thread,
            self._tick(),
            info.namespace,
            args,
            {name: info.find_owner(name) for name in plan.free} if plan.free else None,
        ]
        self.lines[info.number] = line
        self._write(line)

    def _bind(
        self,
        frame: Any,
        info: FrameInfo,
        caller: Optional[FrameInfo],
        event: Optional[Event],
        back: Any,
    ) -> List[Any]:
        """Each parameter with its value, and the places that it came from."""
        plan = info.plan
        if not plan.params:
            return []
        names = FrameNames(frame, plan.names)
        matched: Arguments = {}
        found = outer = None
        if event is not None and caller is not None:
            outer = FrameNames(back, _names_at(back, caller), _find_hidden(event, caller))
            nth = event.calls_made.get(plan.number, 0)
            event.calls_made[plan.number] = nth + 1
            found = find_call(event.statement.calls, plan, outer, nth)
            matched = {} if found is None else match_arguments(found, plan)
        args: List[Any] = []
        for name in plan.params:
            value = names.read_local(name)
            if value is UNKNOWN:
                continue
            places: Any = None
            facts = matched.get(name)
            if outer is None or caller is None or event is None:
                places = []
            elif found is None:
                places = [place for place in event.reads if place]
            elif facts is not None:
                places = [p for p in self._resolver.find_reads(facts, outer, caller) if p]
            number = self._resolver.number_value(value)
            args.append([name, _show(value, _ARGUMENT_ROOM), self._tick(), places, number])
        return args

    def resume_frame(self, frame: Any, info: FrameInfo) -> None:
        """A generator or coroutine goes on."""
        self.numbers.release()
        info.is_suspended = False
        caller = self._find_caller(frame)[0]
        event = info.caller = caller.now if caller is not None else None
        if event is not None and event.children[-1:] != [info.number]:
            event.children.append(info.number)
        if info.plan.scope.is_single:
            self.begin_statement(frame, info, info.plan.scope.first)

    def give_value(self, info: FrameInfo, value: Any) -> None:
        """A generator yields a value, or a coroutine waits."""
        info.is_suspended = True
        event = info.now
        if event is not None and info.plan.gives_values:
            number = self._resolver.number_value(value)
            self._write(["y", info.number, event.time, self._tick(), _show(value), number])
            self._note_returned(info, value)

    def end_frame(self, frame: Any, info: FrameInfo, value: Any) -> None:
        """A function returns."""
        event = info.now
        self._settle(frame, info, None)
        if type(value) is types.FunctionType or type(value) is types.MethodType:
            self.homes.note(value, info)
        self._note_returned(info, value)
        number = self._resolver.number_value(value)
        self._write_end(frame, info, event, "returned", _show(value), number)

    def unwind_frame(self, frame: Any, info: FrameInfo, error: str) -> None:
        """A function is left by an exception."""
        event = info.now
        # At the end of a `finally`, an exception goes on that its statements did not raise.
        self._settle(frame, info, None)
        self._write_end(frame, info, event, "raised", error, 0)

    def _write_end(
        self, frame: Any, info: FrameInfo, event: Any, outcome: str, text: str, number: int
    ) -> None:
        self.frames.pop(id(frame), None)
        self.lines.pop(info.number, None)
        time = event.time if event is not None else 0
        code = info.plan.number
        self._write(["x", info.number, code, time, self._tick(), outcome, text, number])
        info.entries.clear()
        info.turns.clear()
        self.numbers.release()

    def _note_returned(self, info: FrameInfo, value: Any) -> None:
        """Attributes of what a call returned are looked up when the caller's statement ends."""
        if info.caller is not None and id(type(value)) not in value_kinds.FIXED:
            info.caller.returned.append(self.numbers.find(value))

    # -- statements -------------------------------------------------------------------------------

    def begin_statement(self, frame: Any, info: FrameInfo, line: int) -> None:
        """A frame is about to run a line."""
        statement = info.plan.scope.lines.get(line)
        if statement is None:
            return
        offset = frame.f_lasti
        now = info.now
        names = None
        if now is not None:
            if now.statement is statement and offset > now.offset:
                return  # another line of the same statement
            names = FrameNames(frame, info.plan.names)
            self._settle(frame, info, statement, names)
        self.numbers.release()
        self.count += 1
        info.plan.count += 1
        if not statement.is_prepared:
            statement.prepare()
        event = info.now = Event(self._tick(), statement, offset)
        if statement.calls:
            self._flush()  # it may end the process
        if self._is_exit(info, statement, offset):
            return  # of a `with`: what it reads and writes was done when it began
        self._look_up(names or FrameNames(frame, info.plan.names), info, event)

    @staticmethod
    def _is_exit(info: FrameInfo, statement: Statement, offset: int) -> bool:
        if statement.kind not in ("with", "for"):
            return False
        entry = info.entries.get(statement)
        if entry is None or offset <= entry:
            info.entries[statement] = offset
            info.turns[statement] = 0
            return False
        info.turns[statement] = info.turns.get(statement, 0) + 1
        return statement.kind == "with"

    def _look_up(self, names: FrameNames, info: FrameInfo, event: Event) -> None:
        statement, resolver = event.statement, self._resolver
        turn = info.turns.get(statement, 0) if statement.kind == "for" else 0
        event.reads = resolver.find_reads(statement.reads, names, info, turn)
        event.bases = resolver.find_reads(statement.bases, names, info)
        event.writes = resolver.find_writes(statement.writes, statement.maybe, names, info)
        if statement.calls:
            event.marks = self._foreign.take_marks(statement.calls, names)
        self._write_texts(event.time)

    def _write_texts(self, time: int) -> None:
        texts = self._resolver.texts
        while texts:
            try:
                text = texts.pop(0)
            except IndexError:  # another thread has written it
                return
            self._write(["t", time, *text])

    def _settle(
        self,
        frame: Any,
        info: FrameInfo,
        following: Optional[Statement],
        names: Optional[FrameNames] = None,
    ) -> None:
        """The statement under way has ended: note what it wrote."""
        event, info.now = info.now, None
        if event is None:
            return
        statement = event.statement
        if statement.body is not None:
            event.branch = int(following is statement.body)
        writes: List[Any] = []
        if event.raised is not None:  # it has written nothing, though it would have
            writes = [[write.place, None, write.label, 0] for write in event.writes if write.place]
        elif event.writes and not (statement.kind == "for" and event.branch == 0):
            if names is None:
                names = FrameNames(frame, info.plan.names)
            writes = self._resolver.read_writes(event.writes, names, statement.is_fresh)
            self._note_functions(info, statement, names)
        if event.marks:
            writes += self._foreign.find_changes(event.marks, event.time, bool(event.children))
        if event.returned:
            self._find_attributes(event)
        number = self._number_statement(statement, info.plan)
        done = self._tick()
        self._write(describe_event(event, done, info.number, number, writes))
        self._write_texts(done)

    def _note_functions(self, info: FrameInfo, statement: Statement, names: FrameNames) -> None:
        """Functions and classes that a statement has defined."""
        if statement.makes_function:
            for fact in statement.writes:
                if fact.kind == "name":
                    self.homes.note(names.read(fact.name), info)
        elif statement.kind == "class":
            cls = names.read(statement.writes[0].name)
            body = self._find_body(statement)
            if body is not None and issubclass(type(cls), type):
                self._write({"class": self.numbers.find(cls).number, "frame": body.number})

    def _find_body(self, statement: Statement) -> Optional[FrameInfo]:
        """The invocation of a class statement's body."""
        for scope, info in self._latest.items():
            if scope.definition is statement and not info.plan.is_function:
                return info
        return None

    @staticmethod
    def _find_attributes(event: Event) -> None:
        """`f().x`: now it is known which object the call has returned."""
        for places in (event.reads, event.bases):
            for index, place in enumerate(places):
                if isinstance(place, str) and place.startswith("?."):
                    places[index] = _find_holder(event.returned, place[2:]) or place

    def note_raise(self, info: FrameInfo, error: Any) -> None:
        """An exception is raised by the statement under way, or passes through it."""
        event = info.now
        if event is None or event.raised is not None:
            return
        can_stop = event.statement.can_stop or info.plan.waits
        if can_stop and issubclass(type(error), _STOPS):
            return
        event.raised = _show(error)

    def note_reraise(self, info: FrameInfo, error: Any) -> None:
        """An exception goes on: by a `raise` alone, or at the end of a `finally` or `with`."""
        event = info.now
        if event is not None and event.raised is None and event.statement.kind == "raise":
            event.raised = _show(error)

    def leave(self, key: int, info: FrameInfo) -> None:
        """Follow a frame no more, though it goes on."""
        self.frames.pop(key, None)
        self.lines.pop(info.number, None)
        self._write_unfinished(info)

    def _write_unfinished(self, info: FrameInfo) -> None:
        """What a statement under way is going to write is not known yet."""
        event, info.now = info.now, None
        if event is not None:
            number = self._number_statement(event.statement, info.plan)
            self._write(describe_event(event, 0, info.number, number, []))

    def finish(self) -> None:
        """Write what is under way."""
        for info in list(self.frames.values()):
            self._write_unfinished(info)
        self.frames.clear()
        self.lines.clear()
        self._latest.clear()

    def _find_thread(self) -> int:
        """The number of this thread. An identifier may be that of a thread which has ended."""
        ident = get_ident()
        thread = threading._active.get(ident)  # type: ignore[attr-defined]
        key = (ident, id(thread))
        number = self._threads.get(key)
        if number is None:
            number = self._threads[key] = len(self._threads) + 1
            name = getattr(thread, "_name", "")
            self._write({"thread": number, "name": name if type(name) is str else ""})
        return number


def _outer_of(scope: Scope) -> Any:
    return scope.outer


def _names_at(back: Any, caller: FrameInfo) -> FrozenSet[str]:
    """The variables of the frame that called: a comprehension has its own before 3.12."""
    code = back.f_code
    if code is caller.plan.code:
        return caller.plan.names
    return caller.plan.names | frozenset(code.co_varnames) | frozenset(code.co_freevars)


def _find_hidden(event: Event, caller: FrameInfo) -> FrozenSet[str]:
    if not _HIDES_CELLS or not event.statement.hidden:
        return NOTHING
    return event.statement.hidden & frozenset(caller.plan.code.co_cellvars)


def _find_holder(entries: List[ObjectEntry], name: str) -> Optional[str]:
    for entry in reversed(entries):
        value = entry.find()
        if value is not None and find_stored(value, name)[0] is value:
            return "a%d.%s" % (entry.number, name)
    return None
