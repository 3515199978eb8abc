"""Threads that are blocked, each in its own way, when the main thread reaches a line."""

import queue
import socket
import sys
import threading
import time

gate = threading.Lock()
jobs = queue.Queue()
ours, theirs = socket.socketpair()
LEVEL = ["low"]


def wait_for_lock(secret):
    numbers = [secret, secret + 1]
    with gate:  # @lock
        numbers.append(secret + 2)  # @unlocked


def wait_for_job(secret):
    job = jobs.get()  # @queue
    return job, secret


def wait_for_bytes(secret):
    data = theirs.recv(1)  # @bytes
    return data, secret


def is_asleep(thread):
    """Whether it has been blocked for a while: in C, and not on a processor."""
    for _ in range(5):
        with open(f"/proc/self/task/{thread.native_id}/stat") as stat:
            if stat.read().rpartition(")")[2].split()[0] != "S":
                return False
        if sys._current_frames()[thread.ident].f_code.co_name not in WAITS:
            return False
        time.sleep(0.01)
    return True


WAITS = {"wait_for_lock", "wait_for_bytes", "wait"}
gate.acquire()
threads = [
    threading.Thread(target=target, args=(number,), name=target.__name__, daemon=True)
    for number, target in enumerate((wait_for_lock, wait_for_job, wait_for_bytes), 41)
]
for thread in threads:
    thread.start()
while not all(is_asleep(thread) for thread in threads):
    pass
if sys.argv[1:] == ["stay"]:
    print("ready", flush=True)
    threading.Event().wait()
LEVEL.append("high")  # @held
gate.release()
jobs.put("job")
ours.send(b"x")
for thread in threads:
    thread.join()
print(LEVEL)  # @end
