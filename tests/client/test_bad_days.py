"""When things go wrong: the documented error, and the application's own data untouched."""

from __future__ import annotations

import functools
import os
import pickle
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from application import Application
from background import run_in_thread
from harness import Server
from holdfast import (
    DebugCIDMismatchError,
    DebugCIDNotFoundError,
    DebugProtocolError,
    DebugSerializationError,
    DebugServerError,
    DebugTimeoutError,
    configure_debug,
    debug_call,
    with_debug,
)
from holdfast.client import references
from holdfast.client.snapshots import Snapshots
from scripted_server import CONTINUE, ScriptedServer, accept_all, format_response


class Ledger:
    def __init__(self) -> None:
        self.rows: list[int] = []

    def add(self, row: Any) -> int:
        self.rows.append(row)
        return len(self.rows)


class Refuses:
    def __reduce_ex__(self, protocol: Any) -> Any:
        raise RuntimeError("I shall not be pickled")


def broken(answer: Any) -> Any:
    """What comes of one call to a server that so answers its start."""
    return accept_all(start=answer)


# -- the server is not there -----------------------------------------------------------------------


def test_server_not_running_on_enable(scripted: Callable[..., ScriptedServer]) -> None:
    scripted(on=False).close()
    with pytest.raises(DebugServerError):
        with_debug("ON")


def test_server_unreachable_raises_exception(scripted: Callable[..., ScriptedServer]) -> None:
    server, ledger = scripted(), Ledger()
    proxy = with_debug(ledger)
    server.close()
    with pytest.raises(DebugServerError):
        proxy.add(1)
    assert ledger.rows == []


def test_server_crashes_mid_call(scripted: Callable[..., ScriptedServer]) -> None:
    scripted(broken(None))
    ledger = Ledger()
    with pytest.raises(DebugServerError, match="hung up"):
        with_debug(ledger).add(1)
    assert ledger.rows == []


def test_a_real_server_that_ends_while_a_call_is_held(tmp_path: Path) -> None:
    app, ledger = Application(Server(tmp_path / "data")).start(), Ledger()
    try:
        app.break_on("add")
        running = run_in_thread(lambda: with_debug(ledger).add(1))
        app.wait_for_hold()
        app.server.process.kill()
        app.server.process.wait(60)
        with pytest.raises(DebugServerError):
            running.result(60)
        assert ledger.rows == []
        assert app.info.connection_status() == "error"
    finally:
        app.stop()
        app.server.close()


def test_a_real_server_that_ends_before_a_call_completes(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    app = Application(Server(tmp_path / "data")).start()
    try:

        def last() -> str:
            app.server.process.kill()
            app.server.process.wait(60)
            return "delivered"

        assert debug_call(last) == "delivered"
        assert app.info.connection_status() == "error"
        assert "could not be reported" in caplog.text
        with pytest.raises(DebugServerError):
            debug_call(len, [])
    finally:
        app.stop()
        app.server.close()


def test_a_server_restart_is_survived(tmp_path: Path) -> None:
    first = Server(tmp_path / "data")
    app, ledger = Application(first).start(), Ledger()
    try:
        proxy = with_debug(ledger)
        proxy.add(1)
        first.stop()
        app.server = first.start_again()
        assert app.server.url == first.url
        assert proxy.add(2) == 2
        assert ledger.rows == [1, 2]
        assert app.info.connection_status() == "connected"
        found = app.server.get("/api/calls?function=add")["calls"]
        assert [call["status"] for call in found] == ["success", "success"]
    finally:
        app.stop()
        app.server.close()


def test_a_connection_closed_while_idle_is_opened_again(
    scripted: Callable[..., ScriptedServer],
) -> None:
    def answer(body: Any) -> bytes:
        data = b'{"status": "ok"}'
        return b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: %d\r\n\r\n%s" % (
            len(data),
            data,
        )

    server, ledger = scripted(accept_all(complete=answer)), Ledger()
    proxy = with_debug(ledger)
    for row in range(3):
        proxy.add(row)
    assert ledger.rows == [0, 1, 2]
    assert len(server.bodies("/api/call/start")) == 3


# -- the server answers badly ----------------------------------------------------------------------


@pytest.mark.parametrize("status", [500, 502, 503])
def test_server_5xx_raises_exception(scripted: Callable[..., ScriptedServer], status: int) -> None:
    scripted(broken(format_response({"error": {"message": "oh no"}}, status)))
    with pytest.raises(DebugServerError, match=f"{status}.*oh no"):
        with_debug(len)([])


def test_request_timeout_raises_exception(scripted: Callable[..., ScriptedServer]) -> None:
    never = threading.Event()
    scripted(broken(lambda body: never.wait(60) and None))
    ledger = Ledger()
    proxy = with_debug(ledger)
    configure_debug(request_timeout=0.05)
    with pytest.raises(DebugServerError, match="did not answer within"):
        proxy.add(1)
    configure_debug(request_timeout=30)
    never.set()
    assert ledger.rows == []


GARBAGE = [
    b"HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\nnot json",
    b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]",
    b"HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n{}",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n",
    b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
    b"\x00\x01\x02\x03\x04\x05\r\n\r\n",
    b"HTTP/1.1 whatever\r\n\r\n",
]


@pytest.mark.parametrize("answer", GARBAGE)
def test_malformed_server_response(scripted: Callable[..., ScriptedServer], answer: bytes) -> None:
    scripted(broken(answer))
    ledger = Ledger()
    with pytest.raises(DebugProtocolError):
        with_debug(ledger).add(1)
    assert ledger.rows == []


def test_malformed_response_raises_exception(scripted: Callable[..., ScriptedServer]) -> None:
    scripted(accept_all(session=GARBAGE[0]), on=False)
    with pytest.raises(DebugProtocolError):
        with_debug("ON")


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n" + b'{"call_id": "1", ',
        b"HTTP/1.1 200 OK\r\nContent-Le",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n20\r\n{}",
    ],
)
def test_an_answer_that_breaks_off(scripted: Callable[..., ScriptedServer], answer: bytes) -> None:
    def cut(server: ScriptedServer, method: str, path: str, body: Any) -> Any:
        if path != "/api/call/start":
            return accept_all()(server, method, path, body)
        server._open[-1].sendall(answer)
        return None

    scripted(cut)
    ledger = Ledger()
    with pytest.raises(DebugProtocolError, match="breaks off"):
        with_debug(ledger).add(1)
    assert ledger.rows == []


def test_chunked_answers_and_those_without_a_length_are_read(
    scripted: Callable[..., ScriptedServer],
) -> None:
    body = b'{"call_id": "1-001", "action": "continue"}'
    chunked = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (
        len(body),
        body,
    )
    scripted(broken(chunked))
    assert with_debug(len)([1]) == 1


def test_unknown_action_type(scripted: Callable[..., ScriptedServer]) -> None:
    scripted(broken({**CONTINUE, "action": "dance"}))
    ledger = Ledger()
    with pytest.raises(DebugProtocolError, match="dance"):
        with_debug(ledger).add(1)
    assert ledger.rows == []


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"action": "continue"},
        {"call_id": "1-001"},
        {"call_id": 7, "action": "continue"},
        {**CONTINUE, "action": "poll"},
        {**CONTINUE, "action": "poll", "poll_url": "/api/poll/1", "timeout_ms": "long"},
        {**CONTINUE, "action": "raise"},
        {**CONTINUE, "action": "replace"},
        {**CONTINUE, "action": "skip", "fake_result_data": "not base64!"},
        {**CONTINUE, "action": "skip", "fake_result_data": "AAAA"},
        {**CONTINUE, "action": "modify", "modified_args": {"0": 1}},
        {**CONTINUE, "action": "modify", "modified_args": [None]},
    ],
    ids=str,
)
def test_missing_required_fields(scripted: Callable[..., ScriptedServer], answer: Any) -> None:
    scripted(broken(answer))
    ran: list[int] = []

    def never() -> None:
        ran.append(1)

    with pytest.raises(DebugProtocolError):
        debug_call(never)
    assert ran == []


@pytest.mark.parametrize("answer", [{"status": "dreaming"}, {"status": "ready"}, {}])
def test_a_held_call_that_is_told_nonsense(
    scripted: Callable[..., ScriptedServer], answer: Any
) -> None:
    start = {**CONTINUE, "action": "poll", "poll_url": "/api/poll/1", "timeout_ms": 9000}
    scripted(accept_all(start=start, poll=answer))
    with pytest.raises(DebugProtocolError):
        with_debug(len)([])


def test_a_held_call_that_is_forgotten(scripted: Callable[..., ScriptedServer]) -> None:
    start = {**CONTINUE, "action": "poll", "poll_url": "/api/poll/1", "poll_interval_ms": 1}
    scripted(accept_all(start=start, poll=format_response({"error": "call_not_found"}, 404)))
    with pytest.raises(DebugServerError, match="does not know"):
        with_debug(len)([])


def test_poll_timeout_raises(app: Application) -> None:
    app.server.patch("/config", {"call_hold_timeout_ms": 50})
    try:
        app.break_on("len")
        with pytest.raises(DebugTimeoutError):
            with_debug(len)([])
    finally:
        app.server.patch("/config", {"call_hold_timeout_ms": 3_600_000})


def test_nobody_waits_any_more_for_a_call_that_timed_out_at_its_end(app: Application) -> None:
    app.server.patch("/config", {"call_hold_timeout_ms": 50})
    try:
        app.break_on("len", when="after")
        with pytest.raises(DebugTimeoutError):
            with_debug(len)([])
        shown = app.server.get(f"/api/holds/{app.wait_for_hold()}")
        assert (shown["open"], shown["outcome"]) == (False, "withdrawn")
    finally:
        app.server.patch("/config", {"call_hold_timeout_ms": 3_600_000})


def test_an_older_server_without_sessions_will_do(scripted: Callable[..., ScriptedServer]) -> None:
    missing = format_response({"error": "not found"}, 404)
    scripted(accept_all(session=missing, register=missing))
    assert with_debug(len)([1]) == 1


def test_a_session_that_was_deleted_is_begun_again(app: Application) -> None:
    wrapped = with_debug(len)
    app.server.delete(f"/sessions/{app.session_id}")
    assert wrapped([1]) == 1
    assert app.info.session_id() not in (None, app.session_id)


# -- values that will not be stored ----------------------------------------------------------------


def test_dill_failure_raises(app: Application) -> None:
    ledger = Ledger()
    with pytest.raises(DebugSerializationError, match="I shall not be pickled"):
        with_debug(ledger).add(Refuses())
    assert ledger.rows == []
    with pytest.raises(DebugSerializationError):
        with_debug(Refuses())


def test_a_result_that_cannot_be_stored(app: Application) -> None:
    with pytest.raises(DebugSerializationError):
        debug_call(lambda: Refuses())
    app.restart(on_unpicklable="placeholder")
    assert isinstance(debug_call(lambda: Refuses()), Refuses)
    assert app.read_call("<lambda>")["marker"] == "unpicklable"


def test_an_exception_that_cannot_be_stored_still_arrives(app: Application) -> None:
    class Spiky(Exception):
        def __reduce_ex__(self, protocol: Any) -> Any:
            raise RuntimeError("no")

        def __str__(self) -> str:
            raise RuntimeError("no")

    def fail() -> None:
        raise Spiky

    with pytest.raises(Spiky):
        debug_call(fail)
    assert app.read_call("fail")["status"] == "exception"


def test_a_value_whose_repr_hangs(app: Application, limits: Callable[..., None]) -> None:
    limits(value_call=0.05)
    stop = threading.Event()

    class Hangs:
        def __repr__(self) -> str:
            stop.wait()
            return "at last"

        def __reduce__(self) -> Any:
            return list, ()

    assert debug_call(id, Hangs())
    stop.set()
    assert "too long" in app.read_call("id")["args"][0]["text"]


def test_circular_reference_serialization(app: Application) -> None:
    ring: list[Any] = [1]
    ring.append(ring)
    assert with_debug(len)(ring) == 2
    assert app.read_call("len")["args"][0]["length"] == 2


def test_cid_not_found_error(scripted: Callable[..., ScriptedServer]) -> None:
    missing = {"error": "cid_not_found", "missing_cids": ["0" * 64], "message": "Resend"}
    scripted(broken(format_response(missing, 404)))
    with pytest.raises(DebugCIDNotFoundError):
        with_debug(len)([])


def test_cid_mismatch_error(scripted: Callable[..., ScriptedServer]) -> None:
    scripted(broken(format_response({"error": "cid_mismatch", "message": "other bytes"}, 400)))
    with pytest.raises(DebugCIDMismatchError, match="other bytes"):
        with_debug(len)([])


def test_cid_recovery_resend(scripted: Callable[..., ScriptedServer]) -> None:
    lacks = [True]

    def start(body: Any) -> Any:
        if not lacks:
            return CONTINUE
        lacks.clear()
        cids = [item["cid"] for item in body["args"]]
        return format_response({"error": "cid_not_found", "missing_cids": cids}, 404)

    server = scripted(broken(start))
    assert with_debug(len)([1, 2]) == 2
    assert all("data" in body["args"][0] for body in server.bodies("/api/call/start"))


# -- many, and forked ------------------------------------------------------------------------------


def test_wrap_during_active_call(app: Application) -> None:
    def outer() -> int:
        return int(with_debug([1, 2]).__len__())

    assert with_debug(outer)() == 2
    assert app.list_names() == ["outer", "__len__"]


def test_sixty_four_threads(app: Application) -> None:
    wrapped = with_debug(divmod)
    barrier = threading.Barrier(64)

    def work(number: int) -> Any:
        barrier.wait(60)
        return [wrapped(number, 7) for _ in range(3)]

    running = [run_in_thread(functools.partial(work, number)) for number in range(64)]
    assert [each.result(120) for each in running] == [[divmod(n, 7)] * 3 for n in range(64)]
    assert len(app.list_calls("divmod")) == 192


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_an_application_may_fork(app: Application) -> None:
    wrapped = with_debug(len)
    wrapped("parent")
    child = os.fork()
    if child == 0:
        status = 1
        try:
            status = 0 if wrapped("from the child") == 14 else 2
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert wrapped("parent again") == 12
    assert [call["args"][0]["text"] for call in app.list_calls("len")] == [
        "'parent'",
        "'parent again'",
    ]
    found = app.server.get("/api/calls?function=len&limit=20")["calls"]
    [of_child] = [each for each in found if each["args"][0]["text"] == "'from the child'"]
    assert of_child["session_id"] != app.session_id


def test_a_slow_completion_does_not_lose_the_result(
    scripted: Callable[..., ScriptedServer], caplog: pytest.LogCaptureFixture
) -> None:
    never = threading.Event()
    scripted(accept_all(complete=lambda body: never.wait(60) and None))

    def measure(values: list[int]) -> int:
        configure_debug(request_timeout=0.05)
        return len(values)

    assert with_debug(measure)([1]) == 1
    never.set()
    assert "could not be reported" in caplog.text
    configure_debug(request_timeout=30)


# -- the stack -------------------------------------------------------------------------------------


def test_a_function_may_call_itself_many_times_through_its_proxy(app: Application) -> None:
    def down(level: int) -> int:
        return 0 if not level else 1 + wrapped(level - 1)

    def inline(level: int) -> int:
        return 0 if not level else 1 + debug_call(inline, level - 1)

    wrapped = with_debug(down)
    assert run_in_thread(lambda: wrapped(180)).result(60) == 180
    assert run_in_thread(lambda: debug_call(inline, 180)).result(60) == 180
    assert len(app.list_calls("down")) == 181


def test_a_full_stack_is_the_applications_own_error(
    app: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    ignored: list[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)

    def forever(level: int) -> int:
        return int(wrapped(level + 1))

    wrapped = with_debug(forever)
    for _ in range(3):
        with pytest.raises(RecursionError):
            run_in_thread(lambda: wrapped(0)).result(60)
    assert with_debug(abs)(-3) == 3
    assert ignored == []


# -- what is asked for cannot be had ---------------------------------------------------------------


@pytest.mark.skipif(sys.version_info < (3, 11), reason="there are no exception groups")
def test_an_exception_that_a_message_does_not_make(app: Application) -> None:
    app.break_on("abs", action={"action": "raise", "exception_type": "ExceptionGroup"})
    with pytest.raises(DebugProtocolError, match="ExceptionGroup cannot be made from a message"):
        with_debug(abs)(-1)


def test_bytes_that_need_a_server_say_so(
    scripted: Callable[..., ScriptedServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = scripted(on=False)
    server.close()
    monkeypatch.setenv("HOLDFAST_SERVER_URL", server.url)
    shot = Snapshots().take(lambda: 1)
    data = pickle.dumps(references.Reference(shot.cid))
    with pytest.raises(DebugServerError, match=f"{shot.cid}.*HOLDFAST_SERVER_URL"):
        pickle.loads(data)
