"""Ids that no other server, and no later run of this one, gives again."""

from __future__ import annotations

import secrets

_DIGITS = 15
_FIRST_BIT = 1 << (4 * _DIGITS - 1)  # so that all have the same number of digits


def new_id(kind: str) -> str:
    """`<kind>_` and 15 random hex digits, such as `hold_9f3c2a7b41d0e58`."""
    return f"{kind}_{new_number():x}"


def new_number() -> int:
    """A random number of 60 bits, of which the first is set."""
    return _FIRST_BIT | secrets.randbits(4 * _DIGITS - 1)
