"""The tree of calls with counts and times."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from holdfast.core.call_tree import read_tree
from holdfast.model.trace import CallNode
from interpreters import Interpreter, choose_interpreters
from traced_programs import run_plain, run_traced

PYTHONS = pytest.mark.parametrize("interpreter", choose_interpreters(), ids=str)
PROGRAM = """
import re
import threading


class Shop:
    def price(self, n):
        if n == 3:
            raise ValueError
        return n


def give(n):
    for i in range(n):
        yield Shop().price(i)


def climb(n):
    return 0 if n == 0 else 1 + climb(n - 1)


def replace(match):
    return "x"


def main():
    for _ in range(5):
        try:
            list(give(5))
        except ValueError:
            pass
    print(climb(20), re.sub("a", replace, "aaa"))
    worker = threading.Thread(target=climb, args=(3,))
    worker.start()
    worker.join()


main()
"""


def outline(nodes: Sequence[CallNode]) -> list[object]:
    return [(node.function, node.calls, node.raised, outline(node.children)) for node in nodes]


@PYTHONS
def test_calls_of_the_programs_own_code_are_counted(
    interpreter: Interpreter, tmp_path: Path
) -> None:
    script = tmp_path / "shop.py"
    script.write_text(PROGRAM)
    run = run_traced(interpreter.path, script, "", tmp_path, kind="calls")
    assert (run.output, run.errors) == (run_plain(interpreter.path, script).output, "")
    tree = read_tree(run.lines)
    give: Any = ("shop.give", 5, 5, [("shop.Shop.price", 20, 5, [])])
    main: Any = ("shop.main", 1, 0, [give, ("shop.climb", 21, 0, []), ("shop.replace", 3, 0, [])])
    assert outline(tree) == [
        ("shop.<module>", 1, 0, [("shop.Shop", 1, 0, []), main]),
        ("shop.climb", 4, 0, []),
    ]
    (module, _thread) = tree
    assert module.total_ms >= module.children[-1].total_ms >= 0


def test_a_torn_line_leaves_the_tree_before_it() -> None:
    lines = [
        b'{"format": 1}\n',
        b'["tree",[["a.f","a.py",1],["a.g","a.py",5]],[[-1,0,2,5.0,3.0,0],[0,1,4,2.0,2.0,1]]]\n',
        b'["tree",[["a.f"',
    ]
    (node,) = read_tree(lines)
    assert (node.function, node.calls, node.children[0].function) == ("a.f", 2, "a.g")
    assert read_tree(lines[:1]) == []
