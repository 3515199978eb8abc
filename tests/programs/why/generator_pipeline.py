"""A pipeline of generators whose last part forgets to add."""


def parse(lines):
    for line in lines:
        name, _, value = line.partition("=")
        yield name.strip(), int(value)


def keep_large(pairs, low):
    for name, value in pairs:
        if value >= low:
            yield name, value


def add_up(pairs):
    total = 0
    for _name, value in pairs:
        total = value  # @bug
    return total


def main():
    lines = ["a = 3", "b= 10", "c =7", "d=12"]
    total = add_up(keep_large(parse(lines), 5))
    print(total)  # @why total


main()
