"""A main thread and a worker, both with variables to evaluate."""

import sys
import threading

LEVEL = "low"
ready = threading.Event()


def describe():
    return "level " + LEVEL


def work(amount):
    half = amount / 2
    ready.set()
    return half  # @worker


def compute(n):
    doubled = n * 2
    names = ["a", "b"]
    done = doubled > n  # @compute
    return doubled if done else names


def main():
    local = 1
    if "thread" in sys.argv:
        worker = threading.Thread(target=work, args=(10,), name="worker")
        worker.start()
        worker.join()
    result = compute(21)
    print("result", result, local, LEVEL)


main()
