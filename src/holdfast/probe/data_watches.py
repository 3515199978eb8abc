"""Data breakpoints: what is watched, and what is done when a watched value is written.

A `Watch` is told of writes to its place (`attribute_watch`, `dict_watch`, `code_watch`), and looks
at the value again where no write tells of a change (`frame_scans`). It decides by the access that
was asked for, then by its `Rule`, as any breakpoint does.
"""

from __future__ import annotations

import sys
import threading
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from . import (
    bounded_calls,
    code_stores,
    code_watch,
    data_stops,
    dict_watch,
    fingerprints,
    introspection,
    quiet_writes,
    server_messages,
    timings,
    trace_watch,
    watch_methods,
)
from .attribute_watch import CannotWatch
from .data_places import (
    ExpressionPlace,
    ItemPlace,
    LocalPlace,
    Place,
    PlaceGone,
)
from .data_stops import Hit
from .fingerprints import ATOMIC, MISSING
from .frame_scans import find_caller
from .thread_suspension import HELD
from .watch_methods import HAS_MONITORING, find_scanner, is_true, require_scanner


class Change(NamedTuple):
    """A value that was written, or has changed in place."""

    old: Any
    new: Any
    old_text: Optional[str] = None  # if there is no more of the old value


class WriteView:
    """What a condition sees: the frame that wrote, and the names `old` and `new`."""

    __slots__ = ("f_back", "f_code", "f_globals", "f_lineno", "f_locals")

    def __init__(self, frame: Any, line: Optional[int], change: Change) -> None:
        self.f_code, self.f_globals, self.f_back = frame.f_code, frame.f_globals, frame.f_back
        self.f_lineno = frame.f_lineno if line is None else line
        self.f_locals = dict(frame.f_locals)
        self.f_locals["old"] = (
            change.old_text if change.old_text is not None else _given(change.old)
        )
        self.f_locals["new"] = _given(change.new)


def _given(value: Any) -> Any:
    return None if value is MISSING else value


class Watch:
    """One data breakpoint, and what is known of its value."""

    def __init__(self, spec: Dict[str, Any], rule: Any, place: Place) -> None:
        self.place = place
        self.data_id: str = spec["data_id"]
        self.access: str = spec.get("access") or "write"
        self.is_until = bool(spec.get("until"))
        self.message: Optional[str] = None
        self.is_ended = False
        self.is_restored = False
        self.last: Any = MISSING
        self.mark: Any = None  # the fingerprint of the last value
        self._only_changes = self.access == "change"
        self._restores: List[Callable[[], None]] = []
        self._references: List[Any] = []
        self._content: Optional[Tuple[int, Callable[[], None]]] = None
        self._is_scanned = False
        # Where its frame stood: a store just before that was made before it was watched.
        self._begun_at: Optional[int] = None
        self._is_settling = False
        self.use_rule(rule)

    def use_rule(self, rule: Any) -> None:
        self.rule = rule
        # Rules out a write at once, if a simple condition of plain values is false.
        self.is_quiet: Callable[[Any, Any], bool] = quiet_writes.make_test(
            self, rule, self._only_changes
        )

    def is_like(self, spec: Dict[str, Any]) -> bool:
        return (
            self.data_id == spec["data_id"]
            and self.access == (spec.get("access") or "write")
            and self.is_until == bool(spec.get("until"))
        )

    # -- beginning and ending -------------------------------------------------------------------

    def begin(self) -> None:
        """Watch the place from now on; raises PlaceGone or CannotWatch."""
        place = self.place
        place.check()
        self._read_first()
        place.enter()
        try:
            watch_methods.begin(self, place)
            self._follow_value(place.frame)
        except (PlaceGone, CannotWatch):
            self.restore()
            raise

    def _read_first(self) -> None:
        if isinstance(self.place, ExpressionPlace):
            try:
                value = bounded_calls.call(self.place.read, timings.TIMINGS.watched_expression)
            except (bounded_calls.CallFailed, bounded_calls.CallTimedOut):
                value = MISSING
        else:
            value = _read_place(self.place)
        self.last, self.mark = value, fingerprints.take(value)

    def note_position(self, frame: Any) -> None:
        self._begun_at = frame.f_lasti

    def keep(self, reference: Any) -> None:
        """Keep a weak reference, which calls back only while it is there itself."""
        self._references.append(reference)

    def add_restore(self, restore: Callable[[], None]) -> None:
        self._restores.append(restore)

    def restore(self) -> None:
        """Leave everything as it was without this watch."""
        if self.is_restored:
            return
        self.is_restored = True
        if self._is_scanned:
            self._is_scanned = False
            scanner = find_scanner()
            if scanner is not None:
                scanner.remove(self)
        self._drop_content()
        restores, self._restores = self._restores, []
        for restore in restores:
            restore()
        self._references.clear()
        self.place.leave()
        self.last, self.mark = MISSING, None

    def end(self, message: str) -> None:
        """It can never fire again."""
        if self.is_ended or sys.is_finalizing():  # then all objects go, and nobody can be told
            return
        self.is_ended = True
        self.restore()
        if not self.place.watchers:
            self.place.release()
        self.message = message
        server_messages.report("data_ended", id=self.rule.id, message=message)

    def end_with_frame(self, frame: Any) -> None:
        caller = find_caller(frame)
        name = frame.f_code.co_name
        if self.is_until and not self.is_ended:
            message = "%s ended before %s became true" % (name, self.place.text)
            self.end(message)
            if caller is not None and data_stops.may_stop(caller):
                hit = Hit(self.rule.id, self.place.text, None, None, message)
                data_stops.stop(caller, [hit])
            return
        self.end("the frame of %s has ended, and %s with it" % (name, self.place.text))

    # -- the value ------------------------------------------------------------------------------

    def _follow_value(self, frame: Any) -> None:
        """Notice when the value itself changes, if it can."""
        if self.mark is None:
            self._drop_content()
            return
        if self._watch_content() and not _has_changeable_parts(self.last):
            return
        self.scan(frame)

    def scan(self, frame: Any) -> None:
        scanner = require_scanner()
        if frame is None and not self._is_scanned:
            return  # from the next frame on that writes it
        scanner.add(self, frame)
        self._is_scanned = True

    def _watch_content(self) -> bool:
        """Whether a dict tells us when it is changed."""
        value = self.last
        if not issubclass(type(value), dict) or code_watch.get_watch() is None:
            return False
        if self._content is not None and self._content[0] == id(value):
            return True
        self._drop_content()
        watcher = dict_watch.get_watcher()
        if watcher is None:
            return False
        restore = watcher.watch(value, dict_watch.ANY_KEY, self, do_nothing)
        self._content = id(value), restore
        return True

    def _drop_content(self) -> None:
        if self._content is not None:
            restore, self._content = self._content[1], None
            restore()

    def looks_into_calls(self) -> bool:
        """Whether a function that does not know the place may change its value."""
        return self.mark is not None or not isinstance(self.place, LocalPlace)

    def look(self) -> Optional[Change]:
        """What has changed since the last look."""
        place = self.place
        if isinstance(place, ItemPlace) and place.is_unused():
            self.end("nothing but the debugger holds the container of %s any more" % place.text)
            return None
        try:
            new = place.read()
        except LookupError:
            return None
        if self.is_until:
            return self._look_for_truth(new)
        old = self.last
        if new is old and self.mark is None:
            return None
        mark = fingerprints.take(new)
        if fingerprints.is_same(old, new, self.mark, mark):
            self.last = new
            return None
        change = Change(old, new)
        if new is old:
            change = Change(*_recall(self.mark, new))
        self.last, self.mark = new, mark
        return change

    def _look_for_truth(self, value: Any) -> Optional[Change]:
        was_true, self.last = self.last is True, is_true(value)
        return Change(False, value) if self.last and not was_true else None

    # -- writes ---------------------------------------------------------------------------------

    def note_write(self, old: Any, new: Any, frame: Any) -> None:
        """The place was written, by a frame that is still at that line. Must not raise."""
        if HAS_MONITORING:
            self._note_write(old, new, frame)
            return
        # The program has called us, so that this is traced: if another thread stops all of them
        # now, this one would be held here, with locks that the debugger waits for.
        with trace_watch.untraced():
            self._note_write(old, new, frame)

    def _note_write(self, old: Any, new: Any, frame: Any) -> None:
        try:
            if self._is_wanted(old, new, frame):
                line = frame.f_lineno
                hit = self._decide_own(Change(old, new), frame, line)
                scanner = find_scanner()
                if hit is not None and scanner is not None:
                    scanner.expect_stop(data_stops.PendingStop(frame, [hit], line))
        except Exception:  # raised from here, it would be the program's
            pass

    def note_store(self, frame: Any, offset: int) -> None:
        """A local or a cell was stored."""
        place = self.place
        if (
            place.is_bound_to_frame
            and frame is not place.frame
            and frame.f_code is place.frame.f_code
        ):
            return  # another invocation, with a variable of its own
        try:
            new = place.read()
        except LookupError:
            return
        if new is self.last:
            begun_at, self._begun_at = self._begun_at, None
            if frame.f_lasti == begun_at or frame is not place.frame:
                return  # it was stored before, or this may be another cell of that name
        self._is_settling = True
        try:
            self._settle(self.last, new, frame, offset)
        finally:
            self._is_settling = False

    def find_last_store(self, frame: Any) -> Optional[int]:
        """The store to this local that a frame has just made, if nobody has looked at it yet."""
        place = self.place
        scanner = code_watch.current_watch()
        is_here = isinstance(place, LocalPlace) and place.frame is frame
        if scanner is None or not is_here:
            return None
        if self._is_settling or frame.f_lasti == self._begun_at:
            return None
        store = code_stores.find_local_stores(frame.f_code, place.text).get(frame.f_lasti)
        return store if store is not None and scanner.has_stored(frame, store) else None

    def collect_write(self, frame: Any, line: Optional[int]) -> List[Hit]:
        """What to tell of a write to a dict, at a stop that comes before its event."""
        change = self.look()
        hit = None if change is None else self.decide(change, frame, line)
        return [] if hit is None else [hit]

    def collect_store(self, frame: Any, line: Optional[int]) -> List[Hit]:
        """What to tell of a store, at a stop that comes before its event."""
        self.note_position(frame)
        old, new = self.last, _read_place(self.place)
        if not self._is_wanted(old, new, frame):
            return []
        hit = self.decide(Change(old, new), frame, line)
        return [] if hit is None else [hit]

    def settle_write(self, frame: Any, offset: int) -> None:
        """A dict was written: the one that is the place, or the value there."""
        old, new = self.last, _read_place(self.place)
        if self.is_quiet(old, new):
            self.last = new
        elif new is not old:
            self._settle(old, new, frame, offset)
        else:
            change = self.look()
            if change is not None:
                self._stop_if_wanted(change, frame, find_line_of_write(frame, offset))

    def _settle(self, old: Any, new: Any, frame: Any, offset: int) -> None:
        if self._is_wanted(old, new, frame):
            self._stop_if_wanted(Change(old, new), frame, find_line_of_write(frame, offset))

    def _is_wanted(self, old: Any, new: Any, frame: Any) -> bool:
        """Remember the new value; whether the access that was asked for includes this write."""
        mark = fingerprints.take(new)
        is_same = new is old or fingerprints.is_same(old, new, self.mark, mark)
        self.last, self.mark = new, mark
        if mark is not None or self._content is not None:
            self._follow_value(frame)
        return not (is_same and self._only_changes)

    def _stop_if_wanted(self, change: Change, frame: Any, line: Optional[int]) -> None:
        hit = self._decide_own(change, frame, line)
        if hit is not None:
            data_stops.stop(frame, [hit], line)

    def _decide_own(self, change: Change, frame: Any, line: Optional[int]) -> Optional[Hit]:
        """The same, if it was the program that wrote. Finding that out goes down the whole stack.

        So it comes first only while a thread is held, when the user may evaluate something.
        """
        if HELD and not data_stops.may_stop(frame):
            return None
        if threading.get_ident() in data_stops.BUSY:
            return None
        hit = self.decide(change, frame, line)
        return hit if hit is not None and data_stops.may_stop(frame) else None

    def decide(self, change: Change, frame: Any, line: Optional[int]) -> Optional[Hit]:
        """What to tell, if the rule stops here."""
        ident = threading.get_ident()
        data_stops.BUSY.add(ident)  # the condition may write
        try:
            has_names = self.rule.condition is not None
            if not self.rule.should_stop(WriteView(frame, line, change) if has_names else frame):
                return None
            old = change.old_text
            if old is None:
                old = data_stops.render(change.old)
            hit = Hit(self.rule.id, self.place.text, old, data_stops.render(change.new))
        finally:
            data_stops.BUSY.discard(ident)
        if self.is_until:
            self.is_ended = True
            self.restore()
        return hit


def do_nothing() -> None:
    pass


def _recall(mark: Any, value: Any) -> Tuple[Any, Any, Optional[str]]:
    old, text = fingerprints.find_old(mark, value)
    return old, value, text


def _read_place(place: Place) -> Any:
    try:
        return place.read()
    except LookupError:
        return MISSING


def find_line_of_write(frame: Any, offset: int) -> Optional[int]:
    return code_stores.find_line(frame.f_code, offset)


def _has_changeable_parts(held: Any) -> bool:
    """Whether something in a dict can change without the dict being written.

    A subclass may keep more beside it: an `OrderedDict` its order, others their attributes.
    """
    if type(held) is not dict:
        return True
    values = introspection.slice_items(held, 0, 1000)
    return len(values) == 1000 or any(type(value) not in ATOMIC for _key, value in values)
