"""A held call: seen, decided once, in one language; and questions that its application answers."""

from __future__ import annotations

import datetime
import subprocess
import sys
from collections.abc import Iterator
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
