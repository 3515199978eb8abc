"""What the instances of a program's classes hold, read without any of their code."""

from __future__ import annotations

import types
import weakref
from typing import Any, Dict, List, Optional, Tuple

from .. import introspection

_read: Any = object.__getattribute__  # past any `__getattribute__` of a class
_members_of: Any = type.__dict__["__dict__"].__get__


class _Layout:
    """Where the instances of a class keep their attributes.

    It does not keep the class alive, as its descriptors would.
    """

    __slots__ = ("has_dict", "kind", "slots")

    def __init__(self, kind: Any, forget: Any) -> None:
        self.kind = weakref.ref(kind, forget)
        self.slots: List[Tuple[Any, str]] = []
        """The class that has a slot, and its name: a subclass may hide it by code of its own."""
        self.has_dict = False
        for base in reversed(introspection.mro_of(kind)):
            members = _members_of(base)
            if "__slots__" in members:
                for name, member in list(members.items()):
                    if type(member) is types.MemberDescriptorType:
                        self.slots.append((weakref.ref(base), name))
            if "__dict__" in members:
                self.has_dict = type(members["__dict__"]) is types.GetSetDescriptorType

    @property
    def is_empty(self) -> bool:
        return not self.slots and not self.has_dict


_LAYOUTS: Dict[int, _Layout] = {}  # by the id of a class while it lives


def find_layout(kind: Any) -> _Layout:
    number = id(kind)
    layout = _LAYOUTS.get(number)
    if layout is None:
        layout = _LAYOUTS[number] = _Layout(kind, lambda _: _LAYOUTS.pop(number, None))
    return layout


def find_dict(value: Any) -> Optional[Dict[str, Any]]:
    """The `__dict__` of an instance, if it is a plain one."""
    if not find_layout(type(value)).has_dict:
        return None
    try:
        held = _read(value, "__dict__")
    except (AttributeError, TypeError):
        return None
    return held if type(held) is dict else None


def list_fields(value: Any) -> Optional[List[Tuple[str, Any]]]:
    """Names and values that an instance itself holds; None if its class provides for none."""
    layout = find_layout(type(value))
    if layout.is_empty:
        return None
    fields: List[Tuple[str, Any]] = []
    for owner, name in layout.slots:
        base = owner()
        # Not by its name: that may be a property of a subclass, or by now of the class itself.
        member = None if base is None else _members_of(base).get(name)
        if type(member) is types.MemberDescriptorType:
            try:
                fields.append((name, member.__get__(value)))
            except (AttributeError, TypeError):
                pass  # not set, or the class has other bases by now
    held = find_dict(value) if layout.has_dict else None
    if held:
        fields.extend(list(held.items()))
    return fields
