"""Values as JSON: a preview of each, and a reference by which it can be expanded.

`describe` renders one value, `expand` pages through the children of a reference, `get_child` and
`set_child` read and assign one child by name. All of them are bounded in time and size, whatever
the value is or does.
"""

from __future__ import annotations

import binascii

from . import bounded_calls, introspection, numpy_pandas, previews, text_parts, variable_children
from .handles import Handle, Handles
from .previews import DEFAULT_LIMITS, Limits

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterable, List, Optional, Tuple

_DEFAULT_COUNT = 100
_MAX_PAGE_CHARACTERS = 4_000_000

__all__ = [
    "DEFAULT_LIMITS",
    "Handle",
    "Handles",
    "Limits",
    "describe",
    "describe_all",
    "describe_result",
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
    """Render one value. A shared `budget` bounds the time that several values take together."""
    described: Dict[str, Any] = {
        "name": introspection.escape_surrogates(name),
        "type": introspection.type_name(type(value)),
    }
    ancestor = _find_ancestor(value, handles, parent)
    if ancestor is not None:
        return _describe_circular(described, ancestor, summary)
    try:
        described.update(_describe_size(value))
        if not summary:
            described.update(_render(value, previews.Preview(limits, budget)))
        children = variable_children.children_of(value)
        is_expandable = children is not None
        if children is not None:
            described.update(_describe_parts(children))
    except Exception as error:  # whatever the object does, there is an answer
        failure = introspection.escape_surrogates(_failure_text(error))
        described["value"] = "<%s object: %s>" % (described["type"], failure)
        is_expandable = False
    # A long text has no parts to unfold, but its reference reads it whole.
    has_more = is_expandable or text_parts.is_longer(value, limits)
    ref = handles.add(owner, value, described["name"], parent) if has_more else 0
    described.update(expandable=is_expandable, variable_reference=ref, reference=ref)
    return described


def describe_all(
    named: Iterable[Tuple[str, Any]],
    handles: Handles,
    owner: Any,
    summary: bool = False,
    max_chars: Optional[int] = None,
) -> List[Dict[str, Any]]:
    """Render several values, with the time and the size of one answer."""
    budget, room = bounded_calls.Budget(), Room(max_chars)
    return [
        room.take(
            describe(value, name, handles, owner, None, summary, room.limits, budget),
        )
        for name, value in named
    ]


class Room:
    """How much text one answer holds. When it is full, values are shown as short as usual."""

    def __init__(self, max_chars: Optional[int]) -> None:
        self.limits = previews.limit_characters(max_chars)
        self._remaining = _MAX_PAGE_CHARACTERS

    def take(self, described: Dict[str, Any]) -> Dict[str, Any]:
        self._remaining -= len(described.get("value", ""))
        if self._remaining < 0:
            self.limits = DEFAULT_LIMITS
        return described


def describe_result(
    value: Any,
    expression: str,
    handles: Handles,
    owner: Any,
    max_chars: Optional[int] = None,
    start: Optional[int] = None,
    count: Optional[int] = None,
) -> Dict[str, Any]:
    """Render the value of an expression; of a text, the part that is asked for."""
    if text_parts.is_text(value) and (start is not None or count is not None):
        described = text_parts.describe_part(value, start or 0, count)
        described["name"] = introspection.escape_surrogates(expression)
    else:
        limits = previews.limit_characters(max_chars)
        described = describe(value, expression, handles, owner, limits=limits)
    described["result"] = described.pop("value", "")
    return described


def expand(
    handles: Handles,
    ref: int,
    start: int,
    count: Optional[int],
    summary: bool = False,
    max_chars: Optional[int] = None,
    part: Optional[str] = None,
) -> Dict[str, Any]:
    """One page of the children of a reference. KeyError when there is no such reference.

    `part` leaves out some of them: `indexed` has the items only, `named` the attributes.
    """
    handle = _require_handle(handles, ref)
    start = max(0, start)
    if text_parts.is_text(handle.value):
        return text_parts.list_part(handle.value, start, count)
    children = _children(handle)
    budget, room = bounded_calls.Budget(), Room(max_chars)
    count = _DEFAULT_COUNT if count is None else count
    first, end = _find_part(children, part) if children is not None else (0, 0)
    total = end - first
    stop = min(total, start + max(0, count))
    items = []
    page = (
        children.page(first + start, first + stop, budget)
        if children is not None and start < stop
        else []
    )
    for child in page:
        item = room.take(
            describe(
                child.value, child.name, handles, handle.owner, ref, summary, room.limits, budget
            )
        )
        if child.index is not None:
            item["index"] = child.index
        items.append(item)
    return {"items": items, "total": total, "has_more": start + len(items) < total}


def _find_part(children: variable_children.Children, part: Optional[str]) -> Tuple[int, int]:
    """Where the wanted children begin and end."""
    indexed, total = children.indexed(), children.total()
    return (0 if part != "named" else indexed), (total if part != "indexed" else indexed)


def get_child(handles: Handles, ref: int, name: str) -> Any:
    """The child of that name (or index), as it is now."""
    handle = _require_handle(handles, ref)
    return _require_children(handle).find(str(name))


def set_child(handles: Handles, ref: int, name: str, new_value: Any) -> None:
    """Assign the child of that name (or index); raises an error that says why it cannot."""
    handle = _require_handle(handles, ref)
    children = _require_children(handle)
    table = handles.get(handle.parent) if handle.parent is not None else None
    if isinstance(children, variable_children.Cells) and table is not None:
        frame = _children(table)
        if isinstance(
            frame, variable_children.Columns
        ):  # the column may be a copy: write to the frame
            place = children.position(str(name)), frame.position(handle.name)
            frame.value.iloc[place] = new_value
    children.assign(str(name), new_value)


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
    children = _children(handle)
    if children is None:
        raise KeyError("%s is empty" % handle.name)
    return children


def _find_ancestor(value: Any, handles: Handles, parent: Optional[int]) -> Optional[Handle]:
    for handle in handles.lineage(parent):
        if handle.value is value and handle.kind != "scope":
            return handle
    return None


def _describe_circular(
    described: Dict[str, Any], ancestor: Handle, summary: bool
) -> Dict[str, Any]:
    if not summary:
        described["value"] = "<circular: %s>" % introspection.escape_surrogates(ancestor.name)
    described.update(
        circular=True,
        expandable=True,
        variable_reference=ancestor.ref,
        reference=ancestor.ref,
    )
    return described


def _describe_size(value: Any) -> Dict[str, Any]:
    size = None if introspection.is_enum(type(value)) else introspection.length(value)
    return numpy_pandas.describe_shape(value) if size is None else {"length": size}


def _describe_parts(children: variable_children.Children) -> Dict[str, Any]:
    """How many items there are, for who reads them in pages, and how many attributes beside."""
    indexed = children.indexed()
    if not indexed:
        return {}
    named = children.total() - indexed
    return {"indexed": indexed, "attributes": named} if named else {"indexed": indexed}


def _render(value: Any, preview: previews.Preview) -> Dict[str, Any]:
    if previews.is_binary(type(value)):
        return _render_bytes(value, preview.limits.max_bytes)
    rendered: Dict[str, Any] = {"value": preview.text(value)}
    rendered.update(numpy_pandas.describe_details(value, preview))
    if preview.is_truncated:
        rendered["truncated"] = True
    if preview.error is not None:
        rendered["repr_error"] = preview.error
    return rendered


def _render_bytes(value: Any, max_bytes: int) -> Dict[str, Any]:
    """Bytes are sent as base64, since a repr of binary data is of no use."""
    if issubclass(type(value), memoryview):
        return _render_memoryview(value, max_bytes)
    base = bytes if issubclass(type(value), bytes) else bytearray
    return _encode_base64(bytes(base.__getitem__(value, slice(0, max_bytes))), base.__len__(value))


def _render_memoryview(value: memoryview, max_bytes: int) -> Dict[str, Any]:
    """The first bytes of a view, without copying the rest."""
    try:
        size = value.nbytes
    except ValueError:
        return {"value": "<released memoryview>"}
    try:
        if value.ndim == 1:
            head = value[: max(1, max_bytes // value.itemsize)].tobytes()
        else:
            head = value.cast("B")[:max_bytes].tobytes()
    except (TypeError, ValueError):  # neither sliceable nor contiguous
        return {"value": "<memoryview of %d bytes>" % size, "length": size, "truncated": True}
    return _encode_base64(head[:max_bytes], size)


def _encode_base64(data: bytes, size: int) -> Dict[str, Any]:
    text = binascii.b2a_base64(data, newline=False).decode("ascii")
    rendered = {"value": text, "encoding": "base64", "length": size}
    if size > len(data):
        rendered["truncated"] = True
    return rendered


def _failure_text(error: BaseException) -> str:
    return "cannot be shown: " + bounded_calls.describe_error(error)
