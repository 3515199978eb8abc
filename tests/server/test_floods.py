"""Many connections at once: those of another user, and idle ones of one's own."""

from __future__ import annotations

import asyncio
import contextlib
import os
import resource
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from harness import Program, Server
from holdfast import errors
from holdfast.targets.program import descriptors, launcher
from own_environment import IS_SOAK
from polling import wait_until
from session_states import check_error

LOOP = Program("loop.py")
FLOOD_CONNECTIONS, IDLE_CONNECTIONS = (2000, 1000) if IS_SOAK else (600, 500)

# Another user, who opens so many connections in one of three ways. Those that he keeps are the
# newest two hundred, because he has only so many descriptors himself.
FLOOD = """
import collections, encodings.idna, os, socket, sys
port, count, way = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
os.setgid(65534)
os.setuid(65534)
kept, made = collections.deque(maxlen=200), 0
for number in range(count):
    try:
        caller = socket.create_connection(("127.0.0.1", port), timeout=60)
    except OSError:
        continue
    made += 1
    if way == "asks":
        caller.send(b"GET /health HTTP/1.1\\r\\nHost: localhost\\r\\n\\r\\n")
    if way != "leaves":
        kept.append(caller)
    if number % 50 == 0:
        print(made, flush=True)
print(made, flush=True)
"""


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("floods") / "data")
    try:
        yield server
    finally:
        server.stop()


LIMITED = """
import resource
from holdfast.cli import main
hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))
main()
"""


@contextlib.contextmanager
def start_limited(
    folder: Path, soft: int, hard: int | None = None, pool_size: str = "0"
) -> Iterator[Server]:
    """A server that may have so many descriptors: as `ulimit -S` and `ulimit -H` say it."""
    script = folder / "limited.py"
    script.write_text(LIMITED.format(soft=soft, hard=hard or "hard"))
    server = Server(folder / "data", "--pool-size", pool_size, script=script)
    try:
        yield server
    finally:
        server.stop()


def connect(server: Server) -> socket.socket:
    return socket.create_connection(("127.0.0.1", get_port(server)), timeout=60)


def ask(caller: socket.socket) -> None:
    """It is accepted and answered."""
    caller.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
    head, _, body = caller.recv(65536).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 ")
    length = int(head.lower().partition(b"content-length: ")[2].split()[0])
    while len(body) < length:
        body += caller.recv(65536)


def get_port(server: Server) -> int:
    return int(urlsplit(server.url).port or 0)


def count_descriptors(server: Server) -> int:
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


def limit_descriptors(server: Server, soft: int) -> None:
    _, hard = resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE)
    resource.prlimit(server.process.pid, resource.RLIMIT_NOFILE, (min(soft, hard), hard))


@pytest.mark.slow
@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
@pytest.mark.parametrize("way", ["asks", "waits", "leaves"])
def test_a_flood_of_another_user_leaves_the_owner_served(own: Server, way: str) -> None:
    before = count_descriptors(own)
    argv = [sys.executable, "-c", FLOOD, str(get_port(own)), str(FLOOD_CONNECTIONS), way]
    served, most = 0, 0
    with subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) as flood:
        assert flood.stdout is not None
        for line in flood.stdout:
            made = int(line)
            for _ in range(5):
                own.http.get("/health").raise_for_status()
                with contextlib.closing(connect(own)) as caller:
                    ask(caller)
                served += 2
            most = max(most, count_descriptors(own))
    assert flood.returncode == 0
    assert made > 0.95 * FLOOD_CONNECTIONS
    assert served >= 100
    assert most - before < 100


@pytest.mark.slow
def test_many_idle_connections_leave_their_owner_served(tmp_path: Path) -> None:
    """The server may have fewer descriptors than that. The oldest idle ones give way."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4000)), hard))
    try:
        with (
            start_limited(tmp_path, soft=300, hard=300) as limited,
            contextlib.ExitStack() as stack,
        ):
            callers = []
            for number in range(IDLE_CONNECTIONS):
                callers.append(stack.enter_context(connect(limited)))
                if number % 50 == 49:  # more than 75 must not wait to be accepted
                    ask(callers[-1])
            for _ in range(2):
                with limited.session() as session:
                    assert session.launch(LOOP)["exit_code"] == 0
            assert count_descriptors(limited) < 225
            ask(callers[-1])
            with contextlib.suppress(ConnectionResetError):
                assert callers[0].recv(100) == b""
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_launch_without_descriptors_says_so_and_leaks_none(own: Server) -> None:
    with own.session() as session:
        session.launch(LOOP)  # whatever is opened once is open now
        before = count_descriptors(own)
        limit_descriptors(own, before + 6)
        for _ in range(3):
            answer = own.http.post(session.path("/launch"), json={"script": LOOP.path})
            error = check_error(answer, 503)
            assert error["short"] == "descriptors_exhausted"
            assert "ulimit -n" in error["hint"]
        # The server opens some for moments, and closes them.
        wait_until(lambda: count_descriptors(own) == before, "all to be closed")
        [warning] = own.get("/health")["warnings"]
        assert warning["code"] == "DESCRIPTORS_EXHAUSTED"
        assert "ulimit -n" in own.wait_for_log("descriptors in use")

        limit_descriptors(own, 65536)
        assert session.launch(LOOP)["exit_code"] == 0


@pytest.mark.slow
@pytest.mark.parametrize("pool_size", ["0", "1"], ids=["cold", "warm"])
def test_the_server_takes_what_it_may_and_programs_get_what_it_was_given(
    tmp_path: Path, pool_size: str
) -> None:
    """A program that closes all descriptors up to its limit would take long with ours."""
    show = "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE))"
    in_child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {show!r}])"
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with start_limited(tmp_path, soft=300, pool_size=pool_size) as limited:
        soft, _ = resource.prlimit(limited.process.pid, resource.RLIMIT_NOFILE)
        assert soft == min(hard, 65536) > 300
        if pool_size != "0":
            wait_until(lambda: any(limited.get("/info")["warm_interpreters"].values()))
        for code in (show, in_child):
            with limited.session() as session:
                session.post("/launch", {"code": code, "wait": 60})
                assert session.output().strip() == str((300, hard))


def test_a_failure_at_any_descriptor_leaks_none(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if others took the last descriptors after they were counted."""
    monkeypatch.setattr(descriptors, "check_room", lambda: None)

    async def fail_with(room: int) -> int:
        """The number of descriptors that a failed start left open."""
        before = set(os.listdir("/dev/fd"))
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        highest = max(map(int, before))
        fillers = [os.open(os.devnull, os.O_RDONLY) for _ in range(highest - len(before) + 2)]
        used = max(fillers, default=highest) + 1
        resource.setrlimit(resource.RLIMIT_NOFILE, (used + room, hard))
        try:
            with pytest.raises(errors.NoDescriptors):
                await launcher.arm(
                    sys.executable, cwd="/", env=dict(os.environ), tag=None, request_timeout=60
                )
        finally:
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            for filler in fillers:
                os.close(filler)
        return len(set(os.listdir("/dev/fd")) - before)

    async def main() -> None:
        await asyncio.to_thread(bool)  # what the loop opens once is open now
        for room in range(8):
            assert await fail_with(room) == 0, room

    asyncio.run(main())
