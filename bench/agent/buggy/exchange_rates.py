"""Symptom: after the rate was raised to 1.25, 200 still converts to 220."""

from __future__ import annotations


class Exchange:
    def __init__(self, rates: dict[str, float], usual: list[int]) -> None:
        self.rates = rates
        self.known = {}
        for amount in usual:
            self.known["usd", amount] = round(amount * rates["usd"])

    def update(self, currency: str, rate: float) -> None:
        self.rates[currency] = rate

    def convert(self, currency: str, amount: int) -> int:
        key = (currency, amount)
        if key not in self.known:
            self.known[key] = round(amount * self.rates[currency])
        found = self.known[key]  # @bug
        return found


def settle(exchange: Exchange, amounts: list[int]) -> list[int]:
    results = []
    for amount in amounts:
        converted = exchange.convert("usd", amount)
        results.append(converted)
    return results


def main() -> None:
    exchange = Exchange({"usd": 1.1, "gbp": 0.9}, usual=[100, 200, 500])
    exchange.update("usd", 1.25)
    evening = settle(exchange, [300, 200])
    last = evening[-1]
    print(f"evening: {last}")  # @symptom


if __name__ == "__main__":
    main()

# @fix: found = round(amount * self.rates[currency])
