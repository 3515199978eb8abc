"""The application's side of the conversation with the server while debugging is on.

One `Recorder` lasts from ON to OFF. It has the connection, the session, the values that the server
has been sent, the stacks that are described already, and the functions that may replace others.
"""

from __future__ import annotations

import base64
import json
import logging
import os
import sys
import threading
from collections.abc import Callable, Iterable
from json.encoder import encode_basestring_ascii as quote
from typing import TYPE_CHECKING, Any

import holdfast
from holdfast import timings
from holdfast.client import discovery, stacks
from holdfast.client.client_settings import Settings, require_changeable, uses_placeholders
from holdfast.client.exceptions import (
    DebugCIDMismatchError,
    DebugCIDNotFoundError,
    DebugError,
    DebugProtocolError,
    DebugServerError,
)
from holdfast.client.function_registry import (
    FunctionRegistry,
    clean_text,
    describe_function,
    describe_origin,
)
from holdfast.client.http_client import HttpClient, Reply
from holdfast.client.result_forecast import ResultForecast
from holdfast.client.snapshots import Snapshots, cid_of
from holdfast.client.target_watch import TargetWatch
from holdfast.client.value_parcel import Parcel, SentValues
from holdfast.client.value_preview import clean

if TYPE_CHECKING:  # leased calls use a recorder; which class they are is given to it
    from holdfast.client.leased_call import LeasedCalls

logger = logging.getLogger("holdfast")

_UNSUPPORTED = (404, 405, 501)  # what an older server says to a request that it does not know
_ATTEMPTS = (False, False, True)  # whether it is the last one

Answer = dict[str, Any]
"""A JSON object of the server's. Whoever uses a field checks it."""


class _ValuesMissing(Exception):
    """The server does not have values that a request names."""

    def __init__(self, cids: Iterable[str]) -> None:
        super().__init__()
        self.cids = frozenset(cids)


class _SessionUnknown(Exception):
    """The server does not know our session: it was deleted, or the server lost its data."""


class Recorder:
    def __init__(
        self,
        url: str,
        settings: Settings,
        create_leased_calls: Callable[[Recorder], LeasedCalls],
    ) -> None:
        self.settings = settings
        follows = discovery.chosen_url(settings.server_url) is None
        self.connection = HttpClient(url, timeout=settings.request_timeout, follows=follows)
        self.snapshots = Snapshots(settings.max_value_bytes, uses_placeholders(settings))
        self.stacks = stacks.Stacks()
        self.sent = SentValues()
        self.functions = FunctionRegistry()
        self.forecast = ResultForecast()
        self.targets = TargetWatch(self.snapshots, settings.capture_target)
        self.session_id: str | None = None
        self.leased_calls: LeasedCalls | None = None  # in leased mode, once a lease is granted
        self._create_leased_calls = create_leased_calls
        self.status = "disconnected"
        self._pid = os.getpid()
        self._lock = threading.Lock()

    def change_settings(self, settings: Settings) -> None:
        """Use these from now on. ValueError: one of them cannot change while debugging is on."""
        require_changeable(self.settings, settings, self.connection.url)
        placeholders = uses_placeholders(settings)
        self.settings = settings
        self.connection.timeout = settings.request_timeout
        self.targets.capture = settings.capture_target
        self.snapshots.change_limits(settings.max_value_bytes, placeholders)
        if self.leased_calls is not None:
            self.leased_calls.forget_known()

    # -- the session ------------------------------------------------------------------------

    def open(self) -> None:
        """Begin a session. An older server that knows no sessions is as good."""
        application = {
            "pid": os.getpid(),
            "argv": [clean(argument) for argument in sys.argv],
            "cwd": clean(_current_folder()),
            "python": sys.executable,
            "version": holdfast.__version__,
            "mode": self.settings.mode,
            "checks": True,
            **_describe_program(),
        }
        reply = self._ask("POST", "/api/call/session", json.dumps(application).encode())
        self._pid = os.getpid()
        self.session_id = None
        if reply.status in _UNSUPPORTED:
            return
        answer = self.parse_answer(reply)
        session_id = answer.get("session_id")
        if not isinstance(session_id, str):
            return
        self.session_id = session_id
        if self.settings.mode == "leased":
            if self.leased_calls is None:
                self.leased_calls = self._create_leased_calls(self)
            self.leased_calls.lease.take(answer)

    def end(self) -> None:
        """Send what waits, and tell the server that the application ends."""
        if self.session_id is not None and self._pid == os.getpid():
            leased_calls, self.leased_calls = self.leased_calls, None
            if leased_calls is not None:
                leased_calls.close()
            self.connection.timeout = min(self.connection.timeout, timings.TIMINGS.goodbye)
            body = json.dumps({"session_id": self.session_id}).encode()
            try:
                self.connection.ask("POST", "/api/call/session/end", body)
            except DebugError:
                logger.debug("the server was not told that the session ended", exc_info=True)
        self.connection.close()

    def reopen_after_fork(self) -> None:
        """Give a forked child a session of its own."""
        if self._pid != os.getpid():
            with self._lock:
                if self._pid != os.getpid():
                    self.open()

    # -- functions --------------------------------------------------------------------------

    def register(self, name: str, function: Any, alias: str | None, cid: str) -> None:
        """Tell the server of a callable, once; it may then replace others."""
        if self.functions.has(name, function):
            return
        described = describe_function(function)
        fields: dict[str, Any] = {
            "name": clean_text(name),
            "signature": described.signature,
            "parameters": described.parameters,
            "alias": clean_text(alias),
            "target_cid": cid,
        }
        fields |= describe_origin(function)
        for is_last in _ATTEMPTS:
            reply = self._post("/api/call/register", fields)
            try:
                self.parse_answer(reply)
                break
            except _SessionUnknown:
                self._reopen(is_last)
            except DebugProtocolError:
                if reply.status not in _UNSUPPORTED:
                    raise
                break
        self.functions.add(name, function, described.signature)

    # -- requests ---------------------------------------------------------------------------

    def send(
        self,
        path: str,
        members: str,
        pack: Callable[[Parcel], str],
    ) -> Answer:
        """Post an object: these members and those with values that `pack` adds, as JSON.

        Values that the server lacks are sent again.
        """
        self.reopen_after_fork()
        leased_calls = self.leased_calls
        if leased_calls is not None:
            leased_calls.flush()
        missing: frozenset[str] = frozenset()
        for is_last in _ATTEMPTS:
            parcel = Parcel(self.sent, missing)
            values = pack(parcel)
            session = "" if self.session_id is None else f'"session_id": {quote(self.session_id)}, '
            body = f"{{{session}{members}{values}}}".encode()
            try:
                answer = self.parse_answer(self._ask("POST", path, body))
            except _ValuesMissing as problem:
                self._forget_sent(problem.cids, is_last or problem.cids <= missing)
                missing |= problem.cids
            except _SessionUnknown:
                self._reopen(is_last)
            else:
                if parcel.new:
                    self.sent.add(parcel.new)
                return answer
        raise AssertionError("unreachable")

    def send_batch(self, build: Callable[[], bytes]) -> None:
        """Post a batch of calls; again with what the server lacks, or to a new session."""
        for is_last in _ATTEMPTS:
            body = build()
            reply = self._ask("POST", "/api/call/records", body, kind=b"application/octet-stream")
            try:
                self.parse_answer(reply)
            except _ValuesMissing as problem:
                self._forget_sent(problem.cids, is_last)
            except _SessionUnknown:
                self._reopen(is_last)
            else:
                return

    def fetch_rules(self) -> Answer:
        """The rules that a leased application must know, and the board that shows their changes."""
        for is_last in _ATTEMPTS:
            reply = self._ask("GET", f"/api/call/rules?session_id={self.session_id}")
            try:
                return self.parse_answer(reply)
            except _SessionUnknown:
                self._reopen(is_last)
        raise AssertionError("unreachable")

    def _forget_sent(self, cids: frozenset[str], is_last: bool) -> None:
        self.sent.forget(cids)
        if is_last:
            raise DebugCIDNotFoundError(_describe_missing(cids)) from None

    def _reopen(self, is_last: bool) -> None:
        if is_last:
            raise DebugServerError("the server keeps forgetting the session") from None
        self.open()

    def _post(self, path: str, fields: dict[str, Any]) -> Reply:
        if self.session_id is not None:
            fields = {"session_id": self.session_id, **fields}
        return self._ask("POST", path, f"{{{write_members(fields)}}}".encode())

    def _ask(
        self,
        method: str,
        path: str,
        body: bytes = b"",
        wait: float = 0.0,
        kind: bytes = b"application/json",
        stays: bool = False,
    ) -> Reply:
        try:
            reply = self.connection.ask(method, path, body, wait=wait, kind=kind, stays=stays)
        except DebugError:
            self.status = "error"
            raise
        self.status = "connected" if reply.status < 500 else "error"
        return reply

    def parse_answer(self, reply: Reply) -> Answer:
        if reply.status >= 500:
            raise _describe_failure(reply)
        answer = reply.json()
        if not isinstance(answer, dict):
            raise DebugProtocolError(f"the server's answer is not an object: {answer!r:.200}")
        if reply.status < 400:
            return answer
        error = answer.get("error")
        if error == "cid_not_found":
            raise _ValuesMissing(str(cid) for cid in answer.get("missing_cids") or [])
        if error == "cid_mismatch":
            raise DebugCIDMismatchError(reply.error_message())
        if answer.get("error_code") == "session_not_found":
            raise _SessionUnknown
        raise _describe_refusal(reply)

    # -- held calls -------------------------------------------------------------------------

    def poll(self, path: str, wait: float) -> Reply:
        return self._ask("GET", path, wait=wait, stays=True)  # another server has no such hold

    async def poll_async(self, path: str, wait: float) -> Reply:
        try:
            return await self.connection.ask_async(path, wait=wait)
        except DebugError:
            self.status = "error"
            raise

    def answer_question(self, call_id: str, answer: dict[str, Any]) -> None:
        """Send the result of an expression that somebody evaluates at a hold."""
        self._post(f"/api/poll/{call_id}/answer", answer)

    def abandon_hold(self, call_id: str) -> None:
        """Tell the server that a call no longer waits for its decision."""
        try:
            self._ask("DELETE", f"/api/poll/{call_id}")
        except DebugError:
            logger.debug("the server was not told that a call waits no more", exc_info=True)

    # -- values -----------------------------------------------------------------------------

    def fetch(self, cid: str) -> bytes:
        """The bytes that the server has under an id."""
        reply = self._ask("GET", f"/api/cid/{cid}")
        if reply.status == 404:
            raise DebugCIDNotFoundError(_describe_missing([cid]))
        if reply.status >= 500:
            raise _describe_failure(reply)
        if reply.status >= 400:
            raise _describe_refusal(reply)
        return verify(cid, reply.body)

    def load(self, item: Any) -> Any:
        """The value of an item `{"cid", "data"?}` of the server's."""
        if not isinstance(item, dict):
            raise DebugProtocolError(f"a value must be an object with a cid, not {item!r:.100}")
        cid, encoded = item.get("cid"), item.get("data")
        if encoded is None:
            if not isinstance(cid, str):
                raise DebugProtocolError("a value has neither a content id nor data")
            data = self.fetch(cid)
        else:
            try:
                data = base64.b64decode(encoded, validate=True)
            except (ValueError, TypeError):
                raise DebugProtocolError("a value's data is not base64") from None
            if cid is not None:
                verify(str(cid), data)
        try:
            return self.snapshots.restore(data, self.fetch)
        except DebugError:
            raise
        except Exception as problem:  # unpickling runs code of the application's classes
            raise DebugProtocolError(
                f"a value of the server's does not load: {type(problem).__name__}: {problem}"
            ) from problem


def write_members(fields: dict[str, Any]) -> str:
    """The JSON of an object without its braces. What is None is left out."""
    return json.dumps({name: value for name, value in fields.items() if value is not None})[1:-1]


def verify(cid: str, data: bytes) -> bytes:
    if cid_of(data) != cid:
        raise DebugCIDMismatchError(f"bytes named {cid} have another SHA-256")
    return data


def _describe_failure(reply: Reply) -> DebugServerError:
    return DebugServerError(f"the server failed ({reply.status}): {reply.error_message()}")


def _describe_refusal(reply: Reply) -> DebugProtocolError:
    return DebugProtocolError(f"the server refused ({reply.status}): {reply.error_message()}")


def _describe_missing(cids: Iterable[str]) -> str:
    return f"the server does not have {', '.join(sorted(cids))}"


def _describe_program() -> dict[str, Any]:
    """What was started and where it imports from, so that a call can be replayed."""
    main = sys.modules.get("__main__")
    spec = getattr(main, "__spec__", None)
    return {
        "script": clean_text(getattr(main, "__file__", None)),
        "module": clean_text(getattr(spec, "name", None)),
        "path": [clean(folder) for folder in sys.path if isinstance(folder, str)],
    }


def _current_folder() -> str:
    try:
        return os.getcwd()
    except OSError:  # it was removed
        return ""
