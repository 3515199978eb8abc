"""Places that hold a value: a local of one frame, a cell, a global, an attribute of one object, an
item of one container, or what an expression gives in one frame.

A data id names a place, and not a name: a variable of the same name elsewhere is another place.
`PLACES` has the places that were asked for, and keeps nothing alive in a program that runs: when
the thread runs on, a place that nothing watches holds its object weakly, or not at all.
"""

from __future__ import annotations

import itertools
import sys
import threading
import weakref
from typing import Any, Callable, Dict, Optional

from . import attribute_watch, code_stores
from .breakpoint_rules import Expression
from .dict_watch import object_at
from .fingerprints import MISSING

_MAX_PLACES = 1000
_GLOBAL = "global:"


class PlaceGone(Exception):
    """The place does not exist any more, or not yet; the message says why."""


class Place:
    """Somewhere a value is. `text` is what the user calls it, `frame` where it was asked for."""

    can_persist = False
    is_bound_to_frame = False

    def __init__(self, text: str, frame: Any) -> None:
        self.text = text
        self.frame = frame
        self.watchers = 0

    def read(self) -> Any:
        """The value that is there now, or MISSING. Runs no code of the program's."""
        raise NotImplementedError

    def enter(self) -> None:
        """Somebody watches it from now on."""
        self.watchers += 1

    def leave(self) -> None:
        self.watchers -= 1

    def release(self) -> None:
        """The thread runs on, and nothing watches this place: keep nothing alive."""
        self.frame = None

    def check(self) -> None:
        """Raises PlaceGone if there is nothing left to watch."""


class FramePlace(Place):
    """A place that ends with its frame."""

    is_bound_to_frame = True

    def check(self) -> None:
        if self.frame is None:
            raise PlaceGone(
                "the frame that %s was in has ended or run on since the id was given; "
                "ask for a new id" % self.text
            )


class LocalPlace(FramePlace):
    """A local variable of one frame."""

    def __init__(self, text: str, frame: Any) -> None:
        super().__init__(text, frame)
        self.shadows = code_stores.find_shadows(frame.f_code, text)

    def read(self) -> Any:
        frame = self.frame
        if frame is None:
            return MISSING
        if self.shadows and code_stores.is_inside(self.shadows, frame.f_lasti):
            raise LookupError  # a comprehension has the name for itself just now
        return frame.f_locals.get(self.text, MISSING)


class ExpressionPlace(FramePlace):
    """What an expression gives in one frame. Reading it may run the program's code."""

    def __init__(self, text: str, frame: Any) -> None:
        super().__init__(text, frame)
        self.expression = Expression(text)
        self.shadows = code_stores.find_shadows(frame.f_code)

    def read(self) -> Any:
        frame = self.frame
        if frame is None:
            return MISSING
        if self.shadows and code_stores.is_inside(self.shadows, frame.f_lasti):
            raise LookupError
        try:
            return self.expression.evaluate(frame)
        except (Exception, SystemExit):  # it has no value now
            return MISSING


class CellPlace(Place):
    """A variable that functions share; it lives on when the frame that made it has ended."""

    def __init__(self, text: str, frame: Any, cell: Any) -> None:
        super().__init__(text, frame)
        self.cell = cell
        self.code = frame.f_code

    def read(self) -> Any:
        try:
            return self.cell.cell_contents
        except (ValueError, AttributeError):  # it is empty, or was released
            return MISSING

    def release(self) -> None:
        self.frame = self.cell = None

    def check(self) -> None:
        if self.cell is None:
            raise PlaceGone("the program has run on since the id was given; ask for a new id")


class DictPlace(Place):
    """An entry of one dict."""

    def __init__(self, text: str, frame: Any, held: Any, key: Any) -> None:
        super().__init__(text, frame)
        self.key = key
        self._held = _refer(held)

    def find_dict(self) -> Any:
        return self._held()

    def read(self) -> Any:
        held = self.find_dict()
        return MISSING if held is None else dict.get(held, self.key, MISSING)

    def hold_weakly(self) -> None:
        """Whoever watches the dict is told when it is gone; until then its number stands for it."""
        number = id(self._held())
        self._held = lambda: object_at(number)

    def forget_dict(self) -> None:
        """It is being freed, so it must not be touched any more."""
        self._held = lambda: None

    def leave(self) -> None:
        super().leave()
        if not self.watchers:
            self._held = _refer(self._held())

    def release(self) -> None:
        super().release()
        if not isinstance(self._held, weakref.ref):
            self._held = lambda: None

    def check(self) -> None:
        if self.find_dict() is None:
            raise PlaceGone(
                "the dict of %s is gone, or the program has run on since the id was given; "
                "ask for a new id" % self.text
            )


class GlobalPlace(DictPlace):
    """A global variable of one module, which exists before the module does."""

    can_persist = True

    def __init__(self, frame: Any, module: str, name: str) -> None:
        Place.__init__(self, name, frame)
        self.module, self.key = module, name

    def find_dict(self) -> Any:
        module = sys.modules.get(self.module)
        return None if module is None else vars(module)

    def find_module(self) -> Any:
        return sys.modules.get(self.module)

    def hold_weakly(self) -> None:
        pass  # a module is found by its name

    def forget_dict(self) -> None:
        pass

    def leave(self) -> None:
        Place.leave(self)

    def release(self) -> None:
        self.frame = None

    def check(self) -> None:
        if self.find_dict() is None:
            raise PlaceGone("the module %s is not imported yet" % self.module)


class AttributePlace(Place):
    """An attribute of one object."""

    def __init__(self, text: str, frame: Any, obj: Any, name: str) -> None:
        super().__init__(text, frame)
        self.name = name
        self._object = _refer(obj)

    def find_object(self) -> Any:
        return self._object()

    def read(self) -> Any:
        obj = self._object()
        return MISSING if obj is None else attribute_watch.read_own(obj, self.name)

    def release(self) -> None:
        super().release()
        if not isinstance(self._object, weakref.ref):
            self._object = lambda: None

    def check(self) -> None:
        if self._object() is None:
            raise PlaceGone(
                "the object of %s is gone, or the program has run on since the id was given; "
                "ask for a new id" % self.text
            )

    def call_at_end(self, end: Callable[[], None]) -> Any:
        """Call it when the object is gone, as long as the caller keeps what this returns."""
        is_weak = isinstance(self._object, weakref.ref)
        return weakref.ref(self._object(), lambda _reference: end()) if is_weak else None


class ItemPlace(Place):
    """An item of a list, or of anything else that shows items."""

    def __init__(self, text: str, frame: Any, holder: Any, find: Callable[[Any], Any]) -> None:
        super().__init__(text, frame)
        self._holder = _refer(holder)
        self._find = find

    def read(self) -> Any:
        holder = self._holder()
        if holder is None:
            return MISSING
        try:
            return self._find(holder)
        except Exception:  # there is no such item now, whatever the container says about it
            return MISSING

    def release(self) -> None:
        super().release()
        if not isinstance(self._holder, weakref.ref):
            self._holder = lambda: None

    def count_references(self) -> int:
        holder = self._holder()
        return sys.getrefcount(holder)

    def is_unused(self) -> bool:
        """Whether only this place still has the container: nobody can write to it any more."""
        is_held = not isinstance(self._holder, weakref.ref)
        return is_held and self.count_references() <= _OWN_REFERENCES

    def check(self) -> None:
        if self._holder() is None:
            raise PlaceGone(
                "the container of %s is gone, or the program has run on since the id was given; "
                "ask for a new id" % self.text
            )


def _refer(held: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(held)
    except TypeError:  # such as a plain list
        return lambda: held


_OWN_REFERENCES = ItemPlace("", None, [], lambda _holder: None).count_references()


# -- ids ------------------------------------------------------------------------------------------


class Places:
    """The places by their ids."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._places: Dict[str, Place] = {}
        self._numbers = itertools.count(1)

    def reset_lock(self) -> None:
        """In a forked child, where a thread that does not exist may hold it."""
        self._lock = threading.Lock()

    def add(self, place: Place) -> str:
        if isinstance(place, GlobalPlace):
            data_id = "%s%s:%s" % (_GLOBAL, place.module, place.text)
        else:
            data_id = str(next(self._numbers))
        with self._lock:
            self._places[data_id] = place
            self._drop_oldest()
        return data_id

    def _drop_oldest(self) -> None:
        unused = [key for key, place in self._places.items() if not place.watchers]
        for key in unused[: max(0, len(self._places) - _MAX_PLACES)]:
            del self._places[key]

    def find(self, data_id: Any) -> Place:
        with self._lock:
            place = self._places.get(data_id) if isinstance(data_id, str) else None
        if place is None:
            place = _parse_global(data_id)
        if place is None:
            raise PlaceGone("there is no data id %.100r" % (data_id,))
        place.check()
        return place

    def release(self) -> None:
        """A thread runs on."""
        with self._lock:
            places = list(self._places.values())
        for place in places:
            if not place.watchers:
                place.release()
            elif not place.is_bound_to_frame:
                place.frame = None  # which would keep everything in it alive

    def clear(self) -> None:
        with self._lock:
            self._places.clear()


def _parse_global(data_id: Any) -> Optional[Place]:
    if not isinstance(data_id, str) or not data_id.startswith(_GLOBAL):
        return None
    module, _colon, name = data_id[len(_GLOBAL) :].rpartition(":")
    return GlobalPlace(None, module, name) if module and name.isidentifier() else None


PLACES = Places()
