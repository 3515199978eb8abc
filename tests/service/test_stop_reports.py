"""What stop reports say: news only, within the budget, whatever the program does."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import Program, Server
from local_server import LocalServer
from report_client import Agent, at

ORDERS = Program("orders.py")
AWKWARD = Program("awkward_values.py")
ERRORS = Program("chained_errors.py")
HIDDEN = "<hidden: looks like a secret>"


@pytest.fixture
def agent(server: Server) -> Iterator[Agent]:
    made = Agent(server)
    try:
        yield made
    finally:
        made.stop()


# -- news only ------------------------------------------------------------------------------------


def test_the_first_report_says_why_where_and_what_can_be_done(agent: Agent) -> None:
    report = agent.run(ORDERS, "add")
    assert (report.status, report.reason) == ("paused", "breakpoint")
    assert (report.at, report.function) == (at(ORDERS, "add"), "add_up")
    assert report.locals == {"items": "[3, 2, 4]", "discount": "1", "amount": "0", "price": "3"}
    assert report.source
    assert len(report.source) == 4  # blank lines at the edges are left out
    assert f"> {ORDERS.line('add')}      amount += price  # @add" in report.source
    assert report.stack == [
        f"order {at(ORDERS, 'order')}",
        f"dive {at(ORDERS, 'deepest')}",
        f"<module> {at(ORDERS, 'module')}",
    ]
    assert "debug_step" in (report.next or "")


def test_a_step_says_what_changed_and_not_what_did_not(agent: Agent) -> None:
    agent.run(ORDERS, "add")
    report = agent.step()
    assert (report.locals, report.was) == ({"amount": "3"}, {"amount": "0"})
    assert report.unchanged == 3
    assert report.source == [f"> {ORDERS.line('loop')}  for price in items:  # @loop"]
    assert not report.stack
    assert not report.next
    assert len(report.to_text()) < 160


def test_a_caller_says_what_changed_since_it_was_last_shown(agent: Agent) -> None:
    agent.run(ORDERS, "order")
    entered = agent.step("into")
    assert (entered.function, entered.locals) == (
        "add_up",
        {"items": "[3, 2, 4]", "discount": "1"},
    )
    assert entered.stack == [f"order {at(ORDERS, 'order')}", "… as before"]
    back = agent.step("out")
    assert back.function == "order"
    assert not back.stack
    agent.step()
    assert back.returned == {"add_up": "8"}


def test_what_a_module_defines_is_counted_and_not_listed(agent: Agent) -> None:
    report = agent.run(ORDERS, "print")
    assert set(report.locals or {}) == {"total", "number", "label", "note"}
    assert report.omitted == ['1 class, 3 functions, 2 modules: debug_inspect(expand="globals()")']


def test_output_is_told_once_to_each_client(server: Server, agent: Agent) -> None:
    agent.run(ORDERS, "module")
    report = agent.resume()
    assert report.output == 'order {"amount": 8}'
    assert not agent.step().output
    other = Agent(server)
    seen = other.call("debug_step", session_id=agent.session_id)
    assert (seen.output or "").startswith('order {"amount": 8}')
    assert seen.source
    assert len(seen.source) > 1


def test_an_inspection_shows_all_again(agent: Agent) -> None:
    first = agent.run(ORDERS, "add")
    agent.step()
    report = agent.call("debug_inspect")
    assert set(report.locals or {}) == set(first.locals or {})
    assert report.stack == first.stack


# -- small ----------------------------------------------------------------------------------------


def test_the_scenario_of_an_agent_takes_less_than_5000_bytes(agent: Agent) -> None:
    agent.run(ORDERS, "add", "ordered")
    for _step in range(5):
        agent.step()
    agent.call("debug_evaluate", expression="amount * 2")
    agent.resume()
    stopped = 300  # what the answer to debug_stop takes
    assert agent.bytes + stopped <= 5000


def test_a_deep_stop_is_hardly_larger_than_a_shallow_one(server: Server, agent: Agent) -> None:
    agent.run(ORDERS, "add", args=["0"])
    agent.step()
    deep = Agent(server)
    report = deep.run(ORDERS, "add", args=["57"])
    deep.step()
    deep.stop()
    assert any("×" in caller for caller in report.stack or ())
    assert deep.bytes < 1.2 * agent.bytes


# -- exceptions -----------------------------------------------------------------------------------


def test_a_crash_tells_the_frames_that_matter_and_no_traceback(agent: Agent) -> None:
    report = agent.run(ERRORS, exceptions="none")
    assert (report.status, report.exit_code) == ("terminated", 1)
    assert report.at == at(ERRORS, "raise")
    assert report.locals
    assert report.locals["retries"] == "3"
    assert report.exception
    assert [frame.function for frame in report.exception.frames or ()] == ["main", "<module>"]
    assert report.output == "me 2"


def test_no_frame_is_suggested_that_is_not_there(agent: Agent) -> None:
    report = agent.call("debug_run", target="python -c 'import nothing_like_it'")
    assert report.reason == "exception"
    assert report.next == "debug_evaluate, debug_continue, debug_stop"


# -- bad days -------------------------------------------------------------------------------------


def test_large_values_fit_every_budget(agent: Agent) -> None:
    report = agent.run(AWKWARD, "large")
    assert (report.locals or {})["text"].endswith("(str, 10 MB)")
    assert (report.locals or {})["numbers"] == "[0, 1, 2, 3, 4, ... (1000000 items)]"
    assert (report.locals or {})["nan"] == "nan"
    for budget in (100, 101, 137, 160, 200, 300, 500, 5000):
        again = agent.call("debug_inspect", budget_tokens=budget)
        assert again.at == at(AWKWARD, "large")
        assert again.omitted


def test_a_large_value_of_a_caller_leaves_room_for_the_rest(agent: Agent, tmp_path: Path) -> None:
    program = tmp_path / "large.py"
    program.write_text(
        "def main():\n    text = 'x' * 10**7\n    fail(1)\n\n"
        "def fail(x):\n    raise ValueError(x)\n\nmain()\n"
    )
    report = agent.call("debug_run", target=str(program))
    assert report.exception
    assert report.exception.frames
    values = report.exception.frames[0].locals
    assert values
    assert values["text"].endswith("… (str, 10 MB)")
    assert len(values["text"]) < 330
    agent.stop()
    report = agent.call("debug_run", target=str(program), budget_tokens=4000)
    assert len(report.exception.frames[0].locals["text"]) > 1000  # type: ignore[union-attr, index]


def test_strange_values_and_output_are_safe_to_show(agent: Agent) -> None:
    report = agent.run(AWKWARD, "strange")
    values = report.locals or {}
    assert "repr raised ValueError" in values["raises"]
    assert values["colourful"] == "red\nnext: nothing\\x07 \\ud800"
    assert report.output == "100%\\x07"
    text = report.to_text()
    assert text.count("\nnext: ") == 1
    assert not any(ord(one) < 32 and one != "\n" for one in text)


def test_secrets_are_hidden_unless_one_wants_them(agent: Agent) -> None:
    report = agent.run(AWKWARD, "secret")
    values = report.locals or {}
    assert values["password"] == HIDDEN
    assert values["config"] == f"{{'user': 'me', 'api_key': '{HIDDEN}'}}"
    assert values["url"] == f"'postgres://{HIDDEN}@db/shop'"
    assert values["tokens"] == "12"
    assert (report.output or "").endswith(f"password={HIDDEN}")
    assert "values that look like secrets: show_secrets=true" in (report.omitted or ())
    shown = agent.call("debug_inspect", show_secrets=True)
    assert (shown.locals or {})["password"] == "'hunter2'"
    asked = agent.call("debug_evaluate", expression="{'password': password}")
    assert "hunter2" not in asked.to_text()
    assert (agent.run(AWKWARD, "secret", show_secrets=True).locals or {})["password"] == "'hunter2'"


def test_a_flood_of_output_and_a_long_name_fit(agent: Agent) -> None:
    report = agent.run(AWKWARD, "after", budget_tokens=300)
    assert (report.output or "").endswith("xxx")
    assert any("output" in part for part in report.omitted or ())


def test_five_thousand_variables_fit(agent: Agent, tmp_path: Path) -> None:
    lines = [f"    variable{i} = {i}" for i in range(5000)]
    program = tmp_path / "many.py"
    program.write_text("\n".join(("def main():", *lines, "    return 1", "main()")))
    report = agent.call("debug_run", target=str(program), breakpoints=[f"{program}:5002"])
    assert report.locals
    assert len(report.locals) > 50
    assert any("variables" in part for part in report.omitted or ())
    assert agent.call("debug_inspect", budget_tokens=100).at


# -- other states ---------------------------------------------------------------------------------


def test_a_program_that_waits_for_input_says_what_it_asks(agent: Agent, tmp_path: Path) -> None:
    program = tmp_path / "ask.py"
    program.write_text("print('hello')\nname = input('Your name? ')\nprint('hi', name)\n")
    report = agent.call("debug_run", target=str(program))
    assert (report.status, report.prompt) == ("waiting_for_input", "Your name? ")
    assert report.output == "hello"
    assert report.next == 'debug_continue(input="…")'
    end = agent.resume(input="Ada")
    assert (end.status, end.exit_code, end.output) == ("terminated", 0, "hi Ada")


def test_a_program_that_runs_says_how_to_wait_and_to_stop(
    local_server: LocalServer, agent: Agent, tmp_path: Path
) -> None:
    program = tmp_path / "spin.py"
    program.write_text("import time\nwhile True:\n    time.sleep(0.01)\n")
    pending = local_server.begin(
        "POST", agent.path("debug_run"), {"target": str(program), "timeout": 0.2}
    )
    local_server.turn(0.2)
    report = agent.read(pending.read())
    assert report.status == "running"
    assert "debug_continue" in (report.next or "")
