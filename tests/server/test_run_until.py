"""An expression that a run is to make true: in which files it is watched, and what is said."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path

import pytest

from harness import Server
from tool_user import ToolUser

FILES = {
    "app/__init__.py": """\
        name = "app"
        """,
    "app/__main__.py": """\
        from app.sums import add

        s = 0
        for i in range(4):
            s += i
        print(s, add([1, 2, 3]))
        """,
    "app/sums.py": """\
        calls = 0

        def add(items):
            global calls
            calls += 1
            total = 0
            for one in items:
                total += one
            return total
        """,
    "single.py": """\
        count = 0
        for n in range(4):
            count += n
        """,
    "src/deep/__main__.py": """\
        far = 1
        far = 2
        print(far)
        """,
    "tests/test_app.py": """\
        from app.sums import add

        LIMIT = 3

        def test_total():
            items = []
            for n in range(4):
                items.append(n)
            assert add(items) == 6

        def test_limit():
            assert LIMIT == 3
        """,
    "caller.py": """\
        def work(count):
            return count

        work(1)
        print("done")
        """,
    "pytest.ini": """\
        [pytest]
        addopts = -p no:cacheprovider
        """,
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("watched")
    for name, text in FILES.items():
        (made / name).parent.mkdir(parents=True, exist_ok=True)
        (made / name).write_text(textwrap.dedent(text))
    return made


@pytest.fixture
def user(server: Server, folder: Path) -> Iterator[ToolUser]:
    made = ToolUser(server, cwd=str(folder))
    yield made
    made.stop_all()


@pytest.mark.parametrize(
    ("until", "at"),
    [
        ("s > 2", "app/__main__.py:5"),
        ("total > 2", "app/sums.py:7"),
        ("calls == 1", "app/sums.py:6"),
    ],
)
def test_a_package_is_watched_in_all_of_its_files(
    user: ToolUser, python: str, until: str, at: str
) -> None:
    report = user.call("debug_run", target="python -m app", until=until, python=python)
    assert (report["status"], report["at"]) == ("paused", at)
    assert until in report["message"]
    assert user.evaluate(until)["values"][until] == "True"


@pytest.mark.parametrize(
    ("target", "until", "where"),
    [
        ("python -m app", "s > 2000", "app/__main__.py"),
        ("python -m app", "total > 2000", "app/sums.py"),
        ("python -m app", "nowhere_bound > 1", "app/__main__.py"),
        ("python -m single", "count > 2000", "single.py"),
        ("single.py", "count > 2000", "single.py"),
        ("pytest -k total", "len(items) == 30", "app/sums.py, tests/test_app.py"),
    ],
)
def test_what_is_never_true_runs_to_the_end_and_says_where_it_was_watched(
    user: ToolUser, target: str, until: str, where: str
) -> None:
    report = user.call("debug_run", target=target, until=until)
    assert (report["status"], report["exit_code"]) == ("terminated", 0)
    assert report["problems"] == [f"`{until}` was never true in {where}, where it was watched."]


@pytest.mark.parametrize(
    ("target", "until", "at"),
    [
        ("pytest -k total", "len(items) == 3", "tests/test_app.py:7"),
        ("pytest tests", "LIMIT == 3", "tests/test_app.py:5"),
        ("pytest tests/test_app.py", "total == 3", "app/sums.py:7"),
    ],
)
def test_tests_are_watched_in_the_files_of_the_project(
    user: ToolUser, target: str, until: str, at: str
) -> None:
    report = user.call("debug_run", target=target, until=until)
    assert (report["status"], report["at"]) == ("paused", at)
    assert report["message"] == f"`{until}` is true."


@pytest.mark.parametrize("target", ["pytest", "python -m unittest"])
def test_a_library_is_never_watched(user: ToolUser, folder: Path, target: str) -> None:
    report = user.call("debug_run", target=target, until="nowhere_bound == 1")
    assert report["status"] == "terminated"
    said = f"`nowhere_bound == 1` was watched nowhere: no file below {folder} has nowhere_bound."
    assert said in report["problems"]


def test_a_package_in_src_is_found(user: ToolUser) -> None:
    env = {"PYTHONPATH": "src"}
    report = user.call("debug_run", target="python -m deep", until="far == 2", env=env)
    assert (report["status"], report["at"]) == ("paused", "src/deep/__main__.py:2")


def test_a_frame_that_ends_first_is_no_write(user: ToolUser, python: str) -> None:
    user.call("debug_run", target="caller.py", breakpoints=["caller.py:2"], python=python)
    report = user.resume(until="nope == 1")
    assert (report["status"], report["reason"]) == ("paused", "until")
    assert report["message"] == "work ended before nope == 1 became true"
