from __future__ import annotations

import textwrap
from types import CodeType

import pytest

from holdfast.core.executable_lines import analyse
from holdfast.core.function_finder import FunctionPlace, candidates, find

PROGRAM = textwrap.dedent(
    '''\
    import functools

    def plain(a):
        return a

    @functools.cache
    @functools.wraps(
        plain
    )
    def decorated():
        """Doc.

        More.
        """
        x = 1
        return x

    class Account:
        """Doc."""

        async def pay(self):
            """Doc."""
            await self

        if True:
            @staticmethod
            def close():
                pass

        class Inner:
            def method(self): return 1

    def outer():
        class Local:
            def method(self):
                return 2
        for _ in ():
            def inner():
                return 3
        return inner

    try:
        def fallback():
            return 4
    except ImportError:
        def fallback():
            return 5
    else:
        with open("x") as f:
            while f:
                def deep():
                    return 6

    match 1:
        case 1:
            def matched():
                return 7
    '''
)


def line_of(text: str, nth: int = 0) -> int:
    return [n for n, line in enumerate(PROGRAM.split("\n"), 1) if text in line][nth]


def find_in(qualname: str, source: str = PROGRAM) -> FunctionPlace:
    place = find(source, qualname)
    assert place is not None
    return place


def test_a_function_is_found_with_its_line() -> None:
    assert find_in("plain") == FunctionPlace("plain", "plain", 3, 3)


def test_a_decorated_function_begins_at_its_decorator() -> None:
    assert find_in("decorated") == FunctionPlace("decorated", "decorated", 10, 6)


@pytest.mark.parametrize(
    ("asked", "qualname", "line"),
    [
        ("Account.pay", "Account.pay", line_of("async def pay")),
        ("Account.close", "Account.close", line_of("def close")),
        ("Account.Inner.method", "Account.Inner.method", line_of("def method")),
        ("outer.Local.method", "outer.<locals>.Local.method", line_of("return 2") - 1),
        ("outer.inner", "outer.<locals>.inner", line_of("return 3") - 1),
        ("outer.<locals>.inner", "outer.<locals>.inner", line_of("return 3") - 1),
        ("fallback", "fallback", line_of("return 5") - 1),
        ("deep", "deep", line_of("return 6") - 1),
        ("matched", "matched", line_of("return 7") - 1),
    ],
)
def test_a_function_is_found_wherever_it_is_defined(asked: str, qualname: str, line: int) -> None:
    place = find_in(asked)
    assert (place.qualname, place.def_line) == (qualname, line)
    assert place.name == qualname.rpartition(".")[2]


@pytest.mark.parametrize(
    "asked", ["missing", "Account", "pay", "inner", "Account.missing", "plain.a", "", "<locals>"]
)
def test_what_is_no_function_is_not_found(asked: str) -> None:
    assert find(PROGRAM, asked) is None


def test_nothing_is_found_in_a_source_that_does_not_compile() -> None:
    assert find("def f(:\n", "f") is None
    assert find("def f(): pass\nreturn\n", "f") is None


def test_the_last_definition_wins() -> None:
    source = "def f():\n    return 1\ndef f():\n    return 2\n"
    assert find_in("f", source).def_line == 3


@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("global x\n    x = 1", 3),
        ("'doc'\n    'note'\n    y: int\n    return 1", 5),
        ("return {\n        'a': g(),\n    }", 3),
        ("return g(\n        1,\n    )", 2),
        ("@g\n    def inner(): pass", 2),
        ("while True:\n        pass", 2),
        ("try:\n        pass\n    finally:\n        g()", 2),
        ("'only a docstring'", 1),
    ],
)
def test_the_line_that_runs_first_in_a_body_is_executable(body: str, line: int) -> None:
    source = f"def f():\n    {body}\n"
    assert line in analyse(source, "app.py").executable


def code_objects(code: CodeType) -> list[CodeType]:
    inner = [const for const in code.co_consts if isinstance(const, CodeType)]
    return [code, *(found for one in inner for found in code_objects(one))]


def test_names_and_first_lines_are_those_of_the_code_objects() -> None:
    codes = {
        (code.co_name, code.co_firstlineno)
        for code in code_objects(compile(PROGRAM, "app.py", "exec", dont_inherit=True))
    }
    for asked in ("plain", "decorated", "Account.pay", "Account.close", "outer.inner", "deep"):
        place = find_in(asked)
        assert (place.name, place.first_line) in codes


def test_bytes_are_decoded_as_their_cookie_says() -> None:
    source = "# coding: latin-1\ndef caf\xe9():\n    pass\n".encode("latin-1")
    place = find(source, "café")
    assert place is not None
    assert place.def_line == 2


@pytest.mark.parametrize(
    ("dotted", "expected"),
    [
        ("f", [("", "f")]),
        ("C.m", [("C", "m"), ("", "C.m")]),
        (
            "a.b.c.d",
            [("a.b.c", "d"), ("a.b", "c.d"), ("a", "b.c.d"), ("", "a.b.c.d")],
        ),
        ("outer.<locals>.inner", [("outer", "inner"), ("", "outer.inner")]),
        (" f ", [("", "f")]),
    ],
)
def test_a_dotted_name_is_split_longest_module_first(
    dotted: str, expected: list[tuple[str, str]]
) -> None:
    assert candidates(dotted) == expected


@pytest.mark.parametrize("dotted", ["", "a..b", ".a", "a.", "f()", "a b", "1x", "<lambda>"])
def test_what_is_no_dotted_name_has_no_candidates(dotted: str) -> None:
    assert candidates(dotted) == []
