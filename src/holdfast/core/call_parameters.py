"""The parameters of a tool or model: what an input that is decided has to fit, and what a call that
leaves some out is given."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
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
    defaults: Mapping[str, Any] = field(default_factory=dict, hash=False)
    """What it is given if the call does not say, as far as that is plain data."""

    def complete(self, given: dict[str, Any]) -> dict[str, Any]:
        """An input with the defaults of what it leaves out; itself, if it leaves out none."""
        missing = {name: self.defaults[name] for name in self.defaults if name not in given}
        return {**given, **missing} if missing else given

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
    required, properties = schema.get("required"), schema["properties"]
    return CallParameters(
        tuple(map(str, properties)),
        tuple(map(str, required)) if isinstance(required, (list, tuple)) else (),
        takes_more=bool(schema.get("additionalProperties", False)),
        defaults={
            str(name): described["default"]
            for name, described in properties.items()
            if isinstance(described, Mapping) and "default" in described
        },
    )


def _invalid(why: str, fits: str, parameters: CallParameters) -> InvalidDecision:
    return InvalidDecision(
        f"input: {why}. {fits}.", hint=f"{fits}.", field="input", possible=list(parameters.names)
    )
