"""A cache that does not know of the new rate."""

RATE = 1.0
CACHE = {}


def set_rate(rate):
    global RATE
    RATE = rate


def convert(amount):
    if amount in CACHE:  # @bug
        return CACHE[amount]
    value = amount * RATE
    CACHE[amount] = value
    return value


def main():
    before = convert(100)
    set_rate(2.0)
    after = convert(100)
    print(before, after)  # @why after


main()
