"""Logging, caches, retries, executors and other tools."""

import asyncio
import collections
import concurrent.futures
import contextlib
import datetime
import decimal
import functools
import io
import itertools
import logging
import pathlib
import queue
import random
import threading

import cachetools
import loguru
import more_itertools
import structlog
import tenacity
import toolz
from cryptography.fernet import Fernet
from packaging.version import Version

from . import application, attempt


@application("logging.Logger")
def use_logger(wrap):
    logger = wrap(logging.getLogger("shop"))
    logger.info("sold %s", "tea")
    logger.warning("low", stacklevel=1)

    def note(text):
        logger.error(text, stacklevel=2)

    note("out of milk")
    try:
        {}["till"]
    except KeyError:
        logger.exception("no till")
    logger.warn("old way")  # deprecated until it was removed: it warns
    return [logger.name, logger.isEnabledFor(logging.DEBUG), attempt(logger.setLevel, "odd")]


@application("logging.LoggerAdapter")
def use_adapter(wrap):
    adapter = wrap(logging.LoggerAdapter(logging.getLogger("shop"), {"item": "tea"}))
    adapter.warning("low")
    adapter.info("fine %d", 3)
    return [adapter.extra, attempt(adapter.log, "odd", "text")]


CALLER = "Libraries that look at their caller"


@application("structlog", placeholder=True, limit=CALLER)
def use_structlog(wrap):
    lines, logger = create_structlog()
    logger = wrap(logger)
    logger.info("sold", item="tea")
    return lines


@application("structlog in a function", placeholder=True)
def use_structlog_in_function(wrap):
    lines, logger = create_structlog()

    def sell(item):
        logger.bind(shop="north").info("sold", item=item)
        return attempt(logger.unbind, "nothing")

    return [wrap(sell)("tea"), lines]


def create_structlog():
    """A logger that keeps what it is told, with the place of the call."""
    lines = []

    def keep(logger, method, event):
        lines.append(sorted(event.items()))
        raise structlog.DropEvent

    place = structlog.processors.CallsiteParameter
    adder = structlog.processors.CallsiteParameterAdder({place.LINENO, place.FUNC_NAME})
    printer = structlog.PrintLogger(io.StringIO())
    return lines, structlog.wrap_logger(printer, processors=[adder, keep])


@contextlib.contextmanager
def keep_loguru():
    lines = []
    loguru.logger.remove()
    layout = "{function}:{line} {message}"
    # A "backtrace" is the whole stack, in which everybody sees our frames.
    sink = loguru.logger.add(lambda text: lines.append(str(text)), format=layout, backtrace=False)
    try:
        yield lines
    finally:
        loguru.logger.remove(sink)


@application("loguru", placeholder=True, limit=CALLER)
def use_loguru(wrap):
    with keep_loguru() as lines:
        wrap(loguru.logger).info("sold {}", "tea")
    return lines


@application("loguru in a function", placeholder=True)
def use_loguru_in_function(wrap):
    def sell(item):
        loguru.logger.info("sold {}", item)
        try:
            {}[item]
        except KeyError:
            loguru.logger.exception("none left")
        return attempt(loguru.logger.level, "odd")

    with keep_loguru() as lines:
        return [wrap(sell)("tea"), lines]


@application("cachetools")
def use_cache(wrap):
    cache = wrap(cachetools.LRUCache(maxsize=2))
    for number in range(3):
        cache[number] = number * number
    return [
        sorted(cache.items()),
        cache.get(0),
        attempt(lambda: cache[0]),
        attempt(cache.__setitem__, 9, 9) is None,
        cache.currsize,
        cache.popitem(),
        len(cache),
    ]


def fail_twice():
    attempts = itertools.count()

    def work():
        number = next(attempts)
        if number < 2:
            raise ConnectionError(number)
        return number

    return work


@application("tenacity", placeholder=True)
def use_tenacity(wrap):
    retry = wrap(tenacity.Retrying(stop=tenacity.stop_after_attempt(3), wait=tenacity.wait_none()))
    once = wrap(tenacity.Retrying(stop=tenacity.stop_after_attempt(1), reraise=True))
    return [retry(fail_twice()), attempt(once, fail_twice()), attempt(retry, int, "x"), retry.statistics["attempt_number"]]


@application("toolz")
def use_toolz(wrap):
    add = wrap(toolz.curry(lambda left, right: left + right))
    chain = wrap(toolz.compose(str, abs))
    return [add(1)(2), add(1, 2), attempt(add, 1, "x"), chain(-3), attempt(chain, "x")]


@application("more-itertools")
def use_more_itertools(wrap):
    items = wrap(more_itertools.peekable([1, 2, 3]))
    return [items.peek(), next(items), list(items), attempt(items.peek), bool(items), attempt(next, items)]


@application("cryptography")
def use_fernet(wrap):
    box = wrap(Fernet(b"A" * 43 + b"="))
    token = box.encrypt_at_time(b"tea", 1)
    return [box.decrypt(token), attempt(box.decrypt, b"wrong"), attempt(box.encrypt, "text"), box.extract_timestamp(token)]


@application("packaging")
def use_version(wrap):
    version = wrap(Version("1.2.3rc1"))
    return [version.major, version.is_prerelease, str(version), version < Version("2"), attempt(wrap(Version), "x")]


@application("concurrent.futures", placeholder=True)
def use_executor(wrap):
    with wrap(concurrent.futures.ThreadPoolExecutor(1)) as pool:
        futures = [pool.submit(int, "3"), pool.submit(int, "x")]
        concurrent.futures.wait(futures)
        results = [futures[0].result(), attempt(futures[1].result), list(pool.map(abs, [-1, -2]))]
    return [*results, attempt(pool.submit, int)]


@application("asyncio.Queue", placeholder=True)
async def use_queue(wrap):
    waiting = wrap(asyncio.Queue(maxsize=1))
    await waiting.put("tea")
    results = [waiting.full(), attempt(waiting.put_nowait, "cake"), await waiting.get(), attempt(waiting.get_nowait)]
    try:
        await asyncio.wait_for(waiting.get(), 0.01)
    except asyncio.TimeoutError as error:
        results.append(type(error).__name__)
    return results


@application("asyncio.Lock", placeholder=True)
async def use_lock(wrap):
    lock = wrap(asyncio.Lock())
    async with lock:
        held = lock.locked()
    return [held, lock.locked(), attempt(lock.release)]


@application("queue", placeholder=True)
def use_thread_queue(wrap):
    waiting = wrap(queue.Queue(1))
    thread = threading.Thread(target=waiting.put, args=("tea",))
    thread.start()
    thread.join()
    return [waiting.get(), attempt(waiting.get_nowait), waiting.qsize()]


@application("collections")
def use_collections(wrap):
    counter, chain = wrap(collections.Counter("banana")), wrap(collections.ChainMap({"a": 1}, {"b": 2}))
    ring = wrap(collections.deque([1, 2], maxlen=2))
    ring.append(3)
    return [
        counter.most_common(1),
        (counter + collections.Counter("a"))["a"],
        counter["z"],
        chain["b"],
        attempt(lambda: chain["z"]),
        list(ring),
        attempt(ring.remove, 9),
        attempt(lambda: ring[9]),
    ]


@application("decimal")
def use_decimal(wrap):
    price = wrap(decimal.Decimal("3.10"))
    return [price + 1, 2 * price, round(price, 1), attempt(lambda: price / 0), attempt(price.quantize, "x"), str(price)]


@application("datetime")
def use_datetime(wrap):
    moment = wrap(datetime.datetime(2026, 1, 2, 3, 4))
    return [
        moment.isoformat(),
        moment + datetime.timedelta(days=1),
        attempt(moment.replace, month=13),
        moment.strftime("%Y"),
        moment < datetime.datetime(2027, 1, 1),
    ]


@application("pathlib")
def use_path(wrap):
    path = wrap(pathlib.Path("/shop"))
    return [str(path / "tea.txt"), path.name, attempt((path / "tea.txt").read_text), path.exists(), attempt(path.relative_to, "/x")]


@application("random")
def use_random(wrap):
    chance = wrap(random.Random(7))
    return [chance.randint(1, 9), chance.sample(range(9), 3), attempt(chance.choice, []), attempt(chance.sample, [1], 2)]


@application("functools")
def use_functools(wrap):
    @functools.lru_cache
    def square(number):
        return number**2

    cached, part = wrap(square), wrap(functools.partial(int, base=2))
    return [cached(3), cached(3), cached.cache_info(), attempt(cached, "x"), part("101"), attempt(part, "9")]


@application("contextlib", placeholder=True)
def use_context(wrap):
    @contextlib.contextmanager
    def opened(name):
        try:
            yield name
        except LookupError as error:
            raise RuntimeError(name) from error

    def fail(problem):
        with wrap(opened("till")) as name:
            raise problem(name)

    with wrap(contextlib.ExitStack()) as stack:
        name = stack.enter_context(opened("door"))
        stack.callback(print, end="")
    return [name, attempt(fail, KeyError), attempt(fail, OSError)]
