"""Loops that go round so often that their later rounds are recorded by values alone."""


def branches(n):
    total = 0
    kept = []
    for i in range(n):
        x = i * 7 % 11
        if x == 3:
            kept.append(i)
            continue
        elif x > 8:
            total -= x
        else:
            total += 1
        y = x / 2
    return total, len(kept)


def whiles(n):
    low = 0
    high = n * n
    steps = 0
    while low < high:
        if steps % 2:
            low += n
        else:
            high -= 1
        steps += 1
    return steps


def endless(n):
    count = 0
    while True:
        count += 1
        if count % 50 == 0:
            name = "fifty"
        if count >= n:
            break
    return count


def nested(n):
    total = 0
    for i in range(n):
        row = i
        for j in range(3):
            if j == 1:
                row += j
            total += row
        if total % 5 == 0:
            total += 1
    return total


def caught(n):
    errors = 0
    value = None
    for i in range(n):
        try:
            value = 100 // (i % 10)
        except ZeroDivisionError as error:
            errors += 1
            text = str(error)[:5]
        finally:
            last = i
    return errors


def left_by_return(n):
    for i in range(n * 10):
        square = i * i
        if i == n:
            return square
    return None


def left_by_error(items):
    total = 0
    for item in items:
        total += int(item)
    return total


def kinds(n):
    value = 0
    for i in range(n):
        if i == 150:
            value = None
        elif i == 160:
            value = 1.5
        elif i == 170:
            value = 2**70
        elif i == 180:
            value = [i]
        elif i == 190:
            del value
        elif i == 191:
            value = True
    return value


def one_line(n):
    total = 0
    for i in range(n): total += i
    return total


def several_lines(n):
    total = 0
    for i in range(
        n
    ):
        total += (
            i
            * 2
        )
    return total


def generate(n):
    sent = 0
    for i in range(n):
        got = yield i
        if got:
            sent += got
    return sent


def shared(n):
    total = 0

    def add(value):
        nonlocal total
        total += value

    for i in range(n):
        add(i)
    return total


def main():
    print(branches(300), whiles(20), endless(240), nested(120), caught(150))
    print(left_by_return(200), kinds(250), one_line(300), several_lines(150), shared(200))
    try:
        left_by_error(["1"] * 150 + ["x", "2"])
    except ValueError as error:
        print(error)
    generator = generate(200)
    next(generator)
    for i in range(180):
        generator.send(i % 3)
    print(len(list(generator)))


main()
