"""Generators, coroutines and threads, for traces."""

import asyncio
import threading


def count(n):
    total = 0
    for i in range(n):
        got = yield i
        total += got or 0
    return total


def delegate(n):
    result = yield from count(n)
    yield ("result", result)
    yield from [1, 2]


def guarded():
    seen = []
    try:
        yield 1
        yield 2
    except ValueError as error:
        seen.append(str(error))
        yield 3
    finally:
        seen.append("closed")
        print(seen)


def consume(n):
    values = []
    for value in count(n):
        values.append(value)
    generator = delegate(2)
    values.append(next(generator))
    values.append(generator.send(5))
    values.extend(generator)
    return values


def interleaved():
    one, two = count(3), count(3)
    pairs = []
    for _ in range(3):
        pairs.append((next(one), next(two)))
    return pairs


def dropped():
    generator = guarded()
    next(generator)
    del generator
    other = guarded()
    next(other)
    return other.throw(ValueError("thrown"))


async def work(name, delay):
    steps = []
    for i in range(2):
        steps.append((name, i))
        await asyncio.sleep(delay)
    return steps


async def numbers(n):
    for i in range(n):
        await asyncio.sleep(0)
        yield i


class Resource:
    async def __aenter__(self):
        await asyncio.sleep(0)
        return self

    async def __aexit__(self, *error):
        await asyncio.sleep(0)
        return False


async def gather():
    results = await asyncio.gather(work("a", 0), work("b", 0))
    async with Resource() as resource:
        kind = type(resource).__name__
    collected = []
    async for number in numbers(3):
        collected.append(number)
    doubled = [n * 2 async for n in numbers(2)]
    return results, kind, collected, doubled


def factorial(n):
    if n <= 1:
        return 1
    smaller = factorial(n - 1)
    result = n * smaller
    return result


def fall(n):
    if n == 0:
        raise RuntimeError("bottom")
    try:
        fall(n - 1)
    except RuntimeError as error:
        if n == 2:
            raise KeyError(n) from error
        raise


def in_threads(n):
    results = {}

    def run(key):
        results[key] = factorial(key)

    threads = [threading.Thread(target=run, args=(key,)) for key in range(n)]
    for thread in threads:
        thread.start()
        thread.join()
    return sorted(results.items())


def main():
    print(consume(3), interleaved(), dropped())
    print(asyncio.run(gather()))
    print(factorial(4), in_threads(3))
    try:
        fall(3)
    except KeyError as error:
        print(repr(error), repr(error.__context__))


main()
