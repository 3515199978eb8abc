"""The other file that `steps.py` steps into."""


def triple(value):
    return value * 3  # @triple
