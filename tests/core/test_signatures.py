"""Signatures as text, and arguments by parameter."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.core.signatures import bind, parse_signature, read_default
from holdfast.model.call import Parameter


def simple(a: int, b: str = "x, (y", *, c: Any = None) -> None: ...


def positional(
    a: int, b: int = 2, /, d: Any = (1, "="), *rest: int, e: Any, **more: Any
) -> None: ...


def odd(a: Any = Parameter, b: Any = print, c: Any = (1, [2])) -> dict[str, int]:
    return {}


def nothing() -> None: ...


FUNCTIONS: list[Callable[..., Any]] = [simple, positional, odd, nothing]


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_text_of_a_signature_has_names_kinds_and_defaults(function: Any) -> None:
    signature = inspect.signature(function)
    parameters = parse_signature(str(signature))
    assert parameters is not None
    expected = list(signature.parameters.values())
    assert [(p.name, p.kind) for p in parameters] == [
        (p.name, p.kind.name.lower()) for p in expected
    ]
    for parameter, real in zip(parameters, expected, strict=True):
        assert (parameter.default is None) == (real.default is real.empty)
        if parameter.default is not None:
            is_known, value = read_default(parameter.default)
            assert not is_known or value == real.default


def test_defaults_are_values_where_their_text_is_a_literal() -> None:
    parameters = parse_signature("(a=1, b='x, (y', c=(1, '='), d=<object at 0x1>, e={1: [2]})")
    assert parameters is not None
    values = [read_default(parameter.default or {}) for parameter in parameters]
    assert values == [(True, 1), (True, "x, (y"), (True, (1, "=")), (False, None), (True, {1: [2]})]


@pytest.mark.parametrize("text", [None, "", "no signature", "(a, b", "(a, b='x", "(1)"])
def test_what_is_no_signature_has_no_parameters(text: str | None) -> None:
    assert parse_signature(text) is None


def test_self_is_no_parameter_of_a_method() -> None:
    assert parse_signature("(self, item)") == (Parameter("item"),)


@pytest.mark.parametrize("function", FUNCTIONS)
@given(st.integers(0, 4), st.sets(st.sampled_from("abcdez")))
def test_arguments_fit_as_they_do_for_python(function: Any, count: int, names: set[str]) -> None:
    signature = inspect.signature(function)
    args, kwargs = [f"arg{at}" for at in range(count)], {name: f"kw_{name}" for name in names}
    bound = bind(parse_signature(str(signature)) or (), args, kwargs)
    try:
        function(*args, **kwargs)
    except TypeError:
        assert bound.problem is not None
        return
    assert bound.problem is None
    try:
        expected = signature.bind(*args, **kwargs).arguments
    except TypeError:  # which older Pythons raise for names that are positional-only
        return
    for name, argument in bound.arguments.items():
        value = argument.value if argument.values is None else argument.values
        if name in expected:
            given_ = expected[name]
            assert value == (list(given_) if isinstance(given_, tuple) else given_)
        else:
            assert not argument.is_passed
