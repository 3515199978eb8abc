"""Notices that code which is not recorded has changed an object it was given.

Code in C and in installed packages may change the object whose method is called, or one that it
gets as an argument. These are compared before and after the statement. A change that a statement of
the program's own code made meanwhile is that statement's.
"""

from __future__ import annotations

import types
from typing import Any, Callable, List, Sequence, Tuple

from .. import introspection
from . import traced_values, value_kinds, value_marks
from .frame_names import UNKNOWN, FrameNames
from .object_numbers import ObjectEntry, ObjectNumbers
from .place_facts import CallFact
from .place_lookup import find_member
from .place_resolver import ODD, holds_nothing

_MAX_MARKS = 4  # objects that are compared for one statement
_COARSE = 200  # items from which on only some count
# They change none of their arguments.
_PURE = frozenset(
    """abs all any bin bool bytes callable chr complex dict divmod enumerate filter float format
    frozenset getattr hasattr hash hex id int isinstance issubclass iter len list map max min oct
    ord pow print range repr reversed round set sorted str sum super tuple type vars zip""".split()
)
_Mark = Tuple[ObjectEntry, Any, str]


class ForeignChanges:
    """Compares what calls may change."""

    def __init__(self, numbers: ObjectNumbers, is_own: Callable[[Any], bool]) -> None:
        self._numbers = numbers
        self._is_own = is_own

    def take_marks(self, calls: Sequence[CallFact], names: FrameNames) -> List[_Mark]:
        """Marks of the objects that calls of code outside the recording are given."""
        marks: List[_Mark] = []
        for call in calls:
            if call.label in _PURE or len(marks) >= _MAX_MARKS:
                continue
            try:
                if not self._is_recorded(call.callee(names)):
                    self._add_marks(call, names, marks)
            except ODD:
                continue
        return marks

    def _is_recorded(self, callee: Any) -> bool:
        """Whether what is called is the program's own code."""
        kind = type(callee)
        if kind is types.MethodType:
            callee = callee.__func__
        elif issubclass(kind, type):
            callee = find_member(callee, "__init__")[1]
        return type(callee) is types.FunctionType and self._is_own(callee.__code__)

    def _add_marks(self, call: CallFact, names: FrameNames, marks: List[_Mark]) -> None:
        subject = UNKNOWN if call.subject is None else call.subject(names)
        if subject is not UNKNOWN and id(type(subject)) in value_kinds.CONTAINERS:
            return  # its methods change nothing else, and those that change it are known
        if subject is not UNKNOWN and id(type(subject)) in (id(str), id(bytes)):
            return
        for value, label in self._list_given(call, subject, names):
            if len(marks) < _MAX_MARKS:
                is_coarse = (introspection.length(value) or 0) > _COARSE
                mark = value_marks.take_mark(value, is_coarse)
                marks.append((self._numbers.find(value), mark, label))

    def _list_given(self, call: CallFact, subject: Any, names: FrameNames) -> List[Tuple[Any, str]]:
        given = [(subject, call.label.rpartition(".")[0])]
        for fact in call.every:
            if fact.kind == "content" and fact.base is not None:
                given.append((fact.base(names), fact.label))
        return [
            (value, label)
            for value, label in given
            if value is not UNKNOWN
            and not holds_nothing(value)
            and id(type(value)) not in value_kinds.FIXED
        ]

    def find_changes(self, marks: Sequence[_Mark], since: int, has_own: bool) -> List[List[Any]]:
        """Writes of what has changed, though no recorded statement changed it.

        `has_own`: code of the program has run meanwhile, and may have changed what an object holds.
        """
        lines: List[List[Any]] = []
        for entry, mark, label in marks:
            value = entry.find()
            if value is None or entry.changed >= since:
                continue
            if has_own and id(type(value)) not in value_kinds.CONTAINERS:
                continue
            is_coarse = (introspection.length(value) or 0) > _COARSE
            if value_marks.take_mark(value, is_coarse) != mark:
                text = traced_values.show(value)
                entry.note_text(text, value)
                lines.append(["c%d" % entry.number, text, label, entry.number])
                lines.append(["s%d" % entry.number, "", label, 0])
                entry.changed = self._numbers.clock
        return lines
