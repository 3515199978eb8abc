"""Call breakpoints: made, changed, kept, and in force."""

from __future__ import annotations

import datetime
import decimal
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from harness import Server
from http_application import HttpApplication, decode_value, temporary_breakpoint
from local_server import LocalServer


@pytest.fixture
def app(server: Server) -> Iterator[HttpApplication]:
    server.delete("/api/breakpoints")
    yield HttpApplication(server, name="breakpoints")
    server.delete("/api/breakpoints")
    server.post("/api/holds/continue", {})


def is_held(app: HttpApplication, method: str, *args: Any, **more: Any) -> bool:
    return bool(app.start(method, *args, **more)["action"] == "poll")


def test_a_breakpoint_is_made_listed_changed_and_removed(
    server: Server, app: HttpApplication
) -> None:
    made = server.post(
        "/api/breakpoints", {"function": "f", "condition": "args[0] > 1"}, expect=201
    )
    assert made["id"] == made["breakpoint_id"]
    assert (made["when"], made["enabled"], made["hits"]) == ("before", True, 0)
    path = f"/api/breakpoints/{made['id']}"
    assert server.get("/api/breakpoints") == {"breakpoints": [made], "total": 1}
    changed = server.patch(path, {"enabled": False, "condition": None, "hit_condition": 2})
    assert (changed["enabled"], changed["hit_condition"], changed.get("condition")) == (
        *(False, "2", None),
    )
    assert server.get(path) == changed
    assert server.delete(path)["deleted"] is True
    error = server.get(path, expect=404)
    assert error["error_code"] == "breakpoint_not_found"


def test_all_are_cleared_at_once(server: Server, app: HttpApplication) -> None:
    for name in ("a", "b"):
        server.post("/api/breakpoints", {"function": name})
    assert server.delete("/api/breakpoints") == {"deleted": 2}
    assert not is_held(app, "a")


@pytest.mark.parametrize(
    ("fields", "code", "field"),
    [
        ({}, "invalid_breakpoint", "function"),
        ({"function": ""}, "invalid_breakpoint", "function"),
        ({"function": "f", "condition": "args[0] >"}, "invalid_condition", None),
        ({"function": "f", "condition": "open('x')"}, "invalid_condition", None),
        ({"function": "f", "hit_condition": "often"}, "invalid_hit_condition", None),
        ({"function": "f", "when": "never"}, "invalid_request", "when"),
        ({"function": "f", "wehn": "after"}, "invalid_request", "wehn"),
        ({"function": "f", "action": {"action": "fly"}}, "invalid_decision", "action"),
        ({"function": "f", "action": {"action": "skip"}}, "invalid_decision", "fake_result"),
        (
            {"function": "f", "when": "after", "action": {"action": "modify"}},
            "invalid_decision",
            "action",
        ),
    ],
)
def test_a_bad_breakpoint_is_refused(
    server: Server, app: HttpApplication, fields: Any, code: str, field: str | None
) -> None:
    error = server.post("/api/breakpoints", fields, expect=400)
    assert error["error_code"] == code
    if field:
        assert error["error"]["details"]["field"] == field
    assert server.get("/api/breakpoints")["total"] == 0


def test_a_bad_condition_says_where(server: Server, app: HttpApplication) -> None:
    body = {"function": "f", "condition": "args[0] == open('x')"}
    error = server.post("/api/breakpoints", body, expect=400)
    assert error["error"]["details"]["offset"] == 12


def test_conditions_see_the_values(server: Server, app: HttpApplication) -> None:
    with temporary_breakpoint(
        server, function="add", condition="args[0] > 10 and kwargs.get('c') == 5"
    ):
        assert is_held(app, "add", 11, kwargs={"c": 5})
        assert not is_held(app, "add", 11, kwargs={"c": 6})
        assert not is_held(app, "add", 10, kwargs={"c": 5})
        assert not is_held(app, "add", "text", kwargs={"c": 5})
        assert not is_held(app, "add")


def test_conditions_see_values_that_came_earlier(server: Server, app: HttpApplication) -> None:
    """After a restart of the server, too: previews are kept with the bytes."""
    app.start("warm", [3, 4])
    with temporary_breakpoint(
        server, function="add", condition="args[0][1] == 4 and len(args[0]) == 2"
    ):
        assert is_held(app, "add", [3, 4])


@pytest.mark.parametrize(
    ("fields", "call"),
    [
        ({"function": "get_*"}, {}),
        ({"function": "Store.get_item"}, {}),
        ({"alias": "fetch"}, {}),
        ({"call_type": "inline"}, {}),
        ({"condition": "function == 'get_item'"}, {}),
    ],
)
def test_calls_are_matched_by_what_they_are(
    server: Server, app: HttpApplication, fields: Any, call: Any
) -> None:
    with temporary_breakpoint(server, **fields):
        whole = {"qualname": "Store.get_item", "alias": "fetch", "call_type": "inline"}
        assert is_held(app, "get_item", **whole)
        assert not is_held(app, "put_item", qualname="Store.put_item")


def test_a_breakpoint_can_be_of_one_session(server: Server, app: HttpApplication) -> None:
    other = HttpApplication(server, name="other")
    with temporary_breakpoint(server, function="f", session_id=app.session_id):
        assert is_held(app, "f")
        assert not is_held(other, "f")


def test_hits_are_counted_and_judged(server: Server, app: HttpApplication) -> None:
    with temporary_breakpoint(server, function="f", hit_condition="% 3") as point:
        assert [is_held(app, "f") for _ in range(6)] == [False, False, True] * 2
        assert server.get(f"/api/breakpoints/{point['id']}")["hits"] == 6


def test_registering_never_pauses(server: Server, app: HttpApplication) -> None:
    with temporary_breakpoint(server, function="*"):
        body = {"session_id": app.session_id, "name": "f", "signature": "(a)"}
        assert server.post("/api/call/register", body) == {"status": "ok"}
    assert server.get("/api/holds")["total"] == 0


def test_after_and_exception_breakpoints_hold_the_completion(
    server: Server, app: HttpApplication
) -> None:
    with (
        temporary_breakpoint(server, function="f", when="after", condition="result == 3"),
        temporary_breakpoint(
            server, function="f", when="exception", condition="exception is not None"
        ),
    ):
        assert app.complete(app.start("f"), 2) == {"status": "ok"}
        done = app.complete(app.start("f"), 3)
        assert (done["status"], done["action"]) == ("ok", "poll")
        failed = app.fail(app.start("f"), KeyError("k"))
        assert failed["action"] == "poll"
        shown = server.get(f"/api/holds/{failed['hold_id']}")
        assert (shown["when"], shown["exception_type"]) == ("exception", "KeyError")
        assert shown["allows"] == ["continue", "skip", "raise"]


@pytest.mark.parametrize(
    ("action", "check"),
    [
        (
            {"action": "skip", "fake_result": {"value": [3]}},
            lambda a: decode_value(a, "fake_result"),
        ),
        (
            {"action": "modify", "modified_args": [{"literal": "(1, {2})"}]},
            lambda a: decode_value(a["modified_args"][0]),
        ),
        (
            {"action": "raise", "exception_type": "ValueError", "exception_message": "no"},
            lambda a: a["exception_message"],
        ),
    ],
)
def test_a_decision_can_be_made_beforehand(
    server: Server, app: HttpApplication, action: Any, check: Any
) -> None:
    expected = {"skip": [3], "modify": (1, {2}), "raise": "no"}[action["action"]]
    with temporary_breakpoint(server, function="f", action=action) as point:
        call = app.start("f", 1)
        assert call["action"] == action["action"]
        assert check(call) == expected
        app.complete(call, 1)
        decision = server.get(f"/api/calls/{call['call_id']}")["decision"]
        assert decision["by"] == f"breakpoint {point['id']}"
        assert server.get("/api/holds")["total"] == 0


def register(server: Server, app: HttpApplication, **signatures: str) -> None:
    for name, signature in signatures.items():
        body = {"session_id": app.session_id, "name": name, "signature": signature}
        server.post("/api/call/register", body)


def test_a_replacement_decided_beforehand_has_to_fit(server: Server) -> None:
    app = HttpApplication(server, name="replacing")
    register(server, app, priced="(item)", twin="(item)", pairing="(x, y)")
    wrong = {"action": "replace", "function_name": "pairing"}
    error = server.post("/api/breakpoints", {"function": "priced", "action": wrong}, expect=400)
    assert error["error_code"] == "invalid_decision"
    assert error["error"]["details"]["signature"] == "(item)"
    with temporary_breakpoint(
        server, function="priced", action={"action": "replace", "function_name": "twin"}
    ) as point:
        call = app.start("priced", 1, signature="(item)")
        assert (call["action"], call["function_name"]) == ("replace", "twin")
        server.patch(f"/api/breakpoints/{point['id']}", {"action": wrong}, expect=400)


def test_a_call_is_held_when_its_replacement_does_not_fit(server: Server) -> None:
    """A breakpoint may be set before the application has said what it has."""
    preset = {"action": "replace", "function_name": "later_twin"}
    with temporary_breakpoint(server, function="early", action=preset) as point:
        app = HttpApplication(server, name="late")
        register(server, app, early="(item)")
        call = app.start("early", 1, signature="(item)")
        assert call["action"] == "poll"
        [shown] = [
            p for p in server.get("/api/breakpoints")["breakpoints"] if p["id"] == point["id"]
        ]
        assert "later_twin cannot replace early" in shown["message"]
        register(server, app, later_twin="(item)")
        again = app.start("early", 1, signature="(item)")
        assert (again["action"], again["function_name"]) == ("replace", "later_twin")


def test_breakpoints_outlive_the_server(tmp_path: Path) -> None:
    first = LocalServer(tmp_path / "data")
    made = first.post("/api/breakpoints", {"function": "f", "condition": "args[0] == [1]"})
    first.stop()
    second = LocalServer(tmp_path / "data")
    try:
        assert second.get("/api/breakpoints")["breakpoints"] == [made]
        assert is_held(HttpApplication(second), "f", [1])
        assert second.post("/api/breakpoints", {"function": "g"})["id"] != made["id"]
    finally:
        second.stop()


def test_a_session_hears_of_breakpoints(server: Server, app: HttpApplication) -> None:
    with temporary_breakpoint(server, function="f"):
        pass
    events = server.get(f"/sessions/{app.session_id}/events")["events"]
    assert [event["event"] for event in events][:3] == [
        *("session_started", "breakpoint_added", "breakpoint_removed"),
    ]


@pytest.mark.parametrize(
    ("condition", "value"),
    [
        ("args[0] == (1, 2)", (1, 2)),
        ("2 in args[0]", {1, 2}),
        ("args[0] == b'x'", b"x"),
        ("args[0] > 10", 2**100),
        ("args[0][3] == 'x'", {3: "x"}),
        ("args[0] >= Decimal('2.5')", decimal.Decimal("2.50")),
        ("args[0] < date(2026, 2, 1)", datetime.date(2026, 1, 2)),
        ("args[0][49999] == 49999 and len(args[0]) == 50000", list(range(50_000))),
    ],
)
def test_a_condition_holds_for_values_that_have_no_json(
    server: Server, condition: str, value: Any
) -> None:
    app = HttpApplication(server, name="plain")
    with temporary_breakpoint(server, function="typed", condition=condition) as made:
        assert app.start("typed", value)["action"] == "poll"
        assert app.start("typed", None)["action"] == "continue"
        assert server.get(f"/api/breakpoints/{made['id']}")["undecided"] == 0
    query = {"session": app.session_id, "filter": condition}
    found = server.http.get("/api/calls", params=query).json()
    assert (found["count"], found["undecided"]) == (1, 0)


def test_what_a_condition_cannot_tell_is_counted(server: Server) -> None:
    app = HttpApplication(server, name="undecided")
    with temporary_breakpoint(server, function="typed", condition="args[0] == 3"):
        assert app.start("typed", HttpApplication)["action"] == "continue"
        assert app.start("typed", 3)["action"] == "poll"
        [shown] = server.get("/api/breakpoints")["breakpoints"]
    assert (shown["hits"], shown["undecided"]) == (1, 1)
    assert "args[0]" in shown["message"]
    query = {"session": app.session_id, "filter": "args[0] == 3"}
    found = server.http.get("/api/calls", params=query).json()
    assert (found["count"], found["undecided"]) == (1, 1)


def test_a_call_type_is_one_of_two(server: Server, app: HttpApplication) -> None:
    body = {"function": "f", "call_type": "other"}
    error = server.post("/api/breakpoints", body, expect=400)
    assert error["error"]["details"]["field"] == "call_type"
    assert server.post("/api/breakpoints", {**body, "call_type": "inline"})["id"]


# -- parameters by name ----------------------------------------------------------------------------


PRICE = {"qualname": "Shop.price", "signature": "(item, count=1, *rest, **options)"}


@dataclass
class Order:
    total: int


@pytest.mark.parametrize(
    ("condition", "args", "kwargs"),
    [
        ("item == 'tea'", ("tea",), {}),
        ("item == 'tea'", (), {"item": "tea"}),
        ("count == 1 and item == 'tea'", ("tea",), {}),
        ("count == 2", ("tea", 2), {}),
        ("rest == (3, 4)", ("tea", 2, 3, 4), {}),
        ("options['color'] == 'red'", ("tea",), {"color": "red"}),
        ("color == 'red'", ("tea",), {"color": "red"}),
        ("item.total > 10", (Order(11),), {}),
        ("args[0].total == 11", (Order(11),), {}),
        ("params['item'] == 'tea' and 'count' in params", ("tea",), {}),
    ],
)
def test_a_condition_knows_parameters_by_name(
    server: Server, condition: str, args: Any, kwargs: Any
) -> None:
    app = HttpApplication(server, name="by name")
    with temporary_breakpoint(server, function="Shop.price", condition=condition) as made:
        assert is_held(app, "price", *args, kwargs=kwargs, **PRICE)
        assert not is_held(app, "price", "cake", 7, 8, **PRICE)
    query = {"session": app.session_id, "filter": condition}
    found = server.http.get("/api/calls", params=query).json()
    assert found["count"] == 1
    assert "hits" in made


def test_default_values_come_with_the_parameters_of_a_function(server: Server) -> None:
    """Once: later calls send the signature alone."""
    app = HttpApplication(server, name="defaults")
    parameters = [
        {"name": "item", "kind": "positional_or_keyword"},
        {
            "name": "size",
            "kind": "keyword_only",
            "default": {"text": "(1, 2)", "type": "tuple", "literal": "(1, 2)"},
        },
    ]
    names = {"qualname": "Shelf.put", "signature": "(item, *, size=<Size>)"}
    app.call("put", "tea", parameters=parameters, **names)
    with temporary_breakpoint(server, function="Shelf.put", condition="size[1] == 2"):
        assert is_held(app, "put", "tea", **names)
        assert not is_held(app, "put", "tea", kwargs={"size": (1, 3)}, **names)
    bad = [{"name": "item", "kind": "sideways"}]
    error = app.start("put", parameters=bad, expect=400, **names)
    assert "parameters.0.kind" in error["message"]


def test_a_name_that_no_function_has_is_a_warning_when_it_is_set_and_counted_when_it_is_met(
    server: Server,
) -> None:
    app = HttpApplication(server, name="misspelt")
    names = {"qualname": "Kiosk.sell", "signature": "(item, status='new')"}
    app.call("sell", "tea", **names)
    condition = "itme == 'tea' and status == 'open'"
    with temporary_breakpoint(server, function="Kiosk.sell", condition=condition) as made:
        [first, second] = made["warnings"]
        assert "no parameter" not in first
        assert "'itme'" in first
        assert "did you mean item?" in first
        assert "params['status']" in second
        assert not is_held(app, "sell", "tea", **names)
        shown = server.get(f"/api/breakpoints/{made['id']}")
    assert shown["undecided"] == 0  # the status is not open, whatever itme is
    with temporary_breakpoint(server, function="Kiosk.sell", condition="itme == 'tea'") as made:
        assert not is_held(app, "sell", "tea", **names)
        shown = server.get(f"/api/breakpoints/{made['id']}")
    text = "no function that was called has a parameter 'itme'; Kiosk.sell has item, status"
    reason = {"error": text, "count": 1}
    assert (shown["undecided"], shown["condition_errors"]) == (0, [reason])
    query = {"session": app.session_id, "filter": "itme == 'tea'"}
    found = server.http.get("/api/calls", params=query).json()
    assert (found["count"], found["undecided"]) == (0, 0)
    assert found["condition_errors"] == [{**reason, "count": 3}]


def test_functions_without_the_parameter_just_do_not_match(server: Server) -> None:
    app = HttpApplication(server, name="mixed")
    app.call("open_till", qualname="Stand.open_till", signature="()")
    app.call("sell", "tea", qualname="Stand.sell", signature="(item)")
    query = {"session": app.session_id, "filter": "item == 'tea' or not item != 'tea'"}
    found = server.http.get("/api/calls", params=query).json()
    assert found["undecided"] == 0
    assert "condition_errors" not in found
    assert "sell" in [call["method_name"] for call in found["calls"]]


def test_names_are_not_guessed_where_the_arguments_do_not_fit_the_signature(
    server: Server,
) -> None:
    """As with a decorator that passes an argument of its own."""
    app = HttpApplication(server, name="decorated")
    names: dict[str, Any] = {"qualname": "decorated", "signature": "(injected, x, *, y=1)"}
    with temporary_breakpoint(server, function="decorated", condition="injected == 5") as made:
        assert not is_held(app, "decorated", 5, **names)
        [reason] = server.get(f"/api/breakpoints/{made['id']}")["condition_errors"]
        assert "do not fit the signature of decorated" in reason["error"]
    with temporary_breakpoint(server, function="decorated", condition="y == 2"):
        assert is_held(app, "decorated", 5, kwargs={"y": 2}, **names)


def test_a_function_without_a_signature_has_keyword_arguments_only(server: Server) -> None:
    app = HttpApplication(server, name="builtin")
    with temporary_breakpoint(server, function="sorted_", condition="reverse == True") as made:
        assert is_held(app, "sorted_", [1], kwargs={"reverse": True})
        assert not is_held(app, "sorted_", [1])
        [reason] = server.get(f"/api/breakpoints/{made['id']}")["condition_errors"]
    assert "parameters of sorted_ are not known" in reason["error"]


def test_a_pattern_that_matches_nothing_gets_suggestions(server: Server) -> None:
    app = HttpApplication(server, name="suggesting")
    app.call("price_of", qualname="Shop.price_of")
    for pattern in ("Shop.prise_of", "shop.price_of", "prise_of"):
        with temporary_breakpoint(server, function=pattern) as made:
            assert made["matches"] == 0
            assert made["suggestions"][0] == "Shop.price_of"
            assert "Did you mean Shop.price_of" in made["warnings"][0]
    with temporary_breakpoint(server, function="Shop.price_of") as made:
        assert (made["matches"], made.get("warnings")) == (1, None)
    with temporary_breakpoint(server, function="zzzzqqqq") as made:
        assert "suggestions" not in made
        assert "No function" in made["warnings"][0]
        assert is_held(app, "zzzzqqqq")


# -- removing --------------------------------------------------------------------------------------


def test_removing_a_breakpoint_names_what_it_holds_and_releases_it_on_request(
    server: Server, app: HttpApplication
) -> None:
    made = [server.post("/api/breakpoints", {"function": name}) for name in ("f", "g")]
    held, other = app.start("f"), app.start("g")
    removed = server.delete(f"/api/breakpoints/{made[0]['id']}")
    assert removed["holds"] == [held["hold_id"]]
    assert "continue" in removed["hint"]
    assert app.poll(held)["status"] == "waiting"
    removed = server.delete(f"/api/breakpoints/{made[1]['id']}?release=true&by=me")
    assert removed == {
        "breakpoint_id": made[1]["id"],
        "deleted": True,
        "released": [other["hold_id"]],
    }
    assert app.poll(other)["action"] == {"action": "continue"}
    assert server.get(f"/api/holds/{other['hold_id']}")["by"] == "me"


def test_clearing_all_breakpoints_names_what_they_hold(
    server: Server, app: HttpApplication
) -> None:
    server.post("/api/breakpoints", {"function": "f"})
    calls = [app.start("f") for _ in range(2)]
    ids = [call["hold_id"] for call in calls]
    server.post("/api/breakpoints", {"function": "g"})
    cleared = server.delete("/api/breakpoints?release=true")
    assert cleared == {"deleted": 2, "released": ids}
    assert "holds" not in server.delete("/api/breakpoints")
