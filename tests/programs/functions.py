"""Functions of many kinds, each called in turn."""

import asyncio
import functools
import json

import helpers.shapes

# fmt: off

def wrapped(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


def plain(n):  # @plain
    while n < 9: n += 1  # noqa: E701
    return n


@wrapped  # @decorator
def decorated(n):
    return n * 2


def one_line(n): return n + 1  # @one_line


def generate(n):  # @generate
    for i in range(n):
        yield i * 2


def generate_in_one_line(): yield 1; yield 2  # noqa: E702  # @one_line_generator


async def wait(n):  # @wait
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return n


async def repeat(n):
    while n:
        await asyncio.sleep(0)
        n -= 1


class Cat:
    def speak(self, word):  # @cat_speaks
        return word + " said the cat"


class Dog:
    def speak(self, word):  # @dog_speaks
        return word + " said the dog"


def main():
    plain(1)
    plain(5)
    decorated(2)
    one_line(3)
    sum(generate(3))
    list(generate_in_one_line())
    asyncio.run(wait(4))
    asyncio.run(repeat(3))
    Cat().speak("miaow")
    Dog().speak("wuff")
    helpers.shapes.area(2, 3)  # @call_area
    helpers.shapes.Square(4).area()
    json.dumps([1, 2])
    print("all called")


main()
