"""Drives an MCP server over stdio with the official client, and counts what each call costs."""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client


@dataclass(frozen=True)
class ServerCommand:
    """How an MCP server is started."""

    command: str
    arguments: tuple[str, ...] = ()
    cwd: Path | None = None
    environment: Mapping[str, str] | None = None


@dataclass(frozen=True)
class Call:
    """One call of a tool: what it took, and the bytes of its result."""

    tool: str
    ms: float
    bytes: int
    text: str


@dataclass
class Conversation:
    """The calls that an agent has made."""

    client: Client
    calls: list[Call] = field(default_factory=list)
    listed_bytes: int = 0
    """The tool list and the instructions, which every agent pays for first."""

    async def call(self, tool: str, **arguments: Any) -> Any:
        """Call a tool; the result's structured content, or its text as JSON, or its text."""
        start = time.perf_counter()
        result = await self.client.call_tool(tool, arguments)
        ms = (time.perf_counter() - start) * 1000
        text = "\n".join(part.text for part in result.content if hasattr(part, "text"))
        if result.is_error:
            raise RuntimeError(f"{tool} failed: {text}")
        self.calls.append(Call(tool, ms, len(_encode(result).encode()), text))
        if result.structured_content is not None:
            return result.structured_content
        with contextlib.suppress(ValueError):
            return json.loads(text)
        return text


@contextlib.asynccontextmanager
async def converse(server: ServerCommand) -> AsyncIterator[Conversation]:
    """Start the server and greet it. What follows is measured."""
    parameters = StdioServerParameters(
        command=server.command,
        args=list(server.arguments),
        cwd=server.cwd,
        env=dict(server.environment) if server.environment is not None else None,
    )
    with _open_nowhere() as nowhere:  # what the servers log does not belong into our tables
        async with Client(stdio_client(parameters, errlog=nowhere), mode="legacy") as client:
            tools = await client.list_tools()
            listed = len(_encode(tools).encode()) + len((client.instructions or "").encode())
            yield Conversation(client, listed_bytes=listed)


def _open_nowhere() -> TextIO:
    return open(os.devnull, "w")


def _encode(result: Any) -> str:
    """The result as it is sent."""
    text: str = result.model_dump_json(by_alias=True, exclude_none=True)
    return text
