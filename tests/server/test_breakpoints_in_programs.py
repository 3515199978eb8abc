"""Breakpoints in real programs: where they stop, and changes while the program runs."""

from __future__ import annotations

import os
import re
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from harness import Program, Server, Session
from interpreters import find_interpreters
from polling import wait_until

BUSY_LOOP = Program("busy_loop.py")
JSON_DUMP = Program("json_dump.py")
LATE = Program("late_import.py")


def build_breakpoint(program: Program, marker: str, **more: Any) -> dict[str, Any]:
    return {"file": program.path, "line": program.line(marker), **more}


def list_by_id(session: Session) -> dict[str, dict[str, Any]]:
    found = session.get("/breakpoints")["breakpoints"]
    return {each["breakpoint_id"]: each for each in found}


# -- files that are not there yet -----------------------------------------------------------------


def test_a_file_that_the_program_itself_writes_stops_when_it_runs(
    session: Session, tmp_path: Path, python: str
) -> None:
    written = tmp_path / "fresh.py"
    made = session.post("/breakpoints", {"file": str(written), "line": 2})
    assert made["verified"] is False

    stop = session.launch(LATE, args=[str(tmp_path)], python=python)

    assert stop["breakpoint_id"] == made["breakpoint_id"]
    assert stop["location"] == {"file": str(written), "line": 2, "function": "grow"}
    found = list_by_id(session)[made["breakpoint_id"]]
    assert (found["verified"], found["hits"]) == (True, 1)
    assert session.resume()["status"] == "terminated"


GENERATED = """
code = "first = 1\\nsecond = 2\\n"
for name in ("<one>", "<two>", {name!r}):
    exec(compile(code, name, "exec"), {{}})
"""


def test_code_without_a_file_stops_under_the_name_that_it_was_compiled_with(
    session: Session, tmp_path: Path, python: str
) -> None:
    # Python takes the three for equal, and each has breakpoints of its own.
    script, third = tmp_path / "script.py", tmp_path / "third.py"
    third.write_text("first = 1\nsecond = 2\n")
    script.write_text(GENERATED.format(name=str(third)))
    two = session.post("/breakpoints", {"file": "<two>", "line": 2})
    assert (two["verified"], two["file"]) == (False, "<two>")
    assert "No file has this name" in two["message"]
    session.post("/breakpoints", {"file": str(third), "line": 2})

    stop = session.launch(str(script), python=python)
    assert stop["location"]["file"] == "<two>"
    assert session.resume()["location"]["file"] == str(third)
    assert session.resume()["status"] == "terminated"
    assert [each["hits"] for each in list_by_id(session).values()] == [1, 1]


# -- while it runs --------------------------------------------------------------------------------


def start_running(session: Session, python: str | None = None) -> None:
    session.launch(BUSY_LOOP, wait=0, python=python)
    session.get("/output?since=0&wait=60")


def test_a_breakpoint_set_in_a_running_loop_takes_effect(session: Session, python: str) -> None:
    start_running(session, python)

    made = session.post("/breakpoints", build_breakpoint(BUSY_LOOP, "tick"))
    assert made["verified"] is True
    stop = session.get("/status?wait=60")
    assert (stop["status"], stop["breakpoint_id"]) == ("paused", made["breakpoint_id"])
    assert session.resume()["location"]["line"] == BUSY_LOOP.line("tick")

    # In the module itself, whose frame never returns.
    session.post("/breakpoints", build_breakpoint(BUSY_LOOP, "sleep"))
    assert session.resume()["location"]["line"] == BUSY_LOOP.line("sleep")

    session.delete("/breakpoints")
    session.evaluate("exec('stop = True', globals())")
    assert session.resume()["status"] == "terminated"


def check_that_it_runs_round(session: Session) -> None:
    """That the busy loop goes on and stops nowhere in its round, which a logpoint tells."""
    [teller] = session.break_at(BUSY_LOOP, "sleep", log_message="round {ticks}")
    session.resume(wait=0)
    wait_until(lambda: len(set(re.findall(r"round \d+", session.output("log")))) > 2, "rounds")
    assert session.get("/status")["status"] == "running"
    session.delete(f"/breakpoints/{teller}")


def test_a_breakpoint_changes_while_paused_and_while_running(session: Session) -> None:
    [point] = session.break_at(BUSY_LOOP, "tick")
    session.launch(BUSY_LOOP)

    moved = session.patch(f"/breakpoints/{point}", {"line": BUSY_LOOP.line("ticked")})
    assert (moved["line"], moved["verified"]) == (BUSY_LOOP.line("ticked"), True)
    assert session.resume()["location"]["line"] == BUSY_LOOP.line("ticked")

    session.patch(f"/breakpoints/{point}", {"condition": "ticks == 20"})
    session.resume()
    assert session.evaluate("ticks") == "20"
    changed = session.patch(f"/breakpoints/{point}", {"condition": None})
    assert "condition" not in changed
    session.resume()
    assert session.evaluate("ticks") == "21"

    session.patch(f"/breakpoints/{point}", {"enabled": False})
    check_that_it_runs_round(session)
    session.patch(f"/breakpoints/{point}", {"enabled": True})
    assert session.get("/status?wait=60")["status"] == "paused"


def test_a_removed_breakpoint_never_stops_again(session: Session) -> None:
    one, other = session.break_at(BUSY_LOOP, "tick", "ticked")
    session.launch(BUSY_LOOP)

    assert session.delete(f"/breakpoints/{one}")["deleted"] is True
    assert session.resume()["breakpoint_id"] == other
    assert session.resume()["breakpoint_id"] == other
    assert session.delete("/breakpoints") == {"deleted": 1}
    check_that_it_runs_round(session)

    session.break_at(BUSY_LOOP, "tick")
    assert session.get("/status?wait=60")["status"] == "paused"
    session.resume(wait=0)
    session.delete("/breakpoints")
    assert session.delete(f"/breakpoints/{other}", expect=404)["error_code"] == (
        "breakpoint_not_found"
    )


# -- how many, how often --------------------------------------------------------------------------


def test_a_breakpoint_in_a_library_stops(server: Server, python: str) -> None:
    """This library is one that the debugger itself is using all the time."""
    asked = [python, "-c", "import json; print(json.__file__)"]
    library = subprocess.run(asked, capture_output=True, text=True, check=True).stdout.strip()
    text = Path(library).read_text().splitlines()
    line = next(n for n, each in enumerate(text, 1) if "return _default_encoder.encode" in each)

    here = python == find_interpreters()[-1].path
    for only_mine in (False, True) if here else (True,):
        with server.session() as session:
            point = session.post("/breakpoints", {"file": library, "line": line})
            stop = session.launch(JSON_DUMP, python=python, just_my_code=only_mine)
            assert stop["location"] == {"file": library, "line": line, "function": "dumps"}
            assert session.evaluate("obj") == "[1]"
            assert session.resume()["location"]["line"] == line
            assert session.evaluate("obj") == "[2]"
            step = session.post("/step-over")
            assert (step["status"], step["location"]["file"]) == ("paused", JSON_DUMP.path)
            assert session.resume()["status"] == "terminated"
            assert list_by_id(session)[point["id"]]["hits"] == 2


def test_one_set_while_the_program_starts_is_not_lost(session: Session, tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    os.mkfifo(gate)
    (tmp_path / "sitecustomize.py").write_text(f"open({str(gate)!r}).read()\n")
    program = tmp_path / "late.py"
    program.write_text("import time\nfor i in range(10_000):\n    time.sleep(0.01)\nprint(i)\n")
    body = {"script": str(program), "pythonpath": [str(tmp_path)]}
    with ThreadPoolExecutor(1) as background:
        launch = background.submit(session.post, "/launch", body)
        # The gate opens for writing once the interpreter waits there: the launch is under way.
        with gate.open("w"):
            assert session.get("/status")["status"] == "launching"
            session.post("/breakpoints", {"file": str(program), "line": 3})
        assert launch.result()["status"] in ("running", "paused")
    stop = session.get("/status?wait=60")
    assert (stop["status"], stop["location"]["line"]) == ("paused", 3)
