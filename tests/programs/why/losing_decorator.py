"""A decorator that tries again, and loses the result of the second attempt."""

import functools


def retry(times):
    def decorate(function):
        @functools.wraps(function)
        def attempt(*args, **kwargs):
            for number in range(times):
                try:
                    return function(*args, **kwargs)
                except ValueError:
                    if number == 0:
                        function(*args, **kwargs)  # @bug
                        break
            return None

        return attempt

    return decorate


CALLS = []


@retry(2)
def fetch(name):
    CALLS.append(name)
    if len(CALLS) == 1:
        raise ValueError(name)
    return name.upper()


def main():
    answer = fetch("x")
    print(answer)  # @why answer


main()
