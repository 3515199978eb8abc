"""Wrap an object, see its calls recorded, and let a breakpoint decide about one of them.

Run it with `python examples/calls_basic.py` while `holdfast serve` runs (or let it start one).
"""

from __future__ import annotations

from holdfast import configure_debug, with_debug
from serving import ask, serving


class Shop:
    """Ordinary code: it knows nothing of debugging."""

    def price(self, item: str, count: int = 1) -> int:
        return {"tea": 3, "cake": 5}[item] * count


def main() -> None:
    with serving() as url:
        configure_debug(server_url=url)
        info = with_debug("ON")
        shop = with_debug(Shop())

        print("tea:", shop.price("tea", count=2))
        try:
            shop.price("soup")
        except KeyError as problem:
            print("raised as ever:", repr(problem))

        # A breakpoint that carries its decision: nobody has to be there. Without `action` the call
        # would wait for `POST /api/holds/{id}/decision`.
        point = {
            "function": "Shop.price",
            "condition": "args[0] == 'cake'",
            "action": {"action": "skip", "fake_result": {"value": 0}},
        }
        made = ask(url, "POST", "/api/breakpoints", point)
        print("cake, by decision:", shop.price("cake"))
        ask(url, "DELETE", f"/api/breakpoints/{made['id']}")

        calls = ask(url, "GET", f"/api/calls?session={info.session_id()}")["calls"]
        for call in reversed(calls):
            outcome = call["result"]["text"] if call["result"] else call["exception_type"]
            print("recorded:", call["qualname"], [each["text"] for each in call["args"]], outcome)

        with_debug("OFF")
        print("off, the very same object:", with_debug(Shop).__name__)


if __name__ == "__main__":
    main()
