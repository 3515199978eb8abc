"""Recursion without an end, caught; then a line to stop at."""

import sys
import threading
import traceback


def descend(depth):
    DEEPEST[0] = depth
    return descend(depth + 1)  # @descend


def after(value):
    return value  # @after


def report():
    try:
        descend(1)
    except RecursionError:
        text = traceback.format_exc()
    after(DEEPEST[0])
    print(text, flush=True)
    print("frames", DEEPEST[0], "limit", sys.getrecursionlimit(), flush=True)


DEEPEST = [0]
report()
sys.setrecursionlimit(500)
report()
thread = threading.Thread(target=report)
thread.start()
thread.join()
