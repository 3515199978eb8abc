"""A small shop: something to step through, with calls, a loop, input and an error."""

import sys


class Cart:
    def __init__(self, items):
        self.items = items
        self.total = 0
        self.looked = 0

    @property
    def expensive(self):
        self.looked += 1  # looking at it changes it
        return [price for _name, price in self.items if price > 3]

    def add_up(self):
        for name, price in self.items:  # @loop
            self.total += tax(price)  # @add
        return self.total  # @added


def tax(price):
    rate = 2  # @rate
    return price * rate  # @taxed


def main():
    cart = Cart([("tea", 2), ("cake", 5), ("milk", 1)])  # @start
    text = "x" * 5000
    numbers = list(range(1000))
    total = cart.add_up()  # @call
    print("total", total)  # @print
    return len(text) + len(numbers)  # @return


def ask():
    name = input("name? ")  # @ask
    print("hello", name)  # @hello
    rest = sys.stdin.read()
    print("rest", repr(rest))  # @rest


if __name__ == "__main__":
    ask() if "ask" in sys.argv else main()
    done = True  # @done
