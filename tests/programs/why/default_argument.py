"""A default that all carts share."""


class Cart:
    def __init__(self, owner, items=[]):  # @bug
        self.owner = owner
        self.items = items

    def add(self, price):
        self.items.append(price)

    def total(self):
        return sum(self.items)


def main():
    first = Cart("ann")
    first.add(10)
    second = Cart("bob")
    second.add(5)
    total = second.total()
    print(total)  # @why total


main()
