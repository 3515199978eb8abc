"""Variables: shown, unfolded, paged and set, whatever they are."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from harness import Program, Server, Session

VALUE_KINDS = Program("value_kinds.py")
MANY_VARIABLES = Program("many_variables.py")
LOOP = Program("loop.py")
LIBRARY_VALUES = Program("library_values.py")


@pytest.fixture(scope="module")
def held(server: Server) -> Iterator[Session]:
    """One program held among its values, for all the tests that only look."""
    with server.session() as session:
        session.break_at(VALUE_KINDS, "inspect")
        session.launch(VALUE_KINDS)
        yield session


def unfold(session: Session, reference: int, **page: int) -> dict[str, Any]:
    query = "&".join(f"{k}={v}" for k, v in page.items())
    found: dict[str, Any] = session.get(f"/variables/{reference}?{query}")
    return found


def parts(session: Session, reference: int) -> dict[str, Any]:
    return {each["name"]: each for each in unfold(session, reference)["items"]}


# -- looking --------------------------------------------------------------------------------------


def test_every_local_is_there_with_value_and_type(held: Session) -> None:
    shown = held.locals()
    assert (shown["number"]["value"], shown["number"]["type"]) == ("42", "int")
    assert shown["number"]["expandable"] is False
    assert shown["argument"]["value"] == "6"
    assert shown["fixed"]["value"] == "(1, 'b')"
    assert shown["colour"]["value"] == "<Colour.RED: 1>"
    assert shown["queue"]["value"] == "deque([1, 2, 3])"
    assert shown["order"]["value"] == "Order(name='book', total=9.5, lines=[1, 2])"
    assert shown["mapping"]["reference"] == shown["mapping"]["variable_reference"] > 0


def test_unicode_is_kept_in_names_and_values(held: Session) -> None:
    shown = held.locals()
    assert shown["text"]["value"] == "'naïve ☃ 😀'"
    assert shown["größe"]["value"] == "3"
    assert held.evaluate("text + 'é'") == "'naïve ☃ 😀é'"


def test_a_long_string_is_cut_and_says_how_long_it_is(held: Session) -> None:
    shown = held.locals()["long_text"]
    assert (shown["length"], shown["truncated"]) == (100_000, True)
    assert len(shown["value"]) < 2000


def test_a_long_string_can_be_read_whole(held: Session) -> None:
    """In one piece, as long as `max_chars` allows, or a part at a time."""
    [whole] = [
        variable
        for variable in held.get("/frames/0/variables?max_chars=200000")["variables"]
        if variable["name"] == "long_text"
    ]
    assert whole["value"] == repr("x" * 100_000)
    assert "truncated" not in whole
    assert whole["reference"] == 0

    shown = held.locals()["long_text"]
    assert shown["expandable"] is False
    page = unfold(held, shown["reference"], start=99_990, count=100)
    [part] = page["items"]
    assert (part["value"], part["length"]) == (repr("x" * 10), 10)
    assert (part["name"], part["start"]) == ("[99990:100000]", 99_990)
    assert (page["total"], page["has_more"]) == (100_000, False)
    page = unfold(held, shown["reference"])
    assert (page["items"][0]["length"], page["has_more"]) == (10_000, True)
    assert unfold(held, shown["reference"], start=100_000)["items"] == []
    named = held.get("/frames/0/variables/long_text/children?start=5&count=3")
    assert [item["value"] for item in named["items"]] == ["'xxx'"]


def test_max_chars_shortens_and_widens_what_is_shown(held: Session) -> None:
    short = {
        variable["name"]: variable["value"]
        for variable in held.get("/frames/0/variables?max_chars=10")["variables"]
    }
    assert short["long_text"] == "'xxxxxxxxxx...'"
    numbers = held.locals()["numbers"]
    [scope, _globals] = held.get("/frames/0/scopes")["scopes"]
    page = held.get(f"/scopes/{scope['reference']}/variables?max_chars=5000")["variables"]
    [wide] = [variable for variable in page if variable["name"] == "numbers"]
    assert 5000 < len(wide["value"]) < 5100
    assert wide["value"].startswith("[0, 1, 2, 3, 4, 5, 6,")
    assert wide["value"].endswith("... (1000000 items)]")
    assert len(numbers["value"]) < 100
    items = held.get(f"/variables/{held.locals()['mapping']['reference']}?max_chars=1")["items"]
    assert items
    held.get("/frames/0/variables?max_chars=0", expect=400)


def test_bytes_come_as_base64_with_their_length(held: Session) -> None:
    shown = held.locals()["data"]
    assert (shown["encoding"], shown["length"]) == ("base64", 256)
    assert base64.b64decode(shown["value"]) == bytes(range(256))


def test_a_million_items_come_in_pages(held: Session) -> None:
    shown = held.locals()["numbers"]
    assert (shown["length"], shown["truncated"], shown["expandable"]) == (1_000_000, True, True)
    assert shown["value"] == "[0, 1, 2, 3, 4, ... (1000000 items)]"

    page = unfold(held, shown["variable_reference"], start=500_000, count=50)
    assert [each["index"] for each in page["items"]] == list(range(500_000, 500_050))
    assert (page["items"][0]["value"], page["items"][0]["type"]) == ("500000", "int")
    assert (page["total"], page["has_more"]) == (1_000_000, True)

    last = unfold(held, shown["variable_reference"], offset=999_990, limit=100)
    assert (len(last["items"]), last["has_more"]) == (10, False)
    assert len(unfold(held, shown["variable_reference"])["items"]) == 100
    path = "/frames/0/variables/numbers/children?offset=7&limit=2"
    assert [each["value"] for each in held.get(path)["items"]] == ["7", "8"]
    path = f"/frames/0/variables/{shown['variable_reference']}/children?offset=7&limit=2"
    assert [each["value"] for each in held.get(path)["items"]] == ["7", "8"]


def test_dicts_sets_and_objects_unfold(held: Session) -> None:
    shown = held.locals()
    mapping = parts(held, shown["mapping"]["variable_reference"])
    assert {name: each["value"] for name, each in mapping.items()} == {
        "'one'": "1",
        "2": "'two'",
        "(3, 4)": "[5]",
    }
    unique = unfold(held, shown["unique"]["variable_reference"])
    assert sorted(each["value"] for each in unique["items"]) == ["1", "2", "3"]
    point = parts(held, shown["point"]["variable_reference"])
    assert {name: each["value"] for name, each in point.items()} == {"x": "1", "y": "[2]"}
    order = parts(held, shown["order"]["variable_reference"])
    assert list(order) == ["name", "total", "lines"]

    reference = shown["nested"]["variable_reference"]
    for name in ("'a'", "'b'", "0"):
        reference = parts(held, reference)[name]["variable_reference"]
    assert parts(held, reference)["'c'"]["value"] == "7"


def test_a_circle_is_marked_where_it_closes(held: Session) -> None:
    shown = held.locals()
    node = shown["node"]["variable_reference"]
    children = parts(held, node)["children"]["variable_reference"]
    child = parts(held, children)["0"]["variable_reference"]
    parent = parts(held, child)["parent"]
    assert (parent["value"], parent["circular"]) == ("<circular: node>", True)
    assert (parent["type"], parent["variable_reference"]) == ("Node", node)

    ring = parts(held, shown["ring"]["variable_reference"])["1"]
    assert (ring["value"], ring["circular"]) == ("<circular: ring>", True)
    assert shown["ring"]["value"] == "[1, [...]]"


def test_a_failing_repr_harms_nobody(held: Session) -> None:
    shown = held.locals()
    assert "Broken object at 0x" in shown["broken"]["value"]
    assert shown["broken"]["repr_error"] == "ValueError: no picture"
    assert held.evaluate("1 + 1") == "2"


def test_a_slow_repr_harms_nobody(server_with: Callable[..., Server]) -> None:
    with server_with(value_call=0.05).session() as session:
        session.break_at(VALUE_KINDS, "slow")
        session.launch(VALUE_KINDS)
        assert "repr took too long" in session.locals()["slow"]["value"]
        assert session.evaluate("slow").startswith("<Slow object")
        assert session.evaluate("1 + 1") == "2"


def test_a_summary_has_types_and_sizes_only(held: Session) -> None:
    found = held.get("/frames/0/variables?summary=true")["variables"]
    shown = {each["name"]: each for each in found}
    assert not any("value" in each for each in found)
    assert (shown["numbers"]["type"], shown["numbers"]["length"]) == ("list", 1_000_000)


def test_scopes_lead_to_locals_and_globals(held: Session) -> None:
    scopes = {each["name"]: each for each in held.get("/frames/0/scopes")["scopes"]}
    assert list(scopes) == ["Locals", "Globals"]
    found = held.get(f"/scopes/{scopes['Locals']['reference']}/variables")
    assert found["total"] == held.get("/frames/0/variables")["total"]
    assert "number" in [each["name"] for each in found["variables"]]
    names = parts(held, scopes["Globals"]["variable_reference"])
    assert names["COUNTER"]["value"] == "1"
    assert "__builtins__" not in names
    page = held.get(f"/scopes/{scopes['Locals']['reference']}/variables?start=1&count=2")
    assert ([each["name"] for each in page["variables"]], page["has_more"]) == (
        ["number", "text"],
        True,
    )


def test_a_module_shows_its_variables_before_what_it_defines_and_imports(session: Session) -> None:
    code = (
        "import json\n"
        "from math import sqrt\n"
        "def work(): pass\n"
        "class Order: pass\n"
        "total = sqrt(4)\n"
        "import sys\n"
        "order = Order()\n"
        "breakpoint_here = 1\n"
    )
    stop = session.post("/launch", {"code": code, "stop_on_entry": True, "wait": 60})
    while stop["location"]["line"] < 8:
        stop = session.post("/step-over")
    names = [variable["name"] for variable in stop["locals"]]
    assert names == ["total", "order", "Order", "sqrt", "work", "json", "sys"]
    assert names == [
        variable["name"] for variable in session.get("/frames/0/variables")["variables"]
    ]
    [local, outer] = session.get("/frames/0/scopes")["scopes"]
    assert names == [item["name"] for item in unfold(session, local["reference"])["items"]]
    everything = [item["name"] for item in unfold(session, outer["reference"])["items"]]
    assert everything[: len(names)] == names
    assert everything[-1].startswith("__")


def test_outer_frames_have_variables_too(held: Session) -> None:
    outer = held.locals(1)
    assert {name: each["value"] for name, each in outer.items()} == {
        "argument": "3",
        "mine": '"outer\'s"',
    }
    module = held.locals(2)
    assert "COUNTER" in module
    assert not [name for name in module if name.startswith("__")]
    paged = held.get("/frames/1/variables?start=1&count=1")
    assert ([v["name"] for v in paged["variables"]], paged["total"]) == (["mine"], 2)


def test_more_locals_than_fit_a_page_are_all_there(session: Session) -> None:
    session.break_at(MANY_VARIABLES, "done")
    stop = session.launch(MANY_VARIABLES)
    assert len(stop["locals"]) == 200
    assert stop["locals_total"] == 501

    found = session.get("/frames/0/variables")
    assert (found["total"], len(found["variables"])) == (501, 501)
    page = session.get("/frames/0/variables?start=450&count=10")
    assert (next(v["name"] for v in page["variables"]), page["has_more"]) == ("name_450", True)
    beyond = session.get(f"/frames/0/variables?start={10**30}")
    assert (beyond["variables"], beyond["total"], beyond["has_more"]) == ([], 501, False)
    children = session.get("/frames/0/variables/name_500/children")
    assert (children["items"], children["total"]) == ([], 0)


# -- the libraries people use ---------------------------------------------------------------------


def test_arrays_tables_and_models_are_shown_by_what_they_are(session: Session) -> None:
    pytest.importorskip("pandas")
    pytest.importorskip("pydantic")
    session.break_at(LIBRARY_VALUES, "look")
    session.launch(LIBRARY_VALUES)
    shown = session.locals()

    assert shown["array"]["shape"] == [1000, 3]
    assert shown["array"]["dtype"] == "float64"
    row = unfold(session, shown["array"]["variable_reference"], start=999)["items"][0]
    assert (row["index"], row["shape"]) == (999, [3])
    assert shown["frame"]["value"] == "DataFrame(100 rows x 2 columns)"
    assert shown["frame"]["columns"] == ["name", "age"]
    columns = parts(session, shown["frame"]["variable_reference"])
    ages = unfold(session, columns["age"]["variable_reference"], start=98)
    assert [each["value"] for each in ages["items"]] == ["np.int64(98)", "np.int64(99)"]
    assert shown["model"]["value"] == "User(name='ann', tags=['a', 'b'])"
    assert list(parts(session, shown["model"]["variable_reference"]))[:2] == ["name", "tags"]


def test_looking_imports_nothing_into_the_program(session: Session) -> None:
    session.break_at(VALUE_KINDS, "inspect")
    session.launch(VALUE_KINDS)
    session.locals()
    session.get("/frames/2/variables")
    loaded = session.evaluate(
        "[n for n in ('numpy', 'pandas', 'pydantic') if n in __import__('sys').modules]"
    )
    assert loaded == "[]"


# -- setting --------------------------------------------------------------------------------------


def put(session: Session, reference: int, name: str, value: str, **options: Any) -> Any:
    return session.post(f"/variables/{reference}/set", {"name": name, "value": value}, **options)


def test_a_local_is_set_and_the_program_goes_on_with_it(session: Session, python: str) -> None:
    session.break_at(LOOP, "add", condition="number == 9")
    session.launch(LOOP, python=python)
    scope = session.get("/frames/0/scopes")["scopes"][0]["reference"]

    answer = put(session, scope, "number", "1000 + total * 0")

    assert (answer["name"], answer["value"], answer["type"]) == ("number", "1000", "int")
    assert session.locals()["number"]["value"] == "1000"
    assert session.evaluate("number") == "1000"
    outer = session.get("/frames/1/scopes")["scopes"][0]["reference"]
    put(session, outer, "number", "-1")
    assert session.locals(1)["number"]["value"] == "-1"
    session.resume()
    assert session.output() == "total 1036\ndone\n"


def test_globals_items_attributes_and_nested_parts_are_set(session: Session) -> None:
    session.break_at(VALUE_KINDS, "inspect")
    session.launch(VALUE_KINDS)
    shown = session.locals()
    [_locals, names] = session.get("/frames/0/scopes")["scopes"]

    put(session, names["reference"], "COUNTER", "COUNTER + 41")
    put(session, shown["numbers"]["variable_reference"], "999999", "'last'")
    put(session, shown["mapping"]["variable_reference"], "'one'", "[1]")
    put(session, shown["mapping"]["variable_reference"], "(3, 4)", "None")
    put(session, shown["point"]["variable_reference"], "x", "number")
    put(session, shown["order"]["variable_reference"], "name", "'pen'")
    inner = parts(session, shown["nested"]["variable_reference"])["'a'"]["variable_reference"]
    put(session, inner, "'b'", "{'deep': True}")

    assert session.evaluate("(numbers[-1], mapping, point.x, order.name, nested)") == (
        "('last', {'one': [1], 2: 'two', (3, 4): None}, 42, 'pen', {'a': {'b': {...}}})"
    )
    assert session.evaluate("nested['a']['b']") == "{'deep': True}"
    session.resume()
    assert session.output() == "42\n"


def test_what_cannot_be_set_is_refused_and_nothing_changes(session: Session) -> None:
    session.break_at(VALUE_KINDS, "inspect")
    session.launch(VALUE_KINDS)
    shown = session.locals()
    scope = session.get("/frames/0/scopes")["scopes"][0]["reference"]
    for reference, name, value in (
        (scope, "number", "1 +"),
        (scope, "number", "x = 1"),
        (scope, "number", "missing_name"),
        (scope, "number", ""),
        (scope, "nobody", "1"),
        (shown["fixed"]["variable_reference"], "0", "9"),
        (shown["unique"]["variable_reference"], "0", "9"),
        (shown["numbers"]["variable_reference"], "1000000", "9"),
        (shown["point"]["variable_reference"], "z", "9"),
        (shown["mapping"]["variable_reference"], "'nine'", "9"),
    ):
        refused = put(session, reference, name, value, expect=400)
        assert refused["error"]["message"], (name, value)
    assert session.evaluate("(number, fixed, unique, len(numbers))") == (
        "(42, (1, 'b'), {1, 2, 3}, 1000000)"
    )
