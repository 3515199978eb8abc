"""Values as an editor shows them: text, what unfolds, and how an expression reaches each."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Mapping, Sequence
from typing import Any

from holdfast.wire.dap import Body
from holdfast.wire.program_answers import Variable

MIN_PAGED = 100
"""A collection with more items than this is read in parts."""


class ValueNames:
    """The expressions that lead to the values whose references an editor has."""

    def __init__(self) -> None:
        self._by_reference: dict[int, tuple[str, bool]] = {}

    def clear(self) -> None:
        self._by_reference.clear()

    def note(self, value: Mapping[str, Any], expression: str | None) -> None:
        reference = value.get("variable_reference") or 0
        if reference and expression:
            self._by_reference[reference] = (expression, "length" in value)

    def note_scope(self, reference: int) -> None:
        self._by_reference[reference] = ("", False)

    def find_child(self, reference: int, child: Mapping[str, Any]) -> str | None:
        """The expression for a part of a value; None if there is none."""
        if reference not in self._by_reference:
            return None
        owner, is_collection = self._by_reference[reference]
        name = str(child.get("name", ""))
        if not owner:
            return name if name.isidentifier() else None
        index = child.get("index")
        if index is not None:
            return f"{owner}[{name}]" if name == str(index) else f"{owner}[{index}]"
        is_name = name.isidentifier() and name not in ("None", "True", "False")
        if is_name:
            return f"{owner}.{name}"
        is_key = is_collection and not name.startswith("<") and "..." not in name
        return f"{owner}[{name}]" if is_key else None


def build_variables(
    items: Sequence[Variable], reference: int, names: ValueNames, *, has_paging: bool
) -> list[Body]:
    return [
        build_variable(item, names.find_child(reference, item), names, has_paging=has_paging)
        for item in items
    ]


def build_variable(
    value: Variable, expression: str | None, names: ValueNames, *, has_paging: bool
) -> Body:
    variable: Body = {
        "name": value.get("name", ""),
        "value": render_text(value),
        "type": value.get("type", ""),
        **build_children(value, has_paging=has_paging),
    }
    if expression is not None:
        variable["evaluateName"] = expression
        names.note(value, expression)
    return variable


def build_children(value: Variable, *, has_paging: bool) -> Body:
    """The reference to unfold it with, and how many items it has, if these come in pages."""
    if not value.get("expandable"):
        return {"variablesReference": 0}
    children: Body = {"variablesReference": value["variable_reference"]}
    length = value.get("indexed", 0)
    if has_paging and length > MIN_PAGED:
        children["indexedVariables"] = length
        if value.get("attributes"):
            children["namedVariables"] = value["attributes"]
    return children


def render_text(value: Variable) -> str:
    """The value as Python writes it. Bytes come in base64."""
    text = value["result"] if "result" in value else value.get("value", "")
    if value.get("encoding") != "base64":
        return text
    try:
        written = repr(base64.b64decode(text))
    except binascii.Error:
        return text
    if value.get("truncated"):
        written += "…"
    kind = value.get("type", "bytes")
    return written if kind == "bytes" else f"{kind}({written})"


def build_rest(count: int) -> Body:
    """A line that stands for what an editor without pages is not sent."""
    return {
        "name": "…",
        "value": f"{count} more: evaluate a part of it to see them",
        "variablesReference": 0,
    }
