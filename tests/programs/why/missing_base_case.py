"""A recursion that ends one step too early."""


def count_ways(steps):
    if steps <= 1:
        return steps  # @bug
    return count_ways(steps - 1) + count_ways(steps - 2)


def main():
    ways = count_ways(4)
    print(ways)  # @why ways


main()
