"""The door for agents, as the service knows it: one face opens it, others name it."""

from __future__ import annotations

from typing import Protocol


class AgentDoorView(Protocol):
    @property
    def port(self) -> int:
        """The port on loopback at which `holdfast mcp` brings in agents."""

    @property
    def has_agents(self) -> bool:
        """Whether an agent is connected."""
