"""Where an expression can be looked at, by the names in it."""

from __future__ import annotations

import textwrap

from holdfast.core.name_lines import find_lines, has_globals, list_names

SOURCE = textwrap.dedent("""\
    limit = 3

    def first(count):
        total = 0
        for item in range(count):
            total += item
        return total

    def second():
        global limit
        limit = 4
        with open("x") as file:
            inner = lambda: file
        return inner

    class C:
        def method(self):
            if (size := 3) > 2:
                del size
    """)


def test_lines_are_those_of_functions_that_have_the_names() -> None:
    assert find_lines(SOURCE, "total > 3") == [4, 5, 6, 7]
    assert find_lines(SOURCE, "count == 1 and limit") == [4, 5, 6, 7]
    assert find_lines(SOURCE, "file is not None") == [10, 11, 12, 13, 14]
    assert find_lines(SOURCE, "size and self") == [18, 19]


def test_global_names_and_those_of_the_expression_itself_have_none() -> None:
    assert find_lines(SOURCE, "limit == 4") == []
    assert find_lines(SOURCE, "any(total for total in [1])") == []
    assert find_lines(SOURCE, "len([]) == 0") == []
    assert find_lines("def f(:", "x") == []


MODULE = """\
import os.path
from json import loads as read

limit = 3

try:
    size = 1
except OSError as problem:
    pass


class C:
    inner = 1


def first():
    global late
    late = own = 2
"""


def test_globals_are_what_a_module_binds() -> None:
    for name in ("os", "read", "limit", "size", "problem", "C", "first", "late"):
        assert has_globals(MODULE, f"{name} == 1"), name
    assert has_globals(MODULE, "len(read(size)) > limit")
    for name in ("path", "loads", "inner", "own", "nothing"):
        assert not has_globals(MODULE, f"limit == {name}"), name
    assert not has_globals(MODULE, "len([]) == 0")
    assert not has_globals("def f(:", "f")


def test_names_are_those_that_must_be_there() -> None:
    assert list_names("len(cart) == 3 and any(one > limit for one in cart)") == {"cart", "limit"}
