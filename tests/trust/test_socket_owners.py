"""Who is at the other end of a loopback connection, asked of this machine and of saved tables."""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from ipaddress import ip_address
from types import ModuleType

import pytest

from holdfast.trust import kernel_sockets, socket_owners, socket_tables
from holdfast.trust.socket_owners import Address, find_client_owner, find_server_owner

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux says whose they are")
NOBODY = 65534


@pytest.fixture(params=["netlink", "tables"])
def source(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The way in which the kernel is asked."""
    if request.param == "netlink":
        return kernel_sockets
    monkeypatch.setattr(kernel_sockets, "find_socket", lambda local, remote: None)
    monkeypatch.setattr(kernel_sockets, "is_reliable", lambda: False)
    return socket_tables


@contextlib.contextmanager
def listen(host: str = "127.0.0.1") -> Iterator[tuple[socket.socket, socket.socket]]:
    """A listener, and a client whose connection waits there."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with (
        socket.create_server((host, 0), family=family) as listener,
        socket.create_connection(listener.getsockname()[:2]) as caller,
    ):
        yield listener, caller


def has_ipv6() -> bool:
    try:
        with socket.create_server(("::1", 0), family=socket.AF_INET6):
            return True
    except OSError:
        return False


def ends(caller: socket.socket) -> tuple[Address, Address]:
    return caller.getpeername()[:2], caller.getsockname()[:2]


def test_the_owner_of_a_client_is_known(source: ModuleType) -> None:
    with listen() as (listener, caller), listener.accept()[0] as ours:
        assert find_client_owner(*ends(ours)) == os.geteuid()
        caller.close()
        assert find_client_owner(*ends(ours)) is None


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0", "::1"])
def test_the_owner_of_a_server_is_known_before_and_after_it_accepts(
    source: ModuleType, host: str
) -> None:
    if ":" in host and not has_ipv6():
        pytest.skip("this machine has no IPv6")
    with listen(host) as (listener, caller):
        assert source.find_socket(*map(parse, ends(caller))).inode == 0
        assert find_server_owner(*ends(caller)) == os.geteuid()
        with listener.accept()[0]:
            assert find_server_owner(*ends(caller)) == os.geteuid()


def parse(address: Address) -> tuple[kernel_sockets.IP, int]:
    return socket_owners.parse_address(address)


def test_a_server_that_answered_and_closed_has_no_owner(source: ModuleType) -> None:
    """The kernel says uid 0 of it, and a listener of the user may be at its port by now."""
    with listen() as (listener, caller):
        served, _ = listener.accept()
        served.sendall(b"HTTP/1.1 200 OK")
        served.close()
        assert find_server_owner(*ends(caller)) is None


SERVE_AS_NOBODY = """
import os, socket, sys
os.setgid(65534); os.setuid(65534)
listener = socket.create_server(("127.0.0.1", 0))
print(listener.getsockname()[1], flush=True)
sys.stdin.readline()
served, _ = listener.accept()
print("accepted", flush=True)
sys.stdin.readline()
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")
def test_another_users_server_is_known_as_theirs(source: ModuleType) -> None:
    argv = [sys.executable, "-c", SERVE_AS_NOBODY]
    with subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        port = int(other.stdout.readline())
        with socket.create_connection(("127.0.0.1", port)) as caller:
            assert find_server_owner(*ends(caller)) == NOBODY
            print("accept", file=other.stdin, flush=True)
            assert other.stdout.readline() == "accepted\n"
            assert find_server_owner(*ends(caller)) == NOBODY
        print("end", file=other.stdin, flush=True)


TCP = b"""\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   1: 0100007F:1388 0100007F:E9EE 01 00000000:00000000 00:00000000 00000000     7        0 12730 1
   5: 0100007F:E9EE 0100007F:1388 01 00000000:00000000 00:00000000 00000000 65534        0 12220 2
   6: 0100007F:E9EF 0100007F:1388 06 00000000:00000000 03:00001770 00000000     0        0 0 3
"""
TCP6 = b"""\
  sl  local_address                         remote_address                        st tx_queue
   0: 0000000000000000FFFF00000100007F:B0A4 0000000000000000FFFF00000100007F:1388 01 \
00000000:00000000 00:00000000 00000000  1001        0 12737 2 0000000024c9fea1 20 0 0 10 -1
   1: 00000000000000000000000001000000:8ADC 00000000000000000000000001000000:1388 01 \
00000000:00000000 00:00000000 00000000  1002        0 12283 2 00000000775992d9 20 0 0 10 -1
"""


@pytest.mark.skipif(sys.byteorder != "little", reason="the tables are in the machine's own order")
@pytest.mark.parametrize(
    ("table", "peer", "local", "uid"),
    [
        (TCP, ("127.0.0.1", 0xE9EE), ("127.0.0.1", 5000), 65534),
        (TCP, ("::ffff:127.0.0.1", 0xE9EE), ("::ffff:127.0.0.1", 5000), 65534),
        (TCP, ("127.0.0.1", 0xE9EE), ("127.0.0.1", 5001), None),
        (TCP, ("127.0.0.1", 0xE9EF), ("127.0.0.1", 5000), None),
        (TCP6, ("127.0.0.1", 0xB0A4), ("127.0.0.1", 5000), 1001),
        (TCP6, ("::1", 0x8ADC), ("::1", 5000), 1002),
        (TCP6, ("::1", 0x8ADD), ("::1", 5000), None),
    ],
)
def test_the_callers_row_is_found_and_not_ours(
    table: bytes, peer: Address, local: Address, uid: int | None
) -> None:
    row = socket_tables.find_in_table(table, parse(peer), parse(local))
    assert (row.uid if row is not None and row.inode else None) == uid


LISTENERS = b"""\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1388 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 12220 2
   1: 00000000:1389 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1001        0 12221 2
   2: 0100007F:138A 0100007F:E9EE 01 00000000:00000000 00:00000000 00000000  1002        0 12222 2
"""


@pytest.mark.skipif(sys.byteorder != "little", reason="the tables are in the machine's own order")
@pytest.mark.parametrize(
    ("place", "uids"),
    [
        (("127.0.0.1", 5000), [1000]),
        (("127.0.0.2", 5000), []),
        (("127.0.0.2", 5001), [1001]),
        (("127.0.0.1", 5002), []),
    ],
)
def test_a_listener_is_found_at_its_address_or_at_all(place: Address, uids: list[int]) -> None:
    ip, port = ip_address(place[0]), place[1]
    assert [row.uid for row in socket_tables.list_listeners(LISTENERS, (ip, port))] == uids
