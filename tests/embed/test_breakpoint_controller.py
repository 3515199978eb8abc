"""The controller: every kind of breakpoint, from any thread, beside what others set."""

from __future__ import annotations

import asyncio
import logging
import queue
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from embed_adapters import SECONDS, ask, line_of, stop_at_entry
from harness import Program
from holdfast.embed import (
    AdapterThread,
    BreakpointController,
    BreakpointEvent,
    BreakpointResult,
    DataBreakpointSpec,
    FunctionBreakpointSpec,
    LineBreakpointSpec,
)
from holdfast.model.config import SessionConfig
from holdfast.service.debugger import Debugger
from polling import wait_until

LOOP, FUNCTIONS, IDLE = Program("loop.py"), Program("functions.py"), Program("idle.py")
ADD, RETURN, CALL = LOOP.line("add"), LOOP.line("return"), LOOP.line("call")


def lines(results: list[BreakpointResult]) -> list[int]:
    return [result["line"] for result in results]


def set_lines(adapter: AdapterThread, *numbers: int) -> list[BreakpointResult]:
    specs = [LineBreakpointSpec(number) for number in numbers]
    return adapter.breakpoints.set_source(LOOP.path, specs).result(SECONDS)


def list_lines(adapter: AdapterThread) -> list[int]:
    return sorted(lines(adapter.breakpoints.list_all().result(SECONDS)))


# -- specs ----------------------------------------------------------------------------------------


def test_the_specs_are_plain_frozen_values() -> None:
    assert LineBreakpointSpec(3) == LineBreakpointSpec(3, None, None, None)
    assert FunctionBreakpointSpec("m.f") == FunctionBreakpointSpec("m.f", None, None)
    assert DataBreakpointSpec("x").access_type == "write"
    with pytest.raises(AttributeError):
        LineBreakpointSpec(3).line = 4  # type: ignore[misc]


WRONG: dict[str, tuple[type[Exception], Callable[[BreakpointController], Future[Any]]]] = {
    "line 0": (ValueError, lambda it: it.set_source("a.py", [LineBreakpointSpec(0)])),
    "a line that is no number": (
        TypeError,
        lambda it: it.set_source("a.py", [LineBreakpointSpec("3")]),  # type: ignore[arg-type]
    ),
    "a line that is a bool": (
        TypeError,
        lambda it: it.set_source("a.py", [LineBreakpointSpec(True)]),
    ),
    "a condition that is no text": (
        TypeError,
        lambda it: it.set_source("a.py", [LineBreakpointSpec(1, condition=5)]),  # type: ignore[arg-type]
    ),
    "one spec instead of a list": (
        TypeError,
        lambda it: it.set_source("a.py", LineBreakpointSpec(1)),  # type: ignore[arg-type]
    ),
    "a number instead of a spec": (TypeError, lambda it: it.set_source("a.py", [1])),  # type: ignore[list-item]
    "a spec of another kind": (
        TypeError,
        lambda it: it.set_source("a.py", [FunctionBreakpointSpec("f")]),  # type: ignore[list-item]
    ),
    "no list": (TypeError, lambda it: it.set_source("a.py", 5)),  # type: ignore[arg-type]
    "a path that is no path": (TypeError, lambda it: it.set_source(5, [])),  # type: ignore[arg-type]
    "a path of bytes": (TypeError, lambda it: it.set_source(b"a.py", [])),  # type: ignore[arg-type]
    "an empty path": (ValueError, lambda it: it.set_source(" ", [])),
    "a function without a name": (
        ValueError,
        lambda it: it.set_function([FunctionBreakpointSpec("")]),
    ),
    "a function's name that is no text": (
        TypeError,
        lambda it: it.set_function([FunctionBreakpointSpec(len)]),  # type: ignore[arg-type]
    ),
    "filters as one text": (TypeError, lambda it: it.set_exception("raised")),
    "filters that are no names": (TypeError, lambda it: it.set_exception([1])),  # type: ignore[list-item]
    "a read": (ValueError, lambda it: it.set_data([DataBreakpointSpec("x", "read")])),
    "no data id": (TypeError, lambda it: it.set_data([DataBreakpointSpec(None)])),  # type: ignore[arg-type]
    "no name": (TypeError, lambda it: it.data_info(None)),  # type: ignore[arg-type]
    "a frame that is no number": (TypeError, lambda it: it.data_info("x", "top")),  # type: ignore[arg-type]
    "an addition that is no spec": (TypeError, lambda it: it.add_source("a.py", 3)),  # type: ignore[arg-type]
}


def test_a_mistake_is_raised_by_the_future_and_changes_nothing(adapter: AdapterThread) -> None:
    set_lines(adapter, ADD)
    for name, (kind, call) in WRONG.items():
        future = call(adapter.breakpoints)
        assert isinstance(future.exception(SECONDS), kind), name
    with pytest.raises(TypeError):
        adapter.breakpoints.on_breakpoint("not a function")  # type: ignore[arg-type]
    assert list_lines(adapter) == [ADD]


# -- lines ----------------------------------------------------------------------------------------


def test_results_have_the_shape_that_editors_know(adapter: AdapterThread) -> None:
    good, beyond = set_lines(adapter, ADD, 9999)
    assert good["verified"] is True
    assert good["line"] == ADD
    assert good["source"] == {"path": LOOP.path}
    assert isinstance(good["id"], int)
    assert "message" not in good
    assert beyond["verified"] is False
    assert beyond["message"]


def test_a_set_replaces_what_was_set_and_an_empty_one_clears(
    adapter: AdapterThread, tmp_path: Path
) -> None:
    other = tmp_path / "other.py"
    other.write_text("x = 1\n")
    first = set_lines(adapter, ADD, RETURN)
    adapter.breakpoints.set_source(other, [LineBreakpointSpec(1)]).result(SECONDS)
    second = set_lines(adapter, RETURN, CALL)
    assert second[0]["id"] == first[1]["id"]  # the same one
    assert list_lines(adapter) == [1, RETURN, CALL]
    set_lines(adapter)
    assert list_lines(adapter) == [1]


def test_a_wrong_condition_is_not_verified_and_the_others_are_set(adapter: AdapterThread) -> None:
    specs = [LineBreakpointSpec(ADD, condition="number ==="), LineBreakpointSpec(RETURN)]
    wrong, right = adapter.breakpoints.set_source(LOOP.path, specs).result(SECONDS)
    assert wrong["verified"] is False
    assert "not a Python expression" in wrong["message"]
    assert right["verified"] is True
    assert list_lines(adapter) == [RETURN]


def test_paths_are_relative_to_the_directory_of_the_caller(
    adapter: AdapterThread, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(Path(LOOP.path).parent)
    for path in ("loop.py", Path("loop.py"), "./loop.py", LOOP.path):
        (result,) = adapter.breakpoints.set_source(path, [LineBreakpointSpec(ADD)]).result(SECONDS)
        assert result["source"] == {"path": LOOP.path}
    assert list_lines(adapter) == [ADD]


def test_what_is_set_before_the_launch_stops_with_all_its_conditions(
    adapter: AdapterThread,
) -> None:
    specs = [
        LineBreakpointSpec(ADD, condition="number > 2", hit_condition="2"),
        LineBreakpointSpec(RETURN, log_message="result {result}", condition="number == 1"),
    ]
    adapter.breakpoints.set_source(LOOP.path, specs).result(SECONDS)
    stop = adapter.launch(LOOP.path, wait=True).result(SECONDS)
    assert line_of(stop) == ADD
    assert adapter.evaluate("number").result(SECONDS)["result"] == "4"
    assert adapter.output(kinds=["log"]).result(SECONDS)["text"] == "result 1\n"


def test_breakpoints_of_a_running_program_change_at_once(
    adapter: AdapterThread, tmp_path: Path
) -> None:
    (tmp_path / "tick.py").write_text("import time\ndef tick(round):\n    time.sleep(0.01)\n")
    rounds = tmp_path / "rounds.py"
    rounds.write_text(
        "import itertools, tick\nfor round in itertools.count():\n    tick.tick(round)\n"
    )
    adapter.launch(rounds).result(SECONDS)
    adapter.breakpoints.set_source(rounds, [LineBreakpointSpec(3)])
    assert adapter.wait_for_stop().result(SECONDS)["reason"] == "breakpoint"
    adapter.breakpoints.set_source(rounds, []).result(SECONDS)
    # It is told by a logpoint in another file that the program goes round and stops nowhere.
    teller = LineBreakpointSpec(3, log_message="round {round}")
    adapter.breakpoints.set_source(tmp_path / "tick.py", [teller]).result(SECONDS)
    adapter.continue_().result(SECONDS)

    def count_rounds() -> int:
        return adapter.output(kinds=["log"]).result(SECONDS)["text"].count("round ")

    wait_until(lambda: count_rounds() > 2, "rounds")
    assert adapter.status().result(SECONDS)["status"] == "running"


def test_one_is_added_without_losing_the_others(adapter: AdapterThread) -> None:
    set_lines(adapter, ADD)
    added = adapter.breakpoints.add_source(LOOP.path, LineBreakpointSpec(CALL, condition="total"))
    assert added.result(SECONDS)["condition"] == "total"
    assert list_lines(adapter) == [ADD, CALL]
    set_lines(adapter, RETURN)  # it is one of those that a set replaces
    assert list_lines(adapter) == [RETURN]


def test_additions_of_eight_threads_at_once_are_all_kept(
    adapter: AdapterThread, tmp_path: Path
) -> None:
    many = tmp_path / "many.py"
    many.write_text("x = 1\n" * 80)
    with ThreadPoolExecutor(8) as pool:
        numbers = range(1, 81)
        add = adapter.breakpoints.add_source
        done = pool.map(lambda n: add(many, LineBreakpointSpec(n)).result(SECONDS), numbers)
        assert all(result["verified"] for result in done)
    assert list_lines(adapter) == list(range(1, 81))


def test_of_sets_from_eight_threads_the_last_one_wins(
    adapter: AdapterThread, tmp_path: Path
) -> None:
    many = tmp_path / "many.py"
    many.write_text("x = 1\n" * 80)
    stop_at_entry(adapter, IDLE.path)

    def set_often(thread: int) -> None:
        for number in range(10):
            specs = [LineBreakpointSpec(thread * 10 + number + 1)]
            results = adapter.breakpoints.set_source(many, specs).result(SECONDS)
            assert lines(results) == [specs[0].line]

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(set_often, thread) for thread in range(8)]:
            done.result(SECONDS)
    assert len(list_lines(adapter)) == 1  # one whole set, not a mixture
    adapter.breakpoints.set_source(many, [LineBreakpointSpec(7)])
    adapter.breakpoints.set_source(many, [LineBreakpointSpec(8)])
    assert list_lines(adapter) == [8]


# -- functions and exceptions -----------------------------------------------------------------


def test_a_function_breakpoint_says_so(adapter: AdapterThread) -> None:
    (result,) = adapter.breakpoints.set_function(
        [FunctionBreakpointSpec("Dog.speak", condition="word")]
    ).result(SECONDS)
    stop = adapter.launch(FUNCTIONS.path, wait=True).result(SECONDS)
    assert stop["reason"] == "function breakpoint"
    assert stop["location"] is not None
    assert stop["location"]["function"] == "speak"
    assert stop["breakpoint_ids"] == [result["breakpoint_id"]]
    assert adapter.status().result(SECONDS)["reason"] == "function breakpoint"
    assert adapter.breakpoints.set_function([]).result(SECONDS) == []
    assert adapter.continue_(wait=True).result(SECONDS)["status"] == "terminated"


def test_exceptions_stop_as_their_filters_say(adapter: AdapterThread) -> None:
    code = "try:\n    {}['a']\nexcept KeyError:\n    pass\nint('x')\n"
    raised, unknown = adapter.breakpoints.set_exception(["raised", "whatever"]).result(SECONDS)
    assert raised == {"verified": True}
    assert unknown["verified"] is False
    assert "userUnhandled" in unknown["message"]
    stop = adapter.launch(code=code, wait=True).result(SECONDS)
    assert (stop["reason"], stop["exception"]["type"]) == ("exception", "KeyError")
    assert adapter.breakpoints.set_exception(["uncaught"]).result(SECONDS) == [{"verified": True}]
    stop = adapter.continue_(wait=True).result(SECONDS)
    assert (stop["reason"], stop["exception"]["type"]) == ("exception", "ValueError")
    assert adapter.breakpoints.set_exception([]).result(SECONDS) == []
    assert adapter.restart_program(wait=True).result(SECONDS)["status"] == "terminated"


# -- events and other clients -----------------------------------------------------------------


@pytest.fixture
def events(http_adapter: AdapterThread) -> Iterator[queue.Queue[BreakpointEvent]]:
    heard: queue.Queue[BreakpointEvent] = queue.Queue()
    unsubscribe = http_adapter.breakpoints.on_breakpoint(heard.put)
    yield heard
    unsubscribe()


def hear(events: queue.Queue[BreakpointEvent]) -> tuple[str, int]:
    event = events.get(timeout=SECONDS)
    return event["reason"], event["breakpoint"]["line"]


def test_what_rest_sets_the_controller_sees_and_the_other_way_round(
    http_adapter: AdapterThread, events: queue.Queue[BreakpointEvent]
) -> None:
    set_lines(http_adapter, ADD)
    assert hear(events) == ("new", ADD)
    listed = ask(http_adapter, "GET", "/breakpoints")["breakpoints"]
    assert [(point["line"], point["set_by"]) for point in listed] == [(ADD, ["controller"])]

    body = {"file": LOOP.path, "line": CALL}
    made = ask(http_adapter, "POST", "/breakpoints", body)
    assert hear(events) == ("new", CALL)
    assert list_lines(http_adapter) == [ADD, CALL]
    point = made["breakpoints"][0]["breakpoint_id"] if "breakpoints" in made else made["id"]
    ask(http_adapter, "PATCH", f"/breakpoints/{point}", {"condition": "total > 5"})
    assert hear(events) == ("changed", CALL)

    set_lines(http_adapter)  # its own only
    assert hear(events) == ("removed", ADD)
    assert list_lines(http_adapter) == [CALL]
    ask(http_adapter, "DELETE", f"/breakpoints/{point}")
    assert hear(events) == ("removed", CALL)

    types = [event["type"] for event in ask(http_adapter, "GET", "/events")["events"]]
    assert types.count("breakpoint_set") == 2
    assert types.count("breakpoint_removed") == 2


def test_one_that_rest_removes_does_not_come_back_with_the_next_addition(
    http_adapter: AdapterThread,
) -> None:
    (first,) = set_lines(http_adapter, ADD)
    ask(http_adapter, "DELETE", f"/breakpoints/{first['breakpoint_id']}")
    http_adapter.breakpoints.add_source(LOOP.path, LineBreakpointSpec(CALL)).result(SECONDS)
    assert list_lines(http_adapter) == [CALL]


def test_clear_all_clears_what_anybody_has_set(
    http_adapter: AdapterThread, events: queue.Queue[BreakpointEvent]
) -> None:
    set_lines(http_adapter, ADD)
    http_adapter.breakpoints.set_function([FunctionBreakpointSpec("add")]).result(SECONDS)
    http_adapter.breakpoints.set_exception(["uncaught"]).result(SECONDS)
    ask(http_adapter, "POST", "/breakpoints", {"file": LOOP.path, "line": CALL})
    ask(http_adapter, "POST", "/exception-breakpoints", {"filters": ["raised"]})
    assert http_adapter.breakpoints.clear_all().result(SECONDS) == 3
    assert http_adapter.breakpoints.list_all().result(SECONDS) == []
    answer = ask(http_adapter, "GET", "/breakpoints")
    assert answer["exception_breakpoints"]["filters"] == []
    reasons = [events.get(timeout=SECONDS)["reason"] for _ in range(6)]
    assert reasons == ["new"] * 3 + ["removed"] * 3
    code = "try:\n    {}['a']\nexcept KeyError:\n    pass\nint('x')\n"
    assert http_adapter.launch(code=code, wait=True).result(SECONDS)["status"] == "terminated"


def test_a_callback_that_raises_or_takes_its_time_disturbs_nothing(
    http_adapter: AdapterThread,
    events: queue.Queue[BreakpointEvent],
    caplog: pytest.LogCaptureFixture,
) -> None:
    names: queue.Queue[str] = queue.Queue()
    go_on = threading.Event()

    def raise_(event: BreakpointEvent) -> None:
        raise LookupError("a mistake")

    def use_the_adapter(event: BreakpointEvent) -> None:
        assert http_adapter.status().result(SECONDS)["status"] == "created"
        go_on.wait(SECONDS)
        names.put(threading.current_thread().name)

    stop_raising = http_adapter.breakpoints.on_breakpoint(raise_)
    http_adapter.breakpoints.on_breakpoint(use_the_adapter)
    with caplog.at_level(logging.ERROR):
        set_lines(http_adapter, ADD, CALL)  # it does not wait for the callbacks
        go_on.set()
        assert names.get(timeout=SECONDS) == "holdfast-breakpoints"
        assert [hear(events), hear(events)] == [("new", ADD), ("new", CALL)]
    assert "a mistake" in caplog.text
    stop_raising()
    stop_raising()


def test_a_callback_stays_across_a_restart_and_ends_when_it_is_told_to() -> None:
    adapter = AdapterThread()
    heard: queue.Queue[BreakpointEvent] = queue.Queue()
    unsubscribe = adapter.breakpoints.on_breakpoint(heard.put)
    for _ in range(2):
        with adapter:
            set_lines(adapter, ADD)
            assert hear(heard) == ("new", ADD)
    unsubscribe()
    with adapter:
        set_lines(adapter, ADD)
    assert heard.empty()


# -- on its own -------------------------------------------------------------------------------


class OwnLoop:
    """A loop in a thread, with a debugger and a session that no adapter made."""

    def __init__(self, folder: Path) -> None:
        self.loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self.loop.run_forever)
        self._thread.start()
        self._folder = folder
        self.debugger, self.session = self.run(self._open())

    async def _open(self) -> Any:
        debugger = await Debugger.open(self._folder, lambda *_: True, 0)
        await debugger.start()
        return debugger, await debugger.programs.open(SessionConfig())

    def run(self, work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(SECONDS)

    def close(self) -> None:
        self.run(self.debugger.close())
        self.run(self.loop.shutdown_default_executor())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self._thread.join()
        self.loop.close()


def test_a_controller_can_be_made_of_a_loop_and_a_session_or_its_breakpoints(
    tmp_path: Path,
) -> None:
    own = OwnLoop(tmp_path / "data")
    heard: queue.Queue[BreakpointEvent] = queue.Queue()
    try:
        for debugger in (own.session, own.session.breakpoints):
            controller = BreakpointController(own.loop, debugger)
            unsubscribe = controller.on_breakpoint(heard.put)
            specs = [LineBreakpointSpec(ADD)]
            (result,) = controller.set_source(LOOP.path, specs).result(SECONDS)
            assert result["verified"] is True
            assert hear(heard) == ("new", ADD)
            assert controller.set_source(LOOP.path, []).result(SECONDS) == []
            assert hear(heard) == ("removed", ADD)
            unsubscribe()

            async def add(one: int, other: int) -> tuple[int, int]:
                return one + other, threading.get_ident()

            scheduled = controller._schedule(add(1, 2))
            assert isinstance(scheduled, Future)
            assert scheduled.result(SECONDS) == (3, own._thread.ident)
    finally:
        own.close()
    with pytest.raises(RuntimeError, match=r"^adapter not running$"):
        controller.set_source(LOOP.path, []).result(SECONDS)


def test_the_first_future_is_not_waited_for_in_the_loop_of_the_session(tmp_path: Path) -> None:
    own = OwnLoop(tmp_path / "data")
    controller = BreakpointController(own.loop, own.session)

    async def wait_there() -> None:
        controller.list_all().result()

    try:
        with pytest.raises(RuntimeError, match="would wait for itself"):
            own.run(wait_there())
    finally:
        own.close()


def test_a_controller_without_a_loop_does_not_run() -> None:
    for loop in (None, asyncio.new_event_loop()):
        controller = BreakpointController(loop, None)
        with pytest.raises(RuntimeError, match=r"^adapter not running$"):
            controller.set_exception([]).result(SECONDS)
        if loop is not None:
            loop.close()


def test_the_twins_are_awaited(adapter: AdapterThread) -> None:
    async def use() -> list[bool]:
        it = adapter.breakpoints
        results = await it.async_set_source(LOOP.path, [LineBreakpointSpec(ADD)])
        results.append(await it.async_add_source(LOOP.path, LineBreakpointSpec(CALL)))
        results += await it.async_set_function([FunctionBreakpointSpec("add")])
        results += await it.async_set_exception(["raised"])
        with pytest.raises(TypeError):
            await it.async_set_data([5])  # type: ignore[list-item]
        assert await it.async_set_data([]) == []
        assert len(await it.async_list_all()) == 3
        assert await it.async_clear_all() == 3
        return [result["verified"] for result in results]

    assert len(asyncio.run(use())) == 4
