"""Bytes of values, and values of bytes.

C pickle comes first: it is 30 to 80 times faster than dill and right for nearly everything. It is
wrong where it writes a name that only this process knows (`__main__`), and it refuses lambdas,
closures and local classes. Such values are written again with those classes and functions left
out, each stored once under an id of its own (`definitions`) and referred to by that
(`references`); and what C pickle cannot do even then, dill does.
"""

from __future__ import annotations

import functools
import hashlib
import operator
import pickle
import types
from collections.abc import Callable
from typing import Any

from holdfast.client import rebuilding
from holdfast.client.references import Look, Omitted, Reference, looking, stored

PROTOCOL = 5

# A name that cannot be found from another process has this in it: `__main__`, `__mp_main__`.
_PRIVATE_MODULE = b"_main__"

# Things that are under way or belong to one process; a call's record says that there was one.
ONE_SHOT: dict[type, str] = {
    types.GeneratorType: "generator",
    types.CoroutineType: "coroutine",
    types.AsyncGeneratorType: "async_generator",
    types.TracebackType: "traceback",
    types.FrameType: "frame",
}

Refer = Callable[[Any], "str | None"]


# What is over the cap is not kept but hashed, this many times the cap; then the pickler is stopped.
_BEYOND = 64


class TooLarge(Exception):
    """The bytes would be more than the cap: how many there are, and their SHA-256."""

    def __init__(self, size: int = 0, digest: str = "") -> None:
        super().__init__(f"it takes {size} bytes" if size else "")
        self.size = size
        self.digest = digest


class UnderWay(Exception):
    """There is something in the value that is used up by reading it, or belongs to one process."""

    def __init__(self, kind: str) -> None:
        super().__init__(f"there is a {kind.replace('_', ' ')} in it")
        self.kind = kind


class _Sink:
    """Where a pickler writes. What is more than the cap is not kept, only counted and hashed."""

    __slots__ = ("_hash", "_least", "_most", "parts", "room")

    def __init__(self, room: int, beyond: int = _BEYOND) -> None:
        self.parts: list[bytes] = []
        self.room = room
        self._most = room
        self._least = -beyond * room
        self._hash: Any = None

    def write(self, data: Any) -> int:
        size = memoryview(data).nbytes if type(data) is not bytes else len(data)
        self.room -= size
        if self.room < 0:
            self._hashed(data)
        else:
            self.parts.append(data if type(data) is bytes else bytes(data))
        return size

    def _hashed(self, data: Any) -> None:
        if self._hash is None:
            self._hash = hashlib.sha256()
            for part in self.parts:
                self._hash.update(part)
            self.parts.clear()
        self._hash.update(data)
        if self.room < self._least:
            raise self.too_large()

    @property
    def is_over(self) -> bool:
        return self.room < 0

    def too_large(self) -> TooLarge:
        return TooLarge(self._most - self.room, self._hash.hexdigest())

    def bytes(self) -> bytes:
        if self.room < 0:
            raise self.too_large()
        return self.parts[0] if len(self.parts) == 1 else b"".join(self.parts)


def plain(value: Any, most: int, beyond: int = _BEYOND) -> bytes | None:
    """C pickle's bytes if another process can load them."""
    sink = _Sink(most, beyond)
    try:
        pickle.Pickler(sink, PROTOCOL).dump(value)
    except TooLarge:
        raise
    except Exception:  # whatever the value's own code raises: dill may know better
        return None
    data = sink.bytes()
    return None if _PRIVATE_MODULE in data else data


class _Changed(Exception):
    pass


class _Comparing:
    """Where a pickler writes what should be the same as before; nothing is kept."""

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
    """Whether C pickle writes exactly these bytes. False is no proof that it has changed."""
    sink = _Comparing(data)
    try:
        pickle.Pickler(sink, PROTOCOL).dump(value)
    except Exception:  # it is different, or C pickle cannot tell
        return False
    return sink.at == len(data)


def referring(value: Any, most: int, refer: Refer, is_private: Callable[[Any], bool]) -> bytes:
    """The bytes with classes and functions left out for which `refer` gives an id."""
    sink = _Sink(most)
    try:
        _Referring(sink, refer).dump(value)
        return sink.bytes()
    except TooLarge:
        raise
    except Exception:
        if sink.is_over:  # dill would take minutes, to no use
            raise sink.too_large() from None
        return thorough(value, most, refer, is_private)


def thorough(value: Any, most: int, refer: Refer, is_private: Callable[[Any], bool]) -> bytes:
    """dill's bytes, in which private functions and classes are written out."""
    sink = _Sink(most)
    _dill_pickler()(sink, refer, is_private).dump(value)
    return sink.bytes()


class _Referring(pickle.Pickler):
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

    class Thorough(dill.Pickler):  # type: ignore[misc]
        def __init__(self, sink: _Sink, refer: Refer, is_private: Callable[[Any], bool]) -> None:
            super().__init__(sink, PROTOCOL, recurse=True, byref=False)
            self._refer_to = refer
            self._is_private = is_private
            self._parts = rebuilding.Parts()

        def reducer_override(self, obj: Any) -> Any:
            cls = type(obj)
            if cls is types.CellType:
                return rebuilding.cell_parts(obj)
            if cls is types.FunctionType or issubclass(cls, type):
                cid = self._refer_to(obj)
                if cid is not None:
                    return stored, (cid,)
                return self._parts.of(obj) if self._is_private(obj) else NotImplemented
            if cls in ONE_SHOT:
                raise UnderWay(ONE_SHOT[cls])
            if cls.__module__ == "dataclasses":
                return rebuilding.sentinel(obj) or NotImplemented
            return NotImplemented

    return Thorough


def omission(type_name: str, why: str, size: int | None = None, digest: str = "") -> bytes:
    """Bytes that say what is not stored; they load as an `Omitted`."""
    return pickle.dumps(Omitted(type_name, why, size, digest), PROTOCOL)


class _Part:
    """One of several things that are stored together because they refer to each other."""

    def __init__(self, group: str, index: int) -> None:
        self._group, self._index = group, index

    def __reduce__(self) -> Any:
        return operator.getitem, (Reference(self._group), self._index)


def part(group: str, index: int) -> bytes:
    return pickle.dumps(_Part(group, index), PROTOCOL)


def loads(data: bytes, look: Look) -> Any:
    """The value again; `look` gives what is stored under another id."""
    with looking(look):
        if b"dill" in data:
            import dill

            return dill.loads(data)
        return pickle.loads(data)
