"""What an application tells the server while debugging is on, and what it is answered.

One `Recorder` is one ON. It has the connection, the session, the values that the server has been
sent (the last 10,000 ids), the stacks that it knows, and the functions that may replace others.
"""

from __future__ import annotations

import base64
import contextlib
import json
import logging
import os
import sys
import threading
import types
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

import holdfast
from holdfast.client import stacks, value_preview
from holdfast.client.client_settings import Settings
from holdfast.client.definitions import Stored, all_needed
from holdfast.client.exceptions import (
    DebugCIDMismatchError,
    DebugCIDNotFoundError,
    DebugError,
    DebugProtocolError,
    DebugServerError,
)
from holdfast.client.http_client import HttpClient, Reply
from holdfast.client.snapshots import Snapshot, Snapshots, cid_of

if TYPE_CHECKING:
    from holdfast.client.leased_call import Lease

logger = logging.getLogger("holdfast")

MAX_SENT = 10_000


class Sent:
    """The content ids that the server has been sent, the latest ones.

    Without a lock, which a fork could leave locked: a race costs no more than bytes sent twice.
    """

    def __init__(self, most: int = MAX_SENT) -> None:
        self._most = most
        self._cids: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, cid: str) -> bool:
        try:
            self._cids.move_to_end(cid)
        except KeyError:
            return False
        return True

    def __len__(self) -> int:
        return len(self._cids)

    def add(self, cids: Iterable[str]) -> None:
        for cid in cids:
            self._cids[cid] = None
        while len(self._cids) > self._most:
            with contextlib.suppress(KeyError):
                self._cids.popitem(last=False)

    def forget(self, cids: Iterable[str]) -> None:
        for cid in cids:
            self._cids.pop(cid, None)


class Parcel:
    """The values of one request: ids for what the server has, bytes and previews for the rest."""

    def __init__(self, sent: Sent, again: frozenset[str]) -> None:
        self._sent = sent
        self._again = again
        self.new: dict[str, None] = {}
        self._stored: dict[str, Stored] = {}

    def item(self, snapshot: Snapshot, value: Any) -> dict[str, Any]:
        cid = snapshot.cid
        if cid in self.new or (cid not in self._again and cid in self._sent):
            return {"cid": cid}
        self.new[cid] = None
        self._stored[cid] = snapshot
        shown = value_preview.of(value)
        if snapshot.marker is not None:
            shown["marker"] = snapshot.marker
            shown.pop("json", None)
        return {"cid": cid, "data": base64.b64encode(snapshot.data).decode(), "preview": shown}

    def needs(self) -> list[dict[str, Any]]:
        """What the new values refer to, where that is new to the server too."""
        items = []
        for cid, stored in all_needed(list(self._stored.values())).items():
            if cid in self.new or (not self._again and cid in self._sent):
                continue
            self.new[cid] = None
            items.append({"cid": cid, "data": base64.b64encode(stored.data).decode()})
        return items


class _Missing(Exception):
    def __init__(self, cids: list[str]) -> None:
        super().__init__()
        self.cids = frozenset(cids)


class _SessionGone(Exception):
    """The server does not know our session: it was deleted, or the server lost its data."""


class Recorder:
    def __init__(self, url: str, settings: Settings) -> None:
        self.settings = settings
        self.connection = HttpClient(url, timeout=settings.request_timeout)
        self.snapshots = Snapshots(
            settings.max_value_bytes, settings.on_unpicklable == "placeholder"
        )
        self.stacks = stacks.Stacks()
        self.sent = Sent()
        self.functions: dict[str, list[tuple[str | None, Any]]] = {}
        self.registered: set[tuple[str, int]] = set()
        self.session_id: str | None = None
        self.lease: Lease | None = None
        self.status = "disconnected"
        self._signatures: dict[tuple[Any, ...], str | None] = {}
        self._pid = os.getpid()
        self._lock = threading.Lock()

    # -- the session ------------------------------------------------------------------------

    def open(self) -> None:
        """Begin a session. A server that knows none (an older one) is as good."""
        about = {
            "pid": os.getpid(),
            "argv": [value_preview.clean(each) for each in sys.argv],
            "cwd": value_preview.clean(_cwd()),
            "python": sys.executable,
            "version": holdfast.__version__,
            "mode": self.settings.mode,
            **_program(),
        }
        reply = self._ask("POST", "/api/call/session", json.dumps(about).encode())
        self._pid = os.getpid()
        self.session_id = None
        if reply.status not in (404, 405, 501):
            answer = self._checked(reply)
            found = answer.get("session_id")
            self.session_id = found if isinstance(found, str) else None
            if self.settings.mode == "leased" and self.session_id is not None:
                self._lease().granted(answer)

    def _lease(self) -> Lease:
        if self.lease is None:
            from holdfast.client.leased_call import Lease

            self.lease = Lease(self)
        return self.lease

    def end(self) -> None:
        """Say goodbye, if anybody listens."""
        if self.session_id is not None and self._pid == os.getpid():
            lease, self.lease = self.lease, None
            if lease is not None:
                lease.close()
            self.connection.timeout = min(self.connection.timeout, 2.0)
            body = json.dumps({"session_id": self.session_id}).encode()
            try:
                self.connection.ask("POST", "/api/call/session/end", body)
            except DebugError:
                logger.debug("the server did not hear that the session ended", exc_info=True)
        self.connection.close()

    def in_this_process(self) -> None:
        """After a fork the child is a session of its own."""
        if self._pid != os.getpid():
            with self._lock:
                if self._pid != os.getpid():
                    self.open()

    # -- functions --------------------------------------------------------------------------

    def register(self, name: str, function: Any, alias: str | None, cid: str) -> None:
        """Tell the server of a callable, once; it may then replace others."""
        key = (name, id(function))
        if key in self.registered:
            return
        signature = signature_of(function)
        about = {"name": name, "signature": signature, "alias": alias, "target_cid": cid}
        reply = self._told("/api/call/register", {**about, **_origin(function)})
        if reply.status not in (404, 405, 501):
            self._checked(reply)
        self.functions.setdefault(name, []).append((signature, function))
        self.registered.add(key)

    def signature(self, function: Any, key: tuple[type, str]) -> str | None:
        """Its signature, worked out once for each method of a type and each function."""
        place = (*key, getattr(function, "__code__", None))
        if place not in self._signatures:
            if len(self._signatures) > MAX_SENT:
                self._signatures.clear()
            self._signatures[place] = signature_of(function)
        return self._signatures[place]

    def function(self, name: str, signature: str | None) -> Any:
        """The function registered under a name, the latest; one of the same signature first."""
        known = self.functions.get(name)
        if not known:
            raise DebugProtocolError(f"no function {name!r} is registered to replace this one")
        same = [function for other, function in known if other == signature]
        return same[-1] if same else known[-1][1]

    # -- requests ---------------------------------------------------------------------------

    def send(
        self,
        path: str,
        fields: dict[str, Any],
        fill: Callable[[Parcel], dict[str, Any]],
        tail: str = "",
    ) -> dict[str, Any]:
        """Post `fields`, the values that `fill` adds, and `tail`, which is JSON already.

        What the server lacks is sent again.
        """
        self.in_this_process()
        lease = self.lease
        if lease is not None:
            lease.flush()
        again: frozenset[str] = frozenset()
        for last in (False, False, True):
            parcel = Parcel(self.sent, again)
            values = fill(parcel)
            try:
                found = self._checked(self._told(path, {**fields, **values}, tail))
            except _Missing as missing:
                self.sent.forget(missing.cids)
                if last or missing.cids <= again:
                    raise DebugCIDNotFoundError(_lacking(missing.cids)) from None
                again |= missing.cids
            except _SessionGone:
                if last:
                    raise DebugServerError("the server keeps forgetting the session") from None
                self.open()
            else:
                self.sent.add(parcel.new)
                return found
        raise AssertionError("unreachable")

    def report(self, batch: Callable[[], bytes]) -> None:
        """Post a batch of calls; again with what the server lacks, or to a new session."""
        for last in (False, False, True):
            body = batch()
            reply = self._ask("POST", "/api/call/records", body, kind=b"application/octet-stream")
            try:
                self._checked(reply)
            except _Missing as missing:
                self.sent.forget(missing.cids)
                if last:
                    raise DebugCIDNotFoundError(_lacking(missing.cids)) from None
            except _SessionGone:
                if last:
                    raise DebugServerError("the server keeps forgetting the session") from None
                self.open()
            else:
                return

    def rules(self) -> dict[str, Any]:
        """What a leased application must ask about; also where it sees that this has changed."""
        for last in (False, True):
            reply = self._ask("GET", f"/api/call/rules?session_id={self.session_id}")
            try:
                return self._checked(reply)
            except _SessionGone:
                if last:
                    raise DebugServerError("the server keeps forgetting the session") from None
                self.open()
        raise AssertionError("unreachable")

    def _told(self, path: str, fields: dict[str, Any], more: str = "") -> Reply:
        if self.session_id is not None:
            fields = {"session_id": self.session_id, **fields}
        text = json.dumps({name: each for name, each in fields.items() if each is not None})
        return self._ask("POST", path, (text[:-1] + more + "}").encode() if more else text.encode())

    def _ask(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        wait: float = 0.0,
        kind: bytes = b"application/json",
    ) -> Reply:
        try:
            reply = self.connection.ask(method, path, body, wait=wait, kind=kind)
        except DebugError:
            self.status = "error"
            raise
        self.status = "connected" if reply.status < 500 else "error"
        return reply

    def poll(self, path: str, wait: float) -> Reply:
        return self._ask("GET", path, wait=wait)

    async def poll_async(self, path: str, wait: float) -> Reply:
        try:
            return await self.connection.ask_async(path, wait=wait)
        except DebugError:
            self.status = "error"
            raise

    def answer(self, call_id: str, answer: dict[str, Any]) -> None:
        """The result of an expression that somebody wants to know at a hold."""
        self._told(f"/api/poll/{call_id}/answer", answer)

    def gave_up(self, call_id: str) -> None:
        """Nobody waits any more for what is decided about a call that has ended."""
        try:
            self._ask("DELETE", f"/api/poll/{call_id}")
        except DebugError:
            logger.debug("the server did not hear that a call waits no more", exc_info=True)

    def checked(self, reply: Reply) -> dict[str, Any]:
        return self._checked(reply)

    def _checked(self, reply: Reply) -> dict[str, Any]:
        if reply.status >= 500:
            raise _failed(reply)
        found = reply.json()
        if not isinstance(found, dict):
            raise DebugProtocolError(f"the server's answer is not an object: {found!r:.200}")
        if reply.status < 400:
            return found
        error = found.get("error")
        if error == "cid_not_found":
            raise _Missing([str(each) for each in found.get("missing_cids") or []])
        if error == "cid_mismatch":
            raise DebugCIDMismatchError(reply.error_message())
        if found.get("error_code") == "session_not_found":
            raise _SessionGone
        raise _refused(reply)

    # -- values -----------------------------------------------------------------------------

    def fetch(self, cid: str) -> bytes:
        """The bytes that the server has under an id."""
        reply = self._ask("GET", f"/api/cid/{cid}")
        if reply.status == 404:
            raise DebugCIDNotFoundError(_lacking([cid]))
        if reply.status >= 500:
            raise _failed(reply)
        if reply.status >= 400:
            raise DebugProtocolError(
                f"the server refused ({reply.status}): {reply.error_message()}"
            )
        return verified(cid, reply.body)

    def value(self, item: Any) -> Any:
        """The value of an item `{"cid", "data"?}` of the server's."""
        if not isinstance(item, dict):
            raise DebugProtocolError(f"a value must be an object with a cid, not {item!r:.100}")
        cid, data = item.get("cid"), item.get("data")
        if data is None:
            if not isinstance(cid, str):
                raise DebugProtocolError("a value has neither a content id nor data")
            stored = self.fetch(cid)
        else:
            stored = _decoded(data)
            if cid is not None:
                verified(str(cid), stored)
        try:
            return self.snapshots.restore(stored, self.fetch)
        except DebugError:
            raise
        except Exception as problem:
            raise DebugProtocolError(
                f"a value of the server's does not load: {type(problem).__name__}: {problem}"
            ) from problem


def verified(cid: str, data: bytes) -> bytes:
    if cid_of(data) != cid:
        raise DebugCIDMismatchError(f"bytes named {cid} have another SHA-256")
    return data


def _decoded(data: Any) -> bytes:
    try:
        return base64.b64decode(data, validate=True)
    except (ValueError, TypeError):
        raise DebugProtocolError("a value's data is not base64") from None


def _failed(reply: Reply) -> DebugServerError:
    return DebugServerError(f"the server failed ({reply.status}): {reply.error_message()}")


def _refused(reply: Reply) -> DebugProtocolError:
    return DebugProtocolError(f"the server refused ({reply.status}): {reply.error_message()}")


def _lacking(cids: Iterable[str]) -> str:
    return f"the server does not have {', '.join(sorted(cids))}"


def signature_of(function: Any) -> str | None:
    import inspect

    try:
        return value_preview.clean(str(inspect.signature(function)))
    except Exception:  # builtins have none, and a __signature__ may be anything
        return None


def _origin(function: Any) -> dict[str, Any]:
    """Where it was written, as far as it says."""
    code = getattr(function, "__code__", None)
    found: dict[str, Any] = {
        "qualname": _text(getattr(function, "__qualname__", None)),
        "module": _text(getattr(function, "__module__", None)),
    }
    if isinstance(code, types.CodeType):
        found.update(file=value_preview.clean(code.co_filename), line=code.co_firstlineno)
    return found


def _text(value: Any) -> str | None:
    return value_preview.clean(value) if isinstance(value, str) else None


def _program() -> dict[str, Any]:
    """What was started and where it imports from, so that a call can be replayed."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    return {
        "script": _text(getattr(main, "__file__", None)),
        "module": _text(getattr(spec, "name", None)),
        "path": [value_preview.clean(each) for each in sys.path if isinstance(each, str)],
    }


def _cwd() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""
