"""The table of variable references.

A reference keeps its value alive until the thread that owns it runs again.
"""

from __future__ import annotations

import itertools
import threading

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Dict, Iterator, List, Optional, Tuple

_refs = itertools.count(1000)


class Handle:
    """One value that was sent to the server, and where it belongs."""

    __slots__ = ("kind", "name", "owner", "parent", "ref", "value")

    def __init__(
        self, ref: int, owner: Any, value: Any, name: str, parent: Optional[int], kind: str
    ) -> None:
        self.ref = ref
        self.owner = owner
        self.value = value
        self.name = name
        self.parent = parent
        self.kind = kind


class Handles:
    """References are never reused in a process, so a stale one is always unknown."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._handles: Dict[int, Handle] = {}
        # A handle keeps its value alive, so the id in its key stays that value's.
        self._refs: Dict[Tuple[Any, Optional[int], int, str], int] = {}

    def add(
        self,
        owner: Any,
        value: Any,
        name: str,
        parent: Optional[int] = None,
        kind: str = "value",
        made_of: Any = None,
    ) -> int:
        """The value's reference; the same one if it was added at that place before.

        A value that is built for each request (a scope) is known by the object it is `made_of`.
        """
        key = (owner, parent, id(value if made_of is None else made_of), name)
        before = None  # its end may run a __del__, which may come back here: not with the lock
        with self._lock:
            ref = self._refs.get(key)
            if ref is None:
                ref = self._refs[key] = next(_refs)
                self._handles[ref] = Handle(ref, owner, value, name, parent, kind)
            else:
                before = self._handles[ref].value
                self._handles[ref].value = value
        del before
        return ref

    def get(self, ref: int) -> Optional[Handle]:
        with self._lock:
            return self._handles.get(ref)

    def drop(self, owner: Any) -> None:
        """Forget the references of a thread that is about to run."""
        dropped: List[Handle] = []
        with self._lock:
            for key in [key for key in self._refs if key[0] == owner]:
                dropped.append(self._handles.pop(self._refs.pop(key)))
        # Outside the lock: this may run a __del__, which may come back here.
        dropped.clear()

    def lineage(self, ref: Optional[int]) -> Iterator[Handle]:
        """The handle, its parent, and so on."""
        while ref is not None:
            handle = self.get(ref)
            if handle is None:
                return
            yield handle
            ref = handle.parent
