"""`debug_trace`, `debug_why` and `debug_diff`: what a run did, asked for in one call."""

from __future__ import annotations

import contextlib
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import Server
from tool_user import ToolUser

SHOP = """\
import sys

RATES = {"tea": 2, "cake": 3}


def price(item, count):
    cost = RATES[item] * count
    return cost


def total(cart):
    amount = 0
    lines = []
    for item, count in cart:
        amount += price(item, count)
        lines.append(item)
    return amount


def fail(cart):
    try:
        return total(cart + [("pie", 1)])
    finally:
        print("tried")


def main():
    print("total", total([("tea", 2), ("cake", 1)]))
    print("total", total([("tea", 5)]))
    if "fail" in sys.argv:
        fail([("tea", 1)])


if __name__ == "__main__":
    main()
"""
COUNT = """\
def count(limit):
    total = 0
    odd = None
    for number in range(limit):
        if number == 7431:
            odd = number
        total += number
    return total


print(count(10_000))
"""
FEW = COUNT.replace("10_000", "300")
ENDLESS = """\
import time


def work(step):
    done = step * 2
    return done


def main():
    step = 0
    while True:
        step += 1
        work(step)
        time.sleep(0.01)


main()
"""


@pytest.fixture
def user(server: Server, tmp_path: Path) -> Iterator[ToolUser]:
    texts = {"shop.py": SHOP, "count.py": COUNT, "few.py": FEW}
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    user = ToolUser(server, cwd=str(tmp_path))
    with contextlib.ExitStack() as stack:
        stack.callback(user.stop_all)
        yield user


def list_steps(report: Any) -> dict[int, dict[str, str]]:
    """What the statements outside of loops changed, by their lines."""
    return {step["line"]: step["changed"] for step in report["steps"] if "line" in step}


def find_line(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.splitlines(), 1) if part in line)


# -- one call --------------------------------------------------------------------------------------


def test_a_call_is_shown_from_its_arguments_to_its_result(user: ToolUser) -> None:
    report = user.call("debug_trace", target="shop.py", function="price", call=2)
    assert report["status"] == "terminated"
    assert (report["function"].rpartition(".")[2], report["call"]) == ("price", 2)
    assert report["at"] == f"shop.py:{find_line(SHOP, 'def price')}"
    assert report["args"] == {"item": "'cake'", "count": "1"}
    assert list_steps(report)[find_line(SHOP, "cost = ")] == {"cost": "3"}
    assert report["return"] == "3"
    assert "total(" in report["called_from"][0]


def test_a_loop_is_folded_into_its_rounds(user: ToolUser) -> None:
    report = user.call("debug_trace", target="shop.py", function="total")
    [loop] = [step["loop"] for step in report["steps"] if "loop" in step]
    assert (loop["line"], loop["iterations"]) == (find_line(SHOP, "for item"), 2)
    first, last = loop["first"]["steps"], loop["last"]["steps"]
    added = find_line(SHOP, "amount += ")
    assert [step["changed"] for step in first if step["line"] == added] == [{"amount": "4"}]
    assert [step["changed"] for step in last if step["line"] == added] == [{"amount": "7"}]


def test_an_append_is_a_change(user: ToolUser) -> None:
    report = user.call("debug_trace", target="shop.py", function="total")
    [loop] = [step["loop"] for step in report["steps"] if "loop" in step]
    appended = find_line(SHOP, "lines.append")
    [step] = [step for step in loop["last"]["steps"] if step["line"] == appended]
    assert step["changed"] == {"lines": "['tea', 'cake']"}


def test_callees_are_shown_with_their_results(user: ToolUser) -> None:
    report = user.call("debug_trace", target="shop.py", function="total", call=2)
    assert "price" in str(report["steps"])
    assert "10" in str(report["steps"])


def test_ten_thousand_rounds_are_few_lines_and_the_odd_one_is_among_them(user: ToolUser) -> None:
    report = user.call("debug_trace", target="count.py", function="count")
    [loop] = [step["loop"] for step in report["steps"] if "loop" in step]
    assert loop["iterations"] == 10_000
    assert 7432 in [one["number"] for one in loop["unusual"]]
    assert loop["last"]["changed"]["total"] == "49995000"
    assert report["return"] == "49995000"


def test_full_folds_nothing(user: ToolUser, server: Server) -> None:
    path = "/api/v1/tools/debug_trace"
    body = {"target": "few.py", "function": "count", "full": True}
    report = server.http.post(path, params=user.query, json=body).json()
    assert not any("loop" in step for step in report["steps"])
    added = find_line(COUNT, "total += ")
    totals = [step["changed"] for step in report["steps"] if step.get("line") == added]
    assert len(totals) == 300
    assert totals[-1] == {"total": "44850"}


def test_a_call_is_chosen_by_its_arguments(user: ToolUser) -> None:
    report = user.call("debug_trace", target="shop.py", function="price", where="count > 4")
    assert (report["call"], report["args"]["count"]) == (3, "5")


def test_the_call_that_raised_is_chosen(user: ToolUser) -> None:
    report = user.call(
        "debug_trace", target="shop.py", args=["fail"], function="price", raised=True
    )
    assert report["exception"]["type"] == "KeyError"
    assert report["exception"]["message"] == "'pie'"
    assert report["exception"]["line"] == find_line(SHOP, "cost = ")
    assert report["args"]["item"] == "'pie'"
    assert report["exit_code"] == 1


def test_without_a_function_the_tree_of_calls_is_shown(user: ToolUser) -> None:
    report = user.call("debug_trace", target="shop.py")
    tree = "\n".join(report["tree"])
    assert "x3" in tree.split("price")[1].split("\n")[0] or tree.count("price") > 1
    assert "total" in tree
    assert "main" in tree


def test_a_function_that_is_never_called_is_said_to_be(user: ToolUser) -> None:
    report = user.call("debug_trace", target="shop.py", function="fail")
    assert "steps" not in report
    assert "never called" in report["remarks"][0]


def test_a_function_that_does_not_exist_is_refused_before_anything_runs(user: ToolUser) -> None:
    before = user.server.list_ids()
    error = user.call("debug_trace", expect=400, target="shop.py", function="totla")["error"]
    assert "total" in error["hint"]
    assert user.server.list_ids(but=before) == []


def test_a_program_that_never_ends_is_shown_while_it_runs(
    server_with: Callable[..., Server], tmp_path: Path
) -> None:
    (tmp_path / "endless.py").write_text(ENDLESS)
    user = ToolUser(server_with(end_after_trace=0.05), cwd=str(tmp_path))
    report = user.call("debug_trace", target="endless.py", function="work", call=3)
    assert report["status"] == "running"
    assert report["args"] == {"step": "3"}
    assert report["return"] == "6"
    for seconds in (0.5, 5, 50):  # a busy machine may need longer to come so far
        unfinished = user.call("debug_trace", target="endless.py", function="main", timeout=seconds)
        assert unfinished["status"] == "running"
        if unfinished.get("steps"):
            break
    assert unfinished["steps"]
    assert "return" not in unfinished


def test_calls_that_the_debugger_makes_are_none_of_the_programs(
    user: ToolUser, tmp_path: Path
) -> None:
    (tmp_path / "note.py").write_text("import json\nprint(json.dumps({'mine': 1}))\n")
    report = user.call("debug_trace", target="note.py", function="json.dumps")
    assert report["args"]["obj"] == "{'mine': 1}"
    report = user.call("debug_trace", target="note.py", function="json.dumps", call=2)
    assert "steps" not in report


def test_a_statement_that_raised_assigned_nothing(user: ToolUser, tmp_path: Path) -> None:
    lines = ["def add(values):", "    total = 0", "    for value in values:", "        try:"]
    lines += ["            total += value", "        except TypeError:", "            continue"]
    (tmp_path / "add.py").write_text(
        "\n".join([*lines, "    return total", "", "", "add([1, None])"])
    )
    loop = user.call("debug_trace", target="add.py", function="add")["steps"][1]["loop"]
    assert loop["paths"] == ["none x1", "7 x1"]
    raised = next(step for step in loop["last"]["steps"] if "raised" in step)
    assert (raised["line"], raised["changed"]) == (5, {})
    assert "how" not in raised


def test_callers_in_libraries_are_left_out(user: ToolUser, tmp_path: Path) -> None:
    (tmp_path / "test_one.py").write_text("def test_one():\n    assert 1\n")
    report = user.call("debug_trace", target="test_one.py::test_one", function="test_one")
    assert len(report["called_from"]) == 1


# -- recordings ------------------------------------------------------------------------------------


def test_a_recording_is_gone_through_without_running_anything(user: ToolUser) -> None:
    trace = user.call("debug_trace", target="shop.py", function="price")["trace_id"]
    before = user.server.list_ids()
    following = user.call("debug_trace", trace=trace, go="next")
    assert (following["call"], following["args"]["item"]) == (2, "'cake'")
    again = user.call("debug_trace", trace=trace, call=2, go="previous")
    assert again["call"] == 1
    found = user.call("debug_trace", trace=trace, find="'cake'")["found"]
    assert any("call 2" in line for line in found)
    assert user.server.list_ids(but=before) == []


def test_what_was_not_recorded_is_recorded_only_when_asked(user: ToolUser) -> None:
    trace = user.call("debug_trace", target="shop.py", function="price")["trace_id"]
    error = user.call("debug_trace", expect=404, trace=trace, go="parent")["error"]
    assert "again" in error["hint"]
    parent = user.call("debug_trace", trace=trace, go="parent", again=True)
    assert parent["function"].endswith("total")
    assert parent["steps"]


def test_the_parent_is_the_call_that_made_this_one(user: ToolUser) -> None:
    trace = user.call("debug_trace", target="shop.py", function="price", call=3)["trace_id"]
    parent = user.call("debug_trace", trace=trace, go="parent", again=True)
    assert (parent["function"], parent["call"]) == ("shop.total", 2)


def test_the_first_call_has_none_before_it(user: ToolUser) -> None:
    trace = user.call("debug_trace", target="shop.py", function="price")["trace_id"]
    error = user.call("debug_trace", expect=404, trace=trace, go="previous", again=True)["error"]
    assert error["message"] == "shop.price call 1 is its first call"


def test_a_recording_cannot_evaluate_another_condition(user: ToolUser) -> None:
    asked: dict[str, Any] = {"function": "price", "where": "count > 1"}
    trace = user.call("debug_trace", target="shop.py", **asked)["trace_id"]
    assert user.call("debug_trace", trace=trace, **asked)["call"] == 1
    error = user.call("debug_trace", expect=404, trace=trace, where="count > 4")["error"]
    assert "again" in error["hint"]
    found = user.call("debug_trace", trace=trace, where="count > 4", again=True)
    assert found["call"] == 3


def test_a_tree_of_calls_does_not_stand_for_a_call(user: ToolUser) -> None:
    trace = user.call("debug_trace", target="shop.py")["trace_id"]
    assert user.call("debug_trace", trace=trace)["tree"]
    user.call("debug_trace", expect=404, trace=trace, call=2)
    user.call("debug_trace", expect=404, trace=trace, go="next", again=True)


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"target": "shop.py", "function": "price", "call": 2, "raised": True}, "raised"),
        ({"target": "shop.py", "function": "price", "call": 2, "where": "count"}, "where"),
        ({"target": "shop.py", "call": 2}, "function"),
        ({"target": "shop.py", "find": "7"}, "function"),
        ({"target": "shop.py", "function": "price", "go": "next"}, "go"),
        ({"target": "shop.py", "trace": "latest"}, "target"),
        ({}, "target"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_runs(
    user: ToolUser, fields: dict[str, Any], field: str
) -> None:
    before = user.server.list_ids()
    error = user.call("debug_trace", expect=400, **fields)["error"]
    assert error["details"]["field"] == field
    assert user.server.list_ids(but=before) == []


def test_a_value_is_looked_for_in_a_run(user: ToolUser) -> None:
    report = user.call("debug_trace", target="shop.py", function="price", find="'cake'")
    assert any("'cake'" in line for line in report["found"])
    assert "remarks" not in report


def test_a_budget_that_no_answer_can_keep_is_refused(user: ToolUser) -> None:
    fields = {"target": "shop.py", "function": "price", "budget_tokens": 50}
    assert "100" in user.call("debug_trace", expect=400, **fields)["error"]["message"]


def test_an_unknown_recording_is_not_found(user: ToolUser) -> None:
    error = user.call("debug_trace", expect=404, trace="trc_nothing")["error"]
    assert error["code"] == "TRACE_NOT_FOUND"


def test_recordings_are_listed_shown_and_deleted_over_http(user: ToolUser) -> None:
    trace = user.call("debug_trace", target="count.py", function="count")["trace_id"]
    get = user.server.get
    assert trace in [one["trace_id"] for one in get("/api/traces")["traces"]]
    shown = get(f"/api/traces/{trace}")
    [call] = [one for one in shown["calls"] if one["index"] == 1]
    whole = get(f"/api/traces/{trace}/calls/{call['key']}")
    [loop] = [entry["loop"] for entry in whole["entries"] if "loop" in entry]
    assert loop["iterations"] == 10_000
    assert loop["rounds"][-1]["values"]["total"] == "49995000"
    assert user.server.delete(f"/api/traces/{trace}") == {"deleted": 1}
    user.server.get(f"/api/traces/{trace}", expect=404)


def test_a_call_that_waits_says_where(user: ToolUser, tmp_path: Path) -> None:
    (tmp_path / "ask.py").write_text(
        "def ask():\n    name = input()\n    count = int(input())\n    return name * count\nask()\n"
    )
    report = user.call("debug_trace", target="ask.py", function="ask")
    assert (report["status"], report["now"]) == ("waiting_for_input", 2)
    user.call("debug_continue", session_id=report["session_id"], input="a")
    report = user.call("debug_trace", trace=report["trace_id"])
    assert (report["steps"], report["now"]) == ([{"line": 2, "changed": {"name": "'a'"}}], 3)


# -- why -------------------------------------------------------------------------------------------


def test_the_write_that_made_a_value_is_named_with_what_fed_it(user: ToolUser) -> None:
    line = find_line(SHOP, "return amount")
    report = user.call("debug_why", variable="amount", at=f"shop.py:{line}")
    assert report["assigned"]["line"] == find_line(SHOP, "amount += ")
    assert report["assigned"]["value"] == "7"
    lines = [link["line"] for link in report["from"]]
    assert find_line(SHOP, "cost = ") in lines
    assert len(lines) <= 30


def test_another_hit_has_another_answer(user: ToolUser) -> None:
    line = find_line(SHOP, "return amount")
    report = user.call("debug_why", variable="amount", at=f"shop.py:{line}", hit=2)
    assert report["assigned"]["value"] == "10"


def test_an_exception_is_explained(user: ToolUser) -> None:
    report = user.call("debug_why", target="shop.py", args=["fail"])
    assert report["assigned"]["line"] == find_line(SHOP, "cost = ")
    assert find_line(SHOP, '("pie", 1)') in [link["line"] for link in report["from"]]


def test_arguments_of_a_call_that_raised_are_told(user: ToolUser) -> None:
    line = find_line(SHOP, "amount = 0")
    at = f"shop.py:{line}"
    report = user.call("debug_why", target="shop.py", args=["fail"], variable="cart", at=at, hit=-1)
    assert report["assigned"]["value"] == "[('tea', 1), ('pie', 1)]"
    wrote = {link["line"]: link.get("wrote") for link in report["from"]}
    assert wrote[find_line(SHOP, "fail([")] == {"fail(cart)": "[('tea', 1)]"}


def test_a_module_that_was_run_as_a_script_is_said_to_be(user: ToolUser, tmp_path: Path) -> None:
    (tmp_path / "parts.py").write_text("def find(x):\n    y = x + 1\n    return y\n")
    error = user.call("debug_why", expect=404, variable="y", at="parts.py:3")["error"]
    assert "parts.py was run as a script" in error["hint"]
    error = user.call("debug_why", expect=404, variable="y", at="shop.py:3")["error"]
    assert "as a script" not in error["hint"]


def test_a_line_that_never_ran_is_said_to_be(user: ToolUser) -> None:
    line = find_line(SHOP, "return total(cart")
    error = user.call("debug_why", expect=404, variable="cart", at=f"shop.py:{line}")["error"]
    assert "not executed" in error["message"]


def test_a_recorded_run_answers_further_questions(user: ToolUser) -> None:
    line = find_line(SHOP, "return amount")
    trace = user.call("debug_why", variable="amount", at=f"shop.py:{line}")["trace_id"]
    before = user.server.list_ids()
    cost = find_line(SHOP, "return cost")
    report = user.call("debug_why", trace=trace, variable="cost", at=f"shop.py:{cost}", hit=-1)
    assert report["assigned"]["value"] == "10"
    call = user.call("debug_trace", trace=trace, function="price", call=2)
    assert call["return"] == "3"
    assert user.call("debug_trace", trace=trace, function="price", go="parent")["call"] == 1
    assert user.server.list_ids(but=before) == []


def test_a_trace_of_one_function_is_run_again_only_when_asked(user: ToolUser) -> None:
    trace = user.call("debug_trace", target="shop.py", args=["fail"], function="fail")["trace_id"]
    question = {"trace": trace, "variable": "cart", "at": f"shop.py:{find_line(SHOP, 'try:')}"}
    assert "again" in user.call("debug_why", expect=404, **question)["error"]["hint"]
    assert user.call("debug_why", **question, again=True)["assigned"]["value"] == "[('tea', 1)]"


def test_each_statement_leads_to_the_call_and_the_round_in_which_it_ran(user: ToolUser) -> None:
    line = find_line(SHOP, "return amount")
    trace = user.call("debug_why", variable="amount", at=f"shop.py:{line}")["trace_id"]
    first, second = (find_call(user, trace, "total", index) for index in (1, 2))
    ask = f"/api/traces/{trace}/why?variable=amount&at=shop.py:{line}"
    answer = user.server.get(f"{ask}&hit=1")
    assert (answer["value"], answer["hit"], answer["hits"]) == ("7", 1, 2)
    loop = str(find_line(SHOP, "for item"))
    assigned = answer["assigned"]
    assert (assigned["line"], assigned["call"]) == (find_line(SHOP, "amount += "), first)
    assert assigned["rounds"] == {loop: 2}
    links = {link["line"]: link for link in answer["from"]}
    assert links[find_line(SHOP, "cost = ")]["call"] == find_call(user, trace, "price", 2)
    assert "rounds" not in links[find_line(SHOP, "cost = ")]
    assert links[find_line(SHOP, "for item")]["rounds"] == {loop: 2}
    later = user.server.get(f"{ask}&hit=-1")["assigned"]
    assert (later["call"], later["rounds"]) == (second, {loop: 1})


def test_a_statement_of_a_call_says_which_time_it_ran_and_is_asked_for_what_it_left(
    user: ToolUser,
) -> None:
    line = find_line(SHOP, "return amount")
    trace = user.call("debug_why", variable="amount", at=f"shop.py:{line}")["trace_id"]
    key = find_call(user, trace, "total", 2)
    entries = user.server.get(f"/api/traces/{trace}/calls/{key}")["entries"]
    [loop] = [entry["loop"] for entry in entries if "loop" in entry]
    added = find_line(SHOP, "amount += ")
    [step] = [step for step in loop["rounds"][0]["entries"] if step["line"] == added]
    assert step["hit"] == 3
    ask = f"/api/traces/{trace}/why?variable=amount&at=shop.py:{added}&hit={step['hit']}"
    assert user.server.get(ask)["value"] == "0"
    assert user.server.get(f"{ask}&after=true")["value"] == "10"


def test_the_route_of_why_says_what_it_cannot_answer(user: ToolUser) -> None:
    trace = user.call("debug_trace", target="shop.py", function="price")["trace_id"]
    ask = f"/api/traces/{trace}/why?variable=cost"
    user.server.get(f"{ask}&at=shop.py:8", expect=404)
    line = find_line(SHOP, "return amount")
    whole = user.call("debug_why", variable="amount", at=f"shop.py:{line}")["trace_id"]
    assert (
        "at"
        in user.server.get(f"/api/traces/{whole}/why?variable=cost", expect=400)["error"]["message"]
    )
    user.server.get(f"/api/traces/{whole}/why?variable=cost&at=shop.py:8&hit=9", expect=404)
    user.server.get(f"/api/traces/{whole}/why", expect=404)  # no exception ended it


def find_call(user: ToolUser, trace: str, function: str, index: int) -> str:
    """The key of a call of a recording."""
    calls = user.server.get(f"/api/traces/{trace}")["calls"]
    [key] = [
        call["key"]
        for call in calls
        if call["function"].endswith(f".{function}") and call["index"] == index
    ]
    return str(key)


# -- diff ------------------------------------------------------------------------------------------


def test_the_first_place_where_two_runs_differ_is_named(user: ToolUser, tmp_path: Path) -> None:
    (tmp_path / "fixed.py").write_text(SHOP)
    report = user.call("debug_diff", run_a="shop.py", run_b="shop.py fail")
    assert report["status"] == "different"
    assert report["first"]["a"]["at"].startswith("shop.py:")
    same = user.call("debug_diff", run_a=report["run_a"], run_b=report["run_a"])
    assert same["status"] == "same"


def test_a_change_is_compared_with_what_was_committed(user: ToolUser, tmp_path: Path) -> None:
    def git(*words: str) -> None:
        config = ["-c", "user.name=Test", "-c", "user.email=test@example.invalid"]
        subprocess.run(["git", *config, *words], cwd=tmp_path, check=True, capture_output=True)

    git("init", "--quiet")
    git("add", "--all")
    git("commit", "--quiet", "-m", "good")
    (tmp_path / "shop.py").write_text(SHOP.replace("RATES[item] * count", "RATES[item] + count"))
    report = user.call("debug_diff", against="HEAD", target="shop.py", args=["1"])
    assert report["status"] == "different"
    assert report["titles"] == ["shop.py 1 at HEAD", "shop.py 1 now"]
    changed = find_line(SHOP, "cost = ")
    assert report["first"]["a"]["at"] == report["first"]["b"]["at"] == f"shop.py:{changed}"
    (tmp_path / "new.py").write_text("print(1)")
    error = user.call("debug_diff", expect=400, against="HEAD", target="new.py")["error"]
    assert error["message"] == "new.py was not there at HEAD"
    listed = subprocess.run(
        ["git", "worktree", "list"], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert len(listed.stdout.splitlines()) == 1


# -- secrets ---------------------------------------------------------------------------------------


def test_secrets_are_hidden_unless_asked_for(
    user: ToolUser, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    text = "def login(password):\n    token = password + '!'\n    return token\n\n\n"
    (tmp_path / "login.py").write_text(text + "login('hunter2secret')\n")
    show: Callable[..., str] = lambda **more: str(  # noqa: E731
        user.call("debug_trace", target="login.py", function="login", **more)["args"]
    )
    assert "hunter2secret" not in show()
    assert "hunter2secret" in show(show_secrets=True)


def test_the_route_of_why_hides_secrets_unless_asked_for(user: ToolUser, tmp_path: Path) -> None:
    text = "def login(password):\n    token = password + '!'\n    return token\n\n\n"
    (tmp_path / "login.py").write_text(text + "login('hunter2secret')\n")
    trace = user.call("debug_why", variable="token", at="login.py:3")["trace_id"]
    ask = f"/api/traces/{trace}/why?variable=token&at=login.py:3"
    hidden = user.server.get(ask)
    assert "hunter2secret" not in str({**hidden, "from": []})
    assert hidden["assigned"]["line"] == 2
    assert user.server.get(f"{ask}&show_secrets=true")["value"] == "'hunter2secret!'"
