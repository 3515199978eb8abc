"""Holdfast as an agent drives it: a running server, and one HTTP connection."""

from __future__ import annotations

from bench.measuring import Program
from bench.server import Server, Session


class Holdfast:
    prepares = True

    def __init__(self, name: str, server: Server) -> None:
        self.name = name
        self._server = server

    def launch(self, program: Program, *, prepared: bool = True) -> Session:
        # An interpreter reads such variables when it starts, so a waiting one will not do.
        env = {} if prepared else {"PYTHONBENCH": "cold"}
        return Session(self._server, program, env=env)

    def settle(self) -> None:
        """A new interpreter is made ready in the background. Clients, who think before their next
        request, never meet that; we would."""
        self._server.refilled()
