"""`holdfast calls replay`: a recorded call, made again with the code as it is now."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from harness import Server
from recorded_program import RecordedProgram

SHOP = """
    import asyncio

    class Cart:
        def __init__(self):
            self.items = []

        def add(self, name, price):
            self.items.append({"name": name, "price": price})
            return len(self.items)

    def total(items, tax=0.0):
        return {"sum": sum(each["price"] for each in items), "tax": tax}

    def parse(text):
        if not text:
            raise ValueError("nothing to parse")
        return int(text)

    async def fetch(key):
        await asyncio.sleep(0)
        return [key, key.upper()]

    def numbers(count):
        yield from range(count)

    def count(given):
        return len(given)
"""

APP = """
    import asyncio
    import shop
    from holdfast import debug_call, with_debug

    class Counter:
        def __init__(self):
            self.value = 0

        def up(self, by):
            self.value += by
            return self

    def double(number):
        return number * 2

    def main():
        info = with_debug("ON")
        cart = with_debug(shop.Cart())
        cart.add("tea", 3)
        with_debug(shop.total)([{"name": "tea", "price": 3}], tax=0.5)
        try:
            with_debug(shop.parse)("")
        except ValueError:
            pass
        asyncio.run(with_debug(shop.fetch)("a"))
        with_debug(shop.numbers)(2)
        with_debug(shop.count)({"rows": shop.numbers(2)})
        with_debug(Counter()).up(2)
        debug_call(double, 4)
        debug_call("nameless", lambda number: number, 5)
        print(info.session_id())

    if __name__ == "__main__":
        main()
"""


@pytest.fixture(scope="module")
def recorded(server: Server, tmp_path_factory: pytest.TempPathFactory) -> RecordedProgram:
    recording = RecordedProgram(server, tmp_path_factory.mktemp("shop"))
    recording.write("shop.py", SHOP)
    recording.record(APP)
    return recording


@pytest.fixture
def shop(recorded: RecordedProgram) -> RecordedProgram:
    """Recorded once; its code is as it was then."""
    recorded.write("shop.py", SHOP)
    recorded.write("app.py", APP)
    return recorded


CALLED = ["add", "total", "parse", "fetch", "up", "double"]


def test_what_has_not_changed_is_the_same(shop: RecordedProgram) -> None:
    said = {name: shop.replay(shop.last_id(name)) for name in CALLED}
    assert {name: code for name, (code, _) in said.items()} == dict.fromkeys(CALLED, 0)
    assert {found["status"] for _, found in said.values()} == {"equal"}


def test_a_changed_result_is_shown_where_it_differs(shop: RecordedProgram) -> None:
    shop.change("shop.py", '"tax": tax', '"tax": tax * 2')

    code, found = shop.replay(shop.last_id("total"))

    assert (code, found["status"], found["function"]) == (1, "different", "shop.total")
    [difference] = found["differences"]
    assert difference == {"of": "result", "path": "['tax']", "expected": "0.5", "actual": "1.0"}


def test_the_difference_reads_well(shop: RecordedProgram) -> None:
    shop.change("shop.py", '"tax": tax', '"tax": tax * 2')

    ran = shop.holdfast("calls", "replay", shop.last_id("total"))

    assert ran.returncode == 1
    assert ran.stdout.splitlines() == [
        "shop.total([{'name': 'tea', 'price': 3}], tax=0.5)",
        "different from what was recorded",
        "  result ['tax']",
        "    expected  0.5",
        "    actual    1.0",
    ]


def test_another_message_is_a_difference(shop: RecordedProgram) -> None:
    shop.change("shop.py", "nothing to parse", "empty")
    code, found = shop.replay(shop.last_id("parse"))
    assert code == 1
    assert found["differences"][0]["expected"] == "raises ValueError: nothing to parse"
    assert found["differences"][0]["actual"] == "raises ValueError: empty"


def test_no_exception_any_more_is_a_difference(shop: RecordedProgram) -> None:
    shop.change("shop.py", 'raise ValueError("nothing to parse")', "return 0")
    code, found = shop.replay(shop.last_id("parse"))
    assert (code, found["differences"][0]["actual"]) == (1, "returns 0")


def test_what_a_method_does_to_its_object_counts(shop: RecordedProgram) -> None:
    shop.change("shop.py", '"price": price})', '"price": -price})')
    code, found = shop.replay(shop.last_id("add"))
    assert code == 1
    [difference] = found["differences"]
    assert (difference["of"], difference["path"]) == ("target afterwards", ".items[0]['price']")


def test_classes_and_functions_of_the_script_are_its_current_ones(shop: RecordedProgram) -> None:
    shop.change("app.py", "self.value += by", "self.value -= by")
    shop.change("app.py", "return number * 2", "return number * 3")
    assert shop.replay(shop.last_id("up"))[0] == 1
    code, found = shop.replay(shop.last_id("double"))
    assert (code, found["function"], found["actual"]) == (1, "app.double", "12")


def test_a_coroutine_is_awaited(shop: RecordedProgram) -> None:
    shop.change("shop.py", "key.upper()", "key.title() + '!'")
    code, found = shop.replay(shop.last_id("fetch"))
    assert (code, found["differences"][0]["path"]) == (1, "[1]")


def test_what_the_program_prints_is_not_in_the_answer(shop: RecordedProgram) -> None:
    shop.change("shop.py", "def parse(text):", "def parse(text):\n    print('hello')")
    ran = shop.holdfast("calls", "replay", shop.last_id("parse"))
    assert ran.returncode == 0
    assert "hello" not in ran.stdout
    assert "hello" in ran.stderr


# -- what cannot be replayed ---------------------------------------------------------------------


def test_code_that_is_made_as_the_program_runs_cannot_be_found(shop: RecordedProgram) -> None:
    code, found = shop.replay(shop.last_id("nameless"))
    assert (code, found["status"]) == (2, "cannot")
    assert "<lambda> cannot be found: it is made while the program runs" in found["reason"]


def test_a_generator_cannot_be_compared(shop: RecordedProgram) -> None:
    code, found = shop.replay(shop.last_id("numbers"))
    assert (code, found["reason"]) == (2, "a generator was its result, which cannot be repeated")


def test_an_argument_with_a_lazy_part_cannot_be_given_again(shop: RecordedProgram) -> None:
    code, found = shop.replay(shop.last_id("count"))
    assert (code, found["status"]) == (2, "cannot")
    assert found["reason"].startswith("a part of ")


@pytest.mark.parametrize(
    ("before", "after", "called", "why"),
    [
        ("def total(", "def amount(", "total", "total"),
        ("def add(", "def put(", "add", "shop.Cart has no add now"),
        ("class Cart:", "class Basket:", "add", "Cart"),
        ("import asyncio", "import nowhere", "add", "nowhere"),
    ],
)
def test_code_that_is_gone_is_named(
    shop: RecordedProgram, before: str, after: str, called: str, why: str
) -> None:
    shop.change("shop.py", before, after)
    code, found = shop.replay(shop.last_id(called))
    assert (code, found["status"]) == (2, "cannot")
    assert why in found.get("reason", "")


def test_a_script_that_cannot_be_imported_is_named(shop: RecordedProgram) -> None:
    shop.change("app.py", "def double", "raise SystemError('broken')\n\ndef double")
    code, found = shop.replay(shop.last_id("double"))
    assert code == 2
    assert "app.py cannot be imported: SystemError: broken" in found["reason"]


def test_an_outcome_that_was_decided_proves_nothing(server: Server, tmp_path: Path) -> None:
    recording = RecordedProgram(server, tmp_path)
    action = {"action": "skip", "fake_result": {"value": 3}}
    made = server.post("/api/breakpoints", {"function": "decided_beforehand", "action": action})
    try:
        recording.record(
            """
            from holdfast import with_debug
            def decided_beforehand(): return 1
            if __name__ == "__main__":
                info = with_debug("ON")
                with_debug(decided_beforehand)()
                print(info.session_id())
            """
        )
    finally:
        server.delete(f"/api/breakpoints/{made['id']}")
    code, found = recording.replay(recording.last_id("decided_beforehand"))
    assert code == 2
    assert "its outcome was decided (skip" in found["reason"]


def test_a_call_that_ends_its_process_says_so(shop: RecordedProgram) -> None:
    shop.change("shop.py", "if not text:", "import os; os._exit(7)\n    if not text:")
    code, found = shop.replay(shop.last_id("parse"))
    assert (code, found["reason"]) == (2, "its process ended with 7 before the call did")


def test_a_call_that_does_not_end_is_given_up(shop: RecordedProgram) -> None:
    shop.change("shop.py", "if not text:", "import time; time.sleep(1000)\n    if not text:")
    code, found = shop.replay(shop.last_id("parse"), "--timeout", "0.5")
    assert (code, found["reason"]) == (2, "it did not end within 0.5 s")


def test_an_unknown_call_is_an_error(shop: RecordedProgram) -> None:
    ran = shop.holdfast("calls", "replay", "1768298400.123456-001")
    assert ran.returncode == 2
    assert "1768298400.123456-001" in ran.stderr


# -- where it runs -------------------------------------------------------------------------------


def test_another_directory_can_be_named(shop: RecordedProgram, tmp_path: Path) -> None:
    there = tmp_path / "copy"
    there.mkdir()
    for name in ("app.py", "shop.py"):
        shutil.copy(shop.folder / name, there / name)
    (there / "shop.py").write_text((there / "shop.py").read_text().replace('": tax', '": 0'))

    assert shop.replay(shop.last_id("total"))[0] == 0
    assert shop.replay(shop.last_id("total"), "--cwd", str(there))[0] == 1


def test_another_interpreter_can_be_named(shop: RecordedProgram) -> None:
    assert shop.replay(shop.last_id("total"), "--python", sys.executable)[0] == 0
    code, found = shop.replay(shop.last_id("total"), "--python", "no-such-python")
    assert code == 2
    assert "no-such-python cannot be started" in found["reason"]


def test_a_module_of_a_package_is_found_by_its_name(server: Server, tmp_path: Path) -> None:
    recording = RecordedProgram(server, tmp_path)
    recording.write("pkg/__init__.py", "")
    recording.write("pkg/sums.py", "def plus(a, b): return a + b")
    recording.write(
        "pkg/main.py",
        """
        from holdfast import with_debug
        from .sums import plus
        def thrice(number): return plus(number, plus(number, number))
        if __name__ == "__main__":
            info = with_debug("ON")
            with_debug(thrice)(3)
            print(info.session_id())
        """,
    )
    recording.run("-m", "pkg.main")
    assert recording.replay(recording.last_id("thrice"))[0] == 0
    recording.change("pkg/sums.py", "a + b", "a - b")
    code, found = recording.replay(recording.last_id("thrice"))
    assert (code, found["function"], found["actual"]) == (1, "pkg.main.thrice", "3")


def test_a_script_without_a_main_guard_records_nothing_when_replayed(
    server: Server, tmp_path: Path
) -> None:
    recording = RecordedProgram(server, tmp_path)
    recording.record(
        """
        from holdfast import with_debug
        info = with_debug("ON")
        def half(number): return number / 2
        with_debug(half)(8)
        print(info.session_id())
        """
    )
    before = server.list_ids()
    assert recording.replay(recording.last_id("half"))[0] == 0
    assert server.list_ids(but=before) == []
