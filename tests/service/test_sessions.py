"""Sessions: made, listed, looked at, changed, copied, kept alive, and taken away."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import Server, Session
from local_server import LocalServer
from session_states import IDLE, INPUT_PROMPT, LOOP, bring_to

# -- made, listed, looked at ---------------------------------------------------------------------


@pytest.mark.parametrize("body", [None, {}, {"name": "mine"}, {"mode": "launch"}])
def test_a_new_session_has_an_id_and_is_created(server: Server, body: Any) -> None:
    made = server.post("/sessions", body, expect=201)
    assert made["status"] == "created"
    assert made["session_id"]
    assert made["name"] == (body or {}).get("name")
    assert made["timeout_minutes"] == 60
    server.delete(f"/sessions/{made['session_id']}")


def test_ids_are_never_the_same(server: Server) -> None:
    ids = [server.post("/sessions")["session_id"] for _ in range(20)]
    assert len(set(ids)) == 20
    for each in ids:
        server.delete(f"/sessions/{each}")


def test_the_list_names_every_session_with_its_status(server: Server, session: Session) -> None:
    session.break_at(LOOP, "add")
    session.launch(LOOP)
    with server.session(name="another"):
        listed = {each["session_id"]: each for each in server.get("/sessions")["sessions"]}
        paused = listed[session.id]
        assert (paused["status"], paused["reason"]) == ("paused", "breakpoint")
        assert paused["location"]["line"] == LOOP.line("add")
        assert "another" in [
            each["name"] for each in listed.values() if each["status"] == "created"
        ]
        only = server.get("/sessions?status=paused")["sessions"]
        assert {each["status"] for each in only} == {"paused"}
        assert session.id in [each["session_id"] for each in only]


def list_one(session: Session) -> dict[str, Any]:
    listed: list[dict[str, Any]] = session.server.get("/sessions")["sessions"]
    return next(each for each in listed if each["session_id"] == session.id)


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        (
            "raise ValueError('no\\n  tea')",
            {"exit_code": 1, "exception_line": "ValueError: no tea"},
        ),
        ("raise SystemExit(3)", {"exit_code": 3, "exception_line": "SystemExit: 3"}),
        ("pass", {"exit_code": 0}),
    ],
)
def test_the_list_says_in_a_line_why_a_program_ended(
    session: Session, code: str, shown: dict[str, Any]
) -> None:
    assert session.post("/launch", {"code": code, "wait": 60})["status"] == "terminated"
    listed = list_one(session)
    names = ("exit_code", "exception_line", "signal")
    assert {name: listed[name] for name in names if name in listed} == shown
    assert session.get().get("exception_line") == shown.get("exception_line")


@pytest.mark.parametrize(
    "state", ["created", "running", "paused", "waiting_for_input", "terminated"]
)
def test_the_detail_says_all_that_the_status_says(session: Session, state: str) -> None:
    bring_to(session, state)
    status, detail = session.get("/status"), session.get()
    assert status["status"] == detail["status"] == state
    assert status.items() <= detail.items()


def test_the_status_of_a_stop_names_its_threads(session: Session) -> None:
    session.break_at(LOOP, "add")
    session.launch(LOOP)
    status = session.get("/status")
    [thread] = status["stopped_threads"]
    assert thread["thread_id"] == status["thread_id"]
    assert status["all_threads"][0]["status"] == "paused"


def test_a_program_that_waits_for_input_says_what_it_asks(session: Session) -> None:
    waiting = session.launch(INPUT_PROMPT)
    assert (waiting["status"], waiting["prompt"]) == ("waiting_for_input", "name? ")


def test_every_route_is_also_served_under_api_v1(server: Server) -> None:
    made = server.post("/api/v1/sessions", {"name": "versioned"})["session_id"]
    assert server.get(f"/sessions/{made}")["name"] == "versioned"
    assert server.get("/api/v1/health")["status"] == "ok"
    assert server.get("/api/v1/holds") == server.get("/api/holds")
    assert server.delete(f"/api/v1/sessions/{made}")["deleted"] is True
    server.get(f"/api/v1/sessions/{made}", expect=404)


# -- changed, copied -----------------------------------------------------------------------------


def test_settings_are_changed_one_by_one_and_null_takes_them_back(
    session: Session, tmp_path: Path
) -> None:
    session.patch("", {"name": "renamed", "timeout_minutes": 2.5, "cwd": str(tmp_path)})
    changed = session.patch("", {"name": "again"})
    assert (changed["name"], changed["timeout_minutes"]) == ("again", 2.5)
    assert (changed["cwd"], changed["project"]) == (str(tmp_path), str(tmp_path))
    assert session.patch("", {"timeout_minutes": None})["timeout_minutes"] == 60


def test_a_directory_that_is_not_there_is_refused_and_changes_nothing(
    server: Server, session: Session, tmp_path: Path
) -> None:
    missing = str(tmp_path / "missing")
    before = server.list_ids()
    refusals = [
        server.post("/api/v1/sessions", {"cwd": missing}, expect=400),
        server.post("/api/v1/sessions/import", {"config": {"cwd": missing}}, expect=400),
        session.patch("", {"name": "renamed", "cwd": missing}, expect=400),
    ]
    for refusal in refusals:
        assert refusal["error"]["code"] == "FILE_NOT_FOUND"
        assert refusal["error"]["details"] == {"file": missing, "field": "cwd"}
    assert session.get("")["name"] != "renamed"
    assert server.list_ids(but=before) == []


def test_a_session_can_be_cloned_after_its_directory_has_gone(
    server: Server, tmp_path: Path
) -> None:
    project = tmp_path / "project"
    project.mkdir()
    with server.session(cwd=str(project)) as session:
        project.rmdir()
        clone = session.post("/clone", expect=201)
        assert clone["cwd"] == str(project)
        server.delete(f"/api/v1/sessions/{clone['session_id']}")


def test_a_clone_has_the_configuration_and_runs_by_itself(server: Server) -> None:
    with server.session(name="first", timeout_minutes=30) as session:
        session.break_at(LOOP, "add", condition="number == 3")
        session.post("/exception-breakpoints", {"filters": ["uncaught"]})
        session.post("/watch", {"expression": "total"})
        session.launch(LOOP, args=["x"])
        clone = session.post("/clone", expect=201)
        copy = Session(server, clone["session_id"])
        assert (clone["status"], clone["name"]) == ("created", "first (copy)")
        assert (clone["timeout_minutes"], clone["launch"]["args"]) == (30, ["x"])
        [watch] = clone["watches"]
        assert (clone["breakpoints"], watch["expression"]) == (1, "total")
        assert clone["exception_breakpoints"]["filters"] == ["uncaught"]

        stop = copy.launch(LOOP)
        assert (stop["status"], stop["location"]["line"]) == ("paused", LOOP.line("add"))
        copy.delete()
        assert session.get("/status")["status"] == "paused"
        named = session.post("/clone", {"name": "second"})
        assert named["name"] == "second"
        server.delete(f"/sessions/{named['session_id']}")


def test_an_exported_session_comes_back_as_it_was(server: Server, tmp_path: Path) -> None:
    with server.session(name="away", cwd=str(tmp_path), evaluate_timeout=3) as session:
        session.break_at(LOOP, "add", hit_condition=">= 3")
        session.break_at(LOOP, "print", log_message="{total}")
        session.post("/breakpoints", {"function": "loop.main", "enabled": False})
        session.post("/exception-breakpoints", {"filters": ["raised"], "types": ["KeyError"]})
        session.post("/watch", {"expression": "total"})
        session.launch(LOOP, env={"A": "b", "C": None}, stop_on_exception="uncaught")
        exported = session.get("/export")
    assert json.loads(json.dumps(exported)) == exported
    made = Session(server, server.post("/sessions/import", exported, expect=201)["session_id"])
    assert made.get()["status"] == "created"
    again = made.get("/export")
    made.delete()
    ids = [[spec.pop("id") for spec in export["breakpoints"]] for export in (exported, again)]
    assert again == exported
    assert not set(ids[0]) & set(ids[1])  # no two breakpoints have the same id


def test_an_attached_session_is_exported_too(server: Server) -> None:
    given = {"attach": {"port": 5678, "path_mappings": [["/here", "/there"]]}}
    made = server.post("/sessions/import", given)
    assert made["attach"]["path_mappings"] == [["/here", "/there"]]
    exported = server.get(f"/sessions/{made['session_id']}/export")
    again = server.post("/sessions/import", exported)
    assert again["attach"] == made["attach"]
    for each in (made, again):
        server.delete(f"/sessions/{each['session_id']}")


def test_an_imported_name_is_as_long_as_any_other_at_most(server: Server) -> None:
    refused = server.post("/sessions/import", {"name": "x" * 501}, expect=400)
    assert refused["error"]["details"]["field"] == "name"


# -- taken away ----------------------------------------------------------------------------------


def test_a_session_that_has_ended_can_be_given_another_program(session: Session) -> None:
    assert session.launch(LOOP)["status"] == "terminated"
    assert session.launch(INPUT_PROMPT)["status"] == "waiting_for_input"
    session.post("/input", {"input": "Ann\n"})
    assert session.get("/status?wait=20")["status"] == "terminated"
    assert "hello Ann" in session.output()


# -- many at once --------------------------------------------------------------------------------


def test_everybody_who_waits_hears_of_the_same_stop(server: LocalServer, session: Session) -> None:
    bring_to(session, "running")
    waits = [server.begin("GET", session.path("/status?wait=60")) for _ in range(5)]
    session.post("/pause", {"wait": 0})
    server.turn(0.01)  # its nap is over
    stops = [each.read() for each in waits]
    assert {each["status"] for each in stops} == {"paused"}
    assert len({each["hold_id"] for each in stops}) == 1


# -- idle time -----------------------------------------------------------------------------------


def create(server: Server, minutes: float) -> Session:
    return Session(server, server.post("/sessions", {"timeout_minutes": minutes})["session_id"])


def test_an_idle_session_ends_says_so_once_and_is_gone(server: LocalServer) -> None:
    session = create(server, 2)
    server.turn(119)
    assert session.id in server.list_ids()
    server.turn(2)
    end = session.get("/status")
    assert (end["status"], end["reason"]) == ("terminated", "timeout")
    assert session.get("/status", expect=404)["error"]["details"]["id"] == session.id
    session.post("/launch", {"script": LOOP.path}, expect=404)
    assert session.id not in server.list_ids()


@pytest.mark.parametrize("look", ["", "/status"])
def test_the_first_look_after_the_time_is_up_says_so(server: LocalServer, look: str) -> None:
    session = create(server, 2)
    server.turn(121)
    end = session.get(look)
    assert (end["status"], end["reason"]) == ("terminated", "timeout")
    session.get(look, expect=404)


def test_a_held_program_ends_with_its_idle_session(server: LocalServer) -> None:
    session = create(server, 2)
    bring_to(session, "paused")
    server.turn(121)
    assert session.get()["reason"] == "timeout"
    held = [each["session_id"] for each in server.get("/api/holds")["holds"]]
    assert session.id not in held


def test_a_running_program_counts_as_activity(server: LocalServer) -> None:
    session = create(server, 0.1)
    session.launch(IDLE, args=["30"], wait=0)  # five times as long as the session may idle
    server.turn(29)
    assert session.get("/status")["status"] == "running"
    server.turn(2)
    end = session.get("/status")
    assert (end["status"], end["reason"], end["exit_code"]) == ("terminated", "target_exited", 0)


def test_requests_and_pings_keep_a_session_alive(server: Server) -> None:
    with server.session(timeout_minutes=1) as session:
        before = session.get()["expires_in_seconds"]
        for method in (session.get, session.post):
            pinged = method("/ping")
            assert (pinged["status"], pinged["session_id"]) == ("created", session.id)
            assert pinged["expires_in_seconds"] == 60
        assert before <= 60


def test_a_session_warns_before_it_expires(server: LocalServer) -> None:
    with server.session(timeout_minutes=2) as session:
        assert "warning" not in session.get()
        server.turn(61)
        warned = session.get("/status")
        assert warned["status"] == "created"
        assert warned["warning"] == "Session will expire in 1 minute"
        assert session.get()["warning"] == warned["warning"]
        listed = {each["session_id"]: each for each in server.get("/sessions")["sessions"]}
        assert listed[session.id]["warning"] == warned["warning"]
        session.get("/ping")
        assert "warning" not in session.get("/status")


@pytest.fixture
def changed_config(server: Server) -> Iterator[Callable[..., Any]]:
    """Settings of the shared server for one test."""
    before = server.get("/config")
    yield lambda **settings: server.patch("/config", settings)
    server.patch("/config", before)


def test_the_servers_timeout_is_what_a_session_has_unless_it_says_otherwise(
    server: Server, changed_config: Callable[..., Any]
) -> None:
    changed_config(idle_timeout_minutes=7.5)
    with server.session() as session, server.session(timeout_minutes=3) as other:
        assert session.get()["timeout_minutes"] == 7.5
        assert other.get()["timeout_minutes"] == 3


def test_there_is_a_most_of_sessions(server: Server, changed_config: Callable[..., Any]) -> None:
    changed_config(max_sessions=server.get("/health")["sessions"] + 1)
    with server.session() as last:
        refused = server.post("/sessions", expect=409)["error"]
        assert refused["details"]["possible"] == ["delete"]
        exported = last.get("/export")
        server.post("/sessions/import", exported, expect=409)
        last.post("/clone", {}, expect=409)
        last.delete()
        with server.session() as made:
            assert made.get()["status"] == "created"
