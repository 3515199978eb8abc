"""The server itself: its health, its settings, how it is found, and how it ends."""

from __future__ import annotations

from pathlib import Path

import pytest

from harness import Server
from local_server import LocalServer
from session_states import bring_to, check_error

# -- what it says of itself ----------------------------------------------------------------------


def test_it_says_that_it_is_well_and_how_much_it_does(server: Server) -> None:
    before = server.get("/health")
    assert before["status"] == "ok"
    with server.session() as session:
        bring_to(session, "paused")
        now = server.get("/health")
    assert now["sessions"] == before["sessions"] + 1
    assert now["active_sessions"] == before["active_sessions"] + 1
    assert now["uptime_seconds"] >= before["uptime_seconds"]


def test_it_is_well_while_a_session_is_being_deleted(local_server: LocalServer) -> None:
    with local_server.session() as session:
        deletion = local_server.send("DELETE", session.path(""))
        health = local_server.send("GET", "/health")
        assert health.read()["status"] == "ok"
        deletion.read()


# -- settings ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_settings_are_flat_and_kept_across_restarts(tmp_path: Path) -> None:
    first = LocalServer(tmp_path / "data")
    before = first.get("/config")
    assert before["idle_timeout_minutes"] == 60
    assert all(isinstance(value, int | float) for value in before.values())
    changed = first.patch("/config", {"idle_timeout_minutes": 12.5, "max_stack_depth": 50})
    assert changed == {**before, "idle_timeout_minutes": 12.5, "max_stack_depth": 50}
    first.stop()

    second = LocalServer(tmp_path / "data")
    assert second.get("/config") == changed
    second.stop()


@pytest.mark.parametrize(
    ("changes", "field", "short"),
    [
        ({"idle_timeout": 5}, "idle_timeout", "unknown_setting"),
        ({"idle_timeout_minutes": "long"}, "idle_timeout_minutes", "invalid_request"),
        ({"idle_timeout_minutes": True}, "idle_timeout_minutes", "invalid_request"),
        ({"idle_timeout_minutes": 0}, "idle_timeout_minutes", "invalid_request"),
        ({"idle_timeout_minutes": -1}, "idle_timeout_minutes", "invalid_request"),
        ({"idle_timeout_minutes": None}, "idle_timeout_minutes", "invalid_request"),
        ({"max_sessions": 1.5}, "max_sessions", "invalid_request"),
        ({"max_sessions": 0}, "max_sessions", "invalid_request"),
        ({"max_sessions": 10**100}, "max_sessions", "invalid_request"),
        ({"step_wait": {"seconds": 1}}, "step_wait", "invalid_request"),
        ([], "body", "invalid_request"),
    ],
)
def test_a_setting_that_makes_no_sense_changes_nothing(
    server: Server, changes: object, field: str, short: str
) -> None:
    before = server.get("/config")
    if isinstance(changes, dict):
        changes = {"warning_minutes": 3, **changes}
    error = check_error(server.http.patch("/config", json=changes), 400)
    assert (error["details"]["field"], error["short"]) == (field, short)
    assert server.get("/config") == before


def test_a_setting_is_a_number_and_nan_is_none(server: Server) -> None:
    before = server.get("/config")
    for text in ("NaN", "Infinity", "1e999"):
        answer = server.http.patch(
            "/config",
            content=f'{{"evaluate_timeout": {text}}}',
            headers={"content-type": "application/json"},
        )
        assert check_error(answer, 400)["details"]["field"] == "evaluate_timeout"
    assert server.get("/config") == before
