"""Finds where two pickled values differ, without loading them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from holdfast.wire.call_answers import Difference
from holdfast.wire.pickle_view import Node, View, list_fields, render
from holdfast.wire.pickle_viewer import view_pickle
from holdfast.wire.value_differ import Change, Part, ValueDiffer, Verdict

MAX_DIFFERENCES = 200
_MAX_STEPS = 50_000
_MAX_DEPTH = 30
_MAX_TEXT = 200
_MAX_KEY = 100


def compare_pickles(left: bytes, right: bytes) -> tuple[list[Difference], bool]:
    """The differences; True when these are all."""
    first, second = view_pickle(left, _MAX_STEPS), view_pickle(right, _MAX_STEPS)
    differ = ValueDiffer(_Views(), MAX_DIFFERENCES, _MAX_DEPTH, reports_shared_once=True)
    differ.compare(first.view, second.view)
    answers = []
    for difference in differ.differences:
        answer = Difference(path=difference.path or "value", change=difference.change.value)
        if difference.change is not Change.ADDED:
            answer.left = render(difference.left, _MAX_TEXT)
        if difference.change is not Change.REMOVED:
            answer.right = render(difference.right, _MAX_TEXT)
        answers.append(answer)
    return answers, first.is_whole and second.is_whole and not differ.is_full


class _Views:
    """Views of pickles, taken apart."""

    def judge(self, left: View, right: View) -> Verdict:
        if isinstance(left, Node) and isinstance(right, Node):
            is_alike = (left.kind, left.name) == (right.kind, right.name)
            return Verdict.COMPARE_PARTS if is_alike else Verdict.DIFFERENT
        is_nan = left != left and right != right
        is_same = type(left) is type(right) and (is_nan or left == right)
        return Verdict.SAME if is_same else Verdict.DIFFERENT

    def parts(self, value: Node) -> Mapping[Any, Part]:
        steps = [(f"[{at}]", item) for at, item in enumerate(value.items)]
        if value.kind == "object":
            steps += [(_attribute_step(name), part) for name, part in list_fields(value)]
        else:
            steps += [(f"[{render(key, _MAX_KEY)}]", part) for key, part in value.pairs]
        return {step: (step, part) for step, part in steps}

    def members(self, value: Node) -> Mapping[str, View] | None:
        if value.kind not in ("set", "frozenset"):
            return None
        return {render(item, _MAX_TEXT): item for item in value.items}

    def looks_same(self, left: View, right: View) -> bool:
        return render(left) == render(right)


def _attribute_step(name: View) -> str:
    return f".{name}" if isinstance(name, str) else f"[{render(name, _MAX_KEY)}]"
