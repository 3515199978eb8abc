"""Values as text, made from what objects hold: none of the program's code runs.

`show` is the text of a value. `take_content` is a plain value as bytes, with its content id.
"""

from __future__ import annotations

import hashlib
import io
import marshal
import pickle
import re
import types
from typing import Any, Callable, Dict, List, Optional, Tuple

from .. import introspection
from . import trace_errors
from .object_fields import list_fields
from .plain_sizes import can_marshal
from .value_kinds import CONTAINERS, SIZED_BASES

ROOM = 60  # characters of a value's text
MAX_CONTENT = 64_000  # bytes of a value that is kept as a whole

_MAX_DEPTH = 3
_MAX_INT_BITS = 400
_VERSION = 2  # of the marshal format; later ones depend on reference counts
_CUT = re.compile(r"\.\.\. \d+ more")
_IMMUTABLE_TYPE = 1 << 8

_type_name = introspection.type_name
_dumps = marshal.dumps
_flags_of: Callable[[Any], int] = type.__dict__["__flags__"].__get__


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
        share = (room - used) // (size - len(parts) or 1)
        text = _show(item, max(room // 2, share), depth - 1)
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
        share = (room - used) // (size - len(parts) or 1) - len(label)
        text = form % (label, _show(item, max(12, room // 3, share), depth - 1))
        used += len(text) + 2
        if used > room and parts:
            parts.append("... %d more" % (size - len(parts)))
            break
        parts.append(text)
    return ", ".join(parts)


_FIELD = "%s=%s"
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
    for base in SIZED_BASES:
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
    if id(type(value)) in CONTAINERS and not can_marshal(value):
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
