"""`holdfast agent replay`, `fork` and `export`, typed as a user would, on real recordings."""

from __future__ import annotations

import json
import os
import pty
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fork_server import run_holdfast
from generous_timings import set_timings
from holdfast.cli.agents.recording_commands import pace, pause
from holdfast.model.agent_events import RecordedEvent
from holdfast.recording.directories import AgentsDirectory, SessionDirectory
from replayable_agent import read_data, read_events
from trace_collector import Collector, collector

SHOPPER = str(Path(__file__).parents[2] / "examples" / "agent_loop.py")
Typed = subprocess.CompletedProcess[str]


class Workspace:
    """Where somebody types, and where the agent's files are."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.data = directory / "data"
        self.agents = AgentsDirectory(self.data / "agents")
        known = {name: each for name, each in os.environ.items() if "HOLDFAST" not in name}
        self.environment = {
            **known,
            **set_timings(),
            "HOLDFAST_HOME": str(self.data),
            "COLUMNS": "250",
        }

    def run_program(self, *words: str) -> Typed:
        return subprocess.run(
            words,
            capture_output=True,
            text=True,
            env=self.environment,
            cwd=self.directory,
            timeout=60,
        )

    def record_session(self, program: str = SHOPPER) -> SessionDirectory:
        ran = self.run_program(sys.executable, program)
        assert ran.returncode == 0, ran.stderr
        return self.latest

    def run_command(self, *words: str) -> Typed:
        return run_holdfast("agent", *words, env=self.environment, cwd=self.directory)

    def run_json_command(self, *words: str) -> Any:
        return json.loads(self.run_command(*words, "--json").stdout)

    @property
    def latest(self) -> SessionDirectory:
        found = self.agents.current_session()
        assert found is not None
        return found


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return Workspace(tmp_path_factory.mktemp("workspace"))


@pytest.fixture(scope="module")
def shopping(workspace: Workspace) -> SessionDirectory:
    return workspace.record_session()


def program(workspace: Workspace, name: str, change: tuple[str, str]) -> str:
    """The example, with something else in it."""
    text = Path(SHOPPER).read_text("utf-8")
    assert change[0] in text
    path = workspace.directory / name
    path.write_text(text.replace(*change))
    return str(path)


# -- showing ------------------------------------------------------------------------------------


def test_a_recording_is_shown_at_once(workspace: Workspace, shopping: SessionDirectory) -> None:
    shown = workspace.run_command("replay", shopping.id)
    assert (shown.returncode, shown.stderr) == (0, "")
    lines = shown.stdout.splitlines()
    assert len(lines) == len(read_events(shopping))
    assert re.fullmatch(r"\[\d\d:\d\d:\d\d\] tool_call_end +✓ price \(\d+ms, tool-1\)", lines[7])


def test_it_is_named_by_its_path_as_well(workspace: Workspace, shopping: SessionDirectory) -> None:
    expected = workspace.run_command("replay", shopping.id).stdout
    for named in (str(shopping.events), str(shopping.path)):
        assert workspace.run_command("replay", named).stdout == expected
    assert workspace.run_command("replay", "-s", shopping.id).stdout == expected


def test_with_json_it_is_the_events_themselves(
    workspace: Workspace, shopping: SessionDirectory
) -> None:
    lines = workspace.run_command("replay", shopping.id, "--json").stdout.splitlines()
    assert [json.loads(line) for line in lines] == read_events(shopping)


def test_a_pace_changes_nothing_but_the_pace(
    workspace: Workspace, shopping: SessionDirectory
) -> None:
    expected = workspace.run_command("replay", shopping.id).stdout
    assert workspace.run_command("replay", shopping.id, "--timed").stdout == expected
    assert workspace.run_command("replay", shopping.id, "--speed", "4x").stdout == expected
    assert workspace.run_command("replay", shopping.id, "--speed", "2").stdout == expected


def test_the_pace_is_that_of_the_recording() -> None:
    assert pause(10.0, 14.0, 1.0) == 4.0
    assert pause(10.0, 14.0, 4.0) == 1.0
    assert pause(10.0, 4.0, 1.0) == 0.0  # the clock was set back
    assert pause(10.0, 10.0**9, 1.0) == 3600.0  # or ahead
    times = ("2026-01-23T13:10:00.000Z", "garbage")
    events: list[RecordedEvent] = [
        {"seq": 1, "type": "error", "timestamp": time, "sessionId": "s", "data": {}}
        for time in times
    ]
    assert list(pace(events, 1000.0)) == events


@pytest.mark.parametrize("speed", ["fast", "0", "-1", "4xx"])
def test_a_speed_is_a_number(workspace: Workspace, shopping: SessionDirectory, speed: str) -> None:
    said = workspace.run_command("replay", shopping.id, f"--speed={speed}")
    assert said.returncode == 1
    assert "--speed is a number such as 4x or 0.5" in said.stderr


def test_half_a_recording_is_shown_and_called_so(
    workspace: Workspace, shopping: SessionDirectory
) -> None:
    whole = shopping.events.read_bytes()
    half = workspace.directory / "half.jsonl"
    half.write_bytes(whole[: len(whole) // 2])
    shown = workspace.run_command("replay", str(half))
    assert shown.returncode == 0
    assert len(shown.stdout.splitlines()) == whole[: len(whole) // 2].count(b"\n")
    assert "The recording ends here, in half a line" in shown.stderr


def test_what_is_not_there_is_named(workspace: Workspace) -> None:
    for named in ("debug_nothing", "no/such.jsonl"):
        said = workspace.run_command("replay", named)
        assert said.returncode == 1
        assert "agent sessions --all" in said.stderr


# -- running ------------------------------------------------------------------------------------


def test_the_agent_runs_again_as_it_was_started(
    workspace: Workspace, shopping: SessionDirectory
) -> None:
    again = workspace.run_command("replay", shopping.id, "--mode", "full")
    assert again.returncode == 0, again.stderr
    # Its own output comes through; no tool ran, so nothing is in the basket.
    assert "Done: paid 15.00\nin the basket: nothing\n" in again.stdout
    assert f"The same as {shopping.id}: 4 iterations, no difference" in again.stdout
    assert workspace.latest.read_metadata()["replayOf"] == shopping.id


def test_in_model_mode_its_tools_run(workspace: Workspace, shopping: SessionDirectory) -> None:
    again = workspace.run_command("replay", shopping.id, "--mode", "model")
    assert again.returncode == 0, again.stderr
    assert "in the basket: tea, cake" in again.stdout


def test_as_json_it_is_one_document(workspace: Workspace, shopping: SessionDirectory) -> None:
    said = workspace.run_command("replay", "--json", shopping.id, "--", sys.executable, SHOPPER)
    report = json.loads(said.stdout)
    assert "Done: paid 15.00" in said.stderr
    assert (report["outcome"], report["mode"], report["iterations"]) == ("same", "full", 4)
    assert (report["session"], report["exitCode"]) == (shopping.id, 0)
    assert report["newSession"] == workspace.latest.id


def test_a_changed_agent_diverges_and_is_shown_where(
    workspace: Workspace, shopping: SessionDirectory
) -> None:
    change = ('(**call["input"])', "(**{name: 1.0 for name in call['input']})")
    changed = program(workspace, "greedy.py", change)
    said = workspace.run_command("replay", shopping.id, "--", sys.executable, changed)
    assert said.returncode == 1
    assert f"Diverged from {shopping.id}. iteration 1: tool price is asked" in said.stderr
    assert 'item was "tea" and is 1.0' in said.stderr
    assert 'expected  {"kind":"tool","name":"price","asked":{"item":"tea"}}' in said.stderr


def test_an_agent_that_ends_too_early_has_diverged(
    workspace: Workspace, shopping: SessionDirectory
) -> None:
    changed = program(
        workspace, "lazy.py", ('if not answer["tool_calls"]:', "if len(messages) > 4:")
    )
    report = json.loads(
        workspace.run_command("replay", "--json", shopping.id, "--", sys.executable, changed).stdout
    )
    assert report["outcome"] == "diverged"
    assert "the agent ended, and the recording goes on with" in report["message"]


def test_a_killed_agents_recording_is_played_to_its_end(workspace: Workspace) -> None:
    killed = program(workspace, "killed.py", ("basket.append(item)", "import os; os._exit(9)"))
    assert workspace.run_program(sys.executable, killed).returncode == 9
    said = workspace.run_command("replay", workspace.latest.id, "--mode", "full")
    assert said.returncode == 0
    assert "as far as that goes: it has no end" in said.stdout
    assert "the recording ends inside tool put of iteration 2" in said.stdout


def test_what_starts_no_session_is_no_replay(
    workspace: Workspace, shopping: SessionDirectory
) -> None:
    said = workspace.run_command("replay", shopping.id, "--", sys.executable, "-c", "pass")
    assert said.returncode == 1
    assert "started no session" in said.stderr
    said = workspace.run_command("replay", shopping.id, "--", "no-such-program")
    assert "no-such-program cannot be started" in said.stderr


def test_a_copied_file_cannot_be_run(workspace: Workspace, shopping: SessionDirectory) -> None:
    copy = workspace.directory / "copy.jsonl"
    copy.write_bytes(shopping.events.read_bytes())
    said = workspace.run_command("replay", str(copy), "--mode", "full")
    assert said.returncode == 1
    assert "its whole directory is needed" in said.stderr


# -- forks --------------------------------------------------------------------------------------


def test_a_fork_goes_on_live_and_names_its_parent(
    workspace: Workspace, shopping: SessionDirectory
) -> None:
    said = workspace.run_command(
        *("fork", shopping.id, "--at", "2", "--message", "in German, please"),
        *("--", sys.executable, SHOPPER),
    )
    assert said.returncode == 0, said.stderr
    assert "Fertig: paid 15.00" in said.stdout
    assert f"Forked from {shopping.id} at 2" in said.stdout
    started = read_data(workspace.latest, "session_start")[0]
    assert (started["parent"], started["forkAt"]) == (shopping.id, 2)
    assert said.stderr.count("what put did is not done again") == 1


def test_a_fork_before_any_side_effect_does_not_warn(
    workspace: Workspace, shopping: SessionDirectory
) -> None:
    said = workspace.run_command("fork", shopping.id, "--at", "1")
    assert (said.returncode, said.stderr) == (0, "")
    assert "in the basket: tea, cake" in said.stdout


def test_a_message_may_be_json(workspace: Workspace, shopping: SessionDirectory) -> None:
    message = json.dumps({"role": "system", "content": "speak German"})
    report = workspace.run_json_command("fork", shopping.id, "--at", "1", "--message", message)
    assert (report["outcome"], report["forkAt"]) == ("forked", 1)
    (injected,) = read_data(workspace.latest, "message_injected")
    assert (injected["role"], injected["content"]) == ("system", "speak German")


def test_a_result_may_be_another(workspace: Workspace, shopping: SessionDirectory) -> None:
    said = workspace.run_command("fork", shopping.id, "--at", "3", "--result", 'tool-5="declined"')
    assert "Done: declined" in said.stdout


@pytest.mark.parametrize(
    ("words", "complaint"),
    [
        (["--at", "9"], "has 4 iterations, so it cannot be forked at 9"),
        (["--at", "2", "--result", "tool-1=1"], "Iteration 2 has no tool call tool-1"),
        (["--at", "2", "--result", "tool-3=oops"], "The result of tool-3 is not JSON"),
        (["--at", "2", "--result", "tool-3"], "--result is TOOL_ID=JSON"),
        (["--at", "2", "--message", '{"role": "user"}'], "--message has no content"),
        (["--at", "2", "--messages", "missing.json"], "missing.json cannot be read"),
        (["--at", "2", "--messages", "/dev/null"], "/dev/null is not JSON"),
        (["--at", "2", "--lane", "nobody"], "has no lane nobody"),
    ],
)
def test_a_fork_that_cannot_be_is_refused(
    workspace: Workspace, shopping: SessionDirectory, words: list[str], complaint: str
) -> None:
    before = workspace.latest
    said = workspace.run_command("fork", shopping.id, *words)
    assert said.returncode == 1
    assert complaint in said.stderr
    assert workspace.latest == before


def test_a_fork_takes_another_system_prompt_and_other_messages(
    workspace: Workspace, shopping: SessionDirectory
) -> None:
    before = [{"role": "user", "content": "buy tea"}, {"role": "assistant", "content": ""}]
    wanted = [*before, before[1], before[1], {"role": "tool", "content": "nothing paid"}]
    (workspace.directory / "messages.json").write_text(json.dumps(wanted))
    said = workspace.run_command(
        *("fork", shopping.id, "--at", "2", "--system", "speak German"),
        *("--messages", "messages.json", "--", sys.executable, SHOPPER),
    )
    assert "Fertig: nothing paid" in said.stdout
    assert f"Forked from {shopping.id} at 2, edited, 3 iterations" in said.stdout
    [edited] = read_data(workspace.latest, "conversation_edited")
    assert (edited["system"], edited["messages"]) == ("speak German", wanted)


def test_sessions_tell_where_a_fork_comes_from(
    workspace: Workspace, shopping: SessionDirectory
) -> None:
    workspace.run_command("fork", shopping.id, "--at", "1", "--system", "speak German")
    fork = workspace.latest.id
    listed = workspace.run_command("sessions", "--all").stdout
    [line] = [each for each in listed.splitlines() if each.startswith(fork)]
    assert f"fork of {shopping.id} at 1, edited" in line
    rows = {row["id"]: row for row in workspace.run_json_command("sessions", "--all")["sessions"]}
    row = rows[fork]
    assert (row["parent"], row["forkAt"], row["edited"]) == (shopping.id, 1, True)
    assert "parent" not in rows[shopping.id]


def test_a_program_edits_a_fork_that_is_held(
    workspace: Workspace, shopping: SessionDirectory
) -> None:
    words = [sys.executable, "-m", "holdfast", "agent", "fork", shopping.id, "--at", "2", "--edit"]
    fork = subprocess.Popen(
        words,
        env=workspace.environment,
        cwd=workspace.directory,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        assert fork.stderr is not None
        hint = next(line for line in fork.stderr if line.startswith("The fork is"))
        found = re.search(r"The fork is (\S+), held at (\S+) before", hint)
        assert found is not None
        session, stop = found.groups()
        resumed = workspace.run_command("resume", stop, "-s", session, "--system", "in German")
        assert resumed.returncode == 0, resumed.stderr
        said, _ = fork.communicate(timeout=60)
    finally:
        fork.kill()
        fork.wait()
    assert "Fertig: paid 15.00" in said
    assert workspace.agents.home(session).read_metadata()["edited"] is True


def test_a_person_edits_a_fork_in_an_editor(
    workspace: Workspace, shopping: SessionDirectory
) -> None:
    editor = workspace.directory / "editor.py"
    editor.write_text(
        "import json, sys\n"
        "held = json.load(open(sys.argv[1]))\n"
        "held['messages'][0]['content'] += ', in German'\n"
        "json.dump(held, open(sys.argv[1], 'w'))\n"
    )
    mine, its = pty.openpty()
    try:
        fork = subprocess.Popen(
            [sys.executable, "-m", "holdfast", "agent", "fork", shopping.id, "--at", "2", "--edit"],
            env={**workspace.environment, "VISUAL": shlex.join([sys.executable, str(editor)])},
            cwd=workspace.directory,
            stdin=its,
            stdout=its,
            stderr=subprocess.PIPE,
        )
        with fork:
            try:
                _, complaint = fork.communicate(timeout=60)
            finally:
                fork.kill()
    finally:
        os.close(its)
        os.close(mine)
    assert fork.returncode == 0, complaint
    [resumed] = read_data(workspace.latest, "resumed")
    assert (resumed["action"], resumed["by"]) == ("modify", "fork")
    assert resumed["input"]["messages"][0]["content"].endswith(", in German")
    assert read_data(workspace.latest, "api_response")[-1]["content"] == "Fertig: paid 15.00"


def test_a_fork_that_makes_no_live_call_says_that_nothing_was_edited(
    workspace: Workspace, shopping: SessionDirectory
) -> None:
    said = workspace.run_command("fork", shopping.id, "--at", "4", "--system", "speak German")
    assert said.returncode == 1
    assert "Nothing was edited: it made no live model call after iteration 4" in said.stderr


# -- comparing ----------------------------------------------------------------------------------


def test_two_runs_are_compared_like_files(workspace: Workspace, shopping: SessionDirectory) -> None:
    again = workspace.record_session(program(workspace, "again.py", (", ticket {", ", number {")))
    same = workspace.run_command("diff", shopping.id, shopping.id)
    assert (same.returncode, "The same: every request" in same.stdout) == (0, True)
    found = workspace.run_command("diff", shopping.id, again.id[-6:])
    assert found.returncode == 1
    assert "step 5: tool put gave something else" in found.stdout
    assert re.search(r"^tokens +420 \+ 40 +420 \+ 40", found.stdout, re.MULTILINE)
    answer = workspace.run_json_command("diff", shopping.id, again.id)
    assert (answer["equal"], answer["first"]["what"]) == (False, "outcome")
    assert answer["a"]["id"] == shopping.id
    missing = workspace.run_command("diff", shopping.id, "nobody")
    assert (missing.returncode, "No agent session nobody." in missing.stderr) == (2, True)


# -- spans --------------------------------------------------------------------------------------


def spans(document: Any) -> list[str]:
    return [each["name"] for each in document["resourceSpans"][0]["scopeSpans"][0]["spans"]]


def test_spans_go_to_stdout_or_a_file(workspace: Workspace, shopping: SessionDirectory) -> None:
    document = json.loads(workspace.run_command("export", shopping.id, "--otlp").stdout)
    assert spans(document)[:3] == ["invoke_agent shopper", "chat script-1", "execute_tool price"]
    target = workspace.directory / "spans.json"
    said = workspace.run_command("export", shopping.id, "--otlp", str(target))
    assert said.stdout == f"10 spans of {shopping.id} to {target}\n"
    assert json.loads(target.read_text()) == document


def test_what_was_said_is_exported_only_if_asked_for(
    workspace: Workspace, shopping: SessionDirectory
) -> None:
    plain = workspace.run_command("export", shopping.id, "--otlp").stdout
    assert "gen_ai.input.messages" not in plain
    assert "Buy tea" not in plain
    said = workspace.run_command("export", shopping.id, "--otlp", "--content").stdout
    [resource] = json.loads(said)["resourceSpans"]
    spans = resource["scopeSpans"][0]["spans"]
    [pay] = [span for span in spans if span["name"] == "execute_tool pay"]
    values = {each["key"]: each["value"] for each in pay["attributes"]}
    assert json.loads(values["gen_ai.tool.call.arguments"]["stringValue"]) == {"total": 15.0}
    assert values["gen_ai.tool.call.result"]["stringValue"] == "paid 15.00"
    chat = [span for span in spans if span["name"] == "chat script-1"][1]
    values = {each["key"]: each["value"] for each in chat["attributes"]}
    messages = json.loads(values["gen_ai.input.messages"]["stringValue"])
    assert [message["role"] for message in messages] == ["user", "assistant", "tool", "tool"]
    assert messages[2]["parts"] == [
        {"type": "tool_call_response", "id": "call-0-0", "response": "4.0"}
    ]


def test_spans_go_to_a_collector(workspace: Workspace, shopping: SessionDirectory) -> None:
    with collector() as found:
        told = workspace.run_json_command("export", shopping.id, "--otlp", found.url)
        assert told["spans"] == 10
        ((path, kind, body),) = found.bodies
        assert (path, kind) == ("/v1/traces", "application/json")
        assert len(spans(json.loads(body))) == 10


def _refuses(found: Collector) -> None:
    found.status, found.answer = 415, b"only protobuf"


def _takes_some(found: Collector) -> None:
    found.answer = b'{"partialSuccess": {"rejectedSpans": "3"}}'


@pytest.mark.parametrize(
    ("answer", "complaint"),
    [(_refuses, "answered 415: only protobuf"), (_takes_some, "The collector refused 3 of them")],
)
def test_what_a_collector_refuses_is_reported(
    workspace: Workspace, shopping: SessionDirectory, answer: Any, complaint: str
) -> None:
    with collector() as found:
        answer(found)
        said = workspace.run_command("export", shopping.id, "--otlp", found.url)
    assert said.returncode == 1
    assert complaint in said.stderr


def test_a_collector_that_is_not_there_is_named(
    workspace: Workspace, shopping: SessionDirectory
) -> None:
    with collector() as found:
        url = found.url
    said = workspace.run_command("export", shopping.id, "--otlp", url)
    assert said.returncode == 1
    assert f"{url}/v1/traces cannot be reached" in said.stderr


def test_the_example_says_what_it_should(workspace: Workspace) -> None:
    said = workspace.run_program(sys.executable, SHOPPER).stdout.splitlines()
    assert said[1:] == ["Done: paid 15.00", "in the basket: tea, cake"]
    assert said[0] == f"session {workspace.latest.id}"


def test_an_agent_that_fails_where_it_did_not_is_not_the_same(workspace: Workspace) -> None:
    program = workspace.directory / "fails.py"
    source = """
import os
from holdfast.bridge import start
dbg = start("fails")
dbg.tool(lambda: 1, name="one")()
if os.environ.get("FAIL"):
    raise KeyError("later")
"""
    program.write_text(source)
    home = workspace.record_session(str(program))
    assert workspace.run_json_command("replay", home.id, "--mode", "full")["outcome"] == "same"

    workspace.environment["FAIL"] = "1"
    try:
        told = workspace.run_json_command("replay", home.id, "--mode", "full")
    finally:
        del workspace.environment["FAIL"]
    assert (told["outcome"], told["exitCode"]) == ("diverged", 1)
    assert "then failed" in told["message"]
