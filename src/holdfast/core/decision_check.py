"""Checks a decision against the table in `model.decision`.

`check_allowed` answers whether a hold takes an action, `check_fields` whether the action has what
it needs. Both raise the error that the decider sees, and change nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.errors import InvalidDecision, WrongState
from holdfast.model.decision import ROLES, Action, Field, Moment, Shape, action_at, names_at
from holdfast.model.hold import Hold
from holdfast.model.value_text import NotAValue, parse_literal, parse_text

_PYTHON_TYPES: Mapping[Shape, type | tuple[type, ...]] = {
    Shape.TEXT: str,
    Shape.NAME: str,
    Shape.OBJECT: dict,
    Shape.LIST: list,
    Shape.CONTENT: (str, list),
}
_NOT_EMPTY = (Shape.NAME, Shape.CONTENT)
_MAX_NAME = 100


def check_allowed(hold: Hold, action: str) -> None:
    """Raise unless the hold takes this action."""
    if action in hold.actions:
        return
    possible = list(hold.actions)
    if action not in names_at():
        raise InvalidDecision(
            f"no action {action!r:.{_MAX_NAME}}",
            hint=f"This hold allows: {', '.join(possible)}.",
            field="action",
            possible=possible,
        )
    raise WrongState(
        f"cannot {action}: hold {hold.id} ({hold.kind.value}) does not allow it",
        hint=f"It allows: {', '.join(possible)}.",
        hold_id=hold.id,
        session_id=hold.session_id,
        state="held",
        possible=possible,
    )


def check_fields(moment: Moment, name: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """The fields of an action, under their own names and with their defaults.

    Options that the action does not know are left out: faces put their own beside them. A field
    that is null counts as left out, unless any JSON value will do.
    """
    action = action_at(moment, name)
    if action is None:
        possible = names_at(moment)
        raise InvalidDecision(
            f"action: {name!r:.{_MAX_NAME}} is not possible at this moment ({moment.value})",
            hint=f"Possible are: {', '.join(possible)}.",
            field="action",
            possible=list(possible),
        )
    values = {}
    for field in action.fields:
        value = _read(field, action, options)
        if value is not _MISSING:
            values[field.name] = value
    if action.needs and not values.keys() & set(action.needs):
        first = next(field for field in action.fields if field.name == action.needs[0])
        raise _invalid(first.name, f"{name} needs it. {first.meaning}", action)
    return {
        **{field.name: field.default for field in action.fields if field.default is not None},
        **values,
    }


_MISSING = object()


def _read(field: Field, action: Action, options: Mapping[str, Any]) -> Any:
    if field.name in options:
        value = options[field.name]
        if value is None and field.shape is not Shape.JSON:
            return _MISSING
        _check_shape(field.name, field, value, action)
        return value
    if field.wrapped is not None and field.wrapped in options:
        value = _unwrap(field.wrapped, options[field.wrapped], field, action)
        _check_shape(field.wrapped, field, value, action)
        return value
    if field.text is not None and options.get(field.text) is not None:
        value = _parse_text(field.text, options[field.text], action)
        _check_shape(field.text, field, value, action)
        return value
    return _MISSING


def _check_shape(name: str, field: Field, value: Any, action: Action) -> None:
    if field.shape is Shape.ROLE:
        if value not in ROLES:
            raise _invalid(name, f"one of {', '.join(ROLES)} is expected", action)
        return
    expected = _PYTHON_TYPES.get(field.shape)
    if expected is not None and not isinstance(value, expected):
        raise _invalid(name, f"{field.shape.value} is expected", action)
    if field.shape in _NOT_EMPTY and not value:
        raise _invalid(name, f"it is empty. {field.meaning}", action)


def _unwrap(name: str, value: Any, field: Field, action: Action) -> Any:
    """A plain value out of `{"value": …}`, `{"literal": "…"}` or `{"text": "…"}`."""
    if isinstance(value, dict) and list(value) == ["value"]:
        return value["value"]
    if isinstance(value, dict) and list(value) == ["literal"]:
        try:
            return parse_literal(str(value["literal"]))
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            raise _invalid(name, "its literal is not a Python literal", action) from None
    if field.shape is Shape.OBJECT:
        return value
    if isinstance(value, dict) and list(value) == ["text"]:
        return _parse_text(name, value["text"], action)
    raise _invalid(
        name,
        'a value is {"value": json}, {"literal": "python literal"} or {"text": "either of them"}',
        action,
    )


def _parse_text(name: str, text: Any, action: Action) -> Any:
    """A value as somebody typed it; what an agent gets is JSON, so JSON is tried first."""
    if not isinstance(text, str):
        raise _invalid(name, "a value as text is expected", action)
    try:
        return parse_text(text, is_json=True)
    except NotAValue as problem:
        error = _invalid(name, str(problem), action)
        error.hint = f"{error.hint} {problem.hint}"
        raise error from None


def _invalid(name: str, why: str, action: Action) -> InvalidDecision:
    fields = ", ".join(f"`{field.name}`" for field in action.fields)
    has_values = any(field.shape is Shape.VALUE for field in action.fields)
    hint = f"{action.name} takes {fields}."
    if has_values:
        hint += f" {InvalidDecision.default_hint}"
    return InvalidDecision(f"{name}: {why}", hint=hint, field=name)
