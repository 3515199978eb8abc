"""The time limits: what sets them, what is refused, and that they reach a program."""

from __future__ import annotations

import ast
import inspect
import subprocess
import sys
from collections.abc import Callable
from dataclasses import fields
from pathlib import Path

import pytest

from child_processes import CHILD_STARTER, PATIENCE, wait_for_children
from harness import Program, Server
from holdfast import timings
from holdfast.probe import join_ticket
from holdfast.probe import timings as probe_timings
from holdfast.probe.timings import FIELDS, ProbeTimings
from holdfast.targets.program.join_tickets import JoinTicket
from holdfast.timings import VARIABLE, Timings

LOOP = Program("loop.py")
LIMIT = "__import__('sys').modules['_holdfast.timings'].TIMINGS.value_call"


def read(text: str) -> Timings:
    return timings.read_environment({VARIABLE: text})


def test_without_the_variable_the_limits_are_the_usual_ones() -> None:
    assert timings.read_environment({}) == read("") == read("{}") == Timings()


def test_the_variable_sets_limits_of_the_server_and_of_the_program_by_name() -> None:
    chosen = read('{"debugger_answer": 7, "value_call": 0.25}')
    assert chosen.debugger_answer == 7
    assert chosen.probe == ProbeTimings().replace({"value_call": 0.25})
    assert chosen == Timings().replace({"debugger_answer": 7, "value_call": 0.25})


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('{"debuger_answer": 1}', "there is no time limit 'debuger_answer'"),
        ('{"probe": 1}', "there is no time limit 'probe'"),
        ('{"value_call": "1"}', "value_call is a number of seconds above 0, not '1'"),
        ('{"value_call": true}', "value_call is a number of seconds above 0, not True"),
        ('{"step_wait": 0}', "step_wait is a number of seconds above 0, not 0"),
        ('{"value_call": -1}', "value_call is a number of seconds above 0, not -1"),
        ('{"value_call": NaN}', "value_call is a number of seconds above 0, not nan"),
        ("[1]", "it is not a JSON object of names and seconds"),
        ("{", "Expecting property name"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence_and_left_out(
    text: str, problem: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert read(text) == Timings()
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith(f"HOLDFAST_TIMINGS is left out: {problem}")


def test_a_process_with_a_wrong_limit_goes_on() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", "import holdfast; holdfast.debug_call; print('goes on')"],
        env={VARIABLE: '{"patience": 1}'},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (ran.returncode, ran.stdout) == (0, "goes on\n")
    assert ran.stderr == "HOLDFAST_TIMINGS is left out: there is no time limit 'patience'\n"


@pytest.mark.parametrize("kind", [Timings, ProbeTimings])
def test_every_limit_is_described_in_one_sentence(kind: type) -> None:
    [definition] = ast.parse(inspect.getsource(kind)).body
    assert isinstance(definition, ast.ClassDef)
    after = dict(zip(definition.body, definition.body[1:], strict=False))
    for field, next_one in after.items():
        if isinstance(field, ast.AnnAssign):
            assert isinstance(next_one, ast.Expr), ast.unparse(field)
            sentence = ast.literal_eval(next_one.value)
            assert sentence.endswith("."), sentence
            assert ". " not in sentence, sentence


def test_no_limit_has_the_name_of_another() -> None:
    own = [field.name for field in fields(Timings)]
    assert not set(own) & set(FIELDS)


@pytest.mark.parametrize("way", ["popen", "fork_exits"])
def test_the_limits_of_the_server_reach_its_programs_and_their_children(
    server_with: Callable[..., Server], way: str
) -> None:
    with server_with(value_call=7.5).session() as session:
        session.break_at(CHILD_STARTER, "work")
        options = {"debug_subprocesses": True, "stop_on_entry": True}
        session.launch(CHILD_STARTER, args=[way], **options)
        assert session.evaluate(LIMIT) == "7.5"
        session.resume(wait=0)
        [child] = wait_for_children(session)
        child.get(f"/status?wait={PATIENCE}")
        assert child.evaluate(LIMIT) == "7.5"


@pytest.mark.parametrize("route", ["direct", "adapter"])
def test_the_limits_of_the_server_reach_a_program_by_every_route(
    server_with: Callable[..., Server], route: str
) -> None:
    with server_with(value_call=7.5).session() as session:
        session.break_at(LOOP, "define")
        session.launch(LOOP, route=route)
        assert session.evaluate(LIMIT) == "7.5"


def test_a_server_of_another_version_may_send_other_limits_or_none(tmp_path: Path) -> None:
    before = probe_timings.TIMINGS
    path = tmp_path / "of_an_older_server"
    path.touch(mode=0o600)
    path.write_text('{"address": "socket", "secret": "s"}')
    join_ticket.read_ticket(str(path))
    probe_timings.use({"limit_of_a_newer_server": 1})
    assert before == probe_timings.TIMINGS


def test_a_process_that_is_attached_to_tries_as_long_as_the_server_says(tmp_path: Path) -> None:
    ticket = JoinTicket.create(tmp_path, str(tmp_path / "socket"))
    before = probe_timings.TIMINGS
    try:
        probe_timings.use(ProbeTimings().list())
        join_ticket.read_ticket(str(ticket.path))
        assert timings.TIMINGS.probe == probe_timings.TIMINGS
    finally:
        probe_timings.use(before.list())
