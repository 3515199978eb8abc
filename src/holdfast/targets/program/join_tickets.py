"""The server's side of tickets: see the probe's `join_ticket`.

A process that joins is told the path of a ticket, on a command line that every user can read. What
is in the file, only the user can read.
"""

from __future__ import annotations

import contextlib
import hmac
import json
import secrets
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from holdfast import timings
from holdfast.trust.private_files import make_private_directory, write_private_file

NONCE_DIGITS, PROOF_DIGITS = 32, 64
_OWN_FOLDER = "holdfast-ticket-"
_HELLO = b"HOLDFAST "
_HELLO_BYTES = len(_HELLO) + NONCE_DIGITS + 1
_ANSWER_BYTES = PROOF_DIGITS + 1

Address = str | tuple[str, int]


@dataclass(frozen=True)
class JoinTicket:
    """A file with the address of a listener and a secret. It ends with the listener."""

    path: Path
    secret: str = field(repr=False)

    @classmethod
    def create(cls, folder: Path, address: Address) -> JoinTicket:
        """Make one in `folder`; or in a directory of its own, if the disk is full, for instance."""
        try:
            return cls._create(folder, address)
        except OSError:
            own = Path(tempfile.mkdtemp(prefix=_OWN_FOLDER))
            return cls._create(own, address)

    @classmethod
    def _create(cls, folder: Path, address: Address) -> JoinTicket:
        make_private_directory(folder)
        ticket = cls(folder / f"{secrets.token_hex(8)}.ticket", secrets.token_hex(32))
        facts = {"address": address, "secret": ticket.secret}
        text = json.dumps({**facts, "timings": timings.TIMINGS.probe.list()})
        write_private_file(ticket.path, text)
        return ticket

    def remove(self) -> None:
        with contextlib.suppress(OSError):
            self.path.unlink()
            if self.path.parent.name.startswith(_OWN_FOLDER):
                self.path.parent.rmdir()


def remove_left_tickets(folder: Path) -> None:
    """Those of a server that was killed."""
    for path in folder.glob("*.ticket"):
        with contextlib.suppress(OSError):
            path.unlink()


class Handshake:
    """The server's part of the proofs on one connection.

    `feed` takes what arrives. `answer` is what to send, once; `rest` is what came after the proofs.
    """

    def __init__(self, secret: str) -> None:
        self._secret = secret
        self._received = b""
        self._process_nonce: str | None = None
        self._server_nonce = secrets.token_hex(NONCE_DIGITS // 2)
        self.is_proven = False
        self.rest = b""

    def feed(self, data: bytes) -> bytes:
        """Returns what to send. Raises ValueError if the other side does not know the secret."""
        self._received += data
        answer = b""
        if self._process_nonce is None and len(self._received) >= _HELLO_BYTES:
            answer = self._take_hello()
        if self._process_nonce is not None and len(self._received) >= _ANSWER_BYTES:
            self._take_proof(self._process_nonce)
        elif not _HELLO.startswith(self._received[: len(_HELLO)]) and self._process_nonce is None:
            raise ValueError("that is no process of ours")
        return answer

    def _take_hello(self) -> bytes:
        hello, self._received = self._received[:_HELLO_BYTES], self._received[_HELLO_BYTES:]
        nonce = hello[len(_HELLO) : -1].decode("ascii", "replace")
        if not hello.startswith(_HELLO):
            raise ValueError("that is no process of ours")
        self._process_nonce = nonce
        proof = prove(self._secret, "server", nonce, self._server_nonce)
        return f"{proof} {self._server_nonce}\n".encode()

    def _take_proof(self, nonce: str) -> None:
        given = self._received[:PROOF_DIGITS]
        expected = prove(self._secret, "process", nonce, self._server_nonce)
        if not hmac.compare_digest(given, expected.encode()):
            raise ValueError("the process does not know the secret")
        self.rest, self._received = self._received[_ANSWER_BYTES:], b""
        self.is_proven = True


def prove(secret: str, role: str, process_nonce: str, server_nonce: str) -> str:
    text = f"holdfast {role} {process_nonce} {server_nonce}"
    return hmac.new(secret.encode(), text.encode(), "sha256").hexdigest()
