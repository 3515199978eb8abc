# mypy: ignore-errors
"""Times a function that is traced, and what runs beside it; prints JSON.

    traced_frames.py PROBE WAY

WAY is `plain`, `settrace` (a trace function that does nothing) or `traced`.
"""

import json
import os
import sys
import time
import types

SOURCE = """
def rest(n):
    total = 0
    for i in range(n):
        total += add(i, 1)
        if i % 7 == 0:
            total -= len(str(i))
    return total + sum(count(n // 10))

def add(a, b):
    return a + b

def count(n):
    for i in range(n):
        yield i

def long(n):
    total = 0
    kept = []
    for i in range(n):
        x = i * 3 % 17
        if x == 5:
            kept.append(x)
        elif x > 12:
            total -= 1
        total += x
    return total

def tight(n):
    total = 0
    for i in range(n):
        total += i
    return total

def short(a, b):
    total = a + b
    if total > 3:
        total *= 2
    return [total]

def beside(n):
    began = clock()
    rest(n)
    return clock() - began
"""
CALLS = {"long": (10_000,), "tight": (10_000,), "short": (1, 2), "beside": (60_000,)}


def load(probe):
    namespace = {"__name__": "loader"}
    with open(os.path.join(probe, "package_loader.py"), encoding="utf-8") as file:
        exec(compile(file.read(), "package_loader", "exec"), namespace)
    return namespace["load_module"](probe, "traces.trace_start")


def ignore(frame, event, arg):
    return ignore


def measure(start, way, name):
    """The seconds that one call takes; `beside` gives those of what it calls."""
    main = types.ModuleType("__main__")
    main.__file__ = sys.modules["__main__"].__file__ = FILE
    path = os.path.join(os.environ["TRACES"], name)
    if way == "traced":
        start.begin(
            {
                "kind": "frame",
                "path": path,
                "function": name,
                "is_own": True,
                "script": FILE,
                "roots": [],
            }
        )
    code = start.prepare_code(compile(SOURCE, FILE, "exec"))
    main.clock = time.thread_time
    exec(code, main.__dict__)
    function, args = main.__dict__[name], CALLS[name]
    if way == "settrace":
        sys.settrace(ignore)
    began = time.thread_time()
    inner = function(*args)
    took = time.thread_time() - began
    sys.settrace(None)
    start.end()
    return inner if name == "beside" else took


FILE = os.path.join(os.environ["TRACES"], "measured.py")
with open(FILE, "w", encoding="utf-8") as file:
    file.write(SOURCE)
START, WAY = load(sys.argv[1]), sys.argv[2]
print(
    json.dumps(
        {
            name: min(measure(START, WAY, name) for _ in range(rounds))
            for name, rounds in (("long", 15), ("tight", 15), ("short", 60), ("beside", 8))
        }
    )
)
