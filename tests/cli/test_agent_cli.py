"""`holdfast agent …`, typed as a user would: from the files alone, with no server anywhere."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from agent_process import AgentProcess, running_agent
from fork_server import run_holdfast
from harness import PROGRAMS
from holdfast.cli.agents import sessions_command
from holdfast.model.agent_events import RecordedEvent
from holdfast.recording import command_sender
from holdfast.recording.directories import AgentsDirectory
from holdfast.recording.tail import Tail
from holdfast.wire import agent_lines as wire
from polling import wait_until

Typed = subprocess.CompletedProcess[str]


def environment(data_dir: Path) -> dict[str, str]:
    found = {**os.environ, "HOLDFAST_HOME": str(data_dir)}
    found.pop("HOLDFAST_AGENT_DIR", None)
    return found


def run_command(data_dir: Path, *words: str) -> Typed:
    return run_holdfast("agent", *words, env=environment(data_dir))


def run_json_command(data_dir: Path, *words: str) -> Any:
    return json.loads(run_command(data_dir, *words, "--json").stdout)


@pytest.fixture
def looper(tmp_path: Path) -> Iterator[AgentProcess]:
    with running_agent(tmp_path / "data") as running:
        yield running


def wait_for_event(running: AgentProcess, kind: str) -> RecordedEvent:
    """The first event of a type, once it is in the file."""
    tail = Tail(running.home.events)

    def look() -> RecordedEvent | None:
        events = (wire.parse_event(line) for _, line in tail.lines())
        return next((event for event in events if event and event["type"] == kind), None)

    return wait_until(look, kind)


def held_at_double(running: AgentProcess) -> str:
    """Its next call of `double` is held: at this stop."""
    said = run_command(running.data_dir, "breakpoint", "add", "tool", "double")
    assert said.returncode == 0, said.stderr
    running.send("turn 1")
    return str(wait_for_event(running, "paused")["data"]["stop"])


# -- which there are ------------------------------------------------------------------------------


def test_with_no_agent_it_says_how_to_get_one(tmp_path: Path) -> None:
    assert run_command(tmp_path, "sessions").stdout == "No agent sessions found\n"
    assert run_json_command(tmp_path, "sessions") == {"sessions": [], "total": 0}
    for words in (["pause"], ["watch"], ["inspect"], ["breakpoint", "list"], ["cancel", "x"]):
        said = run_command(tmp_path, *words)
        assert (said.returncode, said.stdout) == (1, "")
        assert "No active agent session" in said.stderr
        assert "holdfast.bridge.start" in said.stderr
    said = run_command(tmp_path, "pause", "-s", "debug_nothing")
    assert (said.returncode, "No agent session debug_nothing" in said.stderr) == (1, True)
    assert run_command(tmp_path, "pause", "-s", "../etc").returncode == 1
    error = run_json_command(tmp_path, "pause")["error"]
    assert error["message"] == "No active agent session."
    assert "holdfast.bridge.start" in error["hint"]


def test_the_agents_that_run_are_listed(looper: AgentProcess) -> None:
    shown = run_command(looper.data_dir, "sessions").stdout
    for part in (looper.id, "looper", str(looper.process.pid), os.getcwd(), "running"):
        assert part in shown
    [found] = run_json_command(looper.data_dir, "sessions")["sessions"]
    assert (found["id"], found["pid"], found["current"]) == (looper.id, looper.process.pid, True)
    assert found["startTime"]


def test_a_held_agent_is_listed_with_what_holds_it(looper: AgentProcess) -> None:
    stop = held_at_double(looper)
    assert f"held: {stop} before tool double" in run_command(looper.data_dir, "sessions").stdout
    [found] = run_json_command(looper.data_dir, "sessions")["sessions"]
    assert (found["state"], found["held"][0]["stop"]) == ("paused", stop)


def test_recordings_are_listed_when_asked_for(tmp_path: Path) -> None:
    with running_agent(tmp_path) as ended:
        ended.ask("turn 1")
    with running_agent(tmp_path) as crashed:
        crashed.send("crash")
        crashed.process.wait()
    assert run_command(tmp_path, "sessions").stdout == "No agent sessions found\n"
    shown = run_command(tmp_path, "sessions", "--all").stdout.splitlines()
    assert any(ended.id in line and "ended (exit)" in line for line in shown)
    assert any(crashed.id in line and "crashed" in line for line in shown)
    said = run_command(tmp_path, "pause", "-s", ended.id)
    assert (said.returncode, "is gone" in said.stderr) == (1, True)


def test_a_command_goes_to_the_session_that_is_named(tmp_path: Path) -> None:
    with running_agent(tmp_path) as first, running_agent(tmp_path) as second:
        assert run_json_command(tmp_path, "breakpoint", "list")["session"] == second.id
        assert (
            run_json_command(tmp_path, "breakpoint", "list", "-s", first.id)["session"] == first.id
        )
        second.ask("close")
        assert run_json_command(tmp_path, "breakpoint", "list")["session"] == first.id


def test_a_session_is_named_by_a_part_of_its_id_or_by_its_name(tmp_path: Path) -> None:
    with running_agent(tmp_path) as first:
        first.ask("turn 1")
    with running_agent(tmp_path) as second:
        for words in (second.id[-4:], second.id[: len(second.id)], second.id[6:], "looper"):
            # `looper` is also the name of the one that is over, which cannot be meant here.
            named = run_json_command(tmp_path, "breakpoint", "list", "-s", words)
            assert named["session"] == second.id, words
        [row] = run_json_command(tmp_path, "sessions", first.id[-4:])["sessions"]
        assert row["id"] == first.id
        rows = run_json_command(tmp_path, "sessions", "looper")["sessions"]
        assert {row["id"] for row in rows} == {first.id, second.id}
        said = run_command(tmp_path, "replay", first.id[-4:])
        assert "session_end" in said.stdout


def test_an_ambiguous_name_lists_what_it_may_mean(tmp_path: Path) -> None:
    with running_agent(tmp_path) as first, running_agent(tmp_path) as second:
        for words in (["pause", "-s", "looper"], ["replay", "debug_2"], ["export", "looper"]):
            said = run_command(tmp_path, *words, *(["--otlp"] if words[0] == "export" else []))
            assert said.returncode == 1
            assert "may mean 2 sessions" in said.stderr
            assert f"{first.id}  looper (running)" in said.stderr
            assert f"{second.id}  looper (running)" in said.stderr
        error = run_json_command(tmp_path, "pause", "-s", "looper")["error"]
        assert set(error["candidates"]) == {second.id, first.id}
        said = run_command(tmp_path, "pause", "-s", "nobody")
        assert "No agent session nobody." in said.stderr
        assert first.home.commands.read_bytes() == second.home.commands.read_bytes() == b""


def test_a_table_is_not_cut_in_a_pipe(tmp_path: Path) -> None:
    deep = tmp_path / "/".join(["a-long-name-of-a-directory"] * 50)
    with running_agent(tmp_path) as running:
        about = running.home.read_metadata()
        about["cwd"], about["name"] = str(deep), "[a name] in brackets"
        running.home.write_metadata(about)
        _, line = run_command(tmp_path, "sessions").stdout.splitlines()
        assert len(str(deep)) > 1000
        assert line.rstrip().endswith(str(deep))
        assert " [a name] in brackets " in line


def test_a_small_terminal_shows_a_session_in_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running_agent(tmp_path) as running:
        monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))
        monkeypatch.delenv("HOLDFAST_AGENT_DIR", raising=False)
        shown = io.StringIO()
        small = Console(file=shown, force_terminal=True, width=80, color_system=None)
        monkeypatch.setattr(sessions_command, "console", small)
        sessions_command.sessions()
    first, *rest = shown.getvalue().splitlines()
    assert first.startswith(f"{running.id} *  looper: running")
    assert f"pid {running.process.pid}" in "".join(rest)
    assert os.getcwd().replace(" ", "") in "".join(rest).replace(" ", "")  # lines end at spaces


# -- steering -------------------------------------------------------------------------------------


def test_a_pause_a_step_and_a_resume(looper: AgentProcess) -> None:
    said = run_command(looper.data_dir, "pause")
    assert said.stdout.splitlines() == [
        "Sent pause command",
        "accepted: it stops before its next model call",
    ]
    looper.send("turn 2")
    assert wait_for_event(looper, "paused")["data"]["at"] == "model"
    assert run_command(looper.data_dir, "step").stdout.startswith("Sent step command\napplied")
    wait_for_event(looper, "step_complete")
    assert run_command(looper.data_dir, "resume").stdout.startswith("Sent resume command\napplied")
    assert looper.read_reply() == "it is 4"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ([], "it is 2"),
        (["--input", '{"number": 21}'], "it is 42"),
        (["--result", '"seven"'], "it is seven"),
        (["--raise", "KeyError", "k"], "KeyError 'k'"),
    ],
)
def test_a_held_tool_is_decided(looper: AgentProcess, words: list[str], said: str) -> None:
    stop = held_at_double(looper)
    told = run_json_command(looper.data_dir, "resume", stop, *words)
    assert (told["type"], told["status"]) == ("resume", "applied")
    assert looper.read_reply() == said
    assert wait_for_event(looper, "resumed")["data"]["by"] == "cli"


def test_a_held_tool_is_cancelled(looper: AgentProcess) -> None:
    stop = held_at_double(looper)
    assert run_command(looper.data_dir, "resume", stop, "--cancel").returncode == 0
    assert looper.read_reply().startswith("ToolCancelled")


def test_what_is_over_or_wrong_is_said_and_fails(looper: AgentProcess) -> None:
    expired = run_command(looper.data_dir, "resume", "stop-99")
    assert (expired.returncode, expired.stdout) == (1, "Sent resume command\n")
    assert "expired: stop-99 is not held" in expired.stderr
    told = run_command(looper.data_dir, "resume", "stop-99", "--json")
    assert (told.returncode, json.loads(told.stdout)["status"]) == (1, "expired")
    rejected = run_command(looper.data_dir, "breakpoint", "add", "pattern", "(")
    assert (rejected.returncode, "rejected" in rejected.stderr) == (1, True)
    assert "regular expression" in rejected.stderr
    assert run_command(looper.data_dir, "inject", "nobody", "hello").returncode == 1
    assert "not JSON" in run_command(looper.data_dir, "set", "step", "seven").stderr
    both = run_command(looper.data_dir, "resume", "--result", "1", "--input", "{}")
    assert (both.returncode, "exclude each other" in both.stderr) == (1, True)
    assert run_command(looper.data_dir, "cancel", "tool-99").returncode == 1


def test_an_agent_that_does_not_answer_is_reported(looper: AgentProcess) -> None:
    with looper.frozen():
        said = run_command(looper.data_dir, "pause", "--timeout", "0.3")
    assert (said.returncode, "no answer within 0.3 s" in said.stderr) == (1, True)


def test_what_is_set_and_injected_reaches_the_loop(looper: AgentProcess) -> None:
    assert "accepted" in run_command(looper.data_dir, "set", "step", "7").stdout
    assert "accepted" in run_command(looper.data_dir, "inject", "user", "hurry up").stdout
    looper.ask("turn 1")
    assert looper.ask("state") == "{'step': 7} 3"
    assert wait_for_event(looper, "message_injected")["data"]["content"] == "hurry up"


def test_the_state_is_shown_for_people(looper: AgentProcess) -> None:
    stop = held_at_double(looper)
    shown = run_command(looper.data_dir, "inspect").stdout
    assert "iteration  1 (paused)" in shown
    assert "messages   1: 1 user" in shown
    assert "  0 user: double it" in shown
    assert "tools      3: double, big, fail" in shown
    assert "step = 1" in shown
    assert f'held       {stop} before tool double (tool-1)\n  {{"number": 1}}' in shown
    found = run_json_command(looper.data_dir, "inspect", "messages")["response"]["data"]
    assert found["messages"]["count"] == 1
    assert run_command(looper.data_dir, "inspect", "everything").returncode == 1


def test_messages_are_shown_whole_or_page_by_page(looper: AgentProcess) -> None:
    long = f"{'much to say ' * 10_000}and an end"  # too large for a line of the recording
    run_command(looper.data_dir, "inject", "user", f"first line\n{long}")
    looper.ask("turn 3")
    shown = run_command(looper.data_dir, "inspect", "messages").stdout
    assert "messages   5: 2 user, 3 assistant" in shown
    assert f"  1 user: first line\n      {long}\n" in shown
    answer = run_json_command(looper.data_dir, "inspect", "messages")["response"]["data"]
    assert answer["messages"]["items"][1]["content"].endswith("and an end")
    page = run_command(looper.data_dir, "inspect", "messages", "--first", "2", "--count", "1")
    lines = page.stdout.splitlines()
    assert "  … 2 before these (--first 0 --count 2)" in lines
    assert "  2 assistant: it is 2" in lines
    assert "  … 2 after these (--first 3)" in lines
    last = run_command(looper.data_dir, "inspect", "messages", "--first", "-1").stdout
    assert "  4 assistant: it is 6" in last
    assert "it is 4" not in last


@pytest.mark.slow
def test_breakpoints_of_every_kind_are_added_listed_and_cleared(looper: AgentProcess) -> None:
    added = [
        ["tool", "write_*", "--hits", "> 2", "--if", "iteration > 1"],
        ["iteration", "5"],
        ["pattern", "rm -rf"],
        *(["model"], ["model", "none-*"], ["error"], ["error", "double"], ["tokens", "5000"]),
        ["condition", "tool == 'double'"],
    ]
    for words in added:
        said = run_command(looper.data_dir, "breakpoint", "add", *words)
        assert said.returncode == 0, said.stderr
        assert said.stdout.startswith("Sent breakpoint command\napplied\nbp-")
    shown = run_command(looper.data_dir, "breakpoint", "list").stdout
    assert "tool write_* if iteration > 1 at hits > 2 (0 hits)" in shown
    assert "pattern rm -rf" in shown
    found = run_json_command(looper.data_dir, "breakpoint", "list")["response"]["data"][
        "breakpoints"
    ]
    assert [each["on"] for each in found] == [words[0] for words in added]
    assert run_command(looper.data_dir, "breakpoint", "clear", found[0]["id"]).returncode == 0
    assert run_command(looper.data_dir, "breakpoint", "clear", found[0]["id"]).returncode == 1
    assert run_command(looper.data_dir, "breakpoint", "clear-all").returncode == 0
    assert "no breakpoints" in run_command(looper.data_dir, "breakpoint", "list").stdout


# -- beginning held -------------------------------------------------------------------------------

LOOP = PROGRAMS / "agent_loop.py"


def start_run(data_dir: Path, *words: str, cwd: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "holdfast", "agent", "run", *words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment(data_dir),
        cwd=cwd,
    )


@pytest.mark.slow
def test_an_agent_is_run_held_with_the_rules_of_its_project(tmp_path: Path) -> None:
    data = tmp_path / "data"
    (tmp_path / "holdfast.toml").write_text(
        '[[agent.rule]]\npattern = "^1$"\naction = "deny"\n\n'
        '[[agent.rule]]\ntool = "x"\naction = "hold"\ntimeout = 60\n'
    )
    words = ("--break", "tool", "wri*", "--break", "iteration", "9", "--hold", "--")
    running = start_run(data, *words, sys.executable, str(LOOP), "1", cwd=tmp_path)
    assert running.stderr is not None
    said = running.stderr.readline()
    session = AgentsDirectory(data / "agents").list_sessions()[0].id
    assert f"session {session} began: its first call will be held" in said
    assert f"holdfast agent attach -s {session}" in said

    def wait_for_hold(held: str) -> None:
        wait_until(lambda: held in run_command(data, "sessions").stdout, held)

    wait_for_hold("held: stop-1 before model scripted")
    shown = run_command(data, "breakpoint", "list").stdout
    path = tmp_path / "holdfast.toml"
    assert "bp-1: tool wri* (0 hits)\nbp-2: iteration 9 (0 hits)\n" in shown
    assert f"rule-1: deny pattern ^1$, of {path}:1 (0 hits)" in shown
    assert f"rule-2: hold tool x for 60 s, then deny, of {path}:5 (0 hits)" in shown
    run_command(data, "resume")
    wait_for_hold("held: stop-2 before tool write")
    cleared = run_command(data, "breakpoint", "clear-all").stdout
    assert "the rules of the project stay:\nrule-1: deny pattern ^1$" in cleared
    run_command(data, "resume")
    out, _ = running.communicate(timeout=60)
    assert (running.returncode, out.splitlines()[0]) == (0, session)
    assert json.loads(out.splitlines()[1]) == {"messages": 4, "depth": 1}


def test_what_is_run_has_our_streams_signals_and_exit_code(tmp_path: Path) -> None:
    program = "import sys, time; print(input()[::-1], flush=True); time.sleep(60)"
    running = start_run(tmp_path, "--", sys.executable, "-c", program, cwd=tmp_path)
    assert running.stdin is not None
    assert running.stdout is not None
    running.stdin.write("olleh\n")
    running.stdin.flush()
    assert running.stdout.readline() == "hello\n"
    running.send_signal(signal.SIGTERM)
    assert running.communicate(timeout=60) == ("", "")
    assert running.returncode == -signal.SIGTERM


def test_what_cannot_be_run_is_said_before_anything_runs(tmp_path: Path) -> None:
    said = run_command(tmp_path, "run", "--break", "tols", "x", "--", "true")
    assert (said.returncode, said.stdout) == (1, "")
    assert "there is no breakpoint on 'tols'; possible are: tool, model" in said.stderr
    said = run_command(tmp_path, "run", "--break", "pattern", "(", "--", "true")
    assert (said.returncode, "not a regular expression" in said.stderr) == (1, True)
    said = run_command(tmp_path, "run", "--", "no-such-command")
    assert said.returncode == 1
    assert "no-such-command cannot be started: No such file or directory\n" in said.stderr


# -- watching -------------------------------------------------------------------------------------


class Watching:
    def __init__(self, data_dir: Path, *words: str, greeting: str = "Watching") -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "holdfast", "agent", "watch", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            bufsize=0,  # `communicate` would not see what `readline` has in a buffer
            env=environment(data_dir),
        )
        assert self.process.stderr is not None
        assert greeting in self.process.stderr.readline().decode()

    def line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().decode()

    def rest(self) -> tuple[str, str]:
        out, err = self.process.communicate(timeout=60)
        return out.decode(), err.decode()


def test_what_happens_is_printed_until_the_session_ends(looper: AgentProcess) -> None:
    watching = Watching(looper.data_dir)
    looper.ask("turn 1")
    looper.ask("fail")
    looper.ask("close")
    shown, problems = watching.rest()
    assert watching.process.returncode == 0
    assert problems.startswith("model calls 1, tools 2, failures 1, tokens 10 + 2, time ")
    told = [line.split("] ", 1)[1] for line in shown.splitlines()]
    kinds = [line.split()[0] for line in told]
    assert kinds[-1] == "session_end"
    assert "session_start" not in kinds  # that was before
    by_kind = {kind: line.split(None, 1) for kind, line in zip(kinds, told, strict=True)}
    assert by_kind["api_request"][1] == "1 message"
    assert by_kind["api_response"][1].startswith("tool_use (")
    assert any(line.startswith("tool_call_end        ✓ double (") for line in told)
    assert any(line.startswith("tool_call_end        ✗ fail (") for line in told)
    assert 'tool_call_start      double {"number": 1} (tool-1)' in told


def test_only_the_types_that_are_wanted_from_the_beginning(looper: AgentProcess) -> None:
    looper.ask("turn 2")
    looper.ask("close")
    watching = Watching(looper.data_dir, "-f", "session_start,tool_result", "--all", "--json")
    shown, _ = watching.rest()
    events = [json.loads(line) for line in shown.splitlines()]
    assert [each["type"] for each in events] == ["session_start", "tool_result", "tool_result"]
    wrong = run_command(looper.data_dir, "watch", "-f", "nonsense")
    assert (wrong.returncode, "There are: session_start" in wrong.stderr) == (1, True)


def test_holds_are_seen_as_they_come_and_go(looper: AgentProcess) -> None:
    watching = Watching(looper.data_dir, "--filter", "paused,resumed")
    stop = held_at_double(looper)
    assert f"Agent paused before tool double (breakpoint, {stop})" in watching.line()
    command_sender.send_command(looper.home, "resume", {"by": "ann"})
    assert f"Agent resumed: continue, by ann ({stop})" in watching.line()
    watching.process.send_signal(signal.SIGINT)
    shown, _ = watching.rest()
    assert (watching.process.returncode, shown) == (0, "")


def test_a_watch_waits_for_the_next_agent(tmp_path: Path) -> None:
    with running_agent(tmp_path) as before:
        watching = Watching(tmp_path, "--wait", greeting="Waiting for the next agent to start")
        before.ask("turn 1")
        with running_agent(tmp_path) as running:
            running.ask("close")
            shown, problems = watching.rest()
        assert f"Watching {running.id}." in problems
        assert "session_start        looper" in shown
        assert "session_end" in shown
        assert "tool_call_start" not in shown  # that was the other one


def test_an_agent_that_is_killed_ends_the_watch(looper: AgentProcess) -> None:
    watching = Watching(looper.data_dir)
    looper.process.kill()
    _, problems = watching.rest()
    assert watching.process.returncode == 0
    assert "did not end in order" in problems
