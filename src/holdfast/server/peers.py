"""Finds the user at the other end of a loopback TCP connection.

TCP does not say which user connected, but the kernel knows the uid that made each socket. On Linux
we ask for the *client's* socket: the one whose local address is our peer. We ask over netlink, or
else search the tables under `/proc/net`. On other systems, psutil lists the sockets of this user's
own processes. That is enough to tell whether the client is one of them.
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

TABLE_DIR = Path("/proc/net")

# The kernel returns a table page by page while sockets open and close, so one read may miss a row.
# A table without our row is therefore read again.
MAX_TABLE_READS = 2


def find_owner(peer: Address, local: Address) -> int | None:
    """The uid that owns the socket at `peer` which is connected to `local`; None if unknown.

    For a socket that its process has closed, the kernel reports inode 0 and uid 0.
    That uid is not trusted: any user could pass for root by closing early.
    """
    row = socket_owner.find_socket(_parse_address(peer), _parse_address(local))
    if row is not None:
        return row.uid if row.inode else None
    if (TABLE_DIR / "tcp").exists():
        return find_owner_by_table(peer, local)
    return find_owner_by_process(peer, local)


def find_owner_by_table(peer: Address, local: Address) -> int | None:
    # An IPv4 client may use an IPv6 socket. It is then listed in the table `tcp6`.
    names = ("tcp", "tcp6") if _parse_ip(peer[0]).version == 4 else ("tcp6",)
    for name in names * MAX_TABLE_READS:
        uid = find_owner_in_table(_read_table(name), peer, local)
        if uid is not None:
            return uid
    return None


def _read_table(name: str) -> bytes:
    try:
        return (TABLE_DIR / name).read_bytes()
    except FileNotFoundError:  # a kernel without IPv6
        return b""


def find_owner_in_table(table: bytes, peer: Address, local: Address) -> int | None:
    """The uid in the row from `peer` to `local` of one `/proc/net/tcp` or `tcp6` table."""
    start = max(table.find(key) for key in _build_row_keys(peer, local))
    if start < 0:
        return None
    # peer, local, state, tx:rx, tr:when, retrnsmt, uid, timeout, inode
    row = table[start : table.find(b"\n", start)].split()
    uid, inode = int(row[6]), int(row[8])
    return uid if inode else None


def is_loopback(host: str) -> bool:
    try:
        return _parse_ip(host).is_loopback
    except ValueError:
        return False


def _parse_ip(host: str) -> IP:
    return socket_owner.unmap(ip_address(host))


def _parse_address(address: Address) -> tuple[IP, int]:
    return _parse_ip(address[0]), address[1]


def _build_row_keys(peer: Address, local: Address) -> list[bytes]:
    widths = (4, 16) if _parse_ip(peer[0]).version == 4 else (16,)
    return [
        f" {_format_for_table(peer, width)} {_format_for_table(local, width)} ".encode()
        for width in widths
    ]


def _format_for_table(address: Address, width: int) -> str:
    """An address as in `/proc/net/tcp`, such as `0100007F:1388`: words in host order, and port."""
    ip = _parse_ip(address[0])
    packed = ip.packed
    if width == 16 and ip.version == 4:
        packed = b"\0" * 10 + b"\xff\xff" + packed
    words = (packed[i : i + 4] for i in range(0, len(packed), 4))
    digits = "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words)
    return f"{digits}:{address[1]:04X}"


def find_owner_by_process(peer: Address, local: Address) -> int | None:
    """Our own uid if one of our processes has that socket. The newest are searched first."""
    uid = os.geteuid()
    for pid in reversed(psutil.pids()):
        try:
            process = psutil.Process(pid)
            if process.uids().effective == uid and _has_connection(process, peer, local):
                return uid
        except psutil.Error:  # it ended, or we may not inspect it
            continue
    return None


def _has_connection(process: psutil.Process, peer: Address, local: Address) -> bool:
    wanted = _parse_address(peer), _parse_address(local)
    return any(
        bool(row.laddr and row.raddr)
        and (_parse_address(row.laddr), _parse_address(row.raddr)) == wanted
        for row in process.net_connections(kind="tcp")
    )
