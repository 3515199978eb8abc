"""How picklers reduce values: as the values do it themselves, unless that would evaluate them.

A lazy value is written as an `Omitted`, which says what it is. Picklers written in C look the type
of every object up in `table`, so that this costs nothing for the others.
"""

from __future__ import annotations

import copyreg
import operator
import threading
from collections.abc import Callable
from typing import Any

from holdfast.client.identities import identify
from holdfast.client.references import Omitted
from holdfast.probe import lazy_values, self_changes

PROTOCOL = 5
_MAX_TYPES = 10_000

Reduce = Callable[[Any], Any]
_reduce_plainly: Reduce = operator.methodcaller("__reduce_ex__", PROTOCOL)

_REASONS = {
    "lazy": "it is not evaluated yet, and storing it would evaluate it",
    "proxy": "it stands for another object, which storing it could create",
}


class _Omissions(threading.local):
    """The kinds of what the pickle under way leaves out, in this thread."""

    kinds: list[str] | None = None


_omissions = _Omissions()


class _Table(dict[type, Reduce]):
    """The reduction of each type that was met."""

    registered = 0

    def __missing__(self, cls: type) -> Reduce:
        if issubclass(cls, type):
            raise KeyError(cls)  # a class is written by its name
        registered = copyreg.dispatch_table.get(cls)
        if registered is not None:
            return registered
        if len(self) >= _MAX_TYPES:
            self.clear()
        reduce = self[cls] = _choose_reduction(cls)
        return reduce

    def refresh(self) -> None:
        """Notice what has been registered with `copyreg` since."""
        if len(copyreg.dispatch_table) != self.registered:
            self.clear()
            self.registered = len(copyreg.dispatch_table)


table = _Table()


def is_special(cls: type) -> bool:
    """Whether values of this type are not simply reduced as they do it themselves."""
    try:
        return table[cls] in (_reduce_lazy, _reduce_guarded)
    except KeyError:
        return False


def mark_lazy(*classes: type) -> None:
    """Never evaluate values of these types, and of their subclasses, in order to record them."""
    lazy_values.mark_lazy(*classes)
    table.clear()


class note_omissions:  # noqa: N801 - read as a word: `with note_omissions() as kinds:`
    """The kinds of what is left out of the pickles that are made meanwhile."""

    __slots__ = ("_before",)

    def __enter__(self) -> list[str]:
        self._before = _omissions.kinds
        kinds: list[str] = []
        _omissions.kinds = kinds
        return kinds

    def __exit__(self, *problem: object) -> None:
        _omissions.kinds = self._before


def describe_reason(kind: str) -> str:
    return _REASONS.get(kind, "it is used up by reading it")


def _choose_reduction(cls: type) -> Reduce:
    laziness = lazy_values.find_laziness(cls)
    if laziness is not None and not laziness.pickles:
        return _reduce_lazy
    return _reduce_guarded if lazy_values.study_pickling(cls) else _reduce_plainly


def _reduce_lazy(value: Any) -> Any:
    kind = lazy_values.lazy_kind(value)
    return _reduce_plainly(value) if kind is None else _omit(value, kind)


def _reduce_guarded(value: Any) -> Any:
    """Reduce a value whose own method may change it, up to where it would."""
    study = lazy_values.study_pickling(type(value))
    if study.reads_uncomputed(value):
        return _omit(value, "lazy")
    try:
        return self_changes.call_unchanged(lambda: _reduce_plainly(value), study.watched)
    except self_changes.WouldChange:
        return _omit(value, "lazy")


def _omit(value: Any, kind: str) -> Any:
    if _omissions.kinds is not None:
        _omissions.kinds.append(kind)
    return Omitted, (type(value).__name__, describe_reason(kind), None, identify(value))
