"""An exception far from the value that causes it."""


class Row:
    def __init__(self, name, parent):
        self.name = name
        self.parent = parent


def load(pairs):
    rows = {}
    for name, parent in pairs:
        rows[name] = Row(name, rows.get(parent))  # @bug
    return rows


def depth(row):
    count = 0
    while row.name != "root":
        row = row.parent
        count += 1
    return count


def main():
    rows = load([("leaf", "root"), ("root", None)])
    print(depth(rows["leaf"]))


main()
