"""A held call waits, and everything else in its event loop goes on."""

from __future__ import annotations

import asyncio

from holdfast import async_debug_call, configure_debug, with_debug
from serving import ask, serving


async def fetch(page: int) -> str:
    await asyncio.sleep(0)
    return f"page {page}"


async def decider(url: str, session_id: str) -> None:
    """Another task, as a person or an agent would be: it waits for a hold and changes the call."""
    hold_id, seen = None, 0
    while hold_id is None:
        path = f"/sessions/{session_id}/events?since={seen}&wait=30"
        for event in (await asyncio.to_thread(ask, url, "GET", path))["events"]:
            seen = event["seq"]
            hold_id = event["hold_id"] if event["type"] == "hold_opened" else hold_id
    decision = {"action": "modify", "modified_args": [{"value": 42}], "by": "decider"}
    await asyncio.to_thread(ask, url, "POST", f"/api/holds/{hold_id}/decision", decision)


async def talk(url: str, session_id: str) -> None:
    wrapped = with_debug(fetch)
    print("not held:", await wrapped(1))

    point = ask(url, "POST", "/api/breakpoints", {"function": "fetch", "condition": "args[0] == 2"})
    held, _ = await asyncio.gather(wrapped(2), decider(url, session_id))
    print("held, then modified:", held)
    ask(url, "DELETE", f"/api/breakpoints/{point['id']}")

    print("inline:", await async_debug_call("fetch-again", fetch, 3))


def main() -> None:
    with serving() as url:
        configure_debug(server_url=url)
        session_id = with_debug("ON").session_id()
        asyncio.run(talk(url, session_id))
        with_debug("OFF")


if __name__ == "__main__":
    main()
