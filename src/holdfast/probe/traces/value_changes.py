"""What changed inside a value, in few words: `items + [4]`, `point.x: 1 -> 2`, `del table['k']`.

The value as it was is known by its mark only. Marks of plain values can be read back; of others
the marks of their items are compared, so that no `__eq__` of the program runs.
"""

from __future__ import annotations

import marshal
from typing import Any, Dict, List, Optional, Sequence, Tuple

from .. import introspection
from .object_fields import list_fields
from .traced_values import show
from .value_kinds import CONTAINERS
from .value_marks import MARK_DEPTH, Mark, is_same_content, mark_item

_ROOM = 60
_MAX_PARTS = 3
_MAX_DEPTH = 3  # of plain containers in one another
_UNKNOWN: Any = object()


def describe(name: str, old: Mark, value: Any, new: Mark) -> str:
    """How a value came from its old mark to its new one, by a change in place."""
    try:
        text = _describe(name, old, value, new, MARK_DEPTH)
    except (ValueError, EOFError, TypeError, RuntimeError, LookupError):
        text = None  # too deep, or another thread changes it just now
    return text if text is not None else "%s = %s" % (name, show(value, _ROOM))


def _describe(name: str, old: Mark, value: Any, new: Mark, depth: int) -> Optional[str]:
    """`depth`: that of the marks."""
    before, after = _content(old), _content(new)
    kind = type(value)
    if type(before) is bytes and type(after) is bytes:
        was, now = marshal.loads(before), marshal.loads(after)
        if id(kind) in CONTAINERS:
            return _compare_plain(name, was, now, _MAX_DEPTH)
        return _compare_pairs(name + ".%s", was, now, _MAX_DEPTH)  # what an instance holds
    if kind is list:
        return _compare_items(name, before, value, after, depth)
    if kind is dict:
        return _compare_dicts(name, before, list(value.items()), depth)
    if id(kind) in CONTAINERS:
        return _compare_sizes(name, before, len(value))
    return _compare_derived(name, before, value, after, depth)


def _content(mark: Mark) -> Any:
    return mark[1] if type(mark) is tuple and len(mark) == 2 else None


def _show_mark(mark: Mark) -> Optional[str]:
    """The text of a value that is known by its mark only."""
    if type(mark) is int or type(mark) is str:
        return show(mark, _ROOM // 2)
    if type(mark) is tuple and len(mark) == 2:
        if mark[0] == "atom":
            return str(mark[1])
        if type(mark[1]) is bytes:
            was = marshal.loads(mark[1])
            return show(was, _ROOM // 2) if type(was) is not dict else None
    return None


def _join(parts: List[str]) -> Optional[str]:
    if not parts:
        return None
    left = len(parts) - _MAX_PARTS
    return ", ".join(parts[:_MAX_PARTS]) + (", ... %d more" % left if left > 0 else "")


# -- plain values, as they were and as they are ---------------------------------------------------


def _compare_plain(name: str, was: Any, now: Any, depth: int) -> Optional[str]:
    kind = type(now)
    if type(was) is not kind or depth <= 0:
        return None
    if kind is list:
        return _compare_lists(name, was, now, depth)
    if kind is dict:
        return _compare_pairs(name + "[%s]", was, now, depth)
    if kind is set:
        return _compare_sets(name, was, now)
    return None


def _compare_lists(name: str, was: List[Any], now: List[Any], depth: int) -> Optional[str]:
    start, end = _find_difference(was, now)
    gone, come = was[start : len(was) - end], now[start : len(now) - end]
    if len(gone) == len(come) and len(come) <= 2:
        spots = [index for index in range(len(come)) if not _is_equal(gone[index], come[index])]
        return _join([_compare_item(name, start + i, gone[i], come[i], depth) for i in spots])
    if not gone:
        place = "" if start == len(was) else " at %d" % start
        return "%s + %s%s" % (name, show(come, _ROOM), place)
    if not come:
        place = "" if end == 0 else " at %d" % start
        return "%s - %s%s" % (name, show(gone, _ROOM), place)
    return None


def _compare_item(name: str, index: Any, was: Any, now: Any, depth: int) -> str:
    place = "%s[%s]" % (name, index)
    text = _compare_plain(place, was, now, depth - 1)
    if text is not None:
        return text
    return "%s: %s -> %s" % (place, show(was, _ROOM // 2), show(now, _ROOM // 2))


def _find_difference(was: Any, now: Any) -> Tuple[int, int]:
    """How many items at the beginning and at the end are the same."""
    most = min(len(was), len(now))
    start = 0
    while start < most and _is_equal(was[start], now[start]):
        start += 1
    end = 0
    while end < most - start and _is_equal(was[-1 - end], now[-1 - end]):
        end += 1
    return start, end


def _is_equal(one: Any, other: Any) -> bool:
    """Of plain values: 1, 1.0 and True are not the same."""
    return type(one) is type(other) and bool(one == other)


def _compare_pairs(
    form: str, was: Dict[Any, Any], now: Dict[Any, Any], depth: int
) -> Optional[str]:
    """`form` is how a key is written after the name: `[%s]` or `.%s`."""
    is_field = form.endswith(".%s")
    parts = []
    for key, item in now.items():
        place = form % (key if is_field else show(key, 20))
        if key not in was:
            parts.append("%s = %s" % (place, show(item, _ROOM)))
        elif not _is_equal(was[key], item):
            inner = _compare_plain(place, was[key], item, depth - 1)
            change = "%s: %s -> %s" % (place, show(was[key], _ROOM // 2), show(item, _ROOM // 2))
            parts.append(inner if inner is not None else change)
    parts += ["del " + form % (k if is_field else show(k, 20)) for k in was if k not in now]
    return _join(parts)


def _compare_sets(name: str, was: Any, now: Any) -> Optional[str]:
    come, gone = now - was, was - now
    if not come and not gone:
        return None
    added = " + " + show(come, _ROOM) if come else ""
    return name + added + (" - " + show(gone, _ROOM) if gone else "")


# -- values that hold other objects, by marks -----------------------------------------------------


def _is_other(old: Mark, new: Mark) -> bool:
    return old != new and not is_same_content(old, new)


def _list_marks(content: Any, depth: int) -> Optional[List[Mark]]:
    """The marks of a list's items, from the mark of the list."""
    if type(content) is bytes:
        was = marshal.loads(content)
        return [mark_item(item, depth - 1) for item in was] if type(was) is list else None
    if type(content) is tuple and len(content) == 2 and type(content[1]) is tuple:
        return list(content[1]) if len(content[1]) == content[0] else None
    return None


def _compare_items(
    name: str, before: Any, value: List[Any], after: Any, depth: int
) -> Optional[str]:
    was, now = _list_marks(before, depth), _list_marks(after, depth)
    if was is None or now is None:
        return _compare_sizes(name, before, len(value), value)
    start, end = _find_difference(was, now)
    gone, come = was[start : len(was) - end], value[start : len(now) - end]
    if not gone and come:
        place = "" if start == len(was) else " at %d" % start
        return "%s + %s%s" % (name, show(come, _ROOM), place)
    if gone and not come:
        return "%s: %d -> %d items" % (name, len(was), len(now))
    if len(gone) == len(come) == 1:
        return _compare_place("%s[%d]" % (name, start), gone[0], come[0], depth - 1)
    return None


def _compare_place(place: str, old: Mark, value: Any, depth: int) -> str:
    """An item or attribute: has it been replaced, or changed in place?"""
    new = mark_item(value, depth)
    if _content(old) is not None and type(new) is tuple and old[0] == new[0]:
        text = _describe(place, old, value, new, depth)
        if text is not None:
            return text
    was = _show_mark(old)
    if was is None:
        return "%s = %s" % (place, show(value, _ROOM))
    return "%s: %s -> %s" % (place, was, show(value, _ROOM // 2))


def _compare_dicts(
    name: str, before: Any, pairs: List[Tuple[Any, Any]], depth: int
) -> Optional[str]:
    if type(before) is bytes:
        was = marshal.loads(before)
        marks = {_key(key): mark_item(item, depth - 1) for key, item in was.items()}
    elif type(before) is tuple and len(before) == 3 and len(before[1]) == before[0]:
        marks = dict(zip(map(_key_of_mark, before[1]), before[2]))
    else:
        return _compare_sizes(name, before, len(pairs))
    parts = []
    for key, item in pairs:
        place = "%s[%s]" % (name, show(key, 20))
        old = marks.pop(_key(key), _UNKNOWN)
        if old is _UNKNOWN:
            parts.append("%s = %s" % (place, show(item, _ROOM)))
        elif _is_other(old, mark_item(item, depth - 1)):
            parts.append(_compare_place(place, old, item, depth - 1))
    parts += ["del %s[%s]" % (name, _show_mark(key[1]) or "...") for key in marks]
    return _join(parts)


def _key(key: Any) -> Any:
    return _key_of_mark(mark_item(key, 0))


def _key_of_mark(mark: Mark) -> Any:
    return (type(mark), mark)


def _compare_sizes(name: str, before: Any, size: int, items: Sequence[Any] = ()) -> Optional[str]:
    """All that is known of a long container. `items`: its own, where their order counts."""
    was = before[0] if type(before) is tuple and before and type(before[0]) is int else size
    if was == size:
        return None
    if 0 < len(items) - was <= _MAX_PARTS:
        return "%s + %s" % (name, show(list(items[was:]), _ROOM))
    return "%s: %d -> %d items" % (name, was, size)


def _compare_derived(name: str, before: Any, value: Any, after: Any, depth: int) -> Optional[str]:
    """An instance: what a builtin container that its class extends holds, or its attributes."""
    was, now = _items_of(before), _items_of(after)
    if was is None or now is None or was == now:
        return _compare_fields(name, before, value, depth)
    if issubclass(type(value), dict):
        keys, items = zip(*was[1]) if was[1] else ((), ())
        pairs = introspection.slice_items(value, 0, now[0])
        return _compare_dicts(name, (was[0], keys, items), pairs, depth)
    parts = introspection.slice_sequence(value, 0, now[0])
    return _compare_items(name, was, parts, now, depth)


def _items_of(content: Any) -> Any:
    """Size and marks of the items, from the mark of an instance."""
    if type(content) is tuple and len(content) == 2:
        items = content if type(content[0]) is int else content[1]
        if type(items) is tuple and len(items) == 2 and type(items[0]) is int:
            return items
    return None


def _compare_fields(name: str, before: Any, value: Any, depth: int) -> Optional[str]:
    """The attributes of an instance."""
    fields = list_fields(value)
    if type(before) is bytes:
        was = marshal.loads(before)
        marks = {key: mark_item(item, depth - 1) for key, item in was.items()}
    elif type(before) is tuple and len(before) == 2 and type(before[0]) is tuple:
        marks = dict(before[0])
    else:
        return None
    parts = []
    for key, item in fields or ():
        old = marks.pop(key, _UNKNOWN)
        place = "%s.%s" % (name, key)
        if old is _UNKNOWN:
            parts.append("%s = %s" % (place, show(item, _ROOM)))
        elif _is_other(old, mark_item(item, depth - 1)):
            parts.append(_compare_place(place, old, item, depth - 1))
    parts += ["del %s.%s" % (name, key) for key in marks]
    return _join(parts)
