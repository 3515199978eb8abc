"""Whose a client's connection is."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager

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


WAYS = [peers.find_owner, peers.find_owner_by_process]


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
