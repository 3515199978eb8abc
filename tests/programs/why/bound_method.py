"""A list that is filled by a method in a variable."""


def collect(values, limit):
    kept = []
    add = kept.append
    for value in values:
        if value <= limit:  # @bug
            add(value)
    return kept


def main():
    kept = collect(range(6), 3)
    count = len(kept)
    print(count)  # @why count


main()
