"""Counts to ten in a function, with lines that can stop and lines that cannot."""


def count(limit):
    """What the body does.  # @docstring

    More of it.
    """
    numbers = []
    # nothing happens here  # @comment

    for i in range(limit):
        numbers.append(i)  # @loop
    return numbers  # @return


print(len(count(10)))  # @call
