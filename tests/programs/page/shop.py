"""A shop that lets Holdfast see its calls: some that fail, some within others, one inline."""

from holdfast import debug_call, with_debug

PRICES = {"tea": 3.0, "cake": 5.5, "soup": 7.0}


class Shop:
    def __init__(self) -> None:
        self.sold = []
        self.proxy = self

    def price(self, item, count=1):
        return PRICES[item] * count

    def sell(self, customer, items, *, gift=False):
        total = sum(self.proxy.price(item, count=count) for item, count in items.items())
        self.sold.append((customer, total))
        return {"customer": customer, "total": total, "gift": gift}


def round_up(amount):
    return -(-amount // 1)


def main() -> None:
    with_debug("ON")
    shop = Shop()
    shop.proxy = with_debug(("Shop", shop))
    for number in range(1, 9):
        items = {"tea": number % 3 + 1, "cake": 1}
        sale = shop.proxy.sell(f"customer {number}", items, gift=number % 2 == 0)
        debug_call(round_up, sale["total"])
        if number % 3 == 0:
            try:
                shop.proxy.price("stone")
            except KeyError:
                pass
    print("ready", flush=True)
    input()  # until the breakpoint is set
    print(shop.proxy.sell("customer 9", {"tea": 2, "cake": 1}, gift=True), flush=True)
    input()


if __name__ == "__main__":
    main()
