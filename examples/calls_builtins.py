"""Lists, dicts and strings behind proxies behave as usual, and every call is recorded."""

from __future__ import annotations

from example_server import request, running_server
from holdfast import configure_debug, with_debug


def main() -> None:
    with running_server() as url:
        configure_debug(server_url=url)
        info = with_debug("ON")

        numbers = with_debug([3, 1, 2])
        numbers.append(4)
        print("a list:", isinstance(numbers, list), len(numbers), sorted(numbers), numbers[0])
        print("reflected:", [0] + numbers)  # noqa: RUF005

        ages = with_debug({"ann": 31})
        ages["bob"] = 27
        print("a dict:", "bob" in ages, ages.get("eve", "nobody"))

        # `with_debug` takes a plain string for a mode, so a string needs a name.
        text = with_debug(("greeting", "hello"))
        print("a string:", text.upper(), text + " there")

        calls = request(url, "GET", f"/api/calls?session={info.session_id()}&limit=200")["calls"]
        names = [call["method_name"] for call in reversed(calls)]
        print("recorded:", *dict.fromkeys(names))

        append = next(call for call in calls if call["method_name"] == "append")
        details = request(url, "GET", f"/api/calls/{append['call_id']}")
        print("the list after append:", details["changed"]["target"]["text"])
        with_debug("OFF")


if __name__ == "__main__":
    main()
