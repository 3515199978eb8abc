"""Runs the examples, with a running server or with their own, and compares their output."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from generous_timings import set_timings
from harness import Server

EXAMPLES = Path(__file__).parents[1] / "examples"

OUTPUTS = {
    "calls_basic.py": """\
        tea: 6
        raises as usual: KeyError('soup')
        cake, decided by the breakpoint: 0
        recorded: Shop.price ["'tea'"] 6
        recorded: Shop.price ["'soup'"] KeyError
        recorded: Shop.price ["'cake'"] 0
        off, the object itself: Shop
        """,
    "calls_async.py": """\
        not held: page 1
        held, then modified: page 42
        inline: page 3
        """,
    "calls_builtins.py": """\
        a list: True 4 [1, 2, 3, 4] 3
        reflected: [0, 3, 1, 2, 4]
        a dict: True nobody
        a string: HELLO hello there
        recorded: append __len__ __iter__ __getitem__ __radd__ __setitem__ __contains__ get upper __add__
        the list after append: [3, 1, 2, 4]
        """,  # noqa: E501
    "calls_inline.py": """\
        off, only calls: 6
        wider than 3: ['40', '50']
        area: 10
        raised by the breakpoint: the second one
        area: 30
        """,
    "calls_leased.py": """\
        sum: 332833500
        with a breakpoint: 36 -1 64
        recorded: 1003
        """,
    "calls_replay_to_test.py": """\
        recorded: Order(item='tea', count=2) costs 6
        the test passes: True
        the test fails: True
        orders.cost(Order(item='tea', count=2))
        different from what was recorded
          result
            expected  6
            actual    20
        """,
    "agent_held.py": """\
        held: remove {'path': '/home'}
        the model got: removed /tmp/cache
        removed: ['/tmp/cache']
        """,
    "agent_own_framework.py": """\
        Report: much is known about tea
        asked: lead researcher lead
        Report: much is known about tea (replayed)
        asked: nobody
        """,
}
TOOLS = {
    "run_experiment.py": """\
        buggy_cart.py:25   0  cart.add("tea", 6)
        buggy_cart.py:26   6  cart.add("cake", 12)
        buggy_cart.py:27  18  print(describe(cart))
        buggy_cart.py:28  12  cart.add("jam", 4)
        buggy_cart.py:29  16  print(f"to pay: {cart.total}")
        buggy_cart.py:27 takes 6 off the total
        the program: terminated, exit code 0
        """,
    "agent_debugs_agent.py": """\
        held: cleaner, before its model call ['user: make some room']
        set: ['bp-1 pattern /home']
        the model said: I remove /home.
        held: remove {'path': '"/home"'}
        allows: continue, modify, skip, raise, cancel, step
        the tool returned: "removed /tmp/cache"
        removed: ['/tmp/cache']
        """,
    "capture_failing_test.py": """\
        failed: test_cart.py::test_describing_changes_nothing
          cart.total = 0
          before = 6
        variable: cart = <Cart prices={'tea': 6}, total=0>
        variable: before = 6
        """,
    "mcp_client.py": """\
        buggy_cart.py:25  cart.total 0 -> 6
        buggy_cart.py:26  cart.total 6 -> 18
        buggy_cart.py:27  cart.total 18 -> 12
          it falls: print(describe(cart))
        buggy_cart.py:28  cart.total 12 -> 16
        """,
}
EMBEDDED = {
    "adapter_in_thread.py": """\
        an editor can join on a port: True
        can fire: [True, True]
        stopped: breakpoint ["name='cake'", 'price=12']
        the caller: main
        stopped: function breakpoint 18
        three steps later: 12
        logged: ['tea for 6', 'cake for 12', 'jam for 4']
        printed: to pay: 16
        awaited: ZeroDivisionError with 18
        after the end: adapter not running
        """,
    "watch_a_value.py": """\
        watching: True
        0 -> 6, by add: self.total += price
        6 -> 18, by add: self.total += price
        18 -> 12, by describe: cart.total -= cart.prices[cheapest]
        12 -> 16, by add: self.total += price
        ended: to pay: 16
        """,
}
OUTPUTS.update(EMBEDDED)
OUTPUTS.update(TOOLS)
CALLS = [name for name in OUTPUTS if name.startswith("calls_")]


def run(name: str, **env: str) -> str:
    plain = {key: value for key, value in os.environ.items() if not key.startswith("HOLDFAST")}
    ran = subprocess.run(
        [sys.executable, str(EXAMPLES / name)],
        env={**plain, **set_timings(), **env},
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def expected_output(name: str) -> str:
    return "".join(line[8:] + "\n" for line in OUTPUTS[name].splitlines() if line.strip())


@pytest.mark.parametrize("name", CALLS)
def test_an_example_prints_what_it_should(server: Server, name: str) -> None:
    assert run(name, HOLDFAST_SERVER_URL=server.url) == expected_output(name)


def test_an_example_starts_a_server_if_none_runs(tmp_path: Path) -> None:
    with socket.socket() as taken:  # nobody listens there, but perhaps on the usual port
        taken.bind(("127.0.0.1", 0))
        nowhere = f"http://127.0.0.1:{taken.getsockname()[1]}"
        printed = run("calls_basic.py", HOLDFAST_HOME=str(tmp_path), HOLDFAST_SERVER_URL=nowhere)
    assert printed == expected_output("calls_basic.py")


def test_every_example_of_calls_is_run() -> None:
    assert {path.name for path in EXAMPLES.glob("calls_*.py")} == set(CALLS)


@pytest.mark.parametrize("name", ["agent_held.py", "agent_own_framework.py"])
def test_an_example_of_an_agent_prints_what_it_should(tmp_path: Path, name: str) -> None:
    """The other example of an agent, `agent_loop.py`, is run by the tests of the command line."""
    assert run(name, HOLDFAST_HOME=str(tmp_path)) == expected_output(name)


@pytest.mark.parametrize("name", EMBEDDED)
def test_an_example_of_the_debugger_in_a_thread_prints_what_it_should(name: str) -> None:
    assert run(name) == expected_output(name)


@pytest.fixture(scope="module")
def quiet_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server at which nothing else is held."""
    running = Server(tmp_path_factory.mktemp("examples") / "data")
    yield running
    running.stop()


@pytest.mark.parametrize("name", TOOLS)
def test_an_example_of_the_tools_prints_what_it_should(
    tmp_path: Path, quiet_server: Server, name: str
) -> None:
    where = {"HOLDFAST_HOME": str(tmp_path), "HOLDFAST_SERVER_URL": quiet_server.url}
    if "mcp" in name:  # it starts its own
        del where["HOLDFAST_SERVER_URL"]
    assert run(name, **where) == expected_output(name)
