"""Lists, dicts and strings behind proxies: they behave as ever, and every call is recorded."""

from __future__ import annotations

from holdfast import configure_debug, with_debug
from serving import ask, serving


def main() -> None:
    with serving() as url:
        configure_debug(server_url=url)
        info = with_debug("ON")

        numbers = with_debug([3, 1, 2])
        numbers.append(4)
        print("a list:", isinstance(numbers, list), len(numbers), sorted(numbers), numbers[0])
        print("reflected:", [0] + numbers)  # noqa: RUF005

        ages = with_debug({"ann": 31})
        ages["bob"] = 27
        print("a dict:", "bob" in ages, ages.get("eve", "nobody"))

        # A bare string would be taken for a mode, so it is given a name.
        text = with_debug(("greeting", "hello"))
        print("a string:", text.upper(), text + " there")

        calls = ask(url, "GET", f"/api/calls?session={info.session_id()}&limit=200")["calls"]
        names = [call["method_name"] for call in reversed(calls)]
        print("recorded:", *dict.fromkeys(names))

        append = next(call for call in calls if call["method_name"] == "append")
        whole = ask(url, "GET", f"/api/calls/{append['call_id']}")
        print("append left:", whole["changed"]["target"]["text"])
        with_debug("OFF")


if __name__ == "__main__":
    main()
