"""Makes the modules beside this file (`interpreters`, …) importable from every test."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import hypothesis
import pytest
from hypothesis.internal.conjecture import providers

from own_environment import IS_SOAK, enter_own_environment, remove_own_environment

enter_own_environment()  # before anything of ours is imported, which may look around

from fork_server import start_fork_server  # noqa: E402
from generous_timings import set_timings, use_generous_timings  # noqa: E402
from harness import Server, Session  # noqa: E402
from holdfast import timings  # noqa: E402
from interpreters import choose_interpreters  # noqa: E402

if TYPE_CHECKING:
    from local_server import LocalServer

pytest_plugins = [
    *("worker_memory", "separate_modules", "left_processes"),
    *("editor_fixtures", "embed_adapters", "store_engines"),
]


def pytest_configure(config: pytest.Config) -> None:
    """Prepare the environment of the processes that tests start.

    What a shell ignores for jobs in the background, the servers we start would ignore, too.
    """
    use_generous_timings()
    _set_up_hypothesis()
    for number, handler in (
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGHUP, signal.SIG_DFL),
    ):
        if signal.getsignal(number) is signal.SIG_IGN:
            signal.signal(number, handler)
    if hasattr(config, "workerinput") or not config.getoption("numprocesses", None):
        # Two plugins that others brought along take most of the start of a pytest.
        os.environ["PYTEST_ADDOPTS"] = "-p no:langsmith_plugin -p no:hypothesispytest"


def _set_up_hypothesis() -> None:
    """No example has a time limit.

    They are the same in every run, whichever tests a worker has run before. `make soak` looks for
    new ones.
    """
    hypothesis.settings.register_profile("ours", deadline=None, derandomize=not IS_SOAK)
    hypothesis.settings.load_profile("ours")
    if IS_SOAK:
        return
    # It would take constants out of all modules loaded so far, in seconds and 200 megabytes.
    providers._get_local_constants = lambda: providers._local_constants


def pytest_unconfigure() -> None:
    remove_own_environment()


def pytest_sessionstart(session: pytest.Session) -> None:
    if hasattr(session.config, "workerinput"):
        start_fork_server()  # one for the worker and its `separate_modules`
    elif session.config.getoption("numprocesses", None):
        # Hypothesis takes 200 megabytes to make its tables, once. No worker is to have them.
        script = "from hypothesis import strategies; strategies.text().validate()"
        subprocess.run([sys.executable, "-c", script], cwd=session.config.rootpath, check=True)


@pytest.fixture(scope="session")
def real_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One real server for all tests of a worker; a test that ends it starts its own."""
    running = Server(tmp_path_factory.mktemp("holdfast") / "data", "--pool-size", "2")
    begin = running.get("/api/events")["cursor"]
    try:
        yield running
        if running.process.poll() is None:
            running.check_events(begin)
    finally:
        running.stop()


@pytest.fixture(scope="module")
def local_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalServer]:
    """A server in the test's own loop, whose programs are scripted targets; one for each file."""
    from local_server import LocalServer  # much to import, for the workers that need it

    local = LocalServer(tmp_path_factory.mktemp("holdfast") / "data")
    try:
        yield local
    finally:
        local.stop()


@pytest.fixture(scope="module")
def server(real_server: Server) -> Server:
    """The server that a test asks. Those of rules ask a local one: `tests/service/conftest.py`."""
    return real_server


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
    if server.is_running:
        for session_id in server.list_ids("program", but=kept):
            Session(server, session_id).check_events()
            server.http.delete(f"/sessions/{session_id}")  # a child has gone with its parent


@pytest.fixture
def session(server: Server) -> Iterator[Session]:
    with server.session() as made:
        yield made


@pytest.fixture
def limits() -> Iterator[Callable[..., None]]:
    """Sets time limits in this process, for one test: `limits(value_call=0.05)`."""
    before = timings.TIMINGS
    yield lambda **own: timings.use(timings.TIMINGS.replace(own))
    timings.use(before)


@pytest.fixture
def server_with(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Starts a server whose time limits are a test's own: `server_with(value_call=0.05)`."""
    started: list[Server] = []

    def start(**limits: float) -> Server:
        place = tmp_path / f"server{len(started)}" / "data"
        started.append(Server(place, env=set_timings(**limits)))
        return started[-1]

    yield start
    for each in started:
        each.stop()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Quick ones first, and of the others first those right in `tests`, which take longest.

    So no worker ends long before the other.
    """
    items.sort(
        key=lambda item: (
            item.get_closest_marker("slow") is not None,
            item.path.parent != Path(__file__).parent,
        )
    )


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """The command that runs what failed again."""
    failed = [
        report.nodeid
        for outcome in ("failed", "error")
        for report in terminalreporter.stats.get(outcome, [])
        if isinstance(report, pytest.TestReport)
    ]
    if failed:
        chosen = list(dict.fromkeys(failed)) if len(failed) <= 10 else ["--last-failed"]
        again = shlex.join([os.path.relpath(sys.executable), "-m", "pytest", "-q", *chosen])
        terminalreporter.write_line(f"run it again: {again}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes `python` runs on each of the interpreters that tests are to use."""
    if "python" in metafunc.fixturenames:
        chosen = choose_interpreters()
        ids = [".".join(map(str, each.version[:2])) for each in chosen]
        metafunc.parametrize("python", [each.path for each in chosen], ids=ids)
