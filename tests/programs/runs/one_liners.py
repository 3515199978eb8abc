"""Several statements on one line, and several functions on one line."""


def pick(a): return a if a else -1


def short(values):
    total = 0; count = 0
    for value in values: total += value
    if total > 3: count = 1
    if total > 100: count = 2
    else: count += 10
    while count > 12: count -= 1
    add, double = (lambda x: x + 1), (lambda x: x * 2)
    first = add(double(total)); second = double(add(total))
    try: missing = {}["x"]
    except KeyError: missing = None
    with open(__file__) as file: line = file.readline()
    return first, second, missing, len(line)


class Plain: x = 1; y = 2


short([1, 2, 3])
pick(0); pick(2)
