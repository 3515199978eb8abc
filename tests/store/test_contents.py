"""Contents: a value is found by its content id until nobody uses it any more."""

from __future__ import annotations

import asyncio
import hashlib
import pickle

import pytest

from call_samples import ADD, DONE, batch, call, cid
from holdfast.model.call import CallBreakpoint
from holdfast.model.call_batch import CallOutline
from holdfast.store import DroppedCalls, Store

pytestmark = pytest.mark.anyio


async def drop_oldest(store: Store, limit: int) -> DroppedCalls:
    """An engine may ask to come back later."""
    await store.call_log.last_number()
    while (dropped := await store.call_log.drop_oldest(limit)) is None:  # noqa: ASYNC110
        await asyncio.sleep(0.01)
    return dropped


async def test_a_value_is_read_back(store: Store) -> None:
    data, preview = b"\x80\x04K\x01.", {"text": "1", "type": "int", "json": 1}
    key = hashlib.sha256(data).hexdigest()
    store.contents.put(key, data, preview)
    for _ in ("queued", "stored"):
        assert await store.contents.data(key) == data
        assert await store.contents.previews([key, cid("nobody"), key]) == {key: preview}
        await store.flush()
    assert await store.contents.data(cid("nobody")) is None
    assert await store.contents.previews([]) == {}


async def test_many_previews_are_read_together(store: Store) -> None:
    names = [str(number) for number in range(1200)]
    for name in names[:600]:
        store.contents.put(cid(name), name.encode(), {"text": name})
    await store.flush()
    for name in names[600:]:
        store.contents.put(cid(name), name.encode(), {"text": name})
    previews = await store.contents.previews(map(cid, names))
    assert previews == {cid(name): {"text": name} for name in names}


async def test_a_value_goes_when_nobody_refers_to_it(store: Store) -> None:
    contents, log = store.contents, store.call_log
    names = ("gone", "used", "decided", "preset", "function", "sent again")
    for name in names:
        kind = "function" if name == "function" else "str"
        contents.put(cid(name), name.encode(), {"text": name, "type": kind})
    log.append_call(call(1, status=DONE, args=tuple(map(cid, names))))
    log.append_call(call(2, status=DONE, args=(cid("used"),)))
    decision = {"action": "skip", "fake_result_cid": cid("decided")}
    log.append_call(call(3, status=DONE, decision=decision))
    preset = {"action": "skip", "fake_result": {"cid": cid("preset")}}
    await store.directory.put_call_breakpoints(
        [CallBreakpoint("cbp_1", function="f", action=preset)]
    )
    dropped = await drop_oldest(store, 1)
    assert dropped.count == 1
    assert await contents.drop_unused(dropped.cids, lambda key: key != cid("sent again")) == 1
    assert await contents.data(cid("gone")) is None
    assert await contents.previews([cid("gone")], exact=True) == {}
    assert all([await contents.data(cid(name)) is not None for name in names[1:]])


async def test_a_call_that_comes_before_its_value_goes_keeps_it(store: Store) -> None:
    store.contents.put(cid("v"), b"v", {"text": "v", "type": "str"})
    store.call_log.append_call(call(1, status=DONE, args=(cid("v"),)))
    dropped = await drop_oldest(store, 1)
    store.call_log.append_call(call(2, args=(cid("v"),)))
    assert await store.contents.drop_unused(dropped.cids, lambda key: True) == 0
    assert await store.contents.data(cid("v")) == b"v"


async def test_a_value_of_a_batch_is_kept_while_another_call_uses_it(store: Store) -> None:
    store.call_log.put_function(ADD)
    small, other = pickle.dumps(7), pickle.dumps(8)
    outline = CallOutline(has_target=False, argument_count=1)
    store.call_log.append_batch(batch((1, None), values=(small, other), outline=outline))
    store.call_log.append_call(call(2, status=DONE, args=(cid(small),)))
    dropped = await drop_oldest(store, 1)
    assert (dropped.count, sorted(dropped.cids)) == (1, sorted([cid(small), cid(other)]))
    assert await store.contents.drop_unused(dropped.cids, lambda key: True) == 1
    assert await store.contents.data(cid(small)) == small
    previews = await store.contents.previews([cid(small), cid(other)], exact=True)
    assert previews == {cid(small): {"text": "7", "type": "int", "json": 7}}
