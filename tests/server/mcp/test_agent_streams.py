"""Messages of an agent, line by line, until it has sent its last."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable

import anyio
import pytest

from holdfast.server.mcp import agent_streams
from mcp_clients import run
from polling import PATIENCE_SECONDS

CALL = b'{"jsonrpc": "2.0", "id": %s, "method": "ping"}\n'
CANCEL = b'{"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": %s}}\n'


@pytest.mark.parametrize("number", [b"7", b'"seven"'])
def test_a_cancelled_request_is_not_waited_for_when_its_agent_leaves(
    number: bytes, limits: Callable[..., None]
) -> None:
    """It never gets an answer. Other requests do, and are waited for."""
    limits(last_answers=10 * PATIENCE_SECONDS)

    async def main() -> None:
        agent, ours = socket.socketpair()
        reader, writer = await asyncio.open_connection(sock=ours)
        agent.sendall(CALL % number + CANCEL % number + CANCEL % b"[]" + CANCEL % b"null")
        agent.close()
        lines = agent_streams.Lines(reader, writer)
        to_server, from_agent = anyio.create_memory_object_stream[object](10)

        await asyncio.wait_for(lines.receive_all(to_server), PATIENCE_SECONDS)

        async with from_agent:
            assert len([message async for message in from_agent]) == 4
        writer.close()

    run(main)
