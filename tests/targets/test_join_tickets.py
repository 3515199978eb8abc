"""A process joins only the server that made its ticket, and a server takes only such a process."""

from __future__ import annotations

import hmac
import json
import os
import socket
import stat
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from background import run_in_thread
from holdfast.probe import join_ticket
from holdfast.targets.program import join_tickets, launcher
from holdfast.targets.program.join_tickets import Handshake, JoinTicket

OTHER_SECRET = "0" * 64


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        listener.settimeout(60)
        yield listener


@pytest.fixture
def ticket(tmp_path: Path, listener: socket.socket) -> JoinTicket:
    return JoinTicket.create(tmp_path / "tickets", listener.getsockname())


def serve(listener: socket.socket, secret: str) -> tuple[Handshake, bytes]:
    """The handshake with the first who comes, and all that it sent."""
    handshake, received = Handshake(secret), b""
    with listener.accept()[0] as connection:
        while not handshake.is_proven:
            data = connection.recv(4096)
            if not data:
                break
            received += data
            connection.sendall(handshake.feed(data))
    return handshake, received


def test_both_sides_prove_the_secret_and_send_it_never(
    listener: socket.socket, ticket: JoinTicket
) -> None:
    serving = run_in_thread(lambda: serve(listener, ticket.secret))
    join_ticket.connect(join_ticket.read_ticket(str(ticket.path))).close()
    handshake, received = serving.result(60)
    assert handshake.is_proven
    assert ticket.secret.encode() not in received


def test_a_process_says_nothing_more_to_a_listener_without_the_secret(
    listener: socket.socket, ticket: JoinTicket
) -> None:
    serving = run_in_thread(lambda: serve(listener, OTHER_SECRET))
    with pytest.raises(join_ticket.NotOurServer):
        join_ticket.connect(join_ticket.read_ticket(str(ticket.path)))
    handshake, received = serving.result(60)
    assert not handshake.is_proven
    assert len(received) == len("HOLDFAST \n") + join_ticket.NONCE_DIGITS


def test_a_server_takes_no_process_without_the_secret() -> None:
    handshake = Handshake(OTHER_SECRET)
    answer = handshake.feed(b"HOLDFAST " + b"1" * 32 + b"\n").decode()
    wrong = join_ticket.prove("1" * 64, "process", "1" * 32, answer.split()[1])
    for proof in (answer.split()[0], wrong):  # its own proof sent back, too
        with pytest.raises(ValueError, match="does not know the secret"):
            Handshake.feed(_copy(handshake), f"{proof}\n".encode())
    right = join_ticket.prove(OTHER_SECRET, "process", "1" * 32, answer.split()[1])
    assert handshake.feed(f"{right}\nContent-Length".encode()) == b""
    assert (handshake.is_proven, handshake.rest) == (True, b"Content-Length")


def _copy(handshake: Handshake) -> Handshake:
    copy = Handshake("")
    copy.__dict__.update(handshake.__dict__)
    return copy


@pytest.mark.parametrize("said", [b"GET / HTTP/1.1\r\n", b"Content-Length: 20\r\n\r\n", b"\0" * 99])
def test_a_server_hangs_up_on_what_is_no_process_of_ours(said: bytes) -> None:
    with pytest.raises(ValueError, match="no process of ours"):
        Handshake(OTHER_SECRET).feed(said)


def test_a_proof_is_an_hmac_on_both_sides() -> None:
    text = b"holdfast server abc def"
    expected = hmac.new(OTHER_SECRET.encode(), text, "sha256").hexdigest()
    assert join_ticket.prove(OTHER_SECRET, "server", "abc", "def") == expected
    assert join_tickets.prove(OTHER_SECRET, "server", "abc", "def") == expected


def test_a_ticket_is_private_and_ends_with_its_listener(ticket: JoinTicket) -> None:
    assert stat.S_IMODE(ticket.path.stat().st_mode) == 0o600
    assert stat.S_IMODE(ticket.path.parent.stat().st_mode) == 0o700
    ticket.remove()
    assert join_ticket.read_if_given(str(ticket.path)) is None
    assert join_ticket.read_if_given("") is None


def test_a_ticket_that_others_can_have_written_or_read_is_none(
    ticket: JoinTicket, tmp_path: Path
) -> None:
    link = tmp_path / "link"
    link.symlink_to(ticket.path)
    assert join_ticket.read_if_given(str(link)) is None
    ticket.path.chmod(0o640)
    assert join_ticket.read_if_given(str(ticket.path)) is None
    ticket.path.chmod(0o600)
    assert join_ticket.read_if_given(str(ticket.path)) is not None
    if os.geteuid() == 0:
        os.chown(ticket.path, 65534, 65534)
        assert join_ticket.read_if_given(str(ticket.path)) is None


def test_a_ticket_that_cannot_be_kept_with_the_data_is_kept_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    ticket = JoinTicket.create(tmp_path / "file" / "tickets", ("127.0.0.1", 1))
    folder = ticket.path.parent
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert join_ticket.read_ticket(str(ticket.path)).secret == ticket.secret
    ticket.remove()
    assert not folder.exists()


# -- whole processes ------------------------------------------------------------------------------

REPORT = "import sys; print('plain', 'pydevd' in sys.modules)"


def run_child(ticket: str) -> tuple[int, str, str]:
    boot = [str(launcher.PROBE / "boot.py"), "--join", ticket, launcher.DEBUGPY]
    argv = [sys.executable, *boot, "-c", REPORT]
    ran = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    return ran.returncode, ran.stdout, ran.stderr


def test_a_child_whose_server_is_gone_runs_as_without_a_debugger(ticket: JoinTicket) -> None:
    ticket.remove()
    assert run_child(str(ticket.path)) == (0, "plain False\n", "")


def test_a_child_is_not_debugged_by_one_who_took_the_port(
    listener: socket.socket, ticket: JoinTicket
) -> None:
    serving = run_in_thread(lambda: serve(listener, OTHER_SECRET))
    assert run_child(str(ticket.path)) == (0, "plain False\n", "")
    assert not serving.result(60)[0].is_proven


INJECTED = """
import sys
sys.path.insert(0, {folder!r})
from package_loader import load_module
load_module({folder!r}, "injection").enter_process({ticket!r}, {debugpy!r}, "", True)
print("unharmed", "pydevd" in sys.modules)
"""


def run_injected(ticket: JoinTicket) -> tuple[str, str]:
    """What a process prints into which our code is injected."""
    values = {"folder": str(launcher.PROBE), "ticket": str(ticket.path)}
    code = INJECTED.format(debugpy=launcher.DEBUGPY, **values)
    argv = [sys.executable, "-c", code]
    ran = subprocess.run(argv, capture_output=True, text=True, timeout=60)
    return ran.stdout, ran.stderr


def test_a_late_injection_does_nothing_and_says_nothing(
    listener: socket.socket, ticket: JoinTicket
) -> None:
    serving = run_in_thread(lambda: serve(listener, OTHER_SECRET))  # somebody who took the port
    assert run_injected(ticket) == ("unharmed False\n", "")
    assert not serving.result(60)[0].is_proven
    ticket.remove()
    assert run_injected(ticket) == ("unharmed False\n", "")


def test_tickets_of_a_server_that_was_killed_are_removed(ticket: JoinTicket) -> None:
    assert json.loads(ticket.path.read_text())["secret"] == ticket.secret
    join_tickets.remove_left_tickets(ticket.path.parent)
    assert not ticket.path.exists()
