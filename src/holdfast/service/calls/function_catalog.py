"""The functions that were called or registered. They are few, so all are in memory."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from typing import Any

from holdfast.core import call_matcher
from holdfast.model.call import Function, Parameters
from holdfast.service.calls.call_session import CallSession
from holdfast.store import CallLog


class FunctionCatalog:
    def __init__(self, call_log: CallLog) -> None:
        self._call_log = call_log
        self.by_id: dict[int, Function] = {}
        self._by_key: dict[tuple[str, str | None, str | None], Function] = {}
        # Functions of the same names with other signatures come and go; each is described once.
        self._parameters: dict[tuple[Any, ...], Parameters] = {}
        self._sessions: defaultdict[int, set[str]] = defaultdict(set)

    async def load(self) -> None:
        for function, _calls in await self._call_log.functions():
            self._remember(function)

    def _remember(self, function: Function) -> None:
        self.by_id[function.id] = function
        self._by_key[function.key] = function
        if function.parameters is not None:
            key = (*function.key, function.signature)
            self._parameters[key] = function.parameters

    def note_use(
        self,
        session: CallSession,
        name: str,
        alias: str | None = None,
        qualname: str | None = None,
        *,
        module: str | None = None,
        signature: str | None = None,
        file: str | None = None,
        line: int | None = None,
        target_cid: str | None = None,
        parameters: Parameters | None = None,
    ) -> Function:
        """The function of these names, with what is newly known of it."""
        known = self._by_key.get((name, alias, qualname))
        if parameters is None and (known is None or known.signature != signature):
            parameters = self._parameters.get((name, alias, qualname, signature))
        facts = (module, signature, file, line, target_cid, parameters)
        if known is None:
            function = Function(len(self.by_id) + 1, name, alias, qualname, *facts)
        else:
            function = known.merge(*facts)
        if function is not known:
            self._call_log.put_function(function)
            self._remember(function)
        sessions = self._sessions[function.id]
        if session.id not in sessions:
            sessions.add(session.id)
            session.add_function(function)
        return function

    def restore_uses(self, session_id: str, ids: Iterable[int]) -> None:
        """Note which functions a session of the last server used."""
        for number in ids:
            if number in self.by_id:
                self._sessions[number].add(session_id)

    def forget_session(self, session_id: str) -> None:
        for sessions in self._sessions.values():
            sessions.discard(session_id)

    # -- finding ----------------------------------------------------------------------------

    def get(self, name: str, alias: str | None, qualname: str | None) -> Function | None:
        """The function of these names."""
        return self._by_key.get((name, alias, qualname))

    def find_named(self, pattern: str) -> frozenset[int]:
        """The ids of the functions that a name or pattern means."""
        return frozenset(
            function.id
            for function in self.by_id.values()
            if any(
                call_matcher.matches(pattern, name) for name in call_matcher.list_names(function)
            )
        )

    def find_aliased(self, pattern: str) -> frozenset[int]:
        return frozenset(
            function.id
            for function in self.by_id.values()
            if call_matcher.matches(pattern, function.alias or "")
        )

    def sessions_of(self, function: Function) -> list[str]:
        return sorted(self._sessions.get(function.id, ()))

    def list_used(self, session_id: str | None) -> list[Function]:
        """What a session called or registered; without one, what any session did."""
        return [function for function in self.by_id.values() if self._is_used(function, session_id)]

    def _is_used(self, function: Function, session_id: str | None) -> bool:
        return session_id is None or session_id in self._sessions.get(function.id, ())

    async def list_counted(self, session_id: str | None) -> list[tuple[Function, int]]:
        """Every function with its number of calls."""
        return [
            (self.by_id.get(function.id, function), calls)
            for function, calls in await self._call_log.functions()
            if self._is_used(function, session_id)
        ]
