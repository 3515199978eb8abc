"""An application's tracebacks, logs and warnings are the same with and without proxies."""

from __future__ import annotations

import asyncio
import builtins
import contextlib
import copy
import functools
import logging
import math
import operator
import os
import re
import subprocess
import sys
import threading
import warnings
from collections.abc import AsyncIterator, Callable, Generator, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from application import Application
from harness import OUR_PACKAGE, PROGRAMS, Server, names_our_files
from holdfast import async_debug_call, debug_call, with_debug
from observations import Observation, describe_error, observe

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="0017-frames-in-between.md says what Python 3.10 cannot hide"
)

log = logging.getLogger("the.application")
DOORS: dict[str, int] = {}
call_plainly: Any = getattr(operator, "call", None)  # from Python 3.11 on


class Shop:
    """Fails in every way that there is."""

    def __init__(self) -> None:
        self.stock = {"tea": 3}

    def take(self, item: str) -> int:
        return self.stock[item]

    def sell(self, item: str) -> int:
        try:
            return self.take(item)
        except KeyError:
            raise ValueError(f"no {item}")  # noqa: B904 - the implicit chain is what is tested

    def sell_because(self, item: str) -> int:
        try:
            return self.take(item)
        except KeyError as problem:
            raise ValueError(f"no {item}") from problem

    def sell_quietly(self, item: str) -> int:
        try:
            return self.take(item)
        except KeyError:
            raise ValueError(f"no {item}") from None

    def close(self) -> None:
        problem: Any = ValueError("closed")
        problem.add_note("since noon")
        raise problem

    def audit(self) -> None:
        problems: list[Exception] = []
        for item in ("milk", "salt"):
            try:
                self.sell(item)
            except ValueError as problem:
                problems.append(problem)
        raise vars(builtins)["ExceptionGroup"]("audit", problems)  # from Python 3.11 on

    def pass_on(self, work: Callable[[], Any]) -> Any:
        return work()

    def count(self, upto: int) -> Iterator[int]:
        yield from range(upto)
        raise OverflowError("all counted")

    @property
    def owner(self) -> str:
        return str(self.sell("owner"))

    def __setattr__(self, name: str, value: Any) -> None:
        if name == "price":
            raise AttributeError(f"{name} is fixed")
        super().__setattr__(name, value)

    def __getitem__(self, item: str) -> int:
        return self.sell(item)

    def __add__(self, other: Any) -> Any:
        return self.sell(other)

    def __enter__(self) -> Shop:
        return self

    def __exit__(self, *problem: object) -> None:
        try:
            self.take("key")
        finally:
            self.close()

    def __eq__(self, other: object) -> bool:
        raise TypeError("shops cannot be compared")

    def __hash__(self) -> int:
        raise TypeError("shops cannot be hashed")

    def log_sale(self, stacklevel: int) -> None:
        log.warning("sold", stacklevel=stacklevel)

    def log_failure(self) -> None:
        try:
            self.sell("gold")
        except ValueError:
            log.exception("failed", stacklevel=2)

    def warn(self, stacklevel: int) -> None:
        warnings.warn("old", DeprecationWarning, stacklevel=stacklevel)

    async def deliver(self, item: str) -> int:
        await asyncio.sleep(0)
        return self.sell(item)

    async def stream(self, upto: int) -> AsyncIterator[int]:
        for number in range(upto):
            with contextlib.suppress(LookupError):
                yield number
        raise OverflowError("all streamed")

    async def __aenter__(self) -> Shop:
        return self

    async def __aexit__(self, *problem: object) -> None:
        await self.deliver("van")


class Numbers:
    def __init__(self) -> None:
        self.left = 2

    def __iter__(self) -> Numbers:
        return self

    def __next__(self) -> int:
        self.left -= 1
        if self.left < 0:
            raise OverflowError("all gone")
        return self.left


def refuse(item: str) -> None:
    raise PermissionError(item)


# -- exceptions ------------------------------------------------------------------------------------
# Each of these is run with the plain object and with a proxy.


def fail_while_handling(shop: Any) -> None:
    try:
        [].pop()
    except IndexError:
        shop.sell("milk")


def fail_in_finally(shop: Any) -> None:
    try:
        DOORS["front"]
    finally:
        shop.sell("milk")


def raise_again(shop: Any) -> None:
    try:
        shop.sell("milk")
    except ValueError:
        shop.take("milk")
        raise


def fail_in_generator(shop: Any) -> list[int]:
    def lines() -> Iterator[int]:
        try:
            yield 1
        finally:
            shop.sell("milk")

    return list(lines())


def fail_in_closed_generator(shop: Any) -> None:
    def lines() -> Generator[int, None, None]:
        try:
            yield 1
        except LookupError:
            shop.sell("milk")

    work = lines()
    next(work)
    work.throw(LookupError("closed"))


def fail_in_callback(shop: Any) -> Any:
    return shop.pass_on(lambda: shop.pass_on(lambda: shop["milk"]))


def fail_to_iterate(shop: Any) -> list[int]:
    return list(shop.count(2))


def fail_in_with(shop: Any) -> None:
    with shop:
        raise RuntimeError("inside")


def fail_in_thread(shop: Any) -> list[Any]:
    told: list[Any] = []
    hook, threading.excepthook = (
        threading.excepthook,
        lambda seen: told.append(describe_error(seen.exc_value)),
    )
    try:
        thread = threading.Thread(target=shop.sell, args=("milk",))
        thread.start()
        thread.join()
    finally:
        threading.excepthook = hook
    assert told
    return told


async def fail_in_task(shop: Any) -> None:
    try:
        DOORS["front"]
    except KeyError:
        await asyncio.create_task(shop.deliver("milk"))


async def fail_in_gathered(shop: Any) -> list[Any]:
    done = await asyncio.gather(shop.deliver("milk"), shop.deliver("salt"), return_exceptions=True)
    return [describe_error(each) for each in done]


async def fail_to_stream(shop: Any) -> None:
    async for _ in shop.stream(2):
        pass


async def throw_into_stream(shop: Any) -> None:
    stream = shop.stream(1)
    await stream.__anext__()
    await stream.athrow(LookupError("thrown"))


async def throw_what_is_not_caught(shop: Any) -> None:
    stream = shop.stream(1)
    await stream.__anext__()
    await stream.athrow(RuntimeError("thrown"))


async def fail_in_async_with(shop: Any) -> None:
    async with shop:
        raise RuntimeError("inside")


def fail_at_property(shop: Any) -> Any:
    return shop.owner


def fail_to_set(shop: Any) -> None:
    shop.price = 1


FAILURES: list[Callable[[Any], Any]] = [
    *(fail_while_handling, fail_in_finally, raise_again, fail_in_generator),
    *(fail_in_closed_generator, fail_in_callback, fail_to_iterate, fail_in_with),
    *(fail_in_thread, fail_in_task, fail_in_gathered, fail_to_stream, throw_into_stream),
    *(throw_what_is_not_caught, fail_in_async_with, fail_at_property, fail_to_set),
    lambda shop: shop.sell("milk"),
    lambda shop: shop.sell_because("milk"),
    lambda shop: shop.sell_quietly("milk"),
    lambda shop: shop.close(),
    lambda shop: shop.audit(),
    lambda shop: shop + "milk",
    lambda shop: shop.nothing,
    lambda shop: shop.sell("milk", "salt"),
    lambda shop: delattr(shop, "nothing"),
    hash,
]


@pytest.fixture(params=["strict", "leased"])
def mode(request: pytest.FixtureRequest, server: Server) -> Iterator[str]:
    """Debugging is on in this mode. What cannot be stored, such as a callback, is no obstacle."""
    application = Application(server).start(mode=request.param, on_unpicklable="placeholder")
    try:
        yield request.param
    finally:
        application.stop()


def compare(work: Callable[[Any], Any], create: Callable[[], Any]) -> Observation:
    """Do the work plainly and with a proxy; what is observed must be the same."""
    plain = observe(work, create())
    wrapped = observe(work, with_debug(create()))
    assert wrapped == plain
    return wrapped


@pytest.mark.parametrize("work", FAILURES)
def test_a_traceback_and_its_chain_are_as_without_a_proxy(
    mode: str, work: Callable[[Any], Any]
) -> None:
    seen = compare(work, Shop)
    assert seen.error or work in (fail_in_thread, fail_in_gathered)


@pytest.mark.parametrize(
    "work",
    [fail_to_iterate, fail_in_task, fail_to_stream, throw_into_stream, throw_what_is_not_caught],
)
def test_a_traceback_is_the_same_where_results_are_followed(
    mode: str, work: Callable[[Any], Any]
) -> None:
    plain = observe(work, Shop())
    assert plain.error
    assert observe(work, with_debug(Shop(), follow=True)) == plain


def test_a_warning_of_a_compiled_function_is_the_same_after_off(app: Application) -> None:
    def divide(array: Any) -> Any:
        globals().pop("__warningregistry__", None)
        return array / 0

    plain = observe(divide, np.array([1.0]))
    array = with_debug(np.array([1.0]))
    with_debug("OFF")
    assert observe(divide, array) == plain
    assert plain.warnings


def test_a_traceback_is_the_same_after_off(app: Application) -> None:
    plain = observe(fail_while_handling, Shop())
    shop = with_debug(Shop())
    with_debug("OFF")
    assert observe(fail_while_handling, shop) == plain


@pytest.mark.parametrize(
    ("create", "work"),
    [
        (lambda: refuse, lambda function: function("entry")),
        (lambda: [1], lambda items: items.index(2)),
        (dict, lambda table: table["key"]),
        (lambda: int, lambda cls: cls("x")),
        (Numbers, list),
        (lambda: [3, 1], lambda items: items.sort(key=refuse)),
        (lambda: iter(()), next),
    ],
)
def test_tracebacks_of_functions_types_and_builtins(
    mode: str, create: Callable[[], Any], work: Callable[[Any], Any]
) -> None:
    assert compare(work, create).error


def fail_inline(call: Any) -> None:
    try:
        DOORS["front"]
    except KeyError:
        call(Shop().sell, "milk")


async def fail_inline_awaited(call: Any) -> None:
    try:
        DOORS["front"]
    except KeyError:
        await call(Shop().deliver, "milk")


@pytest.mark.parametrize(
    ("work", "calls"),
    [
        (fail_inline, [debug_call]),
        (fail_inline_awaited, [debug_call, async_debug_call]),
    ],
)
def test_tracebacks_of_inline_calls(
    mode: str, work: Callable[[Any], Any], calls: list[Any]
) -> None:
    plain = observe(work, call_plainly)
    assert plain.error
    for call in calls:
        assert observe(work, call) == plain


def give_awaitable(item: str) -> Any:
    return Shop().deliver(item)


def test_an_awaitable_of_a_plain_function_leaves_no_frames(mode: str) -> None:
    async def work(call: Any) -> None:
        await call(give_awaitable, "milk")

    plain = observe(work, call_plainly)
    assert observe(work, debug_call) == plain


def test_what_we_handle_ourselves_is_nobodys_context(mode: str) -> None:
    class Unstorable:
        def __reduce__(self) -> Any:
            raise NotImplementedError("ours to handle")

    def work(shop: Any) -> None:
        try:
            DOORS["front"]
        except KeyError:
            shop.pass_on(lambda: refuse("entry"))

    class Bin(Shop):
        def __init__(self) -> None:
            super().__init__()
            self.content = Unstorable()

    seen = compare(work, Bin)
    assert "NotImplementedError" not in seen.error["shown"]


def test_a_decided_exception_is_raised_at_the_callers_line(app: Application) -> None:
    app.break_on(
        "Shop.take",
        action={"action": "raise", "exception_type": "OSError", "exception_message": "decided"},
    )
    seen = observe(take_while_handling, with_debug(Shop()))
    names = [name for _, _, name in seen.error["traceback"]]
    assert names == ["observe", "take_while_handling"]
    assert seen.error["context"]["type"] == "IndexError"


def take_while_handling(shop: Any) -> Any:
    try:
        [].pop()
    except IndexError:
        return shop.take("milk")


@pytest.mark.parametrize(
    ("when", "mode"), [("exception", "strict"), ("before", "strict"), ("before", "leased")]
)
def test_a_decision_that_lets_the_call_fail_keeps_its_chain(
    app: Application, when: str, mode: str
) -> None:
    """The call was held, and ended as it would have."""
    app.restart(mode=mode)
    plain = observe(fail_while_handling, Shop())
    app.break_on("Shop.sell", when=when)
    shop = with_debug(Shop())
    seen = app.run_and_decide(lambda: observe(fail_while_handling, shop), "continue")
    assert seen.error == plain.error


def test_a_modified_call_fails_as_if_it_had_been_made_so(app: Application) -> None:
    plain = observe(fail_while_handling, Shop())
    app.break_on("Shop.sell")
    shop = with_debug(Shop())

    def work() -> Observation:
        return observe(fail_while_handling, shop)

    seen = app.run_and_decide(work, "modify", modified_args=[{"value": "milk"}])
    assert seen.error == plain.error


class Stubborn:
    """Refuses to do anything that Python could ask of it."""


def _refuse_special(name: str) -> Callable[..., Any]:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        raise PermissionError(name)

    return method


_REFUSED = """repr str format bytes bool lt le gt ge len length_hint getitem setitem delitem iter
next reversed contains call enter exit neg abs invert int float complex index round trunc floor
ceil add radd iadd sub pow matmul divmod hash dir copy deepcopy fspath aenter aexit await"""
for _name in _REFUSED.split():
    setattr(Stubborn, f"__{_name}__", _refuse_special(_name))


async def enter_async(thing: Any) -> None:
    async with thing:
        pass


async def await_it(thing: Any) -> Any:
    return await thing


def enter(thing: Any) -> None:
    with thing:
        pass


@pytest.mark.parametrize(
    "work",
    [
        *(repr, str, format, bytes, bool, len, iter, next, reversed, abs, int, float, complex),
        *(operator.index, operator.length_hint, operator.neg, operator.invert, round, hash, dir),
        *(math.trunc, math.floor, math.ceil, copy.copy, copy.deepcopy, os.fspath, enter),
        *(enter_async, await_it, lambda thing: thing(), lambda thing: thing[1]),
        *(lambda thing: 1 in thing, lambda thing: operator.setitem(thing, 1, 2)),
        *(
            lambda thing: operator.delitem(thing, 1),
            lambda thing: functools.reduce(operator.iadd, [thing, 1]),
        ),
        *(lambda thing: thing + 1, lambda thing: 1 + thing, lambda thing: thing - 1),
        *(lambda thing: thing**2, lambda thing: thing @ 1, lambda thing: divmod(thing, 1)),
        *(lambda thing: thing < 1, lambda thing: thing <= 1, lambda thing: thing > 1),
    ],
)
def test_no_special_method_leaves_a_frame_in_a_traceback(
    app: Application, work: Callable[[Any], Any]
) -> None:
    app.restart(on_unpicklable="placeholder")
    seen = compare(work, Stubborn)
    assert seen.error["type"] == "PermissionError"


def replace_sale(item: str) -> int:
    try:
        return DOORS[item]
    except KeyError:
        raise LookupError(item)  # noqa: B904 - the implicit chain is what is tested


def sell_while_handling(sell: Any) -> Any:
    try:
        [].pop()
    except IndexError:
        return sell("milk")


def test_a_replacement_that_fails_has_its_own_chain(app: Application) -> None:
    def sell(item: str) -> int:
        return 3

    with_debug(replace_sale)  # which registers it
    app.break_on("sell", action={"action": "replace", "function_name": "replace_sale"})
    plain = observe(sell_while_handling, replace_sale)
    assert observe(sell_while_handling, with_debug(sell)) == plain


def test_a_skipped_exception_leaves_nothing_behind(app: Application) -> None:
    action = {"action": "skip", "fake_result": {"value": 3}}
    app.break_on("Shop.take", when="exception", action=action)
    assert observe(take_while_handling, with_debug(Shop())) == Observation("3")


@pytest.mark.parametrize("mode", ["strict", "leased"])
@pytest.mark.parametrize("when", ["before", "exception"])
def test_a_decided_exception_of_a_coroutine_has_the_applications_frames_alone(
    app: Application, when: str, mode: str
) -> None:
    app.restart(mode=mode)
    action = {"action": "raise", "exception_type": "OSError", "exception_message": "decided"}
    app.break_on("Shop.deliver", when=when, action=action)
    seen = observe(fail_in_await, with_debug(Shop()))
    files = {file for file, _, _ in seen.error["traceback"]}
    assert not [file for file in files if Path(file).is_relative_to(OUR_PACKAGE)]
    assert seen.error["text"] == "decided"
    assert seen.error["context"]["type"] == "KeyError"


async def fail_in_await(shop: Any) -> None:
    try:
        DOORS["front"]
    except KeyError:
        await shop.deliver("milk")


# -- logs ------------------------------------------------------------------------------------------


def log_directly(shop: Any) -> None:
    shop.log_sale(1)


def log_for_the_caller(shop: Any) -> None:
    shop.log_sale(2)


def log_for_the_callers_caller(shop: Any) -> None:
    def helper() -> None:
        shop.log_sale(3)

    helper()


def log_failure(shop: Any) -> None:
    shop.log_failure()


@pytest.mark.parametrize(
    "work", [log_directly, log_for_the_caller, log_for_the_callers_caller, log_failure]
)
def test_a_method_that_logs_reports_the_applications_line(
    mode: str, work: Callable[[Any], Any]
) -> None:
    assert len(compare(work, Shop).logs) == 1


def use_logger(logger: Any) -> None:
    logger.info("one")
    logger.log(logging.ERROR, "two")

    def helper() -> None:
        logger.warning("three", stacklevel=2)

    helper()
    try:
        refuse("entry")
    except PermissionError:
        logger.exception("four")


def test_a_wrapped_logger_reports_the_applications_line(mode: str) -> None:
    seen = compare(use_logger, lambda: log)
    assert [line[-1] for line in seen.logs] == ["use_logger"] * 4


def test_a_wrapped_logger_adapter_reports_the_applications_line(mode: str) -> None:
    compare(use_logger, lambda: logging.LoggerAdapter(log, {}))


# -- warnings --------------------------------------------------------------------------------------


def warn_for_the_caller(shop: Any) -> None:
    for _ in range(2):  # once per line: the registry is this module's
        shop.warn(2)


def warn_for_the_callers_caller(shop: Any) -> None:
    def helper() -> None:
        shop.warn(3)

    helper()
    helper()


@pytest.mark.parametrize("work", [warn_for_the_caller, warn_for_the_callers_caller])
def test_a_warning_is_about_the_applications_line(mode: str, work: Callable[[Any], Any]) -> None:
    globals().pop("__warningregistry__", None)
    plain = observe(work, Shop())
    globals().pop("__warningregistry__", None)
    wrapped = observe(work, with_debug(Shop()))
    assert wrapped == plain
    assert plain.warnings
    assert "__warningregistry__" in globals()


@pytest.mark.parametrize(
    "work",
    [
        lambda array: array / 0,
        lambda array: 1 / array,
        lambda array: np.log(array),
        lambda array: array.astype(int) ** 0 / (array - array),
        lambda array: array.mean(where=False),
    ],
)
def test_a_warning_of_a_compiled_function_is_about_the_applications_line(
    mode: str, work: Callable[[Any], Any]
) -> None:
    def once(array: Any) -> Any:
        globals().pop("__warningregistry__", None)
        return work(array)

    assert compare(once, lambda: np.array([0.0, 1.0])).warnings


def test_a_coroutine_that_nobody_awaits_has_its_own_name(app: Application) -> None:
    def forget(shop: Any) -> None:
        shop.deliver("tea")

    seen = compare(forget, Shop)
    assert "Shop.deliver" in seen.warnings[0][1]


# -- the end of a program --------------------------------------------------------------------------


def test_an_uncaught_exception_looks_the_same_at_the_end_of_a_program(server: Server) -> None:
    def run(mode: str) -> tuple[int, str]:
        environment = {**os.environ, "HOLDFAST_SERVER_URL": server.url}
        script = str(PROGRAMS / "failing_application.py")
        ended = subprocess.run(
            [sys.executable, script, mode],
            capture_output=True,
            text=True,
            env=environment,
            timeout=60,
        )
        # How a task describes its coroutine is one of the things that docs/calls-limits.md lists.
        return ended.returncode, re.sub(r"defined at .+?:\d+", "", ended.stderr)

    plain = run("plain")
    assert plain[0] == 1
    assert not names_our_files(plain[1])
    assert run("strict") == plain
    assert run("leased") == plain
