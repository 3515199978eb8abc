"""Ends badly, in the way that its argument names."""

import json
import os
import signal
import sys
import threading


class Cart:
    def __init__(self):
        self.items = [1, 2]
        self.total = 3


class Hanging:
    def __repr__(self):
        threading.Event().wait()


class HangingError(Exception):
    def __str__(self):
        if threading.current_thread() is threading.main_thread():
            return "printed"
        threading.Event().wait()


def load(text):
    cart = Cart()
    try:
        return json.loads(text)  # @load
    except ValueError as error:
        raise KeyError("no such cart", len(cart.items)) from error  # @raise


def give_up():
    try:
        load("{")
    except KeyError:
        sys.exit("cannot go on")  # @exit


def recur(depth):
    return recur(depth + 1)  # @recur


def hang():
    healthy = Cart()
    value = Hanging()
    raise HangingError(value, healthy)  # @hang


def go_round():
    first, second = ValueError("first"), ValueError("second")
    first.__cause__, second.__cause__ = second, first
    raise first  # @round


def in_library():
    names = ["a", "b"]
    return json.dumps({tuple(names): 1})  # @library


def run_out_of_memory():
    import resource

    with open("/proc/self/statm") as file:
        used = int(file.read().split()[0]) * resource.getpagesize()
    kept = []
    resource.setrlimit(resource.RLIMIT_AS, (used + 2**24, used + 2**24))
    for size in (2**20, 2**12):
        try:
            while True:
                kept.append(bytearray(size))
        except MemoryError:
            pass
    bytearray(2**20)  # @memory


def hook_that_exits(*_exception):
    print("the hook ran", flush=True)
    os._exit(9)


class Last:
    def __del__(self):
        os.write(1, b"gone\n")


def end(how):
    last = Last()
    if how == "raise":
        load("{")
    elif how == "exit":
        give_up()
    elif how == "recursion":
        recur(0)
    elif how == "hang":
        hang()
    elif how == "round":
        go_round()
    elif how == "library":
        in_library()
    elif how == "memory":
        run_out_of_memory()
    elif how == "killed":
        os.kill(os.getpid(), signal.SIGKILL)
    elif how == "hook":
        sys.excepthook = hook_that_exits
        load("")
    elif how == "group":
        raise ExceptionGroup("two", [ValueError("one of them"), KeyError("other")])  # noqa: F821
    elif how == "wait":
        print("ready", flush=True)
        sys.stdin.readline()
        load("{")
    del last


if __name__ == "__main__":
    end(sys.argv[1])  # @end
    print("well")  # @well
