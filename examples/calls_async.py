"""While a call is held, everything else in its event loop continues."""

from __future__ import annotations

import asyncio

from example_server import request, running_server
from holdfast import async_debug_call, configure_debug, with_debug


async def fetch(page: int) -> str:
    await asyncio.sleep(0)
    return f"page {page}"


async def decide(url: str, session_id: str) -> None:
    """Wait for a hold and change the call, as a person or an agent would."""
    hold_id, last_seq = None, 0
    while hold_id is None:
        path = f"/sessions/{session_id}/events?since={last_seq}&wait=30"
        for event in (await asyncio.to_thread(request, url, "GET", path))["events"]:
            last_seq = event["seq"]
            hold_id = event["hold_id"] if event["type"] == "hold_opened" else hold_id
    decision = {"action": "modify", "modified_args": [{"value": 42}], "by": "example"}
    await asyncio.to_thread(request, url, "POST", f"/api/holds/{hold_id}/decision", decision)


async def call_pages(url: str, session_id: str) -> None:
    wrapped = with_debug(fetch)
    print("not held:", await wrapped(1))

    rule = {"function": "fetch", "condition": "args[0] == 2"}
    breakpoint_ = request(url, "POST", "/api/breakpoints", rule)
    held, _ = await asyncio.gather(wrapped(2), decide(url, session_id))
    print("held, then modified:", held)
    request(url, "DELETE", f"/api/breakpoints/{breakpoint_['id']}")

    print("inline:", await async_debug_call("fetch-again", fetch, 3))


def main() -> None:
    with running_server() as url:
        configure_debug(server_url=url)
        session_id = with_debug("ON").session_id()
        asyncio.run(call_pages(url, session_id))
        with_debug("OFF")


if __name__ == "__main__":
    main()
