"""The values of a request, and the memory of which values the server has."""

from __future__ import annotations

import base64
import contextlib
import json
from collections import OrderedDict
from collections.abc import Iterable
from typing import Any

from holdfast.client.definitions import Stored, all_needed
from holdfast.client.snapshots import Snapshot
from holdfast.client.value_preview import build_preview

MAX_SENT = 10_000


class SentValues:
    """The content ids that the server has been sent, the latest ones.

    There is no lock, because a fork could leave it locked; a race only sends bytes twice.
    """

    def __init__(self, limit: int = MAX_SENT) -> None:
        self._limit = limit
        self._cids: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, cid: str) -> bool:
        try:
            self._cids.move_to_end(cid)
        except KeyError:
            return False
        return True

    def __len__(self) -> int:
        return len(self._cids)

    def add(self, cids: Iterable[str]) -> None:
        for cid in cids:
            self._cids[cid] = None
        while len(self._cids) > self._limit:
            with contextlib.suppress(KeyError):
                self._cids.popitem(last=False)

    def forget(self, cids: Iterable[str]) -> None:
        for cid in cids:
            self._cids.pop(cid, None)


class Parcel:
    """The values of one request: ids for what the server has, bytes and previews for the rest.

    `missing` are ids that the server turned out not to have.
    """

    def __init__(self, sent: SentValues, missing: frozenset[str]) -> None:
        self._sent = sent
        self._missing = missing
        self.new: dict[str, None] = {}
        self._stored: list[Stored] = []

    def has(self, cid: str) -> bool:
        """Whether the server has the value, or gets it in this request."""
        return cid in self.new or (cid not in self._missing and cid in self._sent)

    def item(self, snapshot: Snapshot, value: Any) -> str:
        """The value as JSON."""
        if self.has(snapshot.cid):
            return f'{{"cid": "{snapshot.cid}"}}'
        return json.dumps(self.add(snapshot, value))

    def add(self, snapshot: Snapshot, value: Any) -> dict[str, Any]:
        """A value that the server does not have."""
        self.new[snapshot.cid] = None
        self._stored.append(snapshot)
        return {**_encode(snapshot), "preview": build_preview(value, snapshot.marker)}

    def needs(self) -> list[dict[str, Any]]:
        """What the new values refer to, if the server does not have it."""
        if not self._stored:
            return []
        items = []
        for cid, stored in all_needed(self._stored).items():
            if cid in self.new or (not self._missing and cid in self._sent):
                continue
            self.new[cid] = None
            items.append(_encode(stored))
        return items


def _encode(stored: Stored) -> dict[str, Any]:
    return {"cid": stored.cid, "data": base64.b64encode(stored.data).decode()}
