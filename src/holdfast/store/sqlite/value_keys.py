"""The numbers that values are indexed by: the first eight bytes of their content ids."""

from __future__ import annotations

import hashlib
import pickle
import struct
from collections.abc import Iterator
from typing import Any

_MAX_REMEMBERED = 20_000
_CID_BYTES = 32
_first_eight = struct.Struct(">q").unpack_from
# Not `plain_value_bytes`: it would cost a call for each of millions of values.
_dumps, _sha256, _PROTOCOL = pickle.dumps, hashlib.sha256, 5


def key_of_cid(cid: bytes) -> int:
    key: int = _first_eight(cid)[0]
    return key


def keys_of_cids(cids: bytes) -> Iterator[int]:
    """The keys of content ids that follow each other."""
    for start in range(0, len(cids), _CID_BYTES):
        yield key_of_cid(cids[start : start + _CID_BYTES])


class _KeysByBytes(dict[bytes, int]):
    """The keys of values by their bytes. Remembers the latest."""

    def __missing__(self, data: bytes) -> int:
        if len(self) > _MAX_REMEMBERED:
            self.clear()
        key: int = _first_eight(_sha256(data).digest())[0]
        self[data] = key
        return key


class _KeysByValue(dict[Any, int]):
    """The keys of plain values of one type: 1, 1.0 and True are the same key of a dict."""

    def __missing__(self, value: Any) -> int:
        if len(self) > _MAX_REMEMBERED:
            self.clear()
        key: int = _first_eight(_sha256(_dumps(value, _PROTOCOL)).digest())[0]
        self[value] = key
        return key


class _KeysByFloat(_KeysByValue):
    """Remembers none: 0.0 and -0.0 are the same key of a dict, too."""

    def __getitem__(self, value: float) -> int:
        return key_of_cid(_sha256(_dumps(value, _PROTOCOL)).digest())


KEY_OF_BYTES = _KeysByBytes()
KEY_OF_PLAIN: dict[type, _KeysByValue] = {
    int: _KeysByValue(),
    str: _KeysByValue(),
    bool: _KeysByValue(),
    type(None): _KeysByValue(),
    float: _KeysByFloat(),
}
