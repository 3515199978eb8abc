"""Functions that all see the last rate."""


def make_converters(rates):
    converters = []
    for rate in rates:
        converters.append(lambda amount: amount * rate)  # @bug
    return converters


def main():
    converters = make_converters([1, 2, 3])
    first = converters[0]
    price = first(100)
    print(price)  # @why price


main()
