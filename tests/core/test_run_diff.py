"""The first place where two runs differ."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast.core.run_diff import compare_runs, find_noise
from holdfast.model.run_recording import Parting, RunDifference, RunRecording
from run_mutants import make_mutants, record_versions
from run_recordings import record, run_python

_FEES = """\
def find_fee(amount, rate):
    base = amount * rate
    if base > 10:
        base = 10
    return base


def add_up(amounts):
    total = 0
    for amount in amounts:
        total += find_fee(amount, 0.1)
    return total


print(add_up([10, 50, 200]))
"""


def record_version(folder: Path, name: str, text: str, **options: Any) -> RunRecording:
    place = folder / name
    place.mkdir()
    script = place / "fees.py"
    script.write_text(text, encoding="utf-8")
    return record(script, place, **options).read()


def compare_texts(folder: Path, a: str, b: str) -> RunDifference:
    return compare_runs(record_version(folder, "a", a), record_version(folder, "b", b))


def find_first(folder: Path, a: str, b: str) -> Parting:
    first = compare_texts(folder, a, b).first
    assert first is not None
    return first


def test_runs_that_do_the_same_are_equal(tmp_path: Path) -> None:
    difference = compare_texts(tmp_path, _FEES, _FEES)
    assert difference.equal
    assert difference.first is None
    assert difference.remarks == []


def test_a_changed_test_is_named_with_both_ways(tmp_path: Path) -> None:
    first = find_first(tmp_path, _FEES, _FEES.replace("base > 10", "base > 20"))
    assert first.kind == "path"
    assert first.after == "3 if base > 10: | 3 if base > 20:"
    assert first.a is not None
    assert first.b is not None
    assert (first.a.line, first.b.line) == (4, 5)
    assert first.a.state == {"amount": "200", "rate": "0.1", "base": "20.0"}
    assert first.stack == [
        "<module>()",
        "add_up(amounts=[10, 50, 200])",
        "find_fee(amount=200, rate=0.1)",
    ]


def test_a_difference_is_found_in_the_call_that_it_comes_from(tmp_path: Path) -> None:
    first = find_first(tmp_path, _FEES, _FEES.replace("amount * rate", "amount * rate * 2"))
    assert (first.kind, first.stack[-1]) == ("changed line", "find_fee(amount=10, rate=0.1)")
    assert first.a is not None
    assert first.b is not None
    assert (first.a.values, first.b.values) == ({"base": "1.0"}, {"base": "2.0"})


def test_another_input_is_a_different_value_first(tmp_path: Path) -> None:
    text = "import sys\nsize = len(sys.argv)\n" + _FEES
    script = tmp_path / "fees.py"
    script.write_text(text, encoding="utf-8")
    one = record(script, tmp_path).read()
    other = record(script, tmp_path, sys.executable, "extra").read()
    first = compare_runs(one, other).first
    assert first is not None
    assert first.kind == "value"
    assert first.a is not None
    assert (first.a.line, first.a.values) == (2, {"size": "1"})


def test_other_arguments_are_said_with_the_call(tmp_path: Path) -> None:
    first = find_first(tmp_path, _FEES, _FEES.replace("50, 200]", "60, 200]"))
    assert first.kind == "arguments"
    assert first.a is not None
    assert first.b is not None
    assert first.b.values == {"amounts": "[10, 60, 200]"}
    assert first.after == "print(add_up([10, 50, 200])) | print(add_up([10, 60, 200]))"


def test_a_changed_line_that_led_to_a_difference_did_not_do_the_same(tmp_path: Path) -> None:
    text = _FEES.replace("base > 10", "base > 10.5").replace("(amount, 0.1)", "(amount, 0.2)")
    difference = compare_texts(tmp_path, _FEES, text)
    assert difference.first is not None
    assert difference.first.kind == "arguments"
    assert not any("find_fee(amount, 0.1)" in remark for remark in difference.remarks)


def test_an_exception_in_one_run_is_a_difference(tmp_path: Path) -> None:
    changed = _FEES.replace("    return base", "    return base / (base - 5)")
    first = find_first(tmp_path, _FEES, changed)
    assert first.kind in ("changed line", "raised")
    one, other = record_version(tmp_path, "c", _FEES), record_version(tmp_path, "d", changed)
    assert "raised" in {parting.kind for parting in compare_runs(one, other).partings}


def test_lines_that_moved_are_the_same_lines(tmp_path: Path) -> None:
    moved = "# a remark\n\n\n" + _FEES.replace("def add_up", "# another\ndef add_up")
    assert compare_texts(tmp_path, _FEES, moved).equal


def test_a_changed_line_that_does_the_same_is_only_a_remark(tmp_path: Path) -> None:
    difference = compare_texts(
        tmp_path, _FEES, _FEES.replace("total += find_fee", "total = total + find_fee")
    )
    assert difference.equal
    assert any("did the same" in remark for remark in difference.remarks)


def test_a_line_that_was_put_in_is_passed_over_until_it_matters(tmp_path: Path) -> None:
    changed = _FEES.replace("    if base", "    base = base + 1\n    if base")
    first = find_first(tmp_path, _FEES, changed)
    assert first.stack[-1] == "find_fee(amount=10, rate=0.1)"
    assert first.kind == "outcome"


def test_values_that_differ_from_run_to_run_are_passed_over(tmp_path: Path) -> None:
    text = "import os\nnumber = os.getpid()\nhalf = number * 2\n" + _FEES
    run, again = record_version(tmp_path, "a", text), record_version(tmp_path, "b", text)
    changed = record_version(tmp_path, "c", text.replace("rate\n", "rate + 1\n"))
    noise = find_noise(run, again)
    assert ("<module>", 2, "number") in noise
    assert not compare_runs(run, again).equal
    assert compare_runs(run, again, noise).equal
    first = compare_runs(run, changed, noise).first
    assert first is not None
    assert first.a is not None
    assert first.a.source == "base = amount * rate"


def test_addresses_and_the_order_of_sets_are_no_difference(tmp_path: Path) -> None:
    text = "kept = {'a', 'b', 'c', 'd'}\nvalue = object()\nfunction = lambda: 1\nkept.add('e')\n"
    assert compare_texts(tmp_path, text, text).equal


def test_a_deep_recursion_is_compared(tmp_path: Path) -> None:
    text = (
        "import sys\nsys.setrecursionlimit(5000)\n"
        "def dive(n):\n    if n == 0:\n        return 1\n    return dive(n - 1)\n"
        "print(dive(2000))\n"
    )
    first = find_first(tmp_path, text, text.replace("return 1", "return 2"))
    assert first.kind == "changed line"
    assert len(first.stack) == 2002


def test_a_run_that_was_cut_is_said_to_be(tmp_path: Path) -> None:
    whole = record_version(tmp_path, "a", _FEES)
    cut = record_version(tmp_path, "b", _FEES, max_events=10, keep="oldest")
    difference = compare_runs(whole, cut)
    assert any("run b: recording stopped" in remark for remark in difference.remarks)
    assert difference.first is not None
    assert difference.first.kind == "end"


def test_threads_are_compared_one_by_one(tmp_path: Path) -> None:
    text = (
        "import threading\n"
        "def work(n):\n    doubled = n * 2\n"
        "threads = [threading.Thread(target=work, args=(n,), name=str(n)) for n in (1, 2)]\n"
        "for thread in threads:\n    thread.start()\n"
        "for thread in threads:\n    thread.join()\n"
    )
    difference = compare_texts(tmp_path, text, text.replace("n * 2", "n * 3 if n == 2 else n * 2"))
    assert ["work(n=2)"] in [parting.stack for parting in difference.partings]
    assert any("threads were compared" in remark for remark in difference.remarks)


# -- modules with one changed statement ------------------------------------------------------------

_DRIVERS = {
    "bisect": """
import bisect
values = [1, 3, 3, 5, 9]
for number in (0, 3, 4, 9, 10):
    print(bisect.bisect_left(values, number), bisect.bisect_right(values, number))
    bisect.insort_left(values, number)
    print(values)
    bisect.insort_right(values, number)
    print(values)
""",
    "heapq": """
import heapq
heap = []
for number in (5, 1, 8, 3, 9, 2):
    heapq.heappush(heap, number)
print(heap, heapq.heapreplace(heap, 4), heapq.heappushpop(heap, 0))
print([heapq.heappop(heap) for _ in range(3)])
print(list(heapq.merge([1, 4, 7], [2, 5], [3])), heapq.nsmallest(2, [5, 3, 8]))
print(heapq.nlargest(2, [5, 3, 8, 1]))
""",
    "textwrap": """
import textwrap
text = "The quick brown fox jumped over the lazy dog, and then-again it did not."
print(textwrap.wrap(text, 20), textwrap.fill(text, 30), textwrap.shorten(text, 25))
print(textwrap.dedent("   a\\n     b\\n   c"), textwrap.indent("a\\nb\\n", "> "))
""",
    "statistics": """
import statistics
print(statistics.mean([1, 2, 3.5]), statistics.median([3, 1, 2, 9]))
print(statistics.stdev([1, 2, 4]), statistics.quantiles([1, 2, 3, 4, 5]))
print(statistics.mode("aab"), statistics.multimode("aabb"), statistics.pvariance([1, 2, 3]))
print(statistics.harmonic_mean([1, 2, 4]), statistics.median_low([1, 2, 3, 4]))
""",
    "fractions": """
from fractions import Fraction
one, two = Fraction("1/3"), Fraction(2, 5)
print(one + two, one - two, one * two, one / two, one ** 2, one // two, one % two)
print(Fraction("0.125"), Fraction(0.5), Fraction("3.14159").limit_denominator(10))
print(one < two, one == two, round(two, 1), abs(-one), int(two + 1))
""",
    "shlex": """
import shlex
print(shlex.split("a 'b c' \\"d e\\" f\\\\ g"), shlex.quote("it's"), shlex.join(["a b", "c"]))
print(list(shlex.shlex("x = 1; y", punctuation_chars=True)))
""",
    "graphlib": """
import graphlib
sorter = graphlib.TopologicalSorter({"d": ["b", "c"], "b": ["a"], "c": ["a"]})
print(list(sorter.static_order()))
try:
    graphlib.TopologicalSorter({"a": ["b"], "b": ["a"]}).prepare()
except graphlib.CycleError as error:
    print(error.args)
""",
    "colorsys": """
import colorsys
for color in ((0.1, 0.5, 0.9), (0.9, 0.2, 0.2), (0.5, 0.5, 0.5)):
    print(colorsys.rgb_to_hls(*color), colorsys.rgb_to_hsv(*color), colorsys.rgb_to_yiq(*color))
    print(colorsys.hls_to_rgb(*color), colorsys.hsv_to_rgb(*color))
""",
}
_IN_C = re.compile(r"^try:\n    from _\w+ import .*\nexcept ImportError:\n    pass\n", re.MULTILINE)


def find_named_lines(parting: Parting) -> set[int]:
    """The lines that a difference names."""
    lines = {side.line for side in (parting.a, parting.b) if side is not None}
    for part in (parting.after or "").split(" | "):
        if match := re.match(r"(\d+) ", part):
            lines.add(int(match.group(1)))
    return lines


def sweep(folder: Path, python: str, modules: list[str], most: int) -> tuple[int, int, list[str]]:
    """How many mutants changed the output, of how many the first difference names the statement."""
    library = run_python(python, "-c", "import os; print(os.path.dirname(os.__file__))")
    total = named = 0
    missed: list[str] = []
    for module in modules:
        source = (Path(library.stdout.strip()) / f"{module}.py").read_text(encoding="utf-8")
        source = _IN_C.sub("", source)  # or the functions in C would be used
        own = f"own_{module}"
        driver = _DRIVERS[module].replace(f"import {module}", f"import {own} as {module}")
        driver = driver.replace(f"from {module} import", f"from {own} import")
        mutants = make_mutants(source, most)
        plain, changed = record_versions(folder, python, own, source, driver, mutants)
        for each in changed:
            if each.output == plain.output:
                continue
            total += 1
            first = compare_runs(plain.run, each.run).first
            if first is not None and each.line in find_named_lines(first):
                named += 1
            else:
                missed.append(f"{module}:{each.line}")
    return named, total, missed


def test_the_changed_statement_is_named_for_most_mutants(tmp_path: Path, python: str) -> None:
    # Modules of which no mutant runs without an end: such a run takes seconds to be recorded.
    named, total, missed = sweep(tmp_path, python, ["graphlib", "colorsys"], 12)
    assert total >= 15
    assert named >= 0.85 * total, missed


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.skipif(not os.environ.get("HOLDFAST_EVERY_MODULE"), reason="a part of the soak")
def test_the_changed_statement_is_named_for_most_mutants_of_many_modules(
    tmp_path: Path, python: str
) -> None:
    named, total, missed = sweep(tmp_path, python, list(_DRIVERS), 25)
    assert total >= 80
    assert named >= 0.85 * total, missed
