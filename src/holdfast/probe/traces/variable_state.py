"""The variables of a frame as they were after its last statement, and what a statement changed.

After each statement the names that it may bind are compared. If it may change objects in place,
everything that can change is compared as well: so an append through another name, or in a function
that was called, shows at the statement that made it happen.
"""

from __future__ import annotations

import binascii
from typing import Any, Callable, Dict, List, Optional, Tuple

from . import traced_values, value_changes
from .code_plan import ANYTHING, NOTHING, CodePlan, Statement
from .frame_locals import UNBOUND, Reader
from .traced_values import show, take_content
from .value_kinds import FIXED
from .value_marks import Mark, is_heavy, is_same_content, take_mark

SET, MUTATED, SAME, DELETED = "=", "~", "s", "d"

_ARGUMENT_ROOM = 100
_MAX_GLOBALS = 8
_MAX_STEP_CONTENT = 4096  # bytes of a value that one statement sets, kept as a whole
_COARSE = 256_000  # bytes of a mark: too many to take it again
_UNKNOWN: Any = object()

KeepContent = Callable[[Any], Optional[str]]
"""Stores a plain value as a whole, and returns its content id."""


class VariableState:
    """What is known of the variables of one frame."""

    def __init__(
        self, plan: CodePlan, read: Reader, global_names: Dict[str, Any], keep: KeepContent
    ) -> None:
        self._plan = plan
        self._read = read
        self._globals = global_names
        self._keep = keep
        self._known: Dict[str, Mark] = {}
        self._watched: Dict[str, None] = {}  # names whose value may change in place
        self.large: Dict[str, None] = {}
        """Names whose values are compared only after statements that mention them."""
        self._coarse: Dict[str, None] = {}
        self._cells = plan.cells
        self._known_globals = self._choose_globals()

    def _choose_globals(self) -> Dict[str, Mark]:
        """Data of the module that the function uses: its marks."""
        chosen: Dict[str, Mark] = {}
        for name in self._plan.global_writes:
            value = self._globals.get(name, _UNKNOWN)
            chosen[name] = _UNKNOWN if value is _UNKNOWN else take_mark(value)
        for name in self._plan.global_reads:
            value = self._globals.get(name)
            kind = type(value)
            if id(kind) not in FIXED and not issubclass(kind, type) and len(chosen) < _MAX_GLOBALS:
                chosen[name] = take_mark(value)
        return chosen

    # -- the beginning ----------------------------------------------------------------------------

    def begin(self) -> List[List[Any]]:
        """Learn all variables, and return the arguments: names, texts, content ids."""
        arguments = []
        for name in self._plan.parameters:
            try:
                value = self._read(name)
            except UNBOUND:
                continue
            self._know(name, value)
            text = show(value, _ARGUMENT_ROOM)
            cid = self._keep(value) if traced_values.is_cut(text) else None
            arguments.append([name, text] if cid is None else [name, text, cid])
        self._learn(self._cells)
        return arguments

    def refresh(self) -> None:
        """Learn all variables anew, after statements that were not compared."""
        self._known.clear()
        self._watched.clear()
        self._learn(name for name in self._plan.names if name not in self._plan.unreadable)
        for name in self._known_globals:
            value = self._globals.get(name, _UNKNOWN)
            self._known_globals[name] = _UNKNOWN if value is _UNKNOWN else take_mark(value)

    def _learn(self, names: Any) -> None:
        for name in names:
            if name not in self._known:
                try:
                    self._know(name, self._read(name))
                except UNBOUND:
                    pass

    def _know(self, name: str, value: Any) -> Mark:
        mark = self._known[name] = take_mark(value, name in self._coarse)
        if id(type(value)) in FIXED:
            self._watched.pop(name, None)
        else:
            self._watched[name] = None
            self._weigh(name, mark)
        return mark

    def _weigh(self, name: str, mark: Mark) -> None:
        if not is_heavy(mark):
            self.large.pop(name, None)
            return
        self.large[name] = None
        content = mark[1]
        if type(content) is bytes and len(content) > _COARSE:
            self._coarse[name] = None

    def read_texts(self, names: Any, room: int = 40) -> Dict[str, str]:
        """The values of some variables as text, where they have any."""
        texts = {}
        for name in names:
            try:
                texts[name] = show(self._read(name), room)
            except UNBOUND:
                pass
        return texts

    def list_changeable(self) -> Tuple[str, ...]:
        return tuple(self._watched)

    # -- after a statement ------------------------------------------------------------------------

    def compare(self, statement: Statement) -> List[List[Any]]:
        """What a statement that has just run changed: name, how, text of the value, and more."""
        changes: List[List[Any]] = []
        changed: Dict[int, str] = {}  # the names of objects whose change was told
        for name in statement.writes:
            self._compare_binding(name, statement, changes, changed)
        if statement.mutates != NOTHING and (
            statement.mutates == ANYTHING or self._has_foreign_operand(statement)
        ):
            self._compare_objects(statement, changes, changed)
        if self._known_globals:
            self._compare_globals(statement, changes, changed)
        return changes

    def _compare_binding(
        self, name: str, statement: Statement, changes: List[List[Any]], changed: Dict[int, str]
    ) -> None:
        known = self._known
        old = known.get(name, _UNKNOWN)
        try:
            value = self._read(name)
        except UNBOUND:
            if old is not _UNKNOWN:
                del known[name]
                self._watched.pop(name, None)
                changes.append([name, DELETED])
            return
        kind = type(value)
        if kind is int:
            if type(old) is int and old == value:
                if statement.is_assignment:
                    changes.append([name, SAME, show(value)])
                return
            known[name] = value
            self._watched.pop(name, None)
            changes.append([name, SET, show(value)])
            return
        mark = self._know(name, value)
        if old is _UNKNOWN or not is_same_content(old, mark):
            changes.append(self._describe(name, old, value, mark))
            changed[id(value)] = name
        elif statement.is_assignment:
            changes.append([name, SAME, show(value)])

    def _describe(self, name: str, old: Mark, value: Any, mark: Mark) -> List[Any]:
        text = show(value)
        if old is not _UNKNOWN and is_one_object(old, mark):
            return [name, MUTATED, text, value_changes.describe(name, old, value, mark)]
        if traced_values.is_cut(text):
            cid = self._keep(value) if _is_small(value, mark) else None
            if cid is not None:
                return [name, SET, text, None, cid]
        return [name, SET, text]

    def _has_foreign_operand(self, statement: Statement) -> bool:
        """Whether a statement works on anything but plain values, whose operations are Python's."""
        for name in statement.reads:
            mark = self._known.get(name, _UNKNOWN)
            if mark is _UNKNOWN:
                if id(type(self._globals.get(name))) not in FIXED:
                    return True
            elif name in self._watched and not (type(mark) is tuple and type(mark[1]) is bytes):
                return True
        return False

    def _compare_objects(
        self, statement: Statement, changes: List[List[Any]], changed: Dict[int, str]
    ) -> None:
        """Whatever may have changed in place, or was bound by another function."""
        watched = self._watched
        names = [name for name in statement.reads if name in watched]
        names += [name for name in watched if name not in statement.reads]
        names += [name for name in self._cells if name not in watched]
        for name in names:
            if name in statement.writes or (name in self.large and name not in statement.reads):
                continue
            old = self._known.get(name, _UNKNOWN)
            try:
                value = self._read(name)
            except UNBOUND:
                if old is not _UNKNOWN:
                    del self._known[name]
                    watched.pop(name, None)
                    changes.append([name, DELETED])
                continue
            mark = take_mark(value, name in self._coarse)
            if old is not _UNKNOWN and type(mark) is type(old) and mark == old:
                continue
            self._add_change(name, old, value, changes, changed)

    def _add_change(
        self,
        name: str,
        old: Mark,
        value: Any,
        changes: List[List[Any]],
        changed: Dict[int, str],
    ) -> None:
        mark = self._know(name, value)
        twin = changed.get(id(value))
        if twin is not None and old is not _UNKNOWN and is_one_object(old, mark):
            changes.append([name, MUTATED, show(value), None, None, twin])
        elif old is _UNKNOWN or not is_same_content(old, mark):
            changed[id(value)] = name
            changes.append(self._describe(name, old, value, mark))

    def _compare_globals(
        self, statement: Statement, changes: List[List[Any]], changed: Dict[int, str]
    ) -> None:
        if statement.mutates != ANYTHING and not statement.global_writes:
            return
        known = self._known_globals
        for name, old in list(known.items()):
            value = self._globals.get(name, _UNKNOWN)
            if value is _UNKNOWN:
                if old is not _UNKNOWN:
                    known[name] = _UNKNOWN
                    changes.append([name, DELETED])
                continue
            mark = take_mark(value)
            if old is not _UNKNOWN and type(mark) is type(old) and is_same_content(old, mark):
                known[name] = mark
                if name in statement.global_writes and statement.is_assignment:
                    changes.append([name, SAME, show(value)])
                continue
            known[name] = mark
            twin = changed.get(id(value))
            if twin is not None and old is not _UNKNOWN and is_one_object(old, mark):
                changes.append([name, MUTATED, show(value), None, None, twin])
            else:
                changed[id(value)] = name
                changes.append(self._describe(name, old, value, mark))


def is_one_object(old: Mark, new: Mark) -> bool:
    """Whether two marks are of one object that may change in place."""
    return (
        type(old) is tuple
        and type(new) is tuple
        and len(old) == len(new) == 2
        and type(old[0]) is int
        and old[0] == new[0]
    )


def _is_small(value: Any, mark: Mark) -> bool:
    if type(value) is str or type(value) is bytes:
        return len(value) <= _MAX_STEP_CONTENT
    return type(mark) is tuple and type(mark[-1]) is bytes and len(mark[-1]) <= _MAX_STEP_CONTENT


class ContentKeeper:
    """Writes whole values to a recording, each once, within a budget."""

    def __init__(self, write: Callable[[Dict[str, Any]], None], budget: int = 4_000_000) -> None:
        self._write = write
        self._budget = budget
        self._written: Dict[str, None] = {}

    def keep(self, value: Any) -> Optional[str]:
        if self._budget <= 0:
            return None
        content = take_content(value)
        if content is None:
            return None
        cid, data = content
        if cid not in self._written:
            self._written[cid] = None
            self._budget -= len(data) * 4 // 3
            text = binascii.b2a_base64(data, newline=False).decode("ascii")
            self._write({"content": cid, "data": text})
        return cid
