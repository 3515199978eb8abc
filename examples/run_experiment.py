"""One request is a whole experiment: what is the total before each line of `buggy_cart.main`?

    python examples/run_experiment.py

`holdfast run buggy_cart.py -b … -c cart.total` does the same on the command line.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

from example_server import request, running_server

PROGRAM = Path(__file__).with_name("buggy_cart.py")
LINES = PROGRAM.read_text(encoding="utf-8").splitlines()


def list_steps() -> list[int]:
    """The lines of `main` that do something with the cart."""
    start = LINES.index("    cart = Cart()") + 1
    end = next(number for number in range(start, len(LINES)) if not LINES[number].strip())
    return list(range(start + 1, end + 1))


def run_experiment(url: str) -> Any:
    """Run the program once. A row for each hit: its place, and the total."""
    who = urlencode({"client": "example", "cwd": str(PROGRAM.parent)})
    body = {
        "target": PROGRAM.name,
        "breakpoints": [f"{PROGRAM.name}:{line}" for line in list_steps()],
        "collect": ["cart.total"],
    }
    return request(url, "POST", f"/api/v1/run?{who}", body)


with running_server() as url:
    report = run_experiment(url)

for place, total in report["rows"]:
    print(f"{place}  {total:>2}  {LINES[int(place.rpartition(':')[2]) - 1].strip()}")
for (place, before), (_, after) in pairwise(report["rows"]):
    if int(after) < int(before):
        print(f"{place} takes {int(before) - int(after)} off the total")
print(f"the program: {report['status']}, exit code {report['exit_code']}")
