"""Deadlocks of several kinds at once, beside threads and tasks that only wait."""

import asyncio
import concurrent.futures
import queue
import threading

first, second = threading.Lock(), threading.Lock()
jobs = queue.Queue()
changed = threading.Condition()


def cross(mine, theirs, both):
    with mine:
        both.wait()
        with theirs:  # @cross
            pass


class Account:
    def __init__(self):
        self.lock = threading.RLock()
        self.balances = {"lock": threading.Lock()}

    def transfer(self, other, both):
        self.lock.acquire()
        try:
            both.wait()
            with other.lock:  # @transfer
                pass
        finally:
            self.lock.release()

    def twice(self):
        self.balances["lock"].acquire()
        try:
            self.balances["lock"].acquire()  # @twice
        finally:
            self.balances["lock"].release()


def join_helper():
    with first_of_two:
        helper = threading.Thread(target=help_out, name="helper", daemon=True)
        helper.start()
        helper.join()  # @join


def help_out():
    with first_of_two:  # @helped
        pass


def consume():
    return jobs.get()  # @get


def listen():
    with changed:
        changed.wait()  # @wait


def notify():
    """Its lock is free, though `listen` is inside a `with` block on it."""
    with changed:
        pass
    with hidden:
        pass


class Guard:
    """A lock that a frame does not show: whoever enters this holds it."""

    def __enter__(self):
        hidden.acquire()

    def __exit__(self, *_error):
        hidden.release()


def keep_hidden():
    with Guard():
        guarded.set()
        threading.Event().wait()


async def await_each_other():
    tasks = {}

    async def await_task(name):
        await asyncio.sleep(0)
        await tasks[name]

    async def hold(mine, theirs):
        async with mine:
            await asyncio.sleep(0)
            async with theirs:
                pass

    async def gather_all(others):
        await asyncio.gather(*others)

    async def shield(name):
        await asyncio.sleep(0)
        await asyncio.shield(tasks[name])

    red, blue = asyncio.Lock(), asyncio.Lock()
    for name, coroutine in (
        ("ping", await_task("pong")),
        ("pong", await_task("ping")),
        ("red", hold(red, blue)),
        ("blue", hold(blue, red)),
        ("sword", shield("board")),
        ("board", shield("sword")),
        ("idle", asyncio.sleep(10_000)),
    ):
        tasks[name] = asyncio.ensure_future(coroutine)
        tasks[name].set_name(name)
    gatherer = asyncio.ensure_future(gather_all([tasks["ping"], tasks["idle"]]))
    gatherer.set_name("gatherer")
    await asyncio.Event().wait()


def await_result(name):
    ready.wait()
    return futures[name].result()  # @result


pool = concurrent.futures.ThreadPoolExecutor(2, "pool")
ready, futures = threading.Event(), {}
futures["a"] = pool.submit(await_result, "b")
futures["b"] = pool.submit(await_result, "a")
ready.set()
first_of_two = threading.Lock()
hidden = threading.Lock()
guarded = threading.Event()
one, other = Account(), Account()
crossing, transferring = threading.Barrier(2), threading.Barrier(2)
for name, target, arguments in (
    ("first", cross, (first, second, crossing)),
    ("second", cross, (second, first, crossing)),
    ("one", one.transfer, (other, transferring)),
    ("other", other.transfer, (one, transferring)),
    ("twice", Account().twice, ()),
    ("joiner", join_helper, ()),
    ("consumer", consume, ()),
    ("listener", listen, ()),
    ("keeper", keep_hidden, ()),
    ("loop", lambda: asyncio.run(await_each_other()), ()),
):
    threading.Thread(target=target, args=arguments, name=name, daemon=True).start()
guarded.wait()
threading.Thread(target=notify, name="notifier", daemon=True).start()
print("ready", flush=True)
threading.Event().wait()
