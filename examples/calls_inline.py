"""`debug_call` records one call without wrapping anything; a filter selects recorded calls."""

from __future__ import annotations

from urllib.parse import urlencode

from example_server import request, running_server
from holdfast import configure_debug, debug_call, with_debug


def area(width: int, height: int) -> int:
    return width * height


def main() -> None:
    with running_server() as url:
        print("off, only calls:", debug_call(area, 2, 3))

        configure_debug(server_url=url)
        info = with_debug("ON")
        for width in range(1, 6):
            debug_call("area", area, width, height=10)

        query = {"session": info.session_id(), "filter": "args[0] > 3 and status == 'success'"}
        calls = request(url, "GET", f"/api/calls?{urlencode(query)}")["calls"]
        print("wider than 3:", [call["result"]["text"] for call in reversed(calls)])

        decision = {
            "action": "raise",
            "exception_type": "OverflowError",
            "exception_message": "the second one",
        }
        rule = {"alias": "area", "when": "after", "hit_condition": "== 2", "action": decision}
        breakpoint_ = request(url, "POST", "/api/breakpoints", rule)
        for width in (1, 2, 3):
            try:
                print("area:", debug_call("area", area, width, height=10))
            except OverflowError as problem:
                print("raised by the breakpoint:", problem)
        request(url, "DELETE", f"/api/breakpoints/{breakpoint_['id']}")
        with_debug("OFF")


if __name__ == "__main__":
    main()
