"""Symptom: after the clean-up a token that expired at 12 is still there."""

from __future__ import annotations


def load_tokens(text: str) -> list[int]:
    tokens = []
    for word in text.split():
        tokens.append(int(word))
    return tokens


def drop_expired(tokens: list[int], now: int) -> int:
    dropped = 0
    for expires in tokens:  # @bug
        if expires < now:
            tokens.remove(expires)
            dropped += 1
    return dropped


def main() -> None:
    tokens = load_tokens("90 10 12 95 80")
    dropped = drop_expired(tokens, now=50)
    print(f"dropped {dropped}, left {tokens}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: for expires in list(tokens):
