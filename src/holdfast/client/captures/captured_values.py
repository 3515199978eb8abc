"""Values of a failing test as bounded text, with some of their parts.

A capture is all that remains of them, so parts are taken while they exist.
"""

from __future__ import annotations

from typing import Any

from holdfast.client.proxy_base import target_of, without_interception
from holdfast.probe import introspection, previews, variable_children
from holdfast.probe.bounded_calls import Budget
from holdfast.recording.capture_files import CapturedValue

_LIMITS = previews.Limits(max_string=1000, max_preview=600)
_MAX_CHILDREN = 20
_MAX_PARTS = 400  # of all values of a capture together


class ValueRenderer:
    """Renders the values of one capture, in the time and the room that those may take."""

    def __init__(self) -> None:
        self.budget = Budget()
        self._parts_left = _MAX_PARTS

    def render(self, name: str, value: Any, depth: int = 0) -> CapturedValue:
        """A value and, `depth` levels deep, its parts."""
        value = target_of(value)
        with without_interception():
            return self._render(name, value, depth)

    def _render(self, name: str, value: Any, depth: int) -> CapturedValue:
        rendered: CapturedValue = {
            "name": introspection.escape_surrogates(name),
            "type": introspection.type_name(type(value)),
        }
        try:
            preview = previews.Preview(_LIMITS, self.budget, evaluates=False)
            rendered["value"] = preview.text(value)
            if depth > 0:
                self._add_children(rendered, value, depth)
        except Exception as problem:  # whatever the value does, the rest of the capture is written
            rendered.setdefault("value", f"<cannot be shown: {type(problem).__name__}>")
        return rendered

    def _add_children(self, rendered: CapturedValue, value: Any, depth: int) -> None:
        children = variable_children.children_of(value)
        count = min(_MAX_CHILDREN, self._parts_left)
        if children is None or count <= 0:
            return
        page = children.page(0, count, self.budget)
        self._parts_left -= len(page)
        rendered["children"] = [self._render(one.name, one.value, depth - 1) for one in page]
        rendered["children_total"] = children.total()
