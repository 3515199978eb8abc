"""An agent's MCP client starts `holdfast mcp` and finds the bug of `buggy_cart.py` in one call.

    python examples/mcp_client.py

It needs the official SDK, which comes with `holdfast[server]`. An agent would read the text of the
answer, or its structure: both say the same.
"""

from __future__ import annotations

import asyncio
import os
import sys
from itertools import pairwise
from pathlib import Path

from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

PROGRAM = Path(__file__).with_name("buggy_cart.py")
EXPERIMENT = {
    "target": PROGRAM.name,
    "breakpoints": [f"{PROGRAM.name}:{line}" for line in range(25, 30)],
    "collect": ["cart.total"],
}


async def main() -> None:
    server = StdioServerParameters(
        command=sys.executable,
        args=["-m", "holdfast", "mcp"],
        env=dict(os.environ),
        cwd=PROGRAM.parent,
    )
    async with Client(stdio_client(server)) as client:
        result = await client.call_tool("debug_run", EXPERIMENT)
    report = result.structured_content
    assert report is not None
    lines = PROGRAM.read_text(encoding="utf-8").splitlines()
    for (place, before), (_, after) in pairwise(report["rows"]):
        print(f"{place}  cart.total {before} -> {after}")
        if int(after) < int(before):
            print(f"  it falls: {lines[int(place.rpartition(':')[2]) - 1].strip()}")


asyncio.run(main())
