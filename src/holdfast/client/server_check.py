"""Connects to a server, and makes sure that it is the user's own.

Whoever listens at the port could send a pickle, which runs code when it is loaded. So nothing is
sent or read before one of these holds, for a server on this machine:

- the kernel says that the same user serves the connection,
- or the server proves that it knows the secret in `server.json`, which only the user can read.

A server on another machine is chosen by the user, who has to see to the way there.
"""

from __future__ import annotations

import os
import socket

from holdfast.client.exceptions import DebugServerError
from holdfast.trust import socket_owners


class ForeignServer(DebugServerError):
    """Somebody listens there, but nothing shows that it is the user's server."""


def resolve(host: str, port: int) -> list[tuple[socket.AddressFamily, tuple[str, int]]]:
    """The addresses of a host. `localhost` may be two, with a server of its own at each."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [(family, place) for family, _, _, _, place in found]  # type: ignore[misc]


def connect(family: socket.AddressFamily, place: tuple[str, int], timeout: float) -> socket.socket:
    sock = socket.socket(family, socket.SOCK_STREAM)
    try:
        sock.settimeout(timeout)
        sock.connect(place)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    except BaseException:
        sock.close()
        raise
    return sock


def is_on_this_machine(sock: socket.socket) -> bool:
    peer = sock.getpeername()[0]
    return peer == sock.getsockname()[0] or socket_owners.is_loopback(peer)


def is_served_by_us(sock: socket.socket) -> bool:
    """Whether the kernel says that the same user serves this connection."""
    owner = socket_owners.find_server_owner(sock.getpeername()[:2], sock.getsockname()[:2])
    return owner == os.geteuid()


def is_served_by_another(sock: socket.socket) -> bool:
    """Whether the kernel says that another user serves this connection."""
    owner = socket_owners.find_server_owner(sock.getpeername()[:2], sock.getsockname()[:2])
    return owner not in (None, os.geteuid())


def build_refusal(url: str, why: str) -> ForeignServer:
    return ForeignServer(
        f"the server at {url} is not trusted, and nothing was sent to it: {why}. "
        "Start your own with `holdfast serve`, or set HOLDFAST_HOME to your server's data directory"
    )
