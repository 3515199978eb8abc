"""Wrap an object, read its recorded calls, and let a breakpoint decide about one of them.

Run it with `python examples/calls_basic.py`. It uses a running server, or starts one.
"""

from __future__ import annotations

from example_server import request, running_server
from holdfast import configure_debug, with_debug


class Shop:
    """Ordinary code, without any debugging in it."""

    def price(self, item: str, count: int = 1) -> int:
        return {"tea": 3, "cake": 5}[item] * count


def main() -> None:
    with running_server() as url:
        configure_debug(server_url=url)
        info = with_debug("ON")
        shop = with_debug(Shop())

        print("tea:", shop.price("tea", count=2))
        try:
            shop.price("soup")
        except KeyError as problem:
            print("raises as usual:", repr(problem))

        # This breakpoint has a decision, so the call does not wait for one. Without `action`, the
        # call would be held until `POST /api/holds/{id}/decision`.
        rule = {
            "function": "Shop.price",
            "condition": "args[0] == 'cake'",
            "action": {"action": "skip", "fake_result": {"value": 0}},
        }
        breakpoint_ = request(url, "POST", "/api/breakpoints", rule)
        print("cake, decided by the breakpoint:", shop.price("cake"))
        request(url, "DELETE", f"/api/breakpoints/{breakpoint_['id']}")

        calls = request(url, "GET", f"/api/calls?session={info.session_id()}")["calls"]
        for call in reversed(calls):
            outcome = call["result"]["text"] if call["result"] else call["exception_type"]
            arguments = [argument["text"] for argument in call["args"]]
            print("recorded:", call["qualname"], arguments, outcome)

        with_debug("OFF")
        print("off, the object itself:", with_debug(Shop).__name__)


if __name__ == "__main__":
    main()
