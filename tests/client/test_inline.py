"""`debug_call` and `async_debug_call`: one call, here and now."""

from __future__ import annotations

import asyncio
import functools
import gc
import inspect
import weakref
from collections.abc import Callable
from typing import Any

import pytest

from application import Application, encode_value
from background import run_in_thread
from holdfast import (
    DebugProtocolError,
    async_debug_call,
    debug_call,
    with_debug,
)
from holdfast.client.switch import switch
from scripted_server import CONTINUE, ScriptedServer, accept_all, format_response


class Spy:
    """A callable that remembers."""

    def __init__(self) -> None:
        self.calls: list[Any] = []

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        self.calls.append((args, kwargs))
        return "called"


def record_calls(function: Any) -> tuple[Any, list[Any]]:
    """A function of the same kind that only remembers its calls, and those."""
    spy = Spy()

    async def later(*args: Any) -> Any:
        return spy(*args)

    return (later if inspect.iscoroutinefunction(function) else spy), spy.calls


def add(a: int, b: int = 1) -> int:
    return a + b


def multiply(a: int, b: int = 1) -> int:
    return a * b


async def aadd(a: int, b: int = 1) -> int:
    await asyncio.sleep(0)
    return a + b


async def amultiply(a: int, b: int = 1) -> int:
    return a * b


def broken() -> None:
    raise LookupError("inside")


Caller = Callable[..., Any]


def call_async(*args: Any, **kwargs: Any) -> Any:
    return asyncio.run(async_debug_call(*args, **kwargs))


def call_and_await(*args: Any, **kwargs: Any) -> Any:
    """`debug_call` of an asynchronous function, which gives its awaitable."""

    async def main() -> Any:
        return await debug_call(*args, **kwargs)

    return asyncio.run(main())


# Each way of calling, with a function of its kind and one to replace that with.
WAYS = pytest.mark.parametrize(
    ("call", "function", "other"),
    [
        (debug_call, add, multiply),
        (call_async, aadd, amultiply),
        (call_async, add, multiply),
        (call_and_await, aadd, amultiply),
    ],
    ids=["sync", "async", "async of sync", "sync of async"],
)


# -- off -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", [debug_call, call_async])
def test_off_calls_directly(call: Caller) -> None:
    with_debug("OFF")
    assert call(add, 2, b=3) == 5
    assert call("alias", add, 2) == 3


def test_off_awaits_what_is_awaitable() -> None:
    assert call_async(aadd, 2) == 3
    assert call_and_await("step", aadd, 2) == 3


def test_off_contacts_nobody(scripted: Callable[..., ScriptedServer]) -> None:
    server = scripted()
    with_debug("OFF")
    before = len(server.requests)
    debug_call(add, 1)
    debug_call("alias", add, 1)
    assert len(server.requests) == before


# -- on --------------------------------------------------------------------------------------------


@WAYS
def test_continue(app: Application, call: Caller, function: Any, other: Any) -> None:
    assert call(function, 2, b=3) == 5
    recorded = app.read_call(function.__name__)
    assert recorded["call_type"] == "inline"
    assert recorded["status"] == "success"
    assert recorded["result"]["text"] == "5"


@WAYS
def test_modify(app: Application, call: Caller, function: Any, other: Any) -> None:
    app.break_on(function.__name__)
    more = {"modified_args": [{"value": 10}], "modified_kwargs": {"b": {"value": 20}}}
    assert app.run_and_decide(lambda: call(function, 1), "modify", **more) == 30


@WAYS
def test_skip(app: Application, call: Caller, function: Any, other: Any) -> None:
    app.break_on("spied")
    spy, calls = record_calls(function)
    assert app.run_and_decide(lambda: call("spied", spy), "skip", fake_result={"value": 1}) == 1
    assert calls == []


@WAYS
def test_replace(app: Application, call: Caller, function: Any, other: Any) -> None:
    call(other, 1)  # which registers it
    app.break_on(function.__name__)
    name = other.__name__
    assert app.run_and_decide(lambda: call(function, 3, 4), "replace", function_name=name) == 12


@WAYS
def test_raise(app: Application, call: Caller, function: Any, other: Any) -> None:
    app.break_on("spied")
    spy, calls = record_calls(function)
    with pytest.raises(OSError, match="forced"):
        app.run_and_decide(
            lambda: call("spied", spy),
            "raise",
            exception_type="OSError",
            exception_message="forced",
        )
    assert calls == []


@WAYS
def test_poll_until_ready(app: Application, call: Caller, function: Any, other: Any) -> None:
    app.break_on(function.__name__)
    running = run_in_thread(lambda: call(function, 1))
    hold = app.wait_for_hold()
    assert not running.done()
    app.decide(hold, "continue")
    assert running.result(60) == 2


@WAYS
def test_after(app: Application, call: Caller, function: Any, other: Any) -> None:
    app.break_on(function.__name__, when="after")
    fake = encode_value("instead")
    assert app.run_and_decide(lambda: call(function, 1), "skip", fake_result=fake) == "instead"


@pytest.mark.parametrize("call", [debug_call, call_async])
def test_exceptions_are_reported_and_raised(app: Application, call: Caller) -> None:
    with pytest.raises(LookupError, match="inside"):
        call(broken)
    recorded = app.read_call("broken")
    assert recorded["status"] == "exception"
    assert recorded["exception_message"] == "inside"


@pytest.mark.parametrize("call", [debug_call, call_async])
def test_a_lost_completion_is_logged_and_the_result_delivered(
    scripted: Callable[..., ScriptedServer], caplog: pytest.LogCaptureFixture, call: Caller
) -> None:
    scripted(accept_all(complete=format_response({}, 500)))
    assert call(add, 1) == 2
    with pytest.raises(LookupError):
        call(broken)
    assert len([each for each in caplog.records if "could not be reported" in each.message]) == 2


@pytest.mark.parametrize("call", [debug_call, call_async])
def test_an_answer_without_a_call_id_is_a_protocol_error(
    scripted: Callable[..., ScriptedServer], call: Caller
) -> None:
    scripted(accept_all(start={"action": "continue"}))
    with pytest.raises(DebugProtocolError, match="call_id"):
        call(add, 1)


def test_a_plain_function_that_gives_a_coroutine_ends_with_it(app: Application) -> None:
    def later(a: int) -> Any:
        return aadd(a)

    assert call_and_await(later, 4) == 5
    assert app.read_call("later")["result"]["text"] == "5"


# -- alias -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("call", [debug_call, call_async])
def test_an_alias_names_the_call(app: Application, call: Caller) -> None:
    assert call("step_3", add, 4) == 5
    [recorded] = app.list_calls()
    assert (recorded["method_name"], recorded["alias"]) == ("step_3", "step_3")
    assert recorded["qualname"] == "add"


def test_without_an_alias_the_function_names_it(app: Application) -> None:
    debug_call(add, 1)
    debug_call(Spy())
    debug_call(lambda: 1)
    assert app.list_names() == ["add", "Spy.__call__", "<lambda>"]


@pytest.mark.parametrize("call", [debug_call, call_async])
@pytest.mark.parametrize("first", [3, None, ["f"]])
def test_what_is_neither_is_a_type_error(call: Caller, first: Any) -> None:
    with pytest.raises(TypeError, match="expects a callable or"):
        call(first, 1)


@pytest.mark.parametrize("call", [debug_call, call_async])
@pytest.mark.parametrize("rest", [(), (3,)])
def test_an_alias_needs_a_callable(call: Caller, rest: Any) -> None:
    with pytest.raises(TypeError, match="requires a callable as second argument"):
        call("alias", *rest)


# -- proxies, types, registration ------------------------------------------------------------------


def test_a_proxy_is_unwrapped(app: Application) -> None:
    assert debug_call(with_debug(add), 1) == 2
    assert [(call["method_name"], call["call_type"]) for call in app.list_calls()] == [
        ("add", "inline")
    ]


def test_call_type_tells_inline_from_proxy(scripted: Callable[..., ScriptedServer]) -> None:
    server = scripted()
    debug_call(add, 1)
    with_debug(add)(1)
    assert [each["call_type"] for each in server.bodies("/api/call/start")] == ["inline", "proxy"]


def test_a_function_is_registered_once(scripted: Callable[..., ScriptedServer]) -> None:
    server = scripted()
    for _ in range(5):
        debug_call(add, 1)
    [registered] = server.bodies("/api/call/register")
    assert registered["name"] == "add"
    assert registered["signature"] == "(a: 'int', b: 'int' = 1) -> 'int'"


@pytest.mark.parametrize("mode", ["strict", "leased"])
def test_a_name_may_be_any_text(app: Application, mode: str) -> None:
    app.restart(mode=mode)
    assert debug_call("half \ud800", add, 1) == 2
    with_debug("OFF")
    assert app.read_call("half \\ud800")["alias"] == "half \\ud800"


def test_registration_is_forgotten_when_off(scripted: Callable[..., ScriptedServer]) -> None:
    server = scripted()
    debug_call(add, 1)
    with_debug("OFF")
    with_debug("ON")
    debug_call(add, 1)
    assert len(server.bodies("/api/call/register")) == 2


def test_registering_never_pauses(app: Application) -> None:
    app.break_on("*")
    with_debug(add)
    assert len(app.find_registered("add")) == 1
    assert app.server.get("/api/holds")["holds"] == []


def test_a_registration_that_fails_halts(scripted: Callable[..., ScriptedServer]) -> None:
    scripted(accept_all(register=format_response({"error": {"message": "no"}}, 400)))
    spy = Spy()
    with pytest.raises(DebugProtocolError):
        debug_call(spy)
    assert spy.calls == []


def test_the_stack_begins_with_the_caller(scripted: Callable[..., ScriptedServer]) -> None:
    server = scripted()
    debug_call(add, 41)
    frame = server.bodies("/api/call/start")[0]["call_site"]["stack_trace"][0]
    assert frame["filename"] == __file__
    assert frame["function"] == "test_the_stack_begins_with_the_caller"
    assert frame["code_context"] == "debug_call(add, 41)"


def test_nothing_is_left_of_a_call(app: Application) -> None:
    """Arguments do not live on in the recorder."""
    import gc
    import weakref

    spy = Spy()
    debug_call(len, [spy])
    gone = weakref.ref(spy)
    del spy
    gc.collect()
    assert gone() is None
    assert switch.recorder is not None


def test_continue_is_two_requests(scripted: Callable[..., ScriptedServer]) -> None:
    server = scripted(accept_all(start=CONTINUE))
    debug_call(add, 1)
    before = len(server.requests)
    debug_call(add, 1)
    assert server.paths()[before:] == ["/api/call/start", "/api/call/complete"]


class Till:
    def __init__(self, total: int) -> None:
        self.total = total

    def add(self, number: int) -> int:
        return self.total + number


def test_a_method_in_a_loop_is_registered_once(scripted: Callable[..., ScriptedServer]) -> None:
    server = scripted()
    tills, items = [Till(1), Till(2)], [3]
    for number in range(30):
        assert debug_call(tills[number % 2].add, number) == number % 2 + 1 + number
    assert server.paths().count("/api/call/register") == 1
    assert sum(path in ("/api/call/start", "/api/call/complete") for path in server.paths()) == 60
    for _ in range(3):
        debug_call(items.index, 3)
    assert server.paths().count("/api/call/register") == 2


@pytest.mark.parametrize("mode", ["strict", "leased"])
def test_a_method_in_c_is_recorded_with_its_object_as_it_is(app: Application, mode: str) -> None:
    app.restart(mode=mode)
    append = [1].append
    wrapped = with_debug(append)
    for number in (2, 3):
        wrapped(number)
        debug_call(append, number)
    with_debug("OFF")
    targets = [call["target_cid"] for call in app.list_calls()]
    assert len(set(targets)) == 4


def test_a_function_that_a_loop_makes_is_registered_once_and_not_kept(
    scripted: Callable[..., ScriptedServer],
) -> None:
    server = scripted()
    made = []
    for number in range(5):

        def shift(value: int, by: int = number) -> int:
            return value + by

        made.append(weakref.ref(shift))
        assert debug_call(shift, 1) == number + 1
    assert server.paths().count("/api/call/register") == 1
    del shift
    gc.collect()
    assert [function() is None for function in made] == [True] * 4 + [False]


def test_functions_of_one_decorator_are_registered_each(app: Application) -> None:
    def trace(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def call(*args: Any) -> Any:
            return function(*args)

        return call

    class Tea:
        @staticmethod
        def price(count: int) -> int:
            return 3 * count

    class Cake:
        @staticmethod
        def price(count: int, size: int) -> int:
            return count * size

    debug_call(trace(Tea.price), 2)
    debug_call(trace(Cake.price), 2, 5)
    assert len(app.find_registered("price")) == 2


def test_a_method_that_replaces_another_is_that_of_the_last_object(app: Application) -> None:
    app.break_on("multiply")
    for total in (1, 2):
        debug_call("cheaper", Till(total).add, 0)
    result = app.run_and_decide(lambda: debug_call(multiply, 5), "replace", function_name="cheaper")
    assert result == 7
