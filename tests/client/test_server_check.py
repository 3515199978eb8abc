"""An application, the bridge and the commands use only the user's own server."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from foreign_server import ForeignServer, serve_as_nobody
from harness import Server
from holdfast import DebugServerError, configure_debug, debug_call, with_debug
from holdfast.bridge.server_registration import Registration
from holdfast.client import server_check
from holdfast.client.http_client import HttpClient
from holdfast.recording.directories import AgentsDirectory
from holdfast.trust.private_files import write_private_file
from scripted_server import ScriptedServer

as_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def turn_on_and_call() -> None:
    with_debug("ON")
    debug_call(len, [])


def no_uid(monkeypatch: pytest.MonkeyPatch) -> None:
    """As on a system that does not say whose a socket is."""
    monkeypatch.setattr(server_check, "is_served_by_us", lambda sock: False)


def has_ipv6() -> bool:
    with contextlib.suppress(OSError), socket.create_server(("::1", 0), family=socket.AF_INET6):
        return True
    return False


# -- another user ---------------------------------------------------------------------------------


@as_root
def test_a_pickle_of_another_users_server_is_never_loaded(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    tmp_path.chmod(0o777)
    with serve_as_nobody(trap) as foreign:
        configure_debug(server_url=foreign.url)
        with pytest.raises(DebugServerError, match="not trusted"):
            turn_on_and_call()
        assert foreign.count_received() == 0
    assert not trap.exists()


@pytest.mark.slow
@as_root
def test_a_server_that_another_user_replaced_while_debugging_was_on(tmp_path: Path) -> None:
    trap = tmp_path / "trap"
    tmp_path.chmod(0o777)
    server = Server(tmp_path / "data")
    configure_debug(server_url=server.url)
    with_debug("ON")
    try:
        assert debug_call(len, []) == 0
        server.process.kill()
        server.process.wait(60)
        with serve_as_nobody(trap, port=int(server.url.rpartition(":")[2])) as foreign:
            with pytest.raises(DebugServerError, match="not trusted"):
                debug_call(len, [])
            assert foreign.count_received() == 0
    finally:
        server.close()
    assert not trap.exists()


@as_root
def test_nothing_is_sent_to_another_users_server_by_anyone(tmp_path: Path) -> None:
    with serve_as_nobody(tmp_path / "trap") as foreign:
        client = HttpClient(foreign.url, token="sesame")
        with pytest.raises(DebugServerError, match="not trusted"):
            client.request("GET", "/health")
        with pytest.raises(DebugServerError, match="not trusted"):
            asyncio.run(client.ask_async("/health", wait=0))
        ran = run_command(foreign)
        assert ran.returncode == 1
        assert "not trusted" in ran.stderr
        home = AgentsDirectory(tmp_path / "agents").create_session()
        Registration(home)._register(foreign.url)
        assert foreign.count_received() == 0


def run_command(foreign: ForeignServer) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, "-m", "holdfast", "sessions", "--url", foreign.url]
    env = {**os.environ, "HOLDFAST_TOKEN": "sesame"}
    return subprocess.run(argv, capture_output=True, text=True, timeout=60, env=env)


@as_root
@pytest.mark.skipif(not has_ipv6(), reason="this machine has no IPv6")
def test_another_user_at_the_other_localhost_is_passed_over(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`localhost` may mean ::1 and 127.0.0.1, and somebody else may have one of them."""
    port = int(server.url.rpartition(":")[2])
    places = [(socket.AF_INET6, ("::1", port)), (socket.AF_INET, ("127.0.0.1", port))]
    monkeypatch.setattr(server_check, "resolve", lambda host, port: places)
    with serve_as_nobody(tmp_path / "trap", host="::1", port=port) as foreign:
        assert HttpClient(f"http://localhost:{port}").request("GET", "/health")["status"] == "ok"
        assert foreign.count_received() == 0


def test_a_localhost_on_another_machine_is_refused(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_check, "is_on_this_machine", lambda sock: False)
    with pytest.raises(DebugServerError, match="another machine"):
        HttpClient(server.url).request("GET", "/health")


# -- the secret -----------------------------------------------------------------------------------


def test_a_server_that_proves_the_secret_is_used(
    server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_uid(monkeypatch)
    monkeypatch.setenv("HOLDFAST_HOME", str(server.data_dir))
    assert HttpClient(server.url).request("GET", "/health")["status"] == "ok"


def test_without_uid_and_secret_nothing_is_sent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_uid(monkeypatch)
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    listener = ScriptedServer(lambda *request: {"status": "ok"})
    with contextlib.closing(listener), pytest.raises(DebugServerError, match="not trusted"):
        HttpClient(listener.url).request("GET", "/health")
    assert listener.received == 0


def answer_nothing(server: Server, path: str) -> Any:
    return {"proof": ""}


def answer_in_another_shape(server: Server, path: str) -> Any:
    return b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]"


def send_back(server: Server, path: str) -> Any:
    return {"proof": path.rpartition("=")[2]}


def hang_up(server: Server, path: str) -> Any:
    return None


def pass_on(server: Server, path: str) -> Any:
    """As one who sits in between: with what the real server answers to the same question."""
    answer = server.http.get(path)
    assert answer.status_code == 403
    return answer.json()


@pytest.mark.parametrize(
    "answer", [answer_nothing, answer_in_another_shape, send_back, hang_up, pass_on]
)
def test_a_server_without_the_secret_gets_no_request(
    server: Server, monkeypatch: pytest.MonkeyPatch, answer: Any
) -> None:
    no_uid(monkeypatch)
    monkeypatch.setenv("HOLDFAST_HOME", str(server.data_dir))
    listener = ScriptedServer(lambda fake, method, path, body: answer(server, path))
    with contextlib.closing(listener), pytest.raises(DebugServerError, match="not trusted"):
        HttpClient(listener.url, token="sesame").request("GET", "/health")
    [path] = listener.paths()
    assert path.startswith("/proof?nonce=")


def test_a_server_proves_nothing_to_one_without_the_secret(server: Server) -> None:
    for query in ("nonce=1&proof=2", "nonce=1&proof=é", "nonce=&proof="):
        answer = server.http.get(f"/proof?{query}")
        assert (answer.status_code, answer.json()["error_code"]) == (403, "forbidden")
    assert server.http.get("/proof").status_code == 400


def test_the_token_of_the_announced_server_is_for_that_server_alone(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    monkeypatch.delenv("HOLDFAST_TOKEN", raising=False)
    port = int(server.url.rpartition(":")[2])
    for announced, url, is_sent in [
        (f"http://127.0.0.1:{port}", f"http://localhost:{port}", True),
        (f"http://127.0.0.1:{port}", f"http://localhost:{port + 1}", False),
        (f"http://127.0.0.1:{port}", f"http://192.0.2.7:{port}", False),
        ("http://192.0.2.7:5000", "http://192.0.2.7:5000", True),
        ("nonsense://", f"http://localhost:{port}", False),
    ]:
        facts = {"url": announced, "pid": os.getpid(), "token": "sesame"}
        write_private_file(tmp_path / "server.json", json.dumps(facts))
        assert (b"Bearer sesame" in HttpClient(url)._place.tail) == is_sent


def test_an_announcement_is_believed_only_if_others_cannot_have_written_it(
    server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_uid(monkeypatch)
    announced = (server.data_dir / "server.json").read_text()
    assert len(json.loads(announced)["secret"]) == 64
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
    copy = tmp_path / "server.json"
    copy.write_text(announced)
    copy.chmod(0o644)
    with pytest.raises(DebugServerError, match="not trusted"):
        HttpClient(server.url).request("GET", "/health")
    copy.chmod(0o600)
    assert HttpClient(server.url).request("GET", "/health")["status"] == "ok"
    copy.unlink()
    copy.symlink_to(server.data_dir / "server.json")
    with pytest.raises(DebugServerError, match="not trusted"):
        HttpClient(server.url).request("GET", "/health")
