"""`holdfast calls` and `holdfast holds`, typed as a user would."""

from __future__ import annotations

import json
import os
import pty
import subprocess
from typing import Any

from agent_process import agent_view
from fork_server import run_holdfast, start_python
from harness import Server, Session
from http_application import HttpApplication, decode_value, temporary_breakpoint
from session_states import LOOP


def run_command(server: Server, *words: str) -> subprocess.CompletedProcess[str]:
    return run_holdfast(*words, "--url", server.url, env={**os.environ, "COLUMNS": "200"})


def test_calls_are_listed_and_shown(server: Server) -> None:
    app = HttpApplication(server, name="typed")
    call = app.call("greet", "ann", kwargs={"loud": True}, result="HELLO")
    assert app.session_id
    shown = run_command(server, "calls", "list", "--session", app.session_id)
    assert "greet('ann', loud=True)" in shown.stdout
    assert "'HELLO'" in shown.stdout
    found = json.loads(
        run_command(server, "calls", "list", "--filter", "args[0] == 'ann'", "--json").stdout
    )
    assert [each["call_id"] for each in found["calls"]] == [call]
    one = run_command(server, "calls", "show", call).stdout
    assert "greet('ann', loud=True) → 'HELLO'" in one
    assert "at /app/main.py:10 in main" in one
    assert "recorded" not in one
    assert (
        json.loads(run_command(server, "calls", "show", call, "--json").stdout)["call_id"] == call
    )
    wrong = run_command(server, "calls", "show", "nothing")
    assert (wrong.returncode, "no call nothing" in wrong.stderr) == (1, True)
    bad = run_command(server, "calls", "list", "--filter", "args[0] >")
    assert (bad.returncode, "not a filter" in bad.stderr) == (1, True)


def test_a_call_shows_how_old_its_target_is(server: Server) -> None:
    app = HttpApplication(server, name="aged")
    for nanoseconds, text in ((1_230_000_000, "1.2 s"), (45_600_000, "45.6 ms")):
        call = app.call("greet", target_age_ns=nanoseconds)
        assert f"recorded {text} earlier" in run_command(server, "calls", "show", call).stdout


def test_held_calls_are_listed_and_decided(server: Server) -> None:
    with temporary_breakpoint(server, function="greet"):
        app = HttpApplication(server, name="typed")
        first, second, third = (app.start("greet", number) for number in range(3))
        shown = run_command(server, "holds").stdout
        assert "before greet" in shown
        assert "/app/main.py:10" in shown
        said = run_command(server, "holds", "decide", first["hold_id"], "skip", "--value", "(1, 2)")
        assert said.stdout == f"{first['hold_id']}: skip, now paused\n"
        assert decode_value(app.poll(first)["action"], "fake_result") == (1, 2)
        options = ("--arg", "1=5", "--arg", "name='x'")
        run_command(server, "holds", "decide", second["hold_id"], "modify", *options)
        action = app.poll(second)["action"]
        assert (action["modified_args"][0], decode_value(action["modified_args"][1])) == (None, 5)
        assert decode_value(action["modified_kwargs"]["name"]) == "x"
        thrown = ("--exception", "ValueError", "--message", "no", "--json")
        said = run_command(server, "holds", "decide", third["hold_id"], "raise", *thrown)
        assert json.loads(said.stdout)["status"] == "running"
        again = run_command(server, "holds", "decide", third["hold_id"], "continue")
        assert (again.returncode, "by cli" in again.stderr) == (1, True)


def test_any_field_of_an_action_can_be_given(server: Server) -> None:
    with temporary_breakpoint(server, function="greet"):
        app = HttpApplication(server, name="typed")
        call = app.start("greet", 1)
        decide = ("holds", "decide", call["hold_id"], "raise")
        wrong = run_command(server, *decide, "--field", "exception_type=ValueError")
        assert (wrong.returncode, "is not JSON" in wrong.stderr) == (1, True)
        fields = ("--field", 'exception_type="KeyError"', "--field", 'exception_message="gone"')
        assert run_command(server, *decide, *fields).returncode == 0
        action = app.poll(call)["action"]
        assert (action["exception_type"], action["exception_message"]) == ("KeyError", "gone")


def test_a_breakpoint_is_set_listed_and_removed(server: Server) -> None:
    app = HttpApplication(server, name="typed")
    names: dict[str, Any] = {"qualname": "Stall.sell", "signature": "(item, count=1)"}
    app.call("sell", "tea", **names)
    made = run_command(server, "calls", "break", "Stall.sell", "--if", "item == 'tea'")
    assert "Stall.sell before if item == 'tea'; matches 1 function so far" in made.stdout
    assert made.stderr == ""
    point = made.stdout.partition(":")[0]
    held = app.start("sell", "tea", **names)
    assert held["action"] == "poll"
    listed = run_command(server, "calls", "breaks").stdout
    assert point in listed
    assert "Stall.sell before if item == 'tea'" in listed
    shown = json.loads(run_command(server, "calls", "breaks", "--json").stdout)
    assert [one["hits"] for one in shown["breakpoints"] if one["id"] == point] == [1]
    removed = run_command(server, "calls", "unbreak", point)
    assert f"{point} removed" in removed.stdout
    command = f"holdfast holds continue {held['hold_id']}"
    assert command in removed.stderr
    released = run_command(server, *command.split()[1:])
    assert released.stdout == f"{held['hold_id']}: continue, now running\n"
    gone = run_command(server, "calls", "unbreak", point)
    assert (gone.returncode, "no breakpoint" in gone.stderr) == (1, True)


def test_a_pattern_that_matches_nothing_asks_what_was_meant(server: Server) -> None:
    app = HttpApplication(server, name="typed")
    app.call("weigh", "tea", qualname="Scale.weigh", signature="(item)")
    options = ("--when", "after", "--hits", ">= 2")
    made = run_command(server, "calls", "break", "Scale.wiegh", *options)
    assert "matches 0 functions" in made.stdout
    assert "Did you mean Scale.weigh?" in made.stderr
    warned = run_command(server, "calls", "break", "Scale.weigh", "--if", "itme == 1", "--json")
    answer = json.loads(warned.stdout)
    assert "did you mean item?" in answer["warnings"][0]
    run_command(server, "calls", "unbreak", answer["id"])
    both = run_command(server, "calls", "unbreak", made.stdout.partition(":")[0], "--all")
    assert (both.returncode, "or say --all" in both.stderr) == (1, True)
    skip = '{"action": "skip", "fake_result": {"value": 1}}'
    run_command(server, "calls", "break", "Scale.weigh", "--action", skip)
    assert app.start("weigh", 1, qualname="Scale.weigh")["action"] == "skip"
    assert "removed" in run_command(server, "calls", "unbreak", "--all").stdout


def test_removing_a_breakpoint_releases_what_it_holds_when_told_to(server: Server) -> None:
    app = HttpApplication(server, name="typed")
    point = server.post("/api/breakpoints", {"function": "tip"})["id"]
    call = app.start("tip")
    removed = run_command(server, "calls", "unbreak", point[:-3], "--release", "--json")
    assert json.loads(removed.stdout)["released"] == [call["hold_id"]]
    assert app.poll(call)["action"] == {"action": "continue"}


def test_removing_a_breakpoint_asks_on_a_terminal_whether_to_release(server: Server) -> None:
    app = HttpApplication(server, name="typed")
    for answer, is_released in ((b"n\n", False), (b"y\n", True)):
        point = server.post("/api/breakpoints", {"function": "tip"})["id"]
        call = app.start("tip")
        mine, its = pty.openpty()
        try:
            os.write(mine, answer)
            process = start_python(
                *("-m", "holdfast", "calls", "unbreak", point, "--url", server.url),
                stdin=its,
                stdout=its,
                stderr=its,
            )
            assert process.wait(60) == 0
        finally:
            os.close(mine)
            os.close(its)
        assert (app.poll(call)["status"] == "ready") is is_released
    server.post("/api/holds/continue", {})


def test_one_hold_is_shown_with_the_command_for_each_decision(server: Server) -> None:
    app = HttpApplication(server, name="typed")
    names: dict[str, Any] = {"qualname": "Stall.sell", "signature": "(item, count=1)"}
    with temporary_breakpoint(server, function="Stall.sell", condition="count == 1"):
        body = {"session_id": app.session_id, "name": "give", "signature": "(thing)"}
        server.post("/api/call/register", body)
        call = app.start("sell", "tea", **names)
        hold = call["hold_id"]
        shown = run_command(server, "holds", "show", hold[:-4]).stdout
        assert f"{hold}  before Stall.sell(item, count=1)\n" in shown
        assert "  item  = 'tea'\n  count = 1   (default)\n" in shown
        assert "(Stall.sell if count == 1)" in shown
        assert "at /app/main.py:10 in main" in shown
        for words in ("continue HOLD", "decide HOLD modify --arg item=", "replace --function give"):
            assert words.replace("HOLD", hold) in shown
        found = json.loads(run_command(server, "holds", "show", hold, "--json").stdout)
        assert list(found["commands"]) == found["allows"]
        decided = run_command(server, "holds", "decide", hold, "modify", "--arg", "item='cake'")
        assert decided.returncode == 0
        settled = run_command(server, "holds", "show", hold).stdout
        assert settled == f"{hold} is settled: modify, by cli\n"
        app.complete(call, 3)
        assert app.session_id
        listed = run_command(server, "calls", "list", "--session", app.session_id).stdout
        assert "modify: item: 'tea' → 'cake', decided by cli" in listed
        one = run_command(server, "calls", "show", call["call_id"]).stdout
        assert "decided   modify: item: 'tea' → 'cake', decided by cli" in one


def test_a_list_says_why_a_filter_had_no_answer(server: Server) -> None:
    app = HttpApplication(server, name="typed")
    app.call("sell", "tea", qualname="Stall.sell", signature="(item, count=1)")
    assert app.session_id
    options = ("--session", app.session_id)
    found = run_command(server, "calls", "list", *options, "--if", "item == 'tea'")
    assert "sell('tea')" in found.stdout
    nothing = run_command(server, "calls", "list", *options, "--if", "itme == 'tea'")
    assert "no calls" in nothing.stdout
    assert "has a parameter 'itme'; Stall.sell has item, count" in nothing.stderr


def test_an_exception_is_given_its_arguments(server: Server) -> None:
    with temporary_breakpoint(server, function="greet"):
        app = HttpApplication(server, name="typed")
        call = app.start("greet", 1)
        options = ("--exception", "app.Late", "--exception-arg", "7")
        more = ("--exception-arg", "detail='gone'")
        decide = ("holds", "decide", call["hold_id"], "raise")
        assert run_command(server, *decide, *options, *more).returncode == 0
        action = app.poll(call)["action"]
        assert decode_value(action["exception_args"][0]) == 7
        assert decode_value(action["exception_kwargs"]["detail"]) == "gone"


def test_a_stop_of_a_program_is_shown_with_its_commands(server: Server, session: Session) -> None:
    session.break_at(LOOP, "add")
    hold = session.launch(LOOP)["hold_id"]
    shown = run_command(server, "holds", "show", hold).stdout
    assert f"{LOOP.path}:{LOOP.line('add')}" in shown
    assert f"step-over holdfast holds decide {hold} step-over" in shown
    assert run_command(server, "holds", "decide", hold, "step-over").returncode == 0


def test_a_held_tool_of_an_agent_is_shown_with_its_commands(server: Server) -> None:
    with agent_view(server) as looper:
        looper.break_on("double")
        looper.agent.send("turn 1")
        hold = looper.wait_for_hold()["hold_id"]
        shown = run_command(server, "holds", "show", hold).stdout
        assert f"{hold}  tool double\n" in shown
        assert 'input     {"number": 1}' in shown
        assert f"modify    holdfast holds decide {hold} modify --input JSON" in shown
        assert run_command(server, "holds", "continue", hold).returncode == 0
