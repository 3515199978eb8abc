"""An application with debugging on, and servers that misbehave."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from application import Application
from harness import Server
from holdfast import configure_debug, with_debug
from holdfast.client.client_settings import Settings
from holdfast.client.switch import switch
from scripted_server import Answer, ScriptedServer, accept_all


@pytest.fixture
def app(server: Server) -> Iterator[Application]:
    """This process, with debugging on."""
    application = Application(server).start()
    try:
        yield application
    finally:
        application.stop()


@pytest.fixture(autouse=True)
def _turn_debugging_off() -> Iterator[None]:
    yield
    with_debug("OFF")
    switch.settings = Settings()


@pytest.fixture
def scripted() -> Iterator[Callable[..., ScriptedServer]]:
    """Makes a server that answers as told, and turns debugging on there."""
    made: list[ScriptedServer] = []

    def make(answer: Answer | None = None, *, on: bool = True, **options: object) -> ScriptedServer:
        server = ScriptedServer(answer or accept_all())
        made.append(server)
        configure_debug(server_url=server.url, **options)
        if on:
            with_debug("ON")
        return server

    yield make
    with_debug("OFF")
    for server in made:
        server.close()
