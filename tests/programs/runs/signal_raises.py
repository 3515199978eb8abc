"""A signal handler that raises while the program works."""

import signal
import time


class Alarm(Exception):
    pass


def ring(number, frame):
    raise Alarm("ring")


def work():
    total = 0
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        total += 1
        values = [total]
        values.append(len(values))
    return total


signal.signal(signal.SIGALRM, ring)
caught = 0
for _ in range(20):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.02)
        work()
    except Alarm:
        caught += 1
print("caught", caught)
