"""C code that keeps the interpreter's lock, so that no other thread runs until it returns."""

import re
import sys
import threading

entered = threading.Semaphore(0)
waiting = threading.Lock()
waiting.acquire()


def wait(number):
    entered.release()
    with waiting:  # @waiting
        return number


def match(text):
    return re.match(r"(a|a)*$", text)  # @match


def add(count):
    return sum(range(count))  # @add


threads = [threading.Thread(target=wait, args=(n,), name=f"waiter-{n}", daemon=True) for n in (1, 2)]
for thread in threads:
    thread.start()
    entered.acquire()
print("ready", flush=True)
if "hold" in sys.argv:
    sys.stdin.readline()
if "regex" in sys.argv:
    match("a" * 100 + "b")  # @call
else:
    add(10**15)
