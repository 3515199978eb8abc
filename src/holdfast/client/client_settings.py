"""The settings of `configure_debug`."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from holdfast.client.http_client import require_loopback
from holdfast.client.snapshots import MAX_BYTES


@dataclasses.dataclass(frozen=True)
class Settings:
    server_url: str | None = None  # None: the environment, what is announced, or the default
    request_timeout: float = 30.0  # seconds for the server to answer a request
    eq: str = "strict"  # or "transparent": a proxy equals what its target equals
    on_unpicklable: str = "raise"  # or "placeholder": the call goes on, its record says so
    mode: str = "strict"  # ask before every call; "leased": only where a rule could match
    max_value_bytes: int = MAX_BYTES  # a value that takes more is recorded as too large
    capture_locals: bool = False  # the variables of every frame go with each call


_CHOICES = {
    "eq": ("strict", "transparent"),
    "on_unpicklable": ("raise", "placeholder"),
    "mode": ("strict", "leased"),
}


def change_settings(settings: Settings, options: Mapping[str, Any]) -> Settings:
    """The settings with these options; ValueError names the one that is wrong."""
    names = [field.name for field in dataclasses.fields(Settings)]
    for name, value in options.items():
        if name not in names:
            raise ValueError(f"there is no option {name!r}; there are {', '.join(names)}")
        _check(name, value)
    return dataclasses.replace(settings, **options)


def _check(name: str, value: Any) -> None:
    if name in _CHOICES:
        check_choice(name, value)
    elif name == "server_url":
        if value is not None:
            if not isinstance(value, str):
                raise ValueError(f"server_url must be a string, not {value!r}")
            try:
                require_loopback(value)
            except ValueError as problem:
                raise ValueError(f"server_url: {problem}") from None
    elif name == "capture_locals":
        if not isinstance(value, bool):
            raise ValueError(f"capture_locals must be True or False, not {value!r}")
    elif not _is_number(value, whole=name == "max_value_bytes") or not 0 < value < float("inf"):
        raise ValueError(f"{name} must be a number greater than 0, not {value!r}")


def check_choice(name: str, value: Any) -> None:
    if value not in _CHOICES[name]:
        choices = " or ".join(f'"{choice}"' for choice in _CHOICES[name])
        raise ValueError(f"{name} must be {choices}, not {value!r}")


def _is_number(value: Any, whole: bool) -> bool:
    return isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
