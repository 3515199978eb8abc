"""`match`, from Python 3.10 on."""


def describe(value):
    match value:
        case 0 | 1:
            kind = "small"
        case [first, *rest] if rest:
            kind = f"{first} and {len(rest)}"
        case {"name": str(name), **others}:
            kind = name
        case int(number):
            kind = number + 1
        case _:
            kind = None
    return kind


def main():
    for value in (1, [1, 2, 3], [4], {"name": "n", "x": 1}, 7, "other"):
        print(describe(value))


main()
