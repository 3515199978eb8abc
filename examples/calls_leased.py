"""Leased mode records every call, and asks the server only where a breakpoint could match."""

from __future__ import annotations

from example_server import request, running_server
from holdfast import configure_debug, with_debug


def square(number: int) -> int:
    return number * number


def main() -> None:
    with running_server() as url:
        configure_debug(server_url=url, mode="leased")
        session_id = with_debug("ON").session_id()
        wrapped = with_debug(square)

        print("sum:", sum(wrapped(number) for number in range(1000)))

        # Once the server has answered, no call escapes this breakpoint.
        rule = {
            "function": "square",
            "condition": "args[0] == 7",
            "action": {"action": "skip", "fake_result": {"value": -1}},
        }
        breakpoint_ = request(url, "POST", "/api/breakpoints", rule)
        print("with a breakpoint:", wrapped(6), wrapped(7), wrapped(8))
        request(url, "DELETE", f"/api/breakpoints/{breakpoint_['id']}")

        with_debug("OFF")  # sends the calls that have not been sent
        print("recorded:", request(url, "GET", f"/sessions/{session_id}")["calls"])


if __name__ == "__main__":
    main()
