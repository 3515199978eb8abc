"""Agents: the official client of the Model Context Protocol, over both transports and in both eras.

`mode` is `legacy` (with a handshake) or `auto` (without, where the server can).
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from harness import PROGRAMS, Server

MODES = ("auto", "legacy")
_PATIENCE_SECONDS = 100.0


def run(main: Callable[[], Awaitable[None]]) -> None:
    async def limited() -> None:
        await asyncio.wait_for(main(), _PATIENCE_SECONDS)

    asyncio.run(limited())


@contextlib.asynccontextmanager
async def over_stdio(
    home: Path, mode: str = "auto", cwd: Path = PROGRAMS, **env: str
) -> AsyncIterator[Client]:
    """An agent whose client starts `holdfast mcp` in this directory."""
    command = StdioServerParameters(
        command=sys.executable,
        args=["-m", "holdfast", "mcp"],
        env={**os.environ, "HOLDFAST_HOME": str(home), **env},
        cwd=cwd,
    )
    async with Client(stdio_client(command), mode=mode) as client:
        yield client


@contextlib.asynccontextmanager
async def over_http(
    server: Server, mode: str = "auto", cwd: Path = PROGRAMS
) -> AsyncIterator[Client]:
    async with Client(f"{server.url}/mcp?cwd={quote(str(cwd))}", mode=mode) as client:
        yield client


async def call(client: Client, tool: str, **arguments: Any) -> Any:
    """Call a tool that succeeds. What it answers, as structure."""
    result = await client.call_tool(tool, arguments)
    assert not result.is_error, result.content
    assert len(result.content) == 1
    return result.structured_content


def read_text(result: Any) -> str:
    """The text of a result."""
    assert [part.type for part in result.content] == ["text"]
    return str(result.content[0].text)
