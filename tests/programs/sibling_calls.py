"""Calls side by side on one line, and ways back from a call."""


def first():
    value = 1  # @first
    return value  # @first_return


def second(value):
    return value + 1


def numbers():
    yield 1
    last = 2  # @last
    yield last


def failing():
    missing = {}  # @failing
    return missing["no such key"]


def main():
    total = second(first()) + second(second(2))  # @siblings
    total += sum(numbers())  # @generator
    try:
        failing()
    except KeyError:
        total += 1  # @handler
    return total


print(main())
