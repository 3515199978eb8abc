"""Whether a container can be marshalled: what is in it twice is written twice, and so on.

A list that holds itself, or lists that share others at many levels, would be written for ever.
"""

from __future__ import annotations

from typing import Any, Dict, Set

from .value_kinds import CONTAINERS

_MAX_CONTAINERS = 20_000  # as they would be written, each as often as it is there
_MAX_DEPTH = 60


class _TooLarge(Exception):
    """It holds itself, or it would be too much."""


def can_marshal(value: Any) -> bool:
    """Whether what a plain container holds comes to an end soon."""
    try:
        _count(value, {}, set())
    except (_TooLarge, RuntimeError):  # or another thread changes it just now
        return False
    return True


def _count(value: Any, known: Dict[int, int], around: Set[int]) -> int:
    """How many containers would be written for this one; of each inner one, once for each place."""
    items = value.values() if type(value) is dict else value
    # The types by their ids, with functions in C alone: most containers hold no others.
    if type(value) is bytearray or CONTAINERS.isdisjoint(map(id, map(type, items))):
        return 1
    number = id(value)
    if number in known:
        return known[number]
    if number in around or len(around) > _MAX_DEPTH:
        raise _TooLarge
    around.add(number)
    total = 1
    for item in list(items):
        if id(type(item)) in CONTAINERS:
            total += _count(item, known, around)
            if total > _MAX_CONTAINERS:
                raise _TooLarge
    around.discard(number)
    known[number] = total
    return total
