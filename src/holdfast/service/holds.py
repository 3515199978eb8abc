"""The ids of holds: one row of numbers for holds of every kind."""

from __future__ import annotations

import itertools

_numbers = itertools.count(1)


def new_hold_id() -> str:
    return f"hold_{next(_numbers)}"
