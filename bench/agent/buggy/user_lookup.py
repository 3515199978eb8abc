"""Symptom: alice has the role 'guest', and the table says 'admin'."""

from __future__ import annotations

ROLES = {"alice": "admin", "bob": "editor"}
PACKETS = [b"login;bob", b"login;alice"]


def decode(field: bytes) -> str:
    text = str(field)  # @bug
    return text.strip()


def read_packet(packet: bytes) -> tuple[str, str]:
    command, user = packet.split(b";")
    return decode(command), decode(user)


def find_role(user: str) -> str:
    role = ROLES.get(user, "guest")
    return role


def main() -> None:
    roles = []
    for packet in PACKETS:
        _command, user = read_packet(packet)
        roles.append(find_role(user))
    role = roles[-1]
    print(f"alice is {role}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: text = field.decode()
