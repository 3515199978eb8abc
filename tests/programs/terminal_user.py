"""Talks to a terminal: asks, is interrupted, reads the end of its input."""

import os
import shutil
import sys
import time

if "readline" in sys.argv:
    import readline


def talk():
    streams = (sys.stdin, sys.stdout, sys.stderr)
    print([stream.isatty() for stream in streams], tuple(shutil.get_terminal_size()))
    print("to stderr", file=sys.stderr)
    name = input("name? ")
    print("hello", name)  # @hello
    print("line", repr(sys.stdin.readline()))
    try:
        input("interrupt? ")
    except KeyboardInterrupt:
        print("interrupted")
    try:
        input("end? ")
    except EOFError:
        print("end of input")


def outlive(waited_for, written):
    """Goes on after a file has come, and says so in another."""
    print("ready", flush=True)
    while not os.path.exists(waited_for):
        time.sleep(0.01)
    with open(written, "w") as file:
        file.write("alive")
    print("nobody reads this", flush=True)


if "outlive" in sys.argv:
    outlive(*sys.argv[2:])
else:
    talk()
