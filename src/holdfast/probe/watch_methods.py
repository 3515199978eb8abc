"""How each kind of place is watched: what tells of its writes, and what is said of the rest.

Writes to attributes, dicts and locals are told of. Everything else is compared line by line in the
frame in which it was named, and in the functions that it calls.
"""

from __future__ import annotations

import sys
import types
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Optional

from . import (
    attribute_watch,
    code_stores,
    code_watch,
    dict_watch,
    fingerprints,
    introspection,
    trace_watch,
)
from .attribute_watch import CannotWatch
from .data_places import (
    AttributePlace,
    CellPlace,
    DictPlace,
    ExpressionPlace,
    GlobalPlace,
    ItemPlace,
    LocalPlace,
    Place,
)
from .fingerprints import MISSING

if TYPE_CHECKING:
    from .data_watches import Watch

HAS_MONITORING = sys.version_info >= (3, 12)
_NO_TOOL = "no sys.monitoring tool id is free: other tools have taken them"
_LATE = "a change inside the value is noticed at the next line of %s, or of a function it calls"
_COMPARED = (
    "it is compared at each line of %s and of the functions it calls, so a change by others is "
    "noticed late"
)
_SAME_OBJECT = "a write of the very object that is there already is not seen"


def begin(watch: Watch, place: Place) -> None:
    """Watch a place from now on; raises PlaceGone or CannotWatch."""
    _METHODS[type(place)](watch, place)


def find_scanner() -> Any:
    return code_watch.get_watch() if HAS_MONITORING else trace_watch.get_watch()


def require_scanner() -> Any:
    scanner = find_scanner()
    if scanner is None:
        raise CannotWatch(_NO_TOOL)
    return scanner


def is_true(value: Any) -> bool:
    try:
        return value is not MISSING and bool(value)
    except Exception:  # raising counts as false
        return False


def _follow_frame(watch: Watch, frame: Any) -> None:
    watch.add_restore(require_scanner().follow_end(frame, watch.end_with_frame))


def _begin_local(watch: Watch, place: LocalPlace) -> None:
    frame = place.frame
    scanner = require_scanner()
    watch.note_position(frame)
    _follow_frame(watch, frame)
    if watch.last is not MISSING and fingerprints.take(watch.last) is not None:
        watch.message = _LATE % frame.f_code.co_name
    if not HAS_MONITORING:
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
    scanner = require_scanner()
    if not HAS_MONITORING:
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
        watch.last = is_true(watch.last)
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
    require_scanner()
    watch.add_restore(attribute_watch.watch(obj, place.name, watch))
    watch.keep(place.call_at_end(lambda: watch.end("the object of %s is gone" % place.text)))
    if introspection.instance_dict(obj) is not None:
        watch.message = "writes through its __dict__ are not seen"
    if fingerprints.take(watch.last) is not None and place.frame is not None:
        name = place.frame.f_code.co_name
        watch.message = "; ".join(filter(None, [_LATE % name, watch.message]))


def _begin_dict(watch: Watch, place: DictPlace) -> None:
    held = place.find_dict()
    if HAS_MONITORING:
        require_scanner()
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
    elif watch.access == "write":
        watch.message = _SAME_OBJECT


def _function_of(frame: Any) -> Optional[str]:
    return None if frame is None else frame.f_code.co_name


def _begin_global(watch: Watch, place: GlobalPlace) -> None:
    if HAS_MONITORING:
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


_METHODS: Dict[type, Callable[[Watch, Any], None]] = {
    LocalPlace: _begin_local,
    CellPlace: _begin_cell,
    ExpressionPlace: _begin_expression,
    AttributePlace: _begin_attribute,
    DictPlace: _begin_dict,
    GlobalPlace: _begin_global,
    ItemPlace: _begin_item,
}
