"""Runs until it is told to stop: what a debugger that comes later finds."""

import os
import sys
import time

STATE = {"rounds": 0, "running": True}


def observed():
    """What of a debugger can be seen from inside."""
    monitoring = getattr(sys, "monitoring", None)
    tools = [monitoring.get_tool(n) for n in range(6)] if monitoring else []
    return [sys.gettrace() is not None, any(tools)]


def turn(state):
    state["rounds"] += 1  # @turn
    return state["rounds"]  # @back


def main():
    while STATE["running"]:
        turn(STATE)
        time.sleep(0.01)
        if os.path.exists(sys.argv[1] + ".ask"):
            os.rename(sys.argv[1] + ".ask", sys.argv[1] + ".asked")
            with open(sys.argv[1] + ".new", "w") as file:
                print(*observed(), file=file)
            os.rename(sys.argv[1] + ".new", sys.argv[1])
    print("ended", STATE["rounds"] > 0)


if __name__ == "__main__":
    print("ready", flush=True)
    main()
