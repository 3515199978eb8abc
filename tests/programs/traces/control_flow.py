"""Functions with branches, loops and exceptions, for traces."""


def branches(n):
    if n > 2:
        kind = "large"
    elif n == 2:
        kind = "two"
    else:
        kind = "small"
    sign = "even" if n % 2 == 0 else "odd"
    total = 0
    while total < n and (
        n != 5
    ):
        total += 1
    return kind, sign, total


def nested_loops(n):
    table = []
    for i in range(n):
        row = []
        for j in range(i):
            if j % 2:
                continue
            row.append(j)
        else:
            row.append(-1)
        table.append(row)
        if len(table) > 3:
            break
    else:
        table = None
    return table


def endless(items):
    taken = []
    while True:
        value = items.pop()
        if value is None:
            break
        taken.append(value)
    while 1:
        if not taken:
            return items
        taken.pop()


def one_line_loops(n):
    total = 0
    for i in range(n): total += i
    while total > 3: total -= 2
    for i in range(2): pass
    return total


def several_lines(a, b):
    total = sum(
        [
            a,
            b,
        ],
        a *
        b,
    )
    for item in (
        a,
        b,
    ):
        total += item
    text = (
        "x"
        "y"
    )
    return {
        "total": total,
        "text": text,
    }


def handled(values):
    seen = []
    for value in values:
        try:
            number = int(value)
            seen.append(10 // number)
        except ValueError as error:
            seen.append(str(error)[:7])
        except ZeroDivisionError:
            seen.append("zero")
            continue
        else:
            seen.append("fine")
        finally:
            seen.append("done")
    return seen


def reraised(value):
    try:
        try:
            return {}[value]
        except KeyError as error:
            error.note = "seen"
            raise
    except LookupError as error:
        try:
            raise ValueError("other") from error
        except ValueError as other:
            result = other.__cause__ is error
    return result


def leaves(value):
    held = [value]
    try:
        held.append(held[5])
    finally:
        held.append("last")
    return held


def passed_on(value):
    try:
        held = [value]
        held.append(held[5])
    except IndexError:
        raise
    finally:
        held.append("last")


def managed(names):
    class Manager:
        def __init__(self, name):
            self.name = name

        def __enter__(self):
            names.append("enter " + self.name)
            return self

        def __exit__(self, *error):
            names.append("exit " + self.name)
            return self.name == "b"

    with Manager("a") as first, Manager("b") as second:
        names.append(first.name + second.name)
        raise OSError("swallowed")
    with Manager("c"):
        return names


def deleted(value):
    copy = value
    del value
    values = [copy, copy]
    del values[0]
    for copy in values:
        pass
    del copy, values
    return None


def same_values(n):
    x = n
    x = n
    y = [n]
    y = [n]
    y[0] = n
    x += 0
    return x, y


def asserted(n):
    assert n > 0, "positive"
    assert (
        n
        < 100
    )
    return n


def main():
    for n in (1, 2, 5, 8):
        print(branches(n))
    print(nested_loops(3), nested_loops(6), endless([None, 1, 2, None, 3, 4]))
    print(one_line_loops(5), several_lines(2, 3))
    print(handled(["1", "x", "0", "5"]), reraised(3))
    for function in (leaves, passed_on):
        try:
            function(7)
        except IndexError as error:
            print(error)
    print(managed([]), deleted(3), same_values(4), asserted(5))


main()
