"""Says what is traced: in the main thread, in a thread, in a generator; before and after a stop."""

import sys
import threading


def is_traced():
    """Whether this thread is, and whether the calling frame is."""
    return [sys.gettrace() is not None, sys._getframe(1).f_trace is not None]


def generate():
    while True:
        yield is_traced()


def stop():
    return 1  # @stop


def never_called():
    return 1  # @never


def in_thread():
    FOUND.append(is_traced())


def report():
    FOUND.append(is_traced())
    FOUND.append(next(generator))
    thread = threading.Thread(target=in_thread)
    thread.start()
    thread.join()
    print(FOUND, flush=True)
    FOUND.clear()


FOUND = []
generator = generate()
report()
stop()
report()
