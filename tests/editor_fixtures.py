"""Fixtures for tests with editors: the port of the lobby, and editors, which are closed later."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from editor import Editor, connect
from harness import Server


@pytest.fixture
def lobby(server: Server) -> int:
    """The port at which editors get to all sessions."""
    port: int = server.get("/info")["dap_port"]
    return port


@pytest.fixture
def open_editor(lobby: int) -> Iterator[Callable[..., Editor]]:
    """Opens an editor: in the lobby, or at the port that is given."""
    editors: list[Editor] = []

    def open_one(port: int = lobby) -> Editor:
        editors.append(connect(port))
        return editors[-1]

    yield open_one
    for editor in editors:
        editor.close()


@pytest.fixture
def editor(open_editor: Callable[..., Editor]) -> Editor:
    return open_editor()
