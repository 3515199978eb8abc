"""Who is on the other end of a loopback TCP connection.

TCP does not say which user connected, but the kernel knows the uid that made each socket. On Linux
we ask for the *client's* socket, the one whose local address is our peer, by name; where that is
not possible we look for its row in the tables under `/proc/net`. Elsewhere psutil can see the
sockets of this user's own processes, which answers the only question we have: is it one of ours?
"""

from __future__ import annotations

import os
import sys
from ipaddress import ip_address
from pathlib import Path

import psutil

from holdfast.server import socket_owner
from holdfast.server.socket_owner import IP

Address = tuple[str, int]

TABLES = Path("/proc/net")

# The kernel hands a table out page by page while sockets come and go, so that a row may be missed
# once in a while. A look that finds nothing is therefore repeated before it is believed.
LOOKS = 2


def owner_uid(peer: Address, local: Address) -> int | None:
    """The uid that owns the socket at `peer` which is connected to `local`; None if unknown.

    A socket its process has closed belongs to no inode, and the kernel then says uid 0 whoever it
    was. Believing that would let any user pass for root by closing early, so it is unknown too.
    """
    row = socket_owner.find(_parsed(peer), _parsed(local))
    if row is not None:
        return row.uid if row.inode else None
    if (TABLES / "tcp").exists():
        return owner_by_table(peer, local)
    return owner_by_process(peer, local)


def owner_by_table(peer: Address, local: Address) -> int | None:
    # An IPv4 client may itself use an IPv6 socket, and is then listed in the other table.
    names = ("tcp", "tcp6") if _ip(peer[0]).version == 4 else ("tcp6",)
    for name in names * LOOKS:
        uid = owner_in(_table(name), peer, local)
        if uid is not None:
            return uid
    return None


def _table(name: str) -> bytes:
    try:
        return (TABLES / name).read_bytes()
    except FileNotFoundError:  # a kernel without IPv6
        return b""


def owner_in(table: bytes, peer: Address, local: Address) -> int | None:
    """The uid in the row from `peer` to `local` of one `/proc/net/tcp` or `tcp6` table."""
    start = max(table.find(key) for key in _row_keys(peer, local))
    if start < 0:
        return None
    # peer, local, state, tx:rx, tr:when, retrnsmt, uid, timeout, inode
    row = table[start : table.find(b"\n", start)].split()
    uid, inode = int(row[6]), int(row[8])
    return uid if inode else None


def is_loopback(host: str) -> bool:
    try:
        return _ip(host).is_loopback
    except ValueError:
        return False


def _ip(host: str) -> IP:
    return socket_owner.plain(ip_address(host))


def _parsed(address: Address) -> tuple[IP, int]:
    return _ip(address[0]), address[1]


def _row_keys(peer: Address, local: Address) -> list[bytes]:
    widths = (4, 16) if _ip(peer[0]).version == 4 else (16,)
    return [
        f" {_as_in_table(peer, width)} {_as_in_table(local, width)} ".encode() for width in widths
    ]


def _as_in_table(address: Address, width: int) -> str:
    """`0100007F:1388`: the words of the address as this machine's integers, then the port."""
    ip = _ip(address[0])
    packed = ip.packed
    if width == 16 and ip.version == 4:
        packed = b"\0" * 10 + b"\xff\xff" + packed
    words = (packed[i : i + 4] for i in range(0, len(packed), 4))
    digits = "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words)
    return f"{digits}:{address[1]:04X}"


def owner_by_process(peer: Address, local: Address) -> int | None:
    """Our own uid when one of our processes holds that socket. Newest first: clients are young."""
    uid = os.geteuid()
    for pid in reversed(psutil.pids()):
        try:
            process = psutil.Process(pid)
            if process.uids().effective == uid and _holds(process, peer, local):
                return uid
        except psutil.Error:  # it ended, or is not ours to look at
            continue
    return None


def _holds(process: psutil.Process, peer: Address, local: Address) -> bool:
    wanted = _parsed(peer), _parsed(local)
    return any(
        bool(row.laddr and row.raddr) and (_parsed(row.laddr), _parsed(row.raddr)) == wanted
        for row in process.net_connections(kind="tcp")
    )
