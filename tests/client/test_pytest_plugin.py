"""`pytest --holdfast`, as a user runs it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from harness import Program
from pytest_runs import PROJECT, PytestRun, run_pytest

TESTS = Program("test_failing.py", PROJECT)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> PytestRun:
    return run_pytest(tmp_path_factory.mktemp("captures") / "home", "--holdfast", "-q")


@pytest.fixture(scope="module")
def captures(run: PytestRun) -> dict[str, Any]:
    return run.captures()


def show_operands(capture: Any) -> dict[str, str]:
    return {operand["name"]: operand["value"] for operand in capture["assertion"]["operands"]}


def show_locals(frame: Any) -> dict[str, str]:
    return {one["name"]: one["value"] for one in frame["locals"]}


def test_every_failing_test_leaves_a_capture_and_no_other_does(
    run: PytestRun, captures: dict[str, Any]
) -> None:
    failing = {"total", "either", "member", "generator", "setup", "teardown", "cause", "library"}
    failing |= {"hostile", "bad_text", "recursion", "secret", "equal"}
    assert set(captures) == {f"test_{name}" for name in failing}
    assert run.status == 1


def test_a_capture_has_the_frames_with_their_source_and_locals(captures: dict[str, Any]) -> None:
    inner, outer = captures["test_total"]["exception"]["frames"]
    assert (inner["function"], inner["line"]) == ("check_total", TESTS.line("check"))
    assert inner["file"] == TESTS.path
    assert dict(inner["source"])[inner["line"]].strip().startswith("assert cart.total(factor)")
    assert show_locals(inner) == {
        "cart": "<Cart items={'apple': 3, 'pear': 2}>",
        "expected": "11",
        "factor": "2",
    }
    assert outer["function"] == "test_total"


def test_the_parts_of_a_value_are_captured_too(captures: dict[str, Any]) -> None:
    cart = captures["test_total"]["exception"]["frames"][0]["locals"][0]
    items = cart["children"][0]
    assert items["name"] == "items"
    assert [(part["name"], part["value"]) for part in items["children"]] == [
        ("'apple'", "3"),
        ("'pear'", "2"),
    ]


def test_a_capture_says_what_the_test_wrote_and_how_to_run_it(captures: dict[str, Any]) -> None:
    capture = captures["test_total"]
    assert capture["output"] == [["Captured stdout call", "adding up\n"]]
    assert capture["node"] == "test_failing.py::test_total"
    assert (capture["root"], capture["python"]) == (str(PROJECT), sys.executable)
    assert (capture["when"], capture["attempt"], capture["worker"]) == ("call", 1, None)


def test_an_assertion_has_the_values_of_its_two_sides(captures: dict[str, Any]) -> None:
    assertion = captures["test_total"]["assertion"]
    assert assertion["source"] == "assert cart.total(factor) == expected"
    assert assertion["is_comparison"]
    sides = [(one["name"], one["value"]) for one in assertion["operands"][:2]]
    assert sides == [("cart.total(factor)", "10"), ("expected", "11")]


def test_only_what_was_evaluated_counts_as_an_operand(captures: dict[str, Any]) -> None:
    operands = show_operands(captures["test_either"])
    assert operands["nothing"] == "None"
    assert operands["cart.items['apple']"] == "3"
    assert not any("len" in name for name in operands)


def test_a_membership_shows_what_is_not_in_what(captures: dict[str, Any]) -> None:
    operands = show_operands(captures["test_member"])
    assert operands["cart.items"] == "{'apple': 3, 'pear': 2}"
    assert "no plums" in captures["test_member"]["exception"]["message"]


def test_an_operand_that_is_gone_is_left_to_the_explanation(captures: dict[str, Any]) -> None:
    assert not captures["test_generator"]["assertion"]["operands"]
    assert "where False = all(" in captures["test_generator"]["exception"]["message"]


def test_an_assertion_of_unittest_has_its_arguments(captures: dict[str, Any]) -> None:
    capture = captures["test_equal"]
    assert show_operands(capture) == {"len(basket)": "2", "3": "3"}
    assert capture["exception"]["frames"][0]["function"].endswith("test_equal")


def test_failures_of_fixtures_say_when(captures: dict[str, Any]) -> None:
    assert captures["test_setup"]["when"] == "setup"
    assert captures["test_setup"]["exception"]["frames"][0]["function"] == "broken"
    assert captures["test_teardown"]["when"] == "teardown"


def test_an_exception_comes_with_what_led_to_it(captures: dict[str, Any]) -> None:
    capture = captures["test_cause"]
    assert capture["exception"]["type"] == "KeyError"
    (cause,) = capture["causes"]
    assert (cause["type"], cause["relation"]) == ("JSONDecodeError", "cause")
    assert cause["frames"][0]["function"] == "test_cause"


def test_the_nearest_frame_of_the_users_own_comes_first(captures: dict[str, Any]) -> None:
    error = captures["test_library"]["exception"]
    assert error["frames"][0]["line"] == TESTS.line("library")
    assert error["inner"][0]["function"].endswith("raw_decode")


def test_hostile_values_are_shown_as_far_as_possible(captures: dict[str, Any]) -> None:
    error = captures["test_hostile"]["exception"]
    shown = show_locals(error["frames"][0])
    assert shown["blocking"] == "<Blocking object: repr took too long>"
    assert "repr raised RuntimeError: no repr" in shown["raising"]
    assert len(shown["big"]) < 2000
    assert error["message"] == "<str raised RuntimeError: no text>"


def test_a_deep_recursion_leaves_a_bounded_capture(
    run: PytestRun, captures: dict[str, Any]
) -> None:
    error = captures["test_recursion"]["exception"]
    assert error["type"] == "RecursionError"
    assert len(error["frames"]) == 20
    assert error["frames_total"] > 100
    assert all(file.stat().st_size < 1 << 19 for file in run.files)


def test_files_are_private_to_the_user(run: PytestRun) -> None:
    assert {file.stat().st_mode & 0o777 for file in run.files} == {0o600}
    assert (run.home / "captures").stat().st_mode & 0o777 == 0o700


def test_the_summary_names_the_captures_and_the_command(
    run: PytestRun, captures: dict[str, Any]
) -> None:
    one = captures["test_total"]
    assert f"{one['id']}  test_failing.py::test_total  AssertionError: assert 10 == 11" in run.text
    assert f"holdfast captures {one['id']}" in run.text


# -- other runs -----------------------------------------------------------------------------------


def test_workers_of_xdist_write_captures_of_one_run(tmp_path: Path) -> None:
    run = run_pytest(tmp_path, "--holdfast", "-q", "-n", "2", "-k", "total or member or passing")
    captures = run.captures()
    assert set(captures) == {"test_total", "test_member"}
    assert {capture["worker"] for capture in captures.values()} <= {"gw0", "gw1"}
    assert len({capture["run"] for capture in captures.values()}) == 1
    assert all(capture["id"] in run.text for capture in captures.values())


def test_the_plugin_can_be_turned_off(tmp_path: Path) -> None:
    run = run_pytest(tmp_path, "-p", "no:holdfast", "-q", "-k", "total", "--holdfast")
    assert "unrecognized arguments: --holdfast" in run.text


def test_without_its_options_it_does_nothing(tmp_path: Path) -> None:
    (tmp_path / "test_modules.py").write_text(
        "import sys\n"
        "def test_nothing_is_loaded(pytestconfig):\n"
        "    loaded = {m for m in sys.modules if m.partition('.')[0] == 'holdfast'}\n"
        "    assert loaded == {'holdfast', 'holdfast.client', 'holdfast.client.pytest_plugin',\n"
        "                      'holdfast.model', 'holdfast.model.version'}\n"
        "    assert not pytestconfig.pluginmanager.has_plugin('holdfast-captures')\n"
    )
    run = run_pytest(tmp_path / "home", "-q", folder=tmp_path)
    assert run.status == 0, run.text


def test_a_run_that_passes_loads_nothing_to_describe_failures(tmp_path: Path) -> None:
    (tmp_path / "test_modules.py").write_text(
        "import sys\n"
        "def test_nothing_is_loaded():\n"
        "    loaded = {m for m in sys.modules if m.startswith('holdfast.probe')}\n"
        "    assert not loaded\n"
    )
    run = run_pytest(tmp_path / "home", "-q", "--holdfast", "--holdfast-trace=off", folder=tmp_path)
    assert run.status == 0, run.text
    assert not run.files


def test_a_module_that_cannot_be_imported_leaves_a_capture(tmp_path: Path) -> None:
    (tmp_path / "test_broken.py").write_text("import no_such_module\n")
    run = run_pytest(tmp_path / "home", "-q", "--holdfast", "--holdfast-trace=off", folder=tmp_path)
    (capture,) = run.captures().values()
    assert (capture["node"], capture["when"]) == ("test_broken.py", "collect")
    error = capture["exception"]
    assert error["type"] == "ModuleNotFoundError"
    assert "no_such_module" in error["message"]
    assert [(Path(one["file"]).name, one["line"]) for one in error["frames"]] == [
        ("test_broken.py", 1)
    ]


def test_each_failing_subtest_leaves_a_capture(tmp_path: Path) -> None:
    (tmp_path / "test_parts.py").write_text(
        "def test_parts(subtests):\n"
        "    for number in range(3):\n"
        "        with subtests.test('part', number=number):\n"
        "            assert number == 1\n"
    )
    run = run_pytest(tmp_path / "home", "-q", "--holdfast", folder=tmp_path)
    if "fixture 'subtests' not found" in run.text:
        pytest.skip("this pytest has no subtests")
    assert len(run.files) >= 2
    assert "number=0" in run.text or any("number=0" in f.read_text("utf-8") for f in run.files)


@pytest.mark.parametrize("options", [[], ["-n", "1"]], ids=["alone", "xdist"])
def test_tests_fail_as_they_would_where_nothing_can_be_written(
    tmp_path: Path, options: list[str]
) -> None:
    home = tmp_path / "home"
    home.write_text("a file where the directory should be")
    run = run_pytest(home, "-q", "--holdfast", "-k", "total", *options)
    assert run.status == 1
    assert "1 failed" in run.text
    assert "a capture could not be written" in run.text


def test_pdb_works_beside_it(tmp_path: Path) -> None:
    run = run_pytest(
        tmp_path, "-q", "--holdfast", "--pdb", "-k", "total", given="p factor * 21\nq\n"
    )
    assert "42" in run.text
    assert set(run.captures()) == {"test_total"}
