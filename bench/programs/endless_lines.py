"""Lines to step over, without an end."""


def count() -> None:
    n = 0
    while True:
        n += 1  # @line
        a = n
        b = a
        del a, b


count()
