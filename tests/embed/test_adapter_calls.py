"""Driving a whole session in process: launch, stops, steps, values, input, output and ends."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from pathlib import Path

import pytest

from embed_adapters import SECONDS, line_of, stop_at_entry
from harness import Program
from holdfast import errors
from holdfast.embed import AdapterThread, LineBreakpointSpec

LOOP, IDLE, PROMPT = Program("loop.py"), Program("idle.py"), Program("input_prompt.py")
GATE = Program("gate.py")


def stop_in_loop(adapter: AdapterThread, marker: str = "add", **options: str) -> None:
    point = LineBreakpointSpec(LOOP.line(marker), **options)
    adapter.breakpoints.set_source(LOOP.path, [point]).result(SECONDS)
    adapter.launch(LOOP.path).result(SECONDS)


def test_a_script_drives_a_whole_session(adapter: AdapterThread) -> None:
    stop_in_loop(adapter, condition="number == 3")
    stop = adapter.wait_for_stop().result(SECONDS)
    assert (stop["status"], stop["reason"]) == ("paused", "breakpoint")
    assert stop["location"] == {"file": LOOP.path, "line": LOOP.line("add"), "function": "add"}
    shown = {variable["name"]: variable["value"] for variable in stop["locals"]}
    assert shown == {"total": "3", "number": "3"}
    assert adapter.wait_for_stop().result(SECONDS)["location"] == stop["location"]  # the same one
    assert adapter.evaluate("total + number").result(SECONDS)["result"] == "6"

    step = adapter.step().result(SECONDS)
    assert (step["reason"], line_of(step)) == ("step", LOOP.line("return"))
    assert adapter.evaluate("result").result(SECONDS)["result"] == "6"
    adapter.set_variable("result", "100").result(SECONDS)
    names = [frame["name"] for frame in adapter.stack().result(SECONDS)["frames"]]
    assert names == ["add", "main", "<module>"]
    out = adapter.step("out").result(SECONDS)
    assert out["location"] is not None
    assert out["location"]["function"] == "main"

    adapter.breakpoints.set_source(LOOP.path, []).result(SECONDS)
    assert adapter.continue_().result(SECONDS)["status"] == "running"
    end = adapter.wait_for_end().result(SECONDS)
    assert (end["status"], end["exit_code"]) == ("terminated", 0)
    assert adapter.output().result(SECONDS)["text"] == "total 139\ndone\n"
    assert adapter.wait_for_stop().result(SECONDS)["status"] == "terminated"


def test_calls_of_one_thread_happen_in_order_without_waiting_for_each(
    adapter: AdapterThread,
) -> None:
    adapter.breakpoints.set_source(LOOP.path, [LineBreakpointSpec(LOOP.line("add"))])
    for _ in range(2):  # the second time, the end of the first run must not be taken for the stop
        adapter.launch(LOOP.path)
        assert adapter.wait_for_stop().result(SECONDS)["reason"] == "breakpoint"
        adapter.continue_()
        again = adapter.wait_for_stop()
        assert again.result(SECONDS)["reason"] == "breakpoint"
        adapter.step()
        adapter.wait_for_stop().result(SECONDS)
        adapter.terminate()
        assert adapter.wait_for_end().result(SECONDS)["status"] == "terminated"


def test_waits_can_be_part_of_the_call(adapter: AdapterThread) -> None:
    entry = adapter.launch(LOOP.path, stop_on_entry=True, wait=True).result(SECONDS)
    assert entry["reason"] == "entry"
    assert adapter.continue_(wait=60).result(SECONDS)["status"] == "terminated"
    entry = adapter.restart_program(wait=True).result(SECONDS)
    assert entry["reason"] == "entry"
    running = adapter.launch(IDLE.path, wait=0.05)
    assert isinstance(running.exception(SECONDS), errors.WrongState)  # it has not ended
    adapter.terminate().result(SECONDS)
    assert adapter.launch(IDLE.path, wait=0.05).result(SECONDS)["status"] == "running"


def test_a_module_and_a_piece_of_code_can_be_launched(
    adapter: AdapterThread, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    adapter.launch(code="import sys; print(sys.argv[1:])", args=["a", "b"]).result(SECONDS)
    adapter.wait_for_end().result(SECONDS)
    assert adapter.output().result(SECONDS)["text"] == "['a', 'b']\n"
    adapter.launch(module="json.tool", args=["--help"], wait=True).result(SECONDS)
    (tmp_path / "here.py").write_text("import os\nprint(os.environ['WORD'], os.getcwd())\n")
    monkeypatch.chdir(tmp_path)
    options = {"env": {"WORD": "hi"}, "python": sys.executable}
    adapter.launch(Path("here.py"), cwd=".", wait=True, **options).result(SECONDS)  # type: ignore[arg-type]
    assert f"hi {tmp_path}\n" in adapter.output().result(SECONDS)["text"]
    adapter.launch(wait=True).result(SECONDS)  # the same again
    assert adapter.output().result(SECONDS)["text"].count("hi /") == 2


def test_what_cannot_be_launched_is_raised_by_the_future(
    adapter: AdapterThread, tmp_path: Path
) -> None:
    broken = tmp_path / "broken.py"
    broken.write_text("def f(:\n")
    with pytest.raises(errors.ProgramSyntaxError):
        adapter.launch(broken).result(SECONDS)
    with pytest.raises(errors.FileMissing):
        adapter.launch(tmp_path / "missing.py").result(SECONDS)
    with pytest.raises(errors.InvalidInput, match="exactly one"):
        adapter.launch().result(SECONDS)
    with pytest.raises(errors.InvalidInput, match="no such field"):
        adapter.launch(LOOP.path, surprise=True).result(SECONDS)
    with pytest.raises(TypeError):
        adapter.launch(5).result(SECONDS)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        adapter.launch(LOOP.path, args="one two").result(SECONDS)
    with pytest.raises(errors.InvalidInput):
        adapter.attach().result(SECONDS)
    assert adapter.status().result(SECONDS)["status"] == "created"


def test_a_wait_ends_when_the_start_is_refused(adapter: AdapterThread, tmp_path: Path) -> None:
    launching = adapter.launch(tmp_path / "missing.py")
    waiting = adapter.wait_for_stop()
    assert isinstance(launching.exception(SECONDS), errors.FileMissing)
    with pytest.raises(errors.WrongState, match=r"could not be started: .*missing\.py"):
        waiting.result(SECONDS)
    for wrong in (adapter.launch(surprise=1), adapter.launch(5)):  # type: ignore[arg-type]
        assert isinstance(wrong.exception(SECONDS), (errors.InvalidInput, TypeError))
        with pytest.raises(errors.WrongState, match="could not be started"):
            adapter.wait_for_end().result(SECONDS)
    adapter.launch(LOOP.path)
    assert adapter.wait_for_end().result(SECONDS)["exit_code"] == 0


def test_a_stop_may_be_waited_for_before_somebody_launches(adapter: AdapterThread) -> None:
    waiting = adapter.wait_for_stop()
    ending = adapter.wait_for_end()
    adapter.launch(LOOP.path, stop_on_entry=True)
    assert waiting.result(SECONDS)["reason"] == "entry"
    assert not ending.done()
    adapter.continue_()
    assert ending.result(SECONDS)["exit_code"] == 0


def test_a_wait_ends_when_its_time_is_up(adapter: AdapterThread) -> None:
    with pytest.raises(TimeoutError, match="no program was started"):
        adapter.wait_for_stop(timeout=0.01).result(SECONDS)
    adapter.launch(IDLE.path).result(SECONDS)
    with pytest.raises(TimeoutError, match=r"no stop within 0\.01 s; the session is running"):
        adapter.wait_for_stop(timeout=0.01).result(SECONDS)
    with pytest.raises(TimeoutError, match="no end"):
        adapter.wait_for_end(timeout=0.01).result(SECONDS)
    with pytest.raises(ValueError, match="timeout"):
        adapter.wait_for_stop(timeout=-1).result(SECONDS)
    assert adapter.status().result(SECONDS)["status"] == "running"


def test_outstanding_futures_end_when_the_program_ends(
    adapter: AdapterThread, tmp_path: Path
) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    adapter.launch(GATE.path, args=[str(gate)]).result(SECONDS)
    stops = [adapter.wait_for_stop() for _ in range(5)]
    stepping = adapter.step()
    end = adapter.wait_for_end()
    adapter.status().result(SECONDS)  # the calls before it have begun
    assert not any(future.done() for future in (*stops, end))
    gate.write_text("")  # the program reads it to its end, and ends
    for future in (*stops, end):
        assert future.result(SECONDS)["status"] == "terminated"
    assert isinstance(stepping.exception(SECONDS), errors.WrongState)  # it was running


def test_a_step_ends_when_the_program_ends_or_dies(adapter: AdapterThread) -> None:
    stop_at_entry(adapter, IDLE.path)
    adapter.breakpoints.set_source(IDLE.path, [LineBreakpointSpec(IDLE.line("nap"))])
    adapter.continue_(wait=True).result(SECONDS)
    dying = adapter.evaluate("__import__('os')._exit(3)", timeout=60)
    assert isinstance(dying.exception(SECONDS), errors.HoldfastError)
    end = adapter.wait_for_stop().result(SECONDS)
    assert (end["status"], end["exit_code"]) == ("terminated", 3)


def test_an_exception_that_ends_the_program_is_told(adapter: AdapterThread) -> None:
    adapter.launch(code="def f():\n    raise ValueError('too bad')\nf()").result(SECONDS)
    end = adapter.wait_for_end().result(SECONDS)
    assert end["exit_code"] == 1
    assert (end["exception"]["type"], end["exception"]["message"]) == ("ValueError", "too bad")


def test_a_running_program_is_paused(adapter: AdapterThread) -> None:
    adapter.launch(IDLE.path).result(SECONDS)
    stop = adapter.pause().result(SECONDS)
    assert (stop["status"], stop["reason"]) == ("paused", "pause")
    (thread,) = adapter.threads().result(SECONDS)["threads"]
    assert thread["status"] == "paused"
    assert adapter.stack(thread["thread_id"]).result(SECONDS)["total"] >= 1


def test_a_program_that_waits_for_input_gets_it(adapter: AdapterThread) -> None:
    adapter.launch(PROMPT.path).result(SECONDS)
    waiting = adapter.wait_for_stop().result(SECONDS)
    assert (waiting["status"], waiting["prompt"]) == ("waiting_for_input", "name? ")
    adapter.send_input("Ada\n").result(SECONDS)
    assert adapter.wait_for_stop().result(SECONDS)["status"] == "terminated"
    output = adapter.output(kinds=["stdout"]).result(SECONDS)
    assert output["text"].endswith("hello Ada\n")
    assert adapter.output(output["cursor"]).result(SECONDS)["outputs"] == []


def test_values_are_unfolded_and_changed(adapter: AdapterThread) -> None:
    adapter.launch(code="data = {'a': [1, 2]}\nprint(data)\n", stop_on_entry=True)
    adapter.wait_for_stop().result(SECONDS)
    adapter.step().result(SECONDS)
    data = adapter.evaluate("data").result(SECONDS)
    (entry,) = adapter.variables(data["variable_reference"]).result(SECONDS)["variables"]
    assert entry["value"] == "[1, 2]"
    changed = adapter.set_variable("0", "5", reference=entry["variable_reference"])
    assert changed.result(SECONDS)["value"] == "5"
    local = {item["name"] for item in adapter.locals().result(SECONDS)["variables"]}
    assert "data" in local
    adapter.set_variable("data", "{}").result(SECONDS)
    adapter.continue_(wait=True).result(SECONDS)
    assert adapter.output().result(SECONDS)["text"] == "{}\n"


def test_nonsense_is_raised_by_the_future_and_harms_nothing(adapter: AdapterThread) -> None:
    stop_at_entry(adapter, LOOP.path)
    with pytest.raises(ValueError, match="over, into, out"):
        adapter.step("sideways").result(SECONDS)
    with pytest.raises(errors.EvaluationFailed):
        adapter.evaluate("1 +").result(SECONDS)
    with pytest.raises(errors.InvalidInput):
        adapter.evaluate(5).result(SECONDS)  # type: ignore[arg-type]
    with pytest.raises(errors.FrameNotFound):
        adapter.evaluate("1", frame_id=77).result(SECONDS)
    with pytest.raises(errors.ReferenceNotFound):
        adapter.variables(123456).result(SECONDS)
    with pytest.raises(TypeError):
        adapter.set_variable("x", 5).result(SECONDS)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        adapter.send_input(b"x").result(SECONDS)  # type: ignore[arg-type]
    with pytest.raises(errors.InvalidInput):
        adapter.status(include=["everything"]).result(SECONDS)
    with pytest.raises(errors.WrongState):
        adapter.pause().result(SECONDS)
    with pytest.raises(TypeError):
        adapter.output(kinds=5).result(SECONDS)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="seconds"):
        adapter.continue_(wait="soon").result(SECONDS)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="0 or more"):
        adapter.run_until("True", wait=-1).result(SECONDS)
    assert adapter.step("over").result(SECONDS)["reason"] == "step"


def test_the_twins_are_awaited_in_any_loop(adapter: AdapterThread) -> None:
    async def debug() -> str:
        await adapter.async_launch(LOOP.path, stop_on_entry=True)
        stop = await adapter.async_wait_for_stop()
        assert stop["reason"] == "entry"
        both = await asyncio.gather(adapter.async_evaluate("1 + 1"), adapter.async_stack())
        assert both[0]["result"] == "2"
        await adapter.async_step("into")
        return (await adapter.async_continue(wait=True))["status"]

    assert asyncio.run(debug()) == "terminated"


LISTENER = """
import debugpy, runpy, sys
_host, port = debugpy.listen(("127.0.0.1", 0))
print(port, flush=True)
debugpy.wait_for_client()
runpy.run_path(sys.argv[1], run_name="__main__")
"""


@pytest.mark.slow
def test_a_program_that_runs_already_is_attached_to_and_let_go(adapter: AdapterThread) -> None:
    command = [sys.executable, "-X", "frozen_modules=off", "-c", LISTENER, LOOP.path]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as program:
        assert program.stdout is not None
        port = int(program.stdout.readline())
        point = LineBreakpointSpec(LOOP.line("add"))
        adapter.breakpoints.set_source(LOOP.path, [point]).result(SECONDS)
        stop = adapter.attach(port=port, wait=True).result(SECONDS)
        assert line_of(stop) == LOOP.line("add")
        assert adapter.detach().result(SECONDS)["status"] == "terminated"
        assert program.stdout.read() == "total 45\ndone\n"
