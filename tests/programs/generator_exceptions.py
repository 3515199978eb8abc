"""A generator that is resumed while an exception is handled, and again afterwards."""

import sys


def current_exceptions():
    while True:
        yield sys.exc_info()[0]  # @yield


found = current_exceptions()
next(found)
try:
    raise ValueError("handled")
except ValueError:
    print(next(found))
print(next(found))  # @after
