"""SKILL.md: what an agent without MCP is taught. Every command in it is run here, in its order."""

from __future__ import annotations

import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest

from fork_server import run_holdfast
from harness import Server
from holdfast.cli import exit_codes

SKILL = Path(__file__).parents[2] / "skills" / "holdfast" / "SKILL.md"
SHOP = """\
\"\"\"A shop.\"\"\"

PRICES = {"tea": 1, "milk": 3, "cake": 5}


def total(cart):
    amount = 0
    for item in cart:
        price = PRICES[item]
        if price < 0:
            continue
        amount += price
    return amount


print(total(["tea", "milk", "cake"]))
"""
TEST = "from shop import total\n\n\ndef test_total():\n    assert total(['tea']) == 2\n"
MAX_BYTES = 4000


def list_commands() -> Iterator[tuple[str, ...]]:
    """The words of each command that the page shows."""
    for block in re.findall(r"```sh\n(.*?)```", SKILL.read_text("utf-8"), re.S):
        for line in block.splitlines():
            yield tuple(shlex.split(line, comments=True))


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("project")
    (folder / "shop.py").write_text(SHOP)
    (folder / "test_shop.py").write_text(TEST)
    return folder


def test_it_has_the_front_matter_that_agents_look_for() -> None:
    head = SKILL.read_text("utf-8").split("---\n")[1]
    assert re.fullmatch(r"name: holdfast\ndescription: [^\n:]{50,900}\n", head)


def test_it_is_short() -> None:
    assert len(SKILL.read_bytes()) <= MAX_BYTES


def test_the_command_prints_it() -> None:
    assert run_holdfast("skill").stdout == SKILL.read_text("utf-8")


def test_every_command_in_it_works(server: Server, project: Path) -> None:
    commands = list(list_commands())
    assert len(commands) > 15
    env = {**os.environ, "HOLDFAST_HOME": str(server.data_dir)}
    for name in ("HOLDFAST_SERVER_URL", "CIDELDILL_SERVER_URL"):
        env.pop(name, None)
    has_begun = False
    for program, *words in commands:
        assert program == "holdfast"
        if words[0] == "inspect" and not has_begun:
            # What follows is about a program that is stopped.
            start = run_holdfast("run", "-b", "shop.py:12", "shop.py", env=env, cwd=project)
            assert start.returncode == exit_codes.PAUSED, start.stderr
            has_begun = True
        ran = run_holdfast(*words, env=env, cwd=project)
        expected = (exit_codes.OK, exit_codes.PAUSED)
        assert ran.returncode in expected, (words, ran.stdout, ran.stderr)
        assert ran.stdout.strip(), words
        assert "problem:" not in ran.stdout, (words, ran.stdout)
    run_holdfast("stop", "all", env=env, cwd=project)
