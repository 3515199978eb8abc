"""An agent that is held before it does harm, and is given something better to do.

    python examples/agent_held.py

Whoever watches it does here, with two lines in its command file, what a person would do with
`holdfast agent breakpoint add pattern …` and `holdfast agent resume … --input …`.
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
    """Where a real agent would ask a model."""
    is_done = any(each["role"] == "tool" for each in messages)
    wanted = None if is_done else {"path": "/home"}
    return {"role": "assistant", "content": "done" if is_done else "", "remove": wanted}


async def agent() -> list[Any]:
    messages: list[Any] = [{"role": "user", "content": "make some room"}]
    async with dbg.run(messages=messages):
        while (answer := await ask(messages))["remove"] is not None:
            messages += [answer, {"role": "tool", "content": await remove(**answer["remove"])}]
    return messages


class Watcher:
    """Somebody else, in the same event loop, which goes on while the tool is held."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self._events: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()

        def heard(_seq: int, kind: str, _moment: float, data: str) -> None:
            loop.call_soon_threadsafe(self._events.put_nowait, (kind, json.loads(data)))

        dbg.listen(heard)

    async def until(self, wanted: str) -> Any:
        while True:
            kind, data = await self._events.get()
            if kind == wanted:
                return data

    def say(self, kind: str, **data: Any) -> None:
        assert dbg.home is not None
        command_sender.send_command(dbg.home, kind, data)

    async def prevent(self) -> None:
        stop = await self.until("paused")
        print(f"held: {stop['name']} {stop['input']}")
        better = {"path": "/tmp/cache"}
        self.say("resume", stop=stop["stop"], action="modify", input=better, by="me")


async def main() -> None:
    watcher = Watcher()
    watcher.say("breakpoint", action="add", on="pattern", regex='"/home')
    await watcher.until("command_response")
    with dbg:
        messages, _ = await asyncio.gather(agent(), watcher.prevent())
    print(f"the model was told: {messages[-1]['content']}")
    print(f"removed: {removed}")


asyncio.run(main())
