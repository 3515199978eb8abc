"""Inspects objects without running any of their code.

`isinstance`, `obj.__dict__`, `cls.__name__` and `==` may all be overridden by the program or its
metaclasses. These functions read the real type and the raw descriptors instead.
"""

from __future__ import annotations

import array
import collections
import itertools
import sys
import types

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Callable, Dict, Iterable, List, Optional, Tuple

mro_of: Callable[[type], Tuple[type, ...]] = type.__dict__["__mro__"].__get__
_dict_of: Callable[[type], Dict[str, Any]] = type.__dict__["__dict__"].__get__
_qualname_of: Callable[[type], str] = type.__dict__["__qualname__"].__get__

HEAP_TYPE = 1 << 9  # a class made by a class statement, or by C code that imitates one
_MAX_SORTED = 100  # entries of a `__dict__`, to show a few public ones first
_RAW_DESCRIPTORS = (types.GetSetDescriptorType, types.MemberDescriptorType)

_DICTS: Tuple[Any, ...] = ({}, collections.OrderedDict())
VIEWS: Tuple[Any, ...] = tuple(
    type(view) for plain in _DICTS for view in (plain.keys(), plain.values(), plain.items())
)
SLICEABLE: Tuple[Any, ...] = (
    list,
    tuple,
    array.array,
)  # a slice of these takes time by its own length
ITERABLE: Tuple[Any, ...] = (set, frozenset, collections.deque) + VIEWS  # read from the start
_SIZED = (str, bytes, bytearray, dict) + SLICEABLE + ITERABLE


def escape_surrogates(text: str) -> str:
    """The same text, with lone surrogates escaped so that it encodes as UTF-8."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "backslashreplace").decode("utf-8")
    return text


def type_name(cls: type) -> str:
    return escape_surrogates(_qualname_of(cls).rpartition("<locals>.")[2])


def find_in_mro(cls: type, name: str) -> Tuple[Optional[type], Any]:
    """The class in the MRO that defines `name`, and the raw attribute there."""
    for base in mro_of(cls):
        members = _dict_of(base)
        if name in members:
            return base, members[name]
    return None, None


def own_attribute(cls: type, name: str) -> Any:
    return _dict_of(cls).get(name)


def loaded_class(module: str, name: str) -> Optional[type]:
    """A class of a module that the program itself has imported (perhaps only in part)."""
    imported = sys.modules.get(module)
    if type(imported) is not types.ModuleType:
        return None
    cls = imported.__dict__.get(name)
    return cls if issubclass(type(cls), type) else None


def is_instance_of(value: Any, module: str, name: str) -> bool:
    cls = loaded_class(module, name)
    return cls is not None and issubclass(type(value), cls)


def defining_module(function: Any) -> str:
    """The name of the module where a Python function was written."""
    if type(function) is not types.FunctionType:
        return ""
    name = function.__globals__.get("__name__")
    return name if type(name) is str else ""


def length(value: Any) -> Optional[int]:
    """The length of a builtin container, string or subclass; never the program's `__len__`."""
    cls = type(value)
    if cls is range:
        return range_length(value)
    for base in _SIZED:
        if issubclass(cls, base):
            size: int = base.__len__(value)
            return size
    return None


def range_length(value: range) -> int:
    """len() overflows on ranges longer than sys.maxsize."""
    return (value[-1] - value.start) // value.step + 1 if value else 0


def copy_slice(items: Callable[[], Iterable[Any]], start: int, stop: int) -> List[Any]:
    """A slice of something that can only be iterated, while other threads may be changing it."""
    for _ in range(3):
        try:
            return list(itertools.islice(items(), start, stop))
        except RuntimeError:
            continue
    return []


def slice_sequence(value: Any, start: int, stop: int) -> List[Any]:
    """A slice of a builtin sequence, set or view, past any override of the program's."""
    cls = type(value)
    if cls is range:
        return list(value[start:stop])
    for base in SLICEABLE:
        if issubclass(cls, base):
            return list(base.__getitem__(value, slice(start, stop)))
    for base in ITERABLE:
        if issubclass(cls, base):
            iterate = base.__iter__
            return copy_slice(lambda: iterate(value), start, stop)
    raise TypeError("%s is not a sequence" % type_name(cls))


def slice_items(value: Any, start: int, stop: int) -> List[Tuple[Any, Any]]:
    """A slice of a dict's items, in the dict's own order."""
    base = collections.OrderedDict if issubclass(type(value), collections.OrderedDict) else dict
    return copy_slice(lambda: base.items(value), start, stop)


def instance_dict(value: Any) -> Optional[Dict[Any, Any]]:
    for base in mro_of(type(value)):
        descriptor = own_attribute(base, "__dict__")
        # `in` would compare with ==, which a metaclass may answer.
        if any(type(descriptor) is raw for raw in _RAW_DESCRIPTORS):
            try:
                own_dict = descriptor.__get__(value)
            except Exception:
                return None
            return own_dict if issubclass(type(own_dict), dict) else None
    return None


def read_slot(value: Any, name: str) -> Tuple[bool, Any]:
    """Whether the slot is set, and its value."""
    descriptor = find_in_mro(type(value), name)[1]
    if type(descriptor) is types.MemberDescriptorType:
        try:
            return True, descriptor.__get__(value)
        except AttributeError:
            pass
    return False, None


def _slot_names(cls: type) -> List[str]:
    """The names in every `__slots__`, the base classes' first."""
    return [
        name
        for base in reversed(mro_of(cls))
        if "__slots__" in _dict_of(base)
        for name, member in list(_dict_of(base).items())
        if type(member) is types.MemberDescriptorType
    ]


def attributes(value: Any) -> List[Tuple[Any, Any]]:
    """The instance's own attributes, public names first. Properties are not evaluated."""
    return _list_attributes(value, sys.maxsize)


def first_attributes(value: Any, count: int) -> List[Tuple[Any, Any]]:
    """The first of them, without listing a large `__dict__`."""
    return _list_attributes(value, max(count, _MAX_SORTED))[:count]


def _list_attributes(value: Any, max_entries: int) -> List[Tuple[Any, Any]]:
    pairs: List[Tuple[Any, Any]] = []
    if issubclass(type(value), BaseException):
        pairs.append(("args", exception_args(value)))
    for name in _slot_names(type(value)):
        is_set, attribute = read_slot(value, name)
        if is_set:
            pairs.append((name, attribute))
    own_dict = instance_dict(value)
    if own_dict is not None:
        pairs.extend(slice_items(own_dict, 0, max_entries))
    return sorted(pairs, key=lambda pair: type(pair[0]) is str and pair[0].startswith("_"))


def attribute_count(value: Any) -> int:
    """How many `attributes` there are, without listing a large `__dict__`."""
    own_dict = instance_dict(value)
    slots = sum(read_slot(value, name)[0] for name in _slot_names(type(value)))
    return (
        issubclass(type(value), BaseException)
        + slots
        + (dict.__len__(own_dict) if own_dict is not None else 0)
    )


def read_attribute(value: Any, name: str) -> Tuple[bool, Any]:
    """Whether the instance itself has the attribute, and its value."""
    own_dict = instance_dict(value)
    if own_dict is not None and dict.__contains__(own_dict, name):
        return True, dict.__getitem__(own_dict, name)
    return read_slot(value, name)


def exception_args(value: BaseException) -> Tuple[Any, ...]:
    args: Tuple[Any, ...] = BaseException.__dict__["args"].__get__(value)
    return args


def exception_line(value: BaseException, code: Any) -> int:
    """The line of a function at which an exception left it; 0 if it does not say."""
    traceback = BaseException.__dict__["__traceback__"].__get__(value)
    if traceback is None:
        return 0
    found = traceback.tb_frame.f_code
    is_there = (found.co_filename, found.co_name) == (code.co_filename, code.co_name)
    line: int = traceback.tb_lineno if is_there else 0
    return line


def is_enum(cls: type) -> bool:
    enum = loaded_class("enum", "Enum")
    return enum is not None and issubclass(cls, enum)


def field_names(value: Any) -> Tuple[str, ...]:
    """The field names of a namedtuple, else nothing."""
    names = find_in_mro(type(value), "_fields")[1] if issubclass(type(value), tuple) else None
    if type(names) is tuple and all(type(name) is str for name in names):
        return names if len(names) == tuple.__len__(value) else ()
    return ()
