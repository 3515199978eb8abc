"""Breakpoints whose place is written in part, or does not exist."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import Server
from tool_user import ToolUser

CORE = """\
def add(a, b):
    c = a + b
    return c


class Cart:
    def total(self):
        return add(1, 2)
"""
MAIN = """\
from shop.core import Cart


def main():
    print(Cart().total())


main()
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    shop = tmp_path / "src" / "shop"
    shop.mkdir(parents=True)
    (shop / "__init__.py").write_text("from shop.core import add\n")
    (shop / "core.py").write_text(CORE)
    (tmp_path / "main.py").write_text(MAIN)
    for hidden in (".cache", "node_modules", "__pycache__", "env"):
        (tmp_path / hidden).mkdir()
        (tmp_path / hidden / "core.py").write_text(CORE)
    (tmp_path / "env" / "pyvenv.cfg").write_text("")
    return tmp_path


@pytest.fixture
def user(server: Server, folder: Path) -> Iterator[ToolUser]:
    made = ToolUser(server, cwd=str(folder))
    yield made
    made.stop_all()


def run(user: ToolUser, *places: str, expect: int = 200, **request: Any) -> Any:
    given = {"target": "main.py", "env": {"PYTHONPATH": "src"}, "breakpoints": list(places)}
    return user.call("debug_run", expect=expect, **(given | request))


@pytest.mark.parametrize(
    "place", ["core.py:2", "shop/core.py:2", "./core.py:2", "core.py:add", "shop/core.py:add"]
)
def test_the_end_of_a_path_names_a_file_of_the_project(user: ToolUser, place: str) -> None:
    report = run(user, place)
    assert (report["status"], report["at"]) == ("paused", "src/shop/core.py:2")


def test_it_is_run_to_set_and_removed_by_the_same_name(user: ToolUser) -> None:
    assert run(user, until="core.py:2")["at"] == "src/shop/core.py:2"
    user.call("debug_set_breakpoints", add=["core.py:3"])
    table = user.call("debug_set_breakpoints", remove=["core.py:3"])
    assert (table["removed"], table.get("breakpoints", [])) == (1, [])


def test_an_end_that_several_files_have_is_refused_with_their_names(
    user: ToolUser, folder: Path
) -> None:
    (folder / "core").mkdir()
    (folder / "core" / "core.py").write_text(CORE)
    problem = run(user, "core.py:2", expect=400)["error"]
    assert problem["message"] == ("several files end with core.py: core/core.py, src/shop/core.py")
    assert run(user, "shop/core.py:2")["at"] == "src/shop/core.py:2"


@pytest.mark.parametrize(
    ("place", "message", "hint"),
    [
        ("main.py:mian", "no function mian in main.py", "Near: main."),
        ("main.mian", "no function mian in main.py", "Near: main."),
        ("core.py:Cart.nope", "no function Cart.nope in src/shop/core.py", "Near: Cart.total."),
        ("shop.core.zzz", "no function zzz in src/shop/core.py", "It has add, Cart.total."),
        ("shop.add", "no function add in src/shop/__init__.py", "Near: src/shop/core.py:add."),
    ],
)
def test_a_function_that_a_known_file_lacks_is_refused_with_near_names(
    user: ToolUser, place: str, message: str, hint: str
) -> None:
    problem = run(user, place, expect=400)["error"]
    assert (problem["message"], problem["hint"]) == (message, hint)
    run(user, "core.py:2")
    assert user.call("debug_set_breakpoints", add=[place], expect=400)["error"] == problem


def test_the_end_says_what_was_not_found_and_what_comes_near(user: ToolUser) -> None:
    report = run(user, "Cart.nope", "coer.py:3", "*.none_such")
    assert report["status"] == "terminated"
    assert report["never_hit"] == ["Cart.nope", "coer.py:3", "*.none_such"]
    assert report["problems"] == [
        "Cart.nope: no such function was found; near: src/shop/core.py:Cart.total",
        "coer.py:3: no such file was found; near: src/shop/core.py",
        "*.none_such: no such function was found",
    ]
    report = run(user, until="coer.py:3")
    assert "coer.py:3: no such file was found" in report["problems"]


def test_a_file_with_a_mistake_may_have_any_function(user: ToolUser, folder: Path) -> None:
    (folder / "broken.py").write_text("def f(:\n")
    report = run(user, "broken.py:f")
    assert report["never_hit"] == ["broken.f"]


def test_a_file_that_the_program_writes_is_waited_for(user: ToolUser, folder: Path) -> None:
    (folder / "main.py").write_text(
        "import pathlib\npathlib.Path('made.py').write_text('x = 1\\ny = 2\\n')\nimport made\n"
    )
    report = run(user, "made.py:2")
    assert (report["status"], report["at"]) == ("paused", "made.py:2")
