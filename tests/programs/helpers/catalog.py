"""Functions that a program finds in a module that it imports late."""

import asyncio
import functools
import sys

# fmt: off


def bare_wrapper(function):
    def wrapper(*args):
        return function(*args)

    return wrapper


def polite_wrapper(function):
    @functools.wraps(function)
    def wrapper(*args):
        return function(*args)

    return wrapper


square = lambda r: r * r  # noqa: E731  # @square


@bare_wrapper
def hidden(n):  # @hidden
    return n


@bare_wrapper
@polite_wrapper
def shown(n):  # @shown
    return n


if sys.version_info < (3, 6):
    def chosen():
        return "old"
else:
    def chosen():  # @chosen
        return "new"


class Cart:
    double = lambda self: 2  # noqa: E731  # @double

    @property
    def total(self):  # @total
        return 1

    @total.setter
    def total(self, value):  # @set_total
        pass

    @staticmethod
    def make():  # @make
        return Cart()

    @classmethod
    def build(cls):  # @build
        return cls()

    def save(self):  # @save
        for n in range(2): n += 1  # noqa: E701
        return n

    async def pay(self):  # @pay
        await asyncio.sleep(0)

    def items(self):  # @items
        yield 1
        yield 2

    async def stream(self):  # @stream
        yield 1
        yield 2


class Book:
    def save(self):  # @save_book
        return 2


def outer():
    def inner():  # @inner
        return 1

    return inner()


async def consume(cart):
    await cart.pay()
    return [n async for n in cart.stream()]


def use_all():
    square(2)
    hidden(1)
    shown(1)
    chosen()
    cart = Cart.make()
    Cart.build()
    cart.double()
    cart.total = cart.total + 1
    cart.save()
    Book().save()
    asyncio.run(consume(cart))
    list(cart.items())
    outer()
