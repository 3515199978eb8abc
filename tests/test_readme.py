"""Runs the commands of the README and compares their answers with those that it shows."""

from __future__ import annotations

import dataclasses
import fnmatch
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from textual.binding import Binding

import holdfast
from harness import Server
from holdfast.cli.agents.agent_screen import AgentScreen
from holdfast.client.client_settings import Settings
from holdfast.core.agent_breakpoints import KINDS
from holdfast.model.agent_commands import ACTIONS, COMMANDS
from holdfast.model.agent_events import EVENTS

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
ELIDED = re.compile(r"(?:, )?…(?=[}\]])")


SESSION = "sess_9f3c2a7b41d0e58"
POINT = "bp_e1837cd5a06b4c1"
FOLDER = "/path/to/shop"
"""Placeholders of the README. A reader uses the ids that the server gave, and their own folder."""


FIGURES = [
    "step with locals",
    "launch to first stop",
    "launch, nothing prepared",
    "evaluate",
    "end of program",
    "memory while paused",
]
"""The rows of docs/performance.md that the README shows, in its order."""
AGENT_FIGURES = ["calls", "bytes of all answers", "the whole scenario"]
PERFORMANCE = (ROOT / "docs" / "performance.md").read_text(encoding="utf-8")


def commands() -> str:
    [block] = re.findall(r"```bash\n(.*?)```", README, re.DOTALL)
    return str(block)


def written_answers(block: str) -> list[Any]:
    """Return the answers in the comments, in order. An ellipsis stands for what is left out."""
    lines = [line[2:] for line in block.splitlines() if line.startswith("# {")]
    return [json.loads(ELIDED.sub("", line)) for line in lines]


def parse_documents(text: str) -> list[Any]:
    """Parse JSON documents that follow one another."""
    parsed, decoder = [], json.JSONDecoder()
    while text := text.lstrip():
        document, end = decoder.raw_decode(text)
        parsed.append(document)
        text = text[end:]
    return parsed


def matches(written: Any, real: Any) -> bool:
    """Compare an answer of the README with a real one; `…` stands for anything."""
    match written:
        case dict():
            return all(
                name in real and matches(value, real[name]) for name, value in written.items()
            )
        case list():
            return len(written) == len(real) and all(map(matches, written, real))
        case str() if "…" in written:
            return fnmatch.fnmatchcase(real, written.replace("…", "*"))
        case _:
            return bool(written == real)


def run(script: str, folder: Path) -> list[Any]:
    """Run lines of bash, and return the JSON documents that they print."""
    ran = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        cwd=folder,
        env={**os.environ, "NO_PROXY": "*"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=60,
    )
    assert ran.returncode == 0, ran.stdout
    return parse_documents(ran.stdout)


@pytest.mark.skipif(not (shutil.which("bash") and shutil.which("curl")), reason="needs curl")
def test_the_commands_give_the_answers_that_it_shows(server: Server, tmp_path: Path) -> None:
    program = README.split("```python\n")[1].split("```")[0]
    (tmp_path / "shop.py").write_text(program, encoding="utf-8")
    block = commands().replace("localhost:5000", server.url).replace(FOLDER, str(tmp_path))
    create, rest = block.split("S=", 1)
    answers = run(create, tmp_path)
    session_id = answers[0]["session_id"]
    point_id = answers[0]["breakpoints_set"][0]["breakpoint_id"]
    rest = rest.replace(SESSION, session_id).replace(POINT, point_id)
    answers += run(f"S={rest}", tmp_path)

    written = written_answers(block.replace(SESSION, session_id).replace(POINT, point_id))
    assert len(written) == len(answers)
    assert [pair for pair in zip(written, answers, strict=True) if not matches(*pair)] == []


def test_it_begins_with_the_two_commands() -> None:
    first = README.split("```")[1]
    assert re.findall(r"^make \w+", first, re.MULTILINE) == ["make demo", "make test"]


@pytest.mark.parametrize(
    "name", ["README.md", "CONTRIBUTING.md", "docs/calls.md", "docs/performance.md"]
)
def test_its_links_lead_somewhere(name: str) -> None:
    page = ROOT / name
    links = re.findall(r"\]\(([^)#]+)\)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert missing == []


def table_rows(page: str) -> list[list[str]]:
    """Return the cells of every row of a page's tables."""
    lines = [line for line in page.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def test_its_figures_are_those_of_the_page_on_performance() -> None:
    results = PERFORMANCE.split("## Results")[1].split("\n## ")[0]
    measured = {row[0].rpartition(",")[0]: row for row in table_rows(results)}
    written_rows = table_rows(README.split("## How fast")[1].split("over MCP")[0])[2:]
    for name, row in zip(FIGURES, written_rows, strict=True):
        _, holdfast_cell, stock_cell, ratio = row
        _, stock, _, ours, measured_ratio = measured[name]
        for written, real in ((holdfast_cell, ours), (stock_cell, stock)):
            number = float(written.split()[0].replace(",", ""))
            assert number == pytest.approx(float(real), rel=0.03), name
        assert f"({ratio})" in measured_ratio, name


def test_its_figures_of_agents_are_those_of_the_page_on_performance() -> None:
    section = PERFORMANCE.split("## Agents over MCP")[1].split("\n## ")[0]
    servers = section.split("![")[0]
    measured = {row[0].rpartition(",")[0] or row[0]: row[1:] for row in table_rows(servers)}
    written = table_rows(README.split("## How fast")[1].split("over MCP")[1])[2:]
    for name, row in zip(AGENT_FIGURES, written, strict=True):
        assert [cell.split()[0].replace(",", "") for cell in row[1:]] == measured[name], name


def test_the_picture_shows_the_terminal_view_and_its_keys() -> None:
    svg = (ROOT / "docs" / "pictures" / "agent-attach.svg").read_text(encoding="utf-8")
    text = re.sub(r"<[^>]+>", "", svg).replace("&#160;", " ")
    keys = [binding for binding in AgentScreen.BINDINGS if isinstance(binding, Binding)]
    assert "held before tool" in text
    assert [key.description for key in keys if key.description not in text] == []


def test_the_page_of_agents_has_every_decision_and_every_way_to_break() -> None:
    page = (ROOT / "docs" / "agents.md").read_text(encoding="utf-8")
    names = [*ACTIONS, *KINDS]
    assert [name for name in names if f"`{name}`" not in page and f'"{name}"' not in page] == []


def test_the_decision_on_agents_names_every_event_and_command() -> None:
    [page] = (ROOT / "docs" / "decisions").glob("0010-*.md")
    text = page.read_text(encoding="utf-8")
    names = [*EVENTS, *COMMANDS]
    assert [name for name in names if f"`{name}`" not in text] == []


def test_the_page_of_calls_has_every_name_and_option() -> None:
    page = (ROOT / "docs" / "calls.md").read_text(encoding="utf-8")
    names = [*holdfast.__all__, *(field.name for field in dataclasses.fields(Settings))]
    assert [name for name in names if name not in page] == []
