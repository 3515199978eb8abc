"""Why a program ended: its exception, its last words, and what its breakpoints did."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import Program, Server, Session, names_our_files

BAD_ENDS = Program("bad_ends.py")
EXIT_WAYS = Program("exit_ways.py")


def run_plainly(how: str) -> subprocess.CompletedProcess[str]:
    argv = [sys.executable, BAD_ENDS.path, how]
    return subprocess.run(argv, capture_output=True, text=True, check=False)


def get_place(frame: Any) -> tuple[str, str, int]:
    return frame["file"], frame["function"], frame["line"]


def get_values(frame: Any) -> dict[str, str]:
    return {variable["name"]: variable["value"] for variable in frame["locals"]}


# -- the exception --------------------------------------------------------------------------------


def test_a_crash_tells_its_exception_its_cause_and_the_values_there(
    server: Server, python: str
) -> None:
    with server.session() as session:
        end = session.launch(BAD_ENDS, args=["raise"], python=python)
    assert (end["status"], end["exit_code"]) == ("terminated", 1)
    error = end["exception"]
    assert (error["type"], error["module"]) == ("KeyError", "builtins")
    assert error["message"] == "('no such cart', 2)"
    line = BAD_ENDS.line("raise")
    assert error["location"] == {"file": BAD_ENDS.path, "line": line, "function": "load"}

    functions = [frame["function"] for frame in error["frames"]]
    assert (functions, error["frames_total"]) == (["load", "end", "<module>"], 3)
    nearest = error["frames"][0]
    assert get_place(nearest) == (BAD_ENDS.path, "load", line)
    assert nearest["text"].startswith("raise KeyError(")
    assert get_values(nearest)["text"] == "'{'"
    assert not any(variable.get("reference") for variable in nearest["locals"])

    [cause] = error["causes"]
    assert (cause["type"], cause["relation"], cause["of"]) == ("JSONDecodeError", "cause", 0)
    assert cause["message"].startswith("Expecting property name")
    first, *library = cause["frames"]
    assert get_place(first) == (BAD_ENDS.path, "load", BAD_ENDS.line("load"))
    assert library[0]["depth"] == 0
    assert all(frame["library"] for frame in library)
    assert end["stderr_tail"].endswith("KeyError: ('no such cart', 2)\n")


def test_the_nearest_frame_of_the_user_comes_before_those_of_libraries(session: Session) -> None:
    error = session.launch(BAD_ENDS, args=["library"])["exception"]
    first, second = error["frames"][:2]
    assert get_place(first) == (BAD_ENDS.path, "in_library", BAD_ENDS.line("library"))
    assert get_values(first) == {"names": "['a', 'b']"}
    assert (second["depth"], second["library"]) == (0, True)
    assert first["depth"] == 3


def test_every_answer_about_the_end_tells_it(session: Session) -> None:
    session.break_at(BAD_ENDS, "end")
    session.launch(BAD_ENDS, args=["raise"])
    end = session.resume()
    assert end["exception"]["type"] == "KeyError"
    status, detail = session.get("/status"), session.get("")
    assert status["exception"] == detail["exception"] == end["exception"]
    assert status["stderr_tail"] == detail["stderr_tail"] == end["stderr_tail"]
    [event] = session.wait_for_events("terminated")
    assert event["exception"] == "KeyError: ('no such cart', 2)"

    again = session.post("/restart", {"args": ["well"]})
    assert "exception" not in again
    end = session.resume() if session.get("/status?wait=60")["status"] == "paused" else {}
    assert end["exit_code"] == 0
    assert "exception" not in end
    assert "stderr_tail" not in end


def test_an_exit_with_an_error_tells_where_and_during_what(session: Session) -> None:
    end = session.launch(BAD_ENDS, args=["exit"])
    error = end["exception"]
    assert (error["type"], error["message"]) == ("SystemExit", "cannot go on")
    assert get_place(error["frames"][0])[2] == BAD_ENDS.line("exit")
    causes = [(cause["type"], cause["relation"], cause["of"]) for cause in error["causes"]]
    assert causes == [("KeyError", "context", 0), ("JSONDecodeError", "cause", 1)]
    assert end["stderr_tail"] == "cannot go on\n"


@pytest.mark.parametrize("how", ["raise", "exit", "library", "round", "hook", "killed", "well"])
def test_the_report_changes_nothing_about_the_end(session: Session, how: str) -> None:
    end, plain = session.launch(BAD_ENDS, args=[how]), run_plainly(how)
    assert end["exit_code"] == plain.returncode
    assert session.output("stderr") == plain.stderr
    assert session.output() == plain.stdout


def test_a_hook_of_the_program_that_ends_it_at_once_loses_nothing(session: Session) -> None:
    end = session.launch(BAD_ENDS, args=["hook"])
    assert (end["exit_code"], end["exception"]["type"]) == (9, "KeyError")


def test_a_signal_is_named(session: Session) -> None:
    end = session.launch(BAD_ENDS, args=["killed"])
    assert (end["exit_code"], end["signal"]) == (-9, "SIGKILL")
    assert "exception" not in end
    assert end["stderr_tail"] == ""
    assert end["never_hit"] == end["condition_errors"] == []
    [event] = session.wait_for_events("terminated")
    assert event["signal"] == "SIGKILL"


def test_an_exit_without_an_exception_shows_the_last_lines(session: Session) -> None:
    code = (
        "import os, sys\n"
        "for number in range(100): print('line', number, file=sys.stderr)\n"
        "sys.stderr.flush()\n"
        "os._exit(4)\n"
    )
    end = session.post("/launch", {"code": code, "wait": 60})
    assert end["exit_code"] == 4
    assert end["stderr_tail"].splitlines() == [f"line {number}" for number in range(70, 100)]


def test_the_last_lines_are_those_of_this_run(session: Session) -> None:
    code = "import sys\nsys.exit(' '.join(sys.argv[1:]))\n"
    session.post("/launch", {"code": code, "args": ["first"], "wait": 60})
    end = session.post("/restart", {"args": ["second"], "wait": 60})
    assert end["stderr_tail"] == "second\n"
    [frame] = end["exception"]["frames"]
    assert (frame["file"], frame["line"]) == ("<string>", 2)
    assert frame["text"] == "sys.exit(' '.join(sys.argv[1:]))"
    assert "library" not in frame


def test_an_endless_recursion_is_reported_from_both_of_its_ends(
    server: Server, python: str
) -> None:
    with server.session() as session:
        error = session.launch(BAD_ENDS, args=["recursion"], python=python)["exception"]
    assert error["type"] == "RecursionError"
    assert error["frames_total"] > 900
    assert len(error["frames"]) == 20
    assert {frame["file"] for frame in error["frames"]} == {BAD_ENDS.path}
    assert error["frames"][0]["function"] == "recur"
    assert int(get_values(error["frames"][0])["depth"]) > 900
    assert [frame["function"] for frame in error["frames"]][-2:] == ["end", "<module>"]


def test_a_message_and_a_value_that_hang_cost_a_bounded_time(
    server_with: Callable[..., Server],
) -> None:
    with server_with(value_call=0.05).session() as session:
        end = session.launch(BAD_ENDS, args=["hang"])
    assert end["exit_code"] == 1
    assert end["stderr_tail"].endswith("HangingError: printed\n")
    error = end["exception"]
    assert (error["type"], error["message"]) == ("HangingError", "<str took too long>")
    values = get_values(error["frames"][0])
    assert values["value"].startswith("<Hanging object: repr ")


def test_causes_in_a_circle_are_told_once(session: Session) -> None:
    error = session.launch(BAD_ENDS, args=["round"])["exception"]
    assert error["message"] == "first"
    assert [cause["message"] for cause in error["causes"]] == ["second"]


@pytest.mark.skipif(sys.version_info < (3, 11), reason="exception groups came with 3.11")
def test_the_members_of_a_group_are_listed(session: Session) -> None:
    error = session.launch(BAD_ENDS, args=["group"])["exception"]
    assert error["type"] == "ExceptionGroup"
    members = [(cause["type"], cause["relation"], cause["of"]) for cause in error["causes"]]
    assert members == [("ValueError", "member", 0), ("KeyError", "member", 0)]


def test_a_program_without_memory_ends_as_it_would(session: Session) -> None:
    end = session.launch(BAD_ENDS, args=["memory"])
    assert end["exit_code"] == 1
    assert "MemoryError" in end["stderr_tail"]
    # There may be too little even for a report; one that comes is right.
    assert end.get("exception", {"type": "MemoryError"})["type"] == "MemoryError"


def test_a_script_that_cannot_be_compiled_any_more(session: Session, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("print('well')\n")
    assert session.launch(str(script))["exit_code"] == 0
    script.write_text("x = 1\nprint('well'\n")
    session.post("/restart", {"wait": 60}, expect=400)
    end = session.get("/status")
    assert (end["status"], end["reason"]) == ("terminated", "syntax_error")
    error = end["exception"]
    assert error["type"] == "SyntaxError"
    assert (error["location"]["file"], error["location"]["line"]) == (str(script), 2)
    assert error["frames"][0]["text"] == "print('well'"


# -- breakpoints ----------------------------------------------------------------------------------


def test_breakpoints_that_were_never_hit_are_listed_with_the_reason(session: Session) -> None:
    hit, missed = session.break_at(BAD_ENDS, "end", "well")
    [false] = session.break_at(BAD_ENDS, "load", condition="text == 3")
    [off] = session.break_at(BAD_ENDS, "recur", enabled=False)
    called = session.post("/breakpoints", {"function": "recur"})["breakpoint_id"]
    session.launch(BAD_ENDS, args=["raise"])
    end = session.resume()
    unhit = {point["breakpoint_id"]: point for point in end["never_hit"]}
    assert set(unhit) == {missed, false, called}
    assert hit not in unhit
    assert off not in unhit
    assert (unhit[missed]["file"], unhit[missed]["line"]) == (
        BAD_ENDS.path,
        BAD_ENDS.line("well"),
    )
    assert unhit[missed]["message"] == "Its line was never reached."
    assert unhit[false]["message"] == "Its line ran once, and its condition was false."
    assert (unhit[false]["passes"], unhit[false]["condition"]) == (1, "text == 3")
    assert unhit[called]["message"] == "Its function was never called."
    assert end["condition_errors"] == []


def test_a_good_end_tells_of_its_breakpoints_as_well(session: Session) -> None:
    [missed] = session.break_at(BAD_ENDS, "load")
    end = session.launch(BAD_ENDS, args=["well"])
    assert end["exit_code"] == 0
    assert [point["breakpoint_id"] for point in end["never_hit"]] == [missed]
    assert "condition_errors" not in end
    session.delete(f"/breakpoints/{missed}")
    end = session.post("/restart", {"wait": 60})
    assert "never_hit" not in end


def test_hits_are_those_of_this_run(session: Session) -> None:
    [point] = session.break_at(BAD_ENDS, "load")
    session.launch(BAD_ENDS, args=["raise"])
    end = session.resume()
    assert end["never_hit"] == []
    end = session.post("/restart", {"args": ["well"], "wait": 60})
    assert [missed["breakpoint_id"] for missed in end["never_hit"]] == [point]


@pytest.mark.parametrize("how", ["killed", "sudden", "normal"])
def test_expressions_that_raised_are_listed(
    session: Session, tmp_path: Path, how: str, python: str
) -> None:
    script = tmp_path / "script.py"
    last = {
        "killed": "input()\nimport os; os.kill(os.getpid(), 9)\n",
        "sudden": "import os; os._exit(3)\n",
        "normal": "raise SystemExit(3)\n",
    }[how]
    script.write_text("for number in range(3):\n    print(number)\n" + last)
    where = {"file": str(script), "line": 2}
    bad = session.post("/breakpoints", {**where, "condition": "nothing > 3"})["breakpoint_id"]
    log = session.post("/breakpoints", {**where, "log_message": "{number} {gone!r}"})
    assert "condition_error" in session.launch(str(script), python=python)
    end = session.resume()
    if how == "killed":  # once it waits for input, what happened before is known
        assert end["status"] == "waiting_for_input"
        session.post("/stdin", {"text": "\n"})
        end = session.get("/status?wait=60")
    assert end["exit_code"] == (-9 if how == "killed" else 3)
    first, second = end["condition_errors"]
    assert (first["breakpoint_id"], first["field"]) == (bad, "condition")
    assert (first["expression"], first["file"], first["line"]) == ("nothing > 3", str(script), 2)
    assert first["error"] == "NameError: name 'nothing' is not defined"
    assert (second["breakpoint_id"], second["field"]) == (log["breakpoint_id"], "log_message")
    assert second["expression"] == "gone"
    counts = [None, None] if how == "killed" else [3, 3]
    assert [error.get("count") for error in (first, second)] == counts
    unhit = end["never_hit"]  # the logpoint was hit
    assert [point["breakpoint_id"] for point in unhit] == [bad]
    assert "raised NameError" in unhit[0]["message"]


def test_what_threads_do_after_the_main_one_ended_counts(session: Session, tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import threading\n"
        "def work():\n"
        "    threading.main_thread().join()\n"
        "    for number in range(3):\n"
        "        print(number)\n"
        "threading.Thread(target=work).start()\n"
    )
    point = {"file": str(script), "line": 5, "condition": "number > 9"}
    session.post("/breakpoints", point)
    [unhit] = session.launch(str(script))["never_hit"]
    assert unhit["passes"] == 3


# -- other ways to get there ----------------------------------------------------------------------


@pytest.mark.slow
def test_the_end_of_an_attached_process_tells_why(server: Server) -> None:
    argv = [sys.executable, BAD_ENDS.path, "wait"]
    with (
        subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        ) as process,
        server.session() as session,
    ):
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline() == "ready\n"
        [missed] = session.break_at(BAD_ENDS, "well")
        [false] = session.break_at(BAD_ENDS, "load", condition="text == 3")
        session.post("/attach", {"pid": process.pid})
        assert process.stdin is not None
        process.stdin.write("\n")
        process.stdin.flush()
        end = session.get("/status?wait=60")
        assert (end["status"], end["exception"]["type"]) == ("terminated", "KeyError")
        assert get_values(end["exception"]["frames"][0])["text"] == "'{'"
        unhit = [(point["breakpoint_id"], point.get("passes")) for point in end["never_hit"]]
        assert unhit == [(missed, None), (false, 1)]
        written = process.stderr.read()
        assert process.wait(60) == 1
        assert not names_our_files(written)
        assert written.endswith("KeyError: ('no such cart', 2)\n")


@pytest.mark.slow
def test_a_detached_process_has_its_own_hook_again(server: Server) -> None:
    code = (
        "import sys\nprint('ready', flush=True)\nsys.stdin.readline()\n"
        "print(sys.excepthook is sys.__excepthook__, flush=True)\n"
    )
    with (
        subprocess.Popen(
            [sys.executable, "-c", code],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        ) as process,
        server.session() as session,
    ):
        assert process.stdout is not None
        assert process.stdin is not None
        assert process.stdout.readline() == "ready\n"
        session.post("/attach", {"pid": process.pid})
        session.post("/detach")
        process.stdin.write("\n")
        process.stdin.flush()
        assert process.stdout.read() == "True\n"


@pytest.mark.slow
def test_the_end_of_a_program_behind_an_adapter_tells_why(session: Session) -> None:
    [false] = session.break_at(BAD_ENDS, "load", condition="text == 3")
    end = session.launch(BAD_ENDS, args=["raise"], route="adapter")
    assert (end["exit_code"], end["exception"]["type"]) == (1, "KeyError")
    unhit = [(point["breakpoint_id"], point.get("passes")) for point in end["never_hit"]]
    assert unhit == [(false, 1)]
    assert end["stderr_tail"].endswith("KeyError: ('no such cart', 2)\n")
