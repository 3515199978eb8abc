"""`debug_call`: one call, here and now, without wrapping anything; and a filter over the record."""

from __future__ import annotations

from urllib.parse import urlencode

from holdfast import configure_debug, debug_call, with_debug
from serving import ask, serving


def area(width: int, height: int) -> int:
    return width * height


def main() -> None:
    with serving() as url:
        print("off, it just calls:", debug_call(area, 2, 3))

        configure_debug(server_url=url)
        info = with_debug("ON")
        for width in range(1, 6):
            debug_call("area", area, width, height=10)

        query = {"session": info.session_id(), "filter": "args[0] > 3 and status == 'success'"}
        found = ask(url, "GET", f"/api/calls?{urlencode(query)}")["calls"]
        print("wider than 3:", [call["result"]["text"] for call in reversed(found)])

        decision = {
            "action": "raise",
            "exception_type": "OverflowError",
            "exception_message": "the second one",
        }
        point = {"alias": "area", "when": "after", "hit_condition": "== 2", "action": decision}
        made = ask(url, "POST", "/api/breakpoints", point)
        for width in (1, 2, 3):
            try:
                print("area:", debug_call("area", area, width, height=10))
            except OverflowError as problem:
                print("raised by decision:", problem)
        ask(url, "DELETE", f"/api/breakpoints/{made['id']}")
        with_debug("OFF")


if __name__ == "__main__":
    main()
