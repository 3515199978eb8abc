"""Threads: which are held, where each is, and letting one go while the others wait."""

from __future__ import annotations

from typing import Any

import pytest

from harness import Program, Session
from polling import wait_until

WORKER_THREADS = Program("worker_threads.py")
BUSY_LOOP = Program("busy_loop.py")
LOCK_STEPS = Program("lock_steps.py")
NAMES = {"worker-a", "worker-b", "worker-c"}


def list_stopped(answer: dict[str, Any], point: str | None = None) -> dict[str, int]:
    """The stopped threads (those at a breakpoint, if one is named) by name."""
    assert answer["status"] == "paused", answer
    return {
        each["name"]: each["thread_id"]
        for each in answer["stopped_threads"]
        if point is None or each.get("breakpoint_id") == point
    }


def stop_all_workers(session: Session, **options: Any) -> dict[str, int]:
    """All three workers, at the breakpoint that each of them hit."""
    [point] = session.break_at(WORKER_THREADS, "work")
    answer = session.launch(WORKER_THREADS, **options)
    seen = 0
    while NAMES - set(found := list_stopped(answer, point)):
        events = session.get(f"/events?since={seen}&wait=5")
        seen = events["last_seq"]
        answer = session.get("/status")
    return found


def read_ticks(session: Session, ticker: int) -> str:
    """How often the ticker has ticked, once it is held; the output has all of it by then."""

    def is_held() -> bool:
        threads = session.get("/threads")["threads"]
        [shown] = (thread for thread in threads if thread["thread_id"] == ticker)
        return shown["status"] == "paused" and not shown.get("blocked")

    wait_until(is_held, "the ticker to be held")
    frames = session.get(f"/threads/{ticker}/stacktrace")["frames"]
    own = next(frame for frame in frames if frame["name"] == "spin")
    return session.evaluate("ticks", frame_id=own["id"])


def test_every_thread_at_a_breakpoint_is_reported(session: Session, python: str) -> None:
    session.break_at(WORKER_THREADS, "work")
    answer = session.launch(WORKER_THREADS, python=python)
    assert answer["reason"] == "breakpoint"
    top = next(t for t in answer["stopped_threads"] if t["thread_id"] == answer["thread_id"])
    assert top["location"]["line"] == answer["location"]["line"] == WORKER_THREADS.line("work")
    assert top["breakpoint_id"] == answer["breakpoint_id"]
    every = {each["name"]: each["status"] for each in answer["all_threads"]}
    assert every["MainThread"] == "paused"
    assert set(every) >= NAMES
    assert set(every.values()) == {"paused"}


def test_no_breakpoint_is_lost_when_several_threads_reach_it_at_once(
    session: Session, python: str
) -> None:
    """Each of the three is seen at it: stopped there in its own right, or held there by another."""
    [point] = session.break_at(WORKER_THREADS, "work")
    answer = session.launch(WORKER_THREADS, python=python)
    seen: set[str] = set()
    while answer["status"] == "paused":
        seen |= set(list_stopped(answer, point))
        answer = session.resume()
    assert seen == NAMES
    assert session.get("/breakpoints")["breakpoints"][0]["hits"] == 3
    assert session.output() == "['aa', 'bb', 'cc']\n"


def test_each_thread_has_its_own_frames(session: Session, python: str) -> None:
    found = stop_all_workers(session, python=python, stop_all_threads=False)
    current = session.get("/status")["thread_id"]
    ids: set[int] = set()
    for name, thread in found.items():
        frames = session.get(f"/threads/{thread}/stacktrace")["frames"]
        top = frames[0]["id"]
        assert (top == 0) == (thread == current)
        assert frames[0]["line"] == WORKER_THREADS.line("work")
        assert not ids & {each["id"] for each in frames}
        ids |= {each["id"] for each in frames}
        assert session.locals(top)["name"]["value"] == repr(name[-1])
        assert session.evaluate("name * 2", frame_id=top) == repr(name[-1] * 2)
        scopes = session.get(f"/frames/{top}/scopes")["scopes"]
        shown = session.get(f"/scopes/{scopes[0]['reference']}/variables")["variables"]
        assert [each["value"] for each in shown] == [repr(name[-1])]


def test_one_thread_goes_on_and_the_others_stay(session: Session, python: str) -> None:
    found = stop_all_workers(session, python=python, stop_all_threads=False)
    session.break_at(WORKER_THREADS, "done")
    for name, thread in found.items():
        answer = session.post(f"/threads/{thread}/continue", {"wait": 60})
        assert (answer["thread_id"], answer["location"]["line"]) == (
            thread,
            WORKER_THREADS.line("done"),
        )
        assert session.evaluate("mine") == repr(name[-1] * 2)
    assert session.get("/status")["status"] == "paused"
    end = session.resume()
    assert (end["status"], end["exit_code"]) == ("terminated", 0)


def test_a_thread_let_go_from_a_stop_of_all_runs_by_itself(session: Session) -> None:
    found = stop_all_workers(session, stop_all_threads=False)
    first, *others = found.values()
    answer = session.post(f"/threads/{first}/continue")
    assert answer["resumed_thread_id"] == first
    # It ends; the others are where they were, and the session is paused at one of them.
    while any(t["thread_id"] == first for t in session.get("/threads")["threads"]):
        pass
    now = session.get("/status")
    assert set(list_stopped(now).values()) == set(others)
    assert now["thread_id"] in others
    assert now["reason"] == "breakpoint"


def test_the_stop_one_looks_at_is_not_replaced_by_another_threads(session: Session) -> None:
    session.break_at(WORKER_THREADS, "work")
    first = session.launch(WORKER_THREADS, stop_all_threads=False)
    while len(list_stopped(session.get("/status"))) < 3:
        pass
    now = session.get("/status")
    assert (now["hold_id"], now["thread_id"]) == (first["hold_id"], first["thread_id"])


def test_only_the_thread_that_hits_stops_if_so_asked(session: Session, python: str) -> None:
    session.break_at(WORKER_THREADS, "work")
    answer = session.launch(WORKER_THREADS, python=python, stop_all_threads=False, args=["spin"])
    states = {each["name"]: each["status"] for each in answer["all_threads"]}
    assert (states["MainThread"], states["ticker"]) == ("running", "running")
    cursor = session.get("/output")["cursor"]
    more = session.get(f"/output?since={cursor}&wait=60")
    assert more["outputs"], "the ticker, which was not stopped, says nothing more"
    assert session.get("/status")["status"] == "paused"
    while answer["status"] == "paused":
        answer = session.resume()
    assert answer["exit_code"] == 0


def test_all_threads_stop_together_by_default(session: Session) -> None:
    session.break_at(WORKER_THREADS, "work")
    session.launch(WORKER_THREADS, args=["spin"])
    threads = session.get("/threads")["threads"]
    assert {t["status"] for t in threads} == {"paused"}
    ticker = next(t["thread_id"] for t in threads if t["name"] == "ticker")
    ticks = read_ticks(session, ticker)
    cursor = session.get("/output")["cursor"]
    assert read_ticks(session, ticker) == ticks
    assert session.get(f"/output?since={cursor}")["outputs"] == []
    session.post(f"/threads/{ticker}/continue")
    # That one alone goes on, and says so.
    assert session.get(f"/output?since={cursor}&wait=60")["outputs"]
    states = {t["name"]: t["status"] for t in session.get("/status")["all_threads"]}
    assert states.pop("ticker") == "running"
    assert set(states.values()) == {"paused"}


def test_a_thread_is_stepped_by_itself(session: Session, python: str) -> None:
    found = stop_all_workers(session, python=python, stop_all_threads=False)
    a, b, c = (found[name] for name in sorted(found))
    step = session.post(f"/threads/{b}/step-over")
    assert (step["thread_id"], step["reason"]) == (b, "step")
    assert step["location"]["line"] == WORKER_THREADS.line("done")
    assert set(list_stopped(step).values()) == {a, b, c}
    lines = {t["thread_id"]: t["location"]["line"] for t in step["stopped_threads"]}
    assert lines[a] == lines[c] == WORKER_THREADS.line("work")


def test_an_unknown_thread_is_not_found(session: Session) -> None:
    session.break_at(WORKER_THREADS, "end")
    session.launch(WORKER_THREADS)
    for route in ("continue", "step-over", "step-into", "step-out"):
        refused = session.post(f"/threads/999/{route}", expect=404)
        assert refused["error_code"] == "thread_not_found"
        assert refused["error"]["details"]["thread_id"] == 999
    assert session.get("/threads/999/stacktrace", expect=404)["error_code"] == "thread_not_found"
    assert session.get("/status")["status"] == "paused"


def test_one_thread_of_a_running_program_is_paused(session: Session) -> None:
    session.launch(BUSY_LOOP, wait=0, stop_all_threads=False)
    session.get("/output?wait=60")
    session.post("/threads/999/pause", expect=404)
    [main] = [each["thread_id"] for each in session.get("/threads")["threads"]]
    stop = session.post(f"/threads/{main}/pause", {"wait": 60})
    assert (stop["status"], stop["reason"], stop["thread_id"]) == ("paused", "pause", main)


@pytest.mark.parametrize("stop_all_threads", [True, False])
def test_a_single_resumed_thread_is_paused_again(
    session: Session, python: str, stop_all_threads: bool
) -> None:
    """The others stay held where they are."""
    session.break_at(WORKER_THREADS, "work")
    stop = session.launch(
        WORKER_THREADS, python=python, stop_all_threads=stop_all_threads, args=["spin"]
    )
    held = stop["thread_id"]
    ids = {t["name"]: t["thread_id"] for t in session.get("/threads")["threads"]}
    ticker = ids["ticker"]
    if stop_all_threads:
        refused = session.post(f"/threads/{ticker}/pause", expect=409)
        assert "held already" in refused["error"]["message"]
        session.post(f"/threads/{ticker}/continue")
    session.post(f"/threads/{held}/pause", expect=409)
    cursor = session.get("/output")["cursor"]
    assert session.get(f"/output?since={cursor}&wait=60")["outputs"], "the ticker is not running"

    answer = session.post(f"/threads/{ticker}/pause", {"wait": 60})

    assert (answer["status"], answer["reason"], answer["thread_id"]) == ("paused", "pause", ticker)
    ticks = read_ticks(session, ticker)
    assert int(ticks) >= 1
    cursor = session.get("/output")["cursor"]
    states = {t["thread_id"]: t for t in session.get("/threads")["threads"]}
    assert states[held]["location"]["line"] == WORKER_THREADS.line("work")
    assert states[held]["status"] == states[ticker]["status"] == "paused"
    assert read_ticks(session, ticker) == ticks
    assert session.get(f"/output?since={cursor}")["outputs"] == []
    # And it can be let go and paused once more.
    session.post(f"/threads/{ticker}/continue")
    assert session.get(f"/output?since={cursor}&wait=60")["outputs"]
    assert session.post(f"/threads/{ticker}/pause", {"wait": 60})["thread_id"] == ticker


def test_frame_ids_and_references_live_until_their_own_thread_runs(
    session: Session, python: str
) -> None:
    found = stop_all_workers(session, python=python, stop_all_threads=False)
    shown = session.get("/status")["thread_id"]
    first, second = (thread for thread in found.values() if thread != shown)
    letters = {thread: repr(name[-1]) for name, thread in found.items()}
    frames = {
        thread: session.get(f"/threads/{thread}/stacktrace")["frames"][0]["id"]
        for thread in (first, second)
    }
    scopes = {
        thread: session.get(f"/frames/{frame}/scopes")["scopes"][0]["reference"]
        for thread, frame in frames.items()
    }

    def read(thread: int) -> list[str]:
        variables = session.get(f"/scopes/{scopes[thread]}/variables")["variables"]
        return [
            session.locals(frames[thread])["name"]["value"],
            next(each["value"] for each in variables if each["name"] == "name"),
        ]

    session.post(f"/threads/{shown}/step-over", {"wait": 60})
    assert read(first) == [letters[first]] * 2
    session.post(f"/threads/{first}/step-over", {"wait": 60})  # which is shown from now on
    assert session.get("/status")["thread_id"] == first
    assert read(second) == [letters[second]] * 2
    session.post(f"/threads/{first}/continue")
    assert read(second) == [letters[second]] * 2
    for path in (f"/frames/{frames[first]}/variables", f"/scopes/{scopes[first]}/variables"):
        session.get(path, expect=404)
    session.post(f"/threads/{second}/step-over", {"wait": 60})
    session.get(f"/frames/{frames[second]}/variables", expect=404)


@pytest.mark.parametrize("pauses", [True, False])
def test_a_step_that_waits_for_a_held_thread_can_be_freed(session: Session, pauses: bool) -> None:
    """The step waits for a lock, and the thread that has the lock is held."""
    session.break_at(LOCK_STEPS, "keep", "before")
    answer = session.launch(LOCK_STEPS, stop_all_threads=False)
    seen = 0
    while {"keep", "take"} - set(list_stopped(answer)):
        seen = session.get(f"/events?since={seen}&wait=5")["last_seq"]
        answer = session.get("/status")
    ids = list_stopped(answer)
    step = session.post(f"/threads/{ids['take']}/step-over", {"wait": 60})
    assert step["location"]["line"] == LOCK_STEPS.line("take")

    stuck = session.post(f"/threads/{ids['take']}/step-over", {"wait": 0.2})

    assert stuck["status"] == "running"

    def find_holder() -> object:
        threads = session.get("/deadlocks")["threads"]
        [taker] = (thread for thread in threads if thread["thread_id"] == ids["take"])
        return taker["held_by"]

    wait_until(lambda: find_holder() == ids["keep"], "the thread to wait for the lock")
    if pauses:
        shown = session.post("/pause", {"wait": 0.2})
        assert (shown["status"], shown["thread_id"]) == ("paused", ids["keep"])
        assert shown["location"]["line"] == LOCK_STEPS.line("keep")
    session.post(f"/threads/{ids['keep']}/continue")
    stop = session.get("/status?wait=60")
    assert (stop["thread_id"], stop["location"]["line"]) == (ids["take"], LOCK_STEPS.line("taken"))
