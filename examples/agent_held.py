"""An agent is held before a harmful tool call, and gets another input for it.

    python examples/agent_held.py

The `Watcher` sends two commands. A person would run `holdfast agent breakpoint add pattern …` and
`holdfast agent resume … --input …`.
"""

from __future__ import annotations

import asyncio
import json
from typing import Any

from holdfast.bridge import start
from holdfast.recording import command_sender

dbg = start("cleaner")
removed: list[str] = []


@dbg.tool
async def remove(path: str) -> str:
    removed.append(path)
    return f"removed {path}"


@dbg.model
async def ask(messages: list[Any], model: str = "script-1") -> dict[str, Any]:
    """A real agent would ask a model here."""
    is_done = any(message["role"] == "tool" for message in messages)
    arguments = None if is_done else {"path": "/home"}
    return {"role": "assistant", "content": "done" if is_done else "", "remove": arguments}


async def agent() -> list[Any]:
    messages: list[Any] = [{"role": "user", "content": "make some room"}]
    async with dbg.run(messages=messages):
        while (answer := await ask(messages))["remove"] is not None:
            messages += [answer, {"role": "tool", "content": await remove(**answer["remove"])}]
    return messages


class Watcher:
    """Watches and steers the agent from the same event loop, which continues during the hold."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()

        def on_event(_seq: int, kind: str, _moment: float, data: str) -> None:
            loop.call_soon_threadsafe(self._events.put_nowait, (kind, json.loads(data)))

        dbg.listen(on_event)

    async def wait_for(self, wanted: str) -> Any:
        while True:
            kind, data = await self._events.get()
            if kind == wanted:
                return data

    def send(self, kind: str, **data: Any) -> None:
        assert dbg.home is not None
        command_sender.send_command(dbg.home, kind, data)

    async def change_input(self) -> None:
        stop = await self.wait_for("paused")
        print(f"held: {stop['name']} {stop['input']}")
        harmless = {"path": "/tmp/cache"}
        self.send("resume", stop=stop["stop"], action="modify", input=harmless, by="me")


async def main() -> None:
    watcher = Watcher()
    watcher.send("breakpoint", action="add", on="pattern", regex='"/home')
    await watcher.wait_for("command_response")
    with dbg:
        messages, _ = await asyncio.gather(agent(), watcher.change_input())
    print(f"the model got: {messages[-1]['content']}")
    print(f"removed: {removed}")


asyncio.run(main())
