"""Leased mode: all is recorded; the server is asked only where a breakpoint could match."""

from __future__ import annotations

from holdfast import configure_debug, with_debug
from serving import ask, serving


def square(number: int) -> int:
    return number * number


def main() -> None:
    with serving() as url:
        configure_debug(server_url=url, mode="leased")
        session_id = with_debug("ON").session_id()
        wrapped = with_debug(square)

        print("sum:", sum(wrapped(number) for number in range(1000)))

        # From the moment this is answered, no call escapes it.
        point = {
            "function": "square",
            "condition": "args[0] == 7",
            "action": {"action": "skip", "fake_result": {"value": -1}},
        }
        made = ask(url, "POST", "/api/breakpoints", point)
        print("with a breakpoint:", wrapped(6), wrapped(7), wrapped(8))
        ask(url, "DELETE", f"/api/breakpoints/{made['id']}")

        with_debug("OFF")  # sends what is still waiting to be sent
        print("recorded:", ask(url, "GET", f"/sessions/{session_id}")["calls"])


if __name__ == "__main__":
    main()
