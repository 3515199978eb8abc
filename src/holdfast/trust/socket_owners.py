"""Finds the user at the other end of a loopback TCP connection.

TCP does not say which user that is, but the kernel knows the uid that made each socket. On Linux we
ask for the socket whose local address is our peer.
"""

from __future__ import annotations

from ipaddress import ip_address
from types import ModuleType

from holdfast.trust import kernel_sockets, socket_tables
from holdfast.trust.kernel_sockets import ESTABLISHED, IP, Row, unmap

Address = tuple[str, int]


def find_client_owner(peer: Address, local: Address) -> int | None:
    """The uid that owns the socket at `peer`, which connected to `local`; None if unknown.

    For a socket that its process has closed, the kernel reports inode 0 and uid 0.
    That uid is not trusted: any user could pass for root by closing early.
    """
    row = _find_socket(parse_address(peer), parse_address(local))
    return row.uid if row is not None and row.inode else None


def find_server_owner(peer: Address, local: Address) -> int | None:
    """The uid that serves the connection from our socket at `local` to `peer`; None if unknown."""
    ends = parse_address(peer), parse_address(local)
    for source in (kernel_sockets, socket_tables):
        row = source.find_socket(*ends)
        if row is not None:
            return row.uid if row.inode else _find_owner_of_waiting(source, row)
    return None


def _find_owner_of_waiting(source: ModuleType, waiting: Row) -> int | None:
    """Who listens where a connection waits to be accepted.

    A listener that closes takes its waiting connections with it. So a connection that still waits
    after we asked belongs to the listener that we were told of. One that was accepted and closed
    again is not established any more.
    """
    listener: Row | None = source.find_listener(waiting.local)
    now: Row | None = source.find_socket(waiting.local, waiting.remote)
    if now is None or listener is None:
        return None
    if now.inode:
        return now.uid
    return listener.uid if waiting.state == now.state == ESTABLISHED else None


def _find_socket(local: tuple[IP, int], remote: tuple[IP, int]) -> Row | None:
    row = kernel_sockets.find_socket(local, remote)
    if row is not None or kernel_sockets.is_reliable():
        # A client that has closed already is not found. To search the tables for it takes a hundred
        # times as long, and would let another user keep the server busy.
        return row
    return socket_tables.find_socket(local, remote)


def is_loopback(host: str) -> bool:
    try:
        return parse_ip(host).is_loopback
    except ValueError:
        return False


def parse_ip(host: str) -> IP:
    return unmap(ip_address(host.partition("%")[0]))


def parse_address(address: Address) -> tuple[IP, int]:
    return parse_ip(address[0]), address[1]
