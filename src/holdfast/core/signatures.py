"""The parameters of a function, and which argument of a call is for which of them.

Applications send the parameters of their functions. Of a function that is known by the text of its
signature alone, such as `(a, b=1, *rest)`, they are read from that text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Generic, TypeVar

from holdfast.core.source_text import suppress_warnings
from holdfast.model.call import CallRecord, Function, Parameter, Parameters, Preview

_MAX_SIGNATURE = 2000
_NAME = re.compile(r"\s*(\*{0,2})\s*([^\W\d]\w*)")
_BARE = re.compile(r"\s*([*/])\s*$")
_PLAIN = (bool, int, float, str, type(None))

T = TypeVar("T")


def parameters_of(function: Function) -> Parameters | None:
    """The parameters of a function; None if they are not known."""
    return function.parameters or parse_signature(function.signature)


def has_parameter(call: CallRecord, name: str) -> bool:
    """Whether a name may be one of the function that is called; True if that is not known."""
    parameters = parameters_of(call.function)
    if parameters is None or name in call.kwargs:
        return True
    return any(
        parameter.name == name or parameter.kind == "var_keyword" for parameter in parameters
    )


class NameCheck:
    """Which names of an expression are parameters of the functions that were called.

    A function that has no such parameter does not match. A name that none of them has is probably
    misspelt.
    """

    def __init__(self, names: Sequence[str]) -> None:
        self._unknown: dict[str, tuple[int, str]] = dict.fromkeys(names, (0, ""))

    def look_at(self, call: CallRecord) -> None:
        for name in list(self._unknown):
            if has_parameter(call, name):
                del self._unknown[name]
            else:
                count, _ = self._unknown[name]
                self._unknown[name] = (count + 1, _describe(call.function))

    def list_problems(self) -> dict[str, int]:
        """What is probably wrong, with the number of calls."""
        return {
            f"no function that was called has a parameter {name!r}; {example}": count
            for name, (count, example) in self._unknown.items()
            if count
        }


def _describe(function: Function) -> str:
    names = [parameter.name for parameter in parameters_of(function) or ()]
    return f"{function.qualname or function.name} has {', '.join(names) or 'none'}"


# -- binding -------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Argument(Generic[T]):
    """What a call has for one parameter.

    `value` is for a parameter that takes one value. `*rest` has a list and `**options` a dict in
    `values`. A parameter that was not passed has none of these; `default` is its default.
    """

    parameter: Parameter
    value: T | None = None
    values: list[T] | dict[str, T] | None = None

    @property
    def is_passed(self) -> bool:
        return self.value is not None or bool(self.values)


@dataclass(frozen=True, slots=True)
class BoundCall(Generic[T]):
    """The arguments by parameter, and the first reason why they do not fit, if there is one."""

    arguments: dict[str, Argument[T]]
    problem: str | None = None


def bind(parameters: Parameters, args: Sequence[T], kwargs: Mapping[str, T]) -> BoundCall[T]:
    """Assign arguments to parameters as Python does. Arguments that do not fit are left out."""
    arguments: dict[str, Argument[T]] = {}
    problems: list[str] = []
    positional, named = list(args), dict(kwargs)
    takes_any_name = any(parameter.kind == "var_keyword" for parameter in parameters)
    for parameter in parameters:
        name, kind = parameter.name, parameter.kind
        if kind == "var_positional":
            arguments[name] = Argument(parameter, values=positional)
            positional = []
        elif kind == "var_keyword":
            continue
        elif kind != "keyword_only" and positional:
            arguments[name] = Argument(parameter, positional.pop(0))
            if kind == "positional_or_keyword" and name in named:
                del named[name]
                problems.append(f"{name} is given twice")
        elif kind != "positional_only" and name in named:
            arguments[name] = Argument(parameter, named.pop(name))
        else:
            arguments[name] = Argument(parameter)
            if parameter.default is None:
                problems.append(f"{name} is not given, and has no default")
    for parameter in parameters:
        if parameter.kind == "var_keyword":
            arguments[parameter.name] = Argument(parameter, values=named)
    if positional:
        problems.append(f"it takes {len(args) - len(positional)} positional arguments at most")
    if named and not takes_any_name:
        problems.append(f"it has no parameter {next(iter(named))!r}")
    return BoundCall(arguments, problems[0] if problems else None)


def may_replace(called: Parameters | None, other: Parameters | None) -> bool:
    """Whether `other` takes the arguments of some call of `called`; True if that is not known."""
    if called is None or other is None:
        return True
    positional = [p.name for p in called if p.kind.startswith("positional")]
    needed = [p.name for p in called if p.kind.startswith("positional") and p.default is None]
    named = {p.name: p.name for p in called if p.kind == "keyword_only" and p.default is None}
    by_name = {p.name: p.name for p in called if p.kind == "positional_or_keyword"}
    takes_more = any(p.kind.startswith("var_") for p in called)
    shapes: list[tuple[list[str], dict[str, str]]] = [
        *((positional, named), (needed, named), ([], named | by_name)),
    ]
    return takes_more or any(bind(other, args, kwargs).problem is None for args, kwargs in shapes)


# -- signatures as text --------------------------------------------------------------------------


@lru_cache(2000)
def parse_signature(text: str | None) -> Parameters | None:
    """The parameters in `(a, b=1, *rest)`, without a leading `self`. None if it is no signature."""
    if not text or not text.lstrip().startswith("(") or len(text) > _MAX_SIGNATURE:
        return None
    parts, is_whole = _split(text.strip()[1:])
    if not is_whole:
        return None
    parameters: list[Parameter] = []
    kind = "positional_or_keyword"
    for part in parts:
        bare = _BARE.match(part)
        if bare is not None:
            if bare[1] == "*":
                kind = "keyword_only"
            else:
                parameters = [Parameter(p.name, "positional_only", p.default) for p in parameters]
            continue
        match = _NAME.match(part)
        if match is None:
            return None
        stars, name = match.groups()
        if stars:
            parameters.append(Parameter(name, "var_positional" if stars == "*" else "var_keyword"))
            kind = "keyword_only"
        elif name != "self" or parameters:
            parameters.append(Parameter(name, kind, _find_default(part[match.end() :])))
    return tuple(parameters)


def _find_default(rest: str) -> Preview | None:
    """The preview of what follows the `=` in `: int = 1`."""
    pieces, _ = _split(rest, "=")
    if len(pieces) < 2:
        return None
    return describe_literal("=".join(pieces[1:]).strip())


def describe_literal(text: str) -> Preview:
    """The preview of a value that is known by its `repr`."""
    try:
        with suppress_warnings():
            value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return {"text": text, "type": "?"}
    preview: Preview = {"text": text, "type": type(value).__name__}
    if isinstance(value, _PLAIN):
        return {**preview, "json": value}
    return {**preview, "literal": text}


def read_default(preview: Preview) -> tuple[bool, Any]:
    """Whether the value of a default is known, and the value."""
    if "json" in preview:
        return True, preview["json"]
    if isinstance(preview.get("literal"), str):
        try:
            with suppress_warnings():
                return True, ast.literal_eval(preview["literal"])
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            pass
    return False, None


def _split(text: str, separator: str = ",") -> tuple[list[str], bool]:
    """Split at the separators that are in no bracket and no string, up to the closing bracket.

    False: there is no closing bracket, so that the text was cut.
    """
    parts, depth, quote, at = [""], 0, "", 0
    while at < len(text):
        character = text[at]
        if quote:
            if character == "\\":
                parts[-1] += text[at : at + 2]
                at += 2
                continue
            quote = "" if character == quote else quote
        elif character in "\"'":
            quote = character
        elif character in "([{<":
            depth += 1
        elif character in ")]}>":
            if depth == 0:
                return [part for part in parts if part.strip()], True
            depth -= 1
        elif character == separator and depth == 0:
            parts.append("")
            at += 1
            continue
        parts[-1] += character
        at += 1
    return parts, separator != ","
