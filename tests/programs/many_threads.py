"""Threads that do the same thing for ever, and count: as many as the environment says."""

import os
import sys
import threading
import time

COUNT = int(os.environ["MANY_THREADS"])
TICKS = [0] * COUNT


def tick(number):
    count = TICKS[number] + 1  # @tick
    TICKS[number] = count  # @counted


def work(number):
    while True:
        tick(number)  # @call
        time.sleep(0.01)  # @rest


def main():
    for number in range(COUNT):
        threading.Thread(target=work, args=(number,), daemon=True).start()
    print("ready", flush=True)
    while True:
        time.sleep(0.05)
        if os.path.exists(sys.argv[1] + ".ask"):
            os.rename(sys.argv[1] + ".ask", sys.argv[1] + ".asked")
            with open(sys.argv[1] + ".new", "w") as file:
                print(*TICKS, file=file)
            os.rename(sys.argv[1] + ".new", sys.argv[1])


if __name__ == "__main__":
    main()
