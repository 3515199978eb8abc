"""The document: every route told, every body and answer shown, and all of it true."""

from __future__ import annotations

import importlib
import json
import math
import pkgutil
import re
from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.routing import APIRoute
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agent_process import agent_view
from harness import Server, Session
from holdfast.server import rest
from http_application import HttpApplication, compute_cid, decide
from session_states import LOOP, bring_to

Json = dict[str, Any]
UNDER_API = (
    *("hold_routes", "call_routes", "call_breakpoint_routes", "call_record_routes"),
    *("agent_directory_routes", "event_routes"),
)


@pytest.fixture(scope="module")
def document(server: Server) -> Json:
    found: Json = server.get("/openapi.json")
    return found


def operations(document: Json) -> Iterator[tuple[str, str, Json]]:
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def served() -> dict[tuple[str, str], APIRoute]:
    """Every route of every module, by method and path."""
    found: dict[tuple[str, str], APIRoute] = {}
    for module in pkgutil.iter_modules(rest.__path__):
        router = getattr(importlib.import_module(f"{rest.__name__}.{module.name}"), "routes", None)
        for route in router.routes if router is not None else ():
            assert isinstance(route, APIRoute)
            prefix = "/api" if module.name in UNDER_API else ""
            found |= {(method, prefix + route.path): route for method in route.methods or ()}
    return found


def test_every_route_is_in_the_document(document: Json) -> None:
    assert {(method, path) for method, path, _ in operations(document)} == set(served())


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


def test_every_answer_is_shown(document: Json) -> None:
    missing = []
    for method, path, operation in operations(document):
        good = [
            operation["responses"][code]
            for code in ("200", "201")
            if code in operation["responses"]
        ]
        contents = [each for answer in good for each in answer.get("content", {}).values()]
        if not any("example" in each or "examples" in each for each in contents):
            missing.append(f"{method} {path}")
    assert missing == []


def body_examples(document: Json, operation: Json) -> list[Any]:
    """The examples of a request's body: its own, or those of its schema."""
    [(media, content)] = operation["requestBody"]["content"].items()
    if media != "application/json":  # bytes: shown in words
        return [content.get("example", "bytes")]
    found = [content["example"]] if "example" in content else []
    found += content.get("examples", [])
    schema = content["schema"]
    options = [schema, *schema.get("anyOf", []), *schema.get("oneOf", [])]
    for each in options:
        if "$ref" in each:
            each = document["components"]["schemas"][each["$ref"].rpartition("/")[2]]
        found += [each["example"]] if "example" in each else []
        found += each.get("examples", [])
    return found


def test_every_body_is_shown(document: Json) -> None:
    missing = [
        f"{method} {path}"
        for method, path, operation in operations(document)
        if "requestBody" in operation and not body_examples(document, operation)
    ]
    assert missing == []


def test_every_shown_body_is_taken(server: Server, document: Json) -> None:
    routes = served()
    checked = 0
    for method, path, operation in operations(document):
        if "requestBody" not in operation:
            continue
        field = routes[method, path].body_field
        if field is None:  # it reads its body itself: ask it
            _is_taken(server, method, path, body_examples(document, operation))
            continue
        for example in body_examples(document, operation):
            _value, problems = field.validate(example, loc=("body",))
            assert not problems, (method, path, example, problems)
            checked += 1
    assert checked > 15


def _is_taken(server: Server, method: str, path: str, examples: list[Any]) -> None:
    """Ids in an example name nothing here, and that is the only complaint."""
    for example in examples:
        if isinstance(example, str):
            continue  # bytes, told in words
        answer = server.http.request(method, path.replace("{call_id}", "1"), json=example)
        assert answer.status_code in (200, 404), (path, answer.text)


def test_what_is_shown_is_what_is_answered(server: Server, document: Json) -> None:
    """Every name in the example of a read is in the real answer."""
    with server.session() as session, agent_view(server) as agent:
        agent.agent.ask("big")
        large = agent.wait_for_event("tool_result")["data"]["result"]["$cid"]
        session.break_at(LOOP, "add", condition="number >= 0")
        session.launch(LOOP)
        session.post("/watch", {"expression": "number"})
        server.post("/breakpoint-profiles", {"name": "shown", "breakpoints": []})
        reference = session.get("/frames/0/scopes")["scopes"][0]["reference"]
        thread, hold = (session.get("/status")[name] for name in ("thread_id", "hold_id"))
        ids = {"session_id": session.id, "thread_id": thread, "frame_id": 0, "hold_id": hold}
        ids |= {"reference": reference, "breakpoint_id": "bp_1", "name": "shown"}
        point = server.post("/api/breakpoints", {"function": "shown", "condition": "args[0] == 1"})
        app = HttpApplication(server, name="shown")
        call = app.start("shown", 1)
        ids |= {"call_id": call["call_id"], "cid": compute_cid(1)}
        for method, path, operation in operations(document):
            if method != "GET" or path.endswith("/stream"):
                continue
            if path.startswith("/api/breakpoints/"):
                ids["breakpoint_id"] = point["id"]
            concrete = re.sub(r"\{(\w+)\}", lambda found: str(ids[found[1]]), path)
            if path.endswith("/source"):
                concrete += "?frame_id=0"
            if path.endswith("/diff"):
                concrete += f"?left={compute_cid(1)}&right={compute_cid(1)}"
            if path.endswith("/contents/{cid}"):
                assert agent.get(f"/contents/{large}")
                continue
            if path.endswith("/state"):
                concrete = f"{agent.path}/state"
            if path.endswith("/cid/{cid}"):
                assert server.http.get(concrete).content
                continue
            answer = server.get(concrete)
            example = operation["responses"]["200"]["content"]["application/json"]["example"]
            assert set(example) <= set(answer), path
        server.delete("/breakpoint-profiles/shown")
        server.delete(f"/api/breakpoints/{point['id']}")
        decide(server, call, "continue")


# -- whatever anybody sends ----------------------------------------------------------------------

NEVER = {"/shutdown", "/sessions/{session_id}/attach"}
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


def bodies_of(document: Json, operation: Json) -> st.SearchStrategy[Any]:
    """Any JSON; and objects with the names that the schema has, right and wrong in turn."""
    examples = [each for each in body_examples(document, operation) if isinstance(each, dict)]
    names = sorted(
        {name for example in examples for name in example} | _properties(document, operation)
    )
    mixed = st.builds(
        lambda example, extra: {**example, **extra},
        st.sampled_from(examples or [{}]),
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
def apart(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server of its own: what is sent here may change its settings."""
    running = Server(tmp_path_factory.mktemp("fuzz") / "data")
    running.patch("/config", {"max_wait": 0.2, "evaluate_timeout": 1, "launch_timeout": 10})
    try:
        yield running
    finally:
        running.stop()


def harmless(path: str, body: Any) -> bool:
    """Not what would attach to processes of this machine, or wait for long."""
    if path == "/config":
        return not isinstance(body, dict) or not {"max_wait", "max_sessions"} & set(body)
    return not (isinstance(body, dict) and body.get("mode") == "attach")


@pytest.mark.slow
@pytest.mark.parametrize("prefix", ["", "/api/v1"])
def test_nothing_that_is_sent_makes_the_server_fail(
    apart: Server, document: Json, prefix: str
) -> None:
    with apart.session() as session:
        bring_to(session, "paused")
        targets = [
            (method, path, operation)
            for method, path, operation in operations(document)
            if "application/json" in operation.get("requestBody", {}).get("content", {})
            and path not in NEVER
        ]
        for method, path, operation in targets:
            _bombard(apart, session, prefix, method, path, bodies_of(document, operation))
            _still_usable(session)


def _bombard(
    server: Server,
    session: Session,
    prefix: str,
    method: str,
    path: str,
    bodies: st.SearchStrategy[Any],
) -> None:
    concrete = path.replace("{session_id}", session.id).replace("{hold_id}", "hold_0")
    concrete = re.sub(r"\{\w+\}", "1", concrete)
    if prefix:
        concrete = prefix + concrete.removeprefix("/api")

    @settings(
        max_examples=12,
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(body=bodies)
    def attempt(body: Any) -> None:
        if not harmless(path, body):
            return
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


def _still_usable(session: Session) -> None:
    """Wherever it was driven, it can be brought back to where one looks around."""
    if session.get("/status")["status"] != "paused":
        session.server.http.post(session.path("/terminate"))
        session.delete("/breakpoints")
        session.delete("/exception-breakpoints")
        session.break_at(LOOP, "add")
        assert session.launch(LOOP)["status"] == "paused"
    assert session.evaluate("1 + 1") == "2"
