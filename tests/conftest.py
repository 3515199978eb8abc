"""Makes the modules beside this file (`interpreters`, …) importable from every test."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

from harness import Server, Session
from interpreters import Interpreter, find_interpreters

pytest_plugins = ["editor_fixtures", "embed_adapters", "store_engines"]


def pytest_configure() -> None:
    """What a shell ignores for jobs in the background, the servers we start would ignore, too."""
    for number, handler in (
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGHUP, signal.SIG_DFL),
    ):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One real server for all tests of a worker; a test that ends it starts its own."""
    running = Server(tmp_path_factory.mktemp("holdfast") / "data", "--pool-size", "2")
    begin = running.get("/api/events")["cursor"]
    try:
        yield running
        if running.process.poll() is None:
            running.check_events(begin)
    finally:
        running.stop()


@pytest.fixture(autouse=True)
def _end_left_programs(request: pytest.FixtureRequest) -> Iterator[None]:
    """Delete the programs that a test leaves on the shared server: any other may follow it.

    Those of fixtures for a whole module are there already, and stay.
    """
    if "server" not in request.fixturenames:
        yield
        return
    server: Server = request.getfixturevalue("server")
    kept = server.list_ids("program")
    yield
    if server.process.poll() is None:
        for session_id in server.list_ids("program", but=kept):
            Session(server, session_id).check_events()
            server.http.delete(f"/sessions/{session_id}")  # a child has gone with its parent


@pytest.fixture
def session(server: Server) -> Iterator[Session]:
    with server.session() as made:
        yield made


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Quick ones first."""
    items.sort(key=lambda item: item.get_closest_marker("slow") is not None)


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes `python` runs on the interpreters of this machine.

    Usually without 3.10 and 3.12, whose neighbours work in the same way; on every one with
    `HOLDFAST_EVERY_PYTHON=1`, as in `make soak`.
    """
    if "python" in metafunc.fixturenames:
        all_of_them: list[Interpreter] = find_interpreters()
        if not os.environ.get("HOLDFAST_EVERY_PYTHON") and len(all_of_them) > 3:
            all_of_them = [each for each in all_of_them if each.version[1] not in (10, 12)]
        ids = [".".join(map(str, each.version[:2])) for each in all_of_them]
        metafunc.parametrize("python", [each.path for each in all_of_them], ids=ids)
