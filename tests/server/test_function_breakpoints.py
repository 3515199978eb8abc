"""Function breakpoints: by name, wherever the function is, once for each call."""

from __future__ import annotations

from typing import Any

from harness import PROGRAMS, Program, Session

FUNCTIONS = Program("functions.py")
SHAPES = Program("helpers/shapes.py")


def test_every_kind_of_function_stops_once_a_call(session: Session, python: str) -> None:
    names = [
        "plain",
        "decorated",
        "one_line",
        "generate",
        "generate_in_one_line",
        "wait",
        "repeat",
        "Dog.speak",
        "helpers.shapes.area",
        "helpers.shapes.Square.area",
        "json.dumps",
    ]
    made = session.post("/breakpoints", [{"function": name} for name in names])["breakpoints"]
    by_id = {each["breakpoint_id"]: each["function"] for each in made}

    stopped = []
    stop = session.launch(FUNCTIONS, python=python)
    while stop["status"] == "paused":
        assert stop["reason"] == "breakpoint"
        name = by_id[stop["breakpoint_id"]]
        assert stop["location"]["function"].rpartition(".")[2] == name.rpartition(".")[2]
        shown = {v["name"] for v in stop["locals"]}
        assert not [each for each in shown if each.startswith("_")]
        stopped.append(name)
        stop = session.resume()

    assert stopped == [
        "plain",
        "plain",
        *names[1:9],
        "helpers.shapes.Square.area",
        "helpers.shapes.area",
        "json.dumps",
    ]
    assert session.output() == "all called\n"
    shown = session.get("/breakpoints")["breakpoints"]
    assert [each["hits"] for each in shown] == [2, 1, 1, 1, 1, 1, 1, 1, 2, 1, 1]


def test_before_launch_nothing_is_promised_that_is_not_known(session: Session) -> None:
    made = session.post("/breakpoints", {"function": "helpers.shapes.area"}, expect=201)
    assert (made["verified"], made["function"]) == (False, "helpers.shapes.area")

    stop = session.launch(FUNCTIONS)

    shown = session.get(f"/breakpoints/{made['breakpoint_id']}")
    assert (shown["verified"], shown["file"]) == (True, SHAPES.path)
    assert stop["breakpoint_id"] == made["breakpoint_id"]


def test_with_a_directory_a_modules_function_is_known_at_once(session: Session) -> None:
    with session.server.session(cwd=str(PROGRAMS)) as there:
        made = there.post("/breakpoints", {"function": "helpers.shapes.Square.area"})
        assert (made["verified"], made["line"]) == (True, SHAPES.line("square_area"))
        there.delete("/breakpoints")


def test_the_same_name_in_two_classes_is_told_apart(session: Session) -> None:
    session.post("/breakpoints", {"function": "Cat.speak"})
    session.launch(FUNCTIONS)
    assert session.locals()["word"]["value"] == "'miaow'"
    assert session.resume()["status"] == "terminated"


def test_a_condition_sees_the_arguments(session: Session) -> None:
    session.post("/breakpoints", {"function": "plain", "condition": "n == 5"})
    stop = session.launch(FUNCTIONS)
    assert stop["location"]["line"] == FUNCTIONS.line("plain")
    assert session.locals()["n"]["value"] == "5"
    assert session.resume()["status"] == "terminated"


def test_hit_counts_and_log_messages_work_on_functions_too(session: Session) -> None:
    session.post("/breakpoints", {"function": "plain", "hit_condition": "== 2"})
    session.post("/breakpoints", {"function": "plain", "log_message": "plain({n})"})
    session.launch(FUNCTIONS)
    assert session.locals()["n"]["value"] == "5"
    assert session.resume()["status"] == "terminated"
    assert [e["text"] for e in session.get("/output?type=log")["outputs"]] == [
        "plain(1)\n",
        "plain(5)\n",
    ]


def test_an_unknown_function_is_not_verified_and_never_stops(session: Session) -> None:
    for name in ("nowhere", "Cat.fly", "json.nothing", "no.such.module.f", "not a name"):
        made = session.post("/breakpoints", {"function": name}, expect=201)
        assert made["verified"] is False
        assert name in made["message"]
    assert session.launch(FUNCTIONS)["status"] == "terminated"
    assert not any(each["verified"] for each in session.get("/breakpoints")["breakpoints"])


def test_a_function_breakpoint_can_be_set_while_it_runs(session: Session) -> None:
    session.post("/breakpoints", {"function": "main"})
    session.launch(FUNCTIONS)

    made = session.post("/breakpoints", {"function": "json.dumps"})
    assert made["verified"] is True
    stop = session.resume()
    assert (stop["breakpoint_id"], stop["location"]["function"]) == (made["breakpoint_id"], "dumps")
    assert session.resume()["status"] == "terminated"


def test_a_function_breakpoint_is_switched_off_and_removed(session: Session) -> None:
    first = session.post("/breakpoints", {"function": "main"})["breakpoint_id"]
    cat = session.post("/breakpoints", {"function": "Cat.speak"})["breakpoint_id"]
    dog = session.post("/breakpoints", {"function": "Dog.speak"})["breakpoint_id"]
    assert session.launch(FUNCTIONS)["breakpoint_id"] == first

    session.patch(f"/breakpoints/{cat}", {"enabled": False})
    refused = session.patch(f"/breakpoints/{cat}", {"line": 3}, expect=400)
    assert refused["error"]["details"]["field"] == "line"
    assert session.resume()["breakpoint_id"] == dog
    session.delete(f"/breakpoints/{first}")
    session.delete(f"/breakpoints/{dog}")
    assert session.post("/restart", {"wait": 20})["status"] == "terminated"


def test_a_function_that_moved_is_found_again_at_a_restart(session: Session, tmp_path: Any) -> None:
    script = tmp_path / "moving.py"
    script.write_text("def f():\n    return 1\nf()\n")
    session.post("/breakpoints", {"function": "f"})
    assert session.launch(str(script))["location"]["line"] == 1
    script.write_text("# a new first line\n\ndef f():\n    return 1\nf()\n")
    assert session.post("/restart", {"wait": 20})["location"]["line"] == 3


def test_a_module_run_with_m_has_functions_of_its_own(session: Session) -> None:
    session.post("/breakpoints", {"function": "Dog.speak"})
    stop = session.post("/launch", {"module": "functions", "cwd": str(PROGRAMS), "wait": 20})
    assert stop["location"]["line"] == FUNCTIONS.line("dog_speaks")
