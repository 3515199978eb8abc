"""Loops that run for long without a call, in the main thread and in another."""

import threading
import time

STATE = {"running": True}


def turn(state):
    number = 0
    while state["running"]:
        number += 1  # @in_thread
    return number


def main():
    thread = threading.Thread(target=turn, args=(STATE,), name="turner")
    thread.start()
    end = time.monotonic() + 60
    number = 0
    while STATE["running"] and number >= 0:
        number += 1  # @in_main
        if number % 1000 == 0 and time.monotonic() > end:
            STATE["running"] = False
    thread.join()


main()
