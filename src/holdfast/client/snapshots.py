"""Snapshots: the bytes that restore a value as it is now, under their SHA-256.

`Snapshots.take` makes one, `retake` makes another if the value has changed since (it compares
bytes, so that an unchanged value is hashed once), `restore` makes the value again. The same
unmutated object has the same id as long as the process lives. Equal values of different processes
may have different ids, because sets and shared parts are written as they are in memory; to search
for equal values there is `equality.key`.
"""

from __future__ import annotations

import hashlib
import pickle
import sys
import types
from collections.abc import Callable
from typing import Any

from holdfast.client import definitions, value_pickler
from holdfast.client.definitions import Definitions, Stored
from holdfast.client.exceptions import DebugSerializationError
from holdfast.client.identities import identify
from holdfast.client.proxy_base import target_of
from holdfast.client.value_pickler import ONE_SHOT
from holdfast.client.value_preview import preview_text

MAX_BYTES = 16 << 20

_CONSTANTS = (type(None), type(...), type(NotImplemented))
_NAMED = (types.BuiltinFunctionType, types.ModuleType)
_FIXED = frozenset((int, str, float, bool, bytes, complex, range, *_CONSTANTS, *_NAMED))
# By name, so that an application which does not use them need not load them.
_FIXED_BY_NAME = {
    "decimal": ("Decimal",),
    "fractions": ("Fraction",),
    "uuid": ("UUID",),
    "datetime": ("date", "datetime", "time", "timedelta", "timezone"),
    "pathlib": ("PosixPath", "PurePosixPath"),
}
_SMALL_TYPES = frozenset((int, str, bool, type(None), bytes))
_MAX_SMALL = 10_000
_MAX_PARTS = 16  # of a tuple; looking at more costs as much as pickling it
_RUNNING = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
_RUNNING_MARKERS = frozenset(ONE_SHOT[cls] for cls in _RUNNING)


class Snapshot(Stored):
    """One value at one moment."""

    __slots__ = ("fixed", "limit", "marker", "packed", "state", "why")

    def __init__(
        self,
        data: bytes,
        needs: tuple[Stored, ...] = (),
        fixed: bool = False,
        marker: str | None = None,
    ) -> None:
        super().__init__(data, needs)
        self.fixed = fixed  # it cannot change, so there is no need to look again
        self.marker = marker  # why the value itself is not in the bytes, in one word
        self.packed: tuple[int, bytes] | None = None  # length and bytes in a batch, if it is small
        self.state: tuple[Any, ...] | None = None  # the fields of an ordinary object, if plain
        self.why = ""  # the marker's reason, in words
        self.limit = 0  # of bytes, if the value is too large for it


class Snapshots:
    def __init__(self, max_bytes: int = MAX_BYTES, placeholders: bool = False) -> None:
        self.definitions = Definitions(max_bytes)
        self._max_bytes = max_bytes
        self._placeholders = placeholders
        self._small: dict[tuple[type, Any], Snapshot] = {}

    def change_limits(self, max_bytes: int, placeholders: bool) -> None:
        """From now on. A value that was too large may fit, and one that fitted may not."""
        self._placeholders = placeholders
        if max_bytes != self._max_bytes:
            self._max_bytes = self.definitions.max_bytes = max_bytes
            self._small.clear()

    def take(self, value: Any, *, lenient: bool = False) -> Snapshot:
        """The value now. Unless `lenient`, one that cannot be stored is an error."""
        value = target_of(value)
        if type(value) in _SMALL_TYPES:
            return self._take_small(value)
        if type(value) in ONE_SHOT:
            return _build_marked(value, ONE_SHOT[type(value)], "it is used up by reading it")
        try:
            data, needs = self._encode(value)
        except value_pickler.TooLarge as problem:
            return self._build_too_large(value, problem.size, problem.digest)
        except value_pickler.NotCopyable as problem:
            return _build_marked(value, problem.kind, str(problem))
        except Exception as problem:  # pickling runs code of the application's classes
            if isinstance(problem, RecursionError) and _is_stack_full():
                raise  # the application's own error: it is not the value that is too deep
            if lenient or self._placeholders:
                return _build_marked(value, "unpicklable", describe_error(problem))
            raise DebugSerializationError(
                f"a {type(value).__name__} cannot be stored: {describe_error(problem)}"
            ) from problem
        return Snapshot(data, needs, is_fixed(value))

    def take_argument(self, value: Any) -> Snapshot:
        """A traceback passes, because `__exit__` is given one; a running generator does not."""
        if type(value) in _RUNNING and not self._placeholders:
            raise DebugSerializationError(f"a {type(value).__name__} cannot be stored")
        snapshot = self.take(value)
        if snapshot.marker in _RUNNING_MARKERS and not self._placeholders:
            raise DebugSerializationError(
                f"a {type(value).__name__} cannot be stored: {snapshot.why}"
            )
        return snapshot

    def take_outcome(
        self, value: Any, error: BaseException | None
    ) -> tuple[Snapshot, DebugSerializationError | None]:
        """What a call returned or raised, and the error if it cannot be stored."""
        if error is not None:  # it must reach its handler, whatever it carries
            return self.take(error, lenient=True), None
        try:
            return self.take(value), None
        except DebugSerializationError as refused:
            kind = _one_shot_kind(value)
            return _build_marked(
                value, kind or "unpicklable", str(refused)
            ), None if kind else refused

    def _take_small(self, value: Any) -> Snapshot:
        """Numbers and words occur often; each is pickled and hashed once."""
        key = (type(value), value)
        known = self._small.get(key)
        if known is not None:
            return known
        data = pickle.dumps(value, value_pickler.PROTOCOL)
        if len(data) > self._max_bytes:
            return self._build_too_large(value, len(data), cid_of(data))
        snapshot = Snapshot(data, (), True)
        if len(data) < 200:
            if len(self._small) >= _MAX_SMALL:
                self._small.clear()
            self._small[key] = snapshot
        return snapshot

    def _build_too_large(self, value: Any, size: int, digest: str) -> Snapshot:
        """A marker with the digest of what is not stored, so that a change of it shows."""
        why = f"it takes more than {self._max_bytes} bytes"
        data = value_pickler.dump_omission(type(value).__name__, why, size, digest)
        snapshot = Snapshot(data, (), is_fixed(value), "too_large")
        snapshot.limit = self._max_bytes
        return snapshot

    def retake(self, before: Snapshot, value: Any) -> Snapshot | None:
        """A new snapshot if the value has changed since, else None."""
        if before.fixed:
            return None
        value = target_of(value)
        if before.marker is not None:
            return self._retake_marked(before, value)
        if not before.needs and value_pickler.is_same(value, before.data):
            return None
        try:
            data, needs = self._encode(value)
        except Exception:  # `take` knows what to make of each error
            return self.take(value, lenient=True)
        if data == before.data:
            return None
        return Snapshot(data, needs)

    def _retake_marked(self, before: Snapshot, value: Any) -> Snapshot | None:
        if before.why:
            after = _build_marked(value, str(before.marker), before.why)
        else:
            after = self.take(value, lenient=True)
        return None if after.data == before.data else after

    def take_current(self, before: Snapshot | None, value: Any) -> Snapshot:
        """The snapshot of `value`, which is `before` if nothing has changed."""
        if before is None or (before.marker == "too_large" and not before.fixed):
            return self.take(value)
        if not self.fits_limit(before):
            return self.take(value)
        after = self.retake(before, value)
        if after is None:
            return before
        return after if before.marker is None else self.take(value)

    def fits_limit(self, snapshot: Snapshot) -> bool:
        """Whether it would be the same with the limit that there is now."""
        return len(snapshot.data) <= self._max_bytes and snapshot.limit in (0, self._max_bytes)

    def _encode(self, value: Any) -> tuple[bytes, tuple[Stored, ...]]:
        if type(value) is types.FunctionType or issubclass(type(value), type):
            stored = self.definitions.store(value)
            if stored is not None:
                return stored.data, stored.needs
        data = value_pickler.dump_plain(value, self._max_bytes)
        if data is not None:
            return data, ()
        used: dict[str, Stored] = {}
        refer = self.definitions.build_referrer(used)
        data = value_pickler.dump_referring(value, self._max_bytes, refer, definitions.is_private)
        return data, tuple(used.values())

    def restore(self, data: bytes, fetch: Callable[[str], bytes]) -> Any:
        """The value of these bytes. `fetch` gets the bytes of what they refer to."""
        return restore(data, fetch, self.definitions.find_living)


def restore(
    data: bytes, fetch: Callable[[str], bytes], living: Callable[[str], Any] | None = None
) -> Any:
    """The value of these bytes, each thing that they refer to made once.

    `living` may know a class or function of this process under an id; it is then the one used.
    """
    loaded: dict[str, Any] = {}

    def refer(cid: str) -> Any:
        if cid not in loaded:
            thing = living(cid) if living is not None else None
            loaded[cid] = value_pickler.loads(fetch(cid), refer) if thing is None else thing
        return loaded[cid]

    return value_pickler.loads(data, refer)


def cid_of(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def is_fixed(value: Any) -> bool:
    """Whether nothing can change it. False is no proof that something can."""
    cls = type(value)
    if cls in _FIXED:
        return True
    if cls is tuple or cls is frozenset:
        return len(value) <= _MAX_PARTS and all(map(is_fixed, value))
    if cls is types.FunctionType:
        return not value.__closure__
    return issubclass(cls, type) or cls.__name__ in _FIXED_BY_NAME.get(cls.__module__, ())


def _one_shot_kind(value: Any) -> str | None:
    """What it is, if awaiting it or iterating over it uses it up."""
    cls = type(value)
    if hasattr(cls, "__await__"):
        return "awaitable"
    if hasattr(cls, "__anext__"):
        return "async_iterator"
    return "iterator" if hasattr(cls, "__next__") else None


def _build_marked(value: Any, marker: str, why: str) -> Snapshot:
    """Identifies a value that is not stored, and its state as far as its preview shows it."""
    digest = identify(value)
    fixed = type(value) in ONE_SHOT
    if not fixed:
        text = preview_text(value).encode("utf-8", "replace")
        digest = f"{digest}-{hashlib.sha256(text).hexdigest()}"
    data = value_pickler.dump_omission(type(value).__name__, why, None, digest)
    snapshot = Snapshot(data, (), fixed, marker)
    snapshot.why = why
    return snapshot


def _is_stack_full() -> bool:
    frame, depth = sys._getframe(), 0
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    return depth > sys.getrecursionlimit() // 2


def describe_error(problem: BaseException) -> str:
    try:
        text = str(problem)
    except Exception:  # the exception's own __str__ fails
        text = ""
    name = type(problem).__name__
    return f"{name}: {text[:300]}" if text else name
