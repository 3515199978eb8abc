"""The directory: settings, sessions, breakpoints and profiles are read as they were written."""

from __future__ import annotations

import asyncio

import pytest

from holdfast.errors import Failure
from holdfast.model.call import CallBreakpoint, When
from holdfast.model.records import EventRecord, SessionRecord
from holdfast.store import Directory, Store, StoreProblem

pytestmark = pytest.mark.anyio

SESSION = SessionRecord("s1", "program", 10.0, 11.5, {"state": "created", "args": ["-v", "é"]})
LAUNCHES = [{"target": "b.py"}, {"target": "a.py"}]
BREAKPOINTS = [{"id": "b2", "line": 2}, {"id": "b1", "line": 1}]


@pytest.fixture
def directory(store: Store) -> Directory:
    return store.directory


def fill(directory: Directory) -> None:
    directory.put_settings({"port": 5679, "theme": None})
    directory.put_session(SESSION)
    directory.put_breakpoints("/p", BREAKPOINTS)
    directory.put_profile("web", {"breakpoints": []})
    directory.put_launches(LAUNCHES)


async def check_filled(directory: Directory) -> None:
    assert await directory.settings() == {"port": 5679, "theme": None}
    assert await directory.sessions() == [SESSION]
    assert await directory.breakpoints() == {"/p": BREAKPOINTS}
    assert await directory.profiles() == {"web": {"breakpoints": []}}
    assert await directory.launches() == LAUNCHES


async def test_a_new_directory_is_empty(directory: Directory) -> None:
    assert await directory.settings() == {}
    assert await directory.sessions() == []
    assert await directory.breakpoints() == {}
    assert await directory.call_breakpoints() == []
    assert await directory.profiles() == {}
    assert await directory.launches() == []


async def test_reads_see_writes_that_nobody_waited_for(directory: Directory) -> None:
    fill(directory)
    await check_filled(directory)


async def test_a_later_write_replaces_the_earlier(directory: Directory) -> None:
    fill(directory)
    later = SessionRecord("s1", "program", 10.0, 20.0, {"state": "terminated"})
    directory.put_session(later)
    directory.put_settings({"port": 1})
    directory.put_profile("web", {})
    directory.put_launches(LAUNCHES[1:])
    assert await directory.launches() == LAUNCHES[1:]
    assert await directory.sessions() == [later]
    assert (await directory.settings())["port"] == 1
    assert await directory.profiles() == {"web": {}}


async def test_deleting_a_session_deletes_its_events_and_no_others(store: Store) -> None:
    fill(store.directory)
    for session_id in ("s1", "s2"):
        store.feed.append(EventRecord(session_id, 1, 0.0, "created", {}))
    await store.directory.delete_session("s1")
    assert await store.directory.sessions() == []
    assert await store.feed.read("s1") == []
    assert [event.seq for event in await store.feed.read("s2")] == [1]


async def test_breakpoints_are_kept_per_project(directory: Directory) -> None:
    fill(directory)
    directory.put_breakpoints("/q", [{"id": "b1"}])
    assert await directory.breakpoints() == {"/p": BREAKPOINTS, "/q": [{"id": "b1"}]}
    directory.put_breakpoints("/p", [])
    assert await directory.breakpoints() == {"/q": [{"id": "b1"}]}


async def test_call_breakpoints_are_replaced_together_and_keep_their_order(
    directory: Directory,
) -> None:
    first = CallBreakpoint("cbp_2", "f", when=When.AFTER, action={"action": "continue"})
    second = CallBreakpoint("cbp_1", alias="g", hit_condition="> 3", session_id="calls_0000000a")
    directory.put_call_breakpoints([first, second])
    assert await directory.call_breakpoints() == [first, second]
    await directory.put_call_breakpoints([second])
    assert await directory.call_breakpoints() == [second]


async def test_a_profile_can_be_deleted(directory: Directory) -> None:
    fill(directory)
    await directory.delete_profile("web")
    assert await directory.profiles() == {}


async def test_a_refused_replacement_leaves_the_breakpoints_as_they_were(
    directory: Directory,
) -> None:
    fill(directory)
    with pytest.raises(StoreProblem, match="refused") as caught:
        await directory.put_breakpoints("/p", [{"id": "b1"}, {"id": "b1"}])
    assert caught.value.code == "STORE_FAILED"
    assert isinstance(caught.value, Failure)
    await check_filled(directory)


async def test_one_bad_write_fails_alone(directory: Directory) -> None:
    # A name that cannot be encoded, among good neighbours in the same queue.
    good = [directory.put_settings({f"before{n}": n}) for n in range(20)]
    bad = directory.put_profile("\ud800", {})
    good += [directory.put_settings({f"after{n}": n}) for n in range(20)]
    with pytest.raises(StoreProblem):
        await bad
    await asyncio.gather(*good)
    assert len(await directory.settings()) == 40


async def test_settings_are_put_together_or_not_at_all(directory: Directory) -> None:
    with pytest.raises(StoreProblem):
        await directory.put_settings({"a": 1, "\ud800": 2})
    assert await directory.settings() == {}


async def test_what_is_not_json_is_refused_at_the_call(directory: Directory) -> None:
    with pytest.raises(StoreProblem, match="JSON"):
        directory.put_settings({"x": object()})
    with pytest.raises(StoreProblem, match="object"):
        directory.put_profile("x", [])  # type: ignore[arg-type]
    with pytest.raises(StoreProblem, match="id"):
        directory.put_breakpoints("/p", [{"line": 3}])


@pytest.mark.parametrize("value", ["lone \udc80 surrogate", 2**100, "\0", {"1": [1.5, True]}])
async def test_unusual_values_survive(directory: Directory, value: object) -> None:
    directory.put_settings({"x": value})
    assert await directory.settings() == {"x": value}


async def test_a_write_can_be_awaited_and_outlives_its_waiter(directory: Directory) -> None:
    await directory.put_settings({"waited": 1})
    waiting = asyncio.ensure_future(directory.put_settings({"left": 2}))
    waiting.cancel()
    assert await directory.settings() == {"waited": 1, "left": 2}


async def test_a_callback_may_write(store: Store) -> None:
    written = store.directory.put_settings({"a": 1})
    written.add_done_callback(lambda _: store.directory.put_settings({"b": 2}))
    await written
    await store.flush()
    assert await store.directory.settings() == {"a": 1, "b": 2}
