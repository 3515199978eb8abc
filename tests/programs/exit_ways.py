"""Ends in the way that its argument names, with work left for the very end."""

import atexit
import os
import signal
import sys
import threading

over = threading.Event()


def last_words():
    over.wait()
    print("a thread finished")


def fail():
    return 1 / 0  # @raise


def end(how):
    if how == "exit":
        sys.exit(3)  # @exit
    if how == "message":
        sys.exit("good bye")
    if how == "raise":
        fail()
    if how == "interrupt":
        raise KeyboardInterrupt
    if how == "at-once":
        sys.stdout.flush()
        os._exit(4)
    if how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)


if __name__ == "__main__":
    atexit.register(print, "at exit")
    threading.Thread(target=last_words).start()
    try:
        end(sys.argv[1])  # @end
    finally:
        over.set()
