"""`/mcp`: sessions that outlive their agent, who gets in, and the end of the server."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from harness import PROGRAMS, Program, Server, Session
from mcp_clients import MODES, call, over_http, run
from polling import wait_until

LOOP = Program("loop.py")
INITIALIZE = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {
        "protocolVersion": "2025-11-25",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "1"},
    },
}
ACCEPT = {"accept": "application/json, text/event-stream"}


def post(server: Server, message: Any, **headers: str) -> httpx.Response:
    return server.http.post("/mcp", json=message, headers={**ACCEPT, **headers})


def read_message(answer: httpx.Response) -> Any:
    """The message of an answer, which may be a stream of one."""
    if answer.headers["content-type"] == "application/json":
        return answer.json()
    lines = [line for line in answer.text.splitlines() if line.startswith("data: {")]
    return json.loads(lines[-1].removeprefix("data: "))


@pytest.mark.parametrize("mode", MODES)
def test_a_session_outlives_its_agent_and_is_found_again(server: Server, mode: str) -> None:
    async def main() -> None:
        place = f"loop.py:{LOOP.line('add')}"
        async with over_http(server, mode) as agent:
            report = await call(agent, "debug_run", target="loop.py", breakpoints=[place])
        session_id = report["session_id"]
        assert server.get(f"/sessions/{session_id}/status")["status"] == "paused"
        async with over_http(server, mode) as agent:
            assert session_id in str(await call(agent, "debug_sessions"))
            stepped = await call(agent, "debug_step", session_id=session_id)
            assert stepped["at"] == f"loop.py:{LOOP.line('return')}"
            assert stepped["locals"]["result"] == "0"
            await call(agent, "debug_stop", session_id=session_id)

    run(main)


@pytest.mark.parametrize("mode", MODES)
def test_an_agent_that_vanishes_while_it_waits_leaves_its_session_alive(
    server: Server, mode: str
) -> None:
    known = server.list_ids()

    async def main() -> None:
        with contextlib.suppress(asyncio.CancelledError):
            async with over_http(server, mode) as agent:
                calling = asyncio.create_task(call(agent, "debug_run", target="idle.py"))
                (session_id,) = await asyncio.to_thread(
                    wait_until, lambda: server.list_ids(but=known)
                )
                path = f"/sessions/{session_id}/status"
                running = lambda: server.get(path)["status"] == "running"  # noqa: E731
                await asyncio.to_thread(wait_until, running)
                calling.cancel()
        async with over_http(server, mode) as agent:
            paused = await call(agent, "debug_step", session_id=session_id, kind="pause")
            assert paused["status"] == "paused"
            await call(agent, "debug_stop", session_id=session_id)

    run(main)


def test_agents_of_one_session_see_only_what_is_new_to_them(server: Server) -> None:
    async def main() -> None:
        place = f"loop.py:{LOOP.line('add')}"
        async with over_http(server, "legacy") as first, over_http(server, "legacy") as second:
            report = await call(first, "debug_run", target="loop.py", breakpoints=[place])
            known = {"session_id": report["session_id"]}
            after = await call(first, "debug_step", **known)
            assert after["locals"] == {"result": "0"}
            joined = await call(second, "debug_inspect", **known)
            assert {"total", "number", "result"} <= set(joined["locals"])
            await call(first, "debug_stop", **known)

    run(main)


def test_only_the_users_own_programs_get_in(server: Server) -> None:
    assert post(server, INITIALIZE, host="evil.example:80").status_code == 403
    assert post(server, INITIALIZE, origin="http://evil.example").status_code == 403
    sent = server.http.post("/mcp", content=b"{}", headers={"content-type": "text/plain"})
    assert sent.status_code == 415


def test_a_token_is_asked_for(tmp_path: Path) -> None:
    secret = tmp_path / "token"
    secret.write_text("a-good-secret")
    secret.chmod(0o600)
    server = Server(tmp_path / "data", "--token-file", str(secret))
    try:
        assert post(server, INITIALIZE).status_code == 401
        answer = post(server, INITIALIZE, authorization="Bearer a-good-secret")
        assert read_message(answer)["result"]["serverInfo"]["name"] == "holdfast"
    finally:
        server.stop()


def test_a_client_may_listen_and_end_its_session(server: Server) -> None:
    answer = post(server, INITIALIZE)
    header = {"mcp-session-id": answer.headers["mcp-session-id"]}
    with server.http.stream("GET", "/mcp", headers={**ACCEPT, **header}) as stream:
        assert stream.status_code == 200
        assert stream.headers["content-type"].startswith("text/event-stream")
    assert server.http.delete("/mcp", headers=header).status_code == 200
    assert post(server, {**INITIALIZE, "method": "tools/list"}, **header).status_code == 404


def test_a_call_waits_whatever_became_of_the_connections_before_it(server: Server) -> None:
    with httpx.Client(base_url=server.url, timeout=60) as first:
        hello = first.post("/mcp", json=INITIALIZE, headers=ACCEPT)
    header = {"mcp-session-id": hello.headers["mcp-session-id"]}
    for meta in ({}, {"_meta": {"progressToken": 1}}):
        asked = {"name": "debug_run", "arguments": {"target": LOOP.path, "max_hits": 1}, **meta}
        with httpx.Client(base_url=server.url, timeout=60) as other:
            call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": asked}
            answer = other.post("/mcp", json=call, headers={**ACCEPT, **header})
        report = read_message(answer)["result"]["structuredContent"]
        server.delete(f"/sessions/{report['session_id']}")
        assert report["status"] == "terminated"


def test_an_answer_is_a_stream_only_for_those_who_want_progress(
    server: Server, session: Session
) -> None:
    header = {"mcp-session-id": post(server, INITIALIZE).headers["mcp-session-id"]}
    # An answer that is the same a second later: one about sessions says how old they are.
    asked: dict[str, Any] = {"name": "debug_set_breakpoints"}
    asked["arguments"] = {"session_id": session.id}
    call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": asked}
    plain = post(server, call, **header)
    assert plain.headers["content-type"] == "application/json"
    asked["_meta"] = {"progressToken": 1}
    streamed = post(server, call, **header)
    assert streamed.headers["content-type"].startswith("text/event-stream")
    assert read_message(streamed) == plain.json()


def test_space_around_a_header_does_not_count(server: Server) -> None:
    session_id = post(server, INITIALIZE).headers["mcp-session-id"]
    header = {"content-type": "application/json", "mcp-session-id": f"  {session_id} \t"}
    body = json.dumps({"jsonrpc": "2.0", "id": 2, "method": "ping"})
    connection = http.client.HTTPConnection(server.url.removeprefix("http://"))
    connection.request("POST", "/mcp", body, {**ACCEPT, **header})
    assert connection.getresponse().status == 200
    connection.close()


def test_the_server_ends_while_agents_listen_and_wait(tmp_path: Path) -> None:
    server = Server(tmp_path / "data")
    answer = post(server, INITIALIZE)
    header = {"mcp-session-id": answer.headers["mcp-session-id"]}
    with (
        server.http.stream("GET", "/mcp", headers={**ACCEPT, **header}) as stream,
        contextlib.suppress(httpx.HTTPError),
    ):
        server.process.terminate()
        for _ in stream.iter_bytes():
            pass
    said = server.read_rest_of_log()
    assert server.stop() == 0
    assert said == ""


def test_a_relative_path_is_below_the_directory_that_the_address_names(server: Server) -> None:
    async def main() -> None:
        async with over_http(server, cwd=PROGRAMS.parent) as agent:
            report = await call(agent, "debug_run", target="programs/loop.py", max_hits=1)
            assert report["status"] == "terminated"
            server.delete(f"/sessions/{report['session_id']}")

    run(main)
