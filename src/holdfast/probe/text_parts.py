"""Parts of a long string, or of long bytes: read whole, a page of characters at a time."""

from __future__ import annotations

import binascii

from . import introspection

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Optional

    from .previews import Limits

_BASES = (str, bytes, bytearray)
_DEFAULT_CHARACTERS = 10_000
MAX_CHARACTERS = 1_000_000  # of one value, in one answer


def is_text(value: Any) -> bool:
    return issubclass(type(value), _BASES) and not introspection.is_enum(type(value))


def is_longer(value: Any, limits: Limits) -> bool:
    """Whether it is a text of which a preview shows only a part."""
    if not is_text(value):
        return False
    base = _base_of(value)
    max_length: int = limits.max_string if base is str else limits.max_bytes
    size: int = base.__len__(value)
    return size > max_length


def describe_part(value: Any, start: int, count: Optional[int]) -> Dict[str, Any]:
    """The part from `start` on: `value`, how long the whole is, and whether more follows."""
    base = _base_of(value)
    total: int = base.__len__(value)
    stop = _find_stop(total, start, count)
    part = base.__getitem__(value, slice(start, stop))
    described: Dict[str, Any] = {
        "type": introspection.type_name(type(value)),
        "length": total,
        "start": start,
        "has_more": stop < total,
        "expandable": False,
        "variable_reference": 0,
        "reference": 0,
    }
    if base is str:
        described["value"] = introspection.escape_surrogates(str.__repr__(part))
    else:
        text = binascii.b2a_base64(bytes(part), newline=False).decode("ascii")
        described.update(value=text, encoding="base64")
    return described


def list_part(value: Any, start: int, count: Optional[int]) -> Dict[str, Any]:
    """The same as a page of a reference: one item, which is the part."""
    item = describe_part(value, start, count)
    total, has_more = item["length"], item.pop("has_more")
    stop = _find_stop(total, start, count)
    item.update(name="[%d:%d]" % (start, stop), index=start, length=stop - start)
    return {"items": [item] if stop > start else [], "total": total, "has_more": has_more}


def _find_stop(total: int, start: int, count: Optional[int]) -> int:
    wanted = _DEFAULT_CHARACTERS if count is None else min(count, MAX_CHARACTERS)
    return max(start, min(total, start + wanted))


def _base_of(value: Any) -> Any:
    return next(base for base in _BASES if issubclass(type(value), base))
