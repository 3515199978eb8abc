"""References in stored bytes to what is stored by itself.

A class or function that no other process can import is stored once, under a content id of its own.
The bytes of whatever uses it call `stored` with that id, so that `pickle.loads` and `dill.loads`
restore them where Holdfast is installed and finds its server. `resolve_with` replaces the server.

The names `Omitted` and `stored` and the path of this module are part of the stored format.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from holdfast import timings

Look = Callable[[str], Any]
_look: ContextVar[Look | None] = ContextVar("holdfast_look", default=None)


class Omitted:
    """Stands in a restored value for what was not stored, and says what that was and why."""

    def __init__(self, type_name: str, why: str, size: int | None = None, digest: str = "") -> None:
        self.type = type_name
        self.why = why
        self.size = size
        self.digest = digest

    def __reduce__(self) -> Any:
        return Omitted, (self.type, self.why, self.size, self.digest)

    def __repr__(self) -> str:
        return f"<{self.type} not stored: {self.why}>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Omitted) and vars(self) == vars(other)

    __hash__ = object.__hash__


def stored(cid: str) -> Any:
    """The class, function or group of them that is stored under this id."""
    return (_look.get() or _fetch_and_load)(cid)


class Reference:
    """Becomes, in a pickle, a call of `stored`."""

    def __init__(self, cid: str) -> None:
        self._cid = cid

    def __reduce__(self) -> Any:
        return stored, (self._cid,)


@contextmanager
def resolve_with(look: Look) -> Iterator[None]:
    """Find what bytes refer to with `look` while they are loaded."""
    token = _look.set(look)
    try:
        yield
    finally:
        _look.reset(token)


@functools.lru_cache(maxsize=1000)
def _fetch_and_load(cid: str) -> Any:
    """Load what is stored from the server that `discovery` finds."""
    # Imported here, because `value_pickler` imports this module, and because only a process that
    # unpickles by itself comes this far.
    from holdfast.client import discovery
    from holdfast.client.exceptions import DebugError, DebugServerError
    from holdfast.client.http_client import HttpClient
    from holdfast.client.value_pickler import loads

    url = discovery.server_url()
    client = HttpClient(url, timeout=timings.TIMINGS.stored_value)
    try:
        reply = client.ask("GET", f"/api/cid/{cid}")
    except DebugError as problem:
        raise DebugServerError(
            f"these bytes need what is stored under {cid}, and no server answers at "
            f"{url} ({problem}); HOLDFAST_SERVER_URL says where it is"
        ) from None
    finally:
        client.close()
    if reply.status != 200 or hashlib.sha256(reply.body).hexdigest() != cid:
        raise LookupError(f"the server at {url} has nothing under {cid}")
    return loads(reply.body, _fetch_and_load)
