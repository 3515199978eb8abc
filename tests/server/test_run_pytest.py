"""Tests that fail are stops, with their frames alive and before anything is torn down."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import Server
from tool_user import ToolUser

FILES = {
    "test_cart.py": """
        import pytest

        def total(items):
            return sum(items)

        @pytest.fixture
        def items():
            made = [1, 2, 3]
            yield made
            made.clear()

        def test_fine(items):
            assert total(items) == 6

        def test_wrong(items):
            print("in the test")
            expected = 7
            assert total(items) == expected  # wrong

        @pytest.mark.parametrize("number", [1, 2])
        def test_numbers(number):
            assert number == 0
        """,
    "test_outcomes.py": """
        import json, sys
        import pytest

        @pytest.mark.xfail
        def test_expected():
            assert False

        def test_skipped():
            pytest.skip("not now")

        def test_caught():
            with pytest.raises(ValueError):
                int("x")

        def test_captured(capsys):
            print("x")
            assert capsys.readouterr().out == "x\\n"

        @pytest.fixture
        def broken():
            size = 3
            raise RuntimeError("in the fixture")

        @pytest.fixture
        def late():
            yield
            mark = "late"
            raise RuntimeError("in the teardown")

        def test_setup(broken):
            pass

        def test_teardown(late):
            pass

        def test_library():
            text = "{"
            json.loads(text)

        def test_input():
            sys.stdin.readline()
        """,
    "test_unittest.py": """
        import unittest

        class CartTest(unittest.TestCase):
            def setUp(self):
                self.is_open = True

            def tearDown(self):
                self.is_open = False

            @unittest.expectedFailure
            def test_expected(self):
                self.assertEqual(1, 2)

            def test_skipped(self):
                self.skipTest("not now")

            def test_total(self):
                value = 3
                self.assertEqual(value, 4)
        """,
    "test_import.py": "import no_such_module_at_all\n",
}


class QuickUser(ToolUser):
    """Runs pytest without the plugins that happen to be installed: they take seconds to load."""

    def call(self, tool: str, *, expect: int = 200, **request: Any) -> Any:
        if tool == "debug_run":
            request["env"] = {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
        return super().call(tool, expect=expect, **request)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("project")
    for name, text in FILES.items():
        (made / name).write_text(textwrap.dedent(text))
    (made / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n")
    return made


@pytest.fixture
def user(server: Server, folder: Path) -> Iterator[ToolUser]:
    made = QuickUser(server, cwd=str(folder))
    yield made
    made.stop_all()


def find_line(folder: Path, file: str, text: str) -> str:
    lines = (folder / file).read_text().splitlines()
    return f"{file}:{next(number for number, line in enumerate(lines, 1) if text in line)}"


def follow(user: ToolUser, report: Any) -> list[tuple[str, str]]:
    """Where each failure stops, and its type, to the end."""
    stops = []
    while report["status"] == "paused":
        stops.append((report["function"], report["exception"]["type"]))
        report = user.resume()
    assert report["status"] == "terminated", report
    return stops


def test_a_failing_test_stops_with_its_operands_and_its_fixtures(
    user: ToolUser, folder: Path
) -> None:
    report = user.call("debug_run", target="test_cart.py::test_wrong")
    assert (report["status"], report["reason"]) == ("paused", "exception")
    assert report["at"] == find_line(folder, "test_cart.py", "# wrong")
    assert report["function"] == "test_wrong"
    assert report["exception"]["type"] == "AssertionError"
    assert report["exception"]["message"].startswith("assert 6 == 7")
    assert report["locals"] == {"items": "[1, 2, 3]", "expected": "7"}
    assert "in the test" in report["output"]
    assert "plugins:" not in report["output"]
    assert "collected 1 item" in report["output"]
    assert "stack" not in report  # what called the test is pytest
    assert report["next"].startswith("debug_evaluate")
    assert user.evaluate("print(len(items))")["output"] == "3"
    report = user.resume()
    assert (report["status"], report["exit_code"]) == ("terminated", 1)
    assert "1 failed" in report["output"]
    assert "exception" not in report


def test_each_failure_is_a_stop_if_it_is_continued(user: ToolUser) -> None:
    report = user.call("debug_run", target="pytest -q test_cart.py")
    assert follow(user, report) == [
        ("test_wrong", "AssertionError"),
        ("test_numbers", "AssertionError"),
        ("test_numbers", "AssertionError"),
    ]


def test_tests_that_pass_just_end(user: ToolUser) -> None:
    report = user.call("debug_run", target="pytest test_cart.py -k fine")
    assert (report["status"], report["exit_code"]) == ("terminated", 0)
    assert "1 passed" in report["output"]


def test_only_what_fails_stops(user: ToolUser) -> None:
    report = user.call("debug_run", target="pytest -q test_outcomes.py")
    assert report["locals"] == {"size": "3"}
    assert follow(user, report) == [
        ("broken", "RuntimeError"),
        ("late", "RuntimeError"),
        ("test_library", "JSONDecodeError"),
        ("test_input", "OSError"),
    ]


def test_options_that_a_debugger_cannot_have_are_off_and_that_is_said(user: ToolUser) -> None:
    report = user.call("debug_run", target="pytest test_cart.py -k wrong -p xdist -n 2 --pdb")
    assert report["function"] == "test_wrong"
    assert [problem.split(" is off")[0] for problem in report["problems"]] == ["xdist", "--pdb"]


def test_a_breakpoint_in_a_test_stops_too(user: ToolUser) -> None:
    request: dict[str, Any] = {"target": "pytest test_cart.py", "args": ["-k", "fine or wrong"]}
    report = user.call("debug_run", **request, breakpoints=["test_cart.py:total"])
    assert (report["reason"], report["locals"]) == ("breakpoint", {"items": "[1, 2, 3]"})
    report = user.call("debug_run", **request, exceptions="none", breakpoints=["test_cart.total"])
    assert report["reason"] == "breakpoint"


def test_a_module_that_cannot_be_imported_is_a_stop(user: ToolUser) -> None:
    report = user.call("debug_run", target="pytest test_import.py")
    assert (report["at"], report["exception"]["type"]) == (
        "test_import.py:1",
        "ModuleNotFoundError",
    )


def test_without_stops_the_tests_run_to_their_end(user: ToolUser) -> None:
    report = user.call("debug_run", target="pytest -q test_cart.py", exceptions="none")
    assert (report["status"], report["exit_code"]) == ("terminated", 1)
    assert "3 failed" in report["output"]


def test_unittest_stops_before_its_teardown(user: ToolUser, python: str) -> None:
    report = user.call("debug_run", target="python -m unittest -q test_unittest", python=python)
    assert report["function"].endswith("test_total")  # Python 3.11 and newer know its class
    assert report["exception"]["message"] == "3 != 4"
    assert report["locals"]["value"] == "3"
    assert user.evaluate("self.is_open")["values"] == {"self.is_open": "True"}
    report = user.resume()
    assert (report["status"], report["exit_code"]) == ("terminated", 1)
    assert "failing_tests" not in report["output"]


def test_a_unittest_under_pytest_stops_once(user: ToolUser) -> None:
    report = user.call("debug_run", target="pytest -q test_unittest.py")
    assert user.evaluate("self.is_open")["values"] == {"self.is_open": "True"}
    assert [kind for _function, kind in follow(user, report)] == ["AssertionError"]
