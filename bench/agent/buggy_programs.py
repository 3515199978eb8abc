"""The table of the buggy programs: what an agent is told of each, and what counts as evidence."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

from bench.measurements import find_marked_line

FOLDER = Path(__file__).parent / "buggy"
_REMARK = re.compile(r"\s*# @(bug|symptom|fix:.*)$")
_FIX = re.compile(r"^# @fix: ?(.*)$", re.MULTILINE)


@dataclass(frozen=True)
class Value:
    """A variable, and the text of what it holds."""

    name: str
    text: str


@dataclass(frozen=True)
class BuggyProgram:
    """One program with one bug. The agent is told `shows`, `variable`, `condition` and `hit`."""

    name: str
    kind: str
    shows: str
    """A part of what it prints, which is wrong."""
    variable: str
    """The variable that is wrong where it shows."""
    values: tuple[Value, ...]
    """What the faulty line makes or meets: any of these is evidence, together with that line."""
    also: Value | None = None
    """What the same answer has to show as well, where one value could be right at times."""
    condition: str | None = None
    """What the symptom says of the wrong case, as an expression over the program's variables."""
    hit: int = 1
    """Which time the line of the symptom is the wrong one; -1 is the last: there it crashed."""

    @property
    def path(self) -> Path:
        return FOLDER / f"{self.name}.py"

    @property
    def symptom(self) -> str:
        """The sentence at the top of the file."""
        first = self.path.read_text(encoding="utf-8").split('"""')[1]
        return first.removeprefix("Symptom: ")

    def fix(self) -> str:
        """The source without the bug."""
        text = self.path.read_text(encoding="utf-8")
        lines = text.splitlines()
        faulty = find_marked_line(self.path, "bug") - 1
        indent = lines[faulty][: len(lines[faulty]) - len(lines[faulty].lstrip())]
        right = [indent + line for line in _FIX.findall(text)]
        return "\n".join([*lines[:faulty], *right, *lines[faulty + 1 :]]) + "\n"


@dataclass(frozen=True)
class Case:
    """A copy of a program without the comments that give the bug away."""

    program: BuggyProgram
    path: Path
    faulty_line: int
    symptom_line: int
    lines: tuple[str, ...]

    @property
    def text(self) -> str:
        return "\n".join(self.lines) + "\n"


def prepare(program: BuggyProgram, folder: Path) -> Case:
    """Write the copy into this folder. Its lines have the numbers of the original."""
    original = program.path.read_text(encoding="utf-8").splitlines()
    lines = [_REMARK.sub("", line) for line in original]
    while not lines[-1]:
        lines.pop()
    path = folder / program.path.name
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    faulty, symptom = (find_marked_line(program.path, marker) for marker in ("bug", "symptom"))
    return Case(program, path, faulty, symptom, tuple(lines))


def _any(name: str, *texts: str) -> tuple[Value, ...]:
    return tuple(Value(name, text) for text in texts)


PROGRAMS = (
    BuggyProgram("batch_limit", "shadowed global", "batch: 7", "largest", _any("limit", "3")),
    BuggyProgram(
        "event_replay",
        "late in a loop",
        "bolts: -1",
        "bolts",
        _any("sign", "-1"),
        also=Value("event", "Event(item='bolt', kind='return', count=3)"),
    ),
    BuggyProgram(
        "exchange_rates",
        "stale cache",
        "evening: 220",
        "last",
        _any("found", "220"),
        condition="amount == 200",
    ),
    BuggyProgram(
        "expired_tokens",
        "change while iterating",
        "left [90, 12",
        "tokens",
        _any("tokens", "[90, 12, 95, 80]"),
    ),
    BuggyProgram(
        "export_totals", "exhausted generator", "total 0", "total", _any("rows", "<generator")
    ),
    BuggyProgram("folder_sizes", "recursion", "136 kB", "text", _any("size", "25")),
    BuggyProgram("form_check", "early return", "form accepted", "state", _any("problem", "''")),
    BuggyProgram(
        "high_score",
        "numbers as text",
        "has 980",
        "best",
        _any("score", "'1040'"),
        condition="score == '1040'",
    ),
    BuggyProgram(
        "import_ledger",
        "late in a loop",
        "ZeroDivisionError",
        "entry",
        _any("digits", "'0'"),
        condition="row.startswith('7431;')",
        hit=-1,
    ),
    BuggyProgram(
        "latest_release",
        "sort key",
        "latest: 1.9.3",
        "latest",
        _any("ordered", "['1.10.4', '1.12.0', '1.2.0', '1.9.3']"),
    ),
    BuggyProgram(
        "letter_template",
        "copy, not deep copy",
        "Dear bob | Hi. | See",
        "text",
        _any("letter", "Letter(title='', lines=['Hi.', 'See you.'])")
        + _any("template", "Letter(title='', lines=['Hi.', 'See you.'])"),
        condition="name == 'bob'",
    ),
    BuggyProgram(
        "meter_readings",
        "late in a loop",
        "lowest: -99989",
        "lowest",
        _any("used", "-99989"),
        condition="used < 0",
    ),
    BuggyProgram("night_train", "time zone", "345 minutes", "minutes", _any("utc", "1470")),
    BuggyProgram(
        "order_tags",
        "mutable default",
        "8: heavy",
        "text",
        _any("tags", "['heavy', 'odd']"),
        also=Value("number", "8"),
        condition="number == 8",
    ),
    BuggyProgram("page_order", "async order", "End / Setup", "document", _any("parts", "['End']")),
    BuggyProgram(
        "paid_in_parts",
        "float rounding",
        "bill is open",
        "state",
        _any("paid", "0.7999999999999999"),
    ),
    BuggyProgram(
        "parcel_rates",
        "wrong branch for one input",
        "lamp: 1190",
        "cost",
        _any("weight", "5.0"),
        condition="weight == 5",
        also=Value("rate", "1190"),
    ),
    BuggyProgram("payroll_chain", "deep call chain", "kim: 2816", "text", _any("percent", "12")),
    BuggyProgram(
        "price_rules",
        "late-bound closure",
        "pays 3250",
        "price",
        _any("rate", "65"),
        also=Value("cents", "5000"),
        condition="group == 'member'",
    ),
    BuggyProgram(
        "queue_priority",
        "wrong order in a heap",
        "last: deploy",
        "last",
        _any("entry", "(100, 'deploy')"),
    ),
    BuggyProgram(
        "region_sums",
        "missing reset",
        "south: 165",
        "south",
        _any("subtotal", "120"),
        condition="region == 'south'",
    ),
    BuggyProgram(
        "reminder_list",
        "operator precedence",
        "['cleo']",
        "names",
        _any("wanted", "True"),
        condition="invoice.customer == 'cleo'",
    ),
    BuggyProgram(
        "rent_days",
        "deep call chain",
        "1096 days",
        "text",
        _any("leap", "True"),
    ),
    BuggyProgram(
        "retried_price", "decorator loses result", "lamp: None", "text", _any("again", "1490")
    ),
    BuggyProgram(
        "retry_settings",
        "swallowed exception",
        "waits 90.0",
        "wait",
        _any("number", "30.0"),
        condition="name == 'timeout'",
    ),
    BuggyProgram(
        "route_cost", "None propagated", "TypeError", "value", _any("toll", "None"), hit=-1
    ),
    BuggyProgram(
        "running_balance",
        "late in a loop",
        "balance 12011",
        "balance",
        _any("name", "'wire '"),
        also=Value("fee", "0"),
    ),
    BuggyProgram(
        "seat_plan",
        "aliasing",
        "taken: 4",
        "taken",
        _any(
            "plan",
            "[['.', '.', '.'], ['.', '.', '.']]",
            "[['.', 'x', '.'], ['.', 'x', '.']]",
            "[['.', 'x', 'x'], ['.', 'x', 'x']]",
        ),
    ),
    BuggyProgram(
        "sensor_pipeline", "chained generators", "s4: 42.75", "mean", _any("value", "101.0")
    ),
    BuggyProgram(
        "shared_basket",
        "shared class attribute",
        "bob: 450",
        "cost",
        _any("items", "['tea']"),
        condition="self.owner == 'bob'",
    ),
    BuggyProgram("split_bill", "integer division", "paid 1028", "paid", _any("share", "257")),
    BuggyProgram(
        "stair_ways",
        "recursion base case",
        "17 ways",
        "text",
        _any("left", "-1", "-2"),
        also=Value("ways", "1"),
    ),
    BuggyProgram("stock_value", "wrong key", "worth 1760", "total", _any("count", "1")),
    BuggyProgram("thumbnail_size", "unpacking order", "75 x 100", "text", _any("height", "400")),
    BuggyProgram(
        "user_lookup",
        "bytes as text",
        "alice is guest",
        "role",
        _any("text", "\"b'login'\"", "\"b'bob'\"", "\"b'alice'\""),
    ),
    BuggyProgram(
        "user_settings",
        "merge order",
        "class=light",
        "page",
        _any("merged", "{'theme': 'light', 'lang': 'de', 'size': '12'}"),
    ),
)

FRESH_PROGRAMS = (
    BuggyProgram(
        "database_address",
        "merge of nested settings",
        "db2:5432",
        "url",
        _any("value", "{'host': 'db2'}"),
    ),
    BuggyProgram("expense_claim", "cached too early", "pays 1200", "text", _any("total", "1200")),
    BuggyProgram(
        "fuel_plan",
        "wrong unit conversion",
        "51 litres",
        "needed",
        _any("litres", "12.752972258916776"),
        condition="car.name == 'pickup'",
    ),
    BuggyProgram(
        "hotel_rooms",
        "loop variable left over",
        "lee: attic",
        "text",
        _any("room", "'attic'"),
        also=Value("guest", "'lee'"),
        condition="guest == 'lee'",
    ),
    BuggyProgram(
        "menu_path",
        "lost result of a recursion",
        "TypeError",
        "path",
        _any("found", "['boots']", "['shoes', 'boots']"),
        condition="wanted == 'boots'",
        hit=-1,
    ),
    BuggyProgram(
        "metal_prices",
        "value of the round before",
        "tin: 312.0",
        "highest",
        _any("text", "'n/a'"),
        condition="name == 'tin'",
    ),
    BuggyProgram(
        "order_fees",
        "override without super",
        "order: 5900",
        "last",
        _any("fees", "[]", "[('express', 900)]"),
    ),
    BuggyProgram(
        "page_hits",
        "greedy pattern",
        "199 hits",
        "shop",
        _any("path", "'/shop] from [/mail'")
        + _any("match", "<re.Match object; span=(8, 28), match='[/shop] from [/mail]'>"),
    ),
    BuggyProgram(
        "ticket_sale",
        "lost update",
        "left: 8",
        "free",
        _any("left", "10"),
        also=Value("buyer", "'cleo'"),
    ),
    BuggyProgram(
        "train_delays",
        "changed argument",
        "last train 41",
        "last",
        _any("values", "[0, 2, 3, 5, 7, 12, 41]"),
    ),
    BuggyProgram(
        "upload_quota",
        "zero taken for missing",
        "uploads 4 files",
        "stored",
        _any("limit", "10"),
        condition="user == 'eve'",
    ),
    BuggyProgram(
        "water_alarm",
        "slice off by one",
        "minute 251",
        "alarm",
        _any("window", "[102, 104, 102]", "[104, 102, 493]"),
        condition="minute == 250",
    ),
)
"""Written after the answers had their form, and never used to change it."""

ALL_PROGRAMS = PROGRAMS + FRESH_PROGRAMS
