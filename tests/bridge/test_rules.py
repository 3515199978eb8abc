"""The rules of a project's `holdfast.toml`, as a loop meets them: hold, deny, allow, timeouts."""

from __future__ import annotations

import asyncio
import os
import sys
import unicodedata
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from agent_loops import AgentLoop, build_writes
from background import run_in_thread
from holdfast.bridge import Bridge, Diverged, ModelDenied, ToolCancelled, ToolDenied, start
from holdfast.errors import InvalidProjectFile

Begin = Callable[..., Bridge]


@pytest.fixture
def begin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Begin]:
    """Starts a session in a project with these rules."""
    project = tmp_path / "project"
    project.mkdir()
    monkeypatch.chdir(project)
    begun: list[Bridge] = []

    def make(*rules: str, **options: Any) -> Bridge:
        text = "\n".join(f"[[agent.rule]]\n{rule}\n" for rule in rules)
        (project / "holdfast.toml").write_text(text)
        begun.append(start("ruled", directory=tmp_path / "agents", **options))
        return begun[-1]

    yield make
    for dbg in begun:
        dbg.close()


def test_a_rule_holds_from_the_first_call_on_and_says_so_once(
    begin: Begin, capsys: pytest.CaptureFixture[str]
) -> None:
    loop = AgentLoop(begin('tool = "wr*"\naction = "hold"'), build_writes(2))
    running = loop.run_in_thread()
    stop = loop.wait_for_stop()
    assert (stop["reason"], stop["name"], stop["rule"]["id"]) == ("rule", "write", "rule-1")
    assert stop["rule"]["source"].endswith("holdfast.toml:1")
    assert loop.done == []
    loop.resume(stop=stop["stop"])
    loop.resume(stop=loop.wait_for_stop(2)["stop"])
    assert running.result(60) == "done"
    assert len(loop.done) == 2
    [line] = capsys.readouterr().err.splitlines()
    assert "holds tool write (stop-1)" in line
    assert f"holdfast agent resume stop-1 -s {loop.home.id}" in line


def test_a_denied_tool_does_not_run_and_the_loop_gets_an_ordinary_error(begin: Begin) -> None:
    dbg = begin('pattern = "1\\\\.txt"\naction = "deny"')
    loop = AgentLoop(dbg, build_writes(3))
    assert loop() == "done"
    assert [path for path, _ in loop.done] == ["0.txt", "2.txt"]
    assert loop.results[1] == (
        "ToolDenied: write is denied by a rule of this project (rule-1: pattern 1\\.txt)"
    )
    _, denied, _ = loop.data_of("tool_call_start")
    assert (denied["decision"]["action"], denied["decision"]["by"]) == ("deny", "rule-1")
    assert denied["decision"]["rule"]["pattern"] == "1\\.txt"
    _, ended, _ = loop.data_of("tool_call_end")
    assert (ended["isError"], ended["denied"], "cancelled" in ended) == (True, True, False)
    assert loop.data_of("paused") == []
    with pytest.raises(ToolCancelled):  # so that what handles a cancelled tool handles this
        loop.write("1.txt")


def test_a_rule_sees_what_the_tool_is_given_if_the_call_leaves_it_out(begin: Begin) -> None:
    rules = ('pattern = "/etc"', "condition = \"input['force'] == True\"")
    dbg = begin(*(f'{rule}\naction = "deny"' for rule in rules))
    ran: list[str] = []

    @dbg.tool
    def clean(path: str = "/etc") -> None:
        ran.append(path)

    @dbg.tool
    def remove(path: str, force: bool = True) -> None:
        ran.append(path)

    with pytest.raises(ToolDenied):
        clean()
    with pytest.raises(ToolDenied):
        remove("a")
    clean("b")
    remove("c", force=False)
    assert ran == ["b", "c"]


def test_a_pattern_finds_a_letter_that_is_written_with_two_characters(begin: Begin) -> None:
    composed, apart = (unicodedata.normalize(form, "Grüße") for form in ("NFC", "NFD"))
    dbg = begin(f'pattern = "{composed}"\naction = "deny"')
    other = begin(f'pattern = "{apart}"\naction = "deny"')
    for bridge in (dbg, other):
        write = bridge.tool(lambda text: text, name="write")
        for text in (composed, apart):
            with pytest.raises(ToolDenied):
                write(text)


def test_a_pattern_finds_what_is_nested_too_deeply_for_json(begin: Begin) -> None:
    run = begin('pattern = "^rm$"\naction = "deny"').tool(lambda command: "ran", name="run")
    nested: Any = "rm"
    for _ in range(2 * sys.getrecursionlimit()):
        nested = [nested]
    with pytest.raises(ToolDenied):
        run(nested)


def test_what_is_allowed_is_never_held_whatever_comes_later(begin: Begin) -> None:
    dbg = begin(
        'tool = "write"\ncondition = "input[\'path\'] == \'0.txt\'"\naction = "allow"',
        'tool = "*"\naction = "hold"',
    )
    loop = AgentLoop(dbg, build_writes(2))
    loop.breakpoint(on="tool", name="write")
    running = loop.run_in_thread()
    assert loop.wait_for_stop()["input"] == {"path": "1.txt"}
    loop.resume()
    running.result(60)
    assert len(loop.data_of("paused")) == 1


def test_an_allowed_tool_that_fails_is_not_held_either(begin: Begin) -> None:
    loop = AgentLoop(begin('tool = "fail"\naction = "allow"'), [{"tool": "fail", "why": "no"}])
    loop.breakpoint(on="error")
    assert loop() == "done"
    assert loop.data_of("paused") == []


def test_a_condition_is_about_models_too(begin: Begin) -> None:
    loop = AgentLoop(
        begin("condition = \"model == 'scripted' and iteration > 2\"\naction='deny'"), []
    )
    loop.model([])
    loop.model([])
    with pytest.raises(ModelDenied, match="scripted is denied by a rule"):
        loop.model([])
    assert loop.asked == 2
    assert loop.data_of("api_request")[-1]["decision"]["by"] == "rule-1"


@pytest.mark.parametrize(
    ("policy", "action", "done"), [("deny", "deny", 0), ("allow", "continue", 1)]
)
def test_a_hold_that_nobody_decides_is_decided_by_its_rule(
    begin: Begin, policy: str, action: str, done: int
) -> None:
    rule = f'tool = "write"\naction = "hold"\ntimeout = 0.05\non_timeout = "{policy}"'
    loop = AgentLoop(begin(rule), build_writes(1))
    assert loop() == "done"
    [resumed] = loop.data_of("resumed")
    assert (resumed["action"], resumed["by"]) == (action, "rule-1")
    assert "was not decided within 0.05 s" in resumed["message"]
    assert len(loop.done) == done
    assert ("ToolDenied" in loop.results[0]) is (policy == "deny")


def test_a_timeout_decides_a_coroutine_too_and_a_decision_in_time_counts(begin: Begin) -> None:
    dbg = begin(
        'tool = "a*"\naction = "hold"\ntimeout = 0.05',
        'tool = "b*"\naction = "hold"\ntimeout = 600',
    )
    ran: list[str] = []

    @dbg.tool
    async def answer() -> None:
        ran.append("answer")

    @dbg.tool
    async def build() -> None:
        ran.append("build")

    with pytest.raises(ToolDenied, match="was not decided within"):
        asyncio.run(answer())
    loop = AgentLoop(dbg, [])
    running = run_in_thread(lambda: asyncio.run(build()))
    loop.resume(stop=loop.wait_for_stop(2)["stop"], by="me")
    running.result(60)
    assert ran == ["build"]
    assert [each["by"] for each in loop.data_of("resumed")] == ["rule-1", "me"]


def test_rules_are_listed_and_cannot_be_cleared(begin: Begin) -> None:
    dbg = begin('tool = "x"\naction = "hold"', 'pattern = "y"\naction = "deny"')
    loop = AgentLoop(dbg, build_writes(1))
    [started] = loop.data_of("session_start")
    assert [rule["id"] for rule in started["rules"]] == ["rule-1", "rule-2"]
    listed = loop.ask("breakpoint", action="list")["data"]
    assert [(rule["id"], rule["action"]) for rule in listed["rules"]] == [
        *(("rule-1", "hold"), ("rule-2", "deny"))
    ]
    refused = loop.wait_for_rejection(loop.send("breakpoint", action="clear", id="rule-2"))
    assert "is a rule of" in refused["message"]
    cleared = loop.ask("breakpoint", action="clear-all")["data"]
    assert (cleared["cleared"], len(cleared["rules"])) == ([], 2)
    with pytest.raises(ToolDenied):
        loop.write("y")


def test_a_replay_is_not_asked_again(begin: Begin, monkeypatch: pytest.MonkeyPatch) -> None:
    rules = ('tool = "write"\npattern = "0"\naction = "deny"', 'tool = "write"\naction = "hold"')
    first = AgentLoop(begin(*rules), build_writes(2))
    running = first.run_in_thread()
    first.wait_for_stop()
    first.resume(action="modify", input={"path": "other.txt"})
    running.result(60)
    first.dbg.close()

    monkeypatch.setenv("HOLDFAST_REPLAY", first.home.id)
    again = AgentLoop(begin(*rules), build_writes(2))
    assert again() == "done"
    assert (again.results, again.done) == (first.results, [])
    assert again.data_of("paused", "replay_diverged") == []


def test_a_replay_with_live_tools_denies_what_the_rules_deny_now(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = AgentLoop(begin(), build_writes(1))
    first()
    first.dbg.close()
    monkeypatch.setenv("HOLDFAST_REPLAY", first.home.id)
    monkeypatch.setenv("HOLDFAST_REPLAY_MODE", "model")
    again = AgentLoop(begin('tool = "write"\naction = "deny"'), build_writes(1))
    with pytest.raises(Diverged, match="denied by a rule"):  # which the model is told
        again()
    assert again.done == []


def test_a_decision_cannot_give_a_tool_an_input_that_is_denied(
    begin: Begin, monkeypatch: pytest.MonkeyPatch
) -> None:
    hold, deny = 'tool = "write"\naction = "hold"', 'pattern = "secret"\naction = "deny"'

    def run(loop: AgentLoop) -> None:
        running = loop.run_in_thread()
        loop.resume(stop=loop.wait_for_stop()["stop"], input={"path": "secret"})
        assert running.result(60) == "done"

    loop = AgentLoop(begin(deny, hold), build_writes(1))
    run(loop)
    assert loop.done == []
    [started] = loop.data_of("tool_call_start")
    assert (started["decision"]["action"], started["decision"]["by"]) == ("deny", "rule-1")

    allowed = AgentLoop(begin(hold), build_writes(1))
    run(allowed)
    assert [path for path, _ in allowed.done] == ["secret"]
    allowed.dbg.close()
    monkeypatch.setenv("HOLDFAST_REPLAY", allowed.home.id)
    monkeypatch.setenv("HOLDFAST_REPLAY_MODE", "model")
    again = AgentLoop(begin(deny, hold), build_writes(1))
    with pytest.raises(Diverged):
        again()
    assert again.done == []


def test_a_mistake_in_the_file_is_an_error_at_the_start_and_leaves_no_session(
    begin: Begin, tmp_path: Path
) -> None:
    with pytest.raises(InvalidProjectFile, match=r"line 3: agent.rule 1, action: .*hold, deny"):
        begin('tool = "x"\naction = "dney"')
    assert not (tmp_path / "agents").exists()


def test_without_a_recording_nobody_can_be_asked_and_nothing_passes(
    begin: Begin, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "agents").write_text("a file is in the way")
    dbg = begin('tool = "held"\naction = "hold"', 'tool = "no"\naction = "deny"', hold=True)
    assert dbg.home is None
    assert "does not begin held" in caplog.text
    with pytest.raises(ToolDenied, match="nobody can be asked"):
        dbg.tool(lambda: 1, name="held")()
    with pytest.raises(ToolDenied, match="denied by a rule"):
        dbg.tool(lambda: 1, name="no")()
    assert dbg.tool(lambda: 1, name="yes")() == 1


def test_a_session_that_is_closed_and_a_forked_child_keep_to_the_rules(begin: Begin) -> None:
    dbg = begin('tool = "no"\naction = "deny"')
    tool = dbg.tool(lambda: "ran", name="no")
    child = os.fork()
    if child == 0:
        try:
            tool()
        except ToolDenied:
            os._exit(7)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 7
    dbg.close()
    with pytest.raises(ToolDenied):
        tool()
