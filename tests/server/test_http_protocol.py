"""Answers that are written with one system call, and those that cannot be."""

from __future__ import annotations

import asyncio
from typing import Any

import uvicorn
from uvicorn.server import ServerState

from harness import Server
from holdfast.server.access_control import CONNECTION, SECURITY_HEADERS
from holdfast.server.http_protocol import BoundedHttpProtocol

REQUEST = b"GET /%d HTTP/1.1\r\nHost: localhost\r\n\r\n"
LAST = b"GET /9 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"


async def answer(scope: Any, _receive: Any, send: Any) -> None:
    """At once if that is possible, else in parts. The body is the path."""
    body = scope["path"].encode()
    await asyncio.sleep(0)
    if scope[CONNECTION].answer_at_once(scope, 200, body):
        return
    headers = [(b"content-length", b"%d" % len(body)), (b"in-parts", b"yes")]
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def ask(*requests: bytes, together: bool) -> tuple[list[bytes], list[bytes]]:
    """Send requests, the last of which ends the connection. Return the writes and the answers."""
    writes: list[bytes] = []

    class Observed(BoundedHttpProtocol):
        def connection_made(self, transport: Any) -> None:
            write = transport.write

            def observe(data: bytes) -> None:
                writes.append(bytes(data))
                write(data)

            transport.write = observe
            super().connection_made(transport)

    async def main() -> bytes:
        config = uvicorn.Config(answer, lifespan="off", log_config=None)
        config.load()
        state = ServerState()
        state.default_headers = [(b"date", b"today")]
        listening = await asyncio.get_running_loop().create_server(
            lambda: Observed(config=config, server_state=state, app_state={}), "127.0.0.1", 0
        )
        reader, writer = await asyncio.open_connection(*listening.sockets[0].getsockname())
        said = b""
        for request in requests:
            writer.write(request)
            if not together and request is not requests[-1]:
                said += await asyncio.wait_for(reader.readuntil(request.split(b" ")[1]), 60)
        said += await asyncio.wait_for(reader.read(), 60)
        writer.close()
        listening.close()
        await asyncio.gather(*state.tasks)
        return said

    said = asyncio.run(main())
    return writes, [b"HTTP/1.1 " + each for each in said.split(b"HTTP/1.1 ")[1:]]


def test_a_whole_answer_is_one_write() -> None:
    writes, answers = ask(REQUEST % 1, REQUEST % 2, LAST, together=False)
    assert writes[:2] == answers[:2]
    assert answers[0].startswith(b"HTTP/1.1 200 OK\r\ndate: today\r\n")
    assert [each[-2:] for each in answers] == [b"/1", b"/2", b"/9"]
    assert [b"in-parts" in each for each in answers] == [False, False, True]


def test_answers_to_requests_that_came_together_keep_their_order() -> None:
    _, answers = ask(REQUEST % 1, REQUEST % 2, REQUEST % 3, LAST, together=True)
    assert [each[-2:] for each in answers] == [b"/1", b"/2", b"/3", b"/9"]


def test_a_call_is_answered_like_everything_else(server: Server) -> None:
    """With the headers of every answer, whichever way it is written."""
    started = server.http.post("/api/call/start", json={"method_name": "add"})
    health = server.http.get("/health")
    assert started.json()["action"] == "continue"
    names = {"date", "content-type", "content-length"} | {
        name.decode() for name, _ in SECURITY_HEADERS
    }
    assert set(started.headers) == set(health.headers) == names
    assert started.headers["content-type"] == health.headers["content-type"]
