"""Programs and clients that give a debugger a bad day: answers come in time, and fit.

`ToolUser.call` checks that every answer fits its budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from urllib.parse import urlencode

import pytest

from abandoned_calls import abandon_call
from harness import Program, Server
from polling import wait_until
from tool_user import ToolUser, place

BAD_DAYS = Program("bad_days.py")
SHOP = Program("shop.py")


@pytest.fixture
def user(server: Server) -> Iterator[ToolUser]:
    client = ToolUser(server)
    try:
        yield client
    finally:
        client.stop_all()


def begin(user: ToolUser, name: str, *markers: str, **request: Any) -> Any:
    return user.run(BAD_DAYS, *markers, args=[name], **request)


def run_freely(user: ToolUser, name: str, marker: str, **request: Any) -> Any:
    """Start one of the bad days, and let it run from the marked line on."""
    begin(user, name, marker, **request)
    user.call("debug_set_breakpoints", remove=["all"])
    return user.resume(timeout=0)


# -- programs that do not stop ---------------------------------------------------------------------


def test_one_that_never_stops_can_be_looked_at_stopped_and_stepped(
    user: ToolUser, python: str
) -> None:
    assert run_freely(user, "spin", "spin", python=python)["status"] == "running"
    waited = user.resume(timeout=0.1)
    assert waited["status"] == "running"
    assert "in spin" in waited["threads"][0]
    assert "in spin" in user.inspect()["threads"][0]
    assert user.step("pause")["function"] == "spin"
    assert len(user.step(count=20)["steps"]) == 20


def test_many_steps_leave_room_for_the_rest(user: ToolUser) -> None:
    begin(user, "spin", "spin")
    user.call("debug_set_breakpoints", remove=["all"])
    report = user.step(until="False", count=100)
    assert report["message"] == "`False` is not true after 100 steps."
    assert len(report["steps"]) == 20
    assert report["omitted"][-1].startswith("80 earlier steps: ")
    assert len(user.step(count=100, budget_tokens=4000)["steps"]) == 100


def test_one_that_prints_without_end_shows_the_end_of_it(user: ToolUser) -> None:
    report = run_freely(user, "flood", "flood")
    assert report["status"] == "running"
    wait_until(lambda: "line" in user.resume(timeout=0.2).get("output", ""), "its output")
    assert user.step("pause")["status"] == "paused"
    shown = user.inspect(show=["output"])
    assert "xxx" in shown["output"]
    assert "output" in str(shown["omitted"])


def test_one_that_waits_for_input_says_so_and_can_be_stopped(user: ToolUser) -> None:
    assert user.run(SHOP, args=["ask"])["status"] == "waiting_for_input"
    assert "input" in user.step()["message"]
    assert user.call("debug_stop")["stopped"][0]["was"] == "waiting_for_input"


# -- programs that do strange things ---------------------------------------------------------------


def test_children_do_not_hold_it_up(user: ToolUser) -> None:
    assert begin(user, "spawn", "in_child", "spawned")["at"] == place(BAD_DAYS, "spawned")
    report = user.resume()
    assert (report["status"], report["exit_code"]) == ("terminated", 0)
    assert begin(user, "fork", "in_child", "forked")["at"] == place(BAD_DAYS, "forked")


def test_a_child_that_is_held_is_named_with_its_session(user: ToolUser) -> None:
    report = user.run(BAD_DAYS, "in_child", "spawned", args=["spawn"], subprocesses=True)
    parent = report["session_id"]
    assert report["status"] == "running"
    (problem,) = report["problems"]
    child = next(word for word in problem.split() if word.startswith("sess_"))
    assert report["next"].startswith(f'debug_inspect(session_id="{child}")')
    assert user.resume(session_id=parent, timeout=0)["problems"] == [problem]  # it still waits
    rows = user.call("debug_sessions")["sessions"]
    assert any(row["session_id"] == child and row["parent_id"] == parent for row in rows)

    assert user.inspect(session_id=child)["at"] == place(BAD_DAYS, "in_child")
    assert user.step(session_id=child)["locals"] == {"doubled": "14"}
    user.resume(session_id=child)
    assert user.resume(session_id=parent)["at"] == place(BAD_DAYS, "spawned")


def test_what_is_raised_again_is_told_with_its_cause(user: ToolUser) -> None:
    report = begin(user, "reraise")
    assert report["reason"] == "exception"
    assert report["exception"]["type"] == "ValueError"
    assert report["exception"]["causes"][0]["type"] == "KeyError"
    assert user.evaluate("handled")["values"] == {"handled": "True"}
    assert user.step()["exit_code"] == 1


def test_one_that_sets_a_trace_function_of_its_own(user: ToolUser, python: str) -> None:
    report = begin(user, "settrace", "after_trace", python=python)
    assert report["status"] in ("paused", "terminated")
    if report["status"] == "terminated":
        assert report["problems"]
        return
    assert report["at"] == place(BAD_DAYS, "after_trace")
    assert user.step()["status"] == "paused"


def test_code_without_a_file_is_stepped_through(user: ToolUser, python: str) -> None:
    begin(user, "generated", "generated", python=python)
    report = user.step("into", count=4)
    assert report["steps"][:2] == ["<made>:2 in made  x = 4", "<made>:3  y = 5"]
    assert report["at"] == place(BAD_DAYS, "result")


def test_a_breakpoint_in_code_without_a_file(user: ToolUser) -> None:
    report = begin(user, "generated", breakpoints=["<made>:3"])
    assert (report["at"], report["locals"]) == ("<made>:3", {"x": "4", "y": "5"})


def test_a_generator_is_stepped_into_and_out_of(user: ToolUser, python: str) -> None:
    begin(user, "generator", "yield", python=python)
    user.call("debug_set_breakpoints", remove=["all"])
    assert user.step("to_line", line=BAD_DAYS.line("consumed"))["function"] == "generator"
    assert user.step("to_line", line=BAD_DAYS.line("yield"))["locals"] == {"number": "1"}
    assert user.resume(until=place(BAD_DAYS, "produced"))["locals"]["total"] == "30"


def test_a_coroutine_is_run_to_its_result(user: ToolUser, python: str) -> None:
    assert begin(user, "coroutines", "worked", python=python)["locals"]["number"] == "0"
    user.call("debug_set_breakpoints", remove=["all"])
    report = user.resume(until=place(BAD_DAYS, "gathered"))
    assert report["locals"]["values"] == "[0, 2, 4]"


def test_steps_end_where_a_library_goes_on(user: ToolUser, python: str) -> None:
    begin(user, "coroutines", "worked", python=python)
    user.call("debug_set_breakpoints", remove=["all"])
    report = user.step(count=10)
    assert "asyncio" in report["at"]
    assert report["message"].startswith("1 of 10 steps: A library has called your code")
    assert user.resume(until=place(BAD_DAYS, "gathered"))["locals"]["values"] == "[0, 2, 4]"


def test_threads_that_wait_are_shown(user: ToolUser) -> None:
    begin(user, "threads", "all_wait")
    threads = user.inspect()["threads"]
    assert user.inspect(show=["threads"])["threads"] == threads
    assert [line.split()[0] for line in threads] == [
        "MainThread",
        "worker-0",
        "worker-1",
        "worker-2",
    ]
    assert f"MainThread paused at {place(BAD_DAYS, 'all_wait')}" in threads[0]
    assert user.step()["status"] == "paused"


def test_a_step_into_native_code_goes_over_it_and_says_so(user: ToolUser) -> None:
    begin(user, "native", "join")
    report = user.step("into")
    assert report["at"] == place(BAD_DAYS, "joined")
    assert "native code" in report["message"]


# -- values ----------------------------------------------------------------------------------------


def test_values_that_are_huge_or_break_when_looked_at(user: ToolUser, python: str) -> None:
    report = begin(user, "values", "values", python=python)
    assert {"text", "rows", "huge", "raising"} & report["locals"].keys()
    assert "no repr" in user.evaluate("raising")["values"]["raising"]
    user.evaluate("huge")
    user.inspect(expand="touchy")
    assert user.evaluate("touchy.touched")["values"] == {"touchy.touched": "0"}
    rows = user.inspect(expand="rows", start=99_998)["values"]
    assert list(rows) == ["rows", "[99998]", "[99999]"]
    part = user.inspect(expand="text", start=9_999_990)["values"]
    assert part == {"text[9999990:10000000]": "'xxxxxxxxxx'"}
    assert user.step()["at"] == place(BAD_DAYS, "valued")


def test_a_value_that_blocks_when_looked_at_is_said_to_take_too_long(
    server_with: Callable[..., Server], python: str
) -> None:
    user = ToolUser(server_with(value_call=0.05))
    report = begin(user, "block", "block", python=python)
    assert "took too long" in report["locals"]["blocking"]
    assert "took too long" in user.evaluate("blocking")["values"]["blocking"]


@pytest.mark.parametrize("budget", [100, 200, 5000])
def test_every_answer_fits_its_budget(user: ToolUser, budget: int) -> None:
    begin(user, "values", "values", budget_tokens=budget)
    small: dict[str, Any] = {"budget_tokens": budget}
    user.inspect(**small)
    user.inspect(expand="rows", **small)
    user.inspect(expand="text", **small)
    user.inspect(expressions=["rows", "text", "huge"], **small)
    user.inspect(show=["locals", "stack", "source", "output", "threads", "breakpoints"], **small)
    user.evaluate("rows", **small)
    user.evaluate("rows.append(1)", **small)
    user.step(count=3, **small)
    user.call("debug_set_breakpoints", add=["bad_days.py:in_child"] * 3, **small)
    user.call("debug_sessions", **small)


def test_a_deep_stack_costs_no_more_than_a_shallow_one(user: ToolUser) -> None:
    deep = begin(user, "deep", "deep")
    shallow = begin(user, "native", "native")
    assert len(str(deep)) < 2 * len(str(shallow))


# -- clients ---------------------------------------------------------------------------------------


def test_a_client_that_disconnects_finds_its_session_again(user: ToolUser) -> None:
    started = begin(user, "sleep", "asleep")["session_id"]
    status = f"/sessions/{started}/status"
    path = f"/api/v1/tools/debug_continue?{urlencode(user.query)}"
    is_running = lambda: user.server.get(status)["status"] == "running"  # noqa: E731
    abandon_call(user.server, path, {"timeout": 40}, is_running)
    report = user.resume(timeout=0)
    assert (report["session_id"], report["status"]) == (started, "running")
    other = ToolUser(user.server)
    assert other.inspect(session_id=started)["status"] == "running"


def test_two_clients_drive_one_session(user: ToolUser) -> None:
    session = user.run(SHOP, "loop")["session_id"]
    other = ToolUser(user.server)
    with ThreadPoolExecutor(8) as pool:
        calls = [
            pool.submit(client.call, tool, session_id=session)
            for client in (user, other)
            for tool in ("debug_step", "debug_continue", "debug_inspect", "debug_step")
        ]
        reports = [call.result() for call in calls]
    assert {report["session_id"] for report in reports} == {session}
    assert {report["status"] for report in reports} <= {"paused", "running", "terminated"}
    assert other.inspect(session_id=session)["session_id"] == session


def test_what_one_client_was_shown_is_news_to_another(user: ToolUser) -> None:
    session = user.run(SHOP, "call")["session_id"]
    user.step()
    other = ToolUser(user.server)
    assert "cart" in other.step(session_id=session)["locals"]
