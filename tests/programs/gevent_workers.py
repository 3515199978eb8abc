"""Greenlets in place of threads: a few that work and end, or with `forever` one that never does."""

from gevent import monkey

monkey.patch_all()

import socket
import sys
import threading
import time

import gevent


def work(number):
    time.sleep(0.01)
    doubled = number * 2  # @work
    time.sleep(0.01)  # @after
    return doubled


def tick():
    count = 0
    while True:
        count += 1  # @tick
        if count == 1:
            print("ticking", flush=True)
        time.sleep(0.01)


if "forever" in sys.argv:
    gevent.spawn(tick)
    threading.Event().wait()
jobs = [gevent.spawn(work, number) for number in range(3)]
gevent.joinall(jobs)
thread = threading.Thread(target=work, args=(9,))
thread.start()
thread.join()
one, other = socket.socketpair()
other.sendall(b"sent")
print([job.value for job in jobs], one.recv(4))
