"""Clients that send slowly, do not read, or go away: the server stays small, others are served."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psutil
import pytest
import uvicorn
from uvicorn.server import ServerState

from harness import Program, Server
from holdfast.cli.log_handler import QueueLogHandler
from holdfast.server.http_protocol import BoundedHttpProtocol
from holdfast.service.waitable import CLIENT_DISCONNECT, Waitable

LOOP = Program("loop.py")
MEGABYTE = 1024 * 1024
TEN_MEGABYTES = "for n in range(10_300): print(n, 'x' * 1017)"


def connect(server: Server) -> socket.socket:
    parts = urlsplit(server.url)
    return socket.create_connection(("127.0.0.1", int(parts.port or 0)), timeout=60)


def build_request(path: str) -> bytes:
    return f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode()


def memory(server: Server) -> int:
    return int(psutil.Process(server.process.pid).memory_info().rss)


def test_a_request_that_comes_byte_by_byte_keeps_nobody_else_waiting(server: Server) -> None:
    body = b'{"name": "slow"}'
    sent = b"POST /sessions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    sent += b"Connection: close\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body)
    with connect(server) as caller:
        caller.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        for number, byte in enumerate(sent):
            caller.sendall(bytes([byte]))
            if number % 10 == 0:
                assert server.get("/health")["status"] == "ok"
        with caller.makefile("rb") as answer:
            said = answer.read()
    assert said.startswith(b"HTTP/1.1 201")
    server.delete(f"/sessions/{json.loads(said.splitlines()[-1])['session_id']}")


@pytest.mark.parametrize("route", ["/output?limit=100000", "/output/stream"])
def test_answers_that_nobody_reads_leave_the_server_small(server: Server, route: str) -> None:
    """Twenty clients ask for ten megabytes each, five times over, and then do nothing."""
    with server.session() as session:
        assert session.post("/launch", {"code": TEN_MEGABYTES, "wait": 60})["exit_code"] == 0
        before = memory(server)
        callers = [connect(server) for _ in range(20)]
        try:
            for caller in callers:
                caller.sendall(build_request(session.path(route)) * 5)
            for caller in callers:
                assert caller.recv(1, socket.MSG_PEEK) == b"H"  # its answer is under way
            assert session.launch(LOOP)["exit_code"] == 0
            assert memory(server) - before < 150 * MEGABYTE
        finally:
            for caller in callers:
                caller.close()
        assert session.launch(LOOP)["exit_code"] == 0


def test_a_client_that_reads_nothing_is_disconnected(limits: Callable[..., None]) -> None:
    limits(answer_read=0.05)
    hung_up = asyncio.Event()

    class Impatient(BoundedHttpProtocol):
        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            hung_up.set()

    async def flood(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        await send({"type": "http.response.body", "body": b"x" * 16 * MEGABYTE})

    async def main() -> None:
        config = uvicorn.Config(flood, lifespan="off", log_config=None)
        config.load()
        state = ServerState()
        listening = await asyncio.get_running_loop().create_server(
            lambda: Impatient(config=config, server_state=state, app_state={}), "127.0.0.1", 0
        )
        reader, writer = await asyncio.open_connection(*listening.sockets[0].getsockname())
        reader._transport.pause_reading()  # type: ignore[attr-defined]
        writer.write(build_request("/"))
        await asyncio.wait_for(hung_up.wait(), 60)
        writer.transport.abort()
        listening.close()
        await asyncio.gather(*state.tasks, return_exceptions=True)

    asyncio.run(main())


def test_a_wait_ends_when_its_client_disconnects() -> None:
    async def main() -> None:
        waiting, caller = Waitable(), asyncio.get_running_loop().create_future()
        CLIENT_DISCONNECT.set(caller)
        wait = asyncio.create_task(waiting.wait_until(lambda: False, 1000))
        await asyncio.sleep(0)
        assert not wait.done()
        caller.set_result(None)
        assert await asyncio.wait_for(wait, 60) is False
        assert await asyncio.wait_for(waiting.wait_until(lambda: True, 1000), 60) is True

    asyncio.run(main())


def test_clients_that_vanish_as_they_wait_cost_nothing_and_are_no_error(tmp_path: Path) -> None:
    own = Server(tmp_path / "data")
    try:
        with own.session() as session:
            session.break_at(LOOP, "add")
            session.launch(LOOP)
            for path in (
                "/events?since=1000&wait=300",
                "/output?since=9&wait=300",
                "/output/stream",
            ):
                for _ in range(20):
                    with connect(own) as caller:
                        caller.sendall(build_request(session.path(path)))
                        if path == "/output/stream":  # it has begun, and goes on for ever
                            assert caller.recv(1) == b"H"
            stop = session.post("/step-over")
            assert (stop["status"], stop["location"]["line"]) == ("paused", LOOP.line("return"))
        own.process.terminate()
        assert own.read_rest_of_log() == ""
    finally:
        assert own.stop() == 0


def test_a_log_that_nobody_reads_holds_up_nobody() -> None:
    read, write = os.pipe()
    handler = QueueLogHandler(write, max_lines=10)
    record = logging.LogRecord("holdfast", logging.ERROR, "", 0, f"trouble {'x' * 1000}", (), None)
    for _ in range(1000):  # far more than a pipe holds
        handler.emit(record)

    said = b""
    while b"were dropped" not in said:
        said += os.read(read, 65536)
        handler.emit(record)

    assert said.startswith(b"trouble xxx")
    # The thread that writes has no end; with nobody to read, it has nothing to wait for either.
    os.close(read)
