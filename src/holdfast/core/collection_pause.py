"""Puts off the collection of cyclic garbage while very many objects are made.

The collector would look at all of them again and again, which takes several times as long as making
them.
"""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collections() -> Iterator[None]:
    """If several threads are in here, the first that leaves ends the pause."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()
