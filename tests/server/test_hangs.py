"""Programs that hang: blocked threads, C code that lets nothing else run, deadlocks."""

from __future__ import annotations

from typing import Any

from harness import Program, Session

BLOCKED = Program("blocked_threads.py")
WAITS = {"wait_for_lock": "lock", "wait_for_job": "queue", "wait_for_bytes": "bytes"}


def list_threads(session: Session) -> dict[str, Any]:
    return {thread["name"]: thread for thread in session.get("/threads")["threads"]}


def find_own_frame(session: Session, name: str) -> dict[str, Any]:
    """The frame of the thread's own function, below those of the standard library."""
    thread = list_threads(session)[name]["thread_id"]
    frames = session.get(f"/threads/{thread}/stacktrace")["frames"]
    return next(frame for frame in frames if frame["name"] == name)


# -- blocked threads ------------------------------------------------------------------------------


def test_blocked_threads_can_be_looked_into_while_another_is_held(
    session: Session, python: str
) -> None:
    session.break_at(BLOCKED, "held")
    session.launch(BLOCKED, python=python)
    for number, (name, marker) in enumerate(WAITS.items(), 41):
        frame = find_own_frame(session, name)
        assert frame["line"] == BLOCKED.line(marker)
        assert session.locals(frame["id"])["secret"]["value"] == str(number)
        assert session.evaluate("secret * 2 + len(LEVEL)", frame_id=frame["id"]) == str(
            number * 2 + 1
        )
        [scope, _globals] = session.get(f"/frames/{frame['id']}/scopes")["scopes"]
        shown = session.get(f"/scopes/{scope['reference']}/variables")["variables"]
        assert {each["name"]: each["value"] for each in shown}["secret"] == str(number)
        assert session.get(f"/source?frame_id={frame['id']}")["line"] == frame["line"]


def test_evaluating_in_a_blocked_thread_assigns_nothing(session: Session) -> None:
    session.break_at(BLOCKED, "held")
    session.launch(BLOCKED)
    frame = find_own_frame(session, "wait_for_lock")["id"]
    refused = session.post(
        "/evaluate", {"expression": "secret = 1", "frame_id": frame, "context": "repl"}, expect=400
    )
    assert "statement" in refused["error"]["message"]
    assert session.evaluate("[secret := 1, secret]", frame_id=frame) == "[1, 1]"
    assert session.evaluate("secret", frame_id=frame) == "41"
    failed = session.post("/evaluate", {"expression": "1 / 0", "frame_id": frame}, expect=400)
    assert "ZeroDivisionError" in failed["error"]["message"]
    numbers = session.locals(frame)["numbers"]["variable_reference"]
    items = session.get(f"/variables/{numbers}")["items"]
    assert [item["value"] for item in items] == ["41", "42"]
    change = {"name": "0", "value": "7"}
    refused = session.post(f"/variables/{numbers}/set", change, expect=409)
    assert "read" in refused["error"]["message"]


def test_a_slow_expression_in_a_blocked_thread_holds_up_nothing(session: Session) -> None:
    session.break_at(BLOCKED, "held")
    session.launch(BLOCKED)
    frame = find_own_frame(session, "wait_for_lock")["id"]
    endless = {"expression": "[0 for _ in iter(int, 1)]", "frame_id": frame, "timeout": 0.1}
    late = session.post("/evaluate", endless, expect=504)
    assert late["error"]["details"]["interrupted"] is True
    assert session.evaluate("secret", frame_id=frame) == "41"


def test_a_frame_of_a_blocked_thread_is_gone_once_it_has_run_on(
    session: Session, python: str
) -> None:
    session.break_at(BLOCKED, "held", "end")
    session.launch(BLOCKED, python=python)
    frame = find_own_frame(session, "wait_for_lock")["id"]
    numbers = session.locals(frame)["numbers"]["variable_reference"]
    session.post("/step-over")
    # Its thread is blocked still, so it is the frame that it was.
    assert session.locals(frame)["secret"]["value"] == "41"
    assert session.get(f"/variables/{numbers}")["total"] == 2
    session.break_at(BLOCKED, "unlocked")
    stop = session.resume()
    assert stop["location"]["line"] == BLOCKED.line("unlocked")
    for path in (f"/frames/{frame}/variables", f"/variables/{numbers}"):
        gone = session.get(path, expect=404)
        assert gone["error"]["hint"]
    session.post("/evaluate", {"expression": "secret", "frame_id": frame}, expect=404)


def test_the_threads_of_a_running_program_can_be_looked_into(session: Session) -> None:
    session.launch(BLOCKED, args=["stay"], wait=0)
    session.get("/output?wait=60")
    frame = find_own_frame(session, "wait_for_lock")["id"]
    numbers = session.locals(frame)["numbers"]["variable_reference"]
    assert session.get(f"/variables/{numbers}")["total"] == 2
    assert session.evaluate("secret", frame_id=frame) == "41"
    assert session.get("/status")["status"] == "running"
    session.post("/evaluate", {"expression": "1"}, expect=409)  # of the stop that there is none of
