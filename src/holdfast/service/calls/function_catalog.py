"""What has been called or registered, by name: few, so all of them are at hand."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Callable, Iterable
from typing import Any

from holdfast.core import call_matcher
from holdfast.model.call import Function
from holdfast.store import CallTables


def _news(known: Function, facts: dict[str, Any]) -> dict[str, Any]:
    return {
        fact: value
        for fact, value in facts.items()
        if value is not None and getattr(known, fact) != value
    }


class Functions:
    def __init__(self, tables: CallTables, on_new: Callable[[str, int], None]) -> None:
        self._tables = tables
        self._on_new = on_new  # a session has a function that it had not
        self.by_id: dict[int, Function] = {}
        self._by_key: dict[tuple[str, str | None, str | None], Function] = {}
        self._sessions: defaultdict[int, set[str]] = defaultdict(set)

    def load(self) -> None:
        for function, _calls in self._tables.functions():
            self._know(function)

    def _know(self, function: Function) -> None:
        self.by_id[function.id] = function
        self._by_key[function.key] = function

    def seen(
        self,
        session_id: str,
        name: str,
        alias: str | None = None,
        qualname: str | None = None,
        **facts: Any,
    ) -> tuple[Function, bool]:
        """The function of this name, with what is newly known of it; True when it is new here."""
        known = self._by_key.get((name, alias, qualname))
        if known is None:
            known = Function(len(self.by_id) + 1, name, alias, qualname, **facts)
            self._put(known)
        elif news := _news(known, facts):
            known = dataclasses.replace(known, **news)
            self._put(known)
        sessions = self._sessions[known.id]
        if session_id in sessions:
            return known, False
        sessions.add(session_id)
        self._on_new(session_id, known.id)
        return known, True

    def recall(self, session_id: str, ids: Iterable[int]) -> None:
        """What a session of the server before us had."""
        for number in ids:
            if number in self.by_id:
                self._sessions[number].add(session_id)

    def _put(self, function: Function) -> None:
        self._know(function)
        self._tables.put_function(function)

    def named(self, wanted: str) -> frozenset[int]:
        """The ids of the functions that a name or pattern means."""
        return frozenset(
            each.id
            for each in self.by_id.values()
            if any(call_matcher.fits(wanted, name) for name in call_matcher.names_of(each))
        )

    def aliased(self, wanted: str) -> frozenset[int]:
        return frozenset(
            each.id for each in self.by_id.values() if call_matcher.fits(wanted, each.alias or "")
        )

    def sessions_of(self, function: Function) -> list[str]:
        return sorted(self._sessions.get(function.id, ()))

    def listed(self, session_id: str | None) -> list[tuple[Function, int]]:
        """Every function with its number of calls; waits for the store."""
        return [
            (self.by_id.get(function.id, function), calls)
            for function, calls in self._tables.functions()
            if session_id is None or session_id in self._sessions.get(function.id, ())
        ]

    def forget_session(self, session_id: str) -> None:
        for sessions in self._sessions.values():
            sessions.discard(session_id)
