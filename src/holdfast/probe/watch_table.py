"""Every data breakpoint of this process: set as a whole, and told of when a thread stops."""

from __future__ import annotations

import sys
import threading
from typing import Any, Callable, Dict, List, Optional

from . import attribute_watch, code_watch, data_stops, dict_watch, server_messages, trace_watch
from .attribute_watch import CannotWatch
from .breakpoint_table import TABLE
from .data_places import PLACES, PlaceGone
from .data_stops import Hit
from .data_watches import Watch, do_nothing, find_line_of_write
from .watch_methods import HAS_MONITORING, find_scanner

_PENDING = (
    "%s; it is watched as soon as that is imported"
    if HAS_MONITORING
    else "%s; it is watched from the first stop on after that is imported"
)


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
            self._unwatch_modules = watcher.watch(sys.modules, dict_watch.ANY_KEY, self, do_nothing)

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
        scanner: Any = code_watch.current_watch() if HAS_MONITORING else trace_watch.current_watch()
        if scanner is None or not data_stops.may_stop(frame):
            return
        hits: List[Hit] = []
        line: Optional[int] = scanner.last_line(frame)
        if HAS_MONITORING:
            for noter, offset in scanner.take_writes(frame):
                line = find_line_of_write(frame, offset)
                hits += noter.collect_write(frame, line)
            pending = scanner.take_stop(frame)
            if pending is not None:
                hits, line = hits + pending.hits, pending.line
            for watch in list(self.watches.values()):
                store = watch.find_last_store(frame)
                if store is not None:
                    line = find_line_of_write(frame, store)
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
        PLACES.reset_lock()
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
