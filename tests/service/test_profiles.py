"""Profiles: sets of breakpoints under a name, for any session."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest

from harness import Program, Server, Session

COUNTER = Program("counter.py")
LOOP = {"file": COUNTER.path, "line": COUNTER.line("loop"), "condition": "i == 4"}
CALL = {"file": COUNTER.path, "line": COUNTER.line("call")}


@pytest.fixture
def profile(server: Server) -> Iterator[str]:
    body = {"name": "the count", "breakpoints": [LOOP, CALL, {"function": "count"}]}
    made = server.post("/breakpoint-profiles", body, expect=201)
    assert [each["enabled"] for each in made["breakpoints"]] == [True, True, True]
    yield "the count"
    server.http.delete("/breakpoint-profiles/the count")


def test_a_profile_is_listed_and_shown(server: Server, profile: str) -> None:
    listed = server.get("/breakpoint-profiles")
    assert profile in [each["name"] for each in listed["profiles"]]
    shown = server.get(f"/breakpoint-profiles/{profile}")
    assert shown["breakpoints"][0]["condition"] == "i == 4"


def test_a_profile_is_applied_to_a_session(session: Session, profile: str) -> None:
    made = session.post("/breakpoints", {"profile": profile})
    assert made["total"] == 3
    assert session.launch(COUNTER)["location"]["line"] == COUNTER.line("call")
    assert session.resume()["location"]["function"] == "count"
    assert session.resume()["location"]["line"] == COUNTER.line("loop")
    assert session.locals()["i"]["value"] == "4"


def test_a_session_may_begin_with_a_profile(server: Server, profile: str) -> None:
    with server.session(breakpoint_profile=profile) as session:
        assert session.get("/breakpoints")["total"] == 3


def test_an_empty_name_of_a_profile_means_none(server: Server) -> None:
    made = server.post("/sessions", {"breakpoint_profile": ""}, expect=201)
    server.http.delete(f"/sessions/{made['session_id']}")


def test_a_profile_is_replaced_and_forgotten(server: Server, profile: str) -> None:
    server.post("/breakpoint-profiles", {"name": profile, "breakpoints": [CALL]})
    assert len(server.get(f"/breakpoint-profiles/{profile}")["breakpoints"]) == 1

    assert server.delete(f"/breakpoint-profiles/{profile}")["deleted"] is True
    gone = server.get(f"/breakpoint-profiles/{profile}", expect=404)
    assert gone["error_code"] == "profile_not_found"
    server.delete(f"/breakpoint-profiles/{profile}", expect=404)


def test_an_unknown_profile_is_404_and_sets_nothing(server: Server, session: Session) -> None:
    session.post("/breakpoints", {"profile": "nobody's"}, expect=404)
    assert session.get("/breakpoints")["total"] == 0
    before = server.list_ids()
    server.post("/sessions", {"breakpoint_profile": "nobody's"}, expect=404)
    assert server.list_ids(but=before) == []


@pytest.mark.parametrize(
    "name",
    ["", " ", "a/b", "a\\b", "..", "line\nbreak", "end\n", "\0", " x", "x ", "x" * 201, 5, None],
)
def test_a_name_that_could_not_be_asked_for_is_refused(server: Server, name: Any) -> None:
    body = {"name": name, "breakpoints": [CALL]}
    refused = server.post("/breakpoint-profiles", body, expect=400)
    assert refused["error"]["details"]["field"] == "name"
    assert "regex" not in refused["error"]["message"]
    assert name not in [each["name"] for each in server.get("/breakpoint-profiles")["profiles"]]


@pytest.mark.parametrize("name", ["x", "...", "größe 世界", "a.b-c_d (2)", "x" * 200, "50%"])
def test_any_other_name_can_be_asked_for(server: Server, name: str) -> None:
    server.post("/breakpoint-profiles", {"name": name, "breakpoints": [CALL]}, expect=201)
    path = f"/breakpoint-profiles/{quote(name)}"
    assert server.get(path)["name"] == name
    server.delete(path)


def test_a_profile_that_could_not_be_set_is_not_saved(server: Server) -> None:
    for bad in ({"line": 3}, {**LOOP, "condition": "i >"}, {**LOOP, "hit_condition": "x"}):
        server.post("/breakpoint-profiles", {"name": "bad", "breakpoints": [bad]}, expect=400)
    server.post("/breakpoint-profiles", {"name": "", "breakpoints": [LOOP]}, expect=400)
    assert "bad" not in [p["name"] for p in server.get("/breakpoint-profiles")["profiles"]]
