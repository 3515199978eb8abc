"""Programs that are much of something, by name: each would break a careless debugger."""

import os
import signal
import subprocess
import sys
import time


def flood():
    for number in range(204_800):
        print(number, "x" * 1017)
    print("the end")


def dribble():
    for _ in range(300_000):
        os.write(1, b".")


def deep():
    sys.setrecursionlimit(20_000)
    descend(10_000)


def descend(left):
    if left == 0:
        return left  # @bottom
    return descend(left - 1)


def large():
    items = list(range(1_000_000))
    names = {str(number): number for number in range(100_000)}
    return len(items) + len(names)  # @large


class Sleepy:
    def __repr__(self):
        time.sleep(60)
        return "<slept>"


def sleepy():
    first, second, plain = Sleepy(), Sleepy(), 5
    return first, second, plain  # @sleepy


def closing():
    os.closerange(3, 1000)
    closed = True
    return closed  # @closed


def covering():
    for fd in range(3, 100):
        os.dup2(1, fd)
    closed = True
    return closed  # @covered


def closing_all():
    os.closerange(3, 100_000)
    print("alone", flush=True)
    while True:
        signal.pause()


def deaf():
    signal.pthread_sigmask(signal.SIG_BLOCK, signal.valid_signals())
    held = "deaf"
    signal.pthread_sigmask(signal.SIG_UNBLOCK, signal.valid_signals())  # @deaf
    print("still here", held)


def noisy():
    code = "import sys\nwhile True: sys.stderr.write('noise ' * 1000)"
    child = subprocess.Popen([sys.executable, "-c", code])
    held = child.pid
    child.kill()  # @noisy
    child.wait()
    return held


def counting():
    for number in range(10):
        total = number * 2  # @count
    return total


def at_once():
    os._exit(5)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
    print("done")
