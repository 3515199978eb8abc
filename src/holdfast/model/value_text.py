"""Values as people type them: a Python literal, or JSON. Nothing is run."""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Callable
from typing import Any

MAX_LITERAL = 100_000
"""Characters. Python parses some longer ones slowly; JSON may be as long as `MAX_JSON`."""
MAX_JSON = 1_000_000
_SHOWN = 100
_WORD = re.compile(r"[^\W\d][\w .,-]*")
_KINDS = (
    "a number, a text in quotes, None, True, False, or a container of these, such as 5, 'tea', "
    "[1, 2] or {'a': 1}; in JSON also null, true and false"
)


class NotAValue(ValueError):
    """A text that is no value. `hint` says what to write instead."""

    def __init__(self, text: str) -> None:
        cut = text if len(text) <= _SHOWN else f"{text[:_SHOWN]}…"
        super().__init__(f"neither a Python literal nor JSON: {cut!r}")
        word = text.strip()
        is_word = len(word) <= _SHOWN and _WORD.fullmatch(word) is not None
        quoted = f"If it is text, put it in quotes: {word!r}. " if is_word else ""
        self.hint = f"{quoted}A value is {_KINDS}."


def parse_text(text: str, *, is_json: bool = False) -> Any:
    """The value of a text: a Python literal, otherwise JSON; with `is_json` the other way round.

    The two differ in escapes within quotes alone. Raises NotAValue if it is neither.
    """
    for parse in (_parse_json, parse_literal) if is_json else (parse_literal, _parse_json):
        is_value, value = _try(parse, text.strip())
        if is_value:
            return value
    raise NotAValue(text)


def _try(parse: Callable[[str], Any], text: str) -> tuple[bool, Any]:
    try:
        return True, parse(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return False, None


def parse_literal(text: str) -> Any:
    """The value of a Python literal. Raises what `ast.literal_eval` raises."""
    if len(text) > MAX_LITERAL:
        raise ValueError(f"longer than {MAX_LITERAL} characters")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # such as that of an unknown escape
        return ast.literal_eval(text)


def _parse_json(text: str) -> Any:
    if len(text) > MAX_JSON:
        raise ValueError(f"longer than {MAX_JSON} characters")
    return json.loads(text, parse_constant=_refuse_constant)


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is no JSON")
