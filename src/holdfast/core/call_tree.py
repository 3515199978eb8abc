"""Reads the tree of calls from a recording; `probe/traces/call_counts` has written it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from holdfast.model.trace import CallNode


def read_tree(lines: Iterable[bytes]) -> Sequence[CallNode]:
    """The outermost functions, in the order of their first calls, with all that they called."""
    found: Any = None
    for line in lines:
        if line.startswith(b'["tree",'):
            try:
                found = json.loads(line)
            except ValueError:
                continue  # torn: the one before it counts
    return _build(found[1], found[2]) if found is not None else []


def _build(codes: Sequence[Sequence[Any]], rows: Sequence[Sequence[Any]]) -> Sequence[CallNode]:
    children: dict[int, list[CallNode]] = {}
    for number in range(len(rows) - 1, -1, -1):  # callees come after their callers
        parent, code, calls, total, own, raised = rows[number]
        function, file, line = codes[code]
        inner = list(reversed(children.pop(number, [])))
        node = CallNode(function, file, line, calls, total, own, raised, inner)
        children.setdefault(parent, []).append(node)
    return list(reversed(children.get(-1, [])))
