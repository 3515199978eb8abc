"""A held call: seen, decided once, in one language; and questions that its application answers."""

from __future__ import annotations

import datetime
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
    compute_cid,
    decide,
    decode_value,
    encode_value,
    temporary_breakpoint,
)


@pytest.fixture
def app(server: Server) -> Iterator[HttpApplication]:
    with temporary_breakpoint(server, function="held"):
        yield HttpApplication(server, name="holds")


def test_a_held_call_is_seen_whole(server: Server, app: HttpApplication) -> None:
    for name, signature in (("held", "(a, b=2)"), ("twin", "(a, b=2)"), ("other", "(x)")):
        body = {"session_id": app.session_id, "name": name, "signature": signature}
        server.post("/api/call/register", body)
    call = app.start("held", 1, [2], kwargs={"k": 3}, signature="(a, b=2)", thread={"id": 5})
    [listed] = [h for h in server.get("/api/holds")["holds"] if h["hold_id"] == call["hold_id"]]
    assert (listed["kind"], listed["method_name"], listed["when"]) == ("calls", "held", "before")
    assert listed["call_id"] == call["call_id"]
    shown = server.get(f"/api/holds/{call['hold_id']}")
    assert shown["open"] is True
    assert shown["allows"] == ["continue", "skip", "raise", "modify", "replace"]
    assert [(arg["name"], arg["text"]) for arg in shown["args"]] == [("a", "1"), ("b", "[2]")]
    assert shown["kwargs"]["k"]["json"] == 3
    assert shown["call_site"]["stack_trace"][0]["function"] == "main"
    assert shown["location"]["line"] == 10
    assert shown["replacements"] == ["twin"]
    assert server.get(f"/sessions/{app.session_id}")["status"] == "paused"


def action_after(
    server: Server, app: HttpApplication, call: Json, action: str, **more: Any
) -> Json:
    decide(server, call, action, **more)
    found: Json = app.poll(call)["action"]
    return found


@pytest.mark.parametrize(
    ("given", "value"),
    [
        ({"fake_result": {"value": {"a": [1, None, "x"]}}}, {"a": [1, None, "x"]}),
        ({"fake_result": {"value": None}}, None),
        ({"fake_result": {"literal": "{1, (2, b'3')}"}}, {1, (2, b"3")}),
        ({"fake_result": {"text": "(4.0, 'tea')"}}, (4.0, "tea")),
        ({"fake_result": {"text": '{"a": [true, null]}'}}, {"a": [True, None]}),
        ({"fake_result": {"cid": compute_cid("known")}}, "known"),
        ({"fake_result": encode_value("sent now")}, "sent now"),
        ({"fake_result_cid": compute_cid("known")}, "known"),
        (
            {
                "fake_result_cid": compute_cid("flat"),
                "fake_result_data": encode_value("flat")["data"],
            },
            "flat",
        ),
        ({"fake_result_data": encode_value("bytes only")["data"]}, "bytes only"),
    ],
)
def test_skip_takes_a_value_in_any_form(
    server: Server, app: HttpApplication, given: Json, value: Any
) -> None:
    app.start("warm", "known")
    action = action_after(server, app, app.start("held"), "skip", **given)
    assert action["action"] == "skip"
    assert decode_value(action, "fake_result") == value


def test_modify_replaces_some_and_keeps_the_rest(server: Server, app: HttpApplication) -> None:
    given = {
        "modified_args": [None, {"value": 5}],
        "modified_kwargs": {"new": {"literal": "(1,)"}, "known": {"cid": compute_cid(1)}},
    }
    call = app.start("held", 1, 2, 3)
    action = action_after(server, app, call, "modify", **given)
    first, second = action["modified_args"]
    assert (first, decode_value(second)) == (None, 5)
    shown = {name: decode_value(each) for name, each in action["modified_kwargs"].items()}
    assert shown == {"new": (1,), "known": 1}
    app.complete(call, 9)
    decision = server.get(f"/api/calls/{call['call_id']}")["decision"]
    assert (decision["action"], decision["by"], decision["when"]) == ("modify", "me", "before")
    assert "data" not in decision["modified_args"][1]


def test_raise_names_a_class_or_carries_an_exception(server: Server, app: HttpApplication) -> None:
    action = action_after(
        server,
        app,
        app.start("held"),
        "raise",
        exception_type="app.errors.Late",
        exception_message="too late",
    )
    assert action == {
        "action": "raise",
        "exception_type": "app.errors.Late",
        "exception_message": "too late",
    }
    sent = encode_value(ValueError("pickled"))
    given = {"exception_cid": sent["cid"], "exception_data": sent["data"]}
    action = action_after(server, app, app.start("held"), "raise", **given)
    assert str(decode_value(action, "exception")) == "pickled"


def test_replace_takes_what_was_registered_with_the_same_signature(
    server: Server, app: HttpApplication
) -> None:
    for name, signature in (("held", "(a)"), ("twin", "(a)"), ("other", "(x, y)")):
        body = {"session_id": app.session_id, "name": name, "signature": signature}
        server.post("/api/call/register", body)
    app.call("method", 1, signature="(a)")
    stranger = HttpApplication(server, name="stranger")
    body = {"session_id": stranger.session_id, "name": "theirs", "signature": "(a)"}
    server.post("/api/call/register", body)
    call = app.start("held", 1, signature="(a)")
    assert server.get(f"/api/holds/{call['hold_id']}")["replacements"] == ["twin"]
    for wrong in ("other", "nobody", "method", "theirs", "held"):
        error = decide(server, call, "replace", expect=400, function_name=wrong)
        assert error["error"]["details"]["functions"] == ["twin"]
    action = action_after(server, app, call, "replace", function_name="twin")
    assert action == {"action": "replace", "function_name": "twin"}


@pytest.mark.parametrize(
    ("action", "given", "status", "code"),
    [
        ("skip", {}, 400, "invalid_decision"),
        ("skip", {"fake_result": 5}, 400, "invalid_decision"),
        ("skip", {"fake_result": {"valeu": 5}}, 400, "invalid_decision"),
        ("skip", {"fake_result": {"literal": "open('x')"}}, 400, "invalid_decision"),
        ("skip", {"fake_result": {"literal": "("}}, 400, "invalid_decision"),
        ("skip", {"fake_result": {"text": "tea"}}, 400, "invalid_decision"),
        ("skip", {"fake_result": {"text": 5}}, 400, "invalid_decision"),
        ("skip", {"fake_result": {"cid": "0" * 64}}, 404, "cid_not_found"),
        ("skip", {"fake_result": {"cid": "short"}}, 400, "invalid_request"),
        ("skip", {"fake_result": {"cid": "0" * 64, "data": "AAAA"}}, 400, "cid_mismatch"),
        ("raise", {}, 400, "invalid_decision"),
        ("raise", {"exception_type": "not a name"}, 400, "invalid_decision"),
        (
            "raise",
            {"exception_type": "ValueError", "exception_message": 5},
            400,
            "invalid_decision",
        ),
        ("modify", {}, 400, "invalid_decision"),
        ("modify", {"modified_args": {}}, 400, "invalid_decision"),
        ("modify", {"modified_args": [{"cid": "0" * 64}]}, 404, "cid_not_found"),
        ("modify", {"modified_kwargs": []}, 400, "invalid_decision"),
        ("replace", {}, 400, "invalid_decision"),
        ("step-over", {}, 409, "wrong_state"),
        ("fly", {}, 400, "invalid_decision"),
    ],
)
def test_a_bad_decision_leaves_the_call_held(
    server: Server, app: HttpApplication, action: str, given: Json, status: int, code: str
) -> None:
    call = app.start("held")
    assert decide(server, call, action, expect=status, **given)["error_code"] == code
    assert app.poll(call) == {"status": "waiting"}
    assert server.get(f"/api/holds/{call['hold_id']}")["open"] is True


def test_text_without_quotes_is_told_from_a_literal(server: Server, app: HttpApplication) -> None:
    error = decide(server, app.start("held"), "skip", fake_result={"literal": "tea"}, expect=400)
    assert error["error"]["message"] == "fake_result: not a Python literal: 'tea'"
    assert "a text in quotes" in error["error"]["hint"]


def test_typed_text_that_is_no_value_is_shown_with_quotes(
    server: Server, app: HttpApplication
) -> None:
    given = {"size": {"text": "green tea"}}
    error = decide(server, app.start("held"), "modify", modified_kwargs=given, expect=400)["error"]
    assert error["message"] == (
        "modified_kwargs.size: neither a Python literal nor JSON: 'green tea'"
    )
    assert "put it in quotes: 'green tea'" in error["hint"]
    assert error["details"]["field"] == "modified_kwargs.size"


def test_what_is_allowed_depends_on_the_moment(server: Server) -> None:
    app = HttpApplication(server, name="moments")
    with temporary_breakpoint(server, function="late", when="after"):
        done = app.complete(app.start("late"), 1)
        error = decide(server, done, "modify", expect=409, modified_args=[])
        assert error["error"]["details"]["possible"] == ["continue", "skip", "raise"]
        decide(server, done, "skip", fake_result={"value": 2})
        assert decode_value(app.poll(done)["action"], "fake_result") == 2
        shown = server.get(f"/api/calls/{done['poll_url'].rpartition('/')[2]}")
        assert (shown["result"]["json"], shown["decision"]["when"]) == (1, "after")


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


def test_all_are_resumed_at_once(server: Server, app: HttpApplication) -> None:
    other = HttpApplication(server, name="other")
    mine, also, theirs = app.start("held"), app.start("held"), other.start("held")
    done = server.post("/api/holds/continue", {"session_id": app.session_id, "by": "me"})
    assert done == {"continued": [mine["hold_id"], also["hold_id"]], "total": 2}
    assert [app.poll(each)["status"] for each in (mine, also)] == ["ready", "ready"]
    assert other.poll(theirs) == {"status": "waiting"}
    assert server.post("/api/holds/continue")["total"] == 1
    server.post("/api/holds/continue", {"session_id": "calls_ffffffff"}, expect=404)


def test_the_session_tells_what_happened_to_its_holds(server: Server, app: HttpApplication) -> None:
    call = app.start("held")
    decide(server, call, "raise", exception_type="ValueError")
    events = server.get(f"/sessions/{app.session_id}/events")["events"]
    opened, decided = [e for e in events if e["event"].startswith("hold_")]
    assert (opened["hold_id"], opened["method_name"]) == (call["hold_id"], "held")
    assert (decided["event"], decided["action"], decided["by"]) == ("hold_decided", "raise", "me")


# -- questions -----------------------------------------------------------------------------------


def answer(app: HttpApplication, call: Json, **said: Any) -> Json:
    """What an application does with a question: hear it, answer it."""
    asked = app.poll(call, wait=30)
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
        assert app.poll(call, wait=30)["status"] == "evaluate"
        decide(server, call, "continue")
    assert asked[0]["error_code"] == "wrong_state"


def test_only_an_application_that_can_is_asked(server: Server, app: HttpApplication) -> None:
    call = app.start("held")
    path = f"/api/holds/{call['hold_id']}/evaluate"
    server.post(path, {"expression": "x"}, expect=409)
    decide(server, call, "continue")
    path = f"/sessions/{app.session_id}/evaluate"
    assert "no call" in server.post(path, {"expression": "x"}, expect=409)["error"]["message"]


# -- applications that go ------------------------------------------------------------------------


def test_the_holds_of_a_process_that_ended_are_withdrawn(server: Server) -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with temporary_breakpoint(server, function="held"):
        app = HttpApplication(server, pid=process.pid, argv=["x.py"])
        call = app.start("held")
        with background_call(lambda: app.poll(call, wait=60, expect=409)) as heard:
            process.kill()
            process.communicate()
    assert "its process has ended" in heard[0]["message"]
    shown = server.get(f"/sessions/{app.session_id}")
    assert (shown["status"], shown["reason"]) == ("terminated", "process_ended")
    assert server.get(f"/api/holds/{call['hold_id']}")["outcome"] == "withdrawn"
    assert decide(server, call, "continue", expect=409)["error_code"] == "already_decided"
    assert server.get(f"/api/calls/{call['call_id']}")["status"] == "lost"


def test_a_session_that_is_ended_holds_nothing(server: Server, app: HttpApplication) -> None:
    call = app.start("held")
    server.post("/api/call/session/end", {"session_id": app.session_id})
    assert server.get(f"/api/holds/{call['hold_id']}")["open"] is False
    error = app.start("held", expect=409)
    assert (error["error"], error["state"]) == ("wrong_state", "terminated")


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


def test_a_call_held_at_its_end_goes_with_its_process(server: Server) -> None:
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    with temporary_breakpoint(server, function="f", when="after"):
        app = HttpApplication(server, pid=process.pid, argv=["x.py"])
        call = app.complete(app.start("f"), 1)
        with background_call(lambda: app.poll(call, wait=60, expect=409)) as heard:
            process.kill()
            process.communicate()
    assert "its process has ended" in heard[0]["message"]
    assert server.get(f"/api/holds/{call['hold_id']}")["outcome"] == "withdrawn"


def test_the_record_says_what_was_delivered_instead(server: Server) -> None:
    app = HttpApplication(server, name="delivered")
    with temporary_breakpoint(server, function="late", when="after"):
        call = app.start("late")
        held = app.complete(call, 1)
        decide(server, held, "skip", fake_result={"value": 2})
    shown = server.get(f"/api/calls/{call['call_id']}")
    assert (shown["result"]["json"], shown["delivered"]["result"]["json"]) == (1, 2)
    [listed] = server.get(f"/api/calls?session={app.session_id}")["calls"]
    assert listed["delivered"] == shown["delivered"]
    with temporary_breakpoint(server, function="late", when="exception"):
        call = app.start("late")
        held = app.fail(call, ValueError("mine"))
        decide(server, held, "raise", exception_type="KeyError", exception_message="theirs")
    shown = server.get(f"/api/calls/{call['call_id']}")
    assert shown["exception_type"] == "ValueError"
    assert shown["delivered"] == {"exception_type": "KeyError", "exception_message": "theirs"}
    assert server.get(f"/api/calls/{app.call('late', result=3)}")["delivered"] is None


# -- applications that try a decision before it is taken -------------------------------------------


@pytest.fixture
def checking(server: Server, app: HttpApplication) -> HttpApplication:
    return HttpApplication(server, name="checks", checks=True)


def answer_check(app: HttpApplication, call: Json, **answer: Any) -> Json:
    """Wait for a decision to check, and answer. Return the question."""
    question = app.poll(call, wait=30)
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
        answers = [one.result(30) for one in both]
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
        assert checking.poll(call, wait=30)["status"] == "check"
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
        assert dying.poll(call, wait=30)["status"] == "check"
        process.kill()
        process.communicate()
    assert "its process has ended" in refused[0]["error"]["message"]


# -- applications that do not ----------------------------------------------------------------------


def test_names_become_positions_for_an_application_that_does_not_check(
    server: Server, app: HttpApplication
) -> None:
    call = app.start("held", "tea", signature="(item, count=1, /, size=2)")
    error = decide(server, call, "modify", modified_kwargs={"itme": {"value": 1}}, expect=400)
    assert "did you mean item?" in error["error"]["message"]
    changes = {name: {"value": name} for name in ("item", "count", "size")}
    action = action_after(server, app, call, "modify", modified_kwargs=changes)
    assert [decode_value(value) for value in action["modified_args"]] == ["item", "count"]
    assert list(action["modified_kwargs"]) == ["size"]


def test_the_arguments_of_an_exception_are_sent_with_it(
    server: Server, app: HttpApplication
) -> None:
    call = app.start("held", 1)
    error = decide(server, call, "raise", exception_args=[{"value": 1}], expect=400)
    assert error["error_code"] == "invalid_decision"
    action = action_after(
        *(server, app, call, "raise"),
        exception_type="app.Late",
        exception_args=[{"value": 1}],
        exception_kwargs={"detail": {"literal": "(2,)"}},
    )
    assert decode_value(action["exception_args"][0]) == 1
    assert decode_value(action["exception_kwargs"]["detail"]) == (2,)


# -- what is seen of arguments and decisions -------------------------------------------------------

SIGNATURE = "(item, count=1, /, size='m', *rest, **options)"


def test_a_hold_shows_its_arguments_by_parameter(server: Server, app: HttpApplication) -> None:
    call = app.start("held", "tea", kwargs={"color": 3}, signature=SIGNATURE)
    shown = server.get(f"/api/holds/{call['hold_id']}")
    assert [(one["name"], one["text"], one["is_passed"]) for one in shown["arguments"]] == [
        *(("item", "'tea'", True), ("count", "1", False), ("size", "'m'", False)),
        *(("*rest", "()", False), ("**options", "{'color': 3}", True)),
    ]
    assert shown["breakpoint"] == "held"
    call = app.start("held", "tea", kwargs={"color": 3})
    shown = server.get(f"/api/holds/{call['hold_id']}")
    assert [one["name"] for one in shown["arguments"]][-1] in ("color", "**options")


def test_arguments_have_a_text_that_can_be_changed_and_sent_back(
    server: Server, app: HttpApplication
) -> None:
    order = {"tea": 4.0, "sizes": (1, 2)}
    given = {"size": order, "color": datetime.date(2024, 2, 29)}
    call = app.start("held", list(range(2000)), kwargs=given, signature=SIGNATURE)
    shown = server.get(f"/api/holds/{call['hold_id']}")
    by_name = {one["name"]: one for one in shown["arguments"]}
    assert {name: one["editable"] for name, one in by_name.items()} == {
        "item": True,
        "count": True,
        "size": True,
        "*rest": False,
        "**options": False,
    }
    assert by_name["item"]["literal"] == repr(list(range(2000)))  # whole, however it is shown
    assert by_name["count"]["literal"] == "1"
    assert "literal" not in shown["kwargs"]["color"]
    text = by_name["size"]["literal"]
    assert text == shown["kwargs"]["size"]["literal"] == repr(order)
    changes = {"size": {"text": text}}
    action = action_after(server, app, call, "modify", modified_kwargs=changes)
    assert repr(decode_value(action["modified_kwargs"]["size"])) == repr(order)


def test_a_result_has_a_text_that_can_be_changed(server: Server, app: HttpApplication) -> None:
    with temporary_breakpoint(server, function="returned", when="after"):
        call = app.start("returned", "tea")
        held = app.complete(call, [4.0])
        shown = server.get(f"/api/holds/{held['hold_id']}")
        assert shown["result"]["literal"] == "[4.0]"
        assert shown["title"] == "returned('tea') returned [4.0]"


def test_a_held_call_has_a_title(server: Server, app: HttpApplication) -> None:
    call = app.start("held", "ann", {"tea": 2}, kwargs={"gift": True}, qualname="Shop.held")
    [listed] = [
        hold for hold in server.get("/api/holds")["holds"] if hold["hold_id"] == call["hold_id"]
    ]
    assert listed["title"] == "Shop.held('ann', {'tea': 2}, gift=True)"
    session = server.get(f"/sessions/{app.session_id}")
    assert listed["session_name"] == session["name"]
    shown = server.get(f"/api/holds/{call['hold_id']}")
    assert (shown["title"], shown["session_name"]) == (listed["title"], session["name"])
    long = app.start("held", "x" * 5000, ["y" * 50] * 50, kwargs={"lines": "a\nb" * 100})
    title = server.get(f"/api/holds/{long['hold_id']}")["title"]
    assert len(title) <= 200
    assert "\n" not in title


@pytest.mark.parametrize(
    ("action", "fields", "text"),
    [
        (
            "modify",
            {"modified_args": [{"value": "cake"}], "modified_kwargs": {"size": {"value": "l"}}},
            "modify: item: 'tea' → 'cake', size: not passed → 'l', decided by me",
        ),
        ("skip", {"fake_result": {"value": [7]}}, "skip: returned [7], decided by me"),
        (
            "raise",
            {"exception_type": "KeyError", "exception_message": "gone"},
            "raise: raised KeyError: gone, decided by me",
        ),
        (
            "raise",
            {"exception_type": "app.Late", "exception_args": [{"value": 1}]},
            "raise: raised app.Late(1), decided by me",
        ),
        ("replace", {"function_name": "cheap"}, "replace: called cheap, decided by me"),
    ],
)
def test_what_a_decision_changed_is_in_every_answer_about_the_call(
    server: Server, app: HttpApplication, action: str, fields: Any, text: str
) -> None:
    body = {"session_id": app.session_id, "name": "cheap", "signature": "(item)"}
    server.post("/api/call/register", body)
    call = app.start("held", "tea", signature=SIGNATURE)
    decide(server, call, action, **fields)
    app.complete(call, 1)
    shown = server.get(f"/api/calls/{call['call_id']}")
    assert shown["decided"]["text"] == text
    [listed] = server.get(f"/api/calls?session={app.session_id}")["calls"]
    assert listed["decided"] == shown["decided"]
    if action == "modify":
        changes = shown["decided"]["arguments"]
        assert [one["name"] for one in changes] == ["item", "size"]
        assert (changes[0]["before"]["json"], changes[0]["after"]["json"]) == ("tea", "cake")
        assert "before" not in changes[1]


def test_a_call_that_nobody_decided_says_nothing_of_it(
    server: Server, app: HttpApplication
) -> None:
    call = app.start("held", 1)
    decide(server, call, "continue")
    assert "decided" not in server.get(f"/api/calls/{call['call_id']}")
