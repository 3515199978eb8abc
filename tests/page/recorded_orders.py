"""A small program, and recordings of it, that the tests of traces on the page look at."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from harness import Program, Server

ORDERS = """\
RATES = {"tea": 1, "cake": 2}


def rate(name):
    return RATES.get(name, 3)  # @rate


def total(order, discount):
    amount = 0
    for name, price in order:  # @loop
        if price > 100:  # @test
            discount = 0  # @dear
        amount += price * rate(name)  # @add
    return amount - discount  # @result


orders = [[("tea", 4), ("cake", 2), ("oven", 300)], [("pie", 5)]]
for order in orders:
    print(total(order, 1))  # @call
"""


@dataclass(frozen=True)
class RecordedOrders:
    """The program, and where its recordings are shown."""

    server: Server
    program: Program

    def trace(self, **request: Any) -> str:
        """Record calls of it, and say under which id."""
        body = {"target": self.program.path, **request}
        return str(self.server.post("/tools/debug_trace", body)["trace_id"])

    def trace_run(self) -> str:
        """Record all of it, as a question where a value came from does."""
        question = {"variable": "amount", "at": f"{self.program.path}:{self.line('result')}"}
        return str(self.server.post("/tools/debug_why", question)["trace_id"])

    def line(self, marker: str) -> int:
        return self.program.line(marker)

    def address(self, trace: str, function: str, index: int = 1) -> str:
        """The address of one of the calls of a recording."""
        for call in self.server.get(f"/api/traces/{trace}")["calls"]:
            if call["function"].endswith(function) and call["index"] == index:
                return f"/traces/{trace}/calls/{call['key']}"
        raise AssertionError(f"no call {index} of {function}")


def write_orders(server: Server, folder: Path) -> RecordedOrders:
    (folder / "orders.py").write_text(ORDERS)
    return RecordedOrders(server, Program("orders.py", folder))
