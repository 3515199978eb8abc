"""Lives in the manner it is told. Every process of it holds a FIFO open, and says its pid there."""

import os
import signal
import subprocess
import sys

out = os.open(sys.argv[1], os.O_WRONLY)
manner = sys.argv[2]

LONER = """
import os, signal, sys
os.write(int(sys.argv[1]), f"{os.getpid()}\\n".encode())
while True:
    signal.pause()
"""


def say_pid():
    os.write(out, f"{os.getpid()}\n".encode())


def settle():
    say_pid()
    while True:
        signal.pause()


def have_children():
    """One child, one daemon (forked twice, in a session of its own), one in a new session."""
    if not os.fork():
        settle()
    middle = os.fork()
    if not middle:
        os.setsid()
        if os.fork():
            os._exit(0)
        settle()
    os.waitpid(middle, 0)
    loner = [sys.executable, "-c", LONER, str(out)]
    subprocess.Popen(loner, start_new_session=True, pass_fds=[out])


def ignore_polite_signals():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)


if manner == "stubborn":
    ignore_polite_signals()
elif manner in ("parent", "orphaning"):
    have_children()
say_pid()
if manner == "orphaning":
    os._exit(0)
elif manner == "reader":
    input("name? ")
elif manner == "busy":
    while True:
        pass
waiting = True  # @held
while waiting:
    signal.pause()
