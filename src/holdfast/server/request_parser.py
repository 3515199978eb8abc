"""Turns bodies and queries into typed requests, and says which field of them is wrong.

A good request costs one `msgspec` decode. A bad one is parsed again, step by step, to name every
field that is wrong with it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from types import UnionType
from typing import Annotated, Any, Generic, Literal, TypeVar, Union, get_args, get_origin
from urllib.parse import parse_qsl

import msgspec

from holdfast import errors
from holdfast.wire.described import PATTERN_MEANINGS
from holdfast.wire.unknown_names import describe_known, find_nearest

T = TypeVar("T")
Place = tuple[str | int, ...]
"""The keys and indexes that lead to a value of a document."""

_MAX_PROBLEMS = 20
_MISSING = "it is missing"
_TOO_DEEP = "the body is nested too deeply"
_WHERE = re.compile(r"(?P<what>.*?)(?: - at (?P<key>`key` in )?`\$(?P<path>[^`]*)`)?", re.DOTALL)
_STEP = re.compile(r"\.([^.\[]+)|\[(\d+|\.\.\.)\]")
_NAMED = re.compile(r"Object (contains unknown|missing required) field `(.*)`", re.DOTALL)
_PATTERN = re.compile(r"Expected `str` matching regex (['\"])(.*)\1", re.DOTALL)


@dataclass(frozen=True)
class Problem:
    """What is wrong at one place of a request."""

    place: Place
    message: str
    known: tuple[str, ...] | None = None
    """If there is no such field: those that there are."""

    @property
    def field(self) -> str:
        return ".".join(map(str, self.place)) if self.place else "body"


class BodyParser(Generic[T]):
    """Parses JSON bodies of one type."""

    def __init__(self, type_: type[T]) -> None:
        self._type = type_
        self._decode = msgspec.json.Decoder(type_).decode
        self._note_given: Callable[[T, Iterable[str]], None] | None = getattr(
            type_, "note_given", None
        )
        """Of a request for which it matters whether a field was given, even as its default."""

    def parse(self, data: bytes) -> T | None:
        """The body; None where there is none."""
        if not data:
            return None
        try:
            body: T | None = self._decode(data)
        except (msgspec.MsgspecError, ValueError, RecursionError):
            body = self._parse_leniently(data)
        if self._note_given is not None and body is not None:
            self._note_given(body, _parse_json(data))
        return body

    def _parse_leniently(self, data: bytes) -> T | None:
        document = _parse_json(data)
        return None if document is None else convert(document, self._type)


class QueryParser(Generic[T]):
    """Parses the query strings of one route."""

    def __init__(self, type_: type[T]) -> None:
        self._type = type_
        self._default = type_() if _find_problem({}, type_) is None else None

    def parse(self, query: bytes) -> T:
        if not query and self._default is not None:
            return self._default
        fields = dict(parse_qsl(query.decode("latin-1"), keep_blank_values=True))
        refuse_unknown(fields, _list_names(self._type))
        return convert(fields, self._type)


def convert(document: Any, type_: type[T]) -> T:
    """The document as that type; otherwise InvalidInput names what is wrong.

    Numbers and booleans may be given as text, as they are in a query.
    """
    try:
        if get_origin(type_) is not dict:
            _refuse_lone_surrogates(document)
        return msgspec.convert(document, type_, strict=False)
    except RecursionError:
        raise errors.InvalidInput(_TOO_DEEP, field="body") from None
    except msgspec.ValidationError:
        raise invalid(_find_problems(document, type_)) from None


def invalid(problems: list[Problem]) -> errors.InvalidInput:
    first = problems[0]
    error = errors.InvalidInput(
        f"{first.field}: {first.message}",
        field=first.field,
        problems=[{"field": problem.field, "message": problem.message} for problem in problems],
    )
    unknown = [problem for problem in problems if problem.known is not None]
    if unknown:
        _describe_fields(error, unknown)
    return error


def _describe_fields(error: errors.InvalidInput, unknown: list[Problem]) -> None:
    """Say which fields there are, and which were probably meant."""
    nearest = {
        problem.field: find_nearest(str(problem.place[-1]), problem.known or ())
        for problem in unknown
    }
    error.details["unknown"] = sorted(nearest)
    error.details["nearest"] = {field: name for field, name in nearest.items() if name}
    error.details["valid"] = list(unknown[0].known or ())
    first = unknown[0].field
    if first == error.details["field"]:
        meant = nearest[first]
        hint = "Use one of the valid fields, or leave it out."
        error.hint = f"Did you mean {meant!r}? {hint}" if meant else hint


def refuse_unknown(names: Iterable[str], known: Sequence[str]) -> None:
    """Refuse fields of a query, or of a body that is no struct."""
    unknown = [name for name in names if name not in known]
    if unknown:
        raise invalid([_build_unknown((name,), tuple(known)) for name in unknown])


def _build_unknown(place: Place, known: tuple[str, ...]) -> Problem:
    what = describe_known(str(place[-1]), known)
    return Problem(place, f"there is no such field; {what}", known)


def _parse_json(data: bytes) -> Any:
    """JSON as the standard library takes it; fields refuse NaN and lone surrogates by name."""
    try:
        return json.loads(data)
    except RecursionError:
        raise errors.InvalidInput(_TOO_DEEP, field="body") from None
    except json.JSONDecodeError as problem:
        message = f"not JSON: {problem.msg} at position {problem.pos}"
    except ValueError as problem:  # not UTF-8, or a number with too many digits
        message = f"not JSON: {problem}"
    raise invalid([Problem((), message)])


# -- what is wrong, and where ---------------------------------------------------------------------


def _find_problems(document: Any, type_: Any) -> list[Problem]:
    """Every field that is wrong, in the order of the type's fields; unknown ones come last.

    One that was probably meant as a field that is missing comes before that field. `msgspec` names
    one problem at a time. That field is taken out, and the rest is tried again.
    """
    problems = _find_missing(document, type_)
    while len(problems) < _MAX_PROBLEMS:
        message = _find_problem(document, type_)
        if message is None:
            break
        problem = _locate(message, document, type_)
        if any(known.place[: len(problem.place)] == problem.place for known in problems):
            break  # the rest is wrong only because a field was removed
        problems.append(problem)
        place = problem.place
        while place and isinstance(place[-1], int):
            place = place[:-1]
        if not place:
            break
        document = _change(document, place[:-1], _drop_key(place[-1]))
    names = _list_names(type_)
    missing = {problem.field for problem in problems if problem.message == _MISSING}

    def order(problem: Problem) -> tuple[int, bool]:
        name = problem.field.split(".")[0]
        meant = find_nearest(name, missing) if len(problem.place) == 1 and problem.known else None
        known = meant or name
        return names.index(known) if known in names else len(names), meant is None

    return sorted(problems, key=order)


def _find_missing(document: Any, type_: Any) -> list[Problem]:
    if not (isinstance(document, dict) and _list_names(type_)):
        return []
    names = [field.encode_name for field in msgspec.structs.fields(type_) if field.required]
    return [Problem((name,), _MISSING) for name in names if name not in document]


def _list_names(type_: Any) -> tuple[str, ...]:
    """The fields of a struct; none of any other type."""
    return getattr(type_, "__struct_encode_fields__", ())


def _find_problem(document: Any, type_: Any) -> str | None:
    """What `msgspec` says about the document; None if it is as it should be."""
    try:
        msgspec.convert(document, type_, strict=False)
    except msgspec.ValidationError as problem:
        return str(problem)
    except RecursionError:
        return "it is nested too deeply"
    return None


def _locate(message: str, document: Any, type_: Any) -> Problem:
    match = _WHERE.fullmatch(message)
    assert match is not None  # every part of it is optional
    what, path = match["what"], match["path"] or ""
    steps: list[str] = [name or index for name, index in _STEP.findall(path)]
    if match["key"]:
        steps.append("...")
    place: Place = ()
    for step in steps:
        if step == "...":
            place = (*place, _find_key(document, place, type_))
        else:
            place = (*place, int(step) if step.isdecimal() else step)
    named = _NAMED.fullmatch(what)
    if named:
        field = (*place, named[2])
        if "missing" in named[1]:
            return Problem(field, _MISSING)
        return _build_unknown(field, _list_names_at(type_, place))
    if what.startswith("Invalid enum value"):
        return Problem(place, _describe_choices(what, _list_literals_at(type_, place)))
    pattern = _PATTERN.fullmatch(what)
    explanation = pattern and PATTERN_MEANINGS.get(pattern[2].replace("\\\\", "\\"))
    return Problem(place, explanation or what[:1].lower() + what[1:])


def _describe_choices(what: str, choices: Sequence[object]) -> str:
    """What is wrong with a value that is none of those that a field takes."""
    value = what.partition("value ")[2].strip("'")
    return f"it cannot be {value!r:.100}: {describe_known(value, [str(each) for each in choices])}"


def _list_names_at(type_: Any, place: Place) -> tuple[str, ...]:
    """The fields of the struct at a place of a document of that type."""
    names = (name for choice in _list_types_at(type_, place) for name in _list_names(choice))
    return tuple(dict.fromkeys(names))


def _list_literals_at(type_: Any, place: Place) -> list[object]:
    """The values that can stand at a place of a document of that type."""
    types = _list_types_at(type_, place)
    return [value for each in types if get_origin(each) is Literal for value in get_args(each)]


def _list_types_at(type_: Any, place: Place) -> list[Any]:
    types = _list_choices(type_)
    for step in place:
        types = [inner for choice in types for inner in _list_inner(choice, step)]
    return types


def _list_choices(type_: Any) -> list[Any]:
    """The types of a union, without what annotations add to them."""
    origin = get_origin(type_)
    if origin is Annotated:
        return _list_choices(get_args(type_)[0])
    if origin in (Union, UnionType):
        return [choice for part in get_args(type_) for choice in _list_choices(part)]
    return [type_]


def _list_inner(type_: Any, step: str | int) -> list[Any]:
    """The types of what a value of that type has at a key or an index."""
    if _list_names(type_):
        fields = {field.encode_name: field.type for field in msgspec.structs.fields(type_)}
        return _list_choices(fields[step]) if step in fields else []
    return [choice for part in get_args(type_)[-1:] for choice in _list_choices(part)]


def _find_key(document: Any, place: Place, type_: Any) -> str:
    """Which key of an object `msgspec` means: the one that is wrong when it stands alone."""
    mapping = document
    for step in place:
        mapping = mapping[step]
    for key, value in mapping.items():
        if _find_problem(_change(document, place, _constant({key: value})), type_):
            return str(key)
    return str(next(iter(mapping)))  # no key is wrong on its own


def _change(document: Any, place: Place, change: Callable[[Any], Any]) -> Any:
    """A copy of the document in which the value at a place is changed."""
    if not place:
        return change(document)
    copy: Any = document.copy()
    copy[place[0]] = _change(copy[place[0]], place[1:], change)
    return copy


def _constant(value: Any) -> Callable[[Any], Any]:
    return lambda _: value


def _drop_key(name: str | int) -> Callable[[Any], Any]:
    return lambda mapping: {key: value for key, value in mapping.items() if key != name}


def _refuse_lone_surrogates(document: Any, place: Place = ()) -> None:
    """Refuse text that UTF-8 cannot write. A key of that kind is a problem of its object."""
    if isinstance(document, str):
        if any("\ud800" <= character <= "\udfff" for character in document):
            raise invalid([Problem(place, "the text is not valid Unicode")])
    elif isinstance(document, dict):
        for key, value in document.items():
            _refuse_lone_surrogates(key, place)
            _refuse_lone_surrogates(value, (*place, key))
    elif isinstance(document, list):
        for index, value in enumerate(document):
            _refuse_lone_surrogates(value, (*place, index))
