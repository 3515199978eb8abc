"""The line on stderr about a held call: once, whole, and never in the application's way."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from typing import Any

import pytest

from application import Application
from holdfast import debug_call, with_debug
from scripted_server import CONTINUE, ScriptedServer, accept_all


class Shop:
    def price(self, item: Any, count: int = 1, **options: Any) -> int:
        return 3 * count


class BadRepr:
    def __repr__(self) -> str:
        raise RuntimeError("no")


def test_a_held_call_says_so_once_with_the_command_that_releases_it(
    app: Application, capsys: pytest.CaptureFixture[str]
) -> None:
    point = app.break_on("Shop.price", condition="item != 'milk'")
    shop = with_debug(Shop())
    shop.price("milk")
    assert capsys.readouterr().err == ""
    assert app.run_and_decide(lambda: shop.price("tea\n", count=2), "continue") == 6
    [hold] = [
        event["hold_id"]
        for event in app.server.get(f"/sessions/{app.session_id}/events")["events"]
        if event["type"] == "hold_opened"
    ]
    assert capsys.readouterr().err == (
        f"holdfast: Shop.price(item='tea\\n', count=2) is held before it runs by breakpoint "
        f"{point['id']} (Shop.price if item != 'milk'); release it with: "
        f"holdfast holds continue {hold} --url {app.server.url}\n"
    )


def test_the_line_is_one_line_of_bounded_length_whatever_the_arguments_are(
    app: Application, capsys: pytest.CaptureFixture[str]
) -> None:
    app.break_on("Shop.price", when="after")
    shop = with_debug(Shop())
    options = {f"option{number}": "x" * 1000 for number in range(50)}
    app.run_and_decide(lambda: shop.price(BadRepr(), **options), "continue")
    text = capsys.readouterr().err
    assert text.count("\n") == 1
    assert len(text) < 500
    assert "is held with its result by breakpoint" in text


@pytest.mark.parametrize("setting", ["1", "yes"])
def test_the_line_can_be_turned_off(
    app: Application,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    setting: str,
) -> None:
    monkeypatch.setenv("HOLDFAST_QUIET", setting)
    app.break_on("price")
    shop = with_debug(Shop())
    assert app.run_and_decide(lambda: shop.price("tea"), "continue") == 3
    assert capsys.readouterr().err == ""


class _Broken(io.StringIO):
    def write(self, text: str) -> int:
        raise UnicodeEncodeError("ascii", "", 0, 0, "never")


def test_no_stderr_fails_the_application(app: Application, monkeypatch: pytest.MonkeyPatch) -> None:
    closed = io.StringIO()
    closed.close()
    app.break_on("price")
    shop = with_debug(Shop())
    for stream in (None, closed, _Broken(), object()):
        with monkeypatch.context() as patch:
            patch.setattr(sys, "stderr", stream)
            assert app.run_and_decide(lambda: shop.price("tea"), "continue") == 3


def test_a_server_that_names_no_hold_gets_a_line_without_a_command(
    scripted: Callable[..., ScriptedServer], capsys: pytest.CaptureFixture[str]
) -> None:
    poll = {**CONTINUE, "action": "poll", "poll_url": "/api/poll/p1", "timeout_ms": 30_000}
    ready = {"status": "ready", "action": {"action": "continue"}}
    scripted(accept_all(start=poll, poll=ready))
    assert debug_call(len, [1]) == 1
    assert capsys.readouterr().err == "holdfast: len(obj=[1]) is held before it runs\n"
