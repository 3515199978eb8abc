"""The document: every route is told, every field of it described, and all of it true."""

from __future__ import annotations

import itertools
import json
import math
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_process import agent_view
from harness import Server, Session
from holdfast.server.app import build_table
from http_application import HttpApplication, compute_cid, decide
from own_environment import IS_SOAK
from polling import wait_until
from schemas import mistakes
from session_states import LOOP

Json = dict[str, Any]


@pytest.fixture(scope="module")
def document(server: Server) -> Json:
    found: Json = server.get("/openapi.json")
    return found


def operations(document: Json) -> Iterator[tuple[str, str, Json]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def test_every_route_is_in_the_document(document: Json) -> None:
    listed = {(route.method, route.path) for route in build_table()[1]}
    assert {(method, path) for method, path, _ in operations(document)} == listed
    assert len(listed) > 100


def test_every_route_is_served_under_both_prefixes(server: Server, document: Json) -> None:
    for path in document["paths"]:
        for each in (path, "/api/v1" + path.removeprefix("/api")):
            # A route that is there knows other methods; one that is not is not found.
            assert server.http.request("PUT", each).status_code == 405, each


def test_every_route_says_what_it_does(document: Json) -> None:
    silent = [
        f"{method} {path}"
        for method, path, operation in operations(document)
        if not operation.get("summary") or len(operation.get("description", "")) < 10
    ]
    assert silent == []


def contents(operation: Json) -> Iterator[tuple[str, str, Json]]:
    """Where, of which media type, and with which schema: the body and every answer."""
    if "requestBody" in operation:
        for media, content in operation["requestBody"]["content"].items():
            yield "request", media, content["schema"]
    for status, answer in operation["responses"].items():
        for media, content in answer["content"].items():
            yield status, media, content["schema"]


def test_every_request_and_answer_has_a_type(document: Json) -> None:
    """JSON is of a type with a name, or one of several, or a list of them."""
    untyped = [
        f"{method} {path}: {where}"
        for method, path, operation in operations(document)
        for where, media, schema in contents(operation)
        if media == "application/json" and not _is_typed(schema)
    ]
    assert untyped == []


def _is_typed(schema: Json) -> bool:
    if "anyOf" in schema:
        return all(_is_typed(choice) for choice in schema["anyOf"])
    return "$ref" in schema or ("items" in schema and _is_typed(schema["items"]))


def test_every_field_is_described_and_has_a_type(document: Json) -> None:
    """Only values of the user's own program are any JSON."""
    undescribed, untyped, count = [], [], 0
    for name, schema in document["components"]["schemas"].items():
        assert schema.get("description"), name
        for field, described in schema.get("properties", {}).items():
            count += 1
            if len(described.get("description", "")) < 5:
                undescribed.append(f"{name}.{field}")
            if not {"type", "anyOf", "$ref", "enum", "const"} & set(described):
                untyped.append(f"{name}.{field}")
    for method, path, operation in operations(document):
        for parameter in operation["parameters"]:
            count += 1
            if len(parameter.get("description", "")) < 5:
                undescribed.append(f"{method} {path}: {parameter['name']}")
    assert undescribed == []
    assert set(untyped) == {
        "AgentHold.input",
        "AgentInspection.state",
        "CallEvaluation.json",
        "ControlAgent.value",
        "DecideHold.value",
        "DecidedValue.value",
        "HoldDecision.result",
        "SentDefault.json",
        "SentPreview.json",
        "Value.json",
    }
    assert count > 900


def test_what_is_described_is_what_is_answered(server: Server, document: Json) -> None:
    """Every field of the answer to a read is described, with its type."""
    components = document["components"]["schemas"]
    with server.session() as session, agent_view(server) as agent:
        agent.agent.ask("big")
        agent.agent.ask("turn 1")
        large = agent.wait_for_event("tool_result")["data"]["result"]["$cid"]
        [line_point] = session.break_at(LOOP, "add", condition="number >= 0")
        session.launch(LOOP)
        session.post("/watch", {"expression": "number"})
        server.post("/breakpoint-profiles", {"name": "shown", "breakpoints": []})
        reference = session.get("/frames/0/scopes")["scopes"][0]["reference"]
        thread, hold = (session.get("/status")[name] for name in ("thread_id", "hold_id"))
        ids = {"session_id": session.id, "thread_id": thread, "frame_id": 0, "hold_id": hold}
        ids |= {"reference": reference, "breakpoint_id": line_point, "name": "shown"}
        point = server.post("/api/breakpoints", {"function": "shown", "condition": "args[0] == 1"})
        app = HttpApplication(server, name="shown")
        call = app.start("shown", 1)
        ids |= {"call_id": call["call_id"], "cid": compute_cid(1)}
        traced = {"target": LOOP.path, "function": "add"}
        trace = server.post("/api/v1/tools/debug_trace?client=shown", traced)["trace_id"]
        ids |= {"trace_id": trace, "key": "0"}
        asked = {"variable": "number", "at": f"{LOOP.path}:{LOOP.line('add')}"}
        whole = server.post("/api/v1/tools/debug_why?client=shown", asked)["trace_id"]
        problems: list[str] = []
        for method, path, operation in operations(document):
            if method != "GET" or path.endswith(("/stream", "/proof", "/{capture_id}")):
                continue  # tests/client/test_server_check.py asks for proofs
            if path.startswith("/api/breakpoints/"):
                ids["breakpoint_id"] = point["id"]
            concrete = re.sub(r"\{(\w+)\}", lambda found: str(ids[found[1]]), path)
            if path.endswith("/source"):
                concrete += "?frame_id=0"
            if path.endswith("/data-breakpoint-info"):
                concrete += "?name=number"
            if path.endswith("/why"):
                concrete = f"/api/traces/{whole}/why?variable=number&at={quote(asked['at'])}"
            if path.endswith("/diff"):
                concrete += f"?left={compute_cid(1)}&right={compute_cid(1)}"
            if path.endswith("/contents/{cid}"):
                assert agent.get(f"/contents/{large}")
                continue
            if path.endswith(("/state", "/conversation")):
                concrete = agent.path + path.removeprefix("/sessions/{session_id}")
            if path.endswith("/messages"):
                concrete = f"{agent.path}/messages?iteration=1"
            if path.endswith("/agents/compare"):
                concrete += f"?left={agent.agent.id}&right={agent.agent.id}"
            if path.endswith("/cid/{cid}"):
                assert server.http.get(concrete).content
                continue
            schema = operation["responses"]["200"]["content"]["application/json"]["schema"]
            problems += mistakes(server.get(concrete), schema, components, path)
        answer = agent.get()
        problems += mistakes(answer, {"$ref": "#/AgentSummary"}, components)
        server.delete("/breakpoint-profiles/shown")
        server.delete(f"/api/breakpoints/{point['id']}")
        decide(server, call, "continue")
    assert problems == []


# -- whatever anybody sends ----------------------------------------------------------------------

# What ends or drives the latest session, whichever that is, would end the one that is looked at.
NEVER = {"/shutdown", "/sessions/{session_id}/attach", "/tools/debug_stop"}
# What applications have to act on is said to them in a body of one level.
FLAT = {
    "/api/poll/{call_id}/answer",
    *(f"/api/call/{name}" for name in ("start", "complete", "register", "records")),
    *(f"/api/call/{name}" for name in ("session", "session/end")),
}
texts = st.one_of(
    st.text(max_size=20),
    st.sampled_from(["", "\0", "x", "number", "9" * 400, LOOP.path, "/", "..", "bp_1", "continue"]),
)
numbers = st.one_of(
    st.integers(-(2**70), 2**70),
    st.sampled_from([0, 1, -1, 10**30, math.inf, math.nan, 1e308, 0.5]),
    st.floats(),
)
values = st.recursive(
    st.one_of(st.none(), st.booleans(), numbers, texts),
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(texts, inner, max_size=3)),
    max_leaves=8,
)


# Between them they have what every route needs; each is sent what it knows of them.
EXAMPLES: list[Json] = [
    {"script": LOOP.path, "name": "x", "expression": "number", "text": "num", "input": "x\n"},
    {"file": LOOP.path, "line": 2, "name": "number", "value": "1", "action": "continue"},
    {"code": "x = 1", "function": "add", "method_name": "add", "type": "pause", "breakpoints": []},
    {"call_id": "1-1", "status": "success", "request_id": "eval_1", "session_id": "calls_1a2b3c4d"},
    {"filters": ["uncaught"], "directory": "/", "evaluate_timeout": 5, "port": 1},
    {},
]


def bodies_of(document: Json, operation: Json) -> st.SearchStrategy[Any]:
    """Any JSON; and objects with the names that the schema has, right and wrong in turn."""
    names = sorted(_properties(document, operation))
    examples = [
        {name: value for name, value in example.items() if name in names} for example in EXAMPLES
    ]
    mixed = st.builds(
        lambda example, extra: {**example, **extra},
        st.sampled_from(examples),
        st.dictionaries(st.sampled_from(names or ["x"]), values, max_size=3),
    )
    return st.one_of(mixed, mixed, values)


def _properties(document: Json, operation: Json) -> set[str]:
    [content] = operation["requestBody"]["content"].values()
    schema = content["schema"]
    found: set[str] = set()
    for name in re.findall(r"#/components/schemas/(\w+)", json.dumps(schema)):
        found |= set(document["components"]["schemas"][name].get("properties", {}))
    return found


@pytest.fixture(scope="module")
def own_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of its own: what is sent here may change its settings."""
    running = Server(tmp_path_factory.mktemp("fuzz") / "data")
    running.patch("/config", {"max_wait": 0.2})
    try:
        yield running
    finally:
        running.stop()


def is_harmless(path: str, body: Any) -> bool:
    """Not what would attach to processes of this machine, or wait for long."""
    if path == "/config":
        return not isinstance(body, dict) or not {"max_wait", "max_sessions"} & set(body)
    return not (isinstance(body, dict) and body.get("mode") == "attach")


@pytest.mark.slow
def test_nothing_that_is_sent_makes_the_server_fail(own_server: Server, document: Json) -> None:
    settings_before = own_server.get("/config")
    with own_server.session() as session:
        session.break_at(LOOP, "add")
        session.launch(LOOP, wait=0)
        _wait_until_paused(session)
        targets = [
            (method, path, operation)
            for method, path, operation in operations(document)
            if "application/json" in operation.get("requestBody", {}).get("content", {})
            and path not in NEVER
        ]
        for method, path, operation in targets:
            _send_examples(own_server, session, method, path, bodies_of(document, operation))
            if path == "/config":
                own_server.patch("/config", settings_before)
            _check_usable(session)


def _send_examples(
    server: Server, session: Session, method: str, path: str, bodies: st.SearchStrategy[Any]
) -> None:
    """To both prefixes in turn: the same route is behind them. In the soak, many more."""
    plain = path.replace("{session_id}", session.id).replace("{hold_id}", "hold_0")
    plain = re.sub(r"\{\w+\}", "1", plain)
    addresses = itertools.cycle([plain, "/api/v1" + plain.removeprefix("/api")])

    @settings(
        max_examples=200 if IS_SOAK else 12,
        deadline=None,
        database=None,
        derandomize=not IS_SOAK,
        suppress_health_check=list(HealthCheck),
    )
    @given(body=bodies)
    def attempt(body: Any) -> None:
        if not is_harmless(path, body):
            return
        concrete = next(addresses)
        answer = server.http.request(
            method,
            concrete,
            content=json.dumps(body).encode(),
            headers={"content-type": "application/json"},
        )
        assert answer.status_code < 500, (method, concrete, body, answer.text)
        if answer.status_code >= 400:
            said = answer.json()
            flat = path in FLAT and isinstance(said["error"], str) and "message" in said
            assert flat or set(said) == {"error", "error_code"}

    attempt()


def _check_usable(session: Session) -> None:
    """Wherever it was driven, it can be brought back to where one looks around."""
    if session.get("/status")["status"] != "paused":
        session.server.http.post(session.path("/terminate"))
        session.delete("/breakpoints")
        session.delete("/exception-breakpoints")
        session.break_at(LOOP, "add")
        session.launch(LOOP, wait=0)
        _wait_until_paused(session)
    assert session.evaluate("1 + 1") == "2"


def _wait_until_paused(session: Session) -> None:
    """The server waits for moments only."""
    wait_until(lambda: session.get("/status")["status"] == "paused", "the program to stop")
