"""The tests of rules ask a server in their own process."""

from __future__ import annotations

import pytest

from local_server import LocalServer


@pytest.fixture(scope="module")
def server(local_server: LocalServer) -> LocalServer:
    return local_server
