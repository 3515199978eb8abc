"""One marked line for each thing that a step can meet."""

import steps_helper


def double(value):
    result = value * 2  # @double
    return result  # @double_return


def fails():
    raise ValueError("no")  # @raise


def countdown(n):
    if n == 0:  # @test
        return "bottom"  # @bottom
    return countdown(n - 1)  # @recurse


def numbers():
    yield 1  # @first
    yield 2  # @second


def main():
    a = double(4)  # @call
    b = steps_helper.triple(a)  # @call_other_file
    c = len([a, b])  # @call_native
    d = [x + c for x in (1, 2)]  # @comprehension
    try:  # @try
        fails()  # @call_fails
    except ValueError:  # @except
        total = 0  # @handled
    for n in numbers():  # @loop
        total += n  # @loop_body
    countdown(3)  # @call_recursive
    return total, d  # @main_return


main()  # @start
last = "line"  # @last
