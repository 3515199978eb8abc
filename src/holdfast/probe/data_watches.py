"""Data breakpoints: what is watched, and what is done when a watched value is written.

A `Watch` is told of writes to its place (`attribute_watch`, `dict_watch`, `code_watch`), and looks
at the value again where no write tells of a change (`frame_scans`). It decides by the access that
was asked for, then by its `Rule`, as any breakpoint does.
"""

from __future__ import annotations

import sys
import threading
import types
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Tuple

from . import (
    attribute_watch,
    bounded_calls,
    code_stores,
    code_watch,
    data_stops,
    dict_watch,
    fingerprints,
    introspection,
    quiet_writes,
    server_messages,
    trace_watch,
)
from .attribute_watch import CannotWatch
from .breakpoint_table import TABLE
from .data_places import (
    PLACES,
    AttributePlace,
    CellPlace,
    DictPlace,
    ExpressionPlace,
    GlobalPlace,
    ItemPlace,
    LocalPlace,
    Place,
    PlaceGone,
)
from .data_stops import Hit
from .fingerprints import ATOMIC, MISSING
from .frame_scans import find_caller
from .thread_suspension import HELD

_MONITORS = sys.version_info >= (3, 12)
_MAX_SECONDS = 0.5  # for an expression that is evaluated beside its thread
_NO_TOOL = "no sys.monitoring tool id is free: other tools have taken them"
_LATE = "a change inside the value is noticed at the next line of %s, or of a function it calls"
_COMPARED = (
    "it is compared at each line of %s and of the functions it calls, so a change by others is "
    "noticed late"
)
_PENDING = (
    "%s; it is watched as soon as that is imported"
    if _MONITORS
    else "%s; it is watched from the first stop on after that is imported"
)


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
            _BEGINNERS[type(place)](self, place)
            self._follow_value(place.frame)
        except (PlaceGone, CannotWatch):
            self.restore()
            raise

    def _read_first(self) -> None:
        if isinstance(self.place, ExpressionPlace):
            try:
                value = bounded_calls.call(self.place.read, _MAX_SECONDS)
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
        scanner = find_scanner()
        if scanner is None:
            raise CannotWatch(_NO_TOOL)
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
        restore = watcher.watch(value, dict_watch.ANY_KEY, self, _do_nothing)
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
        was_true, self.last = self.last is True, _is_true(value)
        return Change(False, value) if self.last and not was_true else None

    # -- writes ---------------------------------------------------------------------------------

    def note_write(self, old: Any, new: Any, frame: Any) -> None:
        """The place was written, by a frame that is still at that line. Must not raise."""
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
                self._stop_if_wanted(change, frame, _line_of_write(frame, offset))

    def _settle(self, old: Any, new: Any, frame: Any, offset: int) -> None:
        if self._is_wanted(old, new, frame):
            self._stop_if_wanted(Change(old, new), frame, _line_of_write(frame, offset))

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


def _do_nothing() -> None:
    pass


def _is_true(value: Any) -> bool:
    try:
        return value is not MISSING and bool(value)
    except Exception:  # raising counts as false
        return False


def _recall(mark: Any, value: Any) -> Tuple[Any, Any, Optional[str]]:
    old, text = fingerprints.find_old(mark, value)
    return old, value, text


def _read_place(place: Place) -> Any:
    try:
        return place.read()
    except LookupError:
        return MISSING


def _line_of_write(frame: Any, offset: int) -> Optional[int]:
    return code_stores.find_line(frame.f_code, offset)


def _has_changeable_parts(held: Any) -> bool:
    """Whether something in a dict can change without the dict being written.

    A subclass may keep more beside it: an `OrderedDict` its order, others their attributes.
    """
    if type(held) is not dict:
        return True
    values = introspection.slice_items(held, 0, 1000)
    return len(values) == 1000 or any(type(value) not in ATOMIC for _key, value in values)


# -- how each kind of place is watched ------------------------------------------------------------


def find_scanner() -> Any:
    return code_watch.get_watch() if _MONITORS else trace_watch.get_watch()


def _require_scanner() -> Any:
    scanner = find_scanner()
    if scanner is None:
        raise CannotWatch(_NO_TOOL)
    return scanner


def _follow_frame(watch: Watch, frame: Any) -> None:
    watch.add_restore(_require_scanner().follow_end(frame, watch.end_with_frame))


def _begin_local(watch: Watch, place: LocalPlace) -> None:
    frame = place.frame
    scanner = _require_scanner()
    watch.note_position(frame)
    _follow_frame(watch, frame)
    if watch.last is not MISSING and fingerprints.take(watch.last) is not None:
        watch.message = _LATE % frame.f_code.co_name
    if not _MONITORS:
        watch.scan(frame)
        return
    codes = [frame.f_code]
    if place.text in frame.f_code.co_cellvars:
        codes += _find_sharing(frame.f_code, place.text)
    for code in codes:
        watch.add_restore(scanner.watch_stores(code, place.text, watch.note_store))


def _find_sharing(code: Any, name: str) -> List[Any]:
    return [inner for inner in code_stores.iter_nested(code) if name in inner.co_freevars]


def _begin_cell(watch: Watch, place: CellPlace) -> None:
    scanner = _require_scanner()
    if not _MONITORS:
        watch.scan(place.frame)
        watch.message = _COMPARED % place.code.co_name
        return
    for code in _find_codes_with(place):
        watch.add_restore(scanner.watch_stores(code, place.text, watch.note_store))


def _find_codes_with(place: CellPlace) -> List[Any]:
    """The code of every function that may store a shared variable."""
    import gc

    codes = {place.code}
    for closure in gc.get_referrers(place.cell):
        if type(closure) is not tuple:
            continue
        for function in gc.get_referrers(closure):
            if type(function) is types.FunctionType and function.__closure__ is closure:
                codes.add(function.__code__)
    for frame in sys._current_frames().values():
        above: Any = frame
        while above is not None:  # the function that made it may still run
            if place.text in above.f_code.co_cellvars:
                codes.update([above.f_code, *_find_sharing(above.f_code, place.text)])
            above = above.f_back
    for code in list(codes):
        codes.update(_find_sharing(code, place.text))
    return [code for code in codes if place.text in code.co_freevars + code.co_cellvars]


def _begin_expression(watch: Watch, place: ExpressionPlace) -> None:
    if watch.is_until:
        watch.last = _is_true(watch.last)
        watch.mark = None
    else:
        watch.message = (
            "the expression is evaluated at each line of %s and of the functions it calls, so a "
            "change by others is noticed late" % place.frame.f_code.co_name
        )
    _follow_frame(watch, place.frame)
    watch.scan(place.frame)


def _begin_attribute(watch: Watch, place: AttributePlace) -> None:
    obj = place.find_object()
    refusal = attribute_watch.find_refusal(obj, place.name)
    if refusal is not None:
        raise CannotWatch(refusal)
    _require_scanner()
    watch.add_restore(attribute_watch.watch(obj, place.name, watch))
    watch.keep(place.call_at_end(lambda: watch.end("the object of %s is gone" % place.text)))
    watch.message = "writes through its __dict__ are not seen"
    if fingerprints.take(watch.last) is not None and place.frame is not None:
        name = place.frame.f_code.co_name
        watch.message = "%s; %s" % (_LATE % name, watch.message)


def _begin_dict(watch: Watch, place: DictPlace) -> None:
    held = place.find_dict()
    if _MONITORS:
        _require_scanner()
    watcher = dict_watch.get_watcher() if dict_watch.is_plain_key(place.key) else None
    if watcher is None:
        _begin_item(watch, place)
        return

    def end() -> None:
        place.forget_dict()
        watch.end("the dict of %s is gone" % place.text)

    watch.add_restore(watcher.watch(held, place.key, watch, end))
    place.hold_weakly()
    if fingerprints.take(watch.last) is not None and not issubclass(type(watch.last), dict):
        watch.message = _LATE % (_function_of(place.frame) or "the function that writes it")


def _function_of(frame: Any) -> Optional[str]:
    return None if frame is None else frame.f_code.co_name


def _begin_global(watch: Watch, place: GlobalPlace) -> None:
    if _MONITORS:
        _begin_dict(watch, place)
        return
    module = place.find_module()
    watch.add_restore(trace_watch.get_watch().watch_global(watch, place.find_dict(), place.text))
    watch._is_scanned = True
    if type(module) is types.ModuleType:
        _watch_module(watch, module, place.text)
    if place.frame is not None:
        watch.scan(place.frame)
    watch.message = "writes through globals() or by exec are noticed late, or not at all"


def _watch_module(watch: Watch, module: Any, name: str) -> None:
    try:
        watch.add_restore(attribute_watch.watch(module, name, watch))
    except (CannotWatch, TypeError):  # then only the module's own functions are seen to write it
        pass


def _begin_item(watch: Watch, place: Place) -> None:
    if place.frame is None:
        raise CannotWatch("there is no frame in which changes of %s are looked for" % place.text)
    watch.message = _COMPARED % place.frame.f_code.co_name
    watch.scan(place.frame)


_BEGINNERS: Dict[type, Callable[[Watch, Any], None]] = {
    LocalPlace: _begin_local,
    CellPlace: _begin_cell,
    ExpressionPlace: _begin_expression,
    AttributePlace: _begin_attribute,
    DictPlace: _begin_dict,
    GlobalPlace: _begin_global,
    ItemPlace: _begin_item,
}


# -- the table ------------------------------------------------------------------------------------


class WatchTable:
    """Every data breakpoint, by its id."""

    def __init__(self) -> None:
        self.watches: Dict[int, Watch] = {}
        self._pending: Dict[int, Dict[str, Any]] = {}  # those whose module is not there yet
        self._unwatch_modules: Optional[Callable[[], None]] = None
        self._lock = threading.RLock()

    def is_empty(self) -> bool:
        return not (self.watches or self._pending)

    def replace(self, specs: List[Dict[str, Any]]) -> Dict[str, Any]:
        """Set these and no others; what came of each, by its id."""
        with self._lock:
            before = self.watches
            rules = TABLE.replace(list(before) + list(self._pending), specs, "<data>")
            kept = {
                spec["id"]: before[spec["id"]]
                for spec in specs
                if spec["id"] in before and before[spec["id"]].is_like(spec)
            }
            for number, watch in before.items():
                if number not in kept:
                    watch.restore()
            self.watches, self._pending = {}, {}
            results = {}
            for spec, rule in zip(specs, rules):
                results[str(spec["id"])] = self._set(spec, rule, kept.get(spec["id"]))
            self._await_modules()
            scanner = code_watch.current_watch()
            if self.is_empty() and scanner is not None:
                scanner.forget_code()
            return results

    def _set(self, spec: Dict[str, Any], rule: Any, known: Optional[Watch]) -> Dict[str, Any]:
        try:
            if known is None:
                known = Watch(spec, rule, PLACES.find(spec["data_id"]))
                known.begin()
            else:
                known.use_rule(rule)
        except PlaceGone as error:
            message = str(error)
            if _is_global(spec["data_id"]):
                self._pending[spec["id"]] = spec
                message = _PENDING % message
            return {"verified": False, "message": message}
        except (CannotWatch, AttributeError, TypeError, RuntimeError) as error:
            return {"verified": False, "message": str(error)}
        self.watches[spec["id"]] = known
        result: Dict[str, Any] = {"verified": not known.is_ended, "message": known.message}
        if known.is_until:
            result["holds"] = known.last is True
        return result

    # -- modules that are not imported yet ------------------------------------------------------

    def _await_modules(self) -> None:
        watcher = None
        if self._pending and find_scanner() is not None:
            watcher = dict_watch.get_watcher()
        if self._unwatch_modules is not None:
            self._unwatch_modules()
            self._unwatch_modules = None
        if self._pending and watcher is not None:
            self._unwatch_modules = watcher.watch(
                sys.modules, dict_watch.ANY_KEY, self, _do_nothing
            )

    def settle_write(self, _frame: Any, _offset: int) -> None:
        """`sys.modules` has got a module."""
        self.begin_pending()

    def collect_write(self, _frame: Any, _line: Optional[int]) -> List[Hit]:
        self.begin_pending()
        return []

    def begin_pending(self) -> None:
        """Begin what waits for a module that is there now."""
        for number, spec in list(self._pending.items()):
            with self._lock:
                rule = TABLE.rules.get(number)
                if rule is None:
                    continue
                result = self._set(spec, rule, None)
                if number in self.watches:
                    self._pending.pop(number, None)
                    message = result["message"]
                    server_messages.report("data_verified", id=number, message=message)

    # -- at a stop that has another reason ------------------------------------------------------

    def collect(self, frame: Any) -> None:
        """Tell of what was written just before this thread stopped in this frame."""
        if self._pending:
            self.begin_pending()
        if not self.watches or data_stops.take_report() is not None:
            return
        scanner: Any = code_watch.current_watch() if _MONITORS else trace_watch.current_watch()
        if scanner is None or not data_stops.may_stop(frame):
            return
        hits: List[Hit] = []
        line: Optional[int] = scanner.last_line(frame)
        if _MONITORS:
            for noter, offset in scanner.take_writes(frame):
                line = _line_of_write(frame, offset)
                hits += noter.collect_write(frame, line)
            pending = scanner.take_stop(frame)
            if pending is not None:
                hits, line = hits + pending.hits, pending.line
            for watch in list(self.watches.values()):
                store = watch.find_last_store(frame)
                if store is not None:
                    line = _line_of_write(frame, store)
                    hits += watch.collect_store(frame, line)
        else:
            for stop in scanner.take_stops(frame):
                hits, line = hits + stop.hits, stop.line
        hits += scanner.find_hits(frame, line)
        if hits:
            data_stops.note(hits, frame, line)

    # -- the end --------------------------------------------------------------------------------

    def clear(self) -> None:
        self.replace([])
        PLACES.clear()

    def reset(self) -> None:
        """For a new debugger, perhaps in a forked child: nothing is left of the last one."""
        self._lock = threading.RLock()
        attribute_watch.reset_lock()
        data_stops.reset()
        self.clear()
        close()


def _is_global(data_id: Any) -> bool:
    return isinstance(data_id, str) and data_id.startswith("global:")


def close() -> None:
    """End every way of watching."""
    dict_watch.close_watcher()
    code_watch.close_watch()
    trace_watch.close_watch()


WATCHES = WatchTable()
