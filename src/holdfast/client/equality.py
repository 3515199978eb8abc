"""The equality key: the same for equal values of any process.

A content id names bytes, and equal values may have different bytes: a set is written in the order
of its hashes, a dict in the order of insertion, a part that is used twice is written once. The key
is computed from the value instead, so that it can be searched for:

- the order of dicts and sets does not count, nor whether a part is shared or equal;
- types count: `1`, `1.0` and `True` have three keys, a list and a tuple of the same items two;
- an object is its class by name, and its state (`__reduce_ex__`, as for pickle);
- a function or class is its name; a cycle is the distance back to where it began.

Values of more than `MAX_PARTS` parts, and those that `__reduce_ex__` refuses, have no key.
"""

from __future__ import annotations

import hashlib
import types
from collections.abc import Iterable
from typing import Any

from holdfast.client.proxy_base import target_of, without_interception

MAX_PARTS = 10_000


class _NoKey(Exception):
    """The value is too large, or `__reduce_ex__` refuses it."""


def key(value: Any, limit: int = MAX_PARTS) -> str | None:
    """The key, as 64 hexadecimal digits; None when there is none."""
    with without_interception():
        try:
            return _Hasher(limit).hash(value).hex()
        except (_NoKey, RecursionError):
            return None


class _Hasher:
    def __init__(self, limit: int) -> None:
        self._room = limit
        self._open: list[int] = []

    def hash(self, value: Any) -> bytes:
        self._room -= 1
        if self._room < 0:
            raise _NoKey
        value = target_of(value)
        cls = type(value)
        if value is None or cls in (bool, int, str, bytes, complex):
            return _hash_parts(cls.__name__, [repr(value).encode("utf-8", "surrogatepass")])
        if cls is float:
            return _hash_parts("float", [value.hex().encode()])
        if cls is types.FunctionType or cls is types.BuiltinFunctionType or issubclass(cls, type):
            return _hash_parts("name", [_encode_name(value)])
        if id(value) in self._open:
            return _hash_parts("back", [b"%d" % (len(self._open) - self._open.index(id(value)))])
        self._open.append(id(value))
        try:
            return self._hash_container(cls, value)
        finally:
            self._open.pop()

    def _hash_container(self, cls: type, value: Any) -> bytes:
        if cls is list or cls is tuple:
            return _hash_parts(cls.__name__, [self.hash(item) for item in value])
        if cls is dict:
            return _hash_parts("dict", self._hash_entries(value.items()))
        if cls is set or cls is frozenset:
            return _hash_parts(cls.__name__, sorted(self.hash(item) for item in value))
        return self._hash_object(value)

    def _hash_entries(self, entries: Iterable[tuple[Any, Any]]) -> list[bytes]:
        return sorted(self.hash(name) + self.hash(item) for name, item in entries)

    def _hash_object(self, value: Any) -> bytes:
        try:
            parts = value.__reduce_ex__(4)
        except Exception:  # the application's own method may raise anything
            raise _NoKey from None
        if isinstance(parts, str):
            return _hash_parts("name", [parts.encode(), _encode_name(type(value))])
        make, args, state, items, entries = (*parts, None, None, None)[:5]
        hashes = [self.hash(make), self.hash(args), self.hash(state)]
        hashes.append(_hash_parts("items", [self.hash(item) for item in items or ()]))
        return _hash_parts("object", [*hashes, *self._hash_entries(entries or ())])


def _encode_name(thing: Any) -> bytes:
    return f"{getattr(thing, '__module__', '')}:{getattr(thing, '__qualname__', '')}".encode()


def _hash_parts(kind: str, parts: Iterable[bytes]) -> bytes:
    digest = hashlib.sha256(kind.encode())
    for part in parts:
        digest.update(b"%d:" % len(part))
        digest.update(part)
    return digest.digest()
