"""numpy arrays and pandas tables, by their shape and their first few elements.

Neither library is imported: a value can only be one of theirs if the program has loaded them.
"""

from __future__ import annotations

import sys
import types

from . import bounded_calls, introspection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, List, Optional

    from .previews import Preview

_HEAD_ROWS = 5
_HEAD_COLUMNS = 20
_COLUMN_WIDTH = 40
_PREVIEW_CHARACTERS = 4000


def kind(cls: type) -> str:
    """`array`, `frame`, `series` or nothing."""
    if "numpy" not in sys.modules:
        return ""
    for module, name, found in (
        ("numpy", "ndarray", "array"),
        ("pandas", "DataFrame", "frame"),
        ("pandas", "Series", "series"),
    ):
        base = introspection.loaded(module, name)
        if base is not None and issubclass(cls, base):
            return found
    return ""


def knows(cls: type) -> bool:
    return kind(cls) != ""


def is_scalar(cls: type, repr_function: Any) -> bool:
    """A numpy number, whose repr is written in C and short."""
    if type(repr_function) is types.FunctionType:
        return False
    found = (introspection.loaded("numpy", name) for name in ("number", "bool_"))
    return any(base is not None and issubclass(cls, base) for base in found)


def raw(value: Any) -> Any:
    """The same array as a plain ndarray, past any override of a subclass."""
    ndarray: Any = introspection.loaded("numpy", "ndarray")
    return ndarray.view(value, ndarray)


def text(value: Any, preview: Preview, depth: int) -> str:
    found = kind(type(value))
    try:
        if found == "array":
            return _array_text(value, preview, depth)
        name = introspection.type_name(type(value))
        if found == "frame":
            return "%s(%d rows x %d columns)" % ((name,) + tuple(value.shape))
        return "%s(%d items, dtype=%s)" % (name, value.shape[0], str(value.dtype)[:80])
    except Exception as error:
        return "<%s object: %s>" % (
            introspection.type_name(type(value)),
            bounded_calls.error_text(error),
        )


def shape(value: Any) -> Dict[str, Any]:
    """The size of the value, read off without touching its elements."""
    found = kind(type(value))
    if not found:
        return {}
    plain = raw(value) if found == "array" else value
    sizes = [int(size) for size in plain.shape]
    facts: Dict[str, Any] = {"shape": sizes}
    if sizes:
        facts["length"] = sizes[0]
    if found != "frame":
        facts["dtype"] = introspection.clean(str(plain.dtype)[:200])
    return facts


def details(value: Any, preview: Preview) -> Dict[str, Any]:
    """What a reader wants beside the text: column names and the first rows."""
    found = kind(type(value))
    facts: Dict[str, Any] = {}
    if found == "frame":
        facts["columns"] = column_labels(value, 0, _HEAD_COLUMNS, preview)
    if found in ("frame", "series"):
        head = _head(value, found, preview)
        if head is not None:
            facts["preview"] = head
        if value.shape[0] > _HEAD_ROWS:
            facts["truncated"] = True
    return facts


def column_labels(value: Any, start: int, stop: int, preview: Preview) -> List[str]:
    return [_label(name, preview) for name in list(value.columns[start:stop])]


def _label(name: Any, preview: Preview) -> str:
    return introspection.clean(name) if type(name) is str else preview.text(name)


def _head(value: Any, found: str, preview: Preview) -> Optional[str]:
    """The first rows as pandas prints them; bounded, since cells may be the program's objects."""

    def draw() -> str:
        if found == "frame":
            corner = value.iloc[:_HEAD_ROWS, :_HEAD_COLUMNS]
            return str(corner.to_string(max_colwidth=_COLUMN_WIDTH))
        return str(value.iloc[:_HEAD_ROWS].to_string())

    try:
        drawn: str = preview.budget.call(draw)
    except (bounded_calls.TooLate, bounded_calls.OutOfTime, bounded_calls.Failed):
        return None
    return introspection.clean(drawn[:_PREVIEW_CHARACTERS])


def _array_text(value: Any, preview: Preview, depth: int) -> str:
    plain = raw(value)
    name = "array" if type(value) is type(plain) else introspection.type_name(type(value))
    title = "%s(shape=%s, dtype=%s)" % (name, tuple(plain.shape), str(plain.dtype)[:80])
    if depth:
        return title
    return title + " " + _elements(plain, preview)


def _elements(plain: Any, preview: Preview) -> str:
    """The corner of the array, as nested lists."""
    if plain.ndim == 0:
        return preview.text(plain.tolist(), 1)
    room = 20 if plain.ndim == 1 else max(2, 6 // (plain.ndim - 1))
    corner = plain[tuple(slice(0, room) for _ in plain.shape)]
    if corner.size > 200:  # many dimensions
        corner = corner[tuple(slice(0, 1) for _ in plain.shape)]
    if plain.dtype.kind in "mM":
        corner = corner.astype(str)
    return _rows(corner.tolist(), list(plain.shape), preview)


def _rows(rows: Any, sizes: List[int], preview: Preview) -> str:
    if not sizes:
        return preview.text(rows, 1)
    shown = []
    for row in rows:
        if not preview.has_room():
            break
        shown.append(_rows(row, sizes[1:], preview))
    if len(shown) < sizes[0]:
        preview.cut = True
        shown.append("...")
    return "[" + ", ".join(shown) + "]"
