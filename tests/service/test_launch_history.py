"""The history of launches is bounded, and survives what it cannot read."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

from holdfast.model.config import SessionConfig
from holdfast.model.launch import Launch
from holdfast.service.programs.launch_history import MAX_LAUNCHES, LaunchHistory
from holdfast.store import Store

pytestmark = pytest.mark.anyio


def note(history: LaunchHistory, number: int) -> None:
    session = SimpleNamespace(
        id=f"sess_{number}",
        launch=Launch(module="app", args=(str(number),)),
        config=SessionConfig(name=None),
    )
    interpreter = SimpleNamespace(path="/usr/bin/python3")
    place = SimpleNamespace(interpreter=interpreter, cwd="/", spec={"module": "app"})
    history.note(cast(Any, session), cast(Any, place))


async def test_the_latest_fifty_are_remembered(store: Store) -> None:
    history = LaunchHistory(store.directory, lambda _session_id: False)
    for number in range(MAX_LAUNCHES + 10):
        note(history, number)
    await store.flush()

    loaded = LaunchHistory(store.directory, lambda _session_id: False)
    await loaded.load()
    listed = loaded.list(1000)
    assert listed.total == MAX_LAUNCHES == 50
    assert [each.launch.args for each in listed.launches] == [
        [str(number)] for number in range(MAX_LAUNCHES + 9, 9, -1)
    ]


async def test_what_cannot_be_read_is_left_out(store: Store) -> None:
    history = LaunchHistory(store.directory, lambda _session_id: False)
    note(history, 1)
    (good,) = await store.directory.launches()
    await store.directory.put_launches([{"target": 5}, good, {}])

    loaded = LaunchHistory(store.directory, lambda _session_id: False)
    await loaded.load()
    assert [each.target for each in loaded.list(10).launches] == ["app"]
