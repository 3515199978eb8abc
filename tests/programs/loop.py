"""Adds numbers in a loop, through a function."""


def add(total, number):  # @define
    result = total + number  # @add
    return result  # @return


def main():
    total = 0
    for number in range(10):
        total = add(total, number)  # @call
    print("total", total)  # @print
    return total


main()  # @start
print("done")  # @end
