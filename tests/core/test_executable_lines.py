from __future__ import annotations

import sys
import textwrap
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.core.executable_lines import Placement, analyse, place
from holdfast.errors import InvalidLine


def lines_of(source: str) -> list[int]:
    return sorted(analyse(textwrap.dedent(source), "app.py").executable)


def suggestion(source: str, line: int) -> int | None:
    placement = place(analyse(textwrap.dedent(source), "app.py"), line)
    assert not placement.verified
    assert placement.message == f"No executable code at line {line}"
    return placement.suggestion


PROGRAM = '''\
"""A module."""

import os


def pay(
    amount,
    currency,
):
    """Pay it.

    In full.
    """
    # at once
    global paid
    paid = amount

    if amount:
        pass
    else:
        total = max(
            amount,
            # at least
            1,
        )
    try:
        return total
    finally:
        "a string, used as a comment"
        print(
            "done"
        )
'''


def test_statements_are_executable_and_what_surrounds_them_is_not() -> None:
    expected = {3, 6, 16, 18, 19, 21, 22, 24, 26, 27, 30, 31}
    assert analyse(PROGRAM, "app.py").executable == expected


@pytest.mark.parametrize(
    ("line", "nearest"),
    [
        (1, 3),  # the module's docstring
        (2, 3),
        (4, 3),
        (7, 6),  # a signature goes back to its `def`
        (9, 6),
        (10, 6),  # a docstring: the nearest line, before or after it
        (12, 16),
        (14, 16),
        (15, 16),  # global
        (17, 18),
        (20, 21),  # else:
        (23, 24),  # a comment inside a call belongs to the call
        (25, 24),
        (28, 27),  # finally:
        (29, 30),
        (32, 31),
    ],
)
def test_a_line_without_code_suggests_the_nearest_of_its_statement_or_of_all(
    line: int, nearest: int
) -> None:
    assert suggestion(PROGRAM, line) == nearest


def test_an_executable_line_is_verified_as_it_stands() -> None:
    assert place(analyse(PROGRAM, "app.py"), 16) == Placement(True, 16)


def test_past_the_last_code_the_suggestion_goes_back() -> None:
    assert suggestion("x = 1\n\n# the end\n", 3) == 1


@pytest.mark.parametrize(("line", "nearest"), [(2, 1), (3, 5), (4, 5)])
def test_the_nearest_line_is_suggested_and_of_two_the_later(line: int, nearest: int) -> None:
    assert suggestion("x = 1\n\n# between\n\ny = 2\n", line) == nearest


@pytest.mark.parametrize("source", ["# only\n# comments\n", '"""doc"""\n\n', "\n\n"])
def test_a_module_without_code_has_nothing_to_suggest(source: str) -> None:
    assert suggestion(source, 1) is None
    assert suggestion(source, 2) is None


@pytest.mark.parametrize("line", [-1, 0, 4, 10**9])
def test_a_line_outside_the_file_is_an_error_that_names_the_last_one(line: int) -> None:
    with pytest.raises(InvalidLine) as caught:
        place(analyse("x = 1\n\ny = 2", "app.py"), line)
    assert caught.value.details == {"file": "app.py", "line": line, "max_line": 3}


@pytest.mark.parametrize(
    ("source", "max_line"),
    [("", 0), ("x", 1), ("x\n", 1), ("x\n\n", 2), ("x\r\ny\r\n", 2), ("x\x0c\ny\x1c", 2)],
)
def test_lines_are_counted_as_python_counts_them(source: str, max_line: int) -> None:
    assert analyse(source, "app.py").max_line == max_line


def test_decorators_classes_and_what_they_hold_are_executable() -> None:
    assert lines_of(
        '''
        @first
        @second(
            1,
        )
        class Account:
            """Not this."""

            rate: int = 3

            @property
            async def owner(self): ...

        squares = [
            n * n
            for n in range(3)
        ]
        key = lambda n: (
            n.id
        )
        '''
    ) == [2, 3, 4, 6, 9, 11, 12, 14, 15, 16, 18, 19]


def test_code_that_is_never_reached_is_not_executable() -> None:
    source = """\
    if False:
        def hidden():
            x = 1
    def shown():
        return 1
        y = 2
    """
    assert lines_of(source) == [1, 4, 5]


def test_a_string_beside_other_code_does_not_hide_it() -> None:
    assert lines_of('"doc"; x = 1\ny = 2; "note"\nif x: "note"\n') == [1, 2, 3]


def test_a_backslash_continues_a_statement() -> None:
    assert suggestion("x = 1 + \\\n\\\n    2\n", 2) == 1


def test_try_match_with_and_loops_are_walked() -> None:
    assert lines_of(
        """
        for a in b:
            pass
        else:
            c()
        while True:
            match a:
                case 1:
                    d()
                case _:
                    "nothing"
            with e() as f:
                break
        try:
            g()
        except E:
            h()
        """
    ) == [2, 3, 5, 6, 7, 8, 9, 10, 12, 13, 14, 15, 16, 17]


def test_a_syntax_error_is_kept_with_its_place_and_no_line_is_verified() -> None:
    lines = analyse("x = 1\nif x == 1\n    y = 2\n", "app.py")
    problem = lines.syntax_error
    assert problem is not None
    assert (problem.file, problem.line, problem.text) == ("app.py", 2, "if x == 1")
    assert problem.message == "expected ':'"
    assert lines.executable == frozenset()
    for line in (1, 2, 3):
        placement = place(lines, line)
        assert not placement.verified
        assert placement.message == "The file has a syntax error at line 2: expected ':'"
    with pytest.raises(InvalidLine):
        place(lines, 4)


def test_an_error_that_only_the_compiler_sees_still_shows_its_line() -> None:
    problem = analyse("x = 1\nreturn x\n", "no such file.py").syntax_error
    assert problem is not None
    assert (problem.line, problem.text) == (2, "return x")


@pytest.mark.parametrize(
    "source",
    [
        b"\xef\xbb\xbfx = '\xc3\xa9'\ny = 2\n",
        b"# coding: latin-1\nx = '\xe9'\n",
        b"#!/usr/bin/python\n# -*- coding: cp1252 -*-\nx = '\x80'\n",
        "\ufeffx = 1\n",
        b"x = 1\r\ny = 2\r\n",
        b"x = 1\ry = 2\r",
    ],
)
def test_every_encoding_python_reads_is_read(source: str | bytes) -> None:
    lines = analyse(source, "app.py")
    assert lines.syntax_error is None
    assert place(lines, lines.max_line).verified


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (b"x = 1\ny = 2\nz = '\xe9'\n", 3),
        (b"# coding: no-such-codec\nx = 1\n", 1),
        (b"# coding: rot13\nk = 1\n", 1),
        ("(" * 500 + ")" * 500, 1),
        ("x = 1\ny = '\ud800'\n", 2),
    ],
)
def test_what_cannot_be_read_at_all_is_a_syntax_error_with_a_line(
    source: str | bytes, line: int
) -> None:
    lines = analyse(source, "app.py")
    assert lines.syntax_error is not None
    assert lines.syntax_error.line == line
    assert not place(lines, 1).verified


def test_a_null_byte_is_a_syntax_error() -> None:
    assert analyse(b"x = 1\ny = \0\n", "app.py").syntax_error is not None


def test_a_program_that_deserves_warnings_gives_none() -> None:
    assert lines_of("x = '\\d'\nassert (x, 1)\ny = x is 1\n") == [1, 2, 3]


def test_a_long_chain_of_elif_is_read() -> None:
    chain = "if x == 0:\n    pass\n" + "".join(f"elif x == {n}:\n    pass\n" for n in range(1, 400))
    assert len(analyse(chain, "app.py").executable) == 800


def test_our_own_future_imports_are_not_the_programs() -> None:
    # With postponed annotations the name on line 2 would be a constant of line 1 in some versions.
    with_names = analyse("def f(\n    a: undefined_name,\n): pass\n", "app.py").executable
    assert with_names >= {1}
    assert (2 in with_names) == (sys.version_info < (3, 14))


def traced_lines(source: str) -> set[int]:
    """The lines the interpreter itself reports when the source runs."""
    seen: set[int] = set()

    def trace(frame, event, arg):  # type: ignore[no-untyped-def]
        if frame.f_code.co_filename != "<traced>":
            return None
        if event == "line":
            seen.add(frame.f_lineno)
        return trace

    def run() -> None:
        sys.settrace(trace)
        try:
            exec(compile(source, "<traced>", "exec", dont_inherit=True), {})
        finally:
            sys.settrace(None)

    # A thread of its own: a debugger or a coverage tool may be tracing this one.
    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    return seen


RUNS = '''\
"""Doc."""
import math


class Point:
    """Doc."""

    scale = 2

    def __init__(self, x, y=(
        1 + 1
    )):
        """Doc."""
        self.x = (
            x
            * self.scale
        )
        self.y = y

    @property
    def norm(self):
        try:
            if self.x:
                return math.hypot(
                    self.x,
                    self.y,
                )
            else:
                return 0
        finally:
            pass


def main():
    total = 0
    for n in range(3):
        total += [
            Point(n).norm
            for _ in "ab"
        ][0]
    while total > 0:
        total -= 100
    with open(
        __import__("os").devnull
    ) as f:
        f.read()
    return {
        "total": total,
    }


main()
'''


def test_the_executable_lines_are_those_the_interpreter_stops_on() -> None:
    docstrings = {1, 6, 12}
    assert traced_lines(RUNS) - docstrings == analyse(RUNS, "app.py").executable


@settings(deadline=None)
@given(st.text(alphabet="ab=:()[]\n \"'#,\\", max_size=60))
def test_any_source_places_any_of_its_lines(source: str) -> None:
    lines = analyse(source, "app.py")
    for line in range(1, lines.max_line + 1):
        placement = place(lines, line)
        assert placement.verified == (line in lines.executable)
        assert placement.suggestion is None or placement.suggestion in lines.executable
