"""The tools run and step real programs, on every interpreter."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import Program, Server
from tool_user import ToolUser, place

SHOP = Program("shop.py")
BAD_DAYS = Program("bad_days.py")
GATE = Program("gate.py")


@pytest.fixture
def user(server: Server) -> Iterator[ToolUser]:
    client = ToolUser(server)
    try:
        yield client
    finally:
        client.stop_all()


def run_freely(user: ToolUser, name: str, marker: str, **request: Any) -> Any:
    """Start one of the bad days, and let it run from the marked line on."""
    user.run(BAD_DAYS, marker, args=[name], **request)
    user.call("debug_set_breakpoints", remove=["all"])
    return user.resume(timeout=0)


# -- debug_continue --------------------------------------------------------------------------------


def test_one_that_runs_is_waited_for_again(user: ToolUser) -> None:
    started = run_freely(user, "spin", "spin")
    assert started["status"] == "running"
    again = user.resume(timeout=0)
    assert (again["status"], again["session_id"]) == ("running", started["session_id"])
    assert "debug_continue" in again["next"]


@pytest.mark.parametrize("tool", ["debug_continue", "debug_step"])
def test_a_stop_that_one_was_not_told_of_is_not_run_past(
    user: ToolUser, tmp_path: Path, tool: str
) -> None:
    os.mkfifo(tmp_path / "gate")
    session = user.run(GATE, "gate", args=[str(tmp_path / "gate")])["session_id"]
    assert user.resume(until=place(GATE, "after"), timeout=0)["status"] == "running"
    (tmp_path / "gate").write_text("open")
    assert user.server.get(f"/sessions/{session}/status?wait=60")["status"] == "paused"

    report = user.call(tool)
    assert report["at"] == place(GATE, "after")
    assert "nothing was run" in report["message"]
    assert user.step()["at"] == place(GATE, "last")


def test_a_program_that_asks_gets_its_input_a_line_at_a_time_and_the_end_of_it(
    user: ToolUser,
) -> None:
    report = user.run(SHOP, args=["ask"])
    assert (report["status"], report["prompt"]) == ("waiting_for_input", "name? ")
    assert user.resume()["status"] == "waiting_for_input"

    report = user.resume(input="Ann")
    assert report["status"] == "waiting_for_input"
    assert "hello Ann" in report["output"]

    report = user.resume(input="the rest\x04")
    assert report["status"] == "terminated"
    assert "rest 'the rest'" in report["output"]


def test_input_that_can_not_be_given_says_why(user: ToolUser) -> None:
    user.run(SHOP, "hello", args=["ask"])
    user.resume(input="Ann\x04")
    report = user.resume(input="more")
    assert "input was not given" in report["message"]
    assert report["status"] == "terminated"


def test_until_nonsense_runs_nothing(user: ToolUser) -> None:
    user.run(SHOP, "start")
    problem = user.call("debug_continue", until="1 +", expect=400)["error"]
    assert "no expression" in problem["message"]
    assert user.inspect()["at"] == place(SHOP, "start")


def test_until_an_expression_becomes_true(user: ToolUser, python: str) -> None:
    user.run(SHOP, "loop", python=python)
    user.call("debug_set_breakpoints", remove=["all"])
    report = user.resume(until="self.total > 5")
    assert report["status"] == "paused"
    assert "self.total > 5" in report["message"]
    assert user.evaluate("self.total")["values"] == {"self.total": "14"}

    report = user.resume(until="self.total > 5")
    assert "self.total > 5 is true already; nothing was run." in report["message"]


# -- debug_step ------------------------------------------------------------------------------------


def test_steps_of_each_kind(user: ToolUser, python: str) -> None:
    user.run(SHOP, "call", python=python)
    assert user.step("into")["at"] == place(SHOP, "loop")
    assert user.step("over")["at"] == place(SHOP, "add")
    assert user.step("into")["at"] == place(SHOP, "rate")
    assert user.step("out")["at"] == place(SHOP, "add")
    report = user.step("return")
    assert report["at"] == place(SHOP, "call")
    assert report["returned"] == {"Cart.add_up": "16"} or "16" in str(report["returned"])


def test_several_steps_have_a_line_each(user: ToolUser, python: str) -> None:
    user.run(SHOP, "add", python=python)
    report = user.step("into", count=4)
    assert report["at"] == place(SHOP, "loop")
    assert [line.partition("  ")[0] for line in report["steps"]] == [
        f"{place(SHOP, 'rate')} in tax",
        place(SHOP, "taxed"),
        f"{place(SHOP, 'add')} in add_up",
        place(SHOP, "loop"),
    ]
    assert report["steps"][0].endswith("price = 2")
    assert report["steps"][1].endswith("rate = 2")


def test_an_exception_ends_several_steps_and_a_step_after_it_ends_the_program(
    user: ToolUser,
) -> None:
    user.run(BAD_DAYS, "raise", args=["reraise"])
    report = user.step(count=50)
    assert report["reason"] == "exception"
    assert report["exception"]["type"] == "ValueError"
    report = user.step("into", count=5)
    assert (report["status"], report["exit_code"]) == ("terminated", 1)


def test_steps_until_an_expression_is_true(user: ToolUser, python: str) -> None:
    user.run(SHOP, "loop", python=python)
    user.call("debug_set_breakpoints", remove=["all"])
    report = user.step(until="self.total >= 14")
    assert report["at"] == place(SHOP, "loop")
    assert report["steps"][-1].startswith(place(SHOP, "loop"))
    assert user.evaluate("self.total")["values"] == {"self.total": "14"}


CAUGHT = """\
def low():
    raise ValueError("low")


def top():
    try:
        [low() for _ in range(2)]
    except ValueError:
        caught = True
    return caught


top()
"""
PASSED_ON = """\
import sys


def low():
    raise ValueError("low")


def middle():
    return low()


def high():
    return middle()


def top():
    try:
        return high()
    except ValueError:
        return None


top() if sys.argv[1:] else high()
"""
AWAITED = """\
import asyncio


async def low():
    await asyncio.sleep(0)
    raise ValueError("low")


def numbers():
    yield None
    raise KeyError("no more")


def received():
    try:
        yield None
    finally:
        done = True


async def top():
    try:
        await low()
    except ValueError:
        pass
    waiting = received()
    next(waiting)
    try:
        waiting.throw(KeyError("thrown"))
    except KeyError:
        pass
    try:
        for _ in numbers():
            pass
    except KeyError:
        pass


asyncio.run(top())
"""


@pytest.mark.parametrize("exceptions", ["uncaught", "none"])
def test_a_step_that_raises_does_not_run_away(
    user: ToolUser, python: str, tmp_path: Path, exceptions: str
) -> None:
    path = tmp_path / "caught.py"
    path.write_text(CAUGHT)
    run: dict[str, Any] = {"target": str(path), "breakpoints": [f"{path}:2"]}
    for kind in ("over", "out", "into"):
        user.call("debug_run", **run, python=python, exceptions=exceptions)
        report = user.step(kind)
        assert (report["status"], report["reason"]) == ("paused", "step")
        assert user.step(until="'caught' in locals()")["at"] == f"{path}:10"


@pytest.mark.parametrize("kind", ["over", "into", "out"])
def test_a_step_that_raises_ends_where_nothing_or_a_caller_catches_it(
    user: ToolUser, python: str, tmp_path: Path, kind: str
) -> None:
    """And in none of the callers that the exception only passes through."""
    path = tmp_path / "passed_on.py"
    path.write_text(PASSED_ON)
    run: dict[str, Any] = {"target": str(path), "breakpoints": [f"{path}:5"], "python": python}
    user.call("debug_run", **run, args=["caught"])
    report = user.step(kind)
    assert (report["at"], report["reason"]) == (f"{path}:19", "step")

    user.call("debug_run", **run)
    report = user.step(kind)
    assert (report["at"], report["reason"]) == (f"{path}:5", "exception")
    assert report["exception"]["type"] == "ValueError"
    assert user.step(kind)["status"] == "terminated"


def test_a_step_follows_an_exception_out_of_generators_and_coroutines(
    user: ToolUser, python: str, tmp_path: Path
) -> None:
    path = tmp_path / "awaited.py"
    path.write_text(AWAITED)
    points = [f"{path}:{line}" for line in (6, 11, 18)]
    user.call("debug_run", target=str(path), breakpoints=points, python=python)
    for at in (6, 24, 18, 30, 11, 35):
        assert user.inspect()["at"] == f"{path}:{at}"
        if at in (6, 11, 18):
            assert user.step()["reason"] == "step"
        else:
            user.resume()


def test_out_of_the_outermost_frame_leads_to_the_end(user: ToolUser, python: str) -> None:
    user.run(SHOP, "done", python=python)
    assert user.step("return")["status"] == "terminated"


def test_time_that_is_up_during_a_step_says_how_many_were_made(user: ToolUser) -> None:
    user.run(BAD_DAYS, "asleep", args=["sleep"])
    report = user.step(count=3, timeout=0.2)
    assert report["status"] == "running"
    assert "step 1 of 3" in report["message"]
    report = user.step(timeout=0.2)
    assert (report["status"], "pause" in report["message"]) == ("running", True)


def test_a_pause_stops_a_program_that_runs(user: ToolUser, python: str) -> None:
    run_freely(user, "spin", "spin", python=python)
    report = user.step("pause")
    assert (report["status"], report["reason"], report["function"]) == ("paused", "pause", "spin")
    assert user.step("pause")["message"] == "It is paused already."


SLEEPS = """\
import os
import sys
import time

os.open(sys.argv[1], os.O_RDONLY), time.sleep(3600)
"""


def test_a_pause_of_what_sleeps_says_what_it_waits_for(user: ToolUser, tmp_path: Path) -> None:
    path, gate = tmp_path / "sleeps.py", tmp_path / "gate"
    path.write_text(SLEEPS)
    os.mkfifo(gate)
    user.call("debug_run", target=str(path), args=[str(gate)], breakpoints=[f"{path}:5"])
    user.resume(timeout=0)
    with gate.open("w"):  # opens once the program does: no event that could stop it is to come
        report = user.step("pause", timeout=0.5)
    assert report["status"] == "running"
    assert "sleeps.py:5" in report["message"]
    assert "GET /" not in report["message"]


def test_five_steps_that_change_one_number_do_not_repeat_the_other_variables(
    user: ToolUser,
) -> None:
    user.run(BAD_DAYS, "consumed", args=["generator"])
    user.call("debug_set_breakpoints", remove=["all"])
    for _ in range(5):
        report = user.step()
        assert "produce" not in report.get("locals", {})
        assert report["unchanged"] >= 1
