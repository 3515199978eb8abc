from __future__ import annotations

import textwrap
from types import CodeType

import pytest

from holdfast.core.executable_lines import analyse
from holdfast.core.function_finder import (
    MAX_NAME_CHARACTERS,
    FunctionDefinition,
    candidates,
    find,
    find_matching,
    find_problem,
    is_pattern,
    list_named_modules,
)

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


def find_in(qualname: str, source: str = PROGRAM) -> FunctionDefinition:
    """The last of them."""
    return find(source, qualname)[-1]


def test_a_function_is_found_with_its_line() -> None:
    assert find_in("plain") == FunctionDefinition("plain", "plain", 3, 3)


def test_a_decorated_function_begins_at_its_decorator() -> None:
    assert find_in("decorated") == FunctionDefinition("decorated", "decorated", 10, 6)


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
    assert find(PROGRAM, asked) == []


def test_nothing_is_found_in_a_source_that_does_not_compile() -> None:
    assert find("def f(:\n", "f") == []
    assert find("def f(): pass\nreturn\n", "f") == []


def test_every_definition_of_a_name_is_found() -> None:
    source = "def f():\n    return 1\ndef f():\n    return 2\n"
    assert [place.def_line for place in find(source, "f")] == [1, 3]
    last = line_of("return 5") - 1
    assert [place.def_line for place in find(PROGRAM, "fallback")] == [last - 3, last]


def test_all_functions_of_a_property_have_its_name() -> None:
    source = textwrap.dedent(
        """\
        class C:
            @property
            def size(self): return 1
            @size.setter
            def size(self, n): pass
        """
    )
    places = find(source, "C.size")
    assert [(place.def_line, place.first_line) for place in places] == [(3, 2), (5, 4)]


def test_a_lambda_has_the_name_that_it_is_assigned_to() -> None:
    source = textwrap.dedent(
        """\
        area = lambda r: r * r
        class C:
            twice: object = lambda self: 2
        def f():
            key = lambda: sorted([], key=lambda x: x)
        g(lambda: 1)
        """
    )
    assert find_in("area", source) == FunctionDefinition("<lambda>", "area", 1, 1)
    assert find_in("C.twice", source).def_line == 3
    assert find_in("f.<locals>.key", source).qualname == "f.<locals>.key"
    assert find(source, "<lambda>") == []


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("Account.*", ["Account.pay", "Account.close", "Account.Inner.method"]),
        ("*.method", ["Account.Inner.method", "outer.Local.method"]),
        ("p[lx]ain", ["plain"]),
        ("outer.<locals>.i*", ["outer.inner"]),
        ("app.pla??", ["plain"]),
        ("app.[!a-z]*.close", ["Account.close"]),
        ("other.*", []),
    ],
)
def test_a_pattern_matches_names_with_and_without_the_module(
    pattern: str, expected: list[str]
) -> None:
    places = find_matching(PROGRAM, ["__main__", "app"], pattern)
    assert [place.path for place in places] == expected


def test_a_pattern_without_a_module_is_not_for_a_module_that_it_does_not_name() -> None:
    assert find_matching(PROGRAM, ["app"], "plain*") == []
    assert [place.path for place in find_matching(PROGRAM, ["app"], "app.plain*")] == ["plain"]


@pytest.mark.parametrize(
    ("pattern", "modules"),
    [
        ("shop.*", ["shop"]),
        ("a.b.C.test_*", ["a.b.C", "a.b", "a"]),
        ("*.save", []),
        ("a?.b", []),
    ],
)
def test_the_modules_that_a_pattern_names_are_known(pattern: str, modules: list[str]) -> None:
    assert is_pattern(pattern)
    assert list_named_modules(pattern) == modules


@pytest.mark.parametrize("name", ["a..b", "a..*", "[", "f()*", "* *", "not a name", "x" * 10_000])
def test_what_no_function_can_be_called_is_said_briefly(name: str) -> None:
    problem = find_problem(name)
    assert problem is not None
    assert len(problem) < 200


@pytest.mark.parametrize("name", ["f", "*", "a.b[cd]?", "C.<locals>.f*", "x" * MAX_NAME_CHARACTERS])
def test_what_a_function_can_be_called_has_no_problem(name: str) -> None:
    assert find_problem(name) is None


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
    assert find(source, "café")[0].def_line == 2


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
