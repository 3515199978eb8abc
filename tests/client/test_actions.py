"""What the server may decide about a call, and that it is done."""

from __future__ import annotations

import base64
import builtins
import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from application import Application, encode_value
from background import run_in_thread
from holdfast import (
    DebugCIDMismatchError,
    DebugProtocolError,
    DebugServerError,
    DebugTimeoutError,
    with_debug,
)
from holdfast.client import call_hold
from scripted_server import CONTINUE, ScriptedServer, accept_all, format_response


class Teller:
    """Does something that one can see it did."""

    def __init__(self) -> None:
        self.done: list[Any] = []

    def tell(self, *args: Any, **kwargs: Any) -> Any:
        self.done.append((args, kwargs))
        return "told"

    def fail(self) -> None:
        self.done.append("fail")
        raise LookupError("as always")


class OddError(Exception):
    """Wants more than a message."""

    def __init__(self, code: int, message: str) -> None:
        super().__init__(code, message)


class Outer:
    class InnerError(Exception):
        pass


@pytest.fixture
def teller() -> Teller:
    return Teller()


def call_and_decide(app: Application, teller: Teller, action: str, *args: Any, **more: Any) -> Any:
    """`tell` through a proxy, held and so decided."""
    app.break_on("tell")
    proxy = with_debug(teller)
    return app.run_and_decide(lambda: proxy.tell(*args), action, **more)


# -- continue --------------------------------------------------------------------------------------


def test_action_continue_executes_original(app: Application, teller: Teller) -> None:
    with_debug(teller).tell(1, b=2)
    assert teller.done == [((1,), {"b": 2})]


def test_action_continue_returns_original_result(app: Application, teller: Teller) -> None:
    assert with_debug(teller).tell() == "told"


def test_action_continue_propagates_exceptions(app: Application, teller: Teller) -> None:
    with pytest.raises(LookupError, match="as always") as caught:
        with_debug(teller).fail()
    assert caught.value.__context__ is None
    assert caught.traceback[-1].name == "fail"


# -- poll ------------------------------------------------------------------------------------------


def test_action_poll_does_not_execute_immediately(app: Application, teller: Teller) -> None:
    app.break_on("tell")
    running = run_in_thread(with_debug(teller).tell)
    hold = app.wait_for_hold()
    assert teller.done == []
    assert not running.done()
    app.decide(hold, "continue")
    assert running.result(60) == "told"


POLL = {**CONTINUE, "action": "poll", "poll_url": "/api/poll/p1", "timeout_ms": 30_000}


def test_action_poll_polls_at_specified_interval(
    scripted: Callable[..., ScriptedServer], monkeypatch: pytest.MonkeyPatch
) -> None:
    """From a server that answers at once: never sooner than it said."""
    answers = iter(["waiting"] * 3 + ["ready"])

    def poll(body: Any) -> Any:
        return {"status": next(answers), "action": {"action": "continue"}}

    server = scripted(accept_all(start={**POLL, "poll_interval_ms": 50}, poll=poll))
    pauses: list[float] = []
    clock = SimpleNamespace(monotonic=lambda: 0.0, sleep=pauses.append)
    monkeypatch.setattr(call_hold, "time", clock)
    assert with_debug(len)([1]) == 1
    assert pauses == [0.05] * 3
    assert len([path for path in server.paths() if "/poll/" in path]) == 4


def test_action_poll_stops_when_ready(scripted: Callable[..., ScriptedServer]) -> None:
    ready = {"status": "ready", "action": {"action": "continue"}}
    server = scripted(accept_all(start={**POLL, "poll_interval_ms": 1}, poll=ready))
    with_debug(len)([1])
    assert len([path for path in server.paths() if "/poll/" in path]) == 1


def test_action_poll_executes_final_action(app: Application, teller: Teller) -> None:
    assert call_and_decide(app, teller, "skip", fake_result={"value": 7}) == 7


def test_action_poll_timeout_raises_exception(
    scripted: Callable[..., ScriptedServer], teller: Teller
) -> None:
    start = {**POLL, "poll_interval_ms": 1, "timeout_ms": 30}
    server = scripted(accept_all(start=start, poll={"status": "waiting"}))
    with pytest.raises(DebugTimeoutError, match="nobody decided"):
        with_debug(teller).tell()
    assert teller.done == []
    [end] = server.bodies("/api/call/complete")
    assert end["status"] == "exception"


def test_action_poll_server_error_raises_exception(
    scripted: Callable[..., ScriptedServer], teller: Teller
) -> None:
    scripted(accept_all(start=POLL, poll=format_response({"error": "no"}, 500)))
    with pytest.raises(DebugServerError, match="500"):
        with_debug(teller).tell()
    assert teller.done == []


def test_action_poll_can_lead_to_continue(app: Application, teller: Teller) -> None:
    assert call_and_decide(app, teller, "continue", 1) == "told"
    assert teller.done == [((1,), {})]


def test_action_poll_can_lead_to_skip(app: Application, teller: Teller) -> None:
    assert call_and_decide(app, teller, "skip", fake_result={"value": "no"}) == "no"
    assert teller.done == []


def test_action_poll_can_lead_to_modify(app: Application, teller: Teller) -> None:
    call_and_decide(app, teller, "modify", 1, modified_args=[{"value": 2}])
    assert teller.done == [((2,), {})]


def test_action_poll_can_lead_to_raise(app: Application, teller: Teller) -> None:
    with pytest.raises(ValueError, match="forced"):
        call_and_decide(
            app, teller, "raise", exception_type="ValueError", exception_message="forced"
        )
    assert teller.done == []


# -- skip ------------------------------------------------------------------------------------------


def test_action_skip_does_not_execute_original(app: Application, teller: Teller) -> None:
    call_and_decide(app, teller, "skip", fake_result={"value": 1})
    assert teller.done == []


def test_action_skip_returns_fake_result(app: Application, teller: Teller) -> None:
    assert call_and_decide(app, teller, "skip", fake_result={"value": {"a": [1, None]}}) == {
        "a": [1, None]
    }


def test_action_skip_fake_result_none(app: Application, teller: Teller) -> None:
    assert call_and_decide(app, teller, "skip", fake_result={"value": None}) is None


def test_action_skip_fake_result_complex_type(app: Application, teller: Teller) -> None:
    found = call_and_decide(
        app, teller, "skip", fake_result=encode_value({"set": {1, 2}, "error": OSError(3)})
    )
    assert found["set"] == {1, 2}
    assert isinstance(found["error"], OSError)


def test_a_fake_result_may_be_a_python_literal(app: Application, teller: Teller) -> None:
    assert call_and_decide(app, teller, "skip", fake_result={"literal": "(1, {2, 3})"}) == (
        1,
        {2, 3},
    )


def test_action_skip_no_side_effects(app: Application, teller: Teller) -> None:
    argument = [1]
    call_and_decide(app, teller, "skip", argument, fake_result={"value": 1})
    assert argument == [1]
    assert not app.read_call("tell")["changed"]


def test_action_skip_result_by_cid(app: Application, teller: Teller) -> None:
    with_debug(len)([7, 8, 9])
    cid = app.read_call("len")["args"][0]["cid"]
    assert call_and_decide(app, teller, "skip", fake_result={"cid": cid}) == [7, 8, 9]


def test_a_fake_result_by_cid_alone_is_fetched(scripted: Callable[..., ScriptedServer]) -> None:
    made = encode_value([1, 2])
    raw = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s"
    data = base64.b64decode(made["data"])
    skip = {**CONTINUE, "action": "skip", "fake_result_cid": made["cid"]}

    def answer(server: ScriptedServer, method: str, path: str, body: Any) -> Any:
        if path.startswith("/api/cid/"):
            return raw % (len(data), data)
        return accept_all(start=skip)(server, method, path, body)

    scripted(answer)
    assert with_debug(len)([]) == [1, 2]


def test_a_fake_result_that_is_not_what_it_says_is_refused(
    scripted: Callable[..., ScriptedServer],
) -> None:
    wrong = {"fake_result_cid": "1" * 64, "fake_result_data": encode_value(1)["data"]}
    scripted(accept_all(start={**CONTINUE, "action": "skip", **wrong}))
    with pytest.raises(DebugCIDMismatchError):
        with_debug(len)([])


# -- raise -----------------------------------------------------------------------------------------


def force_exception(app: Application, teller: Teller, name: str, message: str = "forced") -> Any:
    return call_and_decide(app, teller, "raise", exception_type=name, exception_message=message)


def test_action_raise_does_not_execute_original(app: Application, teller: Teller) -> None:
    with pytest.raises(RuntimeError):
        force_exception(app, teller, "RuntimeError")
    assert teller.done == []


def test_action_raise_raises_specified_exception(app: Application, teller: Teller) -> None:
    with pytest.raises(ZeroDivisionError):
        force_exception(app, teller, "ZeroDivisionError")


def test_action_raise_exception_message(app: Application, teller: Teller) -> None:
    with pytest.raises(ValueError, match=r"^just so$"):
        force_exception(app, teller, "ValueError", "just so")


@pytest.mark.parametrize("name", [f"{__name__}.OddError", "OddError", "json.JSONDecodeError"])
def test_action_raise_custom_exception_types(app: Application, teller: Teller, name: str) -> None:
    app.break_on("tell")
    proxy = with_debug(teller)

    def work() -> Any:
        return proxy.tell(OddError)  # the name is looked up here

    with pytest.raises(Exception, match="forced") as caught:
        app.run_and_decide(work, "raise", exception_type=name, exception_message="forced")
    assert type(caught.value).__name__ == name.rpartition(".")[2]


def test_exceptions_may_be_nested_in_classes(app: Application, teller: Teller) -> None:
    with pytest.raises(Outer.InnerError):
        force_exception(app, teller, f"{__name__}.Outer.InnerError")


@pytest.mark.parametrize("name", ["KeyError", "OSError", "StopIteration", "UnicodeDecodeError"])
def test_action_raise_builtin_exceptions(app: Application, teller: Teller, name: str) -> None:
    with pytest.raises(getattr(builtins, name)):
        force_exception(app, teller, name)


def test_an_exception_may_be_given_whole(app: Application, teller: Teller) -> None:
    made = encode_value(OddError(7, "whole"))
    with pytest.raises(OddError) as caught:
        call_and_decide(
            app, teller, "raise", exception_cid=made["cid"], exception_data=made["data"]
        )
    assert caught.value.args == (7, "whole")


UNKNOWN = ["NoSuchError", "nowhere.Error", "json.dumps", "print"]


@pytest.mark.parametrize("name", UNKNOWN)
def test_an_unknown_exception_is_a_protocol_error(
    scripted: Callable[..., ScriptedServer], teller: Teller, name: str
) -> None:
    """From a server that does not have its decisions checked."""
    scripted(accept_all(start={**CONTINUE, "action": "raise", "exception_type": name}))
    with pytest.raises(DebugProtocolError, match="no exception"):
        with_debug(teller).tell()
    assert teller.done == []


class Coded(Exception):
    def __init__(self, code: int, *, detail: str) -> None:
        super().__init__(f"{code}: {detail}")
        self.code, self.detail = code, detail


class Stubborn(Coded):
    def __str__(self) -> str:
        return f"{self.code} {self.detail}"


def test_an_exception_is_made_of_its_constructors_arguments(
    app: Application, teller: Teller
) -> None:
    with pytest.raises(Coded) as caught:
        call_and_decide(
            *(app, teller, "raise"),
            exception_type=f"{__name__}.Coded",
            exception_args=[{"value": 7}],
            exception_kwargs={"detail": {"literal": "'gone'"}},
        )
    assert (caught.value.code, caught.value.detail, str(caught.value)) == (7, "gone", "7: gone")


def decide_held(app: Application, work: Callable[[], Any], *decisions: dict[str, Any]) -> Any:
    """What the server answers to each decision about one held call. The last one must settle it."""
    running = run_in_thread(work)
    hold = app.wait_for_hold()
    path = f"/api/holds/{hold}/decision"
    answers = [
        app.server.post(path, {"by": "a test", **decision}, expect=400)
        for decision in decisions[:-1]
    ]
    assert not running.done()
    answers.append(app.server.post(path, {"by": "a test", **decisions[-1]}))
    return answers, running


def test_an_exception_without_its_arguments_says_that_its_constructor_did_not_run(
    app: Application, teller: Teller
) -> None:
    app.break_on("tell")
    decision = {"action": "raise", "exception_type": f"{__name__}.Coded"}
    proxy = with_debug(teller)
    [answer], running = decide_held(app, proxy.tell, {**decision, "exception_message": "x"})
    assert "constructor of Coded did not run" in answer["note"]
    assert "(code: 'int', *, detail: 'str')" in answer["note"]
    with pytest.raises(Coded, match=r"^x$"):
        running.result(60)
    assert app.read_call("tell")["decision"]["note"] == answer["note"]


def test_an_exception_that_cannot_be_made_so_is_refused_and_the_call_stays_held(
    app: Application, teller: Teller
) -> None:
    app.break_on("tell")
    proxy, name = with_debug(teller), f"{__name__}.Stubborn"
    [by_message, by_arguments, _], running = decide_held(
        *(app, proxy.tell),
        {"action": "raise", "exception_type": name, "exception_message": "x"},
        {"action": "raise", "exception_type": name, "exception_args": [{"value": 1}]},
        {"action": "continue"},
    )
    assert "cannot be made from a message alone" in by_message["error"]["message"]
    assert "exception_args" in by_message["error"]["hint"]
    assert "detail" in by_arguments["error"]["message"]
    assert running.result(60) == "told"


def test_a_unicode_error_and_a_validation_error_carry_the_message(
    app: Application, teller: Teller
) -> None:
    with pytest.raises(UnicodeDecodeError, match="forced"):
        force_exception(app, teller, "UnicodeDecodeError")
    pydantic = pytest.importorskip("pydantic")
    with pytest.raises(pydantic.ValidationError, match="forced"):
        force_exception(app, teller, "pydantic.ValidationError")


@pytest.mark.parametrize("name", [*UNKNOWN, "ValueErorr"])
def test_an_unknown_exception_is_refused_and_the_call_stays_held(
    app: Application, teller: Teller, name: str
) -> None:
    app.break_on("tell")
    decision = {"action": "raise", "exception_type": name}
    proxy = with_debug(teller)
    [refused, done], running = decide_held(app, proxy.tell, decision, {"action": "continue"})
    assert refused["error_code"] == "invalid_decision"
    assert "no exception" in refused["error"]["message"]
    assert refused["error"]["details"]["field"] == "exception_type"
    if name == "ValueErorr":
        assert "did you mean ValueError?" in refused["error"]["message"]
    assert not done["checked"]
    assert running.result(60) == "told"


class Refusing:
    def __setstate__(self, state: Any) -> None:
        raise RuntimeError("not here")

    def __getstate__(self) -> Any:
        return {"a": 1}


def test_a_value_that_does_not_load_in_the_application_is_refused(
    app: Application, teller: Teller
) -> None:
    app.break_on("tell")
    wrong = {"action": "skip", "fake_result": encode_value(Refusing())}
    right = {"action": "skip", "fake_result": {"value": 1}}
    [refused, done], running = decide_held(app, with_debug(teller).tell, wrong, right)
    assert "not here" in refused["error"]["message"]
    assert done["checked"]
    assert running.result(60) == 1


class Counting:
    loaded = 0

    def __setstate__(self, state: Any) -> None:
        type(self).loaded += 1

    def __getstate__(self) -> Any:
        return {"a": 1}


def test_a_value_that_was_checked_is_not_loaded_again(app: Application, teller: Teller) -> None:
    Counting.loaded = 0
    result = call_and_decide(app, teller, "skip", fake_result=encode_value(Counting()))
    assert isinstance(result, Counting)
    assert Counting.loaded == 1


def test_the_end_of_a_call_is_decided_with_a_check_too(app: Application, teller: Teller) -> None:
    app.break_on("fail", when="exception")
    wrong = {"action": "raise", "exception_type": "nowhere.Error"}
    right = {"action": "raise", "exception_type": "KeyError"}
    [refused, _], running = decide_held(app, with_debug(teller).fail, wrong, right)
    assert "no exception" in refused["error"]["message"]
    with pytest.raises(KeyError):
        running.result(60)


# -- modify ----------------------------------------------------------------------------------------


def test_action_modify_executes_with_new_args(app: Application, teller: Teller) -> None:
    call_and_decide(app, teller, "modify", 1, 2, modified_args=[{"value": 3}, {"value": [4]}])
    assert teller.done == [((3, [4]), {})]


def test_action_modify_partial_args(app: Application, teller: Teller) -> None:
    call_and_decide(app, teller, "modify", 1, 2, 3, modified_args=[None, {"value": "two"}])
    assert teller.done == [((1, "two", 3), {})]


def test_action_modify_add_kwargs(app: Application, teller: Teller) -> None:
    call_and_decide(app, teller, "modify", 1, modified_kwargs={"x": {"value": 5}})
    assert teller.done == [((1,), {"x": 5})]


def test_action_modify_preserves_unmodified_args(app: Application, teller: Teller) -> None:
    app.break_on("tell")
    first, proxy = ["the same"], with_debug(teller)
    more = {"modified_kwargs": {"b": {"value": 3}}}
    app.run_and_decide(lambda: proxy.tell(first, a=1, b=2), "modify", **more)
    [(args, kwargs)] = teller.done
    assert args[0] is first
    assert kwargs == {"a": 1, "b": 3}


def test_action_modify_args_by_cid(app: Application, teller: Teller) -> None:
    with_debug(len)("known already")
    cid = app.read_call("len")["args"][0]["cid"]
    call_and_decide(app, teller, "modify", 1, modified_args=[{"cid": cid}])
    assert teller.done == [(("known already",), {})]


def test_action_modify_args_with_data(app: Application, teller: Teller) -> None:
    call_and_decide(app, teller, "modify", 1, modified_args=[encode_value({1, 2})])
    assert teller.done == [(({1, 2},), {})]


class Shop:
    def price(self, item: str, count: int = 1, /, tax: int = 0, *rest: int, **options: Any) -> Any:
        return item, count, tax, rest, options

    def label(self, item: str, *, size: int = 2) -> str:
        return f"{item}:{size}"


@pytest.mark.parametrize(
    ("args", "kwargs", "changes", "expected"),
    [
        (("tea",), {}, {"item": "cake"}, ("cake", 1, 0, (), {})),
        (("tea",), {}, {"count": 3}, ("tea", 3, 0, (), {})),
        (("tea", 2, 5), {}, {"tax": 6}, ("tea", 2, 6, (), {})),
        (("tea",), {"tax": 5}, {"tax": 6}, ("tea", 1, 6, (), {})),
        (("tea",), {}, {"tax": 6}, ("tea", 1, 6, (), {})),
        (("tea", 2, 5, 7), {}, {"rest": [8, 9]}, ("tea", 2, 5, (8, 9), {})),
        (("tea",), {"tax": 4}, {"rest": [8]}, ("tea", 1, 4, (8,), {})),
        (("tea",), {"color": 1}, {"color": 2}, ("tea", 1, 0, (), {"color": 2})),
        (("tea",), {"color": 1}, {"options": {"size": 3}}, ("tea", 1, 0, (), {"size": 3})),
        # Keyword arguments that have the names of parameters which take none.
        (
            ("tea",),
            {"item": 1, "rest": 2},
            {"options": {"size": 3}},
            ("tea", 1, 0, (), {"size": 3}),
        ),
        (("tea",), {"options": 1, "tax": 4}, {"options": {}}, ("tea", 1, 4, (), {})),
    ],
)
def test_an_argument_is_modified_by_name_however_it_was_passed(
    app: Application, args: Any, kwargs: Any, changes: Any, expected: Any
) -> None:
    app.break_on("price")
    shop = with_debug(Shop())
    values = {name: {"value": value} for name, value in changes.items()}
    found = app.run_and_decide(
        lambda: shop.price(*args, **kwargs), "modify", modified_kwargs=values
    )
    assert found == expected


def test_a_name_that_is_no_parameter_is_refused_with_the_nearest(app: Application) -> None:
    app.break_on("label")
    shop = with_debug(Shop())
    [unknown, twice, _], running = decide_held(
        *(app, lambda: shop.label("tea")),
        {"action": "modify", "modified_kwargs": {"itme": {"value": 1}}},
        {"action": "modify", "modified_args": [None, {"value": 3}]},
        {"action": "modify", "modified_kwargs": {"item": {"value": "cake"}}},
    )
    assert "has no parameter 'itme'; did you mean item?" in unknown["error"]["message"]
    assert unknown["error"]["details"]["choices"] == ["item", "size"]
    assert "does not take these arguments" in twice["error"]["message"]
    assert running.result(60) == "cake:2"


# -- replace ---------------------------------------------------------------------------------------


def plus(a: int, b: int) -> int:
    return a + b


def times(a: int, b: int) -> int:
    return a * b


def test_a_registered_function_may_replace_another(app: Application) -> None:
    add, _ = with_debug(plus), with_debug(times)
    app.break_on("plus")
    assert app.run_and_decide(lambda: add(3, 4), "replace", function_name="times") == 12


def plus_more(a: int, b: int, c: int = 100, **rest: int) -> int:
    return a + b + c


def half(a: int) -> float:
    return a / 2


def test_a_replacement_only_has_to_take_the_arguments_of_the_call(app: Application) -> None:
    add, _, _ = with_debug(plus), with_debug(plus_more), with_debug(half)
    app.break_on("plus")
    [unknown, misfit, _], running = decide_held(
        *(app, lambda: add(3, b=4)),
        {"action": "replace", "function_name": "plus_mor"},
        {"action": "replace", "function_name": "half"},
        {"action": "replace", "function_name": "plus_more"},
    )
    assert "did you mean plus_more?" in unknown["error"]["message"]
    assert "half(a: 'int') -> 'float' does not take" in misfit["error"]["message"]
    assert "plus_more" in misfit["error"]["details"]["choices"]
    assert running.result(60) == 107


def test_a_refused_replacement_says_which_functions_can_replace(app: Application) -> None:
    shop = with_debug(Shop())
    app.break_on("label")
    [refused, _], running = decide_held(
        *(app, lambda: shop.label("tea")),
        {"action": "replace", "function_name": "Shop.price"},
        {"action": "continue"},
    )
    assert "A function that was wrapped itself" in refused["error"]["hint"]
    assert running.result(60) == "tea:2"


@pytest.mark.parametrize("name", [None, "", "nobody"])
def test_an_unknown_replacement_is_a_protocol_error(
    scripted: Callable[..., ScriptedServer], teller: Teller, name: str | None
) -> None:
    scripted(accept_all(start={**CONTINUE, "action": "replace", "function_name": name}))
    with pytest.raises(DebugProtocolError):
        with_debug(teller).tell()
    assert teller.done == []


# -- after the call --------------------------------------------------------------------------------


def test_a_result_may_be_held_and_replaced(app: Application, teller: Teller) -> None:
    app.break_on("tell", when="after")
    proxy = with_debug(teller)
    assert app.run_and_decide(proxy.tell, "skip", fake_result={"value": "other"}) == "other"
    assert teller.done == [((), {})]
    assert app.run_and_decide(proxy.tell, "continue") == "told"
    with pytest.raises(ValueError, match="after all"):
        app.run_and_decide(
            proxy.tell, "raise", exception_type="ValueError", exception_message="after all"
        )


def test_an_exception_may_be_held_and_swallowed(app: Application, teller: Teller) -> None:
    app.break_on("fail", when="exception")
    proxy = with_debug(teller)
    assert app.run_and_decide(proxy.fail, "skip", fake_result={"value": "fine"}) == "fine"
    with pytest.raises(LookupError):
        app.run_and_decide(proxy.fail, "continue")
    with pytest.raises(OSError, match="worse"):
        app.run_and_decide(proxy.fail, "raise", exception_type="OSError", exception_message="worse")


# -- while it is held ------------------------------------------------------------------------------


def test_expressions_are_evaluated_in_the_callers_frame(app: Application, teller: Teller) -> None:
    app.break_on("tell")
    proxy = with_debug(teller)

    def caller(price: int) -> Any:
        basket = [price, price * 2]
        return proxy.tell(basket)

    running = run_in_thread(lambda: caller(21))
    hold = app.wait_for_hold()

    def evaluate(expression: str) -> Any:
        return app.server.post(f"/api/holds/{hold}/evaluate", {"expression": expression})

    assert evaluate("price * 2")["result"] == "42"
    assert evaluate("sum(price + each for each in basket)")["result"] == "105"
    assert evaluate("proxy.done")["result"] == "[]"
    assert len(evaluate("'x' * 5000")["result"]) < 1100
    long = {"expression": "'x' * 5000", "max_chars": 5000}
    assert app.server.post(f"/api/holds/{hold}/evaluate", long)["result"] == repr("x" * 5000)
    evaluate("basket.append(0)")
    app.server.post(f"/api/holds/{hold}/evaluate", {"expression": "1/0"}, expect=400)
    app.decide(hold, "continue")
    assert running.result(60) == "told"
    assert teller.done[0][0][0] == [21, 42, 0]


def test_what_is_evaluated_is_never_held_itself(app: Application, teller: Teller) -> None:
    app.break_on("tell")
    proxy = with_debug(teller)

    def caller() -> Any:
        return proxy.tell("first")

    running = run_in_thread(caller)
    hold = app.wait_for_hold()
    shown = app.server.post(f"/api/holds/{hold}/evaluate", {"expression": "proxy.tell('second')"})
    assert shown["result"] == "'told'"
    app.decide(hold, "continue")
    running.result(60)
    assert app.list_names() == ["tell"]


def test_a_decision_ends_the_wait_at_once(app: Application, teller: Teller) -> None:
    """Its poll is answered by the decision: one request, however long it was held."""
    app.break_on("tell")
    running = run_in_thread(with_debug(teller).tell)
    hold = app.wait_for_hold()
    release = threading.Event()
    running.add_done_callback(lambda _: release.set())
    app.decide(hold, "continue")
    assert release.wait(60)


def test_a_decision_made_beforehand_counts_after_the_call_too(app: Application) -> None:
    action = {"action": "skip", "fake_result": {"value": "instead"}}
    app.break_on("once", when="after", action=action)

    def once() -> str:
        return "made"

    assert with_debug(once)() == "instead"
    assert app.read_call("once")["result"]["text"] == "'made'"


def test_an_exception_can_be_swallowed_beforehand(app: Application) -> None:
    action = {"action": "skip", "fake_result": {"value": None}}
    app.break_on("fails", when="exception", action=action)

    def fails() -> None:
        raise LookupError("nothing here")

    assert with_debug(fails)() is None


def test_an_expression_that_never_returns_is_interrupted(app: Application, teller: Teller) -> None:
    app.break_on("tell")
    running = run_in_thread(lambda: with_debug(teller).tell("first"))
    hold = app.wait_for_hold()
    body = {"expression": "all(True for _ in iter(int, 1))", "timeout": 0.2}
    answer = app.server.http.post(f"/api/holds/{hold}/evaluate", json=body)
    assert answer.status_code >= 400
    shown = app.server.post(f"/api/holds/{hold}/evaluate", {"expression": "1 + 1"})
    assert "2" in str(shown)
    app.decide(hold, "continue")
    running.result(60)


@pytest.mark.parametrize("how", ["off", "deleted"])
def test_a_held_call_whose_session_ends_is_not_made(
    app: Application, teller: Teller, how: str, caplog: pytest.LogCaptureFixture
) -> None:
    app.break_on("tell")
    running = run_in_thread(lambda: with_debug(teller).tell("first"))
    app.wait_for_hold()
    if how == "off":
        with_debug("OFF")
    else:
        app.server.delete(f"/sessions/{app.session_id}")
    with pytest.raises(DebugServerError, match="the session has ended"):
        running.result(60)
    assert caplog.records == []


# -- conditions by parameter name ------------------------------------------------------------------


class Priced:
    def __init__(self, total: int) -> None:
        self.total = total


class Till:
    def pay(self, order: Any, *, how: Any = ("cash", 1), status: str = "new") -> int:
        return 1

    def refuse(self, order: Any) -> None:
        raise LookupError(order)


@pytest.mark.parametrize(
    ("when", "condition"),
    [
        ("before", "order.total > 10"),
        ("before", "order.total > 10 and how == ('cash', 1)"),
        ("before", "params['status'] == 'new' and order.total > 10"),
        ("after", "order.total > 10 and result == 1"),
    ],
)
def test_a_condition_knows_parameters_attributes_and_defaults(
    app: Application, when: str, condition: str
) -> None:
    app.break_on("Till.pay", when=when, condition=condition)
    till = with_debug(Till())
    assert till.pay(Priced(10)) == 1
    assert app.run_and_decide(lambda: till.pay(Priced(11)), "skip", fake_result={"value": 2}) == 2
    assert app.run_and_decide(lambda: till.pay(order=Priced(12)), "continue") == 1


def test_a_condition_on_an_exception_knows_parameters(app: Application) -> None:
    app.break_on("refuse", when="exception", condition="order == 2 and exception.type != ''")
    till = with_debug(Till())
    with pytest.raises(LookupError):
        till.refuse(1)
    decided = {"fake_result": {"value": "ok"}}
    assert app.run_and_decide(lambda: till.refuse(2), "skip", **decided) == "ok"
