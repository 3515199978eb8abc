"""The record: lists, filters, pages, the tree, the uses of a value, two values compared."""

from __future__ import annotations

import contextlib
import sqlite3
from pathlib import Path
from urllib.parse import urlencode

import pytest

from harness import Server
from http_application import HttpApplication, Json, build_call_site, compute_cid, encode_value
from local_server import LocalServer


@pytest.fixture
def app(server: Server) -> HttpApplication:
    return HttpApplication(server, name="records")


def list_call_ids(server: Server, app: HttpApplication, **query: object) -> list[str]:
    """The ids, newest first."""
    asked = urlencode({"session": app.session_id, **query})
    return [each["call_id"] for each in server.get(f"/api/calls?{asked}")["calls"]]


def test_calls_are_listed_newest_first(server: Server, app: HttpApplication) -> None:
    ids = [app.call("f", number) for number in range(5)]
    assert list_call_ids(server, app) == ids[::-1]
    assert list_call_ids(server, app, limit=2) == ids[:2:-1]
    assert server.get(f"/api/calls/{ids[0]}")["args"][0]["json"] == 0


def test_a_call_under_way_is_listed(server: Server, app: HttpApplication) -> None:
    call = app.start("f")
    assert list_call_ids(server, app, status="running") == [call["call_id"]]
    app.complete(call)
    assert list_call_ids(server, app, status="running") == []
    assert list_call_ids(server, app, status="success") == [call["call_id"]]


def test_pages_follow_each_other_without_gap_or_repetition(
    server: Server, app: HttpApplication
) -> None:
    ids = [app.call("f" if number % 2 else "g", number) for number in range(23)]
    for query, wanted in (
        ({}, ids),
        ({"function": "f"}, ids[1::2]),
        ({"function": "?"}, ids),
        ({"filter": "args[0] % 3 == 0"}, ids[::3]),
    ):
        found: list[str] = []
        page: Json = {"next": None, "has_more": True}
        while page["has_more"]:
            more = {"before": page["next"]} if page["next"] else {}
            asked = urlencode({"session": app.session_id, "limit": 5, **query, **more})
            page = server.get(f"/api/calls?{asked}")
            assert len(page["calls"]) <= 5
            found += [each["call_id"] for each in page["calls"]]
        assert found == wanted[::-1]


def test_a_pattern_may_mean_many_functions(server: Server, app: HttpApplication) -> None:
    ids = [app.call(f"many_{number}") for number in range(80)]
    app.call("other")
    assert list_call_ids(server, app, function="many_*") == ids[::-1]
    assert list_call_ids(server, app, function="many_*", limit=3) == ids[:-4:-1]


def test_lists_are_narrowed(server: Server, app: HttpApplication) -> None:
    plain = app.call("f", 1, result=10)
    inline = app.call("f", 2, call_type="inline", alias="named", result=20)
    method = app.call("m", 3, qualname="Shop.m", result=30)
    failed = app.start("f", 4)
    app.fail(failed, ValueError("too late"))
    wrong = failed["call_id"]
    for query, wanted in (
        ({"function": "f"}, [wrong, inline, plain]),
        ({"function": "Shop.*"}, [method]),
        ({"alias": "named"}, [inline]),
        ({"function": "f", "alias": "n*"}, [inline]),
        ({"call_type": "inline"}, [inline]),
        ({"status": "exception"}, [wrong]),
        ({"status": "exception", "function": "f"}, [wrong]),
        ({"status": "exception", "function": "m"}, []),
        ({"cid": compute_cid(2)}, [inline]),
        ({"cid": compute_cid(30)}, [method]),
        ({"cid": compute_cid(30), "function": "f"}, []),
        ({"filter": "args[0] >= 2 and status == 'success'"}, [method, inline]),
        ({"filter": "'late' in exception['message']"}, [wrong]),
        ({"filter": "result == 10 or result == 30"}, [method, plain]),
        ({"function": "nobody"}, []),
        ({"since": 0, "until": 1}, []),
        ({"since": float(inline.partition("-")[0])}, [wrong, method, inline]),
        ({"until": float(inline.partition("-")[0])}, [plain]),
    ):
        assert list_call_ids(server, app, **query) == wanted, query


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("filter=args[0] >", "invalid_condition"),
        ("filter=open(1)", "invalid_condition"),
        ("status=odd", "invalid_request"),
        ("fuction=f", "invalid_request"),
        ("cid=zz", "invalid_request"),
        ("before=zz", "invalid_request"),
        ("limit=0", "invalid_request"),
        ("since=-1", "invalid_request"),
        ("since=nan", "invalid_request"),
    ],
)
def test_a_bad_question_is_refused(server: Server, query: str, code: str) -> None:
    assert server.get(f"/api/calls?{query}", expect=400)["error_code"] == code


def test_an_unknown_call_or_value_is_not_found(server: Server) -> None:
    unknown = "1234567890.000001-001"
    for path in (f"/api/calls/{unknown}", "/api/calls/x", f"/api/calls/{unknown}/tree"):
        assert server.get(path, expect=404)["error_code"] == "call_not_found"
    for path in ("", "/preview"):
        error = server.get(f"/api/cid/{'0' * 64}{path}", expect=404)
        assert error["error_code"] == "cid_not_found"
        assert set(error) == {"error", "error_code"}
    server.get("/api/cid/short", expect=400)
    assert server.get(f"/api/cid/{'0' * 64}/calls")["calls"] == []


def test_a_tree_nests_what_was_called_within(server: Server, app: HttpApplication) -> None:
    root = app.start("root")
    inner = app.start("inner", parent_call_id=root["call_id"])
    leaf = app.start("leaf", parent_call_id=inner["call_id"])
    for call in (leaf, inner):
        app.complete(call)
    second = app.call("second", parent_call_id=root["call_id"])
    app.complete(root)
    tree = server.get(f"/api/calls/{root['call_id']}/tree")
    assert (tree["total"], tree["complete"]) == (4, True)
    names = [each["method_name"] for each in tree["call"]["children"]]
    assert names == ["inner", "second"]
    assert tree["call"]["children"][0]["children"][0]["method_name"] == "leaf"
    assert tree["call"]["children"][1]["call_id"] == second
    bounded = server.get(f"/api/calls/{root['call_id']}/tree?limit=1")
    assert (bounded["total"], bounded["complete"]) == (2, False)


def test_the_calls_that_used_a_value_are_found(server: Server, app: HttpApplication) -> None:
    value = ["a value", app.session_id]
    as_argument = app.call("f", value)
    as_result = app.call("g", result=value)
    by_name = app.call("h", kwargs={"x": value})
    changed = app.start("c", [1])
    app.complete(changed, changed={"args": {"0": encode_value(value)}})
    app.call("other", 1)
    page = server.get(f"/api/cid/{compute_cid(value)}/calls")
    assert [each["call_id"] for each in page["calls"]] == [
        *(changed["call_id"], by_name, as_result, as_argument),
    ]
    first = server.get(f"/api/cid/{compute_cid(value)}/calls?limit=3")
    rest = server.get(f"/api/cid/{compute_cid(value)}/calls?limit=3&before={first['next']}")
    assert [each["call_id"] for each in rest["calls"]] == [as_argument]


def test_two_values_are_compared(server: Server, app: HttpApplication) -> None:
    before, after = {"a": [1, 2], "b": 1}, {"a": [1, 5], "c": 1}
    app.call("f", before, result=after)
    shown = server.get(f"/api/diff?left={compute_cid(before)}&right={compute_cid(after)}")
    assert shown["equal"] is False
    assert shown["differences"] == [
        {"path": "['a'][1]", "change": "changed", "left": "2", "right": "5"},
        {"path": "['b']", "change": "removed", "left": "1"},
        {"path": "['c']", "change": "added", "right": "1"},
    ]
    assert shown["left"]["text"] == "{'a': [1, 2], 'b': 1}"
    same = server.get(f"/api/diff?left={compute_cid(after)}&right={compute_cid(after)}")
    assert (same["equal"], same["identical"], same["differences"]) == (True, True, [])
    server.get(f"/api/diff?left={compute_cid(after)}", expect=400)
    server.get(f"/api/diff?left={compute_cid(after)}&right={'0' * 64}", expect=404)


def test_functions_are_listed_with_how_often_they_were_called(
    server: Server, app: HttpApplication
) -> None:
    about = {"signature": "(a, b)", "module": "shop", "file": "/app/shop.py", "line": 7}
    body = {"session_id": app.session_id, "name": "counted", "qualname": "Shop.counted", **about}
    server.post("/api/call/register", body)
    for number in range(3):
        app.call("counted", number, qualname="Shop.counted")
    found = server.get(f"/api/functions?session={app.session_id}")["functions"]
    [counted] = [each for each in found if each["name"] == "counted"]
    assert counted["calls"] == 3
    assert {name: counted[name] for name in about} == about
    assert counted["sessions"] == [app.session_id]


def test_what_is_asked_for_must_exist(server: Server) -> None:
    for session in ("calls_ffffffff", "sess_1", "nonsense"):
        for path in ("calls", "functions"):
            error = server.get(f"/api/{path}?session={session}", expect=404)
            assert error["error_code"] == "session_not_found"
    error = server.get("/api/calls?fuction=f&limt=1&limit=1", expect=400)
    assert error["error"]["details"]["unknown"] == ["fuction", "limt"]


def test_so_many_calls_are_kept_and_the_oldest_go(tmp_path: Path) -> None:
    running = LocalServer(tmp_path / "data")
    try:
        app = HttpApplication(running, name="much")
        calls = [app.call("f", f"value {number}", "shared") for number in range(30)]
        under_way = app.start("f", "value 0")
        running.patch("/config", {"calls_kept": 10})
        running.turn(10)
        left = running.get("/api/calls")["calls"]
        assert [each["call_id"] for each in left] == [under_way["call_id"], *calls[:20:-1]]
        assert running.get(f"/api/cid/{compute_cid('shared')}/preview")["json"] == "shared"
        assert running.get(f"/api/cid/{compute_cid('value 0')}/preview")["json"] == "value 0"
        running.get(f"/api/cid/{compute_cid('value 1')}", expect=404)
        # Who still counts on a value is asked for it, and the call is recorded.
        asked = app.start("f", args=[{"cid": compute_cid("value 1")}], expect=404)
        assert asked["missing_cids"] == [compute_cid("value 1")]
        again = app.call("f", "value 1")
        assert running.get(f"/api/calls/{again}")["args"][0]["json"] == "value 1"
    finally:
        running.stop()


def test_a_stack_goes_with_its_calls_and_comes_again_with_the_next(tmp_path: Path) -> None:
    running = LocalServer(tmp_path / "data")

    def stacks() -> int:
        path = f"file:{tmp_path / 'data' / 'holdfast.db'}?mode=ro"
        with contextlib.closing(sqlite3.connect(path, uri=True)) as connection:
            return int(connection.execute("SELECT count(*) FROM stacks").fetchone()[0])

    try:
        app = HttpApplication(running, name="much")
        for number in range(20):
            app.call("f", call_site=build_call_site(f"caller_{number}"))
        running.get("/api/calls")
        assert stacks() == 20
        running.patch("/config", {"calls_kept": 5})
        running.turn(10)
        assert stacks() == 5
        again = app.call("f", call_site=build_call_site("caller_0"))
        [frame] = running.get(f"/api/calls/{again}")["call_site"]["stack_trace"]
        assert frame["function"] == "caller_0"
    finally:
        running.stop()
