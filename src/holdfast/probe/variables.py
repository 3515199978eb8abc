"""Values as JSON: what each is, what it holds, and a reference to unfold it by.

`describe` renders one value, `expand` pages through what a reference holds, `child` and
`set_child` read and assign one of its parts by the name it is shown under. None of them takes
longer than a moment or builds more than a page, whatever the value is or does.
"""

from __future__ import annotations

import binascii

from . import bounded_calls, introspection, numpy_pandas, previews, variable_children
from .handles import Handle, Handles
from .previews import DEFAULT_LIMITS, Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Optional

__all__ = [
    "DEFAULT_LIMITS",
    "Handle",
    "Handles",
    "Limits",
    "describe",
    "expand",
    "get_child",
    "set_child",
]


def describe(
    value: Any,
    name: str,
    handles: Handles,
    owner: Any,
    parent: Optional[int] = None,
    summary: bool = False,
    limits: Limits = DEFAULT_LIMITS,
    budget: Optional[bounded_calls.Budget] = None,
) -> Dict[str, Any]:
    """One value. A `budget` shared between values bounds the time they take together."""
    shown: Dict[str, Any] = {
        "name": introspection.escape_surrogates(name),
        "type": introspection.type_name(type(value)),
    }
    ancestor = _find_ancestor(value, handles, parent)
    if ancestor is not None:
        return _describe_circular(shown, ancestor, summary)
    try:
        shown.update(_describe_size(value))
        if not summary:
            shown.update(_render(value, previews.Preview(limits, budget)))
        unfolds = variable_children.children_of(value) is not None
    except Exception as error:  # whatever the object is up to, the reader gets an answer
        shown["value"] = "<%s object: %s>" % (
            shown["type"],
            introspection.escape_surrogates(_failure_text(error)),
        )
        unfolds = False
    ref = handles.add(owner, value, shown["name"], parent) if unfolds else 0
    shown.update(expandable=unfolds, variable_reference=ref, reference=ref)
    return shown


def expand(
    handles: Handles,
    ref: int,
    start: int,
    count: int,
    summary: bool = False,
    limits: Limits = DEFAULT_LIMITS,
) -> Dict[str, Any]:
    """One page of what the reference holds. KeyError when there is no such reference."""
    handle = _require_handle(handles, ref)
    held = _children(handle)
    budget = bounded_calls.Budget()
    start = max(0, start)
    total = held.total() if held is not None else 0
    stop = min(total, start + max(0, count))
    items = []
    for part in held.page(start, stop, budget) if held is not None and start < stop else []:
        item = describe(part.value, part.name, handles, handle.owner, ref, summary, limits, budget)
        if part.index is not None:
            item["index"] = part.index
        items.append(item)
    return {"items": items, "total": total, "has_more": start + len(items) < total}


def get_child(handles: Handles, ref: int, name: str) -> Any:
    """The part of that name (or index), as it is now."""
    handle = _require_handle(handles, ref)
    return _require_children(handle).find(str(name))


def set_child(handles: Handles, ref: int, name: str, new_value: Any) -> None:
    """Assign the part of that name (or index); the error says why that cannot be done."""
    handle = _require_handle(handles, ref)
    held = _require_children(handle)
    table = handles.get(handle.parent) if handle.parent is not None else None
    if isinstance(held, variable_children.Cells) and table is not None:
        frame = _children(table)
        if isinstance(
            frame, variable_children.Columns
        ):  # the column may be a copy: write to the frame
            place = held.position(str(name)), frame.position(handle.name)
            frame.value.iloc[place] = new_value
    held.assign(str(name), new_value)


def _require_handle(handles: Handles, ref: int) -> Handle:
    handle = handles.get(ref)
    if handle is None:
        raise KeyError("there is no reference %s" % ref)
    return handle


def _children(handle: Handle) -> Optional[variable_children.Children]:
    if handle.kind == "scope":
        return variable_children.Names(handle.value)
    return variable_children.children_of(handle.value)


def _require_children(handle: Handle) -> variable_children.Children:
    held = _children(handle)
    if held is None:
        raise KeyError("%s is empty" % handle.name)
    return held


def _find_ancestor(value: Any, handles: Handles, parent: Optional[int]) -> Optional[Handle]:
    for handle in handles.lineage(parent):
        if handle.value is value and handle.kind != "scope":
            return handle
    return None


def _describe_circular(shown: Dict[str, Any], ancestor: Handle, summary: bool) -> Dict[str, Any]:
    if not summary:
        shown["value"] = "<circular: %s>" % introspection.escape_surrogates(ancestor.name)
    shown.update(
        circular=True,
        expandable=True,
        variable_reference=ancestor.ref,
        reference=ancestor.ref,
    )
    return shown


def _describe_size(value: Any) -> Dict[str, Any]:
    size = None if introspection.is_enum(type(value)) else introspection.length(value)
    return numpy_pandas.describe_shape(value) if size is None else {"length": size}


def _render(value: Any, preview: previews.Preview) -> Dict[str, Any]:
    if previews.is_binary(type(value)):
        return _render_bytes(value, preview.limits.max_bytes)
    shown: Dict[str, Any] = {"value": preview.text(value)}
    shown.update(numpy_pandas.describe_details(value, preview))
    if preview.cut:
        shown["truncated"] = True
    if preview.error is not None:
        shown["repr_error"] = preview.error
    return shown


def _render_bytes(value: Any, most: int) -> Dict[str, Any]:
    """Bytes travel as base64: a repr of binary data helps nobody."""
    if issubclass(type(value), memoryview):
        return _render_memoryview(value, most)
    base = bytes if issubclass(type(value), bytes) else bytearray
    return _encode_base64(bytes(base.__getitem__(value, slice(0, most))), base.__len__(value))


def _render_memoryview(value: memoryview, most: int) -> Dict[str, Any]:
    """The first bytes of a view, without copying the rest."""
    try:
        size = value.nbytes
    except ValueError:
        return {"value": "<released memoryview>"}
    try:
        if value.ndim == 1:
            head = value[: max(1, most // value.itemsize)].tobytes()
        else:
            head = value.cast("B")[:most].tobytes()
    except (TypeError, ValueError):  # neither sliceable nor contiguous: say only how much it is
        return {"value": "<memoryview of %d bytes>" % size, "length": size, "truncated": True}
    return _encode_base64(head[:most], size)


def _encode_base64(data: bytes, size: int) -> Dict[str, Any]:
    text = binascii.b2a_base64(data, newline=False).decode("ascii")
    shown = {"value": text, "encoding": "base64", "length": size}
    if size > len(data):
        shown["truncated"] = True
    return shown


def _failure_text(error: BaseException) -> str:
    return "cannot be shown: " + bounded_calls.describe_error(error)
