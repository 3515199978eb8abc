"""Line breakpoints: set, changed and removed; honest about where they can stop."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from harness import Program, Server, Session

COUNTER = Program("counter.py")


def build_breakpoint(program: Program, marker: str, **more: Any) -> dict[str, Any]:
    return {"file": program.path, "line": program.line(marker), **more}


def list_by_id(session: Session) -> dict[str, dict[str, Any]]:
    found = session.get("/breakpoints")["breakpoints"]
    return {each["breakpoint_id"]: each for each in found}


# -- where they can be ----------------------------------------------------------------------------


def test_a_breakpoint_before_launch_is_verified_and_stops(session: Session) -> None:
    made = session.post("/breakpoints", build_breakpoint(COUNTER, "return"), expect=201)

    assert made["verified"] is True
    assert (made["file"], made["line"]) == (COUNTER.path, COUNTER.line("return"))
    assert made["source"] == {"path": COUNTER.path}

    stop = session.launch(COUNTER)
    assert (stop["status"], stop["reason"]) == ("paused", "breakpoint")
    assert stop["breakpoint_id"] == made["breakpoint_id"]
    assert stop["location"]["line"] == COUNTER.line("return")
    assert stop["location"]["function"] == "count"


def test_the_file_may_be_given_as_a_source(session: Session) -> None:
    body = {"source": {"path": COUNTER.path}, "line": COUNTER.line("loop")}
    made = session.post("/breakpoints", body)
    assert (made["verified"], made["file"]) == (True, COUNTER.path)


def test_several_come_as_a_list_or_under_their_name(session: Session) -> None:
    some = [build_breakpoint(COUNTER, "loop"), build_breakpoint(COUNTER, "return")]

    first = session.post("/breakpoints", some)
    second = session.post("/breakpoints", {"breakpoints": some})

    assert [each["verified"] for each in first["breakpoints"]] == [True, True]
    assert second["total"] == 2
    made = [each["id"] for each in first["breakpoints"] + second["breakpoints"]]
    assert list(list_by_id(session)) == made
    assert len(set(made)) == 4


def test_of_several_all_are_set_or_none(session: Session) -> None:
    bad = [build_breakpoint(COUNTER, "loop"), {"file": COUNTER.path, "line": 9999}]

    refused = session.post("/breakpoints", bad, expect=400)

    assert refused["error_code"] == "invalid_line"
    assert session.get("/breakpoints")["total"] == 0


def test_relative_paths_start_at_the_sessions_directory(server: Server) -> None:
    folder = str(Path(COUNTER.path).parent)
    with server.session(cwd=folder) as session:
        made = session.post("/breakpoints", {"file": "counter.py", "line": COUNTER.line("call")})
        assert (made["verified"], made["file"]) == (True, COUNTER.path)
        session.delete("/breakpoints")  # they are the project's, and outlive the session


def test_a_relative_path_without_a_directory_waits_for_the_launch(session: Session) -> None:
    line = COUNTER.line("call")
    made = session.post("/breakpoints", {"file": "counter.py", "line": line})
    assert made["verified"] is False

    stop = session.launch(COUNTER)

    assert stop["breakpoint_id"] == made["breakpoint_id"]
    assert list_by_id(session)[made["breakpoint_id"]]["verified"] is True


def test_a_line_that_cannot_stop_says_so_and_names_one_that_can(session: Session) -> None:
    comment = COUNTER.line("comment")
    docstring = COUNTER.line("docstring")
    nearest = {
        comment: comment - 1,
        comment + 1: comment + 2,
        docstring: docstring - 1,
        docstring + 2: docstring + 4,
    }
    for line in nearest:
        made = session.post("/breakpoints", {"file": COUNTER.path, "line": line}, expect=201)
        assert made["verified"] is False
        assert made["message"] == f"No executable code at line {line}"
        assert made["suggestion"]["line"] == nearest[line]

    assert session.launch(COUNTER)["status"] == "terminated"


def test_a_line_past_the_end_is_refused(session: Session) -> None:
    for line in (9999, 0, -3):
        refused = session.post("/breakpoints", {"file": COUNTER.path, "line": line}, expect=400)
        assert refused["error_code"] == "invalid_line"
        assert refused["error"]["code"] == "BREAKPOINT_INVALID_LINE"
        details = refused["error"]["details"]
        assert details["line"] == line
        assert details["max_line"] == len(Path(COUNTER.path).read_text().splitlines())


def test_nonsense_is_refused_with_its_field(session: Session) -> None:
    for body in (
        {},
        {"file": COUNTER.path},
        {"line": 3},
        {"file": "", "line": 3},
        {"file": COUNTER.path, "line": "three"},
        {"file": COUNTER.path, "line": 3, "conditon": "x"},
        {"file": COUNTER.path, "line": 3, "function": "count"},
        "file",
    ):
        refused = session.post("/breakpoints", body, expect=400)
        assert refused["error_code"] == "invalid_request", body


# -- files that are not there yet -----------------------------------------------------------------


def test_a_breakpoint_in_a_missing_file_waits_for_it(session: Session, tmp_path: Path) -> None:
    missing = tmp_path / "later.py"
    made = session.post("/breakpoints", {"file": str(missing), "line": 2}, expect=201)
    assert made["verified"] is False
    assert made["message"] == "Source file not found. Breakpoint pending."

    missing.write_text("x = 1\n")
    assert list_by_id(session)[made["breakpoint_id"]]["verified"] is False

    missing.write_text("x = 1\nprint(x)\n")
    found = list_by_id(session)[made["breakpoint_id"]]
    assert found["verified"] is True
    assert "message" not in found
    events = [each["event"] for each in session.get("/events")["events"]]
    assert "breakpoint_verified" in events
    assert session.launch(str(missing))["location"]["line"] == 2


def test_strict_refuses_a_missing_file(session: Session, tmp_path: Path) -> None:
    missing = {"file": str(tmp_path / "never.py"), "line": 1}

    refused = session.post("/breakpoints", {**missing, "strict": True}, expect=404)
    assert refused["error_code"] == "file_not_found"
    assert refused["error"]["details"]["file"] == missing["file"]

    some = [{**build_breakpoint(COUNTER, "loop"), "strict": True}, missing]
    assert session.post("/breakpoints", some)["total"] == 2, "strict is said of each"
    several = {"breakpoints": [missing], "strict": True}
    assert session.post("/breakpoints", several, expect=404)["error_code"] == "file_not_found"


def test_a_file_that_is_not_python_says_why_it_cannot_stop(
    session: Session, tmp_path: Path
) -> None:
    template = tmp_path / "page.html"
    template.write_text("<ul>\n{{ items }}\n</ul>\n")
    made = session.post("/breakpoints", {"file": str(template), "line": 2})
    assert made["verified"] is False
    assert "set one in the code that renders it" in made["message"]


def test_a_file_edited_before_launch_is_looked_at_again(session: Session, tmp_path: Path) -> None:
    script = tmp_path / "edited.py"
    script.write_text("x = 1\n\ny = 2\n")
    session.post("/breakpoints", [{"file": str(script), "line": n} for n in (2, 3)])
    script.write_text("x = 1\ny = 2\n\n")

    stop = session.launch(str(script))

    assert stop["location"]["line"] == 2
    assert [each["verified"] for each in list_by_id(session).values()] == [True, False]


# -- while it runs --------------------------------------------------------------------------------


def test_a_disabled_breakpoint_does_not_stop(session: Session) -> None:
    session.break_at(COUNTER, "loop", enabled=False)
    assert session.launch(COUNTER)["status"] == "terminated"
    [only] = list_by_id(session).values()
    assert (only["enabled"], only["hits"]) == (False, 0)


def test_changes_are_checked_like_new_ones(session: Session) -> None:
    [point] = session.break_at(COUNTER, "loop")
    path = f"/breakpoints/{point}"
    for body, code in (
        ({"line": 9999}, "invalid_line"),
        ({"condition": "i >"}, "invalid_condition"),
        ({"hit_condition": "often"}, "invalid_hit_condition"),
        ({"log_message": "{"}, "invalid_log_message"),
        ({"colour": "red"}, "invalid_request"),
    ):
        assert session.patch(path, body, expect=400)["error_code"] == code
    only = session.get(path)
    assert (only["line"], "condition" in only) == (COUNTER.line("loop"), False)
    assert session.patch("/breakpoints/bp_99", {"enabled": True}, expect=404)["error"]["details"][
        "known"
    ] == [point]


# -- how many, how often --------------------------------------------------------------------------


def test_the_listing_counts_hits(session: Session) -> None:
    loop, call, log, never = (
        *session.break_at(COUNTER, "loop", condition="i >= 8"),
        *session.break_at(COUNTER, "call"),
        *session.break_at(COUNTER, "loop", log_message="{i}"),
        *session.break_at(COUNTER, "return", condition="False"),
    )
    session.launch(COUNTER)
    assert {k: v["hits"] for k, v in list_by_id(session).items()} == {
        loop: 0,
        call: 1,
        log: 0,
        never: 0,
    }
    session.resume()
    assert {k: v["hits"] for k, v in list_by_id(session).items()} == {
        loop: 1,
        call: 1,
        log: 9,
        never: 0,
    }
    session.resume()
    assert session.resume()["status"] == "terminated"
    assert {k: v["hits"] for k, v in list_by_id(session).items()} == {
        loop: 2,
        call: 1,
        log: 10,
        never: 0,
    }


def test_two_breakpoints_on_one_line_both_count(session: Session) -> None:
    even, large = (
        *session.break_at(COUNTER, "loop", condition="i % 2 == 0"),
        *session.break_at(COUNTER, "loop", condition="i >= 6"),
    )
    stops = []
    stop = session.launch(COUNTER)
    while stop["status"] == "paused":
        stops.append((session.evaluate("i"), stop["breakpoint_ids"]))
        stop = session.resume()

    assert stops == [
        ("0", [even]),
        ("2", [even]),
        ("4", [even]),
        ("6", [even, large]),
        ("7", [large]),
        ("8", [even, large]),
        ("9", [large]),
    ]


def test_one_of_two_on_a_line_may_go(session: Session) -> None:
    first, second = session.break_at(COUNTER, "return", "return")
    assert session.launch(COUNTER)["breakpoint_ids"] == [first, second]
    session.delete(f"/breakpoints/{first}")
    again = session.post("/restart", {"wait": 20})
    assert again["breakpoint_ids"] == [second]


def set_in_place(session: Session, marker: str, **more: Any) -> dict[str, Any]:
    body = {**build_breakpoint(COUNTER, marker), "replace": True, **more}
    made: dict[str, Any] = session.post("/breakpoints", body, expect=201)
    return made


def test_whoever_replaces_has_one_breakpoint_a_line(session: Session) -> None:
    first = set_in_place(session, "loop")
    again = set_in_place(session, "loop", condition="i == 4")
    assert again["id"] == first["id"]
    assert [each["condition"] for each in list_by_id(session).values()] == ["i == 4"]
    set_in_place(session, "return")
    assert session.get("/breakpoints")["total"] == 2

    session.launch(COUNTER)
    assert session.evaluate("i") == "4"
    set_in_place(session, "loop", condition="i == 6")
    assert session.resume()["breakpoint_ids"] == [first["id"]]
    assert session.evaluate("i") == "6"
    assert "condition" not in set_in_place(session, "loop", enabled=False)
    assert session.resume()["location"]["line"] == COUNTER.line("return")


def test_a_replaced_breakpoint_is_told_of_as_changed_and_the_same_one_not_at_all(
    session: Session,
) -> None:
    for condition in ("i == 1", "i == 2", "i == 2"):
        set_in_place(session, "loop", condition=condition)
    events = [each for each in session.get("/events")["events"] if "breakpoint" in each["event"]]
    assert [each["event"] for each in events] == ["breakpoint_set", "breakpoint_changed"]
    assert events[-1]["condition"] == "i == 2"


def test_of_several_on_a_line_the_oldest_is_left(session: Session) -> None:
    first, second, other = session.break_at(COUNTER, "loop", "loop", "return")
    body = [build_breakpoint(COUNTER, "loop"), build_breakpoint(COUNTER, "loop", condition="i")]
    body.append({"function": "count"})
    made = session.post("/breakpoints", {"breakpoints": body, "replace": True})
    assert [each.get("condition") for each in made["breakpoints"]] == ["i", None]
    assert list(list_by_id(session)) == [first, other, made["breakpoints"][1]["id"]]
    removed = [e for e in session.get("/events")["events"] if e["event"] == "breakpoint_removed"]
    assert [each["breakpoint_id"] for each in removed] == [second]


def test_what_cannot_be_set_replaces_nothing(session: Session) -> None:
    first = set_in_place(session, "loop")["id"]
    body = {**build_breakpoint(COUNTER, "loop"), "replace": True, "condition": "i =="}
    session.post("/breakpoints", body, expect=400)
    assert "condition" not in list_by_id(session)[first]


def test_one_that_waits_for_its_file_is_replaced_too(session: Session, tmp_path: Path) -> None:
    script = tmp_path / "later.py"
    for condition in ("False", "x == 1"):
        body = {"file": str(script), "line": 2, "condition": condition, "replace": True}
        assert session.post("/breakpoints", body)["verified"] is False
    script.write_text("x = 1\nprint(x)\n")
    assert session.launch(str(script))["location"]["line"] == 2


def test_a_thousand_breakpoints_in_one_request(session: Session, tmp_path: Path) -> None:
    script = tmp_path / "long.py"
    script.write_text("".join(f"x = {n}\n" for n in range(1, 1001)))
    body = [{"file": str(script), "line": n} for n in range(1, 1001)]

    made = session.post("/breakpoints", body)
    assert made["total"] == 1000
    assert all(each["verified"] for each in made["breakpoints"])

    assert session.launch(str(script))["breakpoint_id"] == made["breakpoints"][0]["id"]
    again = session.post("/breakpoints", body)
    both = [each["breakpoints"][1]["id"] for each in (made, again)]
    assert session.resume()["breakpoint_ids"] == both
    assert session.delete("/breakpoints") == {"deleted": 2000}
    assert session.resume()["status"] == "terminated"
