"""Stop reports on real programs: what an interpreter tells of exceptions, writes and values."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from abandoned_calls import abandon_call
from harness import Program, Server
from polling import wait_until
from report_client import Agent, at

ORDERS = Program("orders.py")
AWKWARD = Program("awkward_values.py")
ERRORS = Program("chained_errors.py")
HIDDEN = "<hidden: looks like a secret>"


LOGS = """\
import sys
import traceback

try:
    raise KeyError("handled")
except KeyError:
    traceback.print_exc()
print("important", file=sys.stderr, flush=True)
try:
    raise LookupError("first")
except LookupError:
    raise KeyError("last")
"""


@pytest.fixture
def agent(server: Server) -> Iterator[Agent]:
    made = Agent(server)
    try:
        yield made
    finally:
        made.stop()


def test_another_call_of_a_function_is_shown_in_full(agent: Agent) -> None:
    agent.run(ORDERS, "ordered")
    again = agent.resume()
    assert again.at == at(ORDERS, "ordered")
    assert set(again.locals or {}) == {"items", "label", "basket", "amount", "note"}


def test_a_stop_at_an_exception_tells_what_led_to_it(agent: Agent, python: str) -> None:
    report = agent.run(ERRORS, python=python)
    assert (report.status, report.reason) == ("paused", "exception")
    assert report.at == at(ERRORS, "raise")
    assert report.locals
    assert report.locals["retries"] == "3"
    exception = report.exception
    assert exception
    assert (exception.type, exception.message) == ("OrderError", "the order is broken")
    assert [cause.type for cause in exception.causes or ()] == ["JSONDecodeError"]
    frames = {frame.function: frame for frame in exception.frames or ()}
    assert frames["main"].locals == {"customer": "'me'", "orders": "[1, 2]"}
    assert frames["main"].text == 'load("{broken", 3)  # @call'
    assert "debug_inspect" in (report.next or "")
    end = agent.resume()
    assert (end.status, end.exit_code) == ("terminated", 1)
    assert end.exception
    assert not end.exception.frames  # that was told


def test_only_the_traceback_that_a_report_tells_is_left_out(agent: Agent, tmp_path: Path) -> None:
    program = tmp_path / "logs.py"
    program.write_text(LOGS)
    report = agent.call("debug_run", target=str(program), exceptions="none")
    assert report.output
    assert "KeyError: 'handled'" in report.output
    assert "important" in report.output
    assert "KeyError: 'last'" not in report.output
    assert "LookupError" not in report.output


def test_an_exception_that_is_raised_again_is_told_once(agent: Agent) -> None:
    first = agent.run(ERRORS, args=["caught"], exceptions="raised")
    while first.exception and first.exception.type != "OrderError":
        first = agent.resume()
    again = agent.resume()
    assert again.exception
    assert again.exception.type == "OrderError"
    assert not again.exception.frames
    assert not again.exception.causes


def test_a_value_that_blocks_is_said_to_take_too_long(
    server_with: Callable[..., Server],
) -> None:
    report = Agent(server_with(value_call=0.05)).run(AWKWARD, "blocks")
    assert "took too long" in (report.locals or {})["blocks"]


def test_secrets_are_hidden_in_rows_and_steps(agent: Agent, tmp_path: Path) -> None:
    program = tmp_path / "login.py"
    program.write_text(
        "def login(user, password):\n    password = password + '1'\n    return user\n"
        "login('me', 'hunter2')\n"
    )
    places = [f"{program}:2"]
    table = agent.call(
        "debug_run", target=str(program), breakpoints=places, collect=["user", "password"]
    )
    assert [row[1:] for row in table.rows or ()] == [["'me'", HIDDEN]]
    agent.call("debug_run", target=str(program), breakpoints=places)
    stepped = agent.step(count=2)
    assert any("password" in step for step in stepped.steps or ())
    assert "hunter2" not in str(stepped.steps)


def test_a_write_that_was_watched_for_is_named(agent: Agent, tmp_path: Path) -> None:
    program = tmp_path / "writes.py"
    program.write_text(
        "class Cart:\n    total = 1\ndef work(cart):\n    cart.total += 2\n    return cart\n"
        "cart = Cart()\ncart.total = 1\nwork(cart)\n"
    )
    agent.call("debug_run", target=str(program), breakpoints=[f"{program}:4"])
    agent.post("debug_set_breakpoints", watch=["cart.total"])
    report = agent.resume()
    assert report.reason == "data breakpoint"
    assert report.message == f"cart.total: 1 → 3, written at {program}:4"


def test_a_group_of_exceptions_tells_of_its_members(agent: Agent, tmp_path: Path) -> None:
    if sys.version_info < (3, 11):
        pytest.skip("no exception groups before Python 3.11")
    program = tmp_path / "group.py"
    program.write_text(
        "def fail(n):\n"
        "    twice = n * 2\n"
        "    raise ValueError(f'member {n}')\n"
        "errors = []\n"
        "for n in range(2):\n"
        "    try:\n"
        "        fail(n)\n"
        "    except ValueError as error:\n"
        "        errors.append(error)\n"
        "raise ExceptionGroup('several', errors)\n"
    )
    report = agent.call("debug_run", target=str(program), python=sys.executable)
    assert report.exception
    members = report.exception.causes or []
    assert [(one.relation, one.message) for one in members] == [
        ("member", "member 0"),
        ("member", "member 1"),
    ]
    assert members[1].locals == {"n": "1", "twice": "2"}
    assert "has the member ValueError: member 1" in report.to_text()


def test_a_report_that_nobody_got_does_not_count(
    server: Server, agent: Agent, tmp_path: Path
) -> None:
    """Its client went away while the program ran."""
    gate = tmp_path / "gate"
    program = tmp_path / "slow.py"
    program.write_text(
        "import os, time\n"
        "print('early', flush=True)\n"
        f"while not os.path.exists({str(gate)!r}):\n"
        "    time.sleep(0.01)\n"
        "print('late')\n"
    )
    agent.call("debug_run", target=str(program), breakpoints=[f"{program}:2", f"{program}:5"])
    session = f"/sessions/{agent.session_id}"
    path = agent.path("debug_continue")
    abandon_call(server, path, {}, lambda: server.get(session)["status"] == "running")
    gate.touch()
    wait_until(lambda: server.get(session)["status"] == "paused", "it stops again")
    report = agent.call("debug_inspect")
    assert (report.at, report.output) == (f"{program}:5", "early")
