"""A program that uses `sys.settrace`, `sys.setprofile` and `locals()` itself."""

import sys
import threading

EVENTS = []


def tracer(frame, event, arg):
    EVENTS.append((frame.f_code.co_name, event, frame.f_lineno))
    return tracer


def profiler(frame, event, arg):
    if event in ("call", "return"):
        EVENTS.append(("profile", frame.f_code.co_name, event))


def work(n):
    total = 0
    for i in range(n):
        total += helper(i)
    return total


def helper(i):
    return i * 2


def snapshot(n):
    before = locals()
    x = n + 1
    y = "x" in before
    again = locals()
    return x, y, sorted(before), sorted(again)


def main():
    sys.settrace(tracer)
    current = sys.gettrace() is tracer
    work(2)
    sys.settrace(None)
    sys.setprofile(profiler)
    work(1)
    same = sys.getprofile() is profiler
    sys.setprofile(None)
    threading.settrace(tracer)
    thread = threading.Thread(target=work, args=(1,))
    thread.start()
    thread.join()
    threading.settrace(None)
    for event in EVENTS:
        if "threading" not in str(event):
            print(event)
    print(current, same, work(3), snapshot(1))


main()
