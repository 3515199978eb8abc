"""Two sets, subtracted the wrong way round."""


def load(text):
    return set(text.split())


def find_missing(wanted, present):
    missing = set(present)
    missing.difference_update(wanted)  # @bug
    return missing


def main():
    wanted = load("a b c d")
    present = load("b c e")
    missing = find_missing(wanted, present)
    names = sorted(missing)
    print(names)  # @why names


main()
