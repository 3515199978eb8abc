"""`python -m bench.page_shop URL CALLS`: an application whose calls nest, in three threads."""

from __future__ import annotations

import sys
import threading

from holdfast import configure_debug, with_debug

_THREADS = 3
_CALLS_OF_A_DAY = 22
"""One day, one order each for seven customers, two prices each."""


class Shop:
    def price(self, item: int) -> int:
        if item % 97 == 0:
            raise KeyError(item)
        return item * 2


class Till:
    def __init__(self, shop: Shop) -> None:
        self._shop = shop

    def order(self, item: int) -> int:
        try:
            return self._shop.price(item) + self._shop.price(item + 1)
        except KeyError:
            return 0


class Market:
    def __init__(self, till: Till) -> None:
        self._till = till

    def run_day(self, number: int) -> int:
        return sum(self._till.order(number + customer) for customer in range(7))


def main() -> None:
    url, calls = sys.argv[1], int(sys.argv[2])
    configure_debug(server_url=url, mode="leased")
    session = with_debug("ON").session_id()
    market = with_debug(Market(with_debug(Till(with_debug(Shop())))))

    def work() -> None:
        for number in range(calls // _THREADS // _CALLS_OF_A_DAY + 1):
            market.run_day(number)

    threads = [threading.Thread(target=work, name=f"market-{n}") for n in range(_THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with_debug("OFF")  # sends the calls that have not been sent
    print(session)


if __name__ == "__main__":
    main()
