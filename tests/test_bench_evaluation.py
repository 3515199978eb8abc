"""The evaluation: its programs have the bugs they are said to have, and its rules are fair."""

from __future__ import annotations

import contextlib
import io
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))  # the benchmarks are not installed

from bench.agent import evaluation, evaluation_tables, evidence  # noqa: E402
from bench.agent.buggy_programs import (  # noqa: E402
    FOLDER,
    FRESH_PROGRAMS,
    PROGRAMS,
    BuggyProgram,
    Case,
    prepare,
)
from bench.agent.evaluation import CHOSEN, DAP_MCP, Evaluation  # noqa: E402
from bench.agent.evaluation_plot import draw_evaluation  # noqa: E402
from bench.agent.investigation import MAX_CALLS, Finding  # noqa: E402
from bench.agent.source_reading import Reading  # noqa: E402

EVERY = (*PROGRAMS, *FRESH_PROGRAMS)
by_name = pytest.mark.parametrize("program", EVERY, ids=lambda program: program.name)


def run(source: str) -> str:
    """All that a program prints, and the exception that ends it."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(source, "<program>", "exec"), {"__name__": "__main__"})
        except Exception as error:  # a traceback is what some of them are about
            print(repr(error))
    return printed.getvalue()


def find_program(name: str) -> BuggyProgram:
    return next(program for program in PROGRAMS if program.name == name)


@pytest.fixture
def settings(tmp_path: Path) -> Case:
    """`number` is 30.0 at its faulty line, which is line 21."""
    return prepare(find_program("retry_settings"), tmp_path)


# -- the programs ----------------------------------------------------------------------------------


def test_every_program_is_in_the_table() -> None:
    files = {path.stem for path in FOLDER.glob("*.py")} - {"__init__"}

    assert files == {program.name for program in EVERY}
    assert len(files) == len(EVERY)
    assert len(PROGRAMS) >= 25


@by_name
def test_a_program_shows_its_symptom_and_its_fix_makes_it_vanish(program: BuggyProgram) -> None:
    buggy, fixed = run(program.path.read_text(encoding="utf-8")), run(program.fix())

    assert program.shows in buggy
    assert program.shows not in fixed
    assert "Error" not in fixed


@by_name
def test_what_the_contenders_run_does_not_give_the_bug_away(
    program: BuggyProgram, tmp_path: Path
) -> None:
    case = prepare(program, tmp_path)
    original = program.path.read_text(encoding="utf-8").splitlines()

    assert "@" not in "".join(line for line in case.lines if "# @" in line)
    assert original[case.faulty_line - 1].startswith(case.lines[case.faulty_line - 1])
    assert case.path.read_text(encoding="utf-8") == case.text


# -- the evidence ----------------------------------------------------------------------------------

DAP_VIEW = """
21            number = DEFAULTS[name]
22 ->     return number
<variable name="number" type="float" evaluateName="number" variablesReference="0">{}</variable>
"""
STEP = r'{{"location": {{"file":"/x/retry_settings.py","line":22}}}}' "\n"
LOCALS = r'{{"variables": [{{"name":"number","value":"{}","type":"float"}}]}}'
STEPS = "step: retry_settings.py:21\nstep: retry_settings.py:22  number = {}"
TABLE = "at | name | number\nretry_settings.py:21 | 'timeout' | <NameError>\nx:22 | 'timeout' | {}"
TRACE = "21 number = DEFAULTS[name]  # number = {}"
ANSWERS = {
    "dap-mcp": DAP_VIEW,
    "mcp-debugger": STEP + LOCALS,
    "steps": STEPS,
    "table": TABLE,
    "trace": TRACE,
}
in_each_format = pytest.mark.parametrize("answer", ANSWERS.values(), ids=list(ANSWERS))


@in_each_format
def test_line_and_value_together_are_evidence(answer: str, settings: Case) -> None:
    assert evidence.is_complete(settings, answer.format("30.0"))


@in_each_format
def test_another_value_is_no_evidence(answer: str, settings: Case) -> None:
    assert not evidence.is_complete(settings, answer.format("1.5"))
    assert not evidence.is_complete(settings, answer.format("30.05"))


@pytest.mark.parametrize("answer", ["number = 30.0", "retry_settings.py:9  number = 30.0", TRACE])
def test_one_of_both_is_no_evidence(answer: str, settings: Case) -> None:
    assert not evidence.is_complete(settings, answer.format("?"))


def test_a_line_of_the_source_is_not_a_value_that_was_seen(tmp_path: Path) -> None:
    case = prepare(find_program("stair_ways"), tmp_path)
    source = "   8          ways = 1\n>  9          return ways\nleft = -1\n"

    assert not evidence.is_complete(case, source)
    assert evidence.is_complete(case, f"{source}ways = 1\n")


def test_a_line_of_the_source_with_escapes_is_not_a_value_either(tmp_path: Path) -> None:
    case = prepare(find_program("batch_limit"), tmp_path)
    source = case.lines[24]

    assert "limit=3" in source
    assert not evidence.is_complete(case, f"batch_limit.py:12\n25 -> {source}\n")


# -- what is read ----------------------------------------------------------------------------------


def test_functions_are_read_from_the_symptom_back(settings: Case) -> None:
    names = [function.name for function in Reading(settings).order_functions()]

    assert names == ["main", "plan_wait", "load", "read_number", "parse_lines"]


@by_name
def test_every_function_is_read_in_the_end(program: BuggyProgram, tmp_path: Path) -> None:
    case = prepare(program, tmp_path)
    names = [function.name for function in Reading(case).order_functions()]

    assert len(names) == len(set(names)) == case.text.count("def ")


def test_a_condition_is_used_where_the_parameters_can_tell(tmp_path: Path) -> None:
    reading = Reading(prepare(find_program("parcel_rates"), tmp_path))
    found = {each.name: reading.find_condition(each) for each in reading.order_functions()}

    assert found == {"main": None, "price": None, "find_rate": "weight == 5"}


# -- the figures -----------------------------------------------------------------------------------


def make_evaluation() -> Evaluation:
    """Ours finds both, the other one of them."""
    return Evaluation(
        {
            CHOSEN: {
                "split_bill": Finding("", True, 1, 800),
                "stair_ways": Finding("", True, 1, 400),
            },
            DAP_MCP: {
                "split_bill": Finding("into", True, 4, 8_000),
                "stair_ways": Finding("into", False, 6, 12_000),
            },
        }
    )


def test_what_is_not_found_costs_all_the_calls_that_are_allowed() -> None:
    made = make_evaluation()

    assert made.cost(DAP_MCP, "split_bill") == (4, 2_000)
    assert made.cost(DAP_MCP, "stair_ways") == (
        MAX_CALLS,
        MAX_CALLS * 1_000 / 2,
    )


def test_ours_is_compared_with_the_best_of_the_others() -> None:
    ratios = {
        (each.name, each.unit): each for each in evaluation_tables.build_ratios(make_evaluation())
    }

    calls = ratios["evidence for the cause", "calls"]
    assert (calls.ours, calls.base, calls.at_most) == (1, 102, 0.25)
    found, *_ = evaluation_tables.build_rows(make_evaluation())
    assert {name: figure.median for name, figure in found.figures.items()} == {
        CHOSEN: 2,
        DAP_MCP: 1,
    }
    assert "–" in evaluation_tables.format_evaluation(make_evaluation())


def test_the_evaluation_is_drawn(tmp_path: Path) -> None:
    (path,) = draw_evaluation(make_evaluation(), tmp_path)

    words = " ".join(ElementTree.parse(path).getroot().itertext())
    assert CHOSEN in words
    assert DAP_MCP in words
    assert draw_evaluation(None, tmp_path) == []


def test_what_still_runs_in_the_folder_of_a_program_is_ended() -> None:
    with evaluation._open_case(find_program("split_bill")) as case:
        wait = "import sys; print(flush=True); sys.stdin.read()"
        command = [sys.executable, "-c", wait, str(case.path)]
        pipe = subprocess.PIPE
        with subprocess.Popen(command, stdin=pipe, stdout=pipe) as left:
            assert left.stdout is not None
            left.stdout.readline()
            evaluation._end_processes(str(case.path.parent))
            assert left.wait(timeout=60) != 0


@pytest.mark.slow
def test_stepping_and_tables_find_the_cause() -> None:
    programs = evaluation.select("user_settings")
    found = evaluation.measure(has_peers=False, programs=programs).findings

    for policy in ("stepping", "debug_run"):
        for finding in found[f"Holdfast: {policy}"].values():
            assert finding.found
            assert finding.calls <= 8
            assert finding.tokens > 0
