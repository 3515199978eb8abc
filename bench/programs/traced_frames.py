"""Times functions that are traced, and what runs beside them; prints JSON.

    traced_frames.py PROBE WAY

WAY is `plain`, `settrace` (a trace function that does nothing) or `traced`. Times are processor
time, so that other load does not count. The best of a few runs counts.
"""

from __future__ import annotations

import json
import os
import sys
import tempfile
import time
import types
from typing import Any

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

def beside(n):
    began = clock()
    rest(n)
    return clock() - began

def loop(n):
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

def short(a, b):
    total = a + b
    if total > 3:
        total *= 2
    return [total]

def shorts(n):
    began = clock()
    for i in range(n):
        short(i, 2)
    return (clock() - began) / n
"""
# What is called, which function is traced, its argument, and how often it is measured.
MEASURED = {
    "beside": ("beside", 60_000, 8),
    "loop": ("loop", 10_000, 15),
    "short": ("shorts", 300, 8),
}


def load(probe: str) -> Any:
    namespace: dict[str, Any] = {"__name__": "loader"}
    with open(os.path.join(probe, "package_loader.py"), encoding="utf-8") as file:
        exec(compile(file.read(), "package_loader", "exec"), namespace)
    return namespace["load_module"](probe, "traces.trace_start")


def ignore(_frame: Any, _event: str, _arg: Any) -> Any:
    return ignore


def measure(start: Any, way: str, traced: str, folder: str) -> float:
    """The seconds that one call takes."""
    called, argument, _rounds = MEASURED[traced]
    file = os.path.join(folder, "measured.py")
    main = types.ModuleType("__main__")
    main.__dict__.update(__file__=file, clock=time.thread_time)
    if way == "traced":
        # Each call of a short function is recorded, until one raises: none does.
        order: dict[str, Any] = {
            "kind": "frame",
            "path": os.path.join(folder, traced),
            "function": traced,
        }
        more = {"is_own": True, "script": file, "roots": [], "raised": traced == "short"}
        start.begin(dict(order, **more))
    exec(start.prepare_code(compile(SOURCE, file, "exec")), main.__dict__)
    function = main.__dict__[called]
    if way == "settrace":
        sys.settrace(ignore)
    began = time.thread_time()
    inner: float = function(argument)
    took = time.thread_time() - began
    sys.settrace(None)
    start.end()
    return took if traced == "loop" else inner


def main(probe: str, way: str) -> dict[str, float]:
    start = load(probe)
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "measured.py"), "w", encoding="utf-8") as file:
            file.write(SOURCE)
        return {
            name: min(measure(start, way, name, folder) for _ in range(rounds))
            for name, (_called, _argument, rounds) in MEASURED.items()
        }


print(json.dumps(main(*sys.argv[1:])))
