"""Code made by `exec` and `eval`: some of it has a source that is known."""

import linecache

SOURCE = "def double(value):\n    result = value * 2\n    return result\n"


def make(name, is_known):
    if is_known:
        linecache.cache[name] = (len(SOURCE), None, SOURCE.splitlines(True), name)
    names = {"__name__": "made", "__file__": __file__}
    exec(compile(SOURCE, name, "exec"), names)
    return names["double"]


known = make("<made 1>", True)
unknown = make("<made 2>", False)
total = known(3) + unknown(4) + eval("1 + 1")
print(total)
