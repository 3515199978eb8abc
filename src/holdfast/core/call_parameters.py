"""The parameters of a tool or model, to check an input that somebody decides against them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from holdfast.errors import InvalidDecision

_MAX_NAME = 100


@dataclass(frozen=True)
class CallParameters:
    names: tuple[str, ...]
    required: tuple[str, ...] = ()
    takes_more: bool = False
    """Whether it takes names that it does not list."""

    def check(self, what: str, before: Iterable[str], changes: Mapping[str, Any]) -> None:
        """Raise unless a call that had the names `before` can be made with these changes.

        The agent's own names are right, whatever they are: the function itself says what is wrong
        with them.
        """
        before = list(before)
        fits = f"{what} takes {self}"
        for name in changes:
            if self.takes_more or name in self.names or name in before:
                continue
            close = get_close_matches(name, self.names, 1)
            meant = f" (did you mean {close[0]!r}?)" if close else ""
            raise _invalid(f"{what} has no parameter {name!r:.{_MAX_NAME}}{meant}", fits, self)
        missing = [name for name in self.required if name not in changes and name not in before]
        if missing:
            raise _invalid(f"{what} needs {', '.join(map(repr, missing))}", fits, self)

    def __str__(self) -> str:
        listed = [name if name in self.required else f"{name} (optional)" for name in self.names]
        if self.takes_more:
            listed.append("any other name")
        return ", ".join(listed) or "nothing"


def read_schema(schema: Any) -> CallParameters | None:
    """Those of a JSON schema, as frameworks describe a tool; None if it says nothing of them."""
    if not isinstance(schema, Mapping) or not isinstance(schema.get("properties"), Mapping):
        return None
    required = schema.get("required")
    return CallParameters(
        tuple(map(str, schema["properties"])),
        tuple(map(str, required)) if isinstance(required, (list, tuple)) else (),
        takes_more=bool(schema.get("additionalProperties", False)),
    )


def _invalid(why: str, fits: str, parameters: CallParameters) -> InvalidDecision:
    return InvalidDecision(
        f"input: {why}. {fits}.", hint=f"{fits}.", field="input", possible=list(parameters.names)
    )
