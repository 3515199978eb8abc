"""Values by their content ids: what is used stays, and what filters need is read."""

from __future__ import annotations

import asyncio
import pickle
import random

import pytest

from call_samples import DONE, call, cid
from holdfast import errors
from holdfast.core import filters
from holdfast.model.call import CallRecord, Item
from holdfast.service.calls.content_cache import ContentCache
from holdfast.service.calls.filter_values import FilterValues, ValueNotAtHand
from holdfast.store import Store

pytestmark = pytest.mark.anyio


def put(store: Store, data: bytes, **preview: object) -> str:
    key = cid(data)
    store.contents.put(key, data, {"text": repr(data), "type": "object", **preview})
    return key


async def test_a_value_without_its_bytes_is_looked_for_in_the_store(store: Store) -> None:
    key = put(store, b"stored")
    cache = ContentCache(store.contents)
    await cache.take([Item(key), Item(key)])
    with pytest.raises(errors.CidNotFound) as caught:
        await cache.take([Item(key), Item(cid("b")), Item(cid("c")), Item(cid("b"))])
    assert caught.value.details["missing_cids"] == [cid("b"), cid("c")]


async def test_a_value_that_a_call_uses_is_never_dropped(store: Store) -> None:
    cache = ContentCache(store.contents)

    async def use(number: int, key: str) -> bool:
        await asyncio.sleep(random.random() / 500)
        try:
            await cache.take([Item(key)])
        except errors.CidNotFound:
            return False
        store.call_log.append_call(call(number, status=DONE, args=(key,)))
        return True

    async def drop(key: str) -> None:
        await asyncio.sleep(random.random() / 500)
        await cache.drop([key])

    for number in range(1, 60):
        key = put(store, str(number).encode())
        is_used, _ = await asyncio.gather(use(number, key), drop(key))
        assert not is_used or await store.contents.data(key) is not None


async def judge(store: Store, record: CallRecord, text: str) -> tuple[bool, str | None]:
    values, expression = FilterValues(ContentCache(store.contents)), filters.parse(text)
    while True:
        try:
            return expression.decide(values.build(record))
        except ValueNotAtHand as missing:
            await values.load(missing)


async def test_a_filter_reads_the_values_that_it_comes_to(store: Store) -> None:
    small = put(store, pickle.dumps(7), json=7)
    large, same = (put(store, pickle.dumps(["x" * 1000, n, n])) for n in (1, 2))
    record = call(1, args=(small, large, same, cid("missing")))
    assert await judge(store, record, "args[0] == 7") == (True, None)
    assert await judge(store, record, "args[1] == args[1]") == (True, None)
    assert await judge(store, record, "args[1] != args[2] and args[1][1] == 1") == (True, None)
    assert await judge(store, record, "len(args) == 4") == (True, None)
    matches, why = await judge(store, record, "args[3] == 1")
    assert (matches, why) == (False, "args[3] is not stored")
