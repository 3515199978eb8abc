"""Exceptions: caught, raised again, used for control flow, in `finally` and `with`."""

import contextlib


class Odd(Exception):
    pass


@contextlib.contextmanager
def managed(log):
    log.append("in")
    try:
        yield len(log)
    finally:
        log.append("out")


class Manager:
    def __init__(self, hides):
        self.hides = hides

    def __enter__(self):
        return self

    def __exit__(self, kind, error, traceback):
        return self.hides


def check(number):
    if number % 2:
        raise Odd(number)
    return number


def collect(numbers):
    kept = []
    for number in numbers:
        try:
            kept.append(check(number))
        except Odd as error:
            kept.append(str(error))
        except (ValueError, TypeError):
            kept.append(None)
        else:
            kept.append("even")
        finally:
            kept.append("|")
    return kept


def again(number):
    try:
        return check(number)
    except Odd:
        number += 1
        raise
    finally:
        number = 0


def from_other(number):
    try:
        check(number)
    except Odd as error:
        raise ValueError("wrapped") from error


def hidden():
    with Manager(True) as manager:
        value = 1
        check(3)
        value = 2
    with Manager(False):
        value += 1
    return value, manager.hides


def nested(log):
    with managed(log) as size, managed(log) as other:
        total = size + other
    return total


def early(values):
    for value in values:
        try:
            if value == 2:
                return value
        finally:
            last = value
    return last


def lookups(table, keys):
    found = 0
    for key in keys:
        try:
            found += table[key]
        except KeyError:
            found -= 1
    return found


collect([1, 2, 3])
for function in (again, from_other):
    for number in (2, 3):
        try:
            function(number)
        except Exception as error:
            caught = type(error).__name__
hidden()
nested([])
early([1, 2, 3])
early([5])
lookups({"a": 1}, "abab")
