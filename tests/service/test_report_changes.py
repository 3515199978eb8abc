"""What a report tells of variables: what changed since they were shown, and not what did not."""

from __future__ import annotations

from typing import Any

from holdfast.model.location import Location
from holdfast.model.stop import Stop
from holdfast.service.tools.reports.report_changes import Changes, describe_changes, note_variables
from holdfast.service.tools.reports.report_memory import ReportMemory, SessionMemory
from holdfast.service.tools.reports.report_values import show_shape, show_value


def variable(name: str, value: object, **facts: Any) -> dict[str, Any]:
    return {"name": name, "value": repr(value), "type": type(value).__name__, **facts}


def stop_at(
    frame: int = 1,
    function: str = "total",
    reason: str = "step",
    callers: tuple[int, ...] = (20,),
    **values: object,
) -> Stop:
    frames = [{"file": "shop.py", "line": 3, "name": function}]
    frames += [{"file": "shop.py", "line": line, "name": "main"} for line in callers]
    return Stop(
        thread_id=1,
        reason=reason,
        location=Location("shop.py", 3, function),
        frame=frame,
        frames=tuple(frames),
        locals=tuple(variable(name, value) for name, value in values.items()),
    )


def note(memory: SessionMemory, stop: Stop, **options: bool) -> Changes:
    return note_variables(memory, stop, stop.locals, **options)


def test_a_frame_is_shown_in_full_once_and_then_what_changed() -> None:
    memory = SessionMemory()
    assert note(memory, stop_at(a=1, b=2)).new == {"a": "1", "b": "2"}
    changes = note(memory, stop_at(a=1, b=3, c=4))
    assert (changes.new, changes.was) == ({"b": "3", "c": "4"}, {"b": "2"})
    assert (changes.gone, changes.unchanged) == ([], 1)
    assert describe_changes(changes) == "b 2 → 3, c = 4"
    assert describe_changes(note(memory, stop_at(b=3, c=4))) == "a gone"


def test_a_caller_is_compared_with_when_it_was_last_shown() -> None:
    memory = SessionMemory()
    note(memory, stop_at(1, "main", callers=(), x=1, y=2))
    assert note(memory, stop_at(2, "total", a=1)).new == {"a": "1"}
    back = note(memory, stop_at(1, "main", callers=(), x=1, y=3))
    assert (back.new, back.unchanged) == ({"y": "3"}, 1)


def test_each_call_of_a_recursion_has_variables_of_its_own() -> None:
    memory = SessionMemory()
    note(memory, stop_at(1, "down", callers=(9,), n=2))
    assert note(memory, stop_at(2, "down", callers=(3, 9), n=2)).new == {"n": "2"}


def test_a_call_after_a_return_is_another_frame_though_it_has_its_memory() -> None:
    memory = SessionMemory()
    note(memory, stop_at(1, "main", callers=(), x=1))
    note(memory, stop_at(2, "total", a=1))
    note(memory, stop_at(1, "main", callers=(), x=1))
    assert note(memory, stop_at(2, "total", a=1)).new == {"a": "1"}


def test_a_call_from_elsewhere_is_another_frame() -> None:
    memory = SessionMemory()
    note(memory, stop_at(2, callers=(20,), reason="breakpoint", a=1))
    again = note(memory, stop_at(2, callers=(21,), reason="breakpoint", a=1))
    assert again.new == {"a": "1"}


def test_a_breakpoint_where_variables_are_not_assigned_yet_is_in_another_call() -> None:
    memory = SessionMemory()
    note(memory, stop_at(2, reason="breakpoint", a=1, result=3))
    assert note(memory, stop_at(2, reason="breakpoint", a=1)).new == {"a": "1"}


def test_what_a_module_defines_is_counted() -> None:
    stop = Stop(
        thread_id=1, reason="breakpoint", location=Location("shop.py", 3, "<module>"), frame=1
    )
    variables = [
        variable("total", 3),
        {"name": "main", "value": "<function main at 0x7f>", "type": "function"},
        {"name": "json", "value": "<module 'json'>", "type": "module"},
        {"name": "Cart", "value": "<class '__main__.Cart'>", "type": "Meta"},
        variable("__version__", "1.0"),
    ]
    changes = note_variables(SessionMemory(), stop, variables)
    assert changes.new == {"total": "3"}
    assert changes.noise == {"function": 1, "module": 1, "class": 1, "special name": 1}


def test_another_run_begins_anew_and_little_is_remembered() -> None:
    memory = ReportMemory()
    first = memory.find("sess_1", 1)
    assert memory.find("sess_1", 1) is first
    assert memory.find("sess_1", 2) is not first
    shown = SessionMemory()
    for frame in range(100):
        note(shown, stop_at(frame, callers=tuple(range(frame)), text="x" * 100_000))
    assert len(shown.frames) <= 8
    assert all(len(value.text) < 200 for f in shown.frames.values() for value in f.values.values())


def test_a_long_value_that_changed_far_behind_is_a_change() -> None:
    memory = SessionMemory()
    note(memory, stop_at(text="x" * 500 + "a"))
    assert list(note(memory, stop_at(text="x" * 500 + "b")).new) == ["text"]


def test_a_shape_says_what_a_value_is_in_few_words() -> None:
    shapes: list[tuple[dict[str, Any], str]] = [
        (
            {"type": "list", "length": 10_000, "value": "[0, 1, 2, ... (10000 items)]"},
            "list of 10000 int",
        ),
        ({"type": "list", "length": 3, "value": "[['a'], 2]"}, "list of 3"),
        ({"type": "tuple", "length": 9, "value": "('a', 'b', 'c')"}, "tuple of 9 str"),
        ({"type": "dict", "length": 12, "value": "{'a': 1}"}, "dict of 12"),
        ({"type": "str", "length": 12_000_000}, "str, 12 MB"),
        ({"type": "bytes", "length": 300}, "bytes, 300 B"),
        ({"type": "Cart"}, "Cart object"),
        ({"type": "ndarray", "shape": [3, 4], "dtype": "float64"}, "ndarray (3, 4) float64"),
    ]
    for described, shape in shapes:
        assert show_shape(described) == shape


def test_bytes_are_shown_as_python_writes_them() -> None:
    assert show_value({"type": "bytes", "value": "AP8=", "encoding": "base64"}) == "b'\\x00\\xff'"
