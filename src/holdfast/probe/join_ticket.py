"""How a process finds the server that follows it, and makes sure that it is that server.

A ticket is a file that the server makes for one listener, and removes with it. Only the user can
read it. It has the listener's address, the server's time limits, and a secret. Both sides prove
that they know the secret, with nonces that are used once, before the first message of the debugger.
So nobody who takes the port later can debug the process, and a process without the secret reaches
no server.
"""

from __future__ import annotations

import json
import os
import socket
import stat
from typing import Any, Optional, Tuple, Union

from . import timings
from .server_connection import ServerConnection

_MAX_TICKET_BYTES = 4096
NONCE_DIGITS, PROOF_DIGITS = 32, 64
_BLOCK_BYTES = 64


class Ticket:
    """No named tuple: those are made by code without a file, which would count as the program's.
    A program that is to stop at its entry would stop there."""

    def __init__(self, path: str, address: Union[str, Tuple[str, int]], secret: str) -> None:
        self.path = path
        self.address = address
        """The path of a Unix socket, or host and port."""
        self.secret = secret


class NotOurServer(OSError):
    """Whoever listens there does not know the secret."""


def read_ticket(path: str) -> Ticket:
    """Raises OSError or ValueError if there is none, or if others can have written or read it."""
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    with open(os.open(path, flags), "rb") as file:
        status = os.fstat(file.fileno())
        is_private = status.st_uid == os.geteuid() and not status.st_mode & 0o077
        if not is_private or not stat.S_ISREG(status.st_mode):
            raise NotOurServer("the ticket %s is not private" % path)
        facts = json.loads(file.read(_MAX_TICKET_BYTES))
    timings.use(facts.get("timings", {}))
    address = facts["address"]
    return Ticket(
        path, address if isinstance(address, str) else tuple(address), str(facts["secret"])
    )


def read_if_given(path: str) -> Optional[Ticket]:
    """The ticket at `path`; None if there is none to be had."""
    try:
        return read_ticket(path) if path else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def connect(ticket: Ticket) -> Any:
    """A connection to the server, which has proved itself; OSError if that is not there."""
    family = socket.AF_UNIX if isinstance(ticket.address, str) else socket.AF_INET
    connection = socket.socket(family, socket.SOCK_STREAM)
    try:
        connection.settimeout(timings.TIMINGS.server_reached)
        connection.connect(ticket.address)
        if family == socket.AF_INET:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        _exchange_proofs(connection, ticket)
        connection.settimeout(None)
    except BaseException:
        connection.close()
        raise
    return ServerConnection(connection.detach())


def _exchange_proofs(connection: Any, ticket: Ticket) -> None:
    ours = os.urandom(NONCE_DIGITS // 2).hex()
    connection.sendall(("HOLDFAST %s\n" % ours).encode())
    answer = _receive(connection, PROOF_DIGITS + NONCE_DIGITS + 2)
    theirs = answer[PROOF_DIGITS + 1 : -1]
    if answer[:PROOF_DIGITS] != prove(ticket.secret, "server", ours, theirs):
        raise NotOurServer("whoever listens does not know the secret")
    connection.sendall((prove(ticket.secret, "process", ours, theirs) + "\n").encode())


def _receive(connection: Any, count: int) -> str:
    data = b""
    while len(data) < count:
        more = connection.recv(count - len(data))
        if not more:
            raise NotOurServer("the listener hung up")
        data += more
    return data.decode("ascii", "replace")


def prove(secret: str, role: str, process_nonce: str, server_nonce: str) -> str:
    """The HMAC-SHA256 of the role and the nonces, in hex.

    It is made here, because `hmac` and `hashlib` would load OpenSSL into the program.
    """
    text = "holdfast %s %s %s" % (role, process_nonce, server_nonce)
    key = secret.encode().ljust(_BLOCK_BYTES, b"\0")
    sha256 = _find_sha256()
    inner = sha256(bytes(byte ^ 0x36 for byte in key) + text.encode()).digest()
    digest: str = sha256(bytes(byte ^ 0x5C for byte in key) + inner).hexdigest()
    return digest


def _find_sha256() -> Any:
    for name in ("_sha2", "_sha256", "hashlib"):  # since 3.12, before, and where neither is built
        try:
            return __import__(name).sha256
        except ImportError:
            continue
    raise NotOurServer("this Python has no SHA-256")
