"""What to say about a name that is not known: the nearest one that is, and all of them."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


def find_nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant."""
    by_shape = {_simplify(each): each for each in known}
    shape = _simplify(name)[:100]
    close = difflib.get_close_matches(shape, by_shape, n=1, cutoff=0.6)
    return by_shape[close[0]] if close else None


def describe_known(name: str, known: Sequence[str]) -> str:
    """`did you mean line? There are file, line`, to be put after what is wrong."""
    nearest = find_nearest(name, known)
    there_are = f"there are {', '.join(known)}" if known else "there are none"
    if nearest is None:
        return there_are
    return f"did you mean {nearest}? {there_are[0].upper()}{there_are[1:]}"


def _simplify(name: str) -> str:
    return name.lower().replace("-", "_")
