"""How captures and recordings of runs are named in a request."""

from __future__ import annotations

from collections.abc import Sequence

LATEST = "latest"


def find_ids(text: str, ids: Sequence[str], prefix: str) -> list[str]:
    """The ids that are meant by an id, by its beginning with or without the prefix, or `latest`.

    `ids` has the newest first."""
    if text == LATEST:
        return list(ids[:1])
    if text in ids:
        return [text]
    meant = text if text.startswith(prefix) else prefix + text
    return [one for one in ids if text and one.startswith(meant)]
