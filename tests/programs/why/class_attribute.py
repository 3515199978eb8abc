"""An attribute of the class that looks like one of each object."""


class Basket:
    fruits = []  # @bug

    def __init__(self, owner):
        self.owner = owner

    def put(self, fruit):
        self.fruits.append(fruit)


def main():
    first, second = Basket("ann"), Basket("bob")
    first.put("pear")
    second.put("plum")
    count = len(second.fruits)
    print(count)  # @why count


main()
