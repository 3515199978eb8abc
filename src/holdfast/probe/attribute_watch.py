"""Notices writes to one attribute of one object.

The object gets a subclass of its class that overrides `__setattr__` and `__delattr__`, so that no
other object pays anything. It still says that it is of its own class, and is copied and pickled as
such. That subclass is equal to its base, as a key too, and makes objects of the base; only
`type(x) is C` tells the difference. Where that cannot be done or would miss writes (a
frozen dataclass writes past `__setattr__`), a data descriptor on the class does it: then every
object of the class pays for that attribute.
"""

from __future__ import annotations

import sys
import threading
import types
import weakref
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import introspection
from .fingerprints import MISSING

_getframe = sys._getframe
_read = object.__getattribute__
_CLASS: Any = object.__dict__["__class__"]
_HEAP_TYPE = 1 << 9  # Py_TPFLAGS_HEAPTYPE
_IMMUTABLE_TYPE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE, from 3.10 on

# Has `is_quiet(old, new)`, which rules out most writes, and for others
# `note_write(old, new, frame)`, called after the write.
Noter = Any
TRANSPARENT: List[Any] = []  # the code of functions that stand between the program and its writes


class CannotWatch(Exception):
    """This attribute's writes cannot be noticed; the message says why."""


def watch(obj: Any, name: str, noter: Noter) -> Callable[[], None]:
    """Tell the noter after each write to the attribute; returns what ends that."""
    with _LOCK:
        if _prefers_descriptor(type(obj)):
            return _watch_on_class(obj, name, noter)
        try:
            return _watch_object(obj, name, noter)
        except (TypeError, AttributeError):  # Python refuses the other class, or the class refuses
            return _watch_on_class(obj, name, noter)


def find_refusal(obj: Any, name: str) -> Optional[str]:
    """Why the attribute cannot be watched, or None."""
    cls = _class_of(obj)
    flags = cls.__flags__
    if not flags & _HEAP_TYPE or flags & _IMMUTABLE_TYPE:
        what = introspection.type_name(cls)
        return "%s is implemented in C, so that writes to its attributes cannot be noticed" % what
    return None


_LOCK = threading.RLock()


def reset_lock() -> None:
    """In a forked child, where no thread is left that could release it."""
    global _LOCK
    _LOCK = threading.RLock()


def _class_of(obj: Any) -> type:
    """The object's own class, also while it is watched."""
    cls: type = type(obj)
    swap = _SWAPS.get(id(obj))
    return swap.original if swap is not None and swap.is_on(obj) else cls


def _prefers_descriptor(cls: type) -> bool:
    parameters = getattr(cls, "__dataclass_params__", None)
    if getattr(parameters, "frozen", False) is True:
        return True
    if type(cls) is not type and not _is_swap(cls):
        return True  # a metaclass may do anything when a class is made
    return introspection.find_in_mro(cls, "__init_subclass__")[0] is not object


def _is_swap(cls: type) -> bool:
    return "_holdfast_swap" in cls.__dict__


# -- one object gets another class ----------------------------------------------------------------

_SWAPS: Dict[int, Swap] = {}  # by the id of an object that is watched


class Swap:
    """The other class of one object, for all of its watched attributes."""

    def __init__(self, obj: Any) -> None:
        self.number = id(obj)
        self.noters: Dict[str, Tuple[Noter, ...]] = {}
        self._object = _refer(obj, self._forget)
        self.original: type = type(obj)
        self.watched = _make_class(self)
        _CLASS.__set__(obj, self.watched)
        _SWAPS[self.number] = self

    def is_on(self, obj: Any) -> bool:
        return self._object() is obj and type(obj) is self.watched

    def add(self, name: str, noter: Noter) -> None:
        self.noters[name] = (*self.noters.get(name, ()), noter)

    def remove(self, name: str, noter: Noter) -> None:
        left = tuple(other for other in self.noters.get(name, ()) if other is not noter)
        if left:
            self.noters[name] = left
        else:
            self.noters.pop(name, None)
        if not self.noters:
            self._restore()

    def change_class(self, obj: Any, cls: type) -> None:
        """The program gives the object another class: that one is watched from now on."""
        _CLASS.__set__(obj, cls)
        if id(obj) != self.number or not self.noters:
            return
        self.original = cls
        self.watched = _make_class(self)
        try:
            _CLASS.__set__(obj, self.watched)
        except TypeError:  # this one cannot be watched, and the program's wish comes first
            pass

    def _restore(self) -> None:
        obj = self._object()
        if _SWAPS.get(self.number) is self:
            del _SWAPS[self.number]
        if obj is not None and type(obj) is self.watched:
            _CLASS.__set__(obj, self.original)

    def _forget(self, _reference: Any) -> None:
        if _SWAPS.get(self.number) is self:
            del _SWAPS[self.number]


def _refer(obj: Any, callback: Any) -> Callable[[], Any]:
    try:
        return weakref.ref(obj, callback)
    except TypeError:  # such as one with `__slots__`: it stays alive while it is watched
        return lambda: obj


def _watch_object(obj: Any, name: str, noter: Noter) -> Callable[[], None]:
    swap = _SWAPS.get(id(obj))
    if swap is None or not swap.is_on(obj):
        swap = Swap(obj)
    swap.add(name, noter)

    def restore() -> None:
        with _LOCK:
            swap.remove(name, noter)

    return restore


class WatchedClass(type):
    """The class of those subclasses: for whoever asks for `type(x)`, they stand for the base."""

    def __call__(cls, *args: Any, **options: Any) -> Any:
        base = _find_base(cls)
        return type.__call__(cls, *args, **options) if base is cls else base(*args, **options)

    def __instancecheck__(cls, instance: Any) -> bool:
        base = _find_base(cls)
        if base is cls:
            return type.__instancecheck__(cls, instance)
        return isinstance(instance, base)

    def __subclasscheck__(cls, subclass: type) -> bool:
        base = _find_base(cls)
        if base is cls:
            return type.__subclasscheck__(cls, subclass)
        return issubclass(subclass, base)

    def __eq__(cls, other: object) -> bool:
        return other is cls or other is _find_base(cls)

    def __hash__(cls) -> int:
        base = _find_base(cls)
        return type.__hash__(cls) if base is cls else hash(base)


def _find_base(cls: type) -> type:
    """The class that another one stands for, which is itself if the program has derived it."""
    swap: Optional[Swap] = cls.__dict__.get("_holdfast_swap")
    return cls if swap is None else swap.original


def _make_class(swap: Swap) -> type:
    cls = swap.original
    body = {
        "__slots__": (),
        "__module__": cls.__module__,
        "__qualname__": cls.__qualname__,
        "__doc__": cls.__doc__,
        "__class__": property(lambda _self: swap.original, swap.change_class),
        "__reduce_ex__": _make_reduce(swap, cls),
        "_holdfast_swap": swap,
    }
    body["__setattr__"], body["__delattr__"] = _make_writers(swap, cls)
    return WatchedClass(cls.__name__, (cls,), body)


def _make_writers(swap: Swap, cls: Any) -> Tuple[Any, Any]:
    write, delete, watched, number = cls.__setattr__, cls.__delattr__, swap.noters, swap.number
    keeps_value = write is object.__setattr__

    def __setattr__(self: Any, key: str, value: Any) -> None:
        noters = watched.get(key)
        if noters is None:
            write(self, key, value)
            return
        try:
            old = _read(self, key)
        except AttributeError:
            old = MISSING
        write(self, key, value)
        if not keeps_value:  # the program's own `__setattr__` may store something else
            value = read_own(self, key)
        for noter in noters:
            # An object made by `type(x).__new__(type(x))` has this class, too.
            if not noter.is_quiet(old, value) and id(self) == number:
                noter.note_write(old, value, _getframe(1))

    def __delattr__(self: Any, key: str) -> None:
        old = read_own(self, key) if key in watched else MISSING
        delete(self, key)
        if id(self) == number:
            for noter in watched.get(key, ()):
                noter.note_write(old, read_own(self, key), _getframe(1))

    return __setattr__, __delattr__


def _make_reduce(swap: Swap, cls: Any) -> Any:
    reduce_ex = cls.__reduce_ex__

    def __reduce_ex__(self: Any, protocol: Any) -> Any:
        """As an object of its own class, for copies and pickles."""
        reduced = reduce_ex(self, protocol)
        if type(reduced) is not tuple or len(reduced) < 2 or type(reduced[1]) is not tuple:
            return reduced
        make = swap.original if reduced[0] is swap.watched else reduced[0]
        arguments = tuple(swap.original if a is swap.watched else a for a in reduced[1])
        return (make, arguments, *reduced[2:])

    return __reduce_ex__


def read_own(obj: Any, name: str) -> Any:
    """The attribute as it is stored: in the object, in a slot, or as the default of its class."""
    try:
        return _read(obj, name)
    except AttributeError:
        return MISSING


# -- a descriptor on the class --------------------------------------------------------------------

_DESCRIPTORS: Dict[Tuple[int, str], WatchedAttribute] = {}  # by the id of a class, and the name


class WatchedAttribute:
    """Stands for an attribute on a class, and reads and writes it as Python would."""

    def __init__(self, cls: type, name: str) -> None:
        self.cls, self.name = cls, name
        self.noters: List[Tuple[Callable[[], Any], Noter]] = []
        home, before = introspection.find_in_mro(cls, name)
        self._slot: Any = before if type(before) is types.MemberDescriptorType else None
        self._default = MISSING if home is None else before
        self.home: type = home if self._slot is not None and home is not None else cls
        self._was_here = home is self.home
        type.__setattr__(self.home, name, self)

    def restore(self) -> None:
        if self._was_here:
            type.__setattr__(self.home, self.name, self._default)
        else:
            type.__delattr__(self.home, self.name)

    def __get__(self, obj: Any, owner: Any = None) -> Any:
        if obj is not None:
            value = self._read(obj)
            if value is not MISSING:
                return value
        default = self._default
        if default is MISSING or (obj is not None and self._slot is not None):
            kind = introspection.type_name(type(obj) if obj is not None else self.cls)
            raise AttributeError("%r object has no attribute %r" % (kind, self.name))
        getter = getattr(type(default), "__get__", None)
        return default if getter is None else getter(default, obj, owner)

    def _read(self, obj: Any) -> Any:
        if self._slot is not None:
            try:
                return self._slot.__get__(obj)
            except AttributeError:
                return MISSING
        own = introspection.instance_dict(obj)
        return MISSING if own is None else own.get(self.name, MISSING)

    def __set__(self, obj: Any, value: Any) -> None:
        old = self._read(obj)
        if self._slot is not None:
            self._slot.__set__(obj, value)
        else:
            _own_dict(obj)[self.name] = value
        self._note(obj, old, value, _getframe(1))

    def __delete__(self, obj: Any) -> None:
        old = self._read(obj)
        if self._slot is not None:
            self._slot.__delete__(obj)
        else:
            try:
                del _own_dict(obj)[self.name]
            except KeyError:
                raise AttributeError(self.name) from None
        self._note(obj, old, self._read(obj), _getframe(1))

    def _note(self, obj: Any, old: Any, new: Any, frame: Any) -> None:
        for reference, noter in list(self.noters):
            if reference() is obj and not noter.is_quiet(old, new):
                noter.note_write(old, new, frame)


def _own_dict(obj: Any) -> Dict[Any, Any]:
    own = introspection.instance_dict(obj)
    if own is None:
        raise AttributeError("%s has no __dict__" % introspection.type_name(type(obj)))
    return own


def _watch_on_class(obj: Any, name: str, noter: Noter) -> Callable[[], None]:
    cls = _class_of(obj)
    key = (id(cls), name)
    descriptor = _DESCRIPTORS.get(key)
    try:
        if descriptor is None:
            descriptor = _DESCRIPTORS[key] = WatchedAttribute(cls, name)
    except (TypeError, AttributeError) as error:
        raise CannotWatch(str(error)) from None
    entry = (_refer(obj, None), noter)
    descriptor.noters.append(entry)
    attribute = descriptor

    def restore() -> None:
        with _LOCK:
            if entry in attribute.noters:
                attribute.noters.remove(entry)
            if not attribute.noters and _DESCRIPTORS.get(key) is attribute:
                del _DESCRIPTORS[key]
                attribute.restore()

    return restore


def _list_transparent() -> None:
    nested = [const for const in _make_writers.__code__.co_consts if hasattr(const, "co_code")]
    TRANSPARENT.extend(nested)
    TRANSPARENT.extend((WatchedAttribute.__set__.__code__, WatchedAttribute.__delete__.__code__))
    TRANSPARENT.append(WatchedAttribute._note.__code__)


_list_transparent()
