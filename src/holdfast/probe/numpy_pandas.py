"""Previews of numpy arrays and pandas tables: their shape and their first elements.

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

_MAX_HEAD_ROWS = 5
_MAX_HEAD_COLUMNS = 20
_MAX_COLUMN_WIDTH = 40
_MAX_PREVIEW_CHARACTERS = 4000


def table_kind(cls: type) -> str:
    """`array`, `frame`, `series`, or an empty string."""
    if "numpy" not in sys.modules:
        return ""
    for module, name, kind in (
        ("numpy", "ndarray", "array"),
        ("pandas", "DataFrame", "frame"),
        ("pandas", "Series", "series"),
    ):
        base = introspection.loaded_class(module, name)
        if base is not None and issubclass(cls, base):
            return kind
    return ""


def is_table(cls: type) -> bool:
    return table_kind(cls) != ""


def is_scalar(cls: type, repr_function: Any) -> bool:
    """A numpy number, whose repr is written in C and short."""
    if type(repr_function) is types.FunctionType:
        return False
    bases = (introspection.loaded_class("numpy", name) for name in ("number", "bool_"))
    return any(base is not None and issubclass(cls, base) for base in bases)


def as_ndarray(value: Any) -> Any:
    """The same array as a plain ndarray, without the overrides of a subclass."""
    ndarray: Any = introspection.loaded_class("numpy", "ndarray")
    return ndarray.view(value, ndarray)


def render(value: Any, preview: Preview, depth: int) -> str:
    kind = table_kind(type(value))
    try:
        if kind == "array":
            return _render_array(value, preview, depth)
        name = introspection.type_name(type(value))
        if kind == "frame":
            return "%s(%d rows x %d columns)" % ((name,) + tuple(value.shape))
        return "%s(%d items, dtype=%s)" % (name, value.shape[0], str(value.dtype)[:80])
    except Exception as error:
        return "<%s object: %s>" % (
            introspection.type_name(type(value)),
            bounded_calls.describe_error(error),
        )


def describe_shape(value: Any) -> Dict[str, Any]:
    """The size of the value, read without touching its elements."""
    kind = table_kind(type(value))
    if not kind:
        return {}
    plain = as_ndarray(value) if kind == "array" else value
    sizes = [int(size) for size in plain.shape]
    facts: Dict[str, Any] = {"shape": sizes}
    if sizes:
        facts["length"] = sizes[0]
    if kind != "frame":
        facts["dtype"] = introspection.escape_surrogates(str(plain.dtype)[:200])
    return facts


def describe_details(value: Any, preview: Preview) -> Dict[str, Any]:
    """What is shown beside the text: column names and the first rows."""
    kind = table_kind(type(value))
    facts: Dict[str, Any] = {}
    if kind == "frame":
        facts["columns"] = column_labels(value, 0, _MAX_HEAD_COLUMNS, preview)
    if kind in ("frame", "series"):
        head = _render_head(value, kind, preview)
        if head is not None:
            facts["preview"] = head
        if value.shape[0] > _MAX_HEAD_ROWS:
            facts["truncated"] = True
    return facts


def column_labels(value: Any, start: int, stop: int, preview: Preview) -> List[str]:
    return [_render_label(name, preview) for name in list(value.columns[start:stop])]


def _render_label(name: Any, preview: Preview) -> str:
    return introspection.escape_surrogates(name) if type(name) is str else preview.text(name)


def _render_head(value: Any, kind: str, preview: Preview) -> Optional[str]:
    """The first rows as pandas prints them; bounded, since cells may be the program's objects."""

    def draw() -> str:
        if kind == "frame":
            corner = value.iloc[:_MAX_HEAD_ROWS, :_MAX_HEAD_COLUMNS]
            return str(corner.to_string(max_colwidth=_MAX_COLUMN_WIDTH))
        return str(value.iloc[:_MAX_HEAD_ROWS].to_string())

    try:
        drawn: str = preview.budget.call(draw, type(value))
    except (bounded_calls.CallTimedOut, bounded_calls.BudgetSpent, bounded_calls.CallFailed):
        return None
    return introspection.escape_surrogates(drawn[:_MAX_PREVIEW_CHARACTERS])


def _render_array(value: Any, preview: Preview, depth: int) -> str:
    plain = as_ndarray(value)
    name = "array" if type(value) is type(plain) else introspection.type_name(type(value))
    title = "%s(shape=%s, dtype=%s)" % (name, tuple(plain.shape), str(plain.dtype)[:80])
    if depth:
        return title
    return title + " " + _render_elements(plain, preview)


def _render_elements(plain: Any, preview: Preview) -> str:
    """The corner of the array, as nested lists."""
    if plain.ndim == 0:
        return preview.text(plain.tolist(), 1)
    room = 20 if plain.ndim == 1 else max(2, 6 // (plain.ndim - 1))
    corner = plain[tuple(slice(0, room) for _ in plain.shape)]
    if corner.size > 200:  # many dimensions
        corner = corner[tuple(slice(0, 1) for _ in plain.shape)]
    if plain.dtype.kind in "mM":
        corner = corner.astype(str)
    return _render_rows(corner.tolist(), list(plain.shape), preview)


def _render_rows(rows: Any, sizes: List[int], preview: Preview) -> str:
    if not sizes:
        return preview.text(rows, 1)
    texts = []
    for row in rows:
        if not preview.has_room():
            break
        texts.append(_render_rows(row, sizes[1:], preview))
    if len(texts) < sizes[0]:
        preview.is_truncated = True
        texts.append("...")
    return "[" + ", ".join(texts) + "]"
