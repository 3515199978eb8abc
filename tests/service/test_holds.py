"""A stop is a hold: whoever decides first decides, and the next one learns who that was."""

from __future__ import annotations

import pytest

from harness import Server, Session
from local_server import LocalServer
from session_states import LOOP, check_error


@pytest.fixture
def held(session: Session) -> Session:
    session.break_at(LOOP, "add")
    assert session.launch(LOOP)["status"] == "paused"
    return session


def hold_of(session: Session) -> str:
    return str(session.get("/status")["hold_id"])


def test_a_stop_is_listed_as_a_hold_until_it_is_decided(server: Server, held: Session) -> None:
    hold_id = hold_of(held)
    [hold] = [each for each in server.get("/api/holds")["holds"] if each["session_id"] == held.id]
    assert (hold["hold_id"], hold["kind"], hold["reason"]) == (hold_id, "program", "breakpoint")
    assert hold["location"]["line"] == LOOP.line("add")
    assert hold["title"] == f"{hold['location']['function']} (loop.py:{LOOP.line('add')})"
    assert hold["session_name"] == "loop.py"  # it was given no name
    assert hold["allows"] == ["continue", "step-over", "step-into", "step-out"]
    assert server.get(f"/api/holds/{hold_id}")["open"] is True

    held.post("/step-over")
    settled = server.get(f"/api/holds/{hold_id}")
    assert (settled["open"], settled["outcome"], settled["by"]) == (False, "step-over", "rest")
    assert hold_of(held) != hold_id


@pytest.mark.parametrize(
    ("action", "marker"), [("continue", "add"), ("step-over", "return"), ("step-out", "call")]
)
def test_a_decision_is_an_answer_to_one_stop(
    server: Server, held: Session, action: str, marker: str
) -> None:
    answer = server.post(
        f"/api/holds/{hold_of(held)}/decision", {"action": action, "by": "me", "wait": 20}
    )
    assert (answer["status"], answer["action"]) == ("paused", action)
    assert answer["location"]["line"] == LOOP.line(marker)


def test_a_decision_does_not_wait_unless_it_is_asked_to(server: Server, held: Session) -> None:
    answer = server.post(f"/api/holds/{hold_of(held)}/decision", {"action": "continue"})
    assert answer["status"] == "running"
    assert held.get("/status?wait=20")["status"] == "paused"


def test_of_many_deciders_one_wins_and_the_others_learn_who(
    server: LocalServer, held: Session
) -> None:
    path = f"/api/holds/{hold_of(held)}/decision"
    names = [f"client-{number}" for number in range(10)]
    asked = {name: server.send("POST", path, {"action": "step-over", "by": name}) for name in names}
    server.settle()
    answers = {name: each.response for name, each in asked.items()}
    [winner] = [name for name, answer in answers.items() if answer.status_code == 200]
    for name, answer in answers.items():
        if name != winner:
            error = check_error(answer, 409)
            assert error["short"] == "already_decided"
            assert error["details"]["decided_by"] == winner
            assert winner in error["message"]
    # One step was made, not ten.
    assert held.get("/status?wait=20")["location"]["line"] == LOOP.line("return")


def test_a_decision_by_an_older_route_settles_the_hold_too(server: Server, held: Session) -> None:
    hold_id = hold_of(held)
    held.post("/continue", {"by": "a script", "wait": 20})
    answer = server.http.post(f"/api/holds/{hold_id}/decision", json={"action": "continue"})
    assert check_error(answer, 409)["details"]["decided_by"] == "a script"


def test_an_action_that_a_hold_does_not_allow_leaves_it_open(server: Server, held: Session) -> None:
    hold_id = hold_of(held)
    answer = server.http.post(f"/api/holds/{hold_id}/decision", json={"action": "fake"})
    error = check_error(answer, 400)
    assert error["details"]["possible"] == ["continue", "step-over", "step-into", "step-out"]
    answer = server.http.post(f"/api/holds/{hold_id}/decision", json={"action": "modify"})
    assert check_error(answer, 409)["details"]["possible"] == error["details"]["possible"]
    assert server.get(f"/api/holds/{hold_id}")["open"] is True
    assert held.get("/status")["status"] == "paused"


@pytest.mark.parametrize("end", ["terminate", "restart", "delete"])
def test_a_hold_whose_target_is_gone_is_withdrawn(server: Server, held: Session, end: str) -> None:
    hold_id = hold_of(held)
    if end == "delete":
        held.delete()
    else:
        held.post(f"/{end}")
    assert server.get(f"/api/holds/{hold_id}")["outcome"] == "withdrawn"
    answer = server.http.post(f"/api/holds/{hold_id}/decision", json={"action": "continue"})
    error = check_error(answer, 409)
    assert error["details"]["state"] == "withdrawn"
    assert error["details"]["session_id"] == held.id


def test_a_decision_without_an_action_is_400(server: Server, held: Session) -> None:
    answer = server.http.post(f"/api/holds/{hold_of(held)}/decision", json={"by": "me"})
    assert check_error(answer, 400)["details"]["field"] == "action"
