"""The grammar of places: where to stop, written as people write it.

    file.py:12          a line                     module.func         a function
    file.py:func        a function of a file       Class.method        a method
    file.py::Class::f   the same                   pkg.*               a pattern of names

After it, in any order: ` if CONDITION`, ` hit N` (or `hit % 10`), ` log TEXT with {expressions}`.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from holdfast.core import conditions, function_finder, hit_conditions, logpoints
from holdfast.core._statements import Scope, is_string, statements
from holdfast.core.source_text import decode, parse_quietly
from holdfast.errors import InvalidPlace

_OPTION = re.compile(r"\s+(if|hit|log)(?=\s|$)\s*|\s*(,)\s*")
_HIT = re.compile(r"(?:==|>=|<=|>|<|%)?\s*[0-9]+(?=\s|$)")
# With a column, as compilers write it; or the line of a traceback.
_LINE = re.compile(r"(?P<file>.+?):(?P<line>[0-9]+)(?::[0-9]*)?")
_TRACEBACK = re.compile(r'File "(?P<file>.+)", line (?P<line>[0-9]+)(?:, in .*)?')
_FUNCTION_OF_FILE = re.compile(r"(?P<file>.+?):(?P<function>[^:/]+?)(?:\(\))?")
_WHOLE_PLACE = re.compile(r".+\.(?:py|pyw|pyi|ipynb)::?[\w.:]+(?:\[.*\])?(?:\(\))?")
_SOURCE_SUFFIX = re.compile(r"\.(py|pyw|pyi|ipynb)$")
_EXAMPLES = "Write `file.py:12`, `module.func`, or either with ` if condition`."


@dataclass(frozen=True)
class Place:
    """Where to stop: `file` and `line`, `function`, or a `function` of a `file`."""

    file: str | None = None
    line: int | None = None
    function: str | None = None
    condition: str | None = None
    hit_condition: str | None = None
    log_message: str | None = None

    @property
    def fields(self) -> dict[str, Any]:
        """Those that are set. Of a function in a file, the line is still to be found."""
        return {name: value for name, value in vars(self).items() if value is not None}


def parse_place(text: str) -> Place:
    """Read a place and its options. What cannot be meant is refused, with what could be."""
    traceback = _TRACEBACK.fullmatch(text.strip())
    if traceback is not None:
        return Place(traceback["file"], int(traceback["line"]))
    # The space finds a text that begins with an option, and has no place at all.
    first = _find_first_option(f" {text.strip()}")
    head = f" {text.strip()}"[: first.start()].strip() if first else text.strip()
    place = _parse_head(head, text)
    if first is None:
        return place
    keyword = first[1] or "if"
    return _add_option(place, keyword, f" {text.strip()}"[first.end() :], text)


def is_line(text: str) -> bool:
    """Whether a text is `file:line` and nothing more."""
    match = _LINE.fullmatch(text.strip())
    return match is not None and _is_file(match["file"])


def find_first_line(source: str | bytes, qualname: str) -> int | None:
    """The line at which a call of a function begins. None: it has no line of its own, or there
    is no such function."""
    try:
        body = parse_quietly(decode(source, "<source>"), "<source>").body
    except SyntaxError:
        return None
    wanted = qualname.replace("<locals>.", "")
    return next((line for name, line in _list_first_lines(body, "") if name == wanted), None)


# -- the place -------------------------------------------------------------------------------------


def _find_first_option(text: str) -> re.Match[str] | None:
    """A comma, or a word such as `if`, in the name of a directory begins none."""
    first = _OPTION.search(text)
    before = text[: first.start()] if first else ""
    is_comma = first is not None and first[2] is not None
    if ":" not in before and ("/" in before or is_comma):
        for option in (*_OPTION.finditer(text), None):
            whole = text[: option.start() if option else None]
            if "/" in whole and _WHOLE_PLACE.fullmatch(whole):
                return option
    return first


def _parse_head(head: str, text: str) -> Place:
    if not head:
        raise _invalid(text, "there is no place in it")
    line = _LINE.fullmatch(head)
    if line is not None:
        return Place(line["file"], int(line["line"]))
    if "::" in head:
        file, _, names = head.partition("::")
        head = f"{file}:{names.partition('[')[0].replace('::', '.')}"
    of_file = _FUNCTION_OF_FILE.fullmatch(head)
    if of_file is not None:
        return _parse_function_of_file(of_file["file"], of_file["function"], text)
    return Place(function=_parse_function(head, text))


def _parse_function_of_file(file: str, function: str, text: str) -> Place:
    if not all(part.isidentifier() for part in function.split(".")):
        raise _invalid(text, f"{function!r} is neither a line nor the name of a function")
    if not _is_file(file):
        return Place(function=f"{file}.{function}")
    return Place(file, function=function)


def _parse_function(head: str, text: str) -> str:
    name = head.removesuffix("()")
    if _SOURCE_SUFFIX.search(name):
        raise _invalid(text, "it names a file and no line", f"Add one: `{name}:12`.")
    if function_finder.is_pattern(name):
        name = name.replace("/", ".")
    if name.isdigit():
        raise _invalid(text, "it is a line and no file", f"Add the file: `file.py:{name}`.")
    problem = function_finder.find_problem(name)
    if problem is not None:
        raise _invalid(text, problem.rstrip("."))
    return name


def _is_file(name: str) -> bool:
    """Whether it names a file: by its suffix or its directory, or as `<string>`."""
    return bool(_SOURCE_SUFFIX.search(name)) or "/" in name or name.startswith("<")


# -- the options -----------------------------------------------------------------------------------


def _add_option(place: Place, keyword: str, rest: str, text: str) -> Place:
    if keyword == "log":
        if not rest.strip():
            raise _invalid(text, "nothing to log", "Write what: ` log total={total}`.")
        logpoints.parse(rest)
        return replace(place, log_message=rest)
    if keyword == "hit":
        count = _HIT.match(rest)
        if count is None:
            hit_conditions.parse(rest)  # says what is wrong with it
            raise _invalid(text, "it says no hit")
        hit_conditions.parse(count[0])
        return _add_rest(replace(place, hit_condition=count[0]), rest[count.end() :], text)
    condition, after = _split_condition(rest)
    return _add_rest(replace(place, condition=condition), after, text)


def _add_rest(place: Place, rest: str, text: str) -> Place:
    if not rest.strip():
        return place
    option = _OPTION.match(rest)
    if option is None or option[1] is None:
        raise _invalid(text, f"{rest.strip()!r} is neither ` if …`, ` hit N` nor ` log …`")
    return _add_option(place, option[1], rest[option.end() :], text)


def _split_condition(rest: str) -> tuple[str, str]:
    """The longest condition that a text begins with, and the options after it."""
    ends = [match.start() for match in _OPTION.finditer(rest) if match[1]]
    for end in (len(rest), *reversed(ends)):
        if conditions.is_expression(rest[:end]):
            return rest[:end].strip(), rest[end:]
    conditions.check(rest)
    raise AssertionError("a condition that is an expression was found above")


def _invalid(text: str, problem: str, hint: str | None = None) -> InvalidPlace:
    return InvalidPlace(f"not a place: {text!r:.200}: {problem}", hint=hint or _EXAMPLES)


# -- functions -------------------------------------------------------------------------------------


def _list_first_lines(body: list[ast.stmt], prefix: str) -> Iterator[tuple[str, int]]:
    for statement in statements(body, enter_scopes=False):
        if isinstance(statement, Scope):
            qualname = prefix + statement.name
            if not isinstance(statement, ast.ClassDef):
                first = _find_first_statement(statement.body)
                if first.lineno > statement.lineno:
                    yield qualname, first.lineno
            yield from _list_first_lines(statement.body, f"{qualname}.")


def _find_first_statement(body: list[ast.stmt]) -> ast.stmt:
    """The first one that runs: a docstring does not."""
    first = body[0]
    return body[1] if is_string(first) and len(body) > 1 else first
