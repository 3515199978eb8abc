"""Held calls of applications that wait, answer, refuse and die."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from harness import Server
from http_application import (
    HttpApplication,
    Json,
    background_call,
    decide,
    decode_value,
    temporary_breakpoint,
)


@pytest.fixture
def app(server: Server) -> Iterator[HttpApplication]:
    with temporary_breakpoint(server, function="held"):
        yield HttpApplication(server, name="holds")


def test_a_held_call_hears_of_its_decision_at_once(server: Server, app: HttpApplication) -> None:
    """The poll would wait a minute: that it has answered when the thread ends is the decision."""
    call = app.start("held")
    with background_call(app.poll, call, 60) as heard:
        decide(server, call, "continue")
    assert heard == [{"status": "ready", "action": {"action": "continue"}}]


def test_of_many_deciders_one_wins_and_the_others_learn_who(
    server: Server, app: HttpApplication
) -> None:
    call = app.start("held")
    path = f"/api/holds/{call['hold_id']}/decision"
    with ThreadPoolExecutor(8) as pool:
        answers = list(
            pool.map(
                lambda name: server.http.post(path, json={"action": "continue", "by": name}),
                [f"decider-{number}" for number in range(8)],
            )
        )
    [winner] = [each for each in answers if each.status_code == 200]
    assert winner.json()["status"] == "running"
    refused = [each.json()["error"] for each in answers if each.status_code == 409]
    assert len(refused) == 7
    by = server.get(f"/api/holds/{call['hold_id']}")["by"]
    assert {each["details"]["decided_by"] for each in refused} == {by}


# -- questions -----------------------------------------------------------------------------------


def answer(app: HttpApplication, call: Json, **said: Any) -> Json:
    """What an application does with a question: hear it, answer it."""
    asked = app.poll(call, wait=60)
    assert asked["status"] == "evaluate", asked
    body = {"request_id": asked["request_id"], **said}
    found: Json = app.server.post(f"{call['poll_url']}/answer", body)
    return {**asked, **found}


def test_a_question_is_answered_by_the_application(server: Server, app: HttpApplication) -> None:
    call = app.start("held", evaluates=True)
    said = {"result": {"text": "[1, 2]", "type": "list", "length": 2, "json": [1, 2]}}
    with background_call(lambda: answer(app, call, **said)) as heard:
        shown = server.post(f"/api/holds/{call['hold_id']}/evaluate", {"expression": "xs"})
    assert (shown["result"], shown["type"], shown["length"]) == ("[1, 2]", "list", 2)
    assert (heard[0]["expression"], heard[0]["status"]) == ("xs", "ok")
    with background_call(lambda: answer(app, call, **said)):
        path = f"/sessions/{app.session_id}/evaluate"
        assert server.post(path, {"expression": "xs"})["result"] == "[1, 2]"
    assert app.poll(call) == {"status": "waiting"}


def test_an_expression_that_raises_is_an_error_of_the_expression(
    server: Server, app: HttpApplication
) -> None:
    call = app.start("held", evaluates=True)
    said = {"error": {"type": "NameError", "message": "name 'x' is not defined"}}
    with background_call(lambda: answer(app, call, **said)):
        path = f"/api/holds/{call['hold_id']}/evaluate"
        error = server.post(path, {"expression": "x"}, expect=400)
    assert error["error_code"] == "evaluation_error"
    assert error["error"]["details"]["exception_type"] == "NameError"


def test_a_question_that_nobody_answers_times_out(server: Server, app: HttpApplication) -> None:
    call = app.start("held", evaluates=True)
    path = f"/api/holds/{call['hold_id']}/evaluate"
    error = server.post(path, {"expression": "x", "timeout": 0.05}, expect=504)
    assert error["error_code"] == "evaluate_timeout"
    assert "retry" in error["error"]["hint"]
    assert app.poll(call) == {"status": "waiting"}
    body = {"request_id": "eval_gone", "result": {"text": "1", "type": "int"}}
    assert server.post(f"{call['poll_url']}/answer", body) == {"status": "late"}


def test_a_decision_ends_the_questions(server: Server, app: HttpApplication) -> None:
    call = app.start("held", evaluates=True)

    def ask() -> Any:
        path = f"/api/holds/{call['hold_id']}/evaluate"
        return server.post(path, {"expression": "x", "timeout": 60}, expect=409)

    with background_call(ask) as asked:
        assert app.poll(call, wait=60)["status"] == "evaluate"
        decide(server, call, "continue")
    assert asked[0]["error_code"] == "wrong_state"


# -- applications that go ------------------------------------------------------------------------


@pytest.mark.parametrize("status", ["success", "exception"])
def test_a_call_that_ended_while_it_was_held_is_held_no_more(
    server: Server, app: HttpApplication, status: str
) -> None:
    call = app.start("held", evaluates=True)
    with background_call(lambda: app.poll(call, wait=60, expect=409)) as heard:
        if status == "success":
            assert app.complete(call, 1) == {"status": "ok"}
        else:
            app.fail(call, TimeoutError("cancelled"))
    assert "its call has ended" in heard[0]["message"]
    shown = server.get(f"/sessions/{app.session_id}")
    assert (shown["status"], shown["holds"]) == ("running", [])
    hold = f"/api/holds/{call['hold_id']}"
    assert server.get(hold)["outcome"] == "withdrawn"
    assert decide(server, call, "skip", expect=409, fake_result={"value": 1})["error_code"] == (
        "already_decided"
    )
    server.post(f"{hold}/evaluate", {"expression": "x"}, expect=409)
    events = server.get(f"/sessions/{app.session_id}/events")["events"]
    assert [e["event"] for e in events if e["event"].startswith("hold_")] == [
        *("hold_opened", "hold_withdrawn"),
    ]
    assert server.get(f"/api/calls/{call['call_id']}")["status"] == status


def test_an_application_that_waits_no_longer_says_so(server: Server) -> None:
    app = HttpApplication(server, name="impatient")
    with temporary_breakpoint(server, function="f", when="after"):
        call = app.complete(app.start("f"), 1)
        with background_call(lambda: app.poll(call, wait=60, expect=409)) as heard:
            assert server.delete(call["poll_url"]) == {"status": "ok"}
        assert "its caller waits no longer" in heard[0]["message"]
        assert server.get(f"/api/holds/{call['hold_id']}")["outcome"] == "withdrawn"
        assert server.get(f"/sessions/{app.session_id}")["holds"] == []

        decided = app.complete(app.start("f"), 2)
        decide(server, decided, "continue")
        server.delete(decided["poll_url"])
        assert server.get(f"/api/holds/{decided['hold_id']}")["outcome"] == "continue"
    assert server.http.delete("/api/poll/1768298400.123456-001").status_code == 404


# -- applications that try a decision before it is taken -------------------------------------------


@pytest.fixture
def checking(server: Server, app: HttpApplication) -> HttpApplication:
    return HttpApplication(server, name="checks", checks=True)


def answer_check(app: HttpApplication, call: Json, **answer: Any) -> Json:
    """Wait for a decision to check, and answer. Return the question."""
    question = app.poll(call, wait=60)
    assert question["status"] == "check", question
    app.server.post(f"{call['poll_url']}/answer", {"request_id": question["request_id"], **answer})
    return question


def test_a_decision_is_taken_when_the_application_accepts_it(
    server: Server, checking: HttpApplication
) -> None:
    call = checking.start("held", 1)
    with background_call(lambda: decide(server, call, "skip", fake_result={"value": 5})) as settled:
        question = answer_check(checking, call, accepted=True, note="as you like")
        assert decode_value(question["action"], "fake_result") == 5
    assert (settled[0]["checked"], settled[0]["note"]) == (True, "as you like")
    ready = checking.poll(call)
    assert (ready["status"], ready["request_id"]) == ("ready", question["request_id"])
    assert ready["action"]["action"] == "skip"


def test_a_decision_that_the_application_refuses_leaves_the_hold_open(
    server: Server, checking: HttpApplication
) -> None:
    call = checking.start("held", 1)
    refusal = {"message": "no way", "hint": "Try that.", "field": "fake_result", "choices": ["x"]}
    with background_call(
        lambda: decide(server, call, "skip", fake_result={"value": 5}, expect=400)
    ) as refused:
        answer_check(checking, call, refusal=refusal)
    error = refused[0]["error"]
    assert "no way" in error["message"]
    assert error["hint"].startswith("Try that.")
    assert (error["details"]["field"], error["details"]["choices"]) == ("fake_result", ["x"])
    assert server.get(f"/api/holds/{call['hold_id']}")["open"] is True
    assert checking.poll(call)["status"] == "waiting"
    assert decide(server, call, "continue")["checked"] is False


def test_the_first_decision_that_is_accepted_wins(
    server: Server, checking: HttpApplication
) -> None:
    """The second is not tried while the first is, and learns who made the first."""
    call = checking.start("held", 1)
    with ThreadPoolExecutor(2) as pool:
        options = {"fake_result": {"value": 5}}
        path = f"/api/holds/{call['hold_id']}/decision"
        body = {"action": "skip", **options}
        both = [
            pool.submit(server.http.post, path, json={**body, "by": name}) for name in ("a", "b")
        ]
        question = answer_check(checking, call, accepted=True)
        answers = [one.result(60) for one in both]
    assert sorted(one.status_code for one in answers) == [200, 409]
    [lost] = [one.json() for one in answers if one.status_code == 409]
    assert lost["error"]["details"]["decided_by"] in ("a", "b")
    assert checking.poll(call)["request_id"] == question["request_id"]


def test_continue_needs_no_check_and_ends_one_that_waits(
    server: Server, checking: HttpApplication
) -> None:
    call = checking.start("held", 1)
    with background_call(
        lambda: decide(server, call, "skip", fake_result={"value": 5}, expect=409)
    ) as late:
        assert checking.poll(call, wait=60)["status"] == "check"
        decide(server, call, "continue", by="rescuer")
    assert late[0]["error"]["details"]["decided_by"] == "rescuer"
    assert checking.poll(call)["action"] == {"action": "continue"}


def test_an_application_that_does_not_answer_leaves_the_hold_open(
    server: Server, checking: HttpApplication
) -> None:
    call = checking.start("held", 1)
    before = server.get("/config")["evaluate_timeout"]
    server.patch("/config", {"evaluate_timeout": 0.05})
    try:
        error = decide(server, call, "skip", fake_result={"value": 5}, expect=504)
    finally:
        server.patch("/config", {"evaluate_timeout": before})
    assert error["error"]["code"] == "DECISION_TIMEOUT"
    assert "decide again" in error["error"]["hint"]
    assert checking.poll(call)["status"] == "waiting"
    late = {"request_id": "ask_gone", "accepted": True}
    assert server.post(f"{call['poll_url']}/answer", late) == {"status": "late"}


def test_an_application_that_dies_during_a_check_ends_the_hold(
    server: Server, app: HttpApplication
) -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    dying = HttpApplication(server, pid=process.pid, checks=True)
    call = dying.start("held", 1)
    with background_call(
        lambda: decide(server, call, "skip", fake_result={"value": 5}, expect=409)
    ) as refused:
        assert dying.poll(call, wait=60)["status"] == "check"
        process.kill()
        process.communicate()
    assert "its process has ended" in refused[0]["error"]["message"]
