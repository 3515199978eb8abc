"""Which names a function assigns."""

from __future__ import annotations

import pytest

from holdfast.core.assigned_names import is_assigned

TEXT = """\
top = 1

def outer(given):
    for item in given:
        total = item
    def inner():
        deep = 2
        return deep
    with open(given) as file:
        return inner(), file

print(top)
"""


@pytest.mark.parametrize(
    ("line", "name", "expected"),
    [
        (1, "top", True),
        (12, "later", False),
        (4, "total", True),
        (4, "item", True),
        (4, "file", True),
        (4, "top", False),
        (7, "deep", True),
        (7, "total", False),
    ],
)
def test_a_name_is_assigned_in_the_function_around_a_line(
    line: int, name: str, expected: bool
) -> None:
    assert is_assigned(TEXT, line, name) is expected


def test_text_that_is_no_python_assigns_nothing() -> None:
    assert not is_assigned("def (", 1, "x")
