"""One agent that looks for one bug with one server: what it asks, what it sees, what that costs."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import anyio
from mcp import MCPError

from bench.agent import evidence
from bench.agent.buggy_programs import Case
from bench.agent.mcp_driver import Call, Conversation
from bench.agent.source_reading import Reading

MAX_CALLS = 200
_PATIENCE = 60.0
"""Seconds for one call. A server that takes longer hangs."""


@dataclass(frozen=True)
class Finding:
    """What it cost until the cause was in evidence, or until the agent gave up."""

    policy: str
    found: bool
    calls: int
    bytes: int
    """Of each answer the larger of text and structure: a client shows the model one of both."""

    @property
    def tokens(self) -> float:
        return self.bytes / 4


class Concluded(Exception):
    """The cause is in evidence, or going on cannot be worth it."""


class Investigation:
    """Asks the server, and looks at each observation for the evidence."""

    def __init__(
        self,
        agent: Conversation,
        case: Case,
        moves: frozenset[str],
        to_beat: Finding | None = None,
    ) -> None:
        self.case = case
        self.reading = Reading(case)
        self.is_found = False
        self._agent = agent
        self._moves = moves
        self._to_beat = to_beat
        self._observation: list[str] = []
        self._bytes = 0

    async def ask(self, tool: str, **arguments: Any) -> Any:
        """Call the tool and return its answer. Raises Concluded when that was the last call."""
        try:
            with anyio.fail_after(_PATIENCE):
                answer = await self._agent.call(tool, **arguments)
        except (RuntimeError, MCPError) as error:  # it is an answer that the agent reads, too
            answer = {"error": str(error)}
            self._agent.calls.append(Call(tool, 0.0, len(str(error).encode()), str(error)))
        if tool in self._moves:
            self._observation.clear()
        parts = [self._agent.calls[-1].text]
        if not isinstance(answer, str):
            parts.append(json.dumps(answer, ensure_ascii=False, separators=(",", ":")))
        self._observation += parts
        self._bytes += max(len(part.encode()) for part in parts)
        self.is_found = evidence.is_complete(self.case, "\n".join(self._observation))
        if self.is_found or self._is_hopeless():
            raise Concluded
        return answer

    async def ask_unseen(self, tool: str, **arguments: Any) -> Any:
        """A call that costs the agent nothing, where it would have waited anyway."""
        with anyio.fail_after(_PATIENCE):
            answer = await self._agent.call(tool, **arguments)
        self._agent.calls.pop()
        return answer

    def conclude(self, policy: str) -> Finding:
        return Finding(policy, self.is_found, len(self._agent.calls), self._bytes)

    def _is_hopeless(self) -> bool:
        so_far, best = self.conclude(""), self._to_beat
        if best is not None and so_far.calls >= best.calls and so_far.bytes >= best.bytes:
            return True
        return so_far.calls >= MAX_CALLS


Policy = Callable[[Investigation], Awaitable[None]]
"""Asks by a fixed rule, and returns when the rule has nothing more to ask."""


async def follow(policy: Policy, investigation: Investigation, name: str) -> Finding:
    """Ask until the cause is in evidence, the policy ends, or the server does not answer."""
    try:
        await policy(investigation)
    except (Concluded, RuntimeError, MCPError, TimeoutError):
        pass
    return investigation.conclude(name)
