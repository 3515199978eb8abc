"""Generators, coroutines and what lets them go on."""

import asyncio


def count(limit):
    number = 0
    while number < limit:
        sent = yield number
        if sent:
            number = sent
        number += 1
    return "done"


def delegate(limit):
    result = yield from count(limit)
    yield result


def closed():
    try:
        yield 1
        yield 2
    finally:
        ended = True


def thrown():
    while True:
        try:
            yield "waiting"
        except ValueError as error:
            answer = str(error)
            yield answer
            return


def run_all():
    first = list(delegate(3))
    going = count(10)
    next(going)
    going.send(4)
    rest = [value for value in going]
    stopped = closed()
    next(stopped)
    stopped.close()
    asked = thrown()
    next(asked)
    said = asked.throw(ValueError("x"))
    left = list(asked)
    total = sum(value * 2 for value in count(3))
    return first, rest, said, left, total


async def wait(number):
    await asyncio.sleep(0)
    return number * 2


async def stream(limit):
    for number in range(limit):
        await asyncio.sleep(0)
        yield number


class Gate:
    async def __aenter__(self):
        await asyncio.sleep(0)
        return 5

    async def __aexit__(self, *_):
        return False


async def main():
    results = await asyncio.gather(wait(1), wait(2))
    total = 0
    async for number in stream(3):
        total += number
    async with Gate() as gate:
        total += gate
    squares = [value async for value in stream(2)]
    try:
        await asyncio.wait_for(asyncio.sleep(5), 0.001)
    except asyncio.TimeoutError:
        total = -total
    return results, total, squares


run_all()
asyncio.run(main())
