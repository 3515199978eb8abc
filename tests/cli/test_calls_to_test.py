"""`holdfast calls test`: a pytest that passes on the recorded behaviour and fails on another."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from harness import Server
from recorded_program import RecordedProgram

BANK = """
    import asyncio
    import datetime
    import enum
    import random
    import time
    from dataclasses import dataclass
    from decimal import Decimal

    class Kind(enum.Enum):
        PLAIN = "plain"
        SAVING = "saving"

    @dataclass
    class Transfer:
        amount: Decimal
        kind: Kind = Kind.PLAIN

    class Refused(Exception):
        pass

    class Account:
        def __init__(self, owner):
            self.owner = owner
            self.history = []

        def book(self, transfer):
            if transfer.amount < 0:
                raise Refused(f"no (negative) amounts: {transfer.amount}")
            self.history.append(transfer)
            return self

        def __len__(self):
            return len(self.history)

    class Pair:
        __slots__ = ("left", "right")

        def __init__(self, left, right):
            self.left, self.right = left, right

    def swapped(pair):
        return Pair(pair.right, pair.left)

    def sort(numbers, *, seen):
        numbers.sort()
        seen["count"] = len(numbers)

    def applied(function, value):
        return function(value)

    async def slowly(value):
        await asyncio.sleep(0)
        return {"value": value, "is": value is None}

    def ratio(left, right):
        return left / right if right else float("nan")

    def now():
        return time.time()

    def today():
        return datetime.date.today()

    def dice():
        return random.randint(1, 2)

    def seeded():
        random.seed(3)
        return random.random()

    def timed(value):
        begun = time.perf_counter()
        assert time.perf_counter() >= begun
        return value

    def lines(count):
        yield from range(count)

    counted = 0

    def count():
        global counted
        counted += 1
        return counted
"""

APP = """
    import asyncio
    from decimal import Decimal
    import bank
    from holdfast import with_debug

    def local(text):
        return text.split()

    def main():
        info = with_debug("ON")
        account = with_debug(bank.Account("ann"))
        account.book(bank.Transfer(Decimal("1.50"), bank.Kind.SAVING))
        len(account)
        try:
            account.book(bank.Transfer(Decimal(-1)))
        except bank.Refused:
            pass
        with_debug(bank.swapped)(bank.Pair(1, "two"))
        with_debug(bank.sort)([3, 1, 2], seen={})
        with_debug(bank.applied)(lambda value: value + 1, 3)
        asyncio.run(with_debug(bank.slowly)(None))
        with_debug(bank.ratio)(1, 0)
        with_debug(local)("it's \\"quoted\\"")
        for each in (bank.now, bank.today, bank.dice, bank.seeded, bank.count, bank.count):
            with_debug(each)()
        with_debug(bank.timed)(1)
        with_debug(bank.lines)(2)
        print(info.session_id())

    if __name__ == "__main__":
        main()
"""


@pytest.fixture(scope="module")
def recorded(server: Server, tmp_path_factory: pytest.TempPathFactory) -> RecordedProgram:
    recording = RecordedProgram(server, tmp_path_factory.mktemp("bank"))
    recording.write("bank.py", BANK)
    recording.record(APP)
    return recording


@pytest.fixture(scope="module")
def generated(recorded: RecordedProgram) -> RecordedProgram:
    """With a test for every call."""
    recorded.write_test(*recorded.list_ids())
    return recorded


@pytest.fixture
def bank(generated: RecordedProgram) -> RecordedProgram:
    generated.write("bank.py", BANK)
    generated.write("app.py", APP)
    return generated


def source(recording: RecordedProgram) -> str:
    return (recording.folder / "test_it.py").read_text()


def part(text: str, name: str) -> str:
    """One test of the file."""
    return next(each for each in text.split("\n\n\n") if f"def {name}(" in each)


def test_it_passes_on_the_recorded_behaviour(bank: RecordedProgram) -> None:
    code, said = bank.pytest()
    assert code == 0, said
    assert "12 passed, 5 skipped" in said


def test_what_cannot_be_repeated_is_skipped_with_the_reason(bank: RecordedProgram) -> None:
    text = source(bank)
    assert 'reason="it depends on the clock (time.time)"' in part(text, "test_now")
    assert 'reason="it depends on the clock (date.today)"' in part(text, "test_today")
    assert 'reason="it depends on chance (random)"' in part(text, "test_dice")
    assert "a generator was its result" in part(text, "test_lines")
    assert "it depends on what is not recorded" in part(text, "test_count_2")


CHANGES = [
    {
        "test_account_len": ("bank.py", "return len(self.history)", "return 7"),
        "test_account_book": ("bank.py", "history.append(transfer)", "history.append(None)"),
        "test_account_book_2": ("bank.py", "no (negative)", "no negative"),
        "test_swapped": ("bank.py", "Pair(pair.right, pair.left)", "Pair(pair.left, 1)"),
        "test_sort": ("bank.py", "numbers.sort()", "numbers.reverse()"),
        "test_applied": ("bank.py", "return function(value)", "return function(value) + 1"),
        "test_slowly": ("bank.py", '"is": value is None', '"is": False'),
        "test_ratio": ("bank.py", 'float("nan")', "0.0"),
        "test_local": ("app.py", "text.split()", "text.split('x')"),
    },
    {
        "test_account_book": ("bank.py", "return self\n", "return Account('bob')\n"),
        "test_account_book_2": ("bank.py", "raise Refused", "raise ValueError"),
        "test_sort": ("bank.py", "= len(numbers)", "= 0"),
    },
]
"""What is changed at once, and which test fails for it."""


@pytest.mark.parametrize("changes", CHANGES, ids=["most", "more of the same"])
def test_what_has_changed_fails_and_nothing_else(
    bank: RecordedProgram, changes: dict[str, tuple[str, str, str]]
) -> None:
    for change in changes.values():
        bank.change(*change)
    code, said = bank.pytest()
    assert code == 1, said
    assert sorted(re.findall(r"^_+ (test_\w+) _+$", said, re.MULTILINE)) == sorted(changes)


def test_it_reads_as_written_by_hand(bank: RecordedProgram) -> None:
    text = source(bank)
    at = "app.py:"
    assert part(text, "test_account_len").splitlines()[2:] == [
        "    account = built(",
        "        Account,",
        '        owner="ann",',
        '        history=[Transfer(amount=Decimal("1.50"), kind=Kind.SAVING)],',
        "    )",
        "    assert len(account) == 1",
    ]
    assert part(text, "test_sort").splitlines()[2:] == [
        "    numbers = [3, 1, 2]",
        "    seen = {}",
        "    result = sort(numbers, seen=seen)",
        "    assert result is None",
        "    assert numbers == [1, 2, 3]",
        '    assert seen == {"count": 3}',
    ]
    assert 'match=r"^no \\(negative\\) amounts: -1$"' in part(text, "test_account_book_2")
    assert "assert asyncio.run(slowly(None)) ==" in part(text, "test_slowly")
    assert all(at in part(text, f"test_{name}") for name in ("sort", "slowly", "local"))


def test_it_imports_nothing_but_pytest_the_standard_library_and_the_program(
    bank: RecordedProgram,
) -> None:
    lines = [line for line in source(bank).splitlines() if line.startswith(("import", "from"))]
    known = {"pytest", "bank", "app", *sys.stdlib_module_names}
    assert {line.split()[1].partition(".")[0] for line in lines} <= known


def test_ruff_finds_nothing(bank: RecordedProgram) -> None:
    for command in (["check"], ["format", "--check"]):
        ran = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--isolated", "--no-cache", "test_it.py"],
            cwd=bank.folder,
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 0, ran.stdout + ran.stderr


def test_a_script_that_turns_debugging_on_as_it_is_imported_is_tested_without_a_server(
    server: Server, tmp_path: Path
) -> None:
    recording = RecordedProgram(server, tmp_path)
    recording.record(
        """
        from holdfast import with_debug
        info = with_debug("ON")
        def half(number): return number / 2
        half = with_debug(half)
        half(8)
        print(info.session_id())
        """
    )
    recording.write_test(recording.last_id("half"))
    code, said = recording.pytest()
    assert code == 0, said


def test_code_that_has_changed_already_still_gets_the_recorded_behaviour(
    server: Server, tmp_path: Path
) -> None:
    recording = RecordedProgram(server, tmp_path)
    recording.write("sums.py", "def plus(a, b): return a + b\n")
    recording.record(
        """
        import sums
        from holdfast import with_debug
        info = with_debug("ON")
        with_debug(sums.plus)(2, 3)
        print(info.session_id())
        """
    )
    recording.write("sums.py", "def plus(a, b): return a - b\n")

    assert "assert plus(2, 3) == 5" in recording.write_test(recording.last_id("plus"))

    assert recording.pytest()[0] == 1
