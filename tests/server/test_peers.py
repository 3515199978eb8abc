"""Whose a loopback connection is, asked of this machine and of tables from others."""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from holdfast.server import peers


@contextmanager
def connect(host: str = "127.0.0.1") -> Iterator[tuple[socket.socket, socket.socket]]:
    """Both ends of a loopback connection: the caller's, then ours."""
    with socket.create_server((host, 0)) as listener:
        caller = socket.create_connection(listener.getsockname())
        ours, _ = listener.accept()
        with caller, ours:
            yield caller, ours


WAYS = [peers.find_owner, peers.find_owner_by_table, peers.find_owner_by_process]
if not Path("/proc/net/tcp").exists():
    WAYS.remove(peers.find_owner_by_table)


@pytest.mark.parametrize("owner", WAYS)
def test_it_is_known_whose_a_connection_is(owner: Callable[..., int | None]) -> None:
    with connect() as (_, ours):
        assert owner(ours.getpeername(), ours.getsockname()) == os.geteuid()


@pytest.mark.parametrize("owner", WAYS)
def test_a_closed_client_socket_has_no_owner(owner: Callable[..., int | None]) -> None:
    # The kernel lists such a socket with uid 0, whoever owned it; it must not pass for root's.
    with connect() as (caller, ours):
        peer = ours.getpeername()
        caller.close()
        assert owner(peer, ours.getsockname()) is None


def test_a_port_without_a_connection_is_nobodys_even_while_someone_listens() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        assert peers.find_owner(listener.getsockname(), ("127.0.0.1", 1)) is None


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
    table: bytes, peer: peers.Address, local: peers.Address, uid: int | None
) -> None:
    assert peers.find_owner_in_table(table, peer, local) == uid
