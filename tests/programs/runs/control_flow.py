"""Loops, tests and their ends."""


def loops(limit):
    total = 0
    for outer in range(limit):
        if outer == 2:
            continue
        for inner in range(outer):
            total += inner
            if total > 50:
                break
        else:
            total += 1
    while total > 3:
        total -= 2
        if total == 4:
            break
    else:
        total = -total
    return total


def chain(value):
    if value < 0:
        kind = "negative"
    elif value == 0:
        kind = "zero"
    elif value < 10:
        kind = "small"
    else:
        kind = "large"
    return kind


def endless():
    number = 0
    while True:
        number += 1
        if number > 4:
            return number


def multiple_lines(
    first,
    second=2,
):
    values = [
        first,
        second,
        first
        + second,
    ]
    result = sum(
        value * 2
        for value in values
    )
    text = (
        f"{result}"
        "!"
    )
    if (
        result > 3
        and text
    ):
        result = max(
            result,
            len(text),
        )
    return result, text


def targets():
    first, *rest = [1, 2, 3]
    (left, right), last = (1, 2), 3
    data = {"a": [1]}
    data["a"][0] += 5
    data["b"] = left = right
    del data["a"]
    items = [3, 1, 2]
    items[0], items[1] = items[1], items[0]
    items[1:] = [7, 8]
    items.sort()
    return first, rest, last, left, data, items


def walrus(values):
    found = []
    while (value := values.pop()) > 1:
        found.append(value)
    if (size := len(found)) > 1:
        found.append(size)
    return found


for number in (-1, 0, 5, 50):
    chain(number)
loops(5)
loops(9)
endless()
multiple_lines(3)
multiple_lines(1, second=0)
targets()
walrus([1, 2, 3, 4])
