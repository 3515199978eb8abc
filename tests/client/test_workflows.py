"""Whole stories: an application, a real server, and somebody who decides."""

from __future__ import annotations

import base64
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from application import Application
from background import run_in_thread
from holdfast import debug_call, with_debug
from scripted_server import ScriptedServer


class Bank:
    def __init__(self) -> None:
        self.balance = 0

    def deposit(self, amount: int, *, note: str = "") -> int:
        self.balance += amount
        return self.balance

    def withdraw(self, amount: int) -> int:
        if amount > self.balance:
            raise ValueError("not enough money")
        self.balance -= amount
        return self.balance


def factorial(number: int) -> int:
    return 1 if number < 2 else int(number * debug_call(factorial, number - 1))


def test_full_workflow_debug_on(app: Application) -> None:
    bank = with_debug(Bank())
    assert bank.deposit(10, note="pay") == 10
    assert bank.withdraw(4) == 6
    with pytest.raises(ValueError, match="not enough"):
        bank.withdraw(100)
    assert bank.balance == 6
    assert app.list_names() == ["deposit", "withdraw", "withdraw"]
    assert app.list_calls()[-1]["exception_type"] == "ValueError"


def test_full_workflow_debug_off(scripted: Callable[..., ScriptedServer]) -> None:
    server = scripted(on=False)
    with_debug("OFF")
    bank = with_debug(Bank())
    assert type(bank) is Bank
    assert bank.deposit(10) == 10
    assert server.requests == []


def test_breakpoint_pause_and_resume(app: Application) -> None:
    app.break_on("deposit")
    target = Bank()
    running = run_in_thread(lambda: with_debug(target).deposit(10))
    hold = app.wait_for_hold()
    assert target.balance == 0
    shown = app.server.get(f"/api/holds/{hold}")
    assert shown["method_name"] == "deposit"
    app.decide(hold, "continue")
    assert running.result(60) == 10


def test_breakpoint_modify_args(app: Application) -> None:
    app.break_on("deposit")
    bank = with_debug(Bank())
    more = {"modified_args": [{"value": 99}]}
    assert app.run_and_decide(lambda: bank.deposit(1), "modify", **more) == 99


def test_breakpoint_skip_call(app: Application) -> None:
    app.break_on("deposit")
    target = Bank()
    bank = with_debug(target)
    assert app.run_and_decide(lambda: bank.deposit(1), "skip", fake_result={"value": -1}) == -1
    assert target.balance == 0


def test_breakpoint_force_exception(app: Application) -> None:
    app.break_on("deposit")
    bank = with_debug(Bank())
    with pytest.raises(PermissionError, match="closed"):
        app.run_and_decide(
            lambda: bank.deposit(1),
            "raise",
            exception_type="PermissionError",
            exception_message="closed",
        )


def test_breakpoints_may_have_conditions(app: Application) -> None:
    app.break_on("deposit", condition="args[0] > 10")
    bank = with_debug(Bank())
    assert bank.deposit(10) == 10
    assert app.run_and_decide(lambda: bank.deposit(11), "continue") == 21


def test_multiple_objects_wrapped(app: Application) -> None:
    first, second = with_debug(("first", Bank())), with_debug(("second", Bank()))
    first.deposit(1)
    second.deposit(2)
    assert [call["alias"] for call in app.list_calls()] == ["first", "second"]


def test_nested_method_calls(app: Application) -> None:
    inner = with_debug(Bank())

    class Branch:
        def pay(self, amount: int) -> int:
            inner.deposit(amount)
            return int(inner.withdraw(1))

    assert with_debug(Branch()).pay(5) == 4
    assert app.list_names() == ["pay", "deposit", "withdraw"]
    parent = app.read_call("pay")["call_id"]
    assert app.read_call("deposit")["parent_call_id"] == parent
    assert app.read_call("withdraw")["parent_call_id"] == parent
    assert app.read_call("pay")["parent_call_id"] is None


def test_recursive_method_calls(app: Application) -> None:
    assert debug_call(factorial, 5) == 120
    calls = [
        app.server.get(f"/api/calls/{call['call_id']}") for call in app.list_calls("factorial")
    ]
    assert [call["result"]["text"] for call in calls] == ["120", "24", "6", "2", "1"]
    assert [call["parent_call_id"] for call in calls[1:]] == [
        call["call_id"] for call in calls[:-1]
    ]


def test_concurrent_calls_multiple_threads(app: Application) -> None:
    banks = [with_debug((f"bank {number}", Bank())) for number in range(6)]
    threads = [
        threading.Thread(target=lambda bank=bank: [bank.deposit(1) for _ in range(5)])
        for bank in banks
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [bank.balance for bank in banks] == [5] * 6
    assert len(app.list_calls("deposit")) == 30


def test_web_ui_integration(app: Application) -> None:
    """What a page does: list breakpoints, switch one off and on, act on a hold."""
    point = app.break_on("deposit")
    path = f"/api/breakpoints/{point['id']}"
    bank = with_debug(Bank())
    app.server.patch(path, {"enabled": False})
    assert bank.deposit(1) == 1
    app.server.patch(path, {"enabled": True})
    running = run_in_thread(lambda: bank.deposit(1))
    app.wait_for_hold()
    [shown] = app.server.get("/api/holds")["holds"]
    app.decide(shown["hold_id"], "continue")
    assert running.result(60) == 2
    app.server.delete(path)
    assert bank.deposit(1) == 3


def test_cid_deduplication_across_calls(app: Application) -> None:
    bank = with_debug(Bank())
    bank.deposit(7, note="the same")
    bank.deposit(7, note="the same")
    first, second = app.list_calls("deposit")
    assert first["args"][0]["cid"] == second["args"][0]["cid"]
    assert first["kwargs"]["note"]["cid"] == second["kwargs"]["note"]["cid"]
    uses = app.server.get(f"/api/cid/{first['kwargs']['note']['cid']}/calls")["calls"]
    assert {first["call_id"], second["call_id"]} <= {call["call_id"] for call in uses}


def test_call_completion_on_success(app: Application) -> None:
    with_debug(Bank()).deposit(3)
    call = app.read_call("deposit")
    assert call["status"] == "success"
    assert call["result"]["text"] == "3"
    assert call["duration_ns"] > 0


def test_call_completion_on_exception(app: Application) -> None:
    with pytest.raises(ValueError, match="not enough"):
        with_debug(Bank()).withdraw(1)
    call = app.read_call("withdraw")
    assert call["status"] == "exception"
    assert (call["exception_type"], call["exception_message"]) == (
        "ValueError",
        "not enough money",
    )
    assert call["exception_cid"]


def test_call_completion_includes_timestamp(app: Application) -> None:
    before = time.time()
    with_debug(Bank()).deposit(3)
    call = app.read_call("deposit")
    assert before - 0.001 <= call["call_site"]["timestamp"] <= time.time()
    assert call["call_site"]["timestamp"] <= call["completed_at"] <= time.time()


def test_call_completion_result_cid(app: Application) -> None:
    import pickle

    with_debug(Bank()).deposit(3)
    assert pickle.loads(app.read_content(app.read_call("deposit")["result_cid"])) == 3


# -- what a start says -----------------------------------------------------------------------------


def _started(scripted: Callable[..., ScriptedServer]) -> Any:
    server = scripted()
    with_debug(Bank()).deposit(5, note="hi")
    return server.bodies("/api/call/start")[0]


def test_call_sends_method_name(scripted: Callable[..., ScriptedServer]) -> None:
    assert _started(scripted)["method_name"] == "deposit"


def test_call_sends_args_as_cid_and_data(scripted: Callable[..., ScriptedServer]) -> None:
    [item] = _started(scripted)["args"]
    assert len(item["cid"]) == 64
    assert base64.b64decode(item["data"])


def test_call_sends_kwargs_as_cid_and_data(scripted: Callable[..., ScriptedServer]) -> None:
    item = _started(scripted)["kwargs"]["note"]
    assert len(item["cid"]) == 64
    assert base64.b64decode(item["data"])


def test_call_sends_full_stack_trace(scripted: Callable[..., ScriptedServer]) -> None:
    frames = _started(scripted)["call_site"]["stack_trace"]
    assert frames[0]["function"] == "_started"
    assert frames[0]["filename"] == __file__
    assert frames[0]["code_context"] == 'with_debug(Bank()).deposit(5, note="hi")'
    assert frames[1]["function"] == "test_call_sends_full_stack_trace"
    assert len(frames) > 5
    assert all(frame["lineno"] for frame in frames)


def test_call_sends_timestamp(scripted: Callable[..., ScriptedServer]) -> None:
    before = time.time()
    assert before - 0.001 <= _started(scripted)["call_site"]["timestamp"] <= time.time() + 0.001


def test_call_sends_target_cid(scripted: Callable[..., ScriptedServer]) -> None:
    body = _started(scripted)
    assert body["target_cid"] == body["call_site"]["target_cid"] == body["target"]["cid"]


def test_no_network_when_debug_off(scripted: Callable[..., ScriptedServer]) -> None:
    server = scripted()
    bank = with_debug(Bank())
    with_debug("OFF")
    before = server.paths()
    bank.deposit(1)
    assert server.paths() == before


def test_stacks_are_told_apart_by_their_lines(app: Application) -> None:
    bank = with_debug(Bank())
    bank.deposit(1)
    bank.deposit(2)
    for _ in range(2):
        bank.deposit(3)
    lines = [
        app.server.get(f"/api/calls/{call['call_id']}")["call_site"]["stack_trace"][0]["lineno"]
        for call in app.list_calls("deposit")
    ]
    assert len(set(lines)) == 3
    assert lines[2] == lines[3]
