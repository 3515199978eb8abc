import json
import time
import unittest

import pytest


class Cart:
    def __init__(self):
        self.items = {"apple": 3, "pear": 2}

    def total(self, factor):
        return sum(self.items.values()) * factor


class Blocking:
    def __repr__(self):
        time.sleep(3600)


class Raising:
    def __repr__(self):
        raise RuntimeError("no repr")


class BadText(Exception):
    def __str__(self):
        raise RuntimeError("no text")


@pytest.fixture
def cart():
    return Cart()


@pytest.fixture
def broken():
    raise RuntimeError("no database")


@pytest.fixture
def untidy():
    yield 1
    raise OSError("cannot clean up")


def check_total(cart, expected):
    factor = 2
    assert cart.total(factor) == expected  # @check


def test_total(cart):
    print("adding up")
    check_total(cart, 11)


def test_either(cart):
    nothing = None
    assert nothing or (cart.items["apple"] > 5 and len(cart.items) == 2)


def test_member(cart):
    assert "plum" in cart.items, "no plums"


def test_generator(cart):
    assert all(count > 2 for count in cart.items.values())


def test_setup(broken):
    pass


def test_teardown(untidy):
    assert untidy


def test_cause():
    try:
        json.loads("{bad")
    except ValueError as error:
        raise KeyError("config") from error


def test_library():
    text = "{bad"
    json.loads(text)  # @library


def test_hostile():
    blocking, raising = Blocking(), Raising()
    big = "x" * 1_000_000
    raise BadText


def test_bad_text():
    raise BadText


def test_recursion():
    def descend(depth):
        return descend(depth + 1)

    descend(0)


def test_secret():
    password = "correct horse"
    assert password == "battery staple"


class CartTest(unittest.TestCase):
    def test_equal(self):
        basket = [1, 2]
        self.assertEqual(len(basket), 3)


def test_passing():
    pass


@pytest.mark.xfail
def test_expected():
    assert 0


@pytest.mark.skip
def test_skipped():
    assert 0
