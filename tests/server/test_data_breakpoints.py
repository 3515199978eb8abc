"""Breakpoints on values: every kind of place, on every interpreter, and what is left behind."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any
from urllib.parse import quote

import coverage
import pytest

import interpreters
from harness import Program, Session

VALUES = Program("watched_values.py")
PRICE = "prices['apple']"
MONITORS = (3, 12)  # from here on a write is seen as such, before that as a change


def version_of(python: str) -> tuple[int, int]:
    [found] = [each for each in interpreters.find_interpreters() if each.path == python]
    return found.version


def reach(session: Session, function: str, marker: str, python: str = sys.executable) -> Any:
    """Stop at a marked line of a function; nothing stops it again."""
    session.break_at(VALUES, marker)
    stop = session.launch(VALUES, args=[function], python=python)
    assert stop["status"] == "paused", stop
    session.delete("/breakpoints")
    return stop


def watch(session: Session, name: str, **options: Any) -> Any:
    return session.post("/data-breakpoints", {"name": name, **options})


def watch_verified(session: Session, name: str, **options: Any) -> str:
    made = watch(session, name, **options)
    assert made["verified"], made
    return str(made["breakpoint_id"])


def marker_of(stop: Any) -> str:
    line = stop["location"]["line"]
    return next((name for name, number in VALUES._lines.items() if number == line), str(line))


def describe(stop: Any) -> tuple[str, str | None, str | None]:
    """The marker of the line that wrote, the old value and the new one."""
    assert stop["reason"] == "data breakpoint", stop
    change = stop["data"]
    assert change["location"]["line"] == stop["location"]["line"]
    assert change["breakpoint_id"] in stop["breakpoint_ids"]
    return marker_of(stop), change["old"], change["new"]


def collect(session: Session) -> list[tuple[str, str | None, str | None]]:
    """Every stop until the program's end."""
    found = []
    stop = session.resume()
    while stop["status"] == "paused":
        found.append(describe(stop))
        stop = session.resume()
    assert stop["exit_code"] == 0, session.output("stderr")
    return found


# -- every kind of place --------------------------------------------------------------------------


def test_an_attribute_of_one_object(session: Session, python: str) -> None:
    reach(session, "attribute", "attribute_ready", python)
    watch_verified(session, "counter.value")
    session.break_at(VALUES, "attribute_done")

    found = []
    stop = session.resume()
    while stop["reason"] == "data breakpoint":
        found.append(describe(stop))
        stop = session.resume()

    assert found == [
        ("attribute_first", "0", "1"),
        ("attribute_same", "1", "1"),
        ("method_write", "1", "3"),
        ("attribute_setattr", "3", "9"),
        ("attribute_deleted", "9", None),
        ("attribute_again", None, "10"),
    ]
    assert marker_of(stop) == "attribute_done"
    session.delete("/breakpoints")
    assert session.resume()["exit_code"] == 0, "type(counter) is Counter again"


def test_only_a_change_of_an_attribute(session: Session, python: str) -> None:
    reach(session, "attribute", "attribute_ready", python)
    watch_verified(session, "counter.value", access_type="change")
    session.break_at(VALUES, "attribute_setattr")

    assert describe(session.resume()) == ("attribute_first", "0", "1")
    assert describe(session.resume()) == ("method_write", "1", "3")


def test_a_watched_object_is_still_what_it_was(session: Session, python: str) -> None:
    reach(session, "identity", "identity_ready", python)
    watch_verified(session, "point.x")
    watch_verified(session, "token.text")
    session.break_at(VALUES, "identity_after")

    assert describe(session.resume()) == ("identity_write", "1", "2")
    assert marker_of(session.resume()) == "identity_after"
    session.delete("/data-breakpoints")
    end = session.resume()
    assert (end["exit_code"], session.output()) == (0, "identity holds\nend\n")


Write = tuple[str, "str | None", "str | None"]
PLACES: list[tuple[str, str, str, list[Write]]] = [
    ("slots", "slots", "slotted.value", [("slots_write", "0", "1")]),
    ("frozen", "frozen", "value.x", [("frozen_write", "1", "2")]),
    (
        "property_value",
        "property",
        "thermometer.fahrenheit",
        [("property_write", "68.0", "86.0")],
    ),
    ("class_attribute", "class", "Counter.kind", [("class_write", "'plain'", "'fancy'")]),
    (
        "dict_item",
        "dict",
        "prices['apple']",
        [
            ("dict_first", "1", "2"),
            ("dict_update", "2", "3"),
            ("dict_deleted", "3", None),
            ("dict_added", None, "4"),
            ("dict_cleared", "4", None),
        ],
    ),
    (
        "list_item",
        "list",
        "numbers[1]",
        [("list_write", "2", "5"), ("list_insert", "5", "9")],
    ),
    (
        "global_variable",
        "global",
        "total",
        [("global_bump", "0", "1"), ("global_attribute", "1", "10")],
    ),
    (
        "in_place",
        "in_place",
        "items",
        [
            ("in_place_append", "[1]", "[1, 2]"),
            ("in_place_callee", "[1, 2]", "[1, 2, 1]"),
            ("in_place_sort", "[1, 2, 1]", "[2, 1, 1]"),
        ],
    ),
    ("in_place", "in_place", "counter.items", [("in_place_attribute", "[]", "[1]")]),
    (
        "nested",
        "nested",
        "config",
        [
            ("nested_deep", "{'a': {'b': [1]}}", "{'a': {'b': [1, 2]}}"),
            ("nested_update", "{'a': {'b': [1, 2]}}", "{'a': {'b': [1, 2]}, 'c': 1}"),
            ("nested_deleted", "{'a': {'b': [1, 2]}, 'c': 1}", "{'a': {'b': [1, 2]}}"),
        ],
    ),
    (
        "reordered",
        "reordered",
        "steps",
        [
            (
                "reordered_move",
                "OrderedDict('a': 1, 'b': 2)",
                "OrderedDict({'b': 2, 'a': 1})",
            )
        ],
    ),
    ("nested", "nested", "box", [("nested_deque", "deque(1)", "deque([1, 2])")]),
    (
        "closure",
        "closure",
        "count",
        [("closure_write", "0", "1"), ("closure_outer", "1", "5")],
    ),
    ("cell", "cell", "count", [("cell_write", "0", "1"), ("cell_write", "1", "2")]),
    (
        "generator",
        "generator",
        "number",
        [("generator_write", str(n), str(n + 1)) for n in range(3)],
    ),
    (
        "coroutine",
        "coroutine",
        "steps",
        [("coroutine_write", "0", "1"), ("coroutine_write", "1", "2")],
    ),
    (
        "threads",
        "threads",
        "counter.value",
        [("method_write", "0", "1"), ("method_write", "1", "3")],
    ),
]
"""A function, the prefix of its markers, what is watched there, and the writes."""


def test_each_write_stops_with_both_values_and_its_line(session: Session, python: str) -> None:
    """One program goes from place to place. A watch that is left behind would stop at the next."""
    ready = [f"{prefix}_ready" for _, prefix, _, _ in PLACES]
    session.break_at(VALUES, ready[0])
    stop = session.launch(VALUES, args=[each[0] for each in PLACES], python=python)
    found = []
    for number, (function, prefix, name, _) in enumerate(PLACES, 1):
        assert marker_of(stop) == f"{prefix}_ready", stop
        session.delete("/breakpoints")
        session.break_at(VALUES, *ready[number : number + 1])
        watch_verified(session, name)
        stop = session.resume()
        writes = []
        while stop.get("reason") == "data breakpoint":
            writes.append(describe(stop))
            stop = session.resume()
        session.delete("/data-breakpoints")
        found.append((function, prefix, name, writes))

    assert stop["exit_code"] == 0, session.output("stderr")
    assert found == PLACES


def test_a_local_of_one_frame(session: Session, python: str) -> None:
    """A deeper call and a comprehension have variables of the same name."""
    reach(session, "local", "local_ready", python)
    watch_verified(session, "count")

    found = collect(session)

    if version_of(python) < MONITORS:
        found.insert(1, ("local_same", "1", "1"))  # which cannot be told from no write at all
    assert found == [
        ("local_first", "0", "1"),
        ("local_same", "1", "1"),
        ("local_loop", "1", "2"),
        ("local_loop", "2", "3"),
        ("local_deleted", "3", None),
    ]


def test_several_names_that_one_statement_writes(session: Session, python: str) -> None:
    reach(session, "unpacking", "unpacking_ready", python)
    left, right = watch_verified(session, "left"), watch_verified(session, "right")

    first = session.resume()
    second = session.resume()

    if version_of(python) < MONITORS:  # both were written when they were first looked at
        assert set(first["breakpoint_ids"]) == {left, right}
    else:
        assert [first["breakpoint_ids"], second["breakpoint_ids"]] == [[left], [right]]
    assert describe(first) == ("unpacking_write", "0", "1")


# -- what does not stop ---------------------------------------------------------------------------


def test_an_assignment_in_a_branch_that_is_not_taken(session: Session, python: str) -> None:
    reach(session, "branches", "branches_ready", python)
    watch_verified(session, "count")
    watch_verified(session, "items")

    assert collect(session) == [("branches_write", "0", "5"), ("branches_list", "[]", "[1]")]


def test_a_condition_knows_the_old_and_the_new_value(session: Session, python: str) -> None:
    reach(session, "hot", "hot_ready", python)
    watch_verified(session, "counter.value", condition="old == 699 and new > number - 1")
    watch_verified(session, "counter.value", condition="new == 800")

    assert describe(session.resume()) == ("hot_write", "699", "700")
    assert session.evaluate("number") == "700"
    assert describe(session.resume()) == ("hot_write", "799", "800")
    assert session.resume()["exit_code"] == 0


def test_hits_are_counted_after_the_condition(session: Session, python: str) -> None:
    reach(session, "hot", "hot_ready", python)
    point = watch_verified(
        session, "counter.value", condition="new % 2 == 1", hit_condition="% 250"
    )

    assert collect(session) == [("hot_write", "498", "499"), ("hot_write", "998", "999")]
    shown = session.get("/data-breakpoints")["breakpoints"]
    assert [(each["breakpoint_id"], each["hits"]) for each in shown] == [(point, 500)]


def test_a_condition_that_raises_stops_once_and_says_so(session: Session, python: str) -> None:
    reach(session, "hot", "hot_ready", python)
    watch_verified(session, "counter.value", condition="missing == 1")

    stop = session.resume()
    assert "NameError" in str(stop["condition_error"]), stop
    assert session.resume()["exit_code"] == 0


def test_what_the_debugger_evaluates_does_not_stop_it(session: Session, python: str) -> None:
    reach(session, "attribute", "attribute_ready", python)
    watch_verified(session, "counter.value")

    session.evaluate("counter.add(20)")
    assert session.evaluate("counter.value") == "20"

    assert describe(session.resume()) == ("attribute_first", "20", "1")


# -- stepping -------------------------------------------------------------------------------------


def test_a_step_from_the_line_that_wrote_skips_no_line(session: Session, python: str) -> None:
    reach(session, "stepping", "stepping_ready", python)
    watch_verified(session, "count")

    assert describe(session.resume()) == ("stepping_write", "0", "1")
    markers = [marker_of(session.post("/step-over", {"wait": 60})) for _ in range(2)]
    assert markers == ["stepping_second", "stepping_third"]


def test_a_step_over_a_write_tells_of_it(session: Session, python: str) -> None:
    reach(session, "stepping", "stepping_ready", python)
    watch_verified(session, "count")

    session.post("/step-over", {"wait": 60})
    stop = session.post("/step-over", {"wait": 60})

    assert marker_of(stop) == "stepping_second", "where the step ended"
    assert (stop["data"]["old"], stop["data"]["new"]) == ("0", "1")
    assert stop["data"]["location"]["line"] == VALUES.line("stepping_write")
    assert marker_of(session.post("/step-over", {"wait": 60})) == "stepping_third"


def test_a_line_breakpoint_after_the_write_stops_once_for_both(
    session: Session, python: str
) -> None:
    reach(session, "stepping", "stepping_ready", python)
    watched = watch_verified(session, "count")
    (line,) = session.break_at(VALUES, "stepping_second")

    stop = session.resume()
    assert set(stop["breakpoint_ids"]) == {watched, line}
    assert stop["data"]["location"]["line"] == VALUES.line("stepping_write")
    assert session.resume()["exit_code"] == 0


# -- until ----------------------------------------------------------------------------------------


def test_run_until_an_expression_is_true(session: Session, python: str) -> None:
    reach(session, "until", "until_ready", python)

    stop = session.post("/watch-until", {"expression": "len(numbers) > 3", "wait": 60})

    assert describe(stop)[0] == "until_append"
    assert session.evaluate("numbers") == "[0, 1, 2, 3]"
    assert session.resume()["exit_code"] == 0


def test_an_expression_that_never_becomes_true_stops_in_the_caller(
    session: Session, python: str
) -> None:
    reach(session, "returns", "returns_ready", python)

    stop = session.post("/watch-until", {"expression": "inside > 5 / 0", "wait": 60})

    assert stop["location"]["function"] == "returns"
    assert stop["reason"] == "data breakpoint"
    assert session.resume()["exit_code"] == 0


# -- places that end ------------------------------------------------------------------------------


def test_a_place_that_is_gone_is_told_of(session: Session, python: str) -> None:
    """One program goes from place to place."""
    places = [
        ("returns", "inside", "helper"),
        ("fails", "inside", "broken"),
        ("collected", "counter.value", "gone"),
        ("collected", "numbers[1]", "nothing but the debugger"),
    ]
    ready = [f"{function}_ready" for function, _, _ in places]
    session.break_at(VALUES, ready[0])
    session.launch(VALUES, args=[function for function, _, _ in places], python=python)
    for number, (function, name, word) in enumerate(places, 1):
        session.delete("/breakpoints")
        watch_verified(session, name, condition="new == 'never'")
        session.break_at(VALUES, f"{function}_after", *ready[number : number + 1])

        stop = session.resume()

        assert marker_of(stop) == f"{function}_after"
        (point,) = session.get("/data-breakpoints")["breakpoints"]
        assert not point["verified"]
        assert word in point["message"]
        session.delete("/data-breakpoints")
        stop = session.resume()
    assert stop["exit_code"] == 0


def test_a_dict_that_is_gone_is_told_of(session: Session, python: str) -> None:
    """Before 3.12 nobody notices, since a dict cannot be referred to weakly."""
    reach(session, "collected", "collected_ready", python)
    for condition in ("new == 1", "new == 2"):
        watch_verified(session, "table['a']", condition=condition)
    session.break_at(VALUES, "collected_after")
    session.resume()

    points = session.get("/data-breakpoints")["breakpoints"]

    is_noticed = version_of(python) >= MONITORS
    assert [point["verified"] for point in points] == [not is_noticed] * 2
    session.delete("/breakpoints")
    assert session.resume()["exit_code"] == 0


def test_two_watches_of_one_place_end_one_by_one(session: Session, python: str) -> None:
    reach(session, "dict_item", "dict_ready", python)
    info = session.get(f"/data-breakpoint-info?name={quote(PRICE)}")
    ids = [
        session.post("/data-breakpoints", {"data_id": info["data_id"], **more})["breakpoint_id"]
        for more in ({}, {"condition": "new == 3"})
    ]
    assert session.resume()["breakpoint_ids"] == ids[:1]

    session.delete(f"/breakpoints/{ids[0]}")

    assert describe(session.resume()) == ("dict_update", "2", "3")
    session.delete(f"/breakpoints/{ids[1]}")
    assert session.resume()["exit_code"] == 0


def test_an_id_from_before_the_program_ran_on_is_refused(session: Session, python: str) -> None:
    reach(session, "returns", "returns_ready", python)
    info = session.get("/data-breakpoint-info?name=inside")
    assert info["data_id"]
    session.break_at(VALUES, "returns_after")
    session.resume()

    made = session.post("/data-breakpoints", {"data_id": info["data_id"]})

    assert not made["verified"]
    assert "ask for a new id" in made["message"]


def test_one_that_is_set_by_its_id_says_what_it_watches(session: Session) -> None:
    reach(session, "dict_item", "dict_ready")
    info = session.get(f"/data-breakpoint-info?name={quote(PRICE)}")

    session.post("/data-breakpoints", {"data_id": info["data_id"]})

    [listed] = session.get("/data-breakpoints")["breakpoints"]
    assert (listed["kind"], listed["expression"], listed["set_by"]) == ("data", PRICE, ["rest"])


def test_a_garbage_id_is_refused(session: Session) -> None:
    reach(session, "returns", "returns_ready")
    path = session.path("/data-breakpoints")

    for data_id in ["", "999999", "global:", "global:x", "💥", "global:os:a b"]:
        made = session.server.http.post(path, json={"data_id": data_id}).json()
        assert not made.get("verified"), made

    assert session.resume()["exit_code"] == 0


def test_a_global_survives_a_restart(session: Session, python: str) -> None:
    reach(session, "global_variable", "global_ready", python)
    info = session.get("/data-breakpoint-info?name=total")
    assert info["can_persist"]
    watch_verified(session, "total")
    assert describe(session.resume()) == ("global_bump", "0", "1")

    stop = session.post("/restart", {"wait": 60})

    stops = [stop["data"]["new"]]
    while (stop := session.resume())["status"] == "paused":
        stops.append(stop["data"]["new"])
    assert stops[-2:] == ["1", "10"]


# -- what can be watched --------------------------------------------------------------------------


def test_what_cannot_be_watched_says_why(session: Session, python: str) -> None:
    reach(session, "local", "local_ready", python)

    for name, reason in [
        ("nowhere", "no variable called nowhere"),
        ("(1).real", "implemented in C"),
        ("count +", "no expression"),
        ("missing.value", "NameError"),
        ("{}[[]]", "unhashable"),
    ]:
        info = session.get(f"/data-breakpoint-info?name={quote(name)}")
        assert info["data_id"] is None
        assert reason in info["message"], info


def test_a_child_of_a_value_that_was_shown(session: Session, python: str) -> None:
    stop = reach(session, "dict_item", "dict_ready", python)
    reference = next(each for each in stop["locals"] if each["name"] == "prices")["reference"]
    info = session.get(f"/data-breakpoint-info?name={quote(repr('apple'))}&reference={reference}")

    made = session.post("/data-breakpoints", {"data_id": info["data_id"]})

    assert made["verified"], made
    assert describe(session.resume()) == ("dict_first", "1", "2")


# -- what is left behind --------------------------------------------------------------------------


def test_removing_a_watch_leaves_nothing_behind(session: Session, python: str) -> None:
    reach(session, "in_place", "in_place_ready", python)
    for name in ("items", "counter.value", "ready", "total", "settings['limit']", "len(items)"):
        watch_verified(session, name, condition="new == -1")
    assert session.evaluate("type(counter) is Counter") == "False"

    session.delete("/data-breakpoints")

    assert session.evaluate("type(counter) is Counter") == "True"
    assert session.evaluate("type(sys.modules['__main__']).__name__") == "'module'"
    if version_of(python) >= MONITORS:
        code = "sys._getframe().f_back and in_place.__code__"
        assert session.evaluate(f"sys.monitoring.get_local_events(3, {code})") == "0"
    assert session.resume()["exit_code"] == 0


def test_code_that_has_written_is_left_alone_afterwards(session: Session, python: str) -> None:
    reach(session, "hot", "hot_ready", python)
    for number in range(1, 3):
        watch_verified(session, "counter.value", access_type="change")
        assert describe(session.resume()) == ("hot_write", str(number - 1), str(number))

        session.delete("/data-breakpoints")

        if version_of(python) >= MONITORS:
            assert session.evaluate("sys.monitoring.get_events(3)") == "0"
            assert session.evaluate("sys.monitoring.get_local_events(3, hot.__code__)") == "0"
    assert session.resume()["exit_code"] == 0


def test_a_forked_child_is_not_watched(session: Session, python: str) -> None:
    reach(session, "forks", "forks_ready", python)
    for name in ("counter.value", "table['key']"):
        watch_verified(session, name, condition="new == 2")

    assert collect(session) == [("forks_write", "0", "2")]
    assert "child 0" in session.output()


# -- many threads, and modules that come later ----------------------------------------------------


def test_threads_that_write_one_place_at_once(session: Session, python: str) -> None:
    reach(session, "many_writers", "writers_ready", python)
    watch_verified(session, "table['key']", condition="new == -1")
    watch_verified(session, "counter.value", condition="new == 15003")

    assert describe(session.resume())[0] == "writers_write"
    end = session.resume()
    assert (end["exit_code"], session.output()) == (0, "written 1999\nend\n")


def test_threads_that_stop_at_a_write_at_once(session: Session, python: str) -> None:
    """One that is in the middle of a write must not be held there: it has the debugger's locks."""
    reach(session, "few_writers", "few_ready", python)
    watch_verified(session, "counter.value")

    assert {marker for marker, _old, _new in collect(session)} == {"method_write"}


def test_a_global_of_a_module_that_is_imported_later(session: Session, python: str) -> None:
    reach(session, "imports", "imports_ready", python)
    made = session.post("/data-breakpoints", {"data_id": "global:colorsys:ONE_THIRD"})
    assert not made["verified"]
    assert "not imported yet" in made["message"]
    if version_of(python) < MONITORS:
        session.break_at(VALUES, "imports_write")
        session.resume()
    else:
        stop = session.resume()
        assert (stop["data"]["old"], stop["location"]["function"]) == (None, "<module>")

    assert describe(session.resume())[::2] == ("imports_write", "3")
    assert session.get("/data-breakpoints")["breakpoints"][0]["verified"]


# -- by a reference -------------------------------------------------------------------------------

NESTED = """
class Box:
    def __init__(self):
        self.value = 1
        self.parts = [1, {"k": 2}]

def change(box):
    box.value = 2
    box.parts[0] = 5
    box.parts[1]["k"] = 3

change(Box())
"""


def unfold(session: Session, reference: int) -> dict[str, Any]:
    items = session.get(f"/variables/{reference}")["items"]
    return {each["name"]: each for each in items}


def test_a_part_of_an_unfolded_value_is_watched_by_its_reference_and_name(
    session: Session, tmp_path: Path
) -> None:
    script = tmp_path / "nested.py"
    script.write_text(NESTED)
    session.post("/breakpoints", {"file": str(script), "line": 8})
    hold = session.launch(str(script))["hold_id"]
    box = session.locals()["box"]["variable_reference"]
    parts = unfold(session, box)["parts"]["variable_reference"]
    first, inner = unfold(session, parts).values()
    (entry,) = unfold(session, inner["variable_reference"]).values()

    info = session.get(
        f"/data-breakpoint-info?name={quote(first['name'])}&reference={parts}&hold_id={hold}"
    )
    made = [
        watch(session, "value", reference=box),
        session.post("/data-breakpoints", {"data_id": info["data_id"]}),
        watch(session, entry["name"], reference=inner["variable_reference"]),
    ]
    assert [each["verified"] for each in made] == [True] * 3
    changes = [session.resume()["data"] for _ in made]
    assert [each["breakpoint_id"] for each in changes] == [each["id"] for each in made]
    assert [(each["old"], each["new"]) for each in changes] == [("1", "2"), ("1", "5"), ("2", "3")]


def test_a_reference_goes_with_a_name(session: Session) -> None:
    session.post("/data-breakpoints", {"data_id": "x", "reference": 3}, expect=400)


# -- beside others --------------------------------------------------------------------------------

COVERED = """
import coverage, runpy, sys
measured = coverage.Coverage(data_file=None)
measured.start()
sys.argv = [sys.argv[1], "local"]
runpy.run_path(sys.argv[0], run_name="__main__")
measured.stop()
print("covered:", *sorted(measured.get_data().lines(sys.argv[0])))
"""


@pytest.mark.parametrize(
    "interpreter",
    [each for each in interpreters.choose_interpreters() if each.version >= MONITORS],
    ids=str,
)
def test_coverage_keeps_working_beside_a_watch(
    session: Session, tmp_path: Path, interpreter: interpreters.Interpreter
) -> None:
    (tmp_path / "coverage").symlink_to(Path(coverage.__file__).parent)
    script = tmp_path / "covered.py"
    script.write_text(COVERED, encoding="utf-8")
    session.break_at(VALUES, "local_ready")
    session.launch(
        str(script),
        args=[VALUES.path],
        python=interpreter.path,
        env={"COVERAGE_CORE": "sysmon", "PYTHONPATH": str(tmp_path)},
    )
    session.delete("/breakpoints")
    watch_verified(session, "count", access_type="change")

    markers = [marker for marker, _old, _new in collect(session)]

    assert markers == ["local_first", "local_loop", "local_loop", "local_deleted"]
    covered = session.output().partition("covered:")[2].split()
    assert {str(VALUES.line(each)) for each in ("local_first", "local_same")} <= set(covered)
