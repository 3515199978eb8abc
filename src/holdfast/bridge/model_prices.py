"""What model calls cost, where prices are given."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from holdfast.bridge.project_file import Price, find_price

logger = logging.getLogger("holdfast")

_MILLION = 1_000_000


class ModelPrices:
    """The prices that count for one session. A model without one is reported once."""

    def __init__(self, prices: Mapping[str, Price]) -> None:
        self._prices = prices
        self._unknown: set[str | None] = set()

    def __bool__(self) -> bool:
        return bool(self._prices)

    def compute_cost(self, model: str | None, usage: Any) -> float | None:
        """Of one call, in the unit of the prices; None if its price or its tokens are not known."""
        if not isinstance(usage, Mapping):
            return None
        price = find_price(self._prices, model)
        if price is None:
            if model not in self._unknown:
                self._unknown.add(model)
                logger.warning(
                    "no price is given for %s: the cost of this session is without its calls",
                    f"model {model}" if model else "a model without a name",
                )
            return None
        given, answered, cached = (
            _count(usage.get(name)) for name in ("inputTokens", "outputTokens", "cachedTokens")
        )
        cached = min(cached, given)
        cached_price = price.input if price.cached is None else price.cached
        total = (given - cached) * price.input + cached * cached_price + answered * price.output
        return round(total / _MILLION, 9)


def _count(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0
