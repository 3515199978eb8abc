"""Runs round and round until it is told to end."""

import time

ticks = 0
stop = False


def tick():
    global ticks
    ticks += 1  # @tick
    return ticks  # @ticked


print("spinning", flush=True)
while not stop:
    tick()
    time.sleep(0.001)  # @sleep
print("ended", flush=True)
