"""The options of one proxy: `with_debug(obj, name=…, follow=…, on_unpicklable=…)`."""

from __future__ import annotations

import threading
from typing import Any

import pytest

from application import Application
from holdfast import with_debug
from holdfast.client.invocation import Invocation


class Shop:
    def price(self, item: str) -> int:
        return len(item)


def test_a_name_is_the_alias_of_its_calls(app: Application) -> None:
    with_debug(Shop(), name="corner").price("tea")
    assert app.read_call("price")["alias"] == "corner"


def test_with_a_name_the_first_argument_is_always_the_object(app: Application) -> None:
    assert with_debug("ON", name="word").lower() == "on"
    assert with_debug(("a", 1), name="pair")[0] == "a"
    assert [call["alias"] for call in app.list_calls()] == ["word", "pair"]


def test_a_proxy_that_is_wrapped_again_keeps_what_it_was_told(app: Application) -> None:
    first = with_debug(Shop(), name="corner", on_unpicklable="placeholder")
    assert with_debug(first) is first
    again = with_debug(first, follow=True)
    assert again is not first
    invocation = Invocation(again, "price", None, again.price, (), {}, None)
    assert (invocation.alias, invocation.on_unpicklable) == ("corner", "placeholder")


def test_an_object_that_cannot_be_stored_may_be_wrapped(app: Application) -> None:
    class Guard:
        def __init__(self) -> None:
            self.lock = threading.Lock()

        def is_free(self) -> bool:
            return not self.lock.locked()

    with_debug(Guard(), on_unpicklable="placeholder")


@pytest.mark.parametrize(
    "options", [{"on_unpicklable": "ignore"}, {"name": ""}, {"name": 3}, {"follow": "yes"}], ids=str
)
def test_a_wrong_option_of_a_proxy_is_a_value_error(options: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(options))):
        with_debug(Shop(), **options)


def test_the_modes_take_no_options() -> None:
    with pytest.raises(TypeError, match="takes no options"):
        with_debug("ON", follow=True)


def test_off_gives_back_the_very_object_whatever_the_options() -> None:
    shop = Shop()
    assert with_debug(shop, name="corner", follow=True, on_unpicklable="placeholder") is shop
