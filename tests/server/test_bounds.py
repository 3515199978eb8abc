"""Programs that are much of something, and many of them: the server stays well, and small."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from harness import Program, Server, Session
from polling import wait_until
from server_processes import PendingRequest, watch_processes

HEAVY_LOADS = Program("heavy_loads.py")
LOOP = Program("loop.py")
MEGABYTE = 1024 * 1024
SESSIONS = int(os.environ.get("HOLDFAST_SESSIONS", "24"))
"""How many come and go, one after the other (`make soak`: 10,000)."""
PAUSED = min(30, SESSIONS // 2)
"""How many are paused at once."""


@pytest.fixture
def bystander(server: Server) -> Iterator[Session]:
    with watch_bystander(server) as session:
        yield session


@contextmanager
def watch_bystander(server: Server) -> Iterator[Session]:
    """Another user's session, which must not notice anything."""
    with server.session() as session:
        session.break_at(LOOP, "add", condition="number == 3")
        assert session.launch(LOOP)["status"] == "paused"
        yield session
        assert session.evaluate("total + number") == "6"
        assert session.post("/step-over")["location"]["line"] == LOOP.line("return")


def memory(server: Server) -> int:
    return int(psutil.Process(server.process.pid).memory_info().rss)


def launch(session: Session, what: str, *markers: str, **options: Any) -> Any:
    session.break_at(HEAVY_LOADS, *markers)
    return session.launch(HEAVY_LOADS, args=[what], **options)


def launch_to_end(session: Session, what: str) -> Any:
    """However long it takes."""
    end = launch(session, what, wait=0)
    while end["status"] != "terminated":
        end = session.get("/status?wait=50")
    return end


# -- output --------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_two_hundred_megabytes_of_output_leave_the_server_small(
    session: Session, bystander: Session
) -> None:
    before = memory(session.server)

    end = launch_to_end(session, "flood")

    assert (end["status"], end["exit_code"]) == ("terminated", 0)
    assert memory(session.server) - before < 60 * MEGABYTE
    first = session.get("/output?limit=1")
    assert first["dropped"] > 0
    assert first["has_more"] is True
    kept, last = 0, ""  # how much, and the last of it
    cursor = first["outputs"][0]["seq"]
    while True:
        page = session.get(f"/output?since={cursor}&limit=100")
        kept += sum(len(each["text"]) for each in page["outputs"])
        last = "".join([last, *(each["text"] for each in page["outputs"])])[-100:]
        cursor = page["cursor"]
        if not page["has_more"]:
            break
    assert 9 * MEGABYTE < kept <= 10 * MEGABYTE
    assert last.endswith("the end\ndone\n")


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_output_that_comes_in_drops_is_bounded_too(session: Session) -> None:
    """Every piece is an entry of its own, and an entry is larger than a character."""
    before = memory(session.server)

    end = launch_to_end(session, "dribble")

    assert end["exit_code"] == 0
    assert memory(session.server) - before < 60 * MEGABYTE
    page = session.get("/output?limit=100000")
    assert "".join(each["text"] for each in page["outputs"]).endswith("done\n")


def test_a_flood_while_paused_disturbs_nobody(session: Session, bystander: Session) -> None:
    before = memory(session.server)
    assert launch(session, "noisy", "noisy")["status"] == "paused"
    cursor = 0
    while cursor < 200:  # it goes on and on
        cursor = int(session.get(f"/output?since={cursor}&type=stderr&wait=60&limit=50")["cursor"])
    assert session.evaluate("held > 0") == "True"
    assert bystander.evaluate("number") == "3"
    assert session.post("/step-over")["status"] == "paused"
    assert session.resume()["exit_code"] == 0
    assert memory(session.server) - before < 60 * MEGABYTE


# -- large things --------------------------------------------------------------------------------


def test_a_deep_stack_comes_in_pages(session: Session, python: str) -> None:
    stop = launch(session, "deep", "bottom", python=python)
    assert stop["location"]["line"] == HEAVY_LOADS.line("bottom")
    page = session.get("/stacktrace?start=0&count=50")
    total = page["total"]
    assert total == 10_000 + 3
    assert [frame["name"] for frame in page["frames"]] == ["descend"] * 50
    assert page["has_more"] is True
    middle = session.get("/stacktrace?start=5000&count=2")["frames"]
    assert [frame["id"] for frame in middle] == [5000, 5001]
    assert session.evaluate("left", frame_id=middle[0]["id"]) == "5000"
    tail = session.get(f"/stacktrace?start={total - 2}&count=10")
    assert [frame["name"] for frame in tail["frames"]] == ["deep", "<module>"]
    assert tail["has_more"] is False
    everything = session.get("/stacktrace?count=100000")
    assert len(everything["frames"]) == session.server.get("/config")["max_stack_depth"]


def test_a_million_items_come_in_pages(session: Session) -> None:
    stop = launch(session, "large", "large")
    shown = {each["name"]: each for each in stop["locals"]}
    reference = shown["items"]["variable_reference"]
    page = session.get(f"/variables/{reference}?start=999990&count=100")
    assert page["total"] == 1_000_000
    assert page["has_more"] is False
    assert [item["value"] for item in page["items"]] == [str(n) for n in range(999_990, 1_000_000)]
    reference = shown["names"]["variable_reference"]
    page = session.get(f"/variables/{reference}?start=50000&count=2")
    assert (page["total"], page["has_more"]) == (100_000, True)
    assert len(shown["items"]["value"]) < 10_000


def test_a_repr_that_sleeps_is_not_waited_for(server_with: Callable[..., Server]) -> None:
    server = server_with(value_call=0.05)
    with watch_bystander(server), server.session() as session:
        stop = launch(session, "sleepy", "sleepy")
        shown = {each["name"]: each for each in stop["locals"]}
        assert shown["plain"]["value"] == "5"
        assert "Sleepy" in shown["first"]["type"]
        assert session.evaluate("plain") == "5"
        assert "Sleepy" in session.evaluate("first")


# -- programs that work against us ---------------------------------------------------------------


@pytest.mark.parametrize(("what", "marker"), [("closing", "closed"), ("covering", "covered")])
def test_a_program_may_close_the_descriptors_it_finds(
    session: Session, python: str, what: str, marker: str
) -> None:
    stop = launch(session, what, marker, python=python)
    assert stop["status"] == "paused"
    assert session.evaluate("closed") == "True"
    assert session.resume()["exit_code"] == 0
    assert session.output().endswith("done\n")


@pytest.mark.slow
def test_a_program_that_closes_all_of_them_runs_on_by_itself(
    server_with: Callable[..., Server],
) -> None:
    server = server_with(end_after_debugger=0.05)
    with watch_bystander(server), server.session() as session:
        _close_all(session)


def _close_all(session: Session) -> None:
    launch(session, "closing_all", wait=0)
    assert session.get("/output?wait=60")["outputs"][0]["text"] == "alone\n"

    answer = session.post("/pause", expect=500)

    assert answer["error_code"] == "session_crashed"
    assert session.get("/status")["status"] == "running"
    assert session.get("/events")["events"][-1]["event"] == "debugger_disconnected"
    assert "debugger" in answer["error"]["message"]
    assert "restart" in answer["error"]["hint"].lower()
    pid = session.get()["pid"]
    session.post("/terminate")
    assert session.get("/status")["reason"] == "terminated"
    assert not psutil.pid_exists(pid)
    session.break_at(LOOP, "add")  # at its end the next one would race against that limit
    assert session.launch(LOOP)["status"] == "paused"


def test_a_paused_program_that_loses_its_debugger_is_paused_no_more(session: Session) -> None:
    hold = launch(session, "counting", "count")["hold_id"]
    # The answer is lost with the descriptors. There is nothing but the timeout to tell, unless the
    # debugger had not begun to wait for its next request: then its connection ends at once.
    deadly = {"expression": "os.closerange(3, 100_000)", "timeout": 0.5}
    is_interrupted = True
    while is_interrupted:  # its time was up before it had begun
        answer = session.server.http.post(session.path("/evaluate"), json=deadly)
        told = answer.json()
        assert told["error_code"] in ("debugpy_timeout", "session_crashed"), told
        is_interrupted = told["error"]["details"].get("interrupted", False)
    end = session.get("/status?wait=60")
    assert end["status"] == "terminated"
    assert session.server.get(f"/api/holds/{hold}")["open"] is False


def test_a_condition_may_end_the_program(session: Session, python: str) -> None:
    session.break_at(HEAVY_LOADS, "count", condition="number == 3 and os._exit(9)")
    end = launch(session, "counting", python=python)
    assert (end["status"], end["reason"], end["exit_code"]) == ("terminated", "target_exited", 9)


def test_a_program_that_ends_itself_at_once_has_run(session: Session, python: str) -> None:
    end = launch(session, "at_once", python=python)
    assert (end["status"], end["exit_code"]) == ("terminated", 5)
    assert session.get()["route"] == "direct"


def test_a_program_that_blocks_signals_can_be_interrupted_and_is_not_hurt(
    session: Session, python: str
) -> None:
    assert launch(session, "deaf", "deaf", python=python)["status"] == "paused"
    slow = {"expression": "time.sleep(60)", "timeout": 0.3}
    answer = session.post("/evaluate", slow, expect=504)
    assert answer["error"]["details"]["interrupted"] is True
    assert session.evaluate("held") == "'deaf'"
    end = session.resume()
    assert end["exit_code"] == 0
    assert session.output() == "still here deaf\ndone\n"
    assert session.output("stderr") == ""


# -- many ----------------------------------------------------------------------------------------


@pytest.mark.slow
def test_many_sessions_paused_at_once_each_answer_for_themselves(server: Server) -> None:
    def paused(number: int) -> Session:
        made = Session(server, server.post("/sessions", {"name": str(number)})["session_id"])
        made.break_at(HEAVY_LOADS, "count", condition=f"number == {number % 10}")
        assert launch(made, "counting", env={"NUMBER": str(number)})["status"] == "paused"
        return made

    with ThreadPoolExecutor(4) as helpers:
        sessions = list(helpers.map(paused, range(PAUSED)))
        try:
            for number, each in reversed(list(enumerate(sessions))):
                mine = each.evaluate("number, os.environ['NUMBER']")
                assert mine == f"({number % 10}, '{number}')"
            ends = list(helpers.map(lambda each: each.resume(), sessions))
            assert {end["exit_code"] for end in ends} == {0}
        finally:
            list(helpers.map(lambda each: each.delete(), sessions))


def test_twenty_evaluations_at_once_are_all_answered(session: Session) -> None:
    launch(session, "counting", "count")
    asked = [
        PendingRequest(
            session.server, "POST", session.path("/evaluate"), {"expression": f"{n} * 7"}
        )
        for n in range(20)
    ]
    answers = [each.wait().json()["result"] for each in asked]
    assert answers == [str(n * 7) for n in range(20)]


def count_resources(server: Server) -> tuple[int, int, int]:
    """Descriptors, threads and child processes."""
    process = psutil.Process(server.process.pid)
    descriptors = len(os.listdir(f"/proc/{process.pid}/fd"))
    return descriptors, process.num_threads(), len(process.children())


@pytest.mark.slow
@pytest.mark.timeout(120 + SESSIONS * 3)
def test_sessions_that_come_and_go_leave_nothing_behind(tmp_path: Path) -> None:
    """Created, launched, ended and deleted, one after the other: each as large as the last."""
    server = Server(tmp_path / "data", "--pool-size", "2")

    def one() -> None:
        with server.session() as session:
            session.break_at(LOOP, "print")
            assert session.launch(LOOP)["status"] == "paused"
            assert session.resume()["status"] == "terminated"

    try:
        for _ in range(SESSIONS // 3):
            one()
        before, small = count_resources(server), memory(server)
        for _ in range(SESSIONS):
            one()
        # A few come and go by themselves: the pool fills up behind us.
        for now, then in zip(count_resources(server), before, strict=True):
            assert now <= then + 12
        grown = memory(server) - small
        print(f"{SESSIONS} sessions: {small} bytes at first, {grown} more at the end")
        assert grown < 20 * MEGABYTE
        everyone = watch_processes(server)
    finally:
        assert server.stop() == 0
    for each in everyone:
        each.wait_until_gone()


def test_clients_that_come_and_go_leave_nothing_behind(tmp_path: Path) -> None:
    server = Server(tmp_path / "data", "--pool-size", "0")
    try:
        with server.session() as session:
            launch(session, "counting", "count")

            def follow_output() -> None:
                with server.http.stream("GET", session.path("/output/stream")) as stream:
                    assert stream.status_code == 200

            follow_output()
            before = count_resources(server)
            for _ in range(20):
                follow_output()

            def is_as_before() -> bool:
                now = count_resources(server)
                return all(count <= then for count, then in zip(now, before, strict=True))

            wait_until(is_as_before, "the server to notice that they are gone")
    finally:
        server.stop()
