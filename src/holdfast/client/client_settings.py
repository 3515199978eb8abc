"""The settings of `configure_debug`."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from typing import Any

from holdfast.client.http_client import require_loopback
from holdfast.client.snapshots import MAX_BYTES
from holdfast.client.storage_refusals import ON_UNPICKLABLE_VARIABLE


@dataclasses.dataclass(frozen=True)
class Settings:
    server_url: str | None = None  # None: the environment, what is announced, or the default
    request_timeout: float = 30.0  # seconds for the server to answer a request
    eq: str = "strict"  # or "transparent": a proxy equals what its target equals
    on_unpicklable: str | None = None  # None: the environment, else "raise"; or "placeholder"
    mode: str = "strict"  # ask before every call; "leased": only where a rule could match
    max_value_bytes: int = MAX_BYTES  # a value that takes more is recorded as too large
    capture_locals: bool = False  # the variables of every frame go with each call
    # The object that a method is called on: as often as that is quick; "always"; or not at all.
    capture_target: bool | str = True


# What cannot change while debugging is on, and what to do instead.
_FIXED_WHILE_ON = ("server_url", "mode")

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


def require_changeable(before: Settings, after: Settings, url: str) -> None:
    """ValueError names the options that differ and cannot change while debugging is on.

    `url` is where the server is that debugging is on with, which may be named afterwards.
    """
    names = [
        name for name in _FIXED_WHILE_ON if getattr(after, name) not in (getattr(before, name), url)
    ]
    if names:
        raise ValueError(
            f"{' and '.join(names)} cannot change while debugging is on; nothing was changed: "
            'call with_debug("OFF") first, then configure_debug, then with_debug("ON")'
        )


def uses_placeholders(settings: Settings) -> bool:
    """Whether a call goes on with a value that cannot be stored."""
    choice = settings.on_unpicklable
    if choice is None:
        choice = os.environ.get(ON_UNPICKLABLE_VARIABLE) or "raise"
        if choice not in _CHOICES["on_unpicklable"]:
            raise ValueError(
                f"the environment variable {ON_UNPICKLABLE_VARIABLE} must be "
                f"{_list_choices('on_unpicklable')}, not {choice!r}"
            )
    return choice == "placeholder"


def _check(name: str, value: Any) -> None:
    if name in _CHOICES:
        if name != "on_unpicklable" or value is not None:
            check_choice(name, value)
    elif name == "server_url":
        if value is not None:
            if not isinstance(value, str):
                raise ValueError(f"server_url must be a string, not {value!r}")
            try:
                require_loopback(value)
            except ValueError as problem:
                raise ValueError(f"server_url: {problem}") from None
    elif name == "capture_target":
        check_capture_target(value)
    elif name == "capture_locals":
        if not isinstance(value, bool):
            raise ValueError(f"capture_locals must be True or False, not {value!r}")
    elif not _is_number(value, whole=name == "max_value_bytes") or not 0 < value < float("inf"):
        raise ValueError(f"{name} must be a number greater than 0, not {value!r}")


def check_capture_target(value: Any) -> None:
    if not isinstance(value, bool) and value != "always":
        raise ValueError(f'capture_target must be True, False or "always", not {value!r}')


def check_choice(name: str, value: Any) -> None:
    if value not in _CHOICES[name]:
        raise ValueError(f"{name} must be {_list_choices(name)}, not {value!r}")


def _list_choices(name: str) -> str:
    return " or ".join(f'"{choice}"' for choice in _CHOICES[name])


def _is_number(value: Any, whole: bool) -> bool:
    return isinstance(value, int if whole else (int, float)) and not isinstance(value, bool)
