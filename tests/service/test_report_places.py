"""Where a report says that a program is: callers are told when they are news."""

from __future__ import annotations

from typing import Any, cast

from holdfast.model.location import Location
from holdfast.model.stop import Stop
from holdfast.service.tools.reports import report_places
from holdfast.service.tools.reports.report_context import ReportContext
from holdfast.service.tools.reports.report_memory import SessionMemory
from holdfast.service.tools.tool_client import ToolClient


def make_stop(*functions: str, library: tuple[str, ...] = ()) -> Stop:
    """A stop with this stack, innermost first, as much of it as comes with one."""
    frames = [
        {
            "file": "/shop/shop.py",
            "line": 10,
            "name": name,
            **({"library": True} if name in library else {}),
        }
        for name in functions
    ]
    frames = frames[: report_places.MAX_SNAPSHOT_FRAMES]
    place = Location("/shop/shop.py", 10, functions[0])
    return Stop(thread_id=1, reason="step", location=place, frames=tuple(frames))


class Reader:
    """Who is told the callers of one stop after the other."""

    def __init__(self) -> None:
        no_session = cast(Any, None)  # callers come with the stop
        self.context = ReportContext(no_session, ToolClient(cwd="/shop"), SessionMemory())

    def read(self, stop: Stop) -> list[str]:
        shown = report_places.show_callers(stop, self.context)
        self.context.memory.callers = report_places.list_callers(stop)
        return shown


def test_callers_are_told_once_and_when_one_is_entered() -> None:
    reader = Reader()
    assert reader.read(make_stop("order", "main")) == ["main shop.py:10"]
    assert reader.read(make_stop("order", "main")) == []
    assert reader.read(make_stop("add", "order", "main")) == ["order shop.py:10", "… as before"]
    assert reader.read(make_stop("order", "main")) == []
    assert reader.read(make_stop("main")) == []


def test_library_frames_and_recursion_are_folded() -> None:
    stop = make_stop("hook", "a", "b", *["dive"] * 5, "main", library=("a", "b"))
    assert Reader().read(stop) == ["… 2 library frames", "dive ×5 shop.py:10", "main shop.py:10"]


def test_of_a_deep_stack_the_nearest_callers_are_told_once() -> None:
    functions = [f"f{number}" for number in range(60)]
    reader = Reader()
    shown = reader.read(make_stop(*functions))
    assert shown[0] == "f1 shop.py:10"
    assert shown[-1] == "… and more"
    assert len(shown) == 9
    assert reader.read(make_stop(*functions[1:])) == []
    assert reader.read(make_stop(*functions[2:])) == []
    assert reader.read(make_stop(*functions[1:])) == ["f2 shop.py:10", "… as before"]
