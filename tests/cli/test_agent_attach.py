"""`holdfast agent attach`: the screen under Textual's pilot, and lines from a pipe.

The agent is a real process, told on its stdin when to go on.
"""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import json
import os
import pty
import select
import signal
import struct
import subprocess
import sys
import termios
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from textual import events
from textual.pilot import Pilot
from textual.widgets import Input, TextArea

from agent_process import AgentProcess, running_agent
from holdfast.cli.agents import command_parser
from holdfast.cli.agents.agent_screen import AgentScreen, PromptDialog
from holdfast.recording import command_sender
from polling import wait_until, wait_until_async
from replayable_agent import read_data
from settled_screens import run_settled

PATIENCE = 60.0
Watched = Pilot[str]


@pytest.fixture
def looper(tmp_path: Path) -> Iterator[AgentProcess]:
    with running_agent(tmp_path / "data") as running:
        yield running


# -- the screen ---------------------------------------------------------------------------------


def run_screen(
    looper: AgentProcess,
    steps: Callable[[Watched], Awaitable[None]],
    size: tuple[int, int] = (120, 40),
) -> AgentScreen:
    app = AgentScreen(looper.home)

    async def watched() -> None:
        async with run_settled(app, size) as pilot:
            await steps(pilot)

    asyncio.run(watched())
    return app


async def wait_for(pilot: Watched, so: Callable[[], object]) -> None:
    await wait_until_async(so, lambda: read_screen(pilot), pilot.pause)
    await pilot.pause()


def read_screen(pilot: Watched) -> str:
    """What a person would read."""
    strips = pilot.app.screen._compositor.render_strips()
    return "\n".join("".join(segment.text for segment in strip) for strip in strips)


def is_shown(pilot: Watched, text: str) -> Callable[[], bool]:
    return lambda: text in read_screen(pilot)


def is_prompting(pilot: Watched) -> Callable[[], bool]:
    return lambda: (
        isinstance(pilot.app.screen, PromptDialog) and bool(pilot.app.screen.query("#answer"))
    )


async def answer(pilot: Watched, key: str, text: str) -> None:
    """Press a key, and answer what it asks."""
    await pilot.press(key)
    await wait_for(pilot, is_prompting(pilot))
    asked = pilot.app.screen.query_one("#answer")
    if isinstance(asked, TextArea):
        asked.text = text
        await pilot.press("ctrl+s")
    else:
        assert isinstance(asked, Input)
        asked.value = text
        await pilot.press("enter")


def hold_at(looper: AgentProcess, **on: Any) -> None:
    """Stopped at a breakpoint, before anybody attaches."""
    tail = command_sender.tail_from_end(looper.home)
    command = command_sender.send_command(looper.home, "breakpoint", {"action": "add", **on})
    assert command_sender.collect_answers(tail, looper.home, command, PATIENCE, _is_response)
    looper.send("turn 2")
    wait_for_event(looper, "paused")


def _is_response(event: Any) -> bool:
    return bool(event["type"] == "command_response")


def wait_for_event(looper: AgentProcess, kind: str) -> None:
    wait_until(lambda: read_data(looper.home, kind), kind)


def results(looper: AgentProcess) -> list[Any]:
    return [each["result"] for each in read_data(looper.home, "tool_result")]


def test_it_shows_what_happened_and_what_was_said(looper: AgentProcess) -> None:
    looper.ask("turn 2")

    async def steps(pilot: Watched) -> None:
        await wait_for(pilot, is_shown(pilot, "✓ double"))
        await wait_for(pilot, is_shown(pilot, "assistant: it is 2"))
        text = read_screen(pilot)
        assert "● running" in text
        assert "iteration 2" in text
        assert "user: double it" in text
        for name in ("continue", "step", "pause", "edit input", "fake result", "raise", "quit"):
            assert name in text

    run_screen(looper, steps)


def test_a_held_call_is_shown_and_let_go(looper: AgentProcess) -> None:
    hold_at(looper, on="tool", name="double")

    async def steps(pilot: Watched) -> None:
        await wait_for(pilot, is_shown(pilot, "‖ held before tool double"))
        assert '"number": 1' in read_screen(pilot)
        await pilot.press("c")
        await wait_for(pilot, is_shown(pilot, '"number": 2'))
        await pilot.press("c")
        await wait_for(pilot, is_shown(pilot, "● running"))

    run_screen(looper, steps)
    assert looper.read_reply() == "it is 4"


def test_an_input_is_edited_where_it_stands(looper: AgentProcess) -> None:
    hold_at(looper, on="tool", name="double", hitCondition="1")

    async def steps(pilot: Watched) -> None:
        await wait_for(pilot, is_shown(pilot, "‖ held"))
        await pilot.press("e")
        await wait_for(pilot, is_prompting(pilot))
        area = pilot.app.screen.query_one(TextArea)
        assert json.loads(area.text) == {"number": 1}
        area.text = '{"number": oops}'
        await pilot.press("ctrl+s")
        await wait_for(pilot, is_shown(pilot, "the input is not JSON"))
        area.text = '{"number": 21}'
        await pilot.press("ctrl+s")
        await wait_for(pilot, is_shown(pilot, "● running"))

    run_screen(looper, steps)
    assert results(looper)[0] == 42


@pytest.mark.parametrize(
    ("key", "typed", "left"),
    [
        ("r", '{"made": "up"}', {"result": {"made": "up"}}),
        ("x", "KeyError: gone", {"type": "KeyError", "message": "'gone'"}),
        ("k", None, {"type": "ToolCancelled"}),
    ],
)
def test_every_decision_has_a_key(
    looper: AgentProcess, key: str, typed: str | None, left: dict[str, Any]
) -> None:
    hold_at(looper, on="tool", name="double", hitCondition="1")

    async def steps(pilot: Watched) -> None:
        await wait_for(pilot, is_shown(pilot, "‖ held"))
        if typed is None:
            await pilot.press(key)
        else:
            await answer(pilot, key, typed)
        await wait_for(pilot, lambda: read_data(looper.home, "resumed"))

    run_screen(looper, steps)
    looper.read_reply()
    ended = read_data(looper.home, "tool_call_end")[0]
    found = read_data(looper.home, "tool_result")[0] if key == "r" else ended["error"]
    assert {name: found[name] for name in left} == left


def test_a_model_call_is_held_with_its_messages(looper: AgentProcess) -> None:
    async def steps(pilot: Watched) -> None:
        await pilot.press("p")
        await wait_for(pilot, lambda: read_data(looper.home, "command_executed"))
        looper.send("turn 2")
        await wait_for(pilot, is_shown(pilot, "‖ held before model none-1"))
        await answer(pilot, "i", "system: be brief")
        await wait_for(pilot, is_shown(pilot, "system: be brief"))
        await answer(pilot, "v", "step = 7")
        await wait_for(pilot, lambda: read_data(looper.home, "variable_set"))
        await pilot.press("s")
        await wait_for(pilot, lambda: len(read_data(looper.home, "paused")) == 2)
        await wait_for(pilot, is_shown(pilot, read_data(looper.home, "paused")[1]["stop"]))
        await pilot.press("e")
        await wait_for(pilot, is_prompting(pilot))
        messages = json.loads(pilot.app.screen.query_one(TextArea).text)["messages"]
        assert [each["content"] for each in messages] == ["double it", "be brief", "it is 2"]
        await pilot.press("escape")
        await wait_for(pilot, lambda: not is_prompting(pilot)())
        await pilot.press("c")
        await wait_for(pilot, is_shown(pilot, "● running"))

    run_screen(looper, steps)
    assert looper.read_reply() == "it is 4"
    assert looper.ask("state") == "{'step': 7} 4"


def test_breakpoints_come_and_go(looper: AgentProcess) -> None:
    async def steps(pilot: Watched) -> None:
        await answer(pilot, "b", "tool dou*")
        await wait_for(pilot, is_shown(pilot, "1 breakpoint  ·"))
        looper.send("turn 1")
        await wait_for(pilot, is_shown(pilot, "breakpoint bp-1"))
        await answer(pilot, "d", "bp-1")
        await wait_for(pilot, lambda: "1 breakpoint  ·" not in read_screen(pilot))
        await pilot.press("c")
        await wait_for(pilot, is_shown(pilot, "● running"))

    run_screen(looper, steps)
    assert looper.read_reply() == "it is 2"
    assert looper.ask("turn 1") == "it is 2"


def test_the_stream_is_filtered(looper: AgentProcess) -> None:
    looper.ask("turn 1")

    async def steps(pilot: Watched) -> None:
        await wait_for(pilot, is_shown(pilot, "api_request"))
        await answer(pilot, "f", "tool_*")
        await wait_for(pilot, lambda: "api_request" not in read_screen(pilot))
        assert "tool_call_start" in read_screen(pilot)
        await answer(pilot, "f", "")
        await wait_for(pilot, is_shown(pilot, "api_request"))

    run_screen(looper, steps)


def test_keys_that_mean_nothing_now_do_nothing(looper: AgentProcess) -> None:
    async def steps(pilot: Watched) -> None:
        await pilot.press("c", "e", "r", "x", "k", "d", "n")
        assert not isinstance(pilot.app.screen, PromptDialog)

    run_screen(looper, steps)
    assert looper.home.commands.read_bytes() == b""


def test_leaving_does_not_let_go_and_says_so(looper: AgentProcess) -> None:
    hold_at(looper, on="tool", name="double", hitCondition="1")

    async def steps(pilot: Watched) -> None:
        await wait_for(pilot, is_shown(pilot, "‖ held"))
        await pilot.press("q")

    app = run_screen(looper, steps)
    assert app.return_value == "stop-1 is still held: `holdfast agent resume` lets it go on."
    assert read_data(looper.home, "resumed") == []


def test_an_agent_that_crashed_is_shown_as_gone(looper: AgentProcess) -> None:
    async def steps(pilot: Watched) -> None:
        looper.send("crash")
        await wait_for(pilot, is_shown(pilot, "■ gone: it did not end in order"))

    run_screen(looper, steps)


def test_a_rejected_command_is_reported(looper: AgentProcess) -> None:
    async def steps(pilot: Watched) -> None:
        await answer(pilot, "b", "pattern (")
        await wait_for(pilot, lambda: read_data(looper.home, "error"))
        await wait_for(pilot, is_shown(pilot, "Invalid command"))

    run_screen(looper, steps)


LONG = "a text that is much too long for one line of a small terminal, with its end"


def test_a_small_terminal_shows_all_of_it(looper: AgentProcess) -> None:
    hold_at(looper, on="tool", name="double", hitCondition="1")
    looper_events = looper.home.events
    with looper_events.open("a") as file:
        said = {"iteration": 1, "isError": False, "durationMs": 1.0, "content": LONG}
        line = {"seq": 10_000, "type": "api_response", "timestamp": "", "data": said}
        file.write(json.dumps(line) + "\n")

    async def steps(pilot: Watched) -> None:
        await wait_for(pilot, is_shown(pilot, "‖ held before tool double"))
        await wait_for(pilot, is_shown(pilot, "its end"))
        text = read_screen(pilot)
        lines = text.splitlines()
        assert len(lines) == 24
        assert max(map(len, lines)) <= 80
        assert "tool-1, breakpoint bp-1" in text
        for part in ("c continue", "e edit input", "f filter", "q quit", '"number": 1'):
            assert part in text, text
        # Two panes beside each other have not room for it: the events have the whole width.
        events_pane = [line for line in lines if line.startswith("│") and line.endswith("│")]
        words = " ".join(" ".join(line.strip("│ ") for line in events_pane).split())
        assert LONG in words
        await pilot.press("e")
        await wait_for(pilot, is_prompting(pilot))
        await wait_for(pilot, is_shown(pilot, "ctrl+s sends, esc does not"))

    run_screen(looper, steps, size=(80, 24))


CLEAR = ("ctrl+k", "delete", "ctrl+k", "delete", "ctrl+k")
"""Leaves nothing of the three lines that the prompt begins with."""


def make_keys(*names: str) -> list[events.Key]:
    return [events.Key(name, name if len(name) == 1 else None) for name in names]


def test_keys_take_effect_in_the_order_in_which_they_were_typed(looper: AgentProcess) -> None:
    hold_at(looper, on="tool", name="double", hitCondition="1")
    typed = make_keys("e", *CLEAR, *'{"number": 20}', "left", "backspace", "1", "ctrl+s", "f", "p")

    async def steps(pilot: Watched) -> None:
        await wait_for(pilot, is_shown(pilot, "‖ held before tool double"))
        for key in typed:  # all at once, as a terminal gives a burst
            pilot.app.post_message(key)
        await wait_for(pilot, lambda: results(looper))
        await wait_for(pilot, is_prompting(pilot))  # `f` came after ctrl+s: it opens the filter
        assert pilot.app.screen.query_one(Input).value == "p"

    run_screen(looper, steps)
    assert results(looper)[0] == 42
    assert [each["action"] for each in read_data(looper.home, "resumed")] == ["modify"]


@contextlib.contextmanager
def terminal(looper: AgentProcess, cols: int, rows: int) -> Iterator[int]:
    """`holdfast agent attach` in a terminal of its own; gives the end that a person has."""
    mine, its = pty.openpty()
    fcntl.ioctl(its, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))
    environment = {**os.environ, "HOLDFAST_HOME": str(looper.data_dir), "TERM": "xterm-256color"}
    environment.pop("HOLDFAST_AGENT_DIR", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast", "agent", "attach", "-s", looper.id[-4:]],
        stdin=its,
        stdout=its,
        stderr=its,
        env=environment,
        start_new_session=True,
    )
    os.close(its)
    try:
        yield mine
    finally:
        if process.poll() is None:
            process.send_signal(signal.SIGKILL)
        process.wait()
        os.close(mine)


def read_terminal(mine: int, until: Callable[[bytes], bool]) -> bytes:
    shown = b""

    def look() -> bool:
        nonlocal shown
        while select.select([mine], [], [], 0)[0]:
            try:
                shown += os.read(mine, 65536)
            except OSError:  # it has ended
                break
        return until(shown)

    wait_until(look, lambda: shown.decode(errors="replace")[-2000:])
    return shown


@pytest.mark.slow
def test_a_burst_of_keys_in_a_real_terminal_is_sent_whole(looper: AgentProcess) -> None:
    hold_at(looper, on="tool", name="double", hitCondition="1")
    with terminal(looper, 80, 24) as mine:
        read_terminal(mine, lambda shown: b"held before tool double" in shown)
        clear, submit = b"\x0b\x1b[3~\x0b\x1b[3~\x0b", b"\x13"
        os.write(mine, b"e" + clear + b'{"number": 21}' + submit)
        read_terminal(mine, lambda shown: bool(results(looper)))
        os.write(mine, b"q")
    assert results(looper)[0] == 42


# -- lines from a pipe --------------------------------------------------------------------------


def run_piped(
    looper: AgentProcess, *lines: str, options: tuple[str, ...] = ()
) -> subprocess.Popen[str]:
    environment = {**os.environ, "HOLDFAST_HOME": str(looper.data_dir), "COLUMNS": "250"}
    environment.pop("HOLDFAST_AGENT_DIR", None)
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast", "agent", "attach", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
    )
    assert process.stdin is not None
    process.stdin.write("".join(f"{line}\n" for line in lines))
    process.stdin.flush()
    return process


def test_lines_steer_an_agent(looper: AgentProcess) -> None:
    process = run_piped(
        *(looper, "break tool double", "wait", 'edit stop-1 {"number": 5}', "wait"),
        *("inspect messages", 'result "none"', "clear all", "quit"),
    )
    wait_for_event(looper, "command_response")
    looper.send("turn 2")
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, err
    assert "Agent paused before tool double (breakpoint, stop-1)" in out
    assert "messages   2: 1 user, 1 assistant" in out
    assert looper.read_reply() == "it is none"
    assert results(looper) == [10, "none"]


def test_it_waits_for_the_answers_before_it_ends(looper: AgentProcess) -> None:
    process = run_piped(looper, "pause", "inject user be brief", "set step 7", "inspect")
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0
    assert "command_executed     pause accepted" in out
    assert "step = 1" in out  # it is set before the next model call
    assert looper.home.commands.read_bytes().count(b"\n") == 4


def test_unknown_lines_are_reported_and_the_others_executed(looper: AgentProcess) -> None:
    process = run_piped(looper, "dance", "cancel nothing", "# a comment", "", "pause", "help")
    out, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "there is no command 'dance'; `help` lists them" in err
    assert "no tool call 'nothing' is under way" in out
    assert "pause accepted" in out
    assert command_parser.HELP in out


def test_with_json_it_prints_the_events(looper: AgentProcess) -> None:
    process = run_piped(looper, "step", options=("--json",))
    out, _ = process.communicate(timeout=PATIENCE)
    (event,) = [json.loads(line) for line in out.splitlines()]
    assert (event["type"], event["data"]["status"]) == ("command_executed", "accepted")


def test_it_ends_with_the_agent(looper: AgentProcess) -> None:
    process = run_piped(looper, "wait session_end")
    assert process.stderr is not None
    assert process.stderr.readline().startswith("Attached to")
    looper.send("close")
    assert process.stdout is not None
    out = process.stdout.read()
    assert process.wait(PATIENCE) == 0
    assert out.splitlines()[-1].endswith("session_end          closed")
    process.communicate()


def test_without_an_agent_it_says_how_to_have_one(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "holdfast", "agent", "attach"],
        env={**os.environ, "HOLDFAST_HOME": str(tmp_path)},
        capture_output=True,
        text=True,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == 1
    assert "No active agent session." in done.stderr


@pytest.mark.parametrize(
    ("line", "kind", "data"),
    [
        ("resume", "resume", {}),
        ("resume stop-3", "resume", {"stop": "stop-3"}),
        ("step", "step", {}),
        ("inject be brief", "inject_message", {"role": "user", "content": "be brief"}),
        ("inject system: hush", "inject_message", {"role": "system", "content": "hush"}),
        ("set a.b = [1]", "set_variable", {"key": "a.b", "value": [1]}),
        ("cancel tool-1", "cancel_tool", {"toolId": "tool-1"}),
        ("break iteration 5", "breakpoint", {"action": "add", "on": "iteration", "count": 5}),
        (
            "break pattern rm -rf",
            "breakpoint",
            {"action": "add", "on": "pattern", "regex": "rm -rf"},
        ),
        ("break model", "breakpoint", {"action": "add", "on": "model"}),
        ("clear bp-1", "breakpoint", {"action": "clear", "id": "bp-1"}),
        ("breakpoints", "breakpoint", {"action": "list"}),
        (
            "raise stop-1 ValueError: no",
            "resume",
            {
                "stop": "stop-1",
                "action": "raise",
                "exception_type": "ValueError",
                "exception_message": "no",
            },
        ),
    ],
)
def test_a_line_is_a_command(line: str, kind: str, data: dict[str, Any]) -> None:
    parsed = command_parser.parse_command(line)
    fields = {name: value for name, value in parsed.data.items() if name != "by"}
    assert (parsed.kind, fields) == (kind, data)


@pytest.mark.parametrize(
    "line", ["set a", "set a b", "edit [1]", "break", "break iteration x", "inspect soul", "inject"]
)
def test_a_line_that_lacks_something_says_so(line: str) -> None:
    with pytest.raises(command_parser.CommandSyntaxError):
        command_parser.parse_command(line)
