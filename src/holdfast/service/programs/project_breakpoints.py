"""The breakpoints of each project directory: what a new session there begins with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from typing import Any

from holdfast.store import Directory, PendingWrite

Document = dict[str, Any]
Key = frozenset[tuple[str, Any]]


class ProjectBreakpoints:
    """Sessions of one project share its breakpoints by their changes, not by their whole lists:
    a session that has none must not take away those that another one set."""

    def __init__(self, directory: Directory) -> None:
        self._directory = directory
        self._known: dict[str, dict[Key, Document]] = {}
        self.unsaved: set[str] = set()

    async def load(self) -> None:
        """Read those of all projects. They are few, so all are in memory."""
        stored = await self._directory.breakpoints()
        self._known = {project: _index_by_key(documents) for project, documents in stored.items()}

    def breakpoints(self, project: str) -> list[Document]:
        """Those that a new session there begins with. It gives them ids of its own."""
        return [_without_id(document) for document in self._known.get(project, {}).values()]

    def change(
        self, project: str, before: Sequence[Document], after: Sequence[Document]
    ) -> PendingWrite | None:
        """Apply what a session changed. None when there is nothing to write."""
        old, new = _index_by_key(before), _index_by_key(after)
        if old.keys() == new.keys():
            return None
        here = self._known.get(project, {})
        kept = {key: here[key] for key in here if key in new or key not in old}
        self._known[project] = kept | {key: new[key] for key in new if key not in kept}
        return self._write(project)

    def _write(self, project: str) -> PendingWrite:
        numbered = [
            {**document, "id": f"bp_{number}"}
            for number, document in enumerate(self.breakpoints(project), 1)
        ]
        written = self._directory.put_breakpoints(project, numbered)
        self.unsaved.discard(project)

        def check(done: Future[None]) -> None:
            if done.exception() is not None:
                self.unsaved.add(project)

        written.add_done_callback(check)
        return written

    def retry(self) -> None:
        """Try again to write what could not be written."""
        for project in self.unsaved.copy():
            self._write(project)


def _without_id(document: Document) -> Document:
    return {name: value for name, value in document.items() if name != "id"}


def _index_by_key(documents: Sequence[Mapping[str, Any]]) -> dict[Key, Document]:
    return {_key(document): dict(document) for document in documents}


def _key(document: Mapping[str, Any]) -> Key:
    return frozenset((name, repr(value)) for name, value in document.items() if name != "id")
