"""Pickles values and loads them.

C pickle comes first: it is 30 to 80 times faster than dill and right for nearly everything. It is
wrong where it writes a name that only this process knows (`__main__`), and it refuses lambdas,
closures and local classes. Such values are pickled again with those classes and functions left out,
each stored once under an id of its own (`definitions`) and referred to by that (`references`). What
C pickle cannot do even then, dill does.
"""

from __future__ import annotations

import functools
import hashlib
import operator
import pickle
import types
from collections.abc import Callable
from typing import Any

from holdfast.client import rebuilding, value_reductions
from holdfast.client.references import Look, Omitted, Reference, resolve_with, stored

PROTOCOL = 5

# In the names that no other process finds: `__main__`, `__mp_main__`.
_PRIVATE_MODULE = b"_main__"

Refer = Callable[[Any], "str | None"]


# What exceeds the limit is hashed instead of kept, up to so many times the limit.
_MAX_EXCESS = 64


class TooLarge(Exception):
    """There are more bytes than the limit: how many, and their SHA-256."""

    def __init__(self, size: int = 0, digest: str = "") -> None:
        super().__init__(f"it takes {size} bytes" if size else "")
        self.size = size
        self.digest = digest


class NotPicklable(Exception):
    """Not even dill could: why, and the objects from the value down to the one that refused."""

    def __init__(self, cause: BaseException, objects: list[Any]) -> None:
        super().__init__(str(cause))
        self.cause = cause
        self.objects = objects


class Changing(Exception):
    """Another thread changed the value while it was pickled. It may be still the next time."""


class _Sink:
    """What a pickler writes to. Beyond the limit, bytes are only counted and hashed."""

    __slots__ = ("_hash", "_limit", "_min_room", "parts", "room")

    def __init__(self, limit: int, max_excess: int = _MAX_EXCESS) -> None:
        self.parts: list[bytes] = []
        self.room = limit
        self._limit = limit
        self._min_room = -max_excess * limit
        self._hash: Any = None

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes if type(data) is not bytes else len(data)
        self.room -= size
        if self.room < 0:
            self._hash_excess(data)
        else:
            self.parts.append(data if type(data) is bytes else bytes(data))
        return size

    def _hash_excess(self, data: Any) -> None:
        if self._hash is None:
            self._hash = hashlib.sha256()
            for part in self.parts:
                self._hash.update(part)
            self.parts.clear()
        self._hash.update(data)
        if self.room < self._min_room:
            raise self.too_large()

    @property
    def is_over(self) -> bool:
        return self.room < 0

    def too_large(self) -> TooLarge:
        return TooLarge(self._limit - self.room, self._hash.hexdigest())

    def bytes(self) -> bytes:
        if self.room < 0:
            raise self.too_large()
        return self.parts[0] if len(self.parts) == 1 else b"".join(self.parts)


def dump_plain(value: Any, limit: int, max_excess: int = _MAX_EXCESS) -> bytes | None:
    """C pickle's bytes; None if another process could not load them."""
    sink = _Sink(limit, max_excess)
    try:
        value_reductions.table.refresh()
        _PlainPickler(sink, PROTOCOL).dump(value)
    except TooLarge:
        raise
    except Exception as problem:  # pickling runs the value's own code; dill may still manage
        if _is_changing(problem):
            raise Changing from problem
        return None
    data = sink.bytes()
    return None if _PRIVATE_MODULE in data else data


class _Changed(Exception):
    pass


class _Comparison:
    """What a pickler writes to, in order to compare its bytes with those of before."""

    __slots__ = ("at", "expected")

    def __init__(self, expected: bytes) -> None:
        self.expected = expected
        self.at = 0

    def write(self, data: Any) -> int:
        start = self.at
        self.at += len(data)
        if self.expected[start : self.at] != data:
            raise _Changed
        return len(data)


def is_same(value: Any, data: bytes) -> bool:
    """Whether C pickle writes exactly these bytes. False is no proof that the value has changed."""
    sink = _Comparison(data)
    try:
        _PlainPickler(sink, PROTOCOL).dump(value)
    except Exception:  # it has changed, or the value's own code fails
        return False
    return sink.at == len(data)


def dump_referring(
    value: Any, limit: int, refer: Refer, is_private: Callable[[Any], bool]
) -> bytes:
    """The bytes with references to the classes and functions for which `refer` gives an id."""
    sink = _Sink(limit)
    try:
        _ReferringPickler(sink, refer).dump(value)
        return sink.bytes()
    except TooLarge:
        raise
    except Exception as problem:  # C pickle cannot do it, for any reason: dill may
        if _is_changing(problem):
            raise Changing from problem
        if sink.is_over:  # dill would take minutes, to no use
            raise sink.too_large() from None
        return dump_definitions(value, limit, refer, is_private)


def dump_definitions(
    value: Any, limit: int, refer: Refer, is_private: Callable[[Any], bool]
) -> bytes:
    """dill's bytes, in which private functions and classes are written out."""
    sink = _Sink(limit)
    pickler = _dill_pickler()(sink, refer, is_private)
    try:
        pickler.dump(value)
    except (TooLarge, RecursionError):
        raise
    except Exception as problem:  # pickling runs the value's own code
        if _is_changing(problem):
            raise Changing from problem
        failure = pickler.failure
        is_known = failure is not None and failure[0] is problem
        raise NotPicklable(problem, failure[1] if is_known else [value]) from problem
    return sink.bytes()


def _is_changing(problem: BaseException) -> bool:
    """`dictionary changed size during iteration` and its like, for sets, lists and deques."""
    if isinstance(problem, Changing):
        return True
    return isinstance(problem, RuntimeError) and "during iteration" in str(problem)


class _PlainPickler(pickle.Pickler):
    dispatch_table = value_reductions.table


class _ReferringPickler(_PlainPickler):
    def __init__(self, sink: _Sink, refer: Refer) -> None:
        super().__init__(sink, PROTOCOL)
        self._refer = refer

    def reducer_override(self, obj: Any) -> Any:
        cls = type(obj)
        if cls is types.FunctionType or issubclass(cls, type):
            cid = self._refer(obj)
            return NotImplemented if cid is None else (stored, (cid,))
        return NotImplemented


@functools.cache
def _dill_pickler() -> Any:
    """dill is imported when it is first needed, and many applications never need it."""
    import dill

    class ReferringDillPickler(dill.Pickler):  # type: ignore[misc]
        def __init__(self, sink: _Sink, refer: Refer, is_private: Callable[[Any], bool]) -> None:
            super().__init__(sink, PROTOCOL, recurse=True, byref=False)
            self._refer_to = refer
            self._is_private = is_private
            self._reductions = rebuilding.Reductions()
            self._path: list[Any] = []
            self.failure: tuple[BaseException, list[Any]] | None = None

        def save(self, obj: Any, save_persistent_id: bool = True) -> None:
            self._path.append(obj)
            try:
                super().save(obj, save_persistent_id)
            except Exception as problem:
                if self.failure is None or self.failure[0] is not problem:
                    self.failure = problem, list(self._path)
                raise
            finally:
                self._path.pop()

        def reducer_override(self, obj: Any) -> Any:
            cls = type(obj)
            if cls is types.CellType:
                return rebuilding.reduce_cell(obj)
            if cls is types.FunctionType or issubclass(cls, type):
                cid = self._refer_to(obj)
                if cid is not None:
                    return stored, (cid,)
                return self._reductions.reduce(obj) if self._is_private(obj) else NotImplemented
            if value_reductions.is_special(cls):
                return value_reductions.table[cls](obj)
            if cls.__module__ == "dataclasses":
                return rebuilding.sentinel_name(obj) or NotImplemented
            return NotImplemented

    return ReferringDillPickler


def has_reduction_of_dill(cls: type) -> bool:
    """Whether dill knows how to pickle this type, of which pickle knows nothing."""
    return cls in _dill_pickler().dispatch


def dump_omission(type_name: str, why: str, size: int | None = None, digest: str = "") -> bytes:
    """Bytes that load as an `Omitted`, which describes what is not stored."""
    return pickle.dumps(Omitted(type_name, why, size, digest), PROTOCOL)


def has_omissions(data: bytes) -> bool:
    """Whether what these bytes load as has an `Omitted` in it."""
    return Omitted.__module__.encode() in data and Omitted.__name__.encode() in data


class _Part:
    """One of several things that are stored together because they refer to each other."""

    def __init__(self, group: str, index: int) -> None:
        self._group, self._index = group, index

    def __reduce__(self) -> Any:
        return operator.getitem, (Reference(self._group), self._index)


def dump_part(group: str, index: int) -> bytes:
    return pickle.dumps(_Part(group, index), PROTOCOL)


def loads(data: bytes, look: Look) -> Any:
    """Load a value. `look` gives what is stored under an id that the bytes refer to."""
    with resolve_with(look):
        if b"dill" in data:
            import dill

            return dill.loads(data)
        return pickle.loads(data)
