"""Programs that give a debugger a bad day, one for each argument."""

import asyncio
import os
import subprocess
import sys
import threading
import time


def spin():
    count = 0
    while True:
        count += 1  # @spin


def flood():
    number = 0
    while True:
        print("line", number, "x" * 200)
        number += 1  # @flood


def sleep():
    time.sleep(3600)  # @asleep


def spawn():
    code = "import sys; sys.path.insert(0, %r); import bad_days; bad_days.in_child(7)"
    child = [sys.executable, "-c", code % os.path.dirname(os.path.abspath(__file__))]
    done = subprocess.run(child, check=False)  # @spawn
    print("child", done.returncode)  # @spawned


def in_child(value):
    doubled = value * 2  # @in_child
    print("doubled", doubled)


def fork():
    pid = os.fork()
    if pid == 0:
        in_child(3)
        os._exit(0)
    os.waitpid(pid, 0)
    print("forked")  # @forked


def reraise():
    try:
        try:
            {}["missing"]  # @raise
        except KeyError as error:
            raise ValueError("no such thing") from error  # @reraise
    except ValueError:
        handled = True
        raise


def settrace():
    sys.settrace(lambda *_: None)
    value = 1
    for number in range(3):
        value += number  # @traced
    print("value", value)  # @after_trace


def generated():
    space = {}
    source = "def made(x):\n    y = x + 1\n    return y * 2\n"
    exec(compile(source, "<made>", "exec"), space)
    result = space["made"](4)  # @generated
    print("result", result)  # @result


def generator():
    def produce():
        for number in range(3):
            yield number * 10  # @yield

    total = 0
    for value in produce():  # @consume
        total += value  # @consumed
    print(total)  # @produced


def coroutines():
    async def work(number):
        await asyncio.sleep(0)
        return number * 2  # @worked

    async def main():
        values = await asyncio.gather(*(work(number) for number in range(3)))  # @gather
        print(values)  # @gathered

    asyncio.run(main())


def threads():
    ready, done = threading.Barrier(4), threading.Event()

    def wait(number):
        local = number * 10
        ready.wait()
        done.wait()  # @waiting
        return local

    workers = [threading.Thread(target=wait, args=(n,), name=f"worker-{n}") for n in range(3)]
    for worker in workers:
        worker.start()
    ready.wait()
    here = "all wait"  # @all_wait
    done.set()
    print(here)


def native():
    numbers = sorted(range(5), key=lambda number: -number)  # @native
    text = ",".join(map(str, numbers))  # @join
    print(text)  # @joined


class Huge:
    def __repr__(self):
        return "huge " * 3_000_000


class Blocking:
    def __repr__(self):
        time.sleep(3600)
        return "never"


class Raising:
    def __repr__(self):
        raise RuntimeError("no repr")


class Touchy:
    touched = 0

    @property
    def fragile(self):
        type(self).touched += 1
        return "broken"

    def __getattr__(self, name):
        type(self).touched += 1
        raise AttributeError(name)


def values():
    text = "x" * 10_000_000
    rows = [{"number": number, "name": "row %d" % number} for number in range(100_000)]
    huge, raising, touchy = Huge(), Raising(), Touchy()
    print(len(text), len(rows), touchy.touched)  # @values
    end = huge, raising  # @valued
    return end


def block():
    blocking = Blocking()
    print(type(blocking))  # @block


def deep(depth=0):
    if depth == 60:
        return depth  # @deep
    return deep(depth + 1)


if __name__ == "__main__":
    globals()[sys.argv[1]]()
