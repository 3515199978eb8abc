"""`why`: the write that produced a value, and what fed it."""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path

import pytest

from holdfast.core.run_reader import read_run
from holdfast.core.why_slice import NotExplained, explain_exception, explain_value
from holdfast.model.run_recording import RunRecording, WhyChain
from run_recordings import BUGS, find_line, find_remark, record, record_text

MAX_LINES = 30
_SCRIPTS = sorted(BUGS.glob("*.py"))


def explain_bug(script: Path, folder: Path, python: str) -> WhyChain:
    """Why the marked variable is wrong, or why the program failed."""
    run = record(script, folder, python).read()
    assert not run.remarks
    try:
        name, line = find_remark(script, "why"), find_line(script, "why")
    except LookupError:
        return explain_exception(run)
    return explain_value(run, str(script), line, name)


def list_lines(chain: WhyChain) -> list[int]:
    """The lines that the answer names, in order."""
    assert chain.assigned is not None
    return [chain.assigned.line, *(link.line for link in chain.links)]


def test_there_are_enough_programs_with_bugs() -> None:
    assert len(_SCRIPTS) >= 15


@pytest.mark.parametrize("script", _SCRIPTS, ids=lambda script: script.stem)
def test_the_faulty_line_is_in_the_chain(script: Path, tmp_path: Path, python: str) -> None:
    lines = list_lines(explain_bug(script, tmp_path, python))
    assert len(lines) <= MAX_LINES
    assert find_line(script, "bug") in lines[:12]


def test_the_faulty_line_is_among_the_first_for_most(tmp_path: Path, python: str) -> None:
    ranks = []
    for script in _SCRIPTS:
        lines = list_lines(explain_bug(script, tmp_path, python))
        ranks.append(lines.index(find_line(script, "bug")) + 1)
    assert sorted(ranks)[len(ranks) // 2] <= 6


# -- one small program, asked in several ways ------------------------------------------------------

_SHOP = """\
import sys
RATE = 0.5
class Order:
    def __init__(self, name, items):
        self.name = name
        self.items = items
        self.total = 0
def add_up(order, rate=RATE):
    for price in order.items:
        order.total += price
    return order.total * rate
def load(names):
    orders = {}
    for name in names:
        orders[name] = Order(name, [len(name), 10])
    return orders
orders = load(["ab", "cde"])
rows = []
for name in orders:
    order = orders[name]
    due = add_up(order)
    rows.append(due)
    print(name, due)
rows[1] = rows[1] + 1
print(sum(rows), sys.argv[0][:0])
"""


@functools.cache
def record_shop() -> RunRecording:
    with tempfile.TemporaryDirectory() as folder:
        return read_run(record_text(_SHOP, Path(folder)).lines)


def explain(line: int, name: str, hit: int = 1) -> WhyChain:
    return explain_value(record_shop(), "program.py", line, name, hit)


def test_the_value_is_that_of_the_first_hit() -> None:
    chain = explain(22, "due")
    assert (chain.value, chain.hit, chain.hits) == ("6.0", 1, 2)
    assert chain.assigned is not None
    assert (chain.assigned.line, chain.assigned.value) == (21, "6.0")
    assert chain.assigned.source == "due = add_up(order)"


def test_another_hit_can_be_meant_also_from_the_end() -> None:
    assert explain(22, "due", 2).value == explain(22, "due", -1).value == "6.5"
    assert explain(22, "due", -2).value == "6.0"


def test_a_value_that_a_line_is_about_to_change_is_the_one_before() -> None:
    assert explain(10, "price", 2).value == "10"
    chain = explain(21, "due", 2)
    assert chain.value == "6.0"


def test_a_variable_that_a_line_binds_first_has_the_value_after_it() -> None:
    chain = explain(17, "orders")
    assert chain.assigned is not None
    assert chain.assigned.line == 17
    assert chain.value is not None
    assert chain.value.startswith("{'ab': Order(")


def test_a_parameter_was_given_by_the_call() -> None:
    chain = explain(9, "order")
    assert chain.assigned is not None
    assert (chain.assigned.line, chain.assigned.relation) == (21, "argument")
    assert 15 in list_lines(chain)


def test_a_default_comes_from_the_definition() -> None:
    lines = list_lines(explain(11, "rate"))
    assert 8 in lines
    assert 2 in lines


def test_an_attribute_can_be_asked_for() -> None:
    chain = explain(11, "order.total", 2)
    assert chain.value == "13"
    assert chain.assigned is not None
    assert (chain.assigned.line, chain.assigned.source) == (10, "order.total += price")


def test_an_item_can_be_asked_for() -> None:
    assert explain(25, "rows[1]").value == "7.5"
    chain = explain(25, "rows[0]")
    assert chain.value == "6.0"
    assert chain.assigned is not None
    assert chain.assigned.line == 22
    assert explain(20, "orders['ab'].name", 2).value == "'ab'"


def test_a_container_was_produced_by_its_last_change() -> None:
    chain = explain(25, "rows")
    assert chain.assigned is not None
    assert chain.assigned.line == 24
    assert {22, 24, 18}.issubset(list_lines(chain))


def test_the_value_of_an_object_is_what_it_holds_at_that_moment(
    tmp_path: Path, python: str
) -> None:
    text = (
        "class Order:\n    def __init__(self):\n        self.total = 0\n        self.rows = []\n"
        "table = {}\ntable['a'] = 1\nalias = table\nalias['b'] = [3]\n"
        "alias['b'].append(4)\n"
        "order = Order()\norder.total += 5\nrows = order.rows\nrows.append(6)\n"
        "print(table, order)\n"
    )
    run = record_text(text, tmp_path, python).read()
    chain = explain_value(run, "program.py", 14, "table")
    assert chain.value == "{'a': 1, 'b': [3, 4]}"
    assert {5, 6, 8}.issubset(list_lines(chain))
    (link,) = [link for link in chain.links if link.line == 7]
    assert link.wrote == {"alias": "{'a': 1}"}
    chain = explain_value(run, "program.py", 14, "order")
    assert chain.value == "Order(total=5, rows=[6])"
    assert list_lines(chain)[:2] == [11, 10]


def test_the_value_of_an_object_with_slots_is_true(tmp_path: Path, python: str) -> None:
    text = (
        "class Account:\n    __slots__ = ('total',)\n"
        "    def __init__(self):\n        self.total = 0\n"
        "    def add(self, n):\n        self.total += n\n"
        "account = Account()\naccount.add(2)\naccount.total = 50\nsame = account\nprint(same)\n"
    )
    run = record_text(text, tmp_path, python).read()
    assert explain_value(run, "program.py", 10, "account").value == "Account(total=50)"


def test_code_that_is_not_recorded_changes_what_is_read(tmp_path: Path, python: str) -> None:
    text = "rows = [3]\nexec('rows.append(4)')\nmore = rows + []\nprint(more)\n"
    run = record_text(text, tmp_path, python).read()
    chain = explain_value(run, "program.py", 4, "more")
    assert chain.assigned is not None
    assert chain.assigned.read == {"rows": "[3, 4] (line 1)"}


def test_a_constant_that_is_returned_is_a_link(tmp_path: Path, python: str) -> None:
    text = "def is_on():\n    return True\nflag = is_on()\nprint(flag)\n"
    run = record_text(text, tmp_path, python).read()
    assert list_lines(explain_value(run, "program.py", 4, "flag")) == [3, 2]


def test_a_call_under_way_has_written_nothing_yet(tmp_path: Path, python: str) -> None:
    text = "def find(n):\n    m = n + 1\n    return m * 100\nprice = find(3)\n"
    run = record_text(text, tmp_path, python).read()
    (link,) = [x for x in explain_value(run, "program.py", 3, "m").links if x.line == 4]
    assert link.wrote == {"find(n)": "3"}


def test_rounds_that_went_the_other_way_are_said(tmp_path: Path, python: str) -> None:
    text = (
        "answers = iter([True, False, True])\ndef pick():\n    return next(answers)\n"
        "taken = []\nlimit = 3\n"
        "for k in range(3):\n    if pick() and limit > 2:\n        taken.append(k)\n"
        "print(taken)\n"
    )
    run = record_text(text, tmp_path, python).read()
    (link,) = [x for x in explain_value(run, "program.py", 9, "taken").links if x.line == 7]
    assert link.wrote == {"entered": "yes; no in other rounds"}


def test_links_say_what_was_written_and_read_and_where_that_came_from() -> None:
    link = next(link for link in explain(22, "due").links if link.line == 11)
    assert (link.function, link.relation) == ("add_up", "returned")
    assert link.source == "return order.total * rate"
    (link,) = [link for link in explain(22, "due").links if link.line == 6]
    assert link.read == {"items": "[2, 10] (argument)"}


def test_what_one_link_says_no_other_repeats() -> None:
    links = explain(22, "due").links
    read = [(name, text.partition(" (")[0]) for link in links for name, text in link.read.items()]
    wrote = [pair for link in links for pair in link.wrote.items()]
    assert len(set(read)) == len(read)
    assert not set(read).intersection(wrote)


def test_few_values_of_other_rounds_are_said_too(tmp_path: Path, python: str) -> None:
    text = (
        "def is_leap(year):\n    leap = year % 4 == 0\n    return leap\n"
        "days = 0\n"
        "for year in (1899, 1900, 1901):\n    if is_leap(year):\n        days += 1\n"
        "print(days)\n"
    )
    run = record_text(text, tmp_path, python).read()
    links = {link.line: link for link in explain_value(run, "program.py", 8, "days").links}
    assert links[2].wrote == {"leap": "True (also False)"}
    assert links[2].times > 1
    assert links[5].wrote == {"year": "1900 (also 1901, 1899)"}


def test_a_last_return_of_a_variable_is_no_link_of_its_own(tmp_path: Path, python: str) -> None:
    text = (
        "def find(value):\n    price = value * 3\n    return price\n"
        "def choose(value):\n    if value > 2:\n        return value\n    return 2\n"
        "low = find(1)\nhigh = choose(5)\nprint(low, high)\n"
    )
    run = record_text(text, tmp_path, python).read()
    assert list_lines(explain_value(run, "program.py", 10, "low")) == [8, 2]
    high = explain_value(run, "program.py", 10, "high")
    (early,) = [link for link in high.links if link.line == 6]
    assert (early.wrote, early.read) == ({}, {"value": "5 (argument)"})


def test_a_result_is_said_by_the_statement_that_called(tmp_path: Path, python: str) -> None:
    text = (
        "def find(value):\n    return value * 3\n"
        "price = find(1)\nrest = 10 - find(2)\nprint(price, rest)\n"
    )
    run = record_text(text, tmp_path, python).read()
    (link,) = explain_value(run, "program.py", 5, "price").links
    assert (link.line, link.wrote) == (2, {})
    (link,) = [link for link in explain_value(run, "program.py", 5, "rest").links if link.line == 2]
    assert link.wrote == {"returned": "6"}


def test_a_result_that_a_function_computed_and_did_not_return_is_a_cause(
    tmp_path: Path, python: str
) -> None:
    text = (
        "def double(value):\n    return value * 2\n"
        "def find(value):\n    found = double(value)\n    print('found')\n"
        "price = find(4)\nprint(price)\n"
    )
    run = record_text(text, tmp_path, python).read()
    (link,) = [x for x in explain_value(run, "program.py", 7, "price").links if x.line == 4]
    assert (link.relation, link.wrote["found"]) == ("not done", "8")


def test_it_ends_at_constants_and_inputs() -> None:
    assert any("a constant" in origin and "RATE" in origin for origin in explain(22, "due").origins)


def test_a_line_that_was_not_executed_is_said_with_those_nearby(tmp_path: Path) -> None:
    text = "x = 1\nif x > 5:\n    y = 2\nprint(x)\n"
    run = record_text(text, tmp_path).read()
    with pytest.raises(NotExplained, match=r"line 3 of .* was not executed") as caught:
        explain_value(run, "program.py", 3, "x")
    assert "1, 2, 4" in caught.value.hint


def test_a_hit_that_did_not_happen_is_said_with_how_many_did() -> None:
    with pytest.raises(NotExplained, match="executed 2 times") as caught:
        explain(22, "due", 3)
    assert "1 to 2" in caught.value.hint


def test_a_name_that_is_not_known_is_said_with_those_that_are() -> None:
    with pytest.raises(NotExplained, match="nothing has no recorded value") as caught:
        explain(11, "nothing")
    assert "order" in caught.value.hint


def test_an_expression_is_no_name() -> None:
    with pytest.raises(NotExplained, match="is no variable"):
        explain(11, "order.total * 2")


def test_a_file_that_was_not_recorded_is_said_with_those_that_were() -> None:
    with pytest.raises(NotExplained, match=r"no code of other\.py") as caught:
        explain_value(record_shop(), "other.py", 1, "x")
    assert "program.py" in caught.value.hint


# -- what cannot be known --------------------------------------------------------------------------


def test_what_code_outside_the_recording_did_is_said_to_be_unknown(
    tmp_path: Path, python: str
) -> None:
    text = "import json\nrows = json.loads('[1, 2]')\nfirst = rows[0]\nprint(first)\n"
    run = record_text(text, tmp_path, python).read()
    chain = explain_value(run, "program.py", 4, "first")
    assert list_lines(chain)[:2] == [3, 2]
    assert any("json.loads" in reason for reason in chain.unknown)


def test_a_change_by_code_in_c_is_found_and_said(tmp_path: Path, python: str) -> None:
    text = (
        "import operator\nitems = [1]\n"
        "operator.iadd(items, [2])\ntotal = sum(items)\nprint(total)\n"
    )
    run = record_text(text, tmp_path, python).read()
    chain = explain_value(run, "program.py", 5, "total")
    assert 3 in list_lines(chain)
    assert any("items was changed" in reason for reason in chain.unknown)


def test_a_part_that_no_recorded_statement_wrote_is_said(tmp_path: Path) -> None:
    text = (
        "from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: int\n"
        "point = Point(3)\nprint(point)\n"
    )
    run = record_text(text, tmp_path).read()
    chain = explain_value(run, "program.py", 6, "point.x")
    assert chain.assigned is not None
    assert chain.assigned.line == 5
    assert any("no recorded statement wrote .x" in reason for reason in chain.unknown)


def test_inputs_are_named(tmp_path: Path) -> None:
    text = "import sys, os\nhome = os.environ.get('NO_SUCH')\nn = len(sys.argv)\nz = (home, n)\nz\n"
    run = record_text(text, tmp_path).read()
    origins = " ".join(explain_value(run, "program.py", 5, "z").origins)
    assert "the environment" in origins
    assert "the program's arguments" in origins


def test_recorded_generators_and_made_objects_are_not_said_to_be_unknown(
    tmp_path: Path, python: str
) -> None:
    text = (
        "from dataclasses import dataclass\n@dataclass\nclass Point:\n    x: int\n"
        "def list_points():\n    for x in (1, 2):\n        yield Point(x)\n"
        "points = list(list_points())\nlast = points[-1]\nprint(last)\n"
    )
    run = record_text(text, tmp_path, python).read()
    chain = explain_value(run, "program.py", 10, "last")
    assert 7 in list_lines(chain)
    assert (list(chain.unknown), run.remarks) == ([], [])


def test_a_call_far_outside_is_no_input_of_a_value(tmp_path: Path) -> None:
    text = "import sys\ndef main(args):\n    n = sum(range(3))\n    print(n)\nmain(sys.argv[1:])\n"
    run = record_text(text, tmp_path).read()
    assert explain_value(run, "program.py", 4, "n").origins == []


# -- exceptions ------------------------------------------------------------------------------------


def test_an_exception_is_explained_from_where_it_was_raised(tmp_path: Path, python: str) -> None:
    text = (
        "def divide(a, b):\n    return a / b\n"
        "def find_share(total, parts):\n    count = len(parts) - 2\n"
        "    return divide(total, count)\n"
        "try:\n    int('x')\nexcept ValueError:\n    pass\n"
        "find_share(6, ['a', 'b'])\n"
    )
    run = record_text(text, tmp_path, python).read()
    chain = explain_exception(run)
    assert chain.assigned is not None
    assert (chain.assigned.line, chain.assigned.relation) == (2, "raised")
    assert chain.value == "ZeroDivisionError('division by zero')"
    assert list_lines(chain)[1:3] == [5, 4]


def test_a_failed_assertion_in_a_module_that_pytest_rewrote_is_explained(tmp_path: Path) -> None:
    (tmp_path / "test_shop.py").write_text(
        "def find_price(count):\n    price = count * 3\n    return price - 1\n"
        "def test_price():\n    price = find_price(2)\n    assert price == 6, 'wrong'\n",
        encoding="utf-8",
    )
    text = (
        "import pytest\n"
        f"pytest.main(['-q', '-p', 'no:cacheprovider', {str(tmp_path / 'test_shop.py')!r}])\n"
    )
    run = record_text(text, tmp_path).read()
    chain = explain_exception(run)
    assert chain.value is not None
    assert chain.value.startswith("AssertionError('wrong")
    assert list_lines(chain)[:4] == [6, 5, 3, 2]


def test_a_run_that_did_not_fail_has_no_exception() -> None:
    with pytest.raises(NotExplained, match="no exception ended"):
        explain_exception(record_shop())


def test_a_long_run_is_explained_in_few_lines(tmp_path: Path) -> None:
    steps = "\n".join(f"v{n} = v{n - 1} + {n}" for n in range(1, 60))
    run = record_text(f"v0 = 1\n{steps}\nprint(v59)\n", tmp_path).read()
    chain = explain_value(run, "program.py", 61, "v59")
    assert len(chain.links) <= MAX_LINES - 2
    assert chain.left_out == 59 - len(chain.links)
    assert [link.line for link in chain.links][:3] == [59, 58, 57]
