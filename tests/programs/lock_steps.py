"""A thread that keeps a lock, and one that wants it."""

import threading

lock = threading.Lock()
kept = threading.Event()


def keep():
    with lock:
        kept.set()
        number = 1  # @keep
    return number


def take():
    kept.wait()
    number = 2  # @before
    with lock:  # @take
        number += 1  # @taken
    return number


threads = [threading.Thread(target=target, name=target.__name__) for target in (keep, take)]
for thread in threads:
    thread.start()
