"""Holdfast as an agent drives it: a running server, and one HTTP connection."""

from __future__ import annotations

from bench.measurements import Program
from bench.server import Server, Session


class HoldfastDriver:
    has_warm_launch = True

    def __init__(self, name: str, server: Server) -> None:
        self.name = name
        self._server = server

    def launch(self, program: Program, *, warm: bool = True) -> Session:
        # An interpreter reads such variables when it starts, so the server cannot use a warm one.
        env = {} if warm else {"PYTHONBENCH": "cold"}
        return Session(self._server, program, env=env)

    def wait_until_idle(self) -> None:
        """Wait until the server has replaced the interpreter that a launch took.

        A real client thinks before its next request and does not meet this; a benchmark would.
        """
        self._server.wait_for_interpreters()
