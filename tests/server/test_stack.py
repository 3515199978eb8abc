"""The stack: its frames, its files, its pages."""

from __future__ import annotations

import pytest

from harness import Program, Server, Session

DEEP_RECURSION = Program("deep_recursion.py")
FUNCTIONS = Program("functions.py")
SHAPES = Program("helpers/shapes.py")
VALUE_KINDS = Program("value_kinds.py")


def test_the_stack_names_each_frame_with_file_and_line(session: Session) -> None:
    session.break_at(SHAPES, "product", condition="width == 4")
    session.launch(FUNCTIONS)

    stack = session.get("/stacktrace")

    frames = stack["frames"]
    assert [each["id"] for each in frames] == [0, 1, 2, 3]
    assert [each["file"] for each in frames] == [SHAPES.path, SHAPES.path] + 2 * [FUNCTIONS.path]
    assert [each["name"].rpartition(".")[2] for each in frames] == [
        "area",
        "area",
        "main",
        "<module>",
    ]
    assert frames[0]["line"] == SHAPES.line("product")
    assert frames[0]["function"] == frames[0]["name"]
    assert (stack["total"], stack["has_more"]) == (4, False)
    assert stack["thread_id"] == session.get("/status")["thread_id"]


def test_a_step_into_follows_into_an_imported_module(session: Session) -> None:
    session.break_at(FUNCTIONS, "call_area")
    session.launch(FUNCTIONS)
    step = session.post("/step-into")
    assert step["location"]["file"] == SHAPES.path
    assert step["location"]["function"] == "area"


def test_a_deep_stack_comes_in_pages(session: Session) -> None:
    session.break_at(DEEP_RECURSION, "bottom")
    session.launch(DEEP_RECURSION)

    first = session.get("/stacktrace?start=0&count=3")
    assert [each["id"] for each in first["frames"]] == [0, 1, 2]
    assert (first["total"], first["has_more"]) == (2001, True)
    assert first["frames"][0]["line"] == DEEP_RECURSION.line("bottom")

    last = session.get("/stacktrace?offset=1999&limit=50")
    assert [each["name"] for each in last["frames"]] == ["dive", "<module>"]
    assert (last["start"], last["has_more"]) == (1999, False)
    bottom = last["frames"][0]["id"]
    assert session.locals(bottom)["depth"]["value"] == "1"
    assert session.evaluate("depth", frame_id=1000) == "1000"

    past = session.get("/stacktrace?start=5000")
    assert (past["frames"], past["has_more"]) == ([], False)
    thread = session.get("/status")["thread_id"]
    same = session.get(f"/threads/{thread}/stacktrace?start=0&count=3")
    assert same["frames"] == first["frames"]


def test_how_deep_a_stack_is_shown_at_once_can_be_set(server: Server, session: Session) -> None:
    session.break_at(DEEP_RECURSION, "bottom")
    session.launch(DEEP_RECURSION)
    before = server.get("/config")["max_stack_depth"]
    try:
        server.patch("/config", {"max_stack_depth": 7})
        page = session.get("/stacktrace")
        assert (len(page["frames"]), page["total"], page["has_more"]) == (7, 2001, True)
    finally:
        server.patch("/config", {"max_stack_depth": before})


@pytest.mark.parametrize("query", ["start=-1", "count=x", "limit=-5", "thread_id=abc"])
def test_a_bad_page_is_refused(session: Session, query: str) -> None:
    session.get(f"/stacktrace?{query}", expect=400)


def test_a_running_program_has_no_frames_to_look_into(session: Session) -> None:
    wrong = session.get("/stacktrace", expect=409)
    assert wrong["error"]["details"]["state"] == "created"
    spinning = Program("busy_loop.py")
    session.launch(spinning, wait=0)
    session.get("/output?since=0&wait=60")
    for path in ("/stacktrace", "/frames/0/variables", "/frames/0/scopes", "/variables/1000"):
        wrong = session.get(path, expect=409)
        assert wrong["error_code"] == "wrong_state"
        assert "pause" in wrong["error"]["details"]["possible"]
    [thread] = session.get("/threads")["threads"]
    moving = session.get(f"/threads/{thread['id']}/stacktrace")
    assert moving["frames"][-1]["file"] == spinning.path


def test_frame_ids_and_references_end_when_the_thread_runs(session: Session) -> None:
    session.break_at(VALUE_KINDS, "inspect", "outer_return")
    session.launch(VALUE_KINDS)
    old = session.locals()["mapping"]["variable_reference"]
    scope = session.get("/frames/0/scopes")["scopes"][0]["reference"]

    session.resume()

    for path in (
        f"/variables/{old}",
        f"/scopes/{scope}/variables",
        "/variables/1",
        "/frames/2/variables",
        "/frames/99/scopes",
        "/frames/5000000/variables",
        "/frames/-1/variables",
        f"/frames/0/variables/{old}/children",
        "/frames/0/variables/nobody/children",
        "/threads/77/stacktrace",
    ):
        assert session.get(path, expect=404)["error"]["hint"]
    session.post(f"/variables/{old}/set", {"name": "'one'", "value": "2"}, expect=404)
    assert session.get("/frames/1/variables")["total"] >= 5
