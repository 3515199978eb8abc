"""A shop whose calls are debugged. It evaluates each line it gets, and prints what came of it."""

import sys
import threading

from holdfast import debug_call, with_debug  # noqa: F401 - lines use `debug_call`


class Shop:
    def __init__(self):
        self.sold = []

    def price(self, item, count=1):
        return {"tea": 3, "cake": 5}[item] * count

    def sell(self, customer, items):
        self.sold.append(customer)
        return sum(shop.price(item, count) for item, count in items.items())

    def show(self, value):
        return value


def sale_price(item, count=1):
    return 2.5


def taxed(price):
    return price * 1.25


def sell_at_once(*customers):
    """One thread for each."""
    totals = {}
    threads = [
        threading.Thread(
            target=lambda name=name: totals.update({name: shop.sell(name, {"tea": 1})})
        )
        for name in customers
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return totals


info = with_debug("ON")
shop = with_debug(Shop())
with_debug(sale_price)  # so that it can replace another function
print(info.session_id(), flush=True)
for line in sys.stdin:
    try:
        print(repr(eval(line)), flush=True)
    except Exception as problem:
        print(f"{type(problem).__name__}: {problem}", flush=True)
