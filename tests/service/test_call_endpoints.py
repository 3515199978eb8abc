"""The requests of an application, in plain HTTP: start, poll, complete, and their errors."""

from __future__ import annotations

import pickle
import re
from pathlib import Path
from typing import Any

import dill
import pytest

from harness import Server
from http_application import (
    HttpApplication,
    build_call_site,
    compute_cid,
    decide,
    decode_value,
    encode_bytes,
    encode_value,
    temporary_breakpoint,
)
from local_server import LocalServer


@pytest.fixture
def app(server: Server) -> HttpApplication:
    return HttpApplication(server)


class Opens:
    """Loading it makes a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return open, (str(self.path), "w")


# -- start ---------------------------------------------------------------------------------------


def test_endpoint_call_start_exists(server: Server) -> None:
    assert server.http.post("/api/call/start", json={"method_name": "f"}).status_code == 200
    assert server.http.post("/api/v1/call/start", json={"method_name": "f"}).status_code == 200


def test_endpoint_call_start_accepts_dill_data(app: HttpApplication) -> None:
    def local(x: int) -> int:
        return x + 1

    assert app.start("f", {"a": [1, (2,)]}, local, lambda: 3)["action"] == "continue"


def test_endpoint_call_start_returns_action(app: HttpApplication) -> None:
    assert app.start("f", 1)["action"] == "continue"


def test_endpoint_call_start_returns_call_id(app: HttpApplication) -> None:
    first, second = app.start("f")["call_id"], app.start("f")["call_id"]
    assert first < second


def test_call_id_format_is_timestamp_based(app: HttpApplication) -> None:
    before = build_call_site()["timestamp"]
    found = re.fullmatch(r"(\d+\.\d{6})-(\d{3,})", app.start("f")["call_id"])
    assert found
    assert before - 1 < float(found[1]) <= build_call_site()["timestamp"]


def test_endpoint_call_start_stores_cid_data(server: Server, app: HttpApplication) -> None:
    value = {"stored": ["with", "start"]}
    app.start("f", value)
    kept = server.http.get(f"/api/cid/{compute_cid(value)}")
    assert kept.headers["content-type"] == "application/octet-stream"
    assert kept.content == dill.dumps(value)
    assert app.start("f", args=[{"cid": compute_cid(value)}])["action"] == "continue"


# -- poll ----------------------------------------------------------------------------------------


def test_endpoint_poll_exists(server: Server, app: HttpApplication) -> None:
    with temporary_breakpoint(server, function="polled"):
        call = app.start("polled")
        assert call["poll_url"] == f"/api/poll/{call['call_id']}"
        assert server.http.get(call["poll_url"]).status_code == 200


def test_endpoint_poll_returns_status(server: Server, app: HttpApplication) -> None:
    with temporary_breakpoint(server, function="polled"):
        assert app.poll(app.start("polled"))["status"] == "waiting"


def test_endpoint_poll_waiting(server: LocalServer, app: HttpApplication) -> None:
    with temporary_breakpoint(server, function="polled"):
        call = app.start("polled")
        assert [app.poll(call) for _ in range(3)] == [{"status": "waiting"}] * 3
        poll = server.begin("GET", f"{call['poll_url']}?wait=5")
        server.turn(4.9)
        assert not poll.is_there
        server.turn(0.1)
        assert poll.read() == {"status": "waiting"}


def test_endpoint_poll_ready(server: Server, app: HttpApplication) -> None:
    with temporary_breakpoint(server, function="polled"):
        call = app.start("polled")
        decide(server, call, "continue")
        ready = {"status": "ready", "action": {"action": "continue"}}
        # An application that lost the first answer gets it again.
        assert [app.poll(call), app.poll(call, wait=5)] == [ready, ready]


def test_endpoint_poll_not_found(server: Server) -> None:
    for unknown in ("1234567890.123456-001", "nonsense", "0"):
        answer = server.get(f"/api/poll/{unknown}", expect=404)
        assert answer["error"] == "call_not_found"


def test_endpoint_breakpoint_triggers_poll(server: Server, app: HttpApplication) -> None:
    with temporary_breakpoint(server, function="polled"):
        call = app.start("polled", 1)
        assert call["action"] == "poll"
        assert call["poll_interval_ms"] == 100
        assert call["timeout_ms"] == 60_000
        assert app.start("other")["action"] == "continue"


def test_an_application_that_waits_in_its_requests_may_wait_long(server: Server) -> None:
    with temporary_breakpoint(server, function="polled"):
        assert HttpApplication(server, name="patient").start("polled")["timeout_ms"] == 3_600_000


# -- complete ------------------------------------------------------------------------------------


def test_endpoint_call_complete_exists(server: Server) -> None:
    body = {"call_id": "1.000001-001", "status": "success", "timestamp": 1.0}
    assert server.post("/api/call/complete", body, expect=404)["error"] == "call_not_found"


def test_endpoint_call_complete_success(app: HttpApplication) -> None:
    assert app.complete(app.start("f"), 3) == {"status": "ok"}


def test_endpoint_call_complete_exception(server: Server, app: HttpApplication) -> None:
    call = app.start("f")
    assert app.fail(call, ValueError("invalid input")) == {"status": "ok"}
    shown = server.get(f"/api/calls/{call['call_id']}")
    assert (shown["status"], shown["exception_type"]) == ("exception", "ValueError")
    assert shown["exception_message"] == "invalid input"
    assert shown["exception"]["text"] == "ValueError('invalid input')"
    assert shown["result"] is None


def test_endpoint_call_complete_stores_result(server: Server, app: HttpApplication) -> None:
    call = app.start("f")
    app.complete(call, ["the", "result"])
    shown = server.get(f"/api/calls/{call['call_id']}")
    assert shown["result_cid"] == compute_cid(["the", "result"])
    assert server.http.get(f"/api/cid/{shown['result_cid']}").content == dill.dumps(
        ["the", "result"]
    )


def test_a_call_is_completed_once(server: Server, app: HttpApplication) -> None:
    call = app.start("f")
    app.complete(call, 1)
    error = app.complete(call, 2, expect=409)
    assert (error["error"], error["state"]) == ("call_already_completed", "success")
    assert error["error_code"] == "call_already_completed"
    assert call["call_id"] in error["message"]
    assert server.get(f"/api/calls/{call['call_id']}")["result"]["json"] == 1


# -- contents ------------------------------------------------------------------------------------


def test_endpoint_cid_not_found_response(server: Server, app: HttpApplication) -> None:
    unknown = [compute_cid("never sent"), compute_cid("nor this")]
    answer = app.start(
        "f",
        expect=404,
        args=[encode_value(1), {"cid": unknown[0]}],
        kwargs={},
        needs=[{"cid": unknown[1]}],
    )
    assert answer == {
        "error": "cid_not_found",
        "missing_cids": unknown,
        "message": "Resend with full data",
    }
    call = app.start("f")
    lost = app.complete(call, result_cid=unknown[0], result_data=None, expect=404)
    assert lost["missing_cids"] == [unknown[0]]
    assert app.complete(call, "never sent") == {"status": "ok"}


def test_endpoint_cid_verification(server: Server, app: HttpApplication) -> None:
    wrong = {"cid": compute_cid("one thing"), "data": encode_value("another")["data"]}
    answer = app.start("f", expect=400, args=[wrong])
    assert (answer["error"], answer["cid"]) == ("cid_mismatch", wrong["cid"])
    assert server.http.get(f"/api/cid/{wrong['cid']}").status_code == 404


def test_a_target_need_not_be_known(app: HttpApplication) -> None:
    assert app.start("f", target_cid=compute_cid("never sent at all"))["action"] == "continue"


def test_a_value_may_come_twice_in_one_request(app: HttpApplication) -> None:
    value = encode_value("twice in one request")
    args = [{"cid": value["cid"]}, value]
    assert app.start("f", args=args)["action"] == "continue"


def test_a_preview_of_the_application_is_kept_within_bounds(server: Server) -> None:
    value = encode_value("previewed")
    preview = {"text": "x" * 100_000, "type": "str", "length": 9, "json": "previewed", "more": 1}
    HttpApplication(server).start("f", args=[{**value, "preview": preview}])
    shown = server.get(f"/api/cid/{value['cid']}/preview")
    assert set(shown) == {"cid", "text", "type", "length", "json", "literal"}
    assert len(shown["text"]) < 20_000


def test_without_a_preview_one_is_made_from_the_bytes(server: Server, app: HttpApplication) -> None:
    app.start("f", {"made": [1]})
    shown = server.get(f"/api/cid/{compute_cid({'made': [1]})}/preview")
    assert shown["text"] == "{'made': [1]}"
    assert shown["json"] == {"made": [1]}


def test_a_malicious_pickle_is_kept_and_never_loaded(server: Server, tmp_path: Path) -> None:
    app = HttpApplication(server)
    evil = encode_bytes(pickle.dumps(Opens(tmp_path / "made")))
    with temporary_breakpoint(server, function="evil", condition="args[0] == 1"):
        call = app.start("evil", args=[evil])
    app.complete(call, result_cid=evil["cid"], result_data=evil["data"])
    shown = server.get(f"/api/calls/{call['call_id']}")
    assert "open(" in shown["args"][0]["text"]
    server.get(f"/api/diff?left={evil['cid']}&right={evil['cid']}")
    server.get(f"/api/diff?left={evil['cid']}&right={shown['args'][0]['cid']}")
    server.get("/api/calls?filter=args[0] == 1")
    assert server.http.get(f"/api/cid/{evil['cid']}").content
    assert not (tmp_path / "made").exists()


def test_a_value_has_a_largest_size(tmp_path: Path) -> None:
    running = LocalServer(tmp_path / "data")
    try:
        running.patch("/config", {"call_max_value_bytes": 1000})
        app = HttpApplication(running)
        assert app.start("f", "x" * 2000, expect=413)["error_code"] == "body_too_large"
        assert app.start("f", "x" * 500)["action"] == "continue"
    finally:
        running.stop()


# -- bad bodies ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "method_name"),
        ({"method_name": ""}, "method_name"),
        ({"method_name": 5}, "method_name"),
        ({"method_name": "f", "args": {}}, "args"),
        ({"method_name": "f", "args": ["x"]}, "args.0"),
        ({"method_name": "f", "args": [{}]}, "args.0.cid"),
        ({"method_name": "f", "args": [{"cid": "zz"}]}, "args.0.cid"),
        ({"method_name": "f", "args": [{"cid": "0" * 64, "data": "§"}]}, "args.0.data"),
        ({"method_name": "f", "args": [{"cid": "0" * 64, "data": 1}]}, "args.0.data"),
        ({"method_name": "f", "kwargs": []}, "kwargs"),
        ({"method_name": "f", "kwargs": {"x": 1}}, "kwargs.x"),
        ({"method_name": "f", "call_site": []}, "call_site"),
        ({"method_name": "f", "call_site": {"stack_trace": 1}}, "call_site.stack_trace"),
        ({"method_name": "f", "call_site": {"timestamp": "now"}}, "timestamp"),
        ({"method_name": "f", "parent_call_id": "x"}, "parent_call_id"),
        ({"method_name": "f", "thread": 1}, "thread"),
        ({"method_name": "f", "call_type": "other"}, "call_type"),
        ({"method_name": "f", "call_type": ["proxy"]}, "call_type"),
        ([], "body"),
        (None, "body"),
    ],
)
def test_a_bad_start_names_its_field(server: Server, body: Any, field: str) -> None:
    error = server.post("/api/call/start", body, expect=400)
    assert (error["error"], error["field"]) == ("invalid_request", field)
    assert error["error_code"] == "invalid_request"
    assert error["message"].startswith(field)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({}, "call_id"),
        ({"call_id": "x"}, "status"),
        ({"call_id": "x", "status": "done"}, "status"),
        ({"call_id": "x", "status": "success", "result_cid": 1}, "result_cid"),
        ({"call_id": "x", "status": "success", "changed": []}, "changed"),
        ({"call_id": "x", "status": "success", "changed": {"args": []}}, "changed.args"),
        ({"call_id": "x", "status": "success", "duration_ns": "1"}, "duration_ns"),
    ],
)
def test_a_bad_completion_names_its_field(server: Server, body: Any, field: str) -> None:
    error = server.post("/api/call/complete", body, expect=400)
    assert (error["error"], error["field"]) == ("invalid_request", field)


def test_what_is_not_json_is_a_bad_body(server: Server) -> None:
    answer = server.http.post(
        "/api/call/start", content=b"{", headers={"content-type": "application/json"}
    )
    assert answer.status_code == 400
    assert answer.json()["field"] == "body"


# -- what is kept of a call ----------------------------------------------------------------------


def test_every_reported_fact_about_a_call_is_kept(server: Server) -> None:
    app = HttpApplication(server, name="all")
    outer = app.start("outer")
    call = app.start(
        "inner",
        [1],
        kwargs={"key": "v"},
        call_site=build_call_site("caller", "main"),
        call_type="inline",
        alias="named",
        signature="(items, key)",
        qualname="Shop.inner",
        thread={"id": 7, "name": "worker"},
        task="Task-1",
        parent_call_id=outer["call_id"],
    )
    app.complete(call, 5, duration_ns=1_500_000, changed={"args": {"0": encode_value([1, 2])}})
    shown = server.get(f"/api/calls/{call['call_id']}")
    assert shown["method_name"] == "inner"
    assert (shown["call_type"], shown["alias"], shown["qualname"]) == (
        *("inline", "named", "Shop.inner"),
    )
    assert [frame["function"] for frame in shown["call_site"]["stack_trace"]] == ["caller", "main"]
    assert shown["location"] == {"file": "/app/main.py", "line": 10, "function": "caller"}
    assert (shown["thread"], shown["task"]) == ({"id": 7, "name": "worker"}, "Task-1")
    assert shown["parent_call_id"] == outer["call_id"]
    assert shown["duration_ms"] == 1.5
    assert shown["kwargs"]["key"]["json"] == "v"
    assert shown["changed"]["args"]["0"]["json"] == [1, 2]
    assert shown["session_id"] == app.session_id
    assert shown["signature"] == "(items, key)"


def test_what_cannot_be_stored_leaves_a_marker(server: Server, app: HttpApplication) -> None:
    call = app.start("f")
    app.complete(call, result_cid=None, result_data=None, marker="generator")
    assert server.get(f"/api/calls/{call['call_id']}")["marker"] == "generator"


def test_skipping_gives_the_application_its_value(server: Server, app: HttpApplication) -> None:
    with temporary_breakpoint(server, function="skipped"):
        call = app.start("skipped")
        decide(server, call, "skip", fake_result=encode_value({"any": "value"}))
        action = app.poll(call)["action"]
        assert decode_value(action, "fake_result") == {"any": "value"}
