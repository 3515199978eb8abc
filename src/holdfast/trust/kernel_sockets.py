"""Asks the Linux kernel about one TCP socket, over netlink.

The tables under `/proc/net` say the same, but reading one walks the kernel's whole hash of
connections: some 5 ms on an ordinary machine, for every connection. This request names the socket
and takes 50 µs. See sock_diag(7) for the messages.
"""

from __future__ import annotations

import errno
import socket
import struct
import sys
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import NamedTuple

IP = IPv4Address | IPv6Address

SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
NLM_F_REQUEST = 1
LOOPBACK_INTERFACE = 1  # so that a socket bound to `lo` is found too
ALL_STATES = 0xFFFFFFFF
ESTABLISHED, LISTENING = 1, 10
_has_answered = False

HEADER = struct.Struct("=IHHII")  # length, type, flags, sequence, port id
REQUEST = struct.Struct("=BBBxI")  # family, protocol, extensions, states
PORTS = struct.Struct("!HH")
PLACE = struct.Struct("=III")  # interface, cookie (all ones: any)
ANSWER = struct.Struct("=BBBB 2s2s16s16s12x 3I II")  # …, ports, addresses, …, uid, inode


class Row(NamedTuple):
    """One socket, from its owner's side. `inode` is 0 if no process has it: closed, or waiting."""

    local: tuple[IP, int]
    remote: tuple[IP, int]
    uid: int
    inode: int
    state: int


def unmap(ip: IP) -> IP:
    """The IPv4 address in an IPv4-mapped IPv6 address; any other address as it is."""
    return getattr(ip, "ipv4_mapped", None) or ip


def is_reliable() -> bool:
    """Whether the kernel has answered once, so that no answer means that there is no socket.

    A kernel that cannot answer at all says the same as one that does not find the socket.
    """
    return _has_answered


def find_socket(local: tuple[IP, int], remote: tuple[IP, int]) -> Row | None:
    """The socket at `local` connected to `remote`; None when the kernel cannot say."""
    row = _ask(local, remote)
    # Without such a connection the kernel returns the socket that listens at `local`.
    return row if row is not None and (row.local, row.remote) == (local, remote) else None


def find_listener(local: tuple[IP, int]) -> Row | None:
    """The socket that gets connections to `local`; None when the kernel cannot say."""
    row = _ask(local, (local[0], 0))
    return row if row is not None and row.state == LISTENING else None


def _ask(local: tuple[IP, int], remote: tuple[IP, int]) -> Row | None:
    global _has_answered
    if sys.platform != "linux":
        return None
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, SOCK_DIAG) as netlink:
            netlink.settimeout(1)
            netlink.sendto(_build_request(local, remote), (0, 0))
            row = _parse_row(netlink.recv(8192))
    except OSError as problem:
        if problem.errno in (errno.EMFILE, errno.ENFILE):
            raise  # it would be there, but cannot be asked now
        return None  # netlink is not available, as in some sandboxes
    _has_answered = _has_answered or row is not None
    return row


def _build_request(local: tuple[IP, int], remote: tuple[IP, int]) -> bytes:
    family = socket.AF_INET if local[0].version == 4 else socket.AF_INET6
    body = (
        REQUEST.pack(family, socket.IPPROTO_TCP, 0, ALL_STATES)
        + PORTS.pack(local[1], remote[1])
        + local[0].packed.ljust(16, b"\0")
        + remote[0].packed.ljust(16, b"\0")
        + PLACE.pack(LOOPBACK_INTERFACE, 0xFFFFFFFF, 0xFFFFFFFF)
    )
    header = HEADER.pack(HEADER.size + len(body), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 1, 0)
    return header + body


def _parse_row(message: bytes) -> Row | None:
    _, kind, *_ = HEADER.unpack_from(message)
    if kind != SOCK_DIAG_BY_FAMILY:  # an error: no such socket
        return None
    fields = ANSWER.unpack_from(message, HEADER.size)
    family, state, _, _, local_port, remote_port, local, remote, _, _, _, uid, inode = fields
    return Row(
        local=(_parse_ip(family, local), int.from_bytes(local_port, "big")),
        remote=(_parse_ip(family, remote), int.from_bytes(remote_port, "big")),
        uid=uid,
        inode=inode,
        state=state,
    )


def _parse_ip(family: int, packed: bytes) -> IP:
    return unmap(ip_address(packed[:4] if family == socket.AF_INET else packed))
