"""A counter that is not set back for the next group."""


def count_groups(words):
    counts = {}
    number = 0
    for word in words:
        if word == "|":
            continue  # @bug
        number += 1
        counts[word] = number
    return counts


def main():
    counts = count_groups(["a", "b", "|", "c"])
    third = counts["c"]
    print(third)  # @why third


main()
