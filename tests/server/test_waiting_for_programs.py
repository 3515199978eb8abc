"""Waiting for real programs: no stop is lost, however fast or slow they are."""

from __future__ import annotations

import os
from pathlib import Path

from harness import Program, Server, Session

LOOP = Program("loop.py")


def test_a_paused_answer_always_knows_where_and_can_be_looked_into(server: Server) -> None:
    """Polling as fast as it goes, from a breakpoint on the very first line on."""
    seen = []
    with server.session() as session:
        code = "".join(f"x = {n}\n" for n in range(60))
        with_points = "import sys\n" + code
        session.post("/launch", {"code": with_points, "stop_on_entry": True})
        while (now := session.get("/status"))["status"] != "paused":
            assert now["status"] in ("launching", "running")
        for _ in range(50):
            seen.append(now["location"]["line"])
            top = session.get("/stacktrace")["frames"][0]
            assert top["line"] == now["location"]["line"]
            assert session.post("/step-over", {"wait": 0})["status"] == "running"
            while (now := session.get("/status"))["status"] != "paused":
                assert now["status"] == "running"
    assert seen == list(range(1, 51))


def test_a_very_fast_breakpoint_is_there_before_the_answer(session: Session, python: str) -> None:
    session.break_at(LOOP, "define")
    stop = session.launch(LOOP, python=python)
    assert stop["location"]["line"] == LOOP.line("define")
    assert [each["line"] for each in session.get("/stacktrace")["frames"]] == [LOOP.line("define")]
    assert session.evaluate("__name__") == "'__main__'"


def test_fifty_continues_without_waiting_lose_no_stop(session: Session) -> None:
    session.post("/launch", {"script": LOOP.path, "stop_on_entry": True, "wait": 60})
    session.break_at(LOOP, "add", "return", "call")
    stops = []
    for _ in range(100):
        session.post("/continue", {"wait": 0})
        while (now := session.get("/status"))["status"] == "running":
            pass
        if now["status"] != "paused":
            break
        stops.append(now["location"]["line"])
        assert session.get("/frames/0/variables")["variables"]
    assert now["status"] == "terminated"
    assert stops == [LOOP.line("call"), LOOP.line("add"), LOOP.line("return")] * 10


# -- pause ----------------------------------------------------------------------------------------


def test_a_busy_program_is_paused_where_it_is(session: Session, python: str) -> None:
    code = "print('go', flush=True)\nn = 0\nwhile True:\n    n += 1\n"
    session.post("/launch", {"code": code, "python": python})
    session.get("/output?wait=60")
    stop = session.post("/pause")
    assert (stop["status"], stop["reason"]) == ("paused", "pause")
    assert stop["location"]["line"] in (2, 3, 4)
    session.post("/continue")
    assert session.get("/status")["status"] == "running"
    assert session.post("/pause", {"wait": 60})["status"] == "paused"


def test_a_pause_outside_python_is_pending_and_takes_effect_later(
    session: Session, tmp_path: Path
) -> None:
    fifo = tmp_path / "fifo"
    os.mkfifo(fifo)
    code = f"import os\nend = os.open({str(fifo)!r}, os.O_RDONLY)\n"
    code += "print('here', flush=True); os.read(end, 1)\nawake = True\nawake = 2\n"
    session.post("/launch", {"code": code})
    with open(fifo, "wb") as waker:
        session.get("/output?wait=60")
        answer = session.post("/pause", {"wait": 0.1})
        assert (answer["status"], answer["pause_pending"]) == ("running", True)
        waker.write(b"x")
    stop = session.get("/status?wait=60")
    assert (stop["status"], stop["reason"], stop["location"]["line"]) == ("paused", "pause", 4)
