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
import time
import types
from collections.abc import Callable
from typing import Any

from holdfast.client import definitions, storage_refusals, value_pickler, value_reductions
from holdfast.client.definitions import Definitions, Stored
from holdfast.client.exceptions import DebugSerializationError
from holdfast.client.identities import identify
from holdfast.client.proxy_base import target_of
from holdfast.client.value_preview import preview_text
from holdfast.probe.lazy_values import ONE_SHOT

MAX_BYTES = 16 << 20

_CONSTANTS = (type(None), type(...), type(NotImplemented))
_OWNERS = (type, types.ModuleType, type(None))  # of functions in C that are not bound to an object
_FIXED = frozenset((int, str, float, bool, bytes, complex, range, *_CONSTANTS, types.ModuleType))
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
_PAUSES = (0.0, 0.001, 0.01)  # seconds, before a value that others change is tried again
_RETRY_SHARE = 50  # what could not be stored is tried again after so many times what it took


class Snapshot(Stored):
    """One value at one moment."""

    __slots__ = (
        *("compare_at", "compared_at", "fixed", "is_partial", "limit", "marker", "packed"),
        *("retry_at", "state", "why"),
    )

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
        self.is_partial = False  # the bytes restore the value without what the marker names
        self.retry_at: float | None = None  # when it is to be tried again, if it was not stored
        self.compared_at = 0  # when it was last compared with its value, of a target
        self.compare_at = 0  # when it is to be compared again; in nanoseconds, as monotonic_ns
        self.limit = 0  # of bytes, if the value is too large for it

    def is_due(self) -> bool:
        """Whether it is time to try again to store the value."""
        return self.retry_at is not None and time.monotonic() >= self.retry_at


class Snapshots:
    def __init__(self, max_bytes: int = MAX_BYTES, placeholders: bool = False) -> None:
        self.definitions = Definitions(max_bytes)
        self._max_bytes = max_bytes
        self._placeholders = placeholders
        self._small: dict[tuple[type, Any], Snapshot] = {}

    def is_lenient(self, lenient: bool | None) -> bool:
        return self._placeholders if lenient is None else lenient

    def change_limits(self, max_bytes: int, placeholders: bool) -> None:
        """From now on. A value that was too large may fit, and one that fitted may not."""
        self._placeholders = placeholders
        if max_bytes != self._max_bytes:
            self._max_bytes = self.definitions.max_bytes = max_bytes
            self._small.clear()

    def take(self, value: Any, *, lenient: bool | None = None, is_plain: bool = True) -> Snapshot:
        """The value now. Unless `lenient`, one that cannot be stored is an error.

        None: as configured. What another thread changes meanwhile is tried again. `is_plain`:
        whether it may do without references to definitions, which is tried first.
        """
        value = target_of(value)
        if type(value) in _SMALL_TYPES:
            return self._take_small(value)
        if type(value) in ONE_SHOT:
            kind = ONE_SHOT[type(value)]
            return _build_marked(value, kind, value_reductions.describe_reason(kind))
        began = time.monotonic()
        try:
            try:
                return self._take_once(value, is_plain)
            except value_pickler.Changing:
                return self._take_steady(value, is_plain)
        except value_pickler.TooLarge as problem:
            return self._build_too_large(value, problem.size, problem.digest)
        except value_pickler.Changing:
            return _build_marked(value, "changing", "other threads change it all the time", began)
        except Exception as problem:  # pickling runs code of the application's classes
            if isinstance(problem, RecursionError) and _is_stack_full():
                raise  # the application's own error: it is not the value that is too deep
            used_up = _one_shot_kind(value)
            if used_up is not None:
                why = value_reductions.describe_reason(used_up)
                return _build_marked(value, used_up, why, began)
            refused = storage_refusals.build_error(value, problem)
            if self.is_lenient(lenient):
                return _build_marked(value, "unpicklable", refused.reason, began)
            raise refused from refused.cause

    def _take_steady(self, value: Any, is_plain: bool) -> Snapshot:
        for seconds in _PAUSES:
            time.sleep(seconds)
            try:
                return self._take_once(value, is_plain)
            except value_pickler.Changing:
                continue
        raise value_pickler.Changing

    def _take_once(self, value: Any, is_plain: bool) -> Snapshot:
        with value_reductions.note_omissions() as kinds:
            data, needs = self._encode(value, is_plain)
        if not kinds:
            return Snapshot(data, needs, is_fixed(value))
        snapshot = Snapshot(data, needs, False, kinds[0])
        snapshot.is_partial = True
        return snapshot

    def take_outcome(
        self, value: Any, error: BaseException | None, lenient: bool | None = None
    ) -> tuple[Snapshot, DebugSerializationError | None]:
        """What a call returned or raised, and the error if it cannot be stored."""
        if error is not None:  # it must reach its handler, whatever it carries
            return self.take(error, lenient=True), None
        try:
            return self.take(value, lenient=lenient), None
        except DebugSerializationError as refused:
            return _build_marked(value, "unpicklable", refused.reason), refused

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
        if before.marker is not None and not before.is_partial:
            return self._retake_marked(before, value)
        if not before.needs and value_pickler.is_same(value, before.data):
            return None
        after = self.take(value, lenient=True, is_plain=not before.needs)
        return None if after.data == before.data else after

    def _retake_marked(self, before: Snapshot, value: Any) -> Snapshot | None:
        if before.why:
            after = _build_marked(value, str(before.marker), before.why)
            after.retry_at = before.retry_at
        else:
            after = self.take(value, lenient=True)
        return None if after.data == before.data else after

    def take_current(
        self, before: Snapshot | None, value: Any, lenient: bool | None = None
    ) -> Snapshot:
        """The snapshot of `value`, which is `before` if nothing has changed."""
        if before is None or (before.marker == "too_large" and not before.fixed):
            return self.take(value, lenient=lenient)
        is_asked_again = before.is_due() or before.marker == "not_captured"
        if is_asked_again or not self.fits_limit(before):
            return self.take(value, lenient=lenient)
        after = self.retake(before, value)
        if after is None:
            return before
        if before.is_partial or before.marker is None:
            return after
        return self.take(value, lenient=lenient)

    def fits_limit(self, snapshot: Snapshot) -> bool:
        """Whether it would be the same with the limit that there is now."""
        return len(snapshot.data) <= self._max_bytes and snapshot.limit in (0, self._max_bytes)

    def _encode(self, value: Any, is_plain: bool) -> tuple[bytes, tuple[Stored, ...]]:
        if type(value) is types.FunctionType or issubclass(type(value), type):
            stored = self.definitions.store(value)
            if stored is not None:
                return stored.data, stored.needs
        data = value_pickler.dump_plain(value, self._max_bytes) if is_plain else None
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
    if cls is types.BuiltinFunctionType:
        return issubclass(type(value.__self__), _OWNERS)
    return issubclass(cls, type) or cls.__name__ in _FIXED_BY_NAME.get(cls.__module__, ())


def is_definition(value: Any) -> bool:
    """Whether it is known by its name or its code, rather than by what is in it."""
    cls = type(value)
    if cls is types.BuiltinFunctionType:
        return is_fixed(value)
    return cls in _FIXED or cls is types.FunctionType or issubclass(cls, type)


def build_uncaptured(value: Any, before: Snapshot | None) -> Snapshot:
    """Stands for a target of which nothing is to be recorded but which one it is."""
    if before is not None and before.marker == "not_captured":
        return before
    why = "the application asked not to record it (capture_target)"
    data = value_pickler.dump_omission(type(value).__name__, why, None, identify(value))
    return Snapshot(data, (), True, "not_captured")


def _one_shot_kind(value: Any) -> str | None:
    """What it is, if awaiting it or iterating over it uses it up."""
    cls = type(value)
    if hasattr(cls, "__await__"):
        return "awaitable"
    if hasattr(cls, "__anext__"):
        return "async_iterator"
    return "iterator" if hasattr(cls, "__next__") else None


def _build_marked(value: Any, marker: str, why: str, began: float | None = None) -> Snapshot:
    """Identifies a value that is not stored, and its state as far as its preview shows it.

    `began`: when the attempt to store it did. The longer it took, the later is the next.
    """
    digest = identify(value)
    fixed = type(value) in ONE_SHOT
    if not fixed:
        text = preview_text(value).encode("utf-8", "replace")
        digest = f"{digest}-{hashlib.sha256(text).hexdigest()}"
    data = value_pickler.dump_omission(type(value).__name__, why, None, digest)
    snapshot = Snapshot(data, (), fixed, marker)
    snapshot.why = why
    if began is not None:
        now = time.monotonic()
        snapshot.retry_at = now + _RETRY_SHARE * (now - began)
    return snapshot


def _is_stack_full() -> bool:
    frame, depth = sys._getframe(), 0
    while frame.f_back is not None:
        frame, depth = frame.f_back, depth + 1
    return depth > sys.getrecursionlimit() // 2
