"""`match`, from Python 3.10 on."""


def describe(command):
    match command:
        case {"kind": "move", "to": (x, y)}:
            place = x + y
        case ["go", direction, *rest] if rest:
            place = direction + rest[0]
        case str() as text:
            place = text
        case 1 | 2:
            place = "few"
        case _:
            place = None
    return place


for command in ({"kind": "move", "to": (1, 2)}, ["go", "n", "fast"], ["go", "n"], "stay", 2, 9.5):
    describe(command)
