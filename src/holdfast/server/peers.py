"""Finds the user of a client on this machine.

On Linux the kernel says (`trust.socket_owners`). On other systems, psutil lists the sockets of this
user's own processes. That is enough to tell whether the client is one of them.
"""

from __future__ import annotations

import logging
import os

import psutil

from holdfast.trust import socket_owners, socket_tables
from holdfast.trust.socket_owners import Address, is_loopback, parse_address

__all__ = ["Address", "find_owner", "find_owner_by_process", "is_loopback", "is_same_user"]

log = logging.getLogger(__name__)


def is_same_user(peer: object, local: object) -> bool:
    """Whether a client on this machine is ours, or root's."""
    try:
        uid = find_owner(peer, local)  # type: ignore[arg-type]
    except OSError as problem:
        log.error("a connection is refused, because it cannot be checked: %r", problem)
        return False
    return uid is not None and uid in (0, os.getuid())


def find_owner(peer: Address, local: Address) -> int | None:
    """The uid that owns the socket at `peer` which is connected to `local`; None if unknown."""
    uid = socket_owners.find_client_owner(peer, local)
    if uid is None and not socket_tables.are_available():
        return find_owner_by_process(peer, local)
    return uid


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
    wanted = parse_address(peer), parse_address(local)
    return any(
        bool(row.laddr and row.raddr)
        and (parse_address(row.laddr), parse_address(row.raddr)) == wanted
        for row in process.net_connections(kind="tcp")
    )
