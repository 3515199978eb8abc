"""The stock way, through debugpy's adapter: asked for, or taken where our own does not work."""

from __future__ import annotations

import stat
import sys
from pathlib import Path

import psutil
import pytest

from child_processes import CHILD_STARTER, PATIENCE, is_gone, run_undebugged
from harness import Program, Server, Session
from interpreters import Interpreter, choose_interpreters

pytestmark = pytest.mark.slow  # each starts debugpy's adapter and launcher
LOOP = Program("loop.py")


@pytest.fixture
def wrapper(tmp_path: Path) -> Path:
    """An interpreter in whose start-up our file cannot be run, as under some sandboxes."""
    script = tmp_path / "python3"
    script.write_text(
        '#!/bin/sh\ncase "$*" in *boot.py*) echo "not in here" >&2; exit 9;; esac\n'
        f'exec "{sys.executable}" "$@"\n'
    )
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    return script


def test_a_program_is_debugged_through_an_adapter(session: Session, python: str) -> None:
    [point] = session.break_at(LOOP, "add", condition="number == 3")

    stop = session.launch(LOOP, python=python, route="adapter")

    assert (stop["status"], stop["reason"]) == ("paused", "breakpoint")
    assert stop["breakpoint_id"] == point
    assert session.get("")["route"] == "adapter"
    assert session.server.get("/info")["routes"]["sessions"][session.id] == "adapter"
    step = session.post("/step-over", {"wait": PATIENCE})
    assert step["location"]["line"] == LOOP.line("return")
    assert session.evaluate("result * 2") == "12"
    end = session.resume()
    assert (end["status"], end["exit_code"]) == ("terminated", 0)
    assert session.output() == "total 45\ndone\n"


GENERATORS = """
import asyncio

async def stream(): yield 1; yield 2

async def repeat(n):
    while True:
        await asyncio.sleep(0)
        n -= 1
        if not n: return

class Cart:
    def items(self):
        for number in range(3):
            yield number

def one_line(): yield 1; yield 2

async def read():
    async for each in stream():
        await asyncio.sleep(0)

def plain(): return 1

for turn in range(2):
    asyncio.run(read())
    asyncio.run(repeat(3))
    list(Cart().items())
    list(one_line())
    plain()
raise SystemExit(7)
"""


@pytest.mark.parametrize(
    "interpreter",
    choose_interpreters(before=(3, 12)),
    ids=lambda each: ".".join(map(str, each.version[:2])),
)
def test_a_generator_stops_once_a_call_behind_an_adapter(
    session: Session, tmp_path: Path, interpreter: Interpreter
) -> None:
    script = tmp_path / "generators.py"
    script.write_text(GENERATORS)
    names = ["stream", "repeat", "Cart.*", "one_line", "plain"]
    session.post("/breakpoints", [{"function": name} for name in names])

    stopped = []
    stop = session.launch(str(script), python=interpreter.path, route="adapter")
    while stop["status"] == "paused":
        assert "__holdfast_entered" not in session.locals()
        stopped.append(stop["location"]["function"].rpartition(".")[2])
        stop = session.resume()

    assert (stop["status"], stop["exit_code"]) == ("terminated", 7)
    assert stopped == ["stream", "repeat", "items", "one_line", "plain"] * 2
    shown = session.get("/breakpoints")["breakpoints"]
    assert [point["hits"] for point in shown if "function" in point] == [2] * 5


def test_the_exit_code_comes_through_an_adapter(session: Session) -> None:
    end = session.launch(CHILD_STARTER, args=["child", "x"], route="adapter")

    assert (end["status"], end["exit_code"]) == ("terminated", 7)
    assert session.output() == run_undebugged(sys.executable, "child", "x")[0]


def test_children_are_left_alone_behind_an_adapter(session: Session) -> None:
    session.break_at(CHILD_STARTER, "work")
    ways = ["popen", "fork_exits", "spawn_process"]

    end = session.launch(CHILD_STARTER, args=ways, route="adapter")

    assert (end["status"], end["exit_code"]) == ("terminated", 0)
    assert session.output() == run_undebugged(sys.executable, *ways)[0]


def test_a_program_that_our_probe_cannot_start_is_started_by_the_adapter(
    session: Session, wrapper: Path
) -> None:
    session.break_at(LOOP, "print")

    stop = session.launch(LOOP, python=str(wrapper))

    assert (stop["status"], stop["location"]["line"]) == ("paused", LOOP.line("print"))
    assert session.evaluate("total") == "45"
    [changed] = [e for e in session.get("/events")["events"] if e["event"] == "route_changed"]
    assert changed["route"] == "adapter"
    routes = session.server.get("/info")["routes"]
    assert routes["sessions"][session.id] == "adapter"
    assert "9" in routes["fallback_reason"]
    assert session.resume()["exit_code"] == 0


def test_the_direct_way_alone_does_not_fall_back(session: Session, wrapper: Path) -> None:
    answer = session.post(
        "/launch", {"script": LOOP.path, "python": str(wrapper), "route": "direct"}, expect=500
    )

    assert answer["error"]["code"] == "LAUNCH_FAILED"


def test_when_both_ways_fail_the_first_error_is_reported(wrapper: Path, tmp_path: Path) -> None:
    """The interpreter is gone when the adapter wants to start it. Nobody else starts it before."""
    wrapper.write_text(wrapper.read_text().replace("exit 9", 'rm "$0"; exit 9'))
    cold = Server(tmp_path / "data", "--pool-size", "0")
    try:
        with cold.session() as session:
            body = {"script": LOOP.path, "python": str(wrapper)}
            answer = session.post("/launch", body, expect=500)
    finally:
        cold.stop()

    assert answer["error"]["code"] == "LAUNCH_FAILED"
    assert answer["error"]["details"]["exit_code"] == 9


@pytest.mark.parametrize("victim", ["none", "adapter", "launcher", "program"])
def test_nothing_is_left_of_an_adapter(server: Server, victim: str) -> None:
    with server.session() as session:
        session.break_at(LOOP, "add")
        session.launch(LOOP, route="adapter")
        program = psutil.Process(session.get("")["pid"])
        launcher = program.parent()
        assert launcher is not None
        adapter = launcher.parent()
        assert adapter is not None
        members = {"adapter": adapter, "launcher": launcher, "program": program}
        if victim in members:
            members[victim].kill()
            session.wait_for_events("terminated")[0]

    assert [each.pid for each in members.values() if not is_gone(each.pid)] == []
