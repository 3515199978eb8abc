"""Reads about one TCP socket in the tables under `/proc/net`, for where netlink is not available.

The kernel returns a table page by page while sockets open and close, so one read may miss a row.
A table without the wanted row is therefore read again.
"""

from __future__ import annotations

import sys
from pathlib import Path

from holdfast.trust.kernel_sockets import IP, LISTENING, Row

Endpoint = tuple[IP, int]

TABLE_DIR = Path("/proc/net")
MAX_TABLE_READS = 2


def are_available() -> bool:
    return (TABLE_DIR / "tcp").exists()


def find_socket(local: Endpoint, remote: Endpoint) -> Row | None:
    """The socket at `local` connected to `remote`; None if no table has it."""
    for name in _table_names(local) * MAX_TABLE_READS:
        row = find_in_table(_read_table(name), local, remote)
        if row is not None:
            return row
    return None


def find_listener(local: Endpoint) -> Row | None:
    """The socket that gets connections to `local`; None if no table has it, or two users have."""
    for _ in range(MAX_TABLE_READS):
        rows = [
            row for name in _table_names(local) for row in list_listeners(_read_table(name), local)
        ]
        if rows:
            return rows[0] if len({row.uid for row in rows}) == 1 else None
    return None


def find_in_table(table: bytes, local: Endpoint, remote: Endpoint) -> Row | None:
    """The row from `local` to `remote` of one `tcp` or `tcp6` table."""
    start = max(
        table.find(f" {_format(local, width)} {_format(remote, width)} ".encode())
        for width in _widths(local)
    )
    if start < 0:
        return None
    return _parse_row(table[start : table.find(b"\n", start)], local, remote)


def list_listeners(table: bytes, local: Endpoint) -> list[Row]:
    """Every row that listens at the address or at all addresses."""
    everywhere = {"0" * 8, "0" * 32}
    places = {_format(local, width).partition(":")[0] for width in _widths(local)} | everywhere
    rows = []
    for line in table.splitlines()[1:]:
        place, _, port = line.split()[1].decode().partition(":")
        if place in places and int(port, 16) == local[1]:
            row = _parse_row(line.partition(b": ")[2], local, (local[0], 0))
            if row.state == LISTENING:
                rows.append(row)
    return rows


def _parse_row(text: bytes, local: Endpoint, remote: Endpoint) -> Row:
    # local, remote, state, tx:rx, tr:when, retrnsmt, uid, timeout, inode
    fields = text.split()
    return Row(local, remote, int(fields[6]), int(fields[8]), int(fields[2], 16))


def _read_table(name: str) -> bytes:
    try:
        return (TABLE_DIR / name).read_bytes()
    except FileNotFoundError:  # a kernel without IPv6
        return b""


def _table_names(local: Endpoint) -> tuple[str, ...]:
    # An IPv4 connection may have an IPv6 socket. It is then listed in the table `tcp6`.
    return ("tcp", "tcp6") if local[0].version == 4 else ("tcp6",)


def _widths(local: Endpoint) -> tuple[int, ...]:
    return (4, 16) if local[0].version == 4 else (16,)


def _format(address: Endpoint, width: int) -> str:
    """An address as in `/proc/net/tcp`, such as `0100007F:1388`: words in host order, and port."""
    ip, port = address
    packed = ip.packed
    if width == 16 and ip.version == 4:
        packed = b"\0" * 10 + b"\xff\xff" + packed
    words = (packed[i : i + 4] for i in range(0, len(packed), 4))
    digits = "".join(f"{int.from_bytes(word, sys.byteorder):08X}" for word in words)
    return f"{digits}:{port:04X}"
