"""How events read in `watch`, `replay` and `attach`: of an agent with sub-agents and tools."""

from __future__ import annotations

import contextvars
import unicodedata
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import pytest

from holdfast.bridge import start
from holdfast.cli.agents.event_lines import EventFormatter, format_cost
from holdfast.model.agent_events import RecordedEvent
from holdfast.recording.directories import SessionDirectory
from replayable_agent import read_events

SAID = "I ask two researchers at once, because their questions have nothing in common."
LONG = "word " * 500


def record_team(directory: Path) -> list[RecordedEvent]:
    """A lead whose model asks for two sub-agents, which run at the same time."""
    with start("team", directory=directory) as dbg:

        @dbg.model(model="script-1")
        def ask(messages: list[Any]) -> dict[str, Any]:
            if messages[0]["content"] != "report":
                return {"role": "assistant", "content": f"About {messages[0]['content']}: much."}
            calls = [{"id": "c1", "name": "research"}, {"id": "c2", "name": "research"}]
            return {
                "role": "assistant",
                "content": [{"type": "text", "text": SAID}],
                "tool_calls": calls,
                "stop_reason": "tool_use",
                "usage": {"input_tokens": 1200, "output_tokens": 80},
            }

        @dbg.tool(pure=True)
        def read(path: str) -> str:
            return LONG

        @dbg.tool
        def research(topic: str) -> Any:
            with dbg.run(lane=f"{topic}-expert"):
                read(path=f"{topic}.txt")
                return ask([{"role": "user", "content": topic}])["content"]

        with dbg.run():
            ask([{"role": "user", "content": "report"}])
            with ThreadPoolExecutor(2) as pool:
                runs = [
                    pool.submit(contextvars.copy_context().run, research, topic=topic)
                    for topic in ("tea", "cake")
                ]
                assert [run.result() for run in runs]
        assert dbg.home is not None
        home: SessionDirectory = dbg.home
    return read_events(home)


@pytest.fixture(scope="module")
def team(tmp_path_factory: pytest.TempPathFactory) -> list[RecordedEvent]:
    return record_team(tmp_path_factory.mktemp("team"))


def format_all(
    events: list[RecordedEvent], width: int | None = None, is_full: bool = False
) -> list[str]:
    formatter = EventFormatter(is_full=is_full)
    return [formatter.format(event, width).plain for event in events]


def find_lines(events: list[RecordedEvent], kind: str, width: int | None = None) -> list[str]:
    lines = zip(events, format_all(events, width), strict=True)
    return [line.split("] ", 1)[1] for event, line in lines if event["type"] == kind]


def test_an_answer_shows_what_the_model_said_and_asks_for(team: list[RecordedEvent]) -> None:
    first = find_lines(team, "api_response")[0]
    assert first.startswith("api_response         tool_use (")
    assert "1,200 + 80 tokens" in first
    assert first.endswith(f"{SAID} → research (c1), research (c2)")


def test_sub_agents_and_their_tools_stand_below_the_tool_that_runs_them(
    team: list[RecordedEvent],
) -> None:
    lines = find_lines(team, "tool_call_start") + find_lines(team, "tool_call_end")
    inner = [line for line in lines if " read " in line]
    outer = [line for line in lines if line not in inner]
    assert all("│" not in line for line in outer)
    assert {line.split()[1:3] == ["│", "tea-expert:"] for line in inner} == {True, False}
    assert {line.split()[1:3] == ["│", "cake-expert:"] for line in inner} == {True, False}
    answers = find_lines(team, "api_response")[1:]
    assert sorted(line.split("│ ")[1].split(":")[0] for line in answers) == [
        "cake-expert",
        "tea-expert",
    ]


@pytest.mark.parametrize(
    ("kind", "fields", "shown"),
    [
        ("tool_result", {"result": {"kind": "tool-return", "return_value": "done"}}, "→ done"),
        ("tool_result", {"result": [{"type": "text", "text": "done"}]}, "→ done"),
        (
            "api_response",
            {
                "content": [{"type": "text", "text": "I look."}, {"type": "tool_use", "name": "x"}],
                "toolCalls": [{"id": "t1", "name": "x"}],
            },
            "I look. → x (t1)",
        ),
    ],
)
def test_what_frameworks_wrap_is_shown_as_people_read_it(
    kind: str, fields: dict[str, object], shown: str
) -> None:
    data = {"toolId": "t1", "name": "look", **fields}
    event = {"seq": 1, "type": kind, "timestamp": "", "sessionId": "s", "data": data}
    [line] = format_all([cast(RecordedEvent, event)])
    assert line.rstrip().endswith(shown)


def test_every_line_of_a_tool_has_the_id_that_cancel_takes(team: list[RecordedEvent]) -> None:
    for kind in ("tool_call_start", "tool_result", "tool_call_end"):
        ids = [event["data"]["toolId"] for event in team if event["type"] == kind]
        lines = find_lines(team, kind)
        assert len(lines) == 4
        assert all(
            f"({tool_id})" in line or f", {tool_id})" in line
            for tool_id, line in zip(ids, lines, strict=True)
        )


@pytest.mark.parametrize("width", [60, 80, 120])
def test_on_a_terminal_lines_are_wrapped_between_words(
    team: list[RecordedEvent], width: int
) -> None:
    lines = [line for event in format_all(team, width) for line in event.splitlines()]
    assert max(map(len, lines)) <= width
    words = " ".join(" ".join(lines).replace("│", " ").split())
    assert SAID in words
    assert any(line.startswith("             │ ") for line in lines)  # further in, behind its bar


def test_a_pipe_has_one_line_for_an_event(team: list[RecordedEvent]) -> None:
    lines = format_all(team)
    assert len(lines) == len(team)
    assert not [line for line in lines if "\n" in line]


@pytest.mark.parametrize("width", [None, 80])
def test_a_terminal_does_not_obey_what_an_agent_wrote(tmp_path: Path, width: int | None) -> None:
    wipe = "\x1b[2J\x9b2J\x07"
    with start("rude", directory=tmp_path) as dbg, dbg.run(lane=f"a\nb{wipe}"):
        dbg.model(lambda messages: f"said\n{wipe}")([{"role": "user", "content": wipe}])
        dbg.tool(lambda text: text, name=f"tool{wipe}")(wipe)
    assert dbg.home is not None
    events = read_events(dbg.home)
    text = "".join(format_all(events, width, is_full=True))
    assert not [sign for sign in text if unicodedata.category(sign) == "Cc" and sign != "\n"]
    assert "␛[2J" in text
    assert width is not None or "\n" not in text


def test_what_is_long_is_shortened_unless_all_of_it_is_asked_for(
    team: list[RecordedEvent],
) -> None:
    assert not [line for line in format_all(team) if LONG.strip() in line]
    assert [line for line in format_all(team, is_full=True) if LONG.strip() in line]


@pytest.mark.parametrize(
    ("cost", "shown"),
    [(0.0, "0.0000"), (0.00002, "<0.0001"), (0.0123, "0.0123"), (1234.5, "1,234.50")],
)
def test_a_cost_is_never_shown_as_none_unless_it_is(cost: float, shown: str) -> None:
    assert format_cost(cost) == shown
