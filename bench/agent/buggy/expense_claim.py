"""Symptom: a claim with four receipts, 9800 together, pays 1200."""

from __future__ import annotations


class Claim:
    def __init__(self, limit: int) -> None:
        self.limit = limit
        self.amounts: list[int] = []
        self._known: int | None = None

    def find_total(self) -> int:
        if self._known is None:
            total = sum(self.amounts)
            self._known = total  # @bug
        return self._known

    def is_full(self) -> bool:
        return self.find_total() >= self.limit

    def add(self, amount: int) -> None:
        self.amounts.append(amount)


def collect(receipts: list[int], limit: int) -> Claim:
    claim = Claim(limit)
    for amount in receipts:
        claim.add(amount)
        if claim.is_full():
            break
    return claim


def render(claim: Claim) -> str:
    cents = claim.find_total()
    return f"{len(claim.amounts)} receipts, pays {cents}"


def main() -> None:
    claim = collect([1200, 4600, 900, 3100], limit=50_000)
    text = render(claim)
    print(text)  # @symptom


if __name__ == "__main__":
    main()

# @fix: return total
