"""Values as text and as marks, made from what objects hold: none of the program's code runs.

`show` is the text of a value. `take_mark` is something small to compare it with later, and
keeps no object of the program alive. `take_content` is a plain value as bytes, with its content id.

Types are looked up by their `id`: a metaclass may define `__hash__` and `__eq__`.
"""

from __future__ import annotations

import collections
import hashlib
import io
import itertools
import marshal
import pickle
import re
import types
from typing import Any, Callable, Dict, FrozenSet, List, Optional, Tuple

from .. import introspection
from . import trace_errors

ROOM = 60  # characters of a value's text
MAX_CONTENT = 64_000  # bytes of a value that is kept as a whole
MAX_EXACT = 20_000  # items of a container that is compared as a whole
HEAVY = 4096  # bytes of a mark; such a value is not compared after every statement

MARK_DEPTH = 2  # how deep objects that are no plain values are compared

_MAX_DEPTH = 3
_MAX_INT_BITS = 400
_LONG_STRING = 200
_FEW = 50  # items that are compared even at the greatest depth
_SAMPLE = 40  # items of a container that is not compared as a whole
_MANY_PARTS = 400  # of a mark; such a value is not compared after every statement
_MAX_MARKED = 2000  # items that are no plain values
_VERSION = 2  # of the marshal format; later ones depend on reference counts
_CUT = re.compile(r"\.\.\. \d+ more")

_type_name = introspection.type_name
_dumps = marshal.dumps
_flags_of: Callable[[Any], int] = type.__dict__["__flags__"].__get__
_IMMUTABLE_TYPE = 1 << 8


def _ids(*kinds: Any) -> FrozenSet[int]:
    return frozenset(id(kind) for kind in kinds)


NUMBERS = _ids(int, float, bool, type(None))  # JSON has these
ATOMS = NUMBERS | _ids(complex, type(...), type(NotImplemented))
_CODE = (
    types.FunctionType,
    types.BuiltinFunctionType,
    types.MethodType,
    types.CodeType,
    types.ModuleType,
    type,
)
FIXED = ATOMS | _ids(str, bytes, range, slice, *_CODE)  # these do not change in place
_CONTAINERS = (list, dict, set, tuple, frozenset, bytearray)
CONTAINERS = _ids(*_CONTAINERS)


def is_fixed(value: Any) -> bool:
    """Whether what this value holds cannot change in place."""
    return id(type(value)) in FIXED


# -- texts ----------------------------------------------------------------------------------------


def show(value: Any, room: int = ROOM) -> str:
    """The text of a value, in about so many characters."""
    kind = type(value)
    if kind is int and -1_000_000_000_000 < value < 1_000_000_000_000:
        return int.__repr__(value)
    try:
        return _show(value, room, _MAX_DEPTH)
    except Exception as error:  # another thread changes it just now, or it is not initialized yet
        if not trace_errors.is_ours(error):
            raise  # by a signal handler of the program
        return "<%s>" % _type_name(kind)


def is_cut(text: str) -> bool:
    """Whether `show` has left something out."""
    return _CUT.search(text) is not None


def _show(value: Any, room: int, depth: int) -> str:
    kind = type(value)
    shower = _SHOWERS.get(id(kind))
    if shower is not None:
        return shower(value, room, depth)
    return _show_object(value, kind, room, depth)


def _show_plain(value: Any, _room: int, _depth: int) -> str:
    return repr(value)


def _show_int(value: int, _room: int, _depth: int) -> str:
    bits = value.bit_length()
    return int.__repr__(value) if bits <= _MAX_INT_BITS else "<int of %d bits>" % bits


def _show_text(value: Any, room: int, _depth: int) -> str:
    if len(value) <= room:
        return repr(value)
    kept = max(8, room - 12)
    return "%r... %d more" % (value[:kept], len(value) - kept)


def _show_list(value: Any, room: int, depth: int) -> str:
    return "[%s]" % _join(value, len(value), room, depth) if value else "[]"


def _show_tuple(value: Any, room: int, depth: int) -> str:
    text = _join(value, len(value), room, depth)
    return "(%s,)" % text if len(value) == 1 else "(%s)" % text


def _show_set(value: Any, room: int, depth: int) -> str:
    return "{%s}" % _join(value, len(value), room, depth) if value else "set()"


def _show_frozenset(value: Any, room: int, depth: int) -> str:
    return "frozenset({%s})" % _join(value, len(value), room, depth) if value else "frozenset()"


def _show_dict(value: Any, room: int, depth: int) -> str:
    return "{%s}" % _join_pairs(dict.items(value), dict.__len__(value), room, depth)


def _show_function(value: Any, _room: int, _depth: int) -> str:
    return "<function %s>" % str.__str__(value.__name__)


def _show_method(value: Any, _room: int, _depth: int) -> str:
    function = value.__func__
    if type(function) is not types.FunctionType:
        return "<method of %s>" % _type_name(type(function))
    return "<method %s>" % str.__str__(function.__name__)


def _show_class(value: Any, _room: int, _depth: int) -> str:
    return "<class %s>" % _type_name(value)


def _show_module(value: Any, _room: int, _depth: int) -> str:
    name = vars(types.ModuleType)["__dict__"].__get__(value).get("__name__")
    return "<module %s>" % (name if type(name) is str else "?")


def _show_code(value: Any, _room: int, _depth: int) -> str:
    return "<code %s>" % value.co_name


def _show_slice(value: Any, room: int, depth: int) -> str:
    parts = (value.start, value.stop, value.step)
    return "slice(%s)" % ", ".join([_show(part, room // 3, depth - 1) for part in parts])


def _show_bytearray(value: Any, room: int, _depth: int) -> str:
    if len(value) <= room:
        return "bytearray(%r)" % bytes(value)
    kept = max(8, room - 12)
    return "bytearray(%r... %d more)" % (bytes(value[:kept]), len(value) - kept)


_SHOWERS: Dict[int, Callable[[Any, int, int], str]] = {
    id(int): _show_int,
    id(str): _show_text,
    id(bytes): _show_text,
    id(list): _show_list,
    id(tuple): _show_tuple,
    id(set): _show_set,
    id(frozenset): _show_frozenset,
    id(dict): _show_dict,
    id(bytearray): _show_bytearray,
    id(slice): _show_slice,
    id(type): _show_class,
    id(types.ModuleType): _show_module,
    id(types.CodeType): _show_code,
    id(types.FunctionType): _show_function,
    id(types.BuiltinFunctionType): _show_function,
    id(types.MethodType): _show_method,
}
for _kind in (float, bool, type(None), complex, type(...), type(NotImplemented), range):
    _SHOWERS[id(_kind)] = _show_plain


def _join(items: Any, size: int, room: int, depth: int) -> str:
    """The first items, as many as there is room for."""
    if depth <= 0:
        return "... %d more" % size if size else ""
    parts: List[str] = []
    used = 2
    for item in items:
        text = _show(item, room // 2, depth - 1)
        used += len(text) + 2
        if used > room and parts:
            parts.append("... %d more" % (size - len(parts)))
            break
        parts.append(text)
    return ", ".join(parts)


def _join_pairs(pairs: Any, size: int, room: int, depth: int, form: str = "%s: %s") -> str:
    if depth <= 0:
        return "... %d more" % size if size else ""
    parts: List[str] = []
    used = 2
    for key, item in pairs:
        label = key if form is _FIELD and type(key) is str else _show(key, room // 3, depth - 1)
        text = form % (label, _show(item, max(12, room // 3), depth - 1))
        used += len(text) + 2
        if used > room and parts:
            parts.append("... %d more" % (size - len(parts)))
            break
        parts.append(text)
    return ", ".join(parts)


_FIELD = "%s=%s"
_SIZED_BASES: Tuple[Any, ...] = (dict, list, tuple, set, frozenset, collections.deque)
_SCALAR_BASES: Tuple[Any, ...] = (str, bytes, int, float)
# These are written in C, and so is the `repr` of all that they can hold.
_REPR_IN_C = frozenset(("date", "datetime", "time", "timedelta", "timezone", "Decimal"))
_HAVE_ZONE = frozenset(("datetime", "time"))


def _show_object(value: Any, kind: Any, room: int, depth: int) -> str:
    name = _type_name(kind)
    if issubclass(kind, type):
        return "<class %s>" % _type_name(value)
    if issubclass(kind, BaseException):
        args = introspection.exception_args(value)
        return "%s(%s)" % (name, _join(args, len(args), room, max(depth, 1)))
    if introspection.is_enum(kind):
        member = introspection.read_attribute(value, "_name_")[1]
        return "%s.%s" % (name, member) if type(member) is str else "<%s>" % name
    if name in _REPR_IN_C and _has_plain_repr(value, kind, name):
        return repr(value)
    text = _show_derived(value, kind, name, room, depth)
    return text if text is not None else _show_fields(value, kind, name, room, depth)


def _has_plain_repr(value: Any, kind: Any, name: str) -> bool:
    """Whether `repr` runs code in C only: of the class, and of the time zone."""
    if not _is_written_in_c(kind):
        return False
    if name not in _HAVE_ZONE:
        return True
    zone = introspection.own_attribute(kind, "tzinfo").__get__(value)
    return zone is None or _is_written_in_c(type(zone))


def _is_written_in_c(kind: Any) -> bool:
    flags = _flags_of(kind)
    return not flags & introspection.HEAP_TYPE or bool(flags & _IMMUTABLE_TYPE)


def _show_derived(value: Any, kind: Any, name: str, room: int, depth: int) -> Optional[str]:
    """The text of an instance of a class that extends a builtin one."""
    fields = introspection.field_names(value)
    if fields:
        pairs = list(zip(fields, tuple.__iter__(value)))
        return "%s(%s)" % (name, _join_pairs(pairs, len(pairs), room, depth, _FIELD))
    for base in _SIZED_BASES:
        if issubclass(kind, base):
            size = base.__len__(value)
            if base is dict:
                items = introspection.slice_items(value, 0, 50)
                return "%s({%s})" % (name, _join_pairs(items, size, room, depth))
            parts = introspection.slice_sequence(value, 0, 50)
            return "%s([%s])" % (name, _join(parts, size, room, depth))
    for base in _SCALAR_BASES:
        if issubclass(kind, base):
            plain = base.__getnewargs__(value)[0]
            return "%s(%s)" % (name, _show(plain, room, depth))
    return None


def _show_fields(value: Any, kind: Any, name: str, room: int, depth: int) -> str:
    path = _find_path_text(value, kind)
    if path is not None:
        return "%s(%s)" % (name, _show_text(path, room, depth))
    shape = _find_shape(value, kind)
    if shape is not None:
        return "<%s of shape %s>" % (name, shape)
    if depth <= 1:  # marks go no deeper, and a text must not change without a change
        return "<%s>" % name
    fields = list_fields(value)
    if not fields:
        return "<%s>" % name if fields is None else "%s()" % name
    return "%s(%s)" % (name, _join_pairs(fields, len(fields), room, depth, _FIELD))


def _find_path_text(value: Any, kind: Any) -> Optional[str]:
    """What a path of `pathlib` was made of; its text is made only when it is asked for."""
    base = introspection.loaded_class("pathlib", "PurePath")
    if base is None or not issubclass(kind, base):
        return None
    text = introspection.read_slot(value, "_str")[1]
    if type(text) is str:
        return text
    parts = introspection.read_slot(value, "_raw_paths")[1]
    if type(parts) is not list:
        parts = introspection.read_slot(value, "_parts")[1]
    if type(parts) is not list or not all(type(part) is str for part in parts):
        return None
    return "/".join(parts).replace("//", "/") or "."


def _find_shape(value: Any, kind: Any) -> Optional[str]:
    """The shape of an array or a tensor, if it is read by code in C."""
    getter = introspection.find_in_mro(kind, "shape")[1]
    if type(getter) is not types.GetSetDescriptorType:
        return None
    shape = getter.__get__(value)
    return repr(shape) if type(shape) is tuple and all(type(n) is int for n in shape) else None


# -- what an instance holds -----------------------------------------------------------------------


class _Layout:
    """Where the instances of a class keep their attributes."""

    __slots__ = ("dict_getter", "kind", "slots")

    def __init__(self, kind: Any) -> None:
        self.kind = kind  # kept, so that its id is not another's one day
        self.slots: List[Tuple[str, Any]] = []
        self.dict_getter: Any = None
        for base in reversed(introspection.mro_of(kind)):
            members = type.__dict__["__dict__"].__get__(base)
            if "__slots__" in members:
                for name, member in list(members.items()):
                    if type(member) is types.MemberDescriptorType:
                        self.slots.append((name, member.__get__))
            getter = members.get("__dict__")
            if type(getter) is types.GetSetDescriptorType:
                self.dict_getter = getter.__get__

    @property
    def is_empty(self) -> bool:
        return not self.slots and self.dict_getter is None


_LAYOUTS: Dict[int, _Layout] = {}
_MAX_LAYOUTS = 2000  # programs that make classes without end are not kept in memory


def _find_layout(kind: Any) -> _Layout:
    layout = _LAYOUTS.get(id(kind))
    if layout is None:
        if len(_LAYOUTS) >= _MAX_LAYOUTS:
            _LAYOUTS.clear()
        layout = _LAYOUTS[id(kind)] = _Layout(kind)
    return layout


def find_dict(value: Any) -> Optional[Dict[str, Any]]:
    """The `__dict__` of an instance, if it is a plain one."""
    getter = _find_layout(type(value)).dict_getter
    if getter is None:
        return None
    try:
        held = getter(value)
    except (AttributeError, TypeError):
        return None
    return held if type(held) is dict else None


def list_fields(value: Any) -> Optional[List[Tuple[str, Any]]]:
    """Names and values that an instance itself holds; None if its class provides for none."""
    layout = _find_layout(type(value))
    if layout.is_empty:
        return None
    fields: List[Tuple[str, Any]] = []
    for name, read in layout.slots:
        try:
            fields.append((name, read(value)))
        except AttributeError:
            pass  # not set
    held = find_dict(value) if layout.dict_getter is not None else None
    if held:
        fields.extend(list(held.items()))
    return fields


# -- marks ----------------------------------------------------------------------------------------

Mark = Any
"""Of a value that cannot change: something equal for an equal value of the same type. Of others:
(identity, content), so that a change in place can be told from another object."""


def take_mark(value: Any, is_coarse: bool = False) -> Mark:
    """Something small that is equal as long as a value is what it was.

    `is_coarse`: of a large container, only the length and a few items count.
    """
    kind = type(value)
    if kind is int:
        return value
    if kind is str:
        return value if len(value) < _LONG_STRING else ("str", len(value), hash(value))
    if id(kind) in FIXED:
        return _mark_fixed(value, kind)
    try:
        if id(kind) in CONTAINERS:
            return (id(value), _mark_container(value, kind, MARK_DEPTH, is_coarse))
        return (id(value), _mark_object(value, kind, MARK_DEPTH))
    except (RuntimeError, AttributeError):  # another thread changes it just now
        return (id(value), None)


def is_same_content(old: Mark, new: Mark) -> bool:
    """Whether two marks are of equal values, be they one object or two."""
    if type(old) is tuple and type(new) is tuple and len(old) == 2 and len(new) == 2:
        return bool(old[1] == new[1] and (old[0] == new[0] or type(old[1]) is bytes))
    return type(old) is type(new) and bool(old == new)


def is_heavy(mark: Mark) -> bool:
    """Whether it took long to take this mark."""
    content = mark[-1] if type(mark) is tuple else None
    if type(content) is bytes:
        return len(content) > HEAVY
    return type(content) is tuple and _count_parts(content) > _MANY_PARTS


def _count_parts(content: Tuple[Any, ...]) -> int:
    count = len(content)
    for part in content:
        if count > _MANY_PARTS:
            break
        if type(part) is tuple:
            count += _count_parts(part)
        elif type(part) is bytes:
            count += len(part) // 16
    return count


def _mark_fixed(value: Any, kind: Any) -> Mark:
    if id(kind) in ATOMS:
        return ("atom", repr(value))  # 1, 1.0 and True are equal, and so are 0.0 and -0.0
    if kind is bytes:
        return ("bytes", len(value), hash(value))
    if kind is range:
        return ("range", repr(value))
    return (_type_name(kind), id(value), 0)


def _mark_container(value: Any, kind: Any, depth: int, is_coarse: bool = False) -> Any:
    size = len(value)
    if size > MAX_EXACT or is_coarse:
        return (size, _sample(value, kind))
    try:
        return _dumps(value, _VERSION)  # exact to any depth, and the old value can be read back
    except ValueError:
        pass  # something in it is no plain value
    if depth <= 0:
        return (size,)
    items = itertools.islice(value, _MAX_MARKED)
    if kind is dict:
        keys = tuple([mark_item(key, 0) for key in items])
        held = itertools.islice(value.values(), _MAX_MARKED)
        return (size, keys, tuple([mark_item(item, depth - 1) for item in held]))
    return (size, tuple([mark_item(item, depth - 1) for item in items]))


def _sample(value: Any, kind: Any) -> Tuple[Any, ...]:
    """The items of a large container that its text shows, and the last ones."""
    if kind is bytearray:
        return hash(bytes(value[:_SAMPLE])), hash(bytes(value[-_SAMPLE:]))
    items = [mark_item(item, 0) for item in itertools.islice(value, _SAMPLE)]
    if kind is dict:
        items += [mark_item(item, 0) for item in itertools.islice(value.values(), _SAMPLE)]
    elif kind is list or kind is tuple:
        items += [mark_item(item, 0) for item in value[-8:]]
    return tuple(items)


def mark_item(value: Any, depth: int) -> Any:
    kind = type(value)
    if kind is int:
        return value
    if kind is str and len(value) < _LONG_STRING:
        return value
    if id(kind) in FIXED:
        return take_mark(value)
    if id(kind) in CONTAINERS and (depth > 0 or len(value) <= _FEW):
        return (id(value), _mark_container(value, kind, depth))
    if depth <= 0:
        return (id(kind), id(value), 0)
    return (id(value), _mark_object(value, kind, depth))


def _mark_object(value: Any, kind: Any, depth: int) -> Any:
    layout = _find_layout(kind)
    size = _find_size(value, kind)
    if layout.is_empty:
        return size if size is None else _mark_derived(value, size, depth)
    held = find_dict(value) if layout.dict_getter is not None else None
    if held is not None and not layout.slots and size is None and len(held) <= _MAX_MARKED:
        try:
            return _dumps(held, _VERSION)
        except ValueError:
            pass
    fields = list_fields(value) or ()
    marks = tuple([(name, mark_item(item, depth - 1)) for name, item in fields])
    return (marks, None if size is None else _mark_derived(value, size, depth))


def _find_size(value: Any, kind: Any) -> Optional[int]:
    for base in _SIZED_BASES:
        if issubclass(kind, base):
            size: int = base.__len__(value)
            return size
    return None


def _mark_derived(value: Any, size: int, depth: int) -> Any:
    """The items of an instance of a class that extends a builtin container."""
    most = _MAX_MARKED // 4
    if issubclass(type(value), dict):
        pairs = introspection.slice_items(value, 0, most)
        return (size, tuple([(mark_item(k, 0), mark_item(v, depth - 1)) for k, v in pairs]))
    items = introspection.slice_sequence(value, 0, most)
    return (size, tuple([mark_item(item, depth - 1) for item in items]))


# -- whole values ---------------------------------------------------------------------------------


class _NotPlain(Exception):
    """A value that only code of its own could save."""


class _PlainPickler(pickle.Pickler):
    def reducer_override(self, _value: Any) -> Any:
        """Asked for everything that is no plain builtin value."""
        raise _NotPlain


def take_content(value: Any) -> Optional[Tuple[str, bytes]]:
    """The content id and the bytes of a plain builtin value of a moderate size."""
    size = introspection.length(value)
    if size is not None and size > MAX_CONTENT:
        return None
    try:
        if len(_dumps(value, _VERSION)) > MAX_CONTENT:
            return None
        buffer = io.BytesIO()
        _PlainPickler(buffer, 4).dump(value)
    except (ValueError, _NotPlain, pickle.PicklingError, RecursionError):
        return None
    data = buffer.getvalue()
    return (hashlib.sha256(data).hexdigest(), data) if len(data) <= MAX_CONTENT else None


content = take_content
