"""Proofs that both sides of a connection know the same secret, which neither sends.

Each side sends the HMAC of its role, the server's address and the client's nonce. A proof is good
for one address, so one who listens elsewhere cannot pass on what the real server says. It is good
for one nonce, so it cannot be sent again. And it is good for one role, so it cannot be sent back.
"""

from __future__ import annotations

import hmac
import secrets

from holdfast.trust.socket_owners import Address, parse_address

_CLIENT, _SERVER = "client", "server"


def make_secret() -> str:
    return secrets.token_hex(32)


def make_nonce() -> str:
    return secrets.token_hex(16)


def prove_client(secret: str, server: Address, nonce: str) -> str:
    return _sign(secret, _CLIENT, server, nonce)


def prove_server(secret: str, server: Address, nonce: str) -> str:
    return _sign(secret, _SERVER, server, nonce)


def is_client(proof: str, secret: str, server: Address, nonce: str) -> bool:
    return _is_equal(proof, prove_client(secret, server, nonce))


def is_server(proof: str, secret: str, server: Address, nonce: str) -> bool:
    return _is_equal(proof, prove_server(secret, server, nonce))


def _sign(secret: str, role: str, server: Address, nonce: str) -> str:
    ip, port = parse_address(server)
    text = f"holdfast {role} {ip} {port} {nonce}"
    return hmac.new(secret.encode(), text.encode(), "sha256").hexdigest()


def _is_equal(one: str, other: str) -> bool:
    return hmac.compare_digest(one.encode("utf-8", "replace"), other.encode())
