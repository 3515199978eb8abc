"""`python -m bench.page_flood DIRECTORY RATE SECONDS`: an agent that tells of very many events."""

from __future__ import annotations

import sys
import time

from holdfast.bridge import start
from holdfast.model.agent_events import TOOL_CALL_START, ToolCallStart

_PAUSE = 0.004


def main() -> None:
    """Emit events at an even pace, and print how many; then wait until standard input ends."""
    directory, rate, seconds = sys.argv[1], float(sys.argv[2]), float(sys.argv[3])
    dbg = start("flood", directory=directory)
    print(dbg.id, flush=True)
    sys.stdin.readline()  # whoever started this is ready
    fields: ToolCallStart = {
        "toolId": "tool-1",
        "name": "step",
        "input": {"n": 1},
        "iteration": 3,
        "hash": "0222f0a42fa6c101",
    }
    began, sent = time.perf_counter(), 0
    while (now := time.perf_counter() - began) < seconds:
        due = int(now * rate) - sent
        for _ in range(due):
            dbg.emit(TOOL_CALL_START(fields))
        sent += due
        time.sleep(_PAUSE)
    print(sent, flush=True)
    sys.stdin.readline()
    dbg.close()


if __name__ == "__main__":
    main()
