"""`holdfast calls` and `holdfast holds`, typed as a user would."""

from __future__ import annotations

import json
import os
import subprocess

from fork_server import run_holdfast
from harness import Server
from http_application import HttpApplication, decode_value, temporary_breakpoint


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
    assert (
        json.loads(run_command(server, "calls", "show", call, "--json").stdout)["call_id"] == call
    )
    wrong = run_command(server, "calls", "show", "nothing")
    assert (wrong.returncode, "no call nothing" in wrong.stderr) == (1, True)
    bad = run_command(server, "calls", "list", "--filter", "args[0] >")
    assert (bad.returncode, "not a filter" in bad.stderr) == (1, True)


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
