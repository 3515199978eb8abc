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
    assert session.post("/restart", {"wait": 60})["status"] == "terminated"


def test_a_function_that_moved_is_found_again_at_a_restart(session: Session, tmp_path: Any) -> None:
    script = tmp_path / "moving.py"
    script.write_text("def f():\n    return 1\nf()\n")
    session.post("/breakpoints", {"function": "f"})
    assert session.launch(str(script))["location"]["line"] == 1
    script.write_text("# a new first line\n\ndef f():\n    return 1\nf()\n")
    assert session.post("/restart", {"wait": 60})["location"]["line"] == 3


def test_a_module_run_with_m_has_functions_of_its_own(session: Session) -> None:
    session.post("/breakpoints", {"function": "Dog.speak"})
    stop = session.post("/launch", {"module": "functions", "cwd": str(PROGRAMS), "wait": 60})
    assert stop["location"]["line"] == FUNCTIONS.line("dog_speaks")


# -- names that no file known before the launch has -----------------------------------------------

LATE = Program("late_functions.py")
CATALOG = Program("helpers/catalog.py")

# What one calls it, and the marks of the functions that stop, in the order of their calls.
LATE_NAMES: list[tuple[str, list[str]]] = [
    ("catalog.square", ["square"]),
    ("hidden", ["hidden"]),
    ("catalog.shown", ["shown"]),
    ("chosen", ["chosen"]),
    ("Cart.make", ["make"]),
    ("catalog.Cart.build", ["build"]),
    ("Cart.double", ["double"]),
    ("Cart.total", ["total", "set_total"]),
    ("Cart.save", ["save"]),
    ("Book.save", ["save_book"]),
    ("Cart.pay", ["pay"]),
    ("Cart.stream", ["stream"]),
    ("Cart.items", ["items"]),
    ("outer.<locals>.inner", ["inner"]),
]


def follow(session: Session, stop: Any) -> list[tuple[str, str]]:
    """The function breakpoints and the functions of all stops until the end."""
    names = {
        point["breakpoint_id"]: point.get("function", "")
        for point in session.get("/breakpoints")["breakpoints"]
    }
    stopped = []
    while stop["status"] == "paused":
        assert stop["reason"] == "breakpoint"
        stopped += [(names[each], stop["location"]["function"]) for each in stop["breakpoint_ids"]]
        stop = session.resume()
    assert (stop["status"], stop["exit_code"]) == ("terminated", 0)
    return stopped


def check_late_names(session: Session, stopped: list[tuple[str, str]]) -> None:
    assert [name for name, _function in stopped] == [
        *(name for name, marks in LATE_NAMES for _mark in marks),
        "Made.run",
    ]
    points = [each for each in session.get("/breakpoints")["breakpoints"] if "function" in each]
    by_name = {point["function"]: point for point in points}
    for name, marks in LATE_NAMES:
        assert by_name[name]["verified"] is True
        assert by_name[name]["hits"] == len(marks)
        assert (by_name[name]["file"], by_name[name]["line"]) == (
            CATALOG.path,
            CATALOG.line(marks[-1]),
        )
    assert (by_name["Made.run"]["file"], by_name["Made.run"]["line"]) == ("<made>", 2)


def test_a_function_is_found_when_its_module_begins_to_run(session: Session, python: str) -> None:
    names = [*(name for name, _marks in LATE_NAMES), "Made.run"]
    made = session.post("/breakpoints", [{"function": name} for name in names])["breakpoints"]
    assert not any(point["verified"] for point in made)

    check_late_names(session, follow(session, session.launch(LATE, python=python)))
    told = session.wait_for_events("breakpoint_verified", len(names))
    assert {event["function"]: event["file"] for event in told} == {
        **dict.fromkeys(names, CATALOG.path),
        "Made.run": "<made>",
    }


def test_a_function_is_found_in_what_is_loaded_already(session: Session, python: str) -> None:
    session.break_at(LATE, "loaded")
    session.launch(LATE, python=python)

    for name in [*(name for name, _marks in LATE_NAMES), "Made.run"]:
        point = session.post("/breakpoints", {"function": name})
        assert point["verified"] is True, point
    check_late_names(session, follow(session, session.resume()))


def test_a_pattern_stops_in_each_function_that_it_matches(session: Session, python: str) -> None:
    patterns = ["Cart.*", "catalog.*.save", "*.inner", "Bo[oa]k.s?ve", "nothing.*"]
    session.post("/breakpoints", [{"function": pattern} for pattern in patterns])

    stopped = follow(session, session.launch(LATE, python=python))
    methods = ["make", "build", "<lambda>", "total", "total", "save", "pay", "stream", "items"]
    assert [name for pattern, name in stopped if pattern == "Cart.*"] == methods
    others = [(pattern, name) for pattern, name in stopped if pattern != "Cart.*"]
    assert others == [
        ("catalog.*.save", "save"),
        ("catalog.*.save", "save"),
        ("Bo[oa]k.s?ve", "save"),
        ("*.inner", "inner"),
    ]
    shown = session.get("/breakpoints")["breakpoints"]
    assert [point["hits"] for point in shown] == [9, 2, 1, 1, 0]
    assert [point["verified"] for point in shown] == [True, True, True, True, False]
    assert [place["function"] for place in shown[1]["places"]] == ["Cart.save", "Book.save"]
    assert {place["file"] for place in shown[0]["places"]} == {CATALOG.path}


def test_a_pattern_means_no_library_that_it_does_not_name(session: Session, tmp_path: Any) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import json, textwrap\ndef dumps(): return json.dumps([1])\ndumps()\ntextwrap.dedent('')\n"
    )
    session.post("/breakpoints", [{"function": "*"}, {"function": "textwrap.d*"}])
    stopped = follow(session, session.launch(str(script)))
    assert stopped == [("*", "dumps"), ("textwrap.d*", "dedent")]


def test_a_name_means_the_scripts_own_function_first(session: Session, python: str) -> None:
    session.post("/breakpoints", [{"function": "save"}, {"function": "late_functions.save"}])
    assert follow(session, session.launch(LATE, python=python)) == [
        ("save", "save"),
        ("late_functions.save", "save"),
    ]
    for point in session.get("/breakpoints")["breakpoints"]:
        assert (point["file"], point["line"]) == (LATE.path, LATE.line("own_save"))


def test_a_name_that_several_modules_have_stops_in_all_of_them(
    session: Session, tmp_path: Any, python: str
) -> None:
    for name in ("one", "two"):
        (tmp_path / f"{name}.py").write_text("def load(): return 1\nload()\n")
    script = tmp_path / "script.py"
    script.write_text("import one, two\n")
    session.post("/breakpoints", {"function": "load"})
    assert len(follow(session, session.launch(str(script), python=python))) == 2
    [point] = session.get("/breakpoints")["breakpoints"]
    assert (point["hits"], len(point["places"])) == (2, 2)


def test_code_of_the_command_line_has_functions(session: Session, python: str) -> None:
    code = "def f(): return 1\nclass C:\n    def f(self): return f()\nC().f()\n"
    session.post("/breakpoints", [{"function": "f"}, {"function": "C.f"}])
    stop = session.post("/launch", {"code": code, "python": python, "wait": 60})
    assert follow(session, stop) == [("C.f", "f"), ("f", "f")]


def test_a_test_that_pytest_has_rewritten_is_found(session: Session, tmp_path: Any) -> None:
    (tmp_path / "test_sums.py").write_text(
        "import pytest\n"
        "class TestSums:\n"
        "    @pytest.mark.parametrize('n', [1, 2])\n"
        "    def test_one(self, n):\n"
        "        assert n + n == 2 * n\n"
        "def test_two():\n"
        "    assert 1 + 1 == 2\n"
    )
    names = ["TestSums.test_one", "test_sums.test_*"]
    session.post("/breakpoints", [{"function": name} for name in names])
    options = {"module": "pytest", "args": ["-q", "-p", "no:cacheprovider"], "cwd": str(tmp_path)}
    stop = session.post("/launch", {**options, "wait": 60})
    one, two = "TestSums.test_one", "test_sums.test_*"
    assert follow(session, stop) == [(one, "test_one"), (one, "test_one"), (two, "test_two")]


def test_another_run_looks_again(session: Session) -> None:
    made = session.post("/breakpoints", {"function": "Cart.save"})
    assert session.launch(LATE)["breakpoint_id"] == made["breakpoint_id"]
    stop = session.post("/restart", {"wait": 60})
    assert stop["breakpoint_id"] == made["breakpoint_id"]
    [shown] = session.get("/breakpoints")["breakpoints"]
    assert (shown["verified"], shown["hits"]) == (True, 1)


# -- how it stops ---------------------------------------------------------------------------------


def test_one_steps_on_from_where_a_function_begins(session: Session, python: str) -> None:
    session.post("/breakpoints", {"function": "Cart.save"})
    stop = session.launch(LATE, python=python)
    assert stop["location"]["line"] == CATALOG.line("save")
    assert set(session.locals()) == {"self"}
    stop = session.post("/step-over", {"wait": 60})
    assert stop["location"]["line"] == CATALOG.line("save") + 1
    stop = session.post("/step-out", {"wait": 60})
    assert stop["location"]["function"] == "use_all"
    assert session.resume()["status"] == "terminated"


def test_stepping_into_a_function_stops_at_its_breakpoint(session: Session, python: str) -> None:
    [line] = session.break_at(FUNCTIONS, "call_area")
    point = session.post("/breakpoints", {"function": "helpers.shapes.area"})["breakpoint_id"]
    assert session.launch(FUNCTIONS, python=python)["breakpoint_id"] == line
    stop = session.post("/step-over", {"wait": 60})
    assert (stop["breakpoint_id"], stop["location"]["function"]) == (point, "area")
    assert session.post("/step-over", {"wait": 60})["location"]["function"] == "area"


def test_what_the_debugger_calls_itself_is_no_hit(
    session: Session, tmp_path: Any, python: str
) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "class Cart:\n"
        "    def __repr__(self): return self.name()\n"
        "    def name(self): return 'cart'\n"
        "def work(cart):\n"
        "    return cart.name()\n"
        "work(Cart())\n"
    )
    session.post("/breakpoints", [{"function": "work"}, {"function": "Cart.*"}])
    session.launch(str(script), python=python)
    assert session.locals()["cart"]["value"] == "cart"
    assert session.evaluate("cart.name()") == "'cart'"
    assert session.resume()["location"]["function"] == "name"
    assert session.resume()["status"] == "terminated"
    shown = session.get("/breakpoints")["breakpoints"]
    assert [point["hits"] for point in shown] == [1, 1]


def test_each_thread_and_each_level_of_a_recursion_stops(
    session: Session, tmp_path: Any, python: str
) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import threading\n"
        "def fall(n):\n"
        "    return n and fall(n - 1)\n"
        "threads = [threading.Thread(target=fall, args=(2,)) for _ in range(3)]\n"
        "[each.start() for each in threads]\n"
        "[each.join() for each in threads]\n"
    )
    session.post("/breakpoints", {"function": "f*l"})
    stop = session.launch(str(script), python=python)
    while stop["status"] == "paused":
        stop = session.resume()
    [shown] = session.get("/breakpoints")["breakpoints"]
    assert shown["hits"] == 9


# -- names that mean nothing, or too much ---------------------------------------------------------


def test_what_no_function_can_be_called_is_not_verified(session: Session) -> None:
    for name in ("a..b", "a..*", "[", "f(*)", "x" * 10_000, "*" * 10_000, ".", "été.naïve"):
        made = session.post("/breakpoints", {"function": name}, expect=201)
        assert made["verified"] is False
        assert 0 < len(made["message"]) < 300
    assert session.launch(FUNCTIONS)["status"] == "terminated"


def test_a_function_that_nothing_creates_is_not_verified(session: Session, tmp_path: Any) -> None:
    script = tmp_path / "script.py"
    script.write_text("if False:\n    def f(): return 1\ndef g(): return 2\ng()\n")
    session.post("/breakpoints", [{"function": "f"}, {"function": "g"}])
    assert follow(session, session.launch(str(script))) == [("g", "g")]
    shown = session.get("/breakpoints")["breakpoints"]
    assert [point["verified"] for point in shown] == [False, True]


def test_a_pattern_for_thousands_of_functions_is_bounded_and_says_so(
    session: Session, tmp_path: Any, python: str
) -> None:
    count = 10_100
    text = "".join(f"def f{n}(): return {n}\n" for n in range(count))
    (tmp_path / "many.py").write_text(f"{text}f7()\nf{count - 1}()\n")
    script = tmp_path / "script.py"
    script.write_text("import many\n")
    session.post("/breakpoints", {"function": "f*"})
    assert follow(session, session.launch(str(script), python=python)) == [("f*", "f7")]
    [shown] = session.get("/breakpoints")["breakpoints"]
    assert len(shown["places"]) == 100
    assert "first 10000 functions" in shown["message"]
