"""One agent debugs another: it holds a tool call, reads it, edits its input, and sees the result.

    python examples/agent_debugs_agent.py

Both are functions here. The one that debugs has the tools that `holdfast mcp` gives to an agent:
`agent_control`, `hold_list` and `hold_decide`, over HTTP.
"""

from __future__ import annotations

import os
import threading
from typing import Any

from example_server import request, running_server
from holdfast.bridge import start

removed: list[str] = []


def run_cleaner() -> None:
    """The agent that is debugged. It begins held, and wants to remove the wrong directory."""
    with start("cleaner", hold=True) as dbg:

        @dbg.tool
        def remove(path: str) -> str:
            removed.append(path)
            return f"removed {path}"

        @dbg.model(model="script-1")
        def ask(messages: list[Any]) -> dict[str, Any]:
            """A real agent would ask a model here."""
            return {"content": "I remove /home."}

        messages: list[Any] = [{"role": "user", "content": "make some room"}]
        with dbg.run(messages=messages):
            messages.append({"role": "assistant", "content": ask(messages)["content"]})
            messages.append({"role": "tool", "content": remove(path="/home")})


def debug_cleaner(url: str) -> None:
    """The agent that debugs."""

    def call(tool: str, **arguments: Any) -> Any:
        return request(url, "POST", f"/api/v1/tools/{tool}?client=watcher", arguments)

    [first] = call("hold_list", wait=50)["holds"]
    print(f"held: {first['owner']}, before its {first['moment']} call {first['messages']}")
    made = call("agent_control", command="break", breakpoint="pattern:/home")
    print(f"set: {made['breakpoints']}")
    done = call("hold_decide", hold_id=first["hold_id"], action="continue")
    print(f"the model said: {done['result']}")

    [second] = call("hold_list", wait=50)["holds"]
    print(f"held: {second['what']} {second['arguments']}")
    print(f"allows: {', '.join(second['allows'])}")
    change = {"action": "modify", "args": {"path": "/tmp/cache"}}
    done = call("hold_decide", hold_id=second["hold_id"], **change)
    print(f"the tool returned: {done['result']}")


with running_server() as url:
    os.environ["HOLDFAST_SERVER_URL"] = url  # so that the cleaner makes itself known there
    cleaner = threading.Thread(target=run_cleaner, daemon=True)
    cleaner.start()
    debug_cleaner(url)
    cleaner.join()
print(f"removed: {removed}")
