"""The demonstration: an agent finds a bug in a handful of requests."""

from __future__ import annotations


def run(*, as_json: bool) -> int:
    return 0 if as_json else 1
