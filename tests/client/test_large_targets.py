"""The target of a call is stored once, and again only when it has changed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from application import Application
from holdfast import configure_debug, with_debug
from holdfast.client import target_watch
from holdfast.client.proxy_base import read_snapshot
from recorded_program import RecordedProgram

MODES = pytest.mark.parametrize("mode", ["strict", "leased"])


class Warehouse:
    """Counts how often it is pickled."""

    pickled = 0

    def __init__(self, size: int) -> None:
        self.items = [f"item {number}" for number in range(size)]
        self.sold = 0

    def __getstate__(self) -> Any:
        Warehouse.pickled += 1
        return {"items": self.items, "sold": self.sold}

    def look(self, number: int) -> str:
        return self.items[number]

    def sell(self, number: int) -> int:
        self.sold += 1
        return self.sold


class Counter:
    def __init__(self) -> None:
        self.value = 0

    def up(self) -> int:
        self.value += 1
        return self.value


@pytest.fixture
def _slow(monkeypatch: pytest.MonkeyPatch) -> None:
    """Comparing any target that is not small takes long, for a long time."""
    monkeypatch.setattr(target_watch, "_QUICK_NS", 0)
    monkeypatch.setattr(target_watch, "_SHARE", 10**9)
    Warehouse.pickled = 0


def read_calls(app: Application, name: str) -> list[Any]:
    """All about the calls of a function. Debugging is turned off, so that all are sent."""
    with_debug("OFF")
    return [app.server.get(f"/api/calls/{call['call_id']}") for call in app.list_calls(name)]


def read_marker(app: Application, call: Any) -> str | None:
    marker: str | None = app.server.get(f"/api/cid/{call['target_cid']}/preview").get("marker")
    return marker


@MODES
@pytest.mark.usefixtures("_slow")
def test_a_large_target_is_not_compared_for_every_call(app: Application, mode: str) -> None:
    app.restart(mode=mode)
    warehouse = with_debug(Warehouse(5_000))
    for _ in range(10):
        warehouse.sell(3)
    assert Warehouse.pickled == 1
    calls = read_calls(app, "sell")
    assert len(calls) == 10
    assert len({call["target_cid"] for call in calls}) == 1
    assert all(call["target_age_ms"] > 0 for call in calls)  # it may be another by now
    assert all(call["changed"] is None for call in calls)


@MODES
@pytest.mark.usefixtures("_slow")
def test_when_it_is_time_a_call_has_its_target_before_and_after(
    app: Application, mode: str
) -> None:
    app.restart(mode=mode)
    warehouse = with_debug(Warehouse(5_000))
    warehouse.look(1)
    warehouse.sold = 7  # by the application, between the calls
    read_snapshot(warehouse).compare_at = 1
    warehouse.sell(3)
    warehouse.look(2)
    assert Warehouse.pickled == 5  # at first; before and after the call: compared, and stored
    [first, last] = read_calls(app, "look")
    [sold] = read_calls(app, "sell")
    assert "target_age_ms" not in sold
    assert sold["target_cid"] != first["target_cid"]
    assert sold["changed"]["target"]["cid"] == last["target_cid"] != sold["target_cid"]
    assert "sold=7" in app.server.get(f"/api/cid/{sold['target_cid']}/preview")["text"]
    assert last["target_age_ms"] > 0


@MODES
@pytest.mark.usefixtures("_slow")
def test_a_small_target_is_compared_for_every_call(app: Application, mode: str) -> None:
    app.restart(mode=mode)
    warehouse = with_debug(Warehouse(5))
    for _ in range(3):
        warehouse.sell(1)
    calls = read_calls(app, "sell")
    assert len({call["target_cid"] for call in calls}) == 3
    assert all("target_age_ms" not in call and call["changed"] for call in calls)


@MODES
@pytest.mark.usefixtures("_slow")
def test_a_target_may_always_be_compared(app: Application, mode: str) -> None:
    app.restart(mode=mode)
    warehouse = with_debug(Warehouse(5_000), capture_target="always")
    for _ in range(3):
        warehouse.sell(1)
    calls = read_calls(app, "sell")
    assert len({call["target_cid"] for call in calls}) == 3
    assert all("target_age_ms" not in call and call["changed"] for call in calls)


@MODES
def test_a_target_may_be_left_out(app: Application, mode: str) -> None:
    app.restart(mode=mode)
    Warehouse.pickled = 0
    target = Warehouse(5_000)
    left_out = with_debug(target, capture_target=False)
    for _ in range(3):
        left_out.sell(1)
    assert Warehouse.pickled == 0
    with_debug(target).look(1)  # another proxy of the same object
    assert Warehouse.pickled > 0
    calls = read_calls(app, "sell")
    assert [read_marker(app, call) for call in calls] == ["not_captured"] * 3
    assert all("target_age_ms" not in call and call["changed"] is None for call in calls)
    assert read_marker(app, app.read_call("look")) is None


@MODES
def test_leaving_targets_out_takes_effect_at_once(app: Application, mode: str) -> None:
    app.restart(mode=mode)
    counters = [with_debug(Counter()), with_debug(Counter())]
    for capture in (True, False, True):
        configure_debug(capture_target=capture)
        for _ in range(2):
            for counter in counters:
                counter.up()
    calls = read_calls(app, "up")
    markers = [read_marker(app, call) for call in calls]
    assert markers == [*[None] * 4, *["not_captured"] * 4, *[None] * 4]
    assert [bool(call["changed"]) for call in calls] == [*[True] * 4, *[False] * 4, *[True] * 4]


def test_functions_are_recorded_all_the_same(app: Application) -> None:
    configure_debug(capture_target=False)
    with_debug(len)([1])
    with_debug(Counter)()
    assert [read_marker(app, app.read_call(name)) for name in ("len", "Counter")] == [None, None]


def test_an_object_that_cannot_be_stored_need_not_be(app: Application) -> None:
    class Guard(Counter):
        def __reduce_ex__(self, protocol: Any) -> Any:
            raise RuntimeError("no")

    assert with_debug(Guard(), capture_target=False).up() == 1


@pytest.mark.parametrize("value", ["never", 1, None])
def test_a_wrong_choice_is_a_value_error(value: Any) -> None:
    with pytest.raises(ValueError, match=r'capture_target must be True, False or "always"'):
        configure_debug(capture_target=value)
    if value is not None:
        with pytest.raises(ValueError, match="capture_target"):
            with_debug(Counter(), capture_target=value)


PROGRAM = """
    from holdfast import with_debug

    class Warehouse:
        def __init__(self):
            self.items = [f"item {number}" for number in range(200_000)]

        def look(self, number):
            return self.items[number]

    if __name__ == "__main__":
        info = with_debug("ON")
        with_debug(Warehouse()).look(3)
        print(info.session_id())
"""


@pytest.mark.slow
def test_a_call_with_an_older_target_is_not_replayed(app: Application, tmp_path: Path) -> None:
    program = RecordedProgram(app.server, tmp_path)
    program.record(PROGRAM)
    code, found = program.replay(program.last_id("look"))
    assert (code, found["status"]) == (2, "cannot")
    assert "its object was last compared" in found["reason"]
