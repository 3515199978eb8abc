"""An application that reports its calls by hand, as a plain HTTP client would."""

from __future__ import annotations

import base64
import hashlib
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dill

from harness import Server

Json = dict[str, Any]


def encode_bytes(data: bytes) -> Json:
    """Bytes as they are sent for the first time."""
    return {"cid": hashlib.sha256(data).hexdigest(), "data": base64.b64encode(data).decode()}


def encode_value(value: Any) -> Json:
    return encode_bytes(dill.dumps(value))


def compute_cid(value: Any) -> str:
    return str(encode_value(value)["cid"])


def decode_value(shown: Json, name: str | None = None) -> Any:
    """The value that the server sent, as the application would have it."""
    data = shown[f"{name}_data"] if name else shown["data"]
    raw = base64.b64decode(data)
    assert hashlib.sha256(raw).hexdigest() == shown[f"{name}_cid" if name else "cid"]
    return dill.loads(raw)


class HttpApplication:
    """One client; with a session of its own unless it names none."""

    def __init__(self, server: Server, **about: Any) -> None:
        self.server = server
        self.session_id: str | None = None
        if about:
            self.session_id = server.post("/api/call/session", about)["session_id"]

    def start(self, method: str, *args: Any, expect: int | None = None, **more: Any) -> Json:
        kwargs = more.pop("kwargs", {})
        body = {
            "method_name": method,
            "target_cid": compute_cid("target"),
            "args": [encode_value(each) for each in args],
            "kwargs": {name: encode_value(each) for name, each in kwargs.items()},
            "call_site": build_call_site(),
            **more,
        }
        if self.session_id is not None:
            body["session_id"] = self.session_id
        answer: Json = self.server.post("/api/call/start", body, expect=expect)
        return answer

    def complete(self, call: Json, result: Any = None, **more: Any) -> Json:
        sent = encode_value(result)
        body = {
            "call_id": call["call_id"],
            "timestamp": time.time(),
            "status": "success",
            "result_cid": sent["cid"],
            "result_data": sent["data"],
        }
        expect = more.pop("expect", None)
        answer: Json = self.server.post("/api/call/complete", {**body, **more}, expect=expect)
        return answer

    def fail(self, call: Json, error: Exception, **more: Any) -> Json:
        sent = encode_value(error)
        return self.complete(
            call,
            status="exception",
            result_cid=None,
            result_data=None,
            exception_type=type(error).__name__,
            exception_message=str(error),
            exception_cid=sent["cid"],
            exception_data=sent["data"],
            **more,
        )

    def call(self, method: str, *args: Any, result: Any = None, **more: Any) -> str:
        """A whole call that nothing holds; its id."""
        begun = self.start(method, *args, **more)
        assert begun["action"] == "continue", begun
        self.complete(begun, result)
        return str(begun["call_id"])

    def poll(self, call: Json, wait: float = 0, expect: int | None = None) -> Json:
        answer: Json = self.server.get(f"{call['poll_url']}?wait={wait}", expect=expect)
        return answer


def build_call_site(*functions: str) -> Json:
    frames = [
        {
            "filename": "/app/main.py",
            "lineno": 10 + at,
            "function": name,
            "code_context": f"{name}()",
        }
        for at, name in enumerate(functions or ("main",))
    ]
    return {"timestamp": time.time(), "target_cid": compute_cid("target"), "stack_trace": frames}


def decide(server: Server, hold: Json, action: str, expect: int | None = None, **more: Any) -> Json:
    path = f"/api/holds/{hold['hold_id']}/decision"
    answer: Json = server.post(path, {"action": action, "by": "me", **more}, expect=expect)
    return answer


@contextmanager
def temporary_breakpoint(server: Server, **fields: Any) -> Iterator[Json]:
    """A call breakpoint that is gone afterwards; what it still holds goes on."""
    made = server.post("/api/breakpoints", fields)
    try:
        yield made
    finally:
        server.http.delete(f"/api/breakpoints/{made['id']}")
        server.post("/api/holds/continue", {})


@contextmanager
def background_call(work: Any, *args: Any) -> Iterator[list[Any]]:
    """`work` in a thread; what it returned is in the list when the block is left."""
    found: list[Any] = []
    thread = threading.Thread(target=lambda: found.append(work(*args)))
    thread.start()
    try:
        yield found
    finally:
        thread.join(60)
